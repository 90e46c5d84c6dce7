import { corrupt } from '../footer.ts';

/** At most 64 bytes are made of three. */
const maxRatio = 22;

/** Guards against allocating what a damaged header claims that bytes in Snappy become. */
export function checkSnappyLength(bytes: Uint8Array, byteLength: number): void {
  if (!(byteLength >= 0 && byteLength <= bytes.length * maxRatio))
    throw corrupt('a page claims a length it cannot have');
}

/** Below it a loop is quicker than a call. */
const maxCopied = 256;

/**
 * Decompresses Snappy's raw format into `out`, which it has to fill exactly. Four bytes are copied at once, up to three too many: the next
 * copy overwrites them.
 */
export function inflateSnappy(bytes: Uint8Array, out: Uint8Array): void {
  const end = bytes.length;
  const size = out.length;
  const source = new DataView(bytes.buffer, bytes.byteOffset, end);
  const target = new DataView(out.buffer, out.byteOffset, size);
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
      if (length > maxCopied) out.set(bytes.subarray(at, at + length), done);
      else if (length + 4 <= end - at && length + 4 <= size - done)
        for (let i = 0; i < length; i += 4) target.setInt32(done + i, source.getInt32(at + i, true), true);
      else for (let i = 0; i < length; i++) out[done + i] = bytes[at + i]!;
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
    const from = done - offset;
    if (offset >= 4 && length + 4 <= size - done)
      for (let i = 0; i < length; i += 4) target.setInt32(done + i, target.getInt32(from + i, true), true);
    else for (let i = 0; i < length; i++) out[done + i] = out[from + i]!;
    done += length;
  }
  if (done !== size) throw damaged();
}

function damaged(): Error {
  return corrupt('what Snappy compressed is damaged');
}
