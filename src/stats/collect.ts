import type { ColumnStats } from '../file/format.ts';
import type { ColumnType } from '../spec/types.ts';
import { codecFor, type Physical, type ValueCodec } from '../spec/values/codec.ts';

/** Bytes of text or of a blob up to which DuckDB writes a bound as it is. Longer ones are left out, never cut. */
export const maxBoundByteLength = 256;

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

/** Both bounds as text, or neither: where one of them can't be written whole, there are none. */
export function boundsText(type: ColumnType, min: Physical, max: Physical, codec: ValueCodec = codecFor(type)): Bounds {
  if (hasBounds(type) && fits(min) && fits(max)) {
    const [low, high] = [codec.text(min), codec.text(max)];
    if (low !== undefined && high !== undefined) return { min: low, max: high };
  }
  return { min: undefined, max: undefined };
}

const utf8 = new TextEncoder();

function fits(bound: Physical): boolean {
  if (bound instanceof Uint8Array) return bound.length <= maxBoundByteLength;
  if (typeof bound !== 'string' || bound.length * 3 <= maxBoundByteLength) return true;
  return bound.length <= maxBoundByteLength && utf8.encode(bound).length <= maxBoundByteLength;
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
