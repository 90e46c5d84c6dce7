import { corrupt } from '../footer.ts';

/** Decompresses Snappy's raw format into `out`, which it has to fill exactly. */
export function inflateSnappy(bytes: Uint8Array, out: Uint8Array): void {
  const end = bytes.length;
  const size = out.length;
  const from = new DataView(bytes.buffer, bytes.byteOffset, end);
  const to = new DataView(out.buffer, out.byteOffset, size);
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
        for (let i = 1; i < extra; i++) length += bytes[at + i]! * 2 ** (8 * i);
        length += 1;
        at += extra;
      }
      if (at + length > end || done + length > size) throw damaged();
      if (length <= 32 && at + 32 <= end && done + 32 <= size) {
        for (let i = 0; i < length; i += 4) to.setInt32(done + i, from.getInt32(at + i, true), true);
      } else if (length <= 64) for (let i = 0; i < length; i++) out[done + i] = bytes[at + i]!;
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
        offset = from.getUint16(at, true);
        at += 2;
      } else {
        if (at + 4 > end) throw damaged();
        offset = from.getUint32(at, true);
        at += 4;
      }
    }
    if (offset === 0 || offset > done || done + length > size) throw damaged();
    let source = done - offset;
    // Four bytes at a time may write past the copy's end, which what comes next overwrites.
    if (offset >= 4 && done + length + 4 <= size) {
      for (let i = 0; i < length; i += 4) to.setInt32(done + i, to.getInt32(source + i, true), true);
      done += length;
    } else for (const stop = done + length; done < stop; ) out[done++] = out[source++]!;
  }
  if (done !== size) throw damaged();
}

function damaged(): Error {
  return corrupt('what Snappy compressed is damaged');
}
