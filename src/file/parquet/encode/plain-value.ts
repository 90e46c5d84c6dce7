import type { SchemaElement } from 'hyparquet';
import type { Stored } from '../stored.ts';
import { encodeUtf8 } from './utf8.ts';

const view: DataView<ArrayBuffer> = new DataView(new ArrayBuffer(16));

/** One value in PLAIN encoding without its length: how statistics hold bounds. */
export function plainValue(element: SchemaElement, value: Stored): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string') return encodeUtf8(value);
  const length = writeNumber(element, value);
  return new Uint8Array(view.buffer, 0, length).slice();
}

/** Writes into `view`; returns how many bytes. */
function writeNumber(element: SchemaElement, value: number | bigint | boolean): number {
  switch (element.type) {
    case 'BOOLEAN':
      view.setUint8(0, Number(value));
      return 1;
    case 'INT32':
      view.setInt32(0, Number(value), true);
      return 4;
    case 'INT64':
      view.setBigInt64(0, BigInt(value), true);
      return 8;
    case 'FLOAT':
      view.setFloat32(0, Number(value), true);
      return 4;
    case 'DOUBLE':
      view.setFloat64(0, Number(value), true);
      return 8;
    default:
      // Decimals, big-endian.
      view.setBigInt64(0, BigInt(value) >> 64n);
      view.setBigUint64(8, BigInt.asUintN(64, BigInt(value)));
      return 16;
  }
}
