import { LakeError } from '../../errors.ts';
import { hexBytes } from '../../spec/values/blob.ts';
import { codecFor } from '../../spec/values/codec.ts';
import { decodeText } from '../../spec/values/text.ts';

/**
 * Makes DuckDB's text of what the dialect's `inlinedCell` gave for a column. `stored` is the database's type, `type` the lake's:
 * bytes may be a blob's or a text's.
 */
export function cellDecoder(stored: string, type: string | undefined): (cell: string) => string {
  switch (stored.toLowerCase()) {
    case 'bytea':
      return type === 'blob' ? (hex) => hex.toUpperCase() : utf8;
    case 'real':
      return (hex) => floatText('float32', hexBytes(hex));
    case 'double precision':
      return (hex) => floatText('float64', hexBytes(hex));
    case 'interval':
      return intervalText;
  }
  if (type === 'boolean') return (cell) => (cell === '1' ? 'true' : cell === '0' ? 'false' : cell);
  return (cell) => cell;
}

function utf8(hex: string): string {
  try {
    return decodeText(hexBytes(hex));
  } catch (cause) {
    throw new LakeError('CORRUPT', 'an inlined text in the catalog is not UTF-8', { cause });
  }
}

/** Of the bytes that travel, most significant first: the text of a float depends on the session's settings. */
function floatText(name: 'float32' | 'float64', bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer);
  return codecFor({ name }).text(name === 'float32' ? view.getFloat32(0) : view.getFloat64(0))!;
}

/** Of months, days and microseconds: the text of an interval depends on the session's settings. */
function intervalText(parts: string): string {
  const [months, days, micros] = parts.split(' ') as [string, string, string];
  return codecFor({ name: 'interval' }).text({
    months: Number(months),
    days: Number(days),
    micros: BigInt(micros),
  })!;
}
