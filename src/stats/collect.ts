import type { ColumnType } from '../spec/types.ts';
import { codecFor, type Physical, type ValueCodec } from '../spec/values/codec.ts';
import type { ColumnStats } from './column-stats.ts';
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

/**
 * Statistics of one column of one file, from its physical values. NaN counts as a value and stays out of the bounds. Of equal
 * values (both zeros) the first is the bound, as in DuckDB.
 */
export class ColumnCollector {
  readonly #fieldId: number;
  readonly #type: ColumnType;
  readonly #codec: ValueCodec;
  readonly #float: boolean;
  readonly #bounded: boolean;
  #valueCount = 0;
  #nullCount = 0;
  #min: Physical | undefined;
  #max: Physical | undefined;
  #containsNan = false;

  constructor(fieldId: number, type: ColumnType, codec: ValueCodec = codecFor(type)) {
    this.#fieldId = fieldId;
    this.#type = type;
    this.#codec = codec;
    this.#float = isFloat(type);
    this.#bounded = hasBounds(type);
  }

  addNull(): void {
    this.#nullCount++;
  }

  /** `value` must not change afterwards: it may be kept as a bound. */
  add(value: Physical): void {
    this.#valueCount++;
    if (!this.#bounded) return;
    if (this.#float && Number.isNaN(value)) {
      this.#containsNan = true;
      return;
    }
    if (this.#min === undefined || this.#max === undefined) {
      this.#min = value;
      this.#max = value;
    } else if (this.#codec.compare(value, this.#min) < 0) this.#min = value;
    else if (this.#codec.compare(value, this.#max) > 0) this.#max = value;
  }

  /** `byteLength`: of the column's chunks as stored. */
  finish(byteLength: number): ColumnStats {
    const none: Bounds = { min: undefined, max: undefined };
    return {
      fieldId: this.#fieldId,
      byteLength,
      valueCount: this.#valueCount,
      nullCount: this.#nullCount,
      ...(this.#min === undefined || this.#max === undefined
        ? none
        : boundsText(this.#type, this.#min, this.#max, this.#codec)),
      containsNan: this.#float ? this.#containsNan : undefined,
    };
  }
}
