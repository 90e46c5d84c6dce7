import type { ByteBuffer } from './byte-buffer.ts';
import { type Encoding, encodings } from './encodings.ts';
import { scratch } from './scratch.ts';

/** Appends byte strings that lie behind each other: all lengths, then all bytes; one by one where readers know no deltas. */
export function writeByteArrays(
  out: ByteBuffer,
  { bytes, length }: ByteBuffer,
  lengths: Int32Array,
  count: number,
  version: 1 | 2,
): Encoding {
  if (version === 2) {
    scratch.planner.plan32(lengths, count);
    scratch.planner.write(out);
    out.append(bytes.subarray(0, length));
    return encodings.deltaLengthByteArray;
  }
  out.reserve(length + 4 * count);
  let at = 0;
  for (let i = 0; i < count; i++) {
    const end = at + lengths[i]!;
    out.view.setInt32(out.length, end - at, true);
    out.length += 4;
    out.append(bytes.subarray(at, end));
    at = end;
  }
  return encodings.plain;
}
