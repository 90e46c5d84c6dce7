import { corrupt } from '../footer.ts';

/** Decompresses Snappy's raw format into `out`, which it has to fill exactly. */
export function inflateSnappy(bytes: Uint8Array, out: Uint8Array): void {
  const end = bytes.length;
  const size = out.length;
  let at = 0;
  let done = 0;
  // The length comes first; that of the page's header is the one that counts.
  while (at < end && at < 5 && bytes[at++]! >= 0x80);
  while (at < end) {
    const tag = bytes[at++]!;
    if ((tag & 3) === 0) {
      let length = (tag >>> 2) + 1;
      if (length > 60) {
        const extra = length - 60;
        if (at + extra > end) throw damaged();
        length = bytes[at]!;
        // Small integers throughout: one that might be large makes the loops of some engines slow.
        for (let i = 1; i < extra; i++) length |= bytes[at + i]! << (8 * i);
        length += 1;
        at += extra;
      }
      if (length <= 0 || length > end - at || length > size - done) throw damaged();
      if (length <= 64) copy(bytes, at, out, done, length);
      else out.set(bytes.subarray(at, at + length), done);
      at += length;
      done += length;
      continue;
    }
    let length: number;
    let offset: number;
    if ((tag & 3) === 1) {
      if (at >= end) throw damaged();
      length = ((tag >>> 2) & 7) + 4;
      offset = ((tag >>> 5) << 8) | bytes[at++]!;
    } else {
      length = (tag >>> 2) + 1;
      if ((tag & 3) === 2) {
        if (at + 2 > end) throw damaged();
        offset = bytes[at]! | (bytes[at + 1]! << 8);
        at += 2;
      } else {
        if (at + 4 > end) throw damaged();
        offset = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
        at += 4;
      }
    }
    if (offset <= 0 || offset > done || length > size - done) throw damaged();
    copy(out, done - offset, out, done, length);
    done += length;
  }
  if (done !== size) throw damaged();
}

/** On its own: engines optimise a short function that is called often before a long one that runs once. */
function copy(from: Uint8Array, at: number, to: Uint8Array, start: number, length: number): void {
  for (let i = 0; i < length; i++) to[start + i] = from[at + i]!;
}

function damaged(): Error {
  return corrupt('what Snappy compressed is damaged');
}
