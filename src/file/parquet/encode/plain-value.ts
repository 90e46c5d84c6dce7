import type { SchemaElement } from 'hyparquet';
import type { Stored } from '../stored.ts';

const encoder = new TextEncoder();

/** One value in PLAIN encoding without its length: how statistics hold bounds. */
export function plainValue(element: SchemaElement, value: Stored): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string') return encoder.encode(value);
  const view = new DataView(new ArrayBuffer(element.type === 'FIXED_LEN_BYTE_ARRAY' ? 16 : 8));
  switch (element.type) {
    case 'BOOLEAN':
      return Uint8Array.of(value ? 1 : 0);
    case 'INT32':
      view.setInt32(0, Number(value), true);
      return new Uint8Array(view.buffer, 0, 4);
    case 'INT64':
      view.setBigInt64(0, BigInt(value), true);
      break;
    case 'FLOAT':
      view.setFloat32(0, Number(value), true);
      return new Uint8Array(view.buffer, 0, 4);
    case 'DOUBLE':
      view.setFloat64(0, Number(value), true);
      break;
    default:
      // Decimals, big-endian.
      view.setBigInt64(0, BigInt(value) >> 64n);
      view.setBigUint64(8, BigInt.asUintN(64, BigInt(value)));
  }
  return new Uint8Array(view.buffer);
}
