import { LakeError } from '../errors.ts';

/**
 * The end of the range `start` to `end` of an object, checked: INVALID_ARGUMENT for what is no range, CORRUPT for one
 * that the object is too short for.
 */
export function checkRange(location: string, byteLength: number, start: number, end: number = byteLength): number {
  const context = { location, start, end, byteLength };
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || (end < start && end !== byteLength)) {
    throw new LakeError('INVALID_ARGUMENT', `bytes ${start} to ${end} are no range of ${location}`, { context });
  }
  if (Math.max(start, end) > byteLength) throw tooShort(location, start, end, byteLength);
  return end;
}

/** The error for an object that holds fewer bytes than a reader of it was promised. */
export function tooShort(location: string, start: number, end: number, byteLength?: number): LakeError {
  const holds = byteLength === undefined ? 'is shorter' : `has ${byteLength} bytes`;
  return new LakeError('CORRUPT', `bytes ${start} to ${end} of ${location} were asked for, but it ${holds}`, {
    context: { location, start, end, ...(byteLength === undefined ? {} : { byteLength }) },
  });
}
