import { ValueError } from '../../../spec/values/codec.ts';

/** What callers may hand over as lists, structs and maps. */

export const absent = (value: unknown): value is null | undefined => value === null || value === undefined;

export const expectedList: string = 'expected an array';

/** Arrays and typed arrays. */
export function isList(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

export const expectedRecord: string = 'expected an object with the members as keys';

/** Objects that hold members by name, not by another rule. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  return (
    Object.getPrototypeOf(value) === Object.prototype ||
    (!Array.isArray(value) &&
      !ArrayBuffer.isView(value) &&
      !(value instanceof Map) &&
      !(value instanceof Set) &&
      !(value instanceof Date))
  );
}

export const expectedMap: string = 'expected a Map, or an object with its keys';
export const expectedKey: string = 'expected no NULL among the keys of a map';

export function entriesOf(value: unknown): Iterable<readonly [unknown, unknown]> {
  if (value instanceof Map) return value;
  if (!isRecord(value)) throw new ValueError(expectedMap);
  return Object.entries(value);
}

/** Why a value within a nested one is refused. */
export class RefusedWithin extends ValueError {
  readonly value: unknown;

  constructor(reason: string, path: string, value: unknown) {
    super(path === '' ? reason : `${reason} at ${path}`);
    this.value = value;
  }
}
