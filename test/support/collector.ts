import type { ColumnType } from '../../src/spec/types.ts';
import { codecFor, type Physical, type ValueCodec } from '../../src/spec/values/codec.ts';
import { type Bounds, boundsText, hasBounds, isFloat } from '../../src/stats/bounds.ts';
import type { ColumnStats } from '../../src/stats/column-stats.ts';

/**
 * Statistics of one column of one file as they should be, value by value: what the encoder's own are checked against. NaN counts as a value and stays out of the bounds. Of equal
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
