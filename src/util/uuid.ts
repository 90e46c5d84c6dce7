let lastMillis = 0;
let sequence = 0;

/**
 * A UUID of version 7 (RFC 9562), as DuckDB names files and tables: it sorts by the time it was made, within one
 * process also inside one millisecond.
 */
export function uuidv7(): string {
  const random = crypto.randomUUID();
  const millis = Math.max(Date.now(), lastMillis);
  sequence = millis === lastMillis ? sequence + 1 : Number.parseInt(random.slice(15, 18), 16) & 0x7ff;
  lastMillis = sequence > 0xfff ? millis + 1 : millis;
  sequence &= 0xfff;
  const time = lastMillis.toString(16).padStart(12, '0');
  const order = sequence.toString(16).padStart(3, '0');
  // What is random, and the variant, stand where they do in version 4.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-${random.slice(19)}`;
}
