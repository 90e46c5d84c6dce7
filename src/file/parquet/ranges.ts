import type { ObjectReader } from '../../storage/object-store.ts';
import type { ByteRange } from '../format.ts';
import { corrupt } from './footer.ts';

/** A gap that costs less to read than another request. */
const maxGap = 1 << 16;
/** No request grows beyond this by joining ranges. */
const maxJoined = 1 << 23;

/** Reads ranges, those next to each other in one request, all requests at once. Bytes come back in the order of the ranges. */
export async function readRanges(object: ObjectReader, ranges: readonly ByteRange[]): Promise<Uint8Array[]> {
  for (const { start, end } of ranges)
    if (!(start >= 0 && start < end && end <= object.byteLength))
      throw corrupt(`a column is said to be at bytes ${start} to ${end} of ${object.byteLength}`);
  const joined = joinRanges(ranges);
  const buffers = await Promise.all(joined.map(({ start, end }) => object.slice(start, end)));
  return ranges.map(({ start, end }) => {
    const index = joined.findIndex((range) => range.start <= start && end <= range.end);
    const buffer = buffers[index]!;
    const offset = start - joined[index]!.start;
    if (offset + end - start > buffer.byteLength) throw corrupt(`fewer bytes came than asked for at ${start}`);
    return new Uint8Array(buffer, offset, end - start);
  });
}

/** Ranges in file order, joined over small gaps. */
export function joinRanges(ranges: readonly ByteRange[]): ByteRange[] {
  const joined: ByteRange[] = [];
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    const end = last ? Math.max(last.end, range.end) : range.end;
    if (last && range.start - last.end <= maxGap && (end - last.start <= maxJoined || range.end <= last.end))
      joined[joined.length - 1] = { start: last.start, end };
    else joined.push(range);
  }
  return joined;
}
