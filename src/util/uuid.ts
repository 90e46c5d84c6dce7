let lastMillis = 0;
let sequence = 0;

/**
 * A UUID of version 7 (RFC 9562), as DuckDB names files and tables: it sorts by the time it was made, within one
 * process also inside one millisecond.
 */
export function uuidv7(): string {
  const millis = Math.max(Date.now(), lastMillis);
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  if (millis === lastMillis) sequence++;
  else sequence = ((bytes[6]! & 0x07) << 8) | bytes[7]!;
  lastMillis = sequence > 0xfff ? millis + 1 : millis;
  sequence &= 0xfff;
  new DataView(bytes.buffer).setUint16(0, Math.floor(lastMillis / 2 ** 32));
  new DataView(bytes.buffer).setUint32(2, lastMillis % 2 ** 32);
  bytes[6] = 0x70 | (sequence >>> 8);
  bytes[7] = sequence & 0xff;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
