import { NumberRange } from './infer-numbers.ts';
import { TextCandidates } from './infer-text.ts';

/** A column of a table to be made from files. */
export interface InferredColumn {
  readonly name: string;
  /** DuckLake's type. */
  readonly type: string;
  /** Why the type is no plainer one, where that may surprise. */
  readonly note?: string | undefined;
}

/** Everything seen of one column. */
export class ColumnInference {
  readonly #numbers = new NumberRange();
  readonly #texts = new TextCandidates();
  #booleans = 0;
  #specialFloats = 0;
  #nested = 0;
  /** CSV knows texts only: the types of all of them. */
  readonly #fromCsv: boolean;

  constructor(fromCsv: boolean) {
    this.#fromCsv = fromCsv;
  }

  /** `source` is the JSON text of a number that may have lost digits. */
  observeJson(value: unknown, source: string | undefined): void {
    switch (typeof value) {
      case 'number':
        this.#numbers.add(source ?? String(value));
        return;
      case 'string':
        this.#texts.add(value);
        if (isSpecialFloat(value)) this.#specialFloats += 1;
        return;
      case 'boolean':
        this.#booleans += 1;
        return;
      default:
        if (value !== null) this.#nested += 1;
    }
  }

  /** A cell that is not NULL. */
  observeCsv(cell: string): void {
    const text = cell.trim();
    // In quotes: NULL, unless the column is one of text.
    if (text === '') return;
    this.#texts.add(cell);
    if (/^(true|false)$/i.test(text)) this.#booleans += 1;
    else if (csvNumber.test(text)) this.#numbers.add(text);
    else if (isSpecialFloat(text)) this.#specialFloats += 1;
  }

  result(name: string): InferredColumn {
    const type = this.#fromCsv ? this.#csvType() : this.#jsonType();
    return { name, ...type };
  }

  #csvType(): { type: string; note?: string } {
    const count = this.#texts.count;
    if (count === 0) return { type: 'varchar', note: 'no values' };
    if (this.#booleans === count) return { type: 'boolean' };
    const numbers = this.#numbers.count;
    if (numbers > 0 && numbers + this.#specialFloats === count) return this.#numberType('varchar');
    return { type: this.#texts.type() ?? 'varchar' };
  }

  #jsonType(): { type: string; note?: string } {
    const numbers = this.#numbers.count;
    const texts = this.#texts.count;
    const kinds = [numbers, texts, this.#booleans, this.#nested].filter((count) => count > 0).length;
    if (kinds === 0) return { type: 'json', note: 'no values' };
    if (numbers > 0 && texts === this.#specialFloats && this.#booleans + this.#nested === 0)
      return this.#numberType('json');
    if (kinds > 1) return { type: 'json', note: 'values of several kinds' };
    if (this.#nested > 0) return { type: 'json' };
    if (this.#booleans > 0) return { type: 'boolean' };
    return { type: this.#texts.type() ?? 'varchar' };
  }

  #numberType(otherwise: string): { type: string; note?: string } {
    const type = this.#specialFloats === 0 ? this.#numbers.type() : this.#numbers.isDouble ? 'float64' : undefined;
    if (type === undefined) return { type: otherwise, note: 'numbers of more digits than any type of numbers keeps' };
    return type.startsWith('decimal') ? { type, note: 'numbers of more digits than a double keeps' } : { type };
  }
}

const csvNumber = /^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

function isSpecialFloat(text: string): boolean {
  return /^(nan|[+-]?inf(inity)?)$/i.test(text);
}

/** The columns of a table to be made, in the order in which files name them. */
export class Inference {
  readonly #columns = new Map<string, ColumnInference>();
  readonly #fromCsv: boolean;

  constructor(fromCsv: boolean) {
    this.#fromCsv = fromCsv;
  }

  column(name: string): ColumnInference {
    let column = this.#columns.get(name);
    if (column === undefined) {
      column = new ColumnInference(this.#fromCsv);
      this.#columns.set(name, column);
    }
    return column;
  }

  result(): InferredColumn[] {
    return [...this.#columns].map(([name, column]) => column.result(name));
  }
}
