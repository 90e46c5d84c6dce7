import { LakeError } from '../../errors.ts';
import { ByteBuffer } from '../../file/parquet/encode/byte-buffer.ts';
import { appendUtf8 } from '../../file/parquet/encode/utf8.ts';
import type { Field } from '../../schema/field.ts';
import { codecFor, type Physical } from '../../spec/values/codec.ts';
import { uuidBytes } from '../../spec/values/uuid.ts';
import type { Interval } from '../../spec/values/value-codec.ts';
import type { ArrowLibrary, LibraryData, LibraryField } from './module.ts';

/** A batch's text or bytes are more than its 32-bit offsets count: it has to be of fewer rows. */
export class TooLong extends Error {
  override readonly name: string = 'TooLong';
}

/** Values of a column, or of a part of one. NULL is `null`. */
interface Cells {
  readonly values: ArrayLike<unknown>;
  /** Whether they are physical values; else what callers get, as the parts of nested values are. */
  readonly isStored: boolean;
}

/** Makes the buffers of columns. */
export class DataMaker {
  readonly #arrow: ArrowLibrary;
  readonly #maxOffset: number;

  /** No offset grows beyond `maxOffset`: see {@link TooLong}. */
  constructor(arrow: ArrowLibrary, maxOffset: number) {
    this.#arrow = arrow;
    this.#maxOffset = maxOffset;
  }

  /** A column's stored values; typed arrays become buffers as they are. */
  column({ type }: LibraryField, field: Field, values: ArrayLike<unknown>): LibraryData {
    return this.#data(type as TypeOfField, field, { values, isStored: field.children.length === 0 });
  }

  #data(type: TypeOfField, field: Field, cells: Cells): LibraryData {
    const { values } = cells;
    const validity = validityOf(values);
    const { length } = values;
    const make = (buffers: object): LibraryData => this.#arrow.makeData({ type, length, ...validity, ...buffers });
    switch (field.type.name) {
      case 'list': {
        const { valueOffsets, items } = this.#items(values as ArrayLike<unknown[] | null>);
        return make({ valueOffsets, child: this.#part(type.children[0]!, field.children[0]!, items) });
      }
      case 'map': {
        const entries = Array.from(values as ArrayLike<Map<unknown, unknown> | null>, (map) => map && [...map]);
        const { valueOffsets, items } = this.#items<[unknown, unknown]>(entries);
        const pairs = type.children[0]!.type;
        const children = field.children.map((child, c) =>
          this.#part(
            pairs.children[c]!,
            child,
            items.map((entry) => entry[c]),
          ),
        );
        const child = this.#arrow.makeData({ type: pairs, length: items.length, nullCount: 0, children });
        return make({ valueOffsets, child });
      }
      case 'struct':
        return make({
          children: field.children.map((child, c) =>
            this.#part(
              type.children[c]!,
              child,
              Array.from(values, (value) => (value as Record<string, unknown> | null)?.[child.name] ?? null),
            ),
          ),
        });
      case 'varchar':
      case 'json':
        return make(this.#texts(values as ArrayLike<string | null>));
      case 'blob':
        return make(this.#bytes(values as ArrayLike<Uint8Array | null>));
      default:
        return make({ data: flatBuffer(field, cells) });
    }
  }

  #part({ type }: PartOfType, field: Field, values: readonly unknown[]): LibraryData {
    return this.#data(type, field, { values, isStored: false });
  }

  #items<T>(lists: ArrayLike<readonly T[] | null>): { valueOffsets: Int32Array; items: T[] } {
    const valueOffsets = new Int32Array(lists.length + 1);
    const items: T[] = [];
    for (let i = 0; i < lists.length; i++) {
      const list = lists[i];
      if (list) for (const item of list) items.push(item);
      valueOffsets[i + 1] = this.#offset(items.length);
    }
    return { valueOffsets, items };
  }

  #texts(values: ArrayLike<string | null>): { valueOffsets: Int32Array; data: Uint8Array } {
    const { length } = values;
    const lengths = new Int32Array(length);
    const out = new ByteBuffer(0);
    let block: string[] = [];
    let unitCount = 0;
    for (let i = 0, from = 0; i < length; i++) {
      const text = values[i] ?? '';
      block.push(text);
      unitCount += text.length;
      if (unitCount < blockUnits && i < length - 1) continue;
      this.#offset(out.length + unitCount);
      // What is read is strict UTF-8: it has no lone surrogates.
      if (!appendUtf8(out, block, unitCount, lengths, from)) throw new Error('text that is no UTF-8 came from a file');
      block = [];
      unitCount = 0;
      from = i + 1;
    }
    const valueOffsets = new Int32Array(length + 1);
    for (let i = 0; i < length; i++) valueOffsets[i + 1] = this.#offset(valueOffsets[i]! + lengths[i]!);
    return { valueOffsets, data: out.copy() };
  }

  #bytes(values: ArrayLike<Uint8Array | null>): { valueOffsets: Int32Array; data: Uint8Array } {
    const valueOffsets = new Int32Array(values.length + 1);
    for (let i = 0; i < values.length; i++)
      valueOffsets[i + 1] = this.#offset(valueOffsets[i]! + (values[i]?.length ?? 0));
    const data = new Uint8Array(valueOffsets[values.length]!);
    for (let i = 0; i < values.length; i++) if (values[i]) data.set(values[i]!, valueOffsets[i]!);
    return { valueOffsets, data };
  }

  #offset(offset: number): number {
    if (offset > this.#maxOffset) throw new TooLong();
    return offset;
  }
}

/** A library's type as far as its parts go. */
interface TypeOfField {
  readonly typeId: number;
  readonly children: readonly PartOfType[];
}
interface PartOfType {
  readonly type: TypeOfField;
}

/** Strings are encoded a block at a time. */
const blockUnits = 1 << 16;

/** A bit for each value that isn't NULL; no bitmap where none is. */
function validityOf(values: ArrayLike<unknown>): { nullCount: number; nullBitmap?: Uint8Array } {
  if (ArrayBuffer.isView(values)) return { nullCount: 0 };
  let nullCount = 0;
  for (let i = 0; i < values.length; i++) if (values[i] === null) nullCount++;
  if (nullCount === 0) return { nullCount };
  return { nullCount, nullBitmap: bitsOf(values, (value) => value !== null) };
}

function bitsOf(values: ArrayLike<unknown>, isSet: (value: unknown) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(values.length / 8));
  for (let i = 0; i < values.length; i++) if (isSet(values[i])) bits[i >> 3]! |= 1 << (i & 7);
  return bits;
}

/** The values of a type of fixed width, 0 where there is none. */
function flatBuffer(field: Field, { values, isStored }: Cells): ArrayBufferView {
  const { type } = field;
  if (type.name === 'boolean') return bitsOf(values, (value) => value === true);
  const codec = isStored ? undefined : codecFor(type);
  const stored = (value: unknown): Physical => (codec ? codec.encode(value) : (value as Physical));
  const wide = wideTypes[type.name];
  if (wide) {
    const { words, store } = wide;
    const data = new Uint32Array(values.length * words);
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value !== null) store(data.subarray(i * words, (i + 1) * words), stored(value) as never, field);
    }
    return data;
  }
  const Numbers = arrays[type.name] ?? BigInt64Array;
  if (values instanceof Numbers) return values;
  const data = new Numbers(values.length) as { [index: number]: unknown } & ArrayBufferView;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value !== null) data[i] = stored(value);
  }
  return data;
}

type ArrayClass =
  | typeof Int8Array
  | typeof Int16Array
  | typeof Int32Array
  | typeof Uint8Array
  | typeof Uint16Array
  | typeof Uint32Array
  | typeof Float32Array
  | typeof Float64Array
  | typeof BigUint64Array
  | typeof BigInt64Array;

/** Of types that are one number each, 64-bit signed integers where nothing stands here. */
const arrays: Readonly<Record<string, ArrayClass>> = {
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
  date: Int32Array,
};

interface WideType<Value> {
  /** 32-bit words of a value. */
  readonly words: number;
  readonly store: (target: Uint32Array, value: Value, field: Field) => void;
}

const integer = (words: number): WideType<bigint> => ({
  words,
  store: (target, value) => {
    let rest = value;
    for (let w = 0; w < words; w++, rest >>= 32n) target[w] = Number(BigInt.asUintN(32, rest));
  },
});

const uuid: WideType<string> = {
  words: 4,
  store: (target, value) => new Uint8Array(target.buffer, target.byteOffset, 16).set(uuidBytes(value)),
};

/** Months, days, nanoseconds. */
const interval: WideType<Interval> = {
  words: 4,
  store: (target, { months, days, micros }, { name }) => {
    const nanos = micros * 1000n;
    if (BigInt.asIntN(64, nanos) !== nanos)
      throw new LakeError(
        'UNSUPPORTED',
        `column "${name}" holds an interval of ${micros} microseconds: Arrow's intervals have nanoseconds of 64 bits`,
        { context: { column: name } },
      );
    target[0] = months;
    target[1] = days;
    target[2] = Number(BigInt.asUintN(32, nanos));
    target[3] = Number(BigInt.asUintN(32, nanos >> 32n));
  },
};

const wideTypes: Readonly<Record<string, WideType<never>>> = {
  decimal: integer(4),
  int128: integer(8),
  uint128: integer(8),
  uuid,
  interval,
};
