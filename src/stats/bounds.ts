import type { ColumnType } from '../spec/types.ts';
import { codecFor, type Physical, type ValueCodec } from '../spec/values/codec.ts';
import { shortAbove, shortBelow } from './cut.ts';

export { maxBoundByteLength } from './cut.ts';

/** Types for which DuckDB writes no bounds. */
const unbounded: ReadonlySet<string> = new Set(['int128', 'uint128', 'timetz', 'interval']);

export function hasBounds(type: ColumnType): boolean {
  return !unbounded.has(type.name);
}

export function isFloat(type: ColumnType): boolean {
  return type.name === 'float32' || type.name === 'float64';
}

/** Bounds as the catalog holds them. */
export interface Bounds {
  readonly min: string | undefined;
  readonly max: string | undefined;
}

/**
 * Both bounds as text, or neither. Those of text and blobs that can't be written whole are cut, outwards.
 *
 * To leave them out would be right for the file. But DuckDB takes a table's NULL bounds for those of a column without
 * values: the bounds of its next insert become the table's, and it no longer finds the rows that they don't contain.
 */
export function boundsText(type: ColumnType, min: Physical, max: Physical, codec: ValueCodec = codecFor(type)): Bounds {
  const high = hasBounds(type) ? shortAbove(max) : undefined;
  if (high !== undefined) {
    const bounds = { min: codec.text(shortBelow(min)), max: codec.text(high) };
    if (bounds.min !== undefined && bounds.max !== undefined) return bounds;
  }
  return { min: undefined, max: undefined };
}
