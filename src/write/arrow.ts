import { LakeError } from '../errors.ts';
import type { ColumnValues } from '../file/format.ts';
import type { Field } from '../schema/field.ts';
import { dateCodec } from '../spec/values/date.ts';
import { decodeText } from '../spec/values/text.ts';
import { uuidText } from '../spec/values/uuid.ts';
import type { ArrowData } from './arrow-batch.ts';

export type { ArrowBatch, ArrowData, ArrowTable } from './arrow-batch.ts';

/** Arrow's type ids (Schema.fbs, as apache-arrow numbers them). */
const id = {
  dictionary: -1,
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  interval: 11,
  list: 12,
  struct: 13,
  fixedBinary: 15,
  fixedList: 16,
  map: 17,
  largeBinary: 19,
  largeUtf8: 20,
} as const;

/** How an Arrow column's own types are read, when it isn't by the words of this library's columns. */
type Reader = (data: ArrowData, from: number, to: number, field: Field) => ColumnValues;

/** Values `from` to `to` of an Arrow column, as an insert takes them; without a copy where the buffer is what is wanted. */
export function arrowValues(data: ArrowData, from: number, to: number, field: Field): ColumnValues {
  const read = readers.get(data.type.typeId);
  if (!read)
    throw new LakeError('UNSUPPORTED', `column "${field.name}" is of an Arrow type (${data.type}) that can't be read`, {
      context: { column: field.name },
    });
  return read(data, from, to, field);
}

const readers: ReadonlyMap<number, Reader> = new Map<number, Reader>([
  [id.null, (_data, from, to) => new Array(to - from).fill(null)],
  [id.int, plain],
  [
    id.float,
    (data, from, to) =>
      data.values instanceof Uint16Array ? eachOf(data, from, to, halfFloat(data)) : plain(data, from, to),
  ],
  [id.bool, (data, from, to) => eachOf(data, from, to, (i) => bitAt(data.values as Uint8Array, data.offset + i))],
  [id.utf8, strings],
  [id.largeUtf8, strings],
  [id.binary, binaries],
  [id.largeBinary, binaries],
  [id.fixedBinary, fixedBinaries],
  [id.decimal, decimals],
  [id.date, dates],
  [id.time, times],
  [id.timestamp, timestamps],
  [id.interval, intervals],
  [id.dictionary, dictionaries],
  [id.list, (data, from, to, field) => lists(data, from, to, field, (i) => Number(data.valueOffsets![i]))],
  [id.fixedList, (data, from, to, field) => lists(data, from, to, field, (i) => i * data.type.listSize!)],
  [id.struct, structs],
  [id.map, maps],
]);

function bitAt(bits: Uint8Array, i: number): boolean {
  return (bits[i >> 3]! & (1 << (i & 7))) !== 0;
}

/** One value after another, `null` where the validity bitmap says so. */
function eachOf(data: ArrowData, from: number, to: number, valueAt: (i: number) => unknown): unknown[] {
  const cells = new Array<unknown>(to - from);
  const { nullBitmap, offset } = data;
  // An absent bitmap is an empty one in apache-arrow.
  if (data.nullCount === 0 || !nullBitmap?.length) for (let i = from; i < to; i++) cells[i - from] = valueAt(i);
  else for (let i = from; i < to; i++) cells[i - from] = bitAt(nullBitmap, offset + i) ? valueAt(i) : null;
  return cells;
}

function plain(data: ArrowData, from: number, to: number): ColumnValues {
  const values = data.values as Float64Array;
  return data.nullCount === 0 ? values.subarray(from, to) : eachOf(data, from, to, (i) => values[i]);
}

function halfFloat({ values }: ArrowData): (i: number) => number {
  return (i) => {
    const bits = (values as Uint16Array)[i]!;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    const sign = bits & 0x8000 ? -1 : 1;
    if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  };
}

/** A run of ASCII is decoded at once and cut up: one call for a block instead of one for each value. */
function strings(data: ArrowData, from: number, to: number): ColumnValues {
  const bytes = data.values as Uint8Array;
  const offsets = data.valueOffsets!;
  const start = Number(offsets[from]);
  const run = decodeText(bytes.subarray(start, Number(offsets[to])));
  if (run.length === Number(offsets[to]) - start)
    return eachOf(data, from, to, (i) => run.slice(Number(offsets[i]) - start, Number(offsets[i + 1]) - start));
  return eachOf(data, from, to, (i) => decodeText(bytes.subarray(Number(offsets[i]), Number(offsets[i + 1]))));
}

function binaries(data: ArrowData, from: number, to: number): ColumnValues {
  const bytes = data.values as Uint8Array;
  const offsets = data.valueOffsets!;
  return eachOf(data, from, to, (i) => bytes.subarray(Number(offsets[i]), Number(offsets[i + 1])));
}

/** Sixteen bytes are a UUID where the column is one. */
function fixedBinaries(data: ArrowData, from: number, to: number, field: Field): ColumnValues {
  const width = data.type.byteWidth!;
  const bytes = data.values as Uint8Array;
  const at = (i: number): Uint8Array => bytes.subarray(i * width, (i + 1) * width);
  if (field.type.name !== 'uuid' || width !== 16) return eachOf(data, from, to, at);
  return eachOf(data, from, to, (i) => uuidText(at(i)));
}

/** As text, which a decimal column takes when it has the digits for it; for columns of integers as a bigint. */
function decimals(data: ArrowData, from: number, to: number, field: Field): ColumnValues {
  const words = data.values as Uint32Array;
  const perValue = (data.type.bitWidth ?? 128) / 32;
  const scale = data.type.scale ?? 0;
  const isInteger = scale === 0 && /^u?int/.test(field.type.name);
  return eachOf(data, from, to, (i) => {
    let unscaled = 0n;
    for (let w = perValue - 1; w >= 0; w--) unscaled = (unscaled << 32n) | BigInt(words[i * perValue + w]!);
    const value = BigInt.asIntN(perValue * 32, unscaled);
    return isInteger ? value : decimalText(value, scale);
  });
}

function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return String(unscaled * 10n ** BigInt(-scale));
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function dates(data: ArrowData, from: number, to: number): ColumnValues {
  const values = data.values!;
  if (data.type.unit === 0) return eachOf(data, from, to, (i) => dateCodec.decode(Number(values[i])));
  return eachOf(data, from, to, (i) => new Date(Number(values[i])));
}

/** Decimal digits of a second below each of Arrow's units. */
const unitDigits = [0, 3, 6, 9] as const;

function times(data: ArrowData, from: number, to: number, field: Field): ColumnValues {
  return rescaled(data, from, to, unitDigits[data.type.unit ?? 0]!, 6, field);
}

const fieldDigits: Readonly<Record<string, number>> = { timestamp_s: 0, timestamp_ms: 3, timestamp_ns: 9 };

function timestamps(data: ArrowData, from: number, to: number, field: Field): ColumnValues {
  return rescaled(data, from, to, unitDigits[data.type.unit ?? 0]!, fieldDigits[field.type.name] ?? 6, field);
}

/** Months; days and milliseconds; or months, days and nanoseconds. */
function intervals(data: ArrowData, from: number, to: number, field: Field): ColumnValues {
  const words = data.values as Int32Array;
  if (data.type.unit === 0) return eachOf(data, from, to, (i) => ({ months: words[i], days: 0, micros: 0n }));
  if (data.type.unit === 1)
    return eachOf(data, from, to, (i) => ({
      months: 0,
      days: words[2 * i],
      micros: BigInt(words[2 * i + 1]!) * 1000n,
    }));
  return eachOf(data, from, to, (i) => {
    const nanos = (BigInt(words[4 * i + 3]!) << 32n) | BigInt(words[4 * i + 2]! >>> 0);
    if (nanos % 1000n !== 0n)
      throw new LakeError('INVALID_VALUE', `column "${field.name}" (interval) can't hold ${nanos} nanoseconds`, {
        context: { column: field.name, value: String(nanos) },
      });
    return { months: words[4 * i], days: words[4 * i + 1], micros: nanos / 1000n };
  });
}

/** Counts of one unit as bigints of another; a count that the coarser unit can't hold is refused, not rounded. */
function rescaled(
  data: ArrowData,
  from: number,
  to: number,
  digits: number,
  wanted: number,
  field: Field,
): ColumnValues {
  const values = data.values!;
  if (digits === wanted && values instanceof BigInt64Array) return plain(data, from, to);
  const factor = 10n ** BigInt(Math.abs(wanted - digits));
  return eachOf(data, from, to, (i) => {
    const count = BigInt(values[i] as number | bigint);
    if (wanted >= digits) return count * factor;
    if (count % factor !== 0n)
      throw new LakeError(
        'INVALID_VALUE',
        `column "${field.name}" (${field.type.name}) can't hold the ${count} of its Arrow column, which counts 10^-${digits} s`,
        { context: { column: field.name, value: String(count) } },
      );
    return count / factor;
  });
}

function dictionaries(data: ArrowData, from: number, to: number, field: Field): ColumnValues {
  const chunks = data.dictionary?.data ?? [];
  const words = chunks.flatMap((chunk) => Array.from(arrowValues(chunk, 0, chunk.length, field)));
  const indices = data.values!;
  return eachOf(data, from, to, (i) => words[Number(indices[i])]);
}

function lists(data: ArrowData, from: number, to: number, field: Field, offsetAt: (i: number) => number): ColumnValues {
  const start = offsetAt(from);
  const items = Array.from(arrowValues(data.children[0]!, start, offsetAt(to), field.children[0] ?? field));
  return eachOf(data, from, to, (i) => items.slice(offsetAt(i) - start, offsetAt(i + 1) - start));
}

function structs(data: ArrowData, from: number, to: number, field: Field): ColumnValues {
  const names = (data.type.children ?? []).map((child) => child.name);
  const members = data.children.map((child, c) => {
    const member = field.children.find((candidate) => candidate.name === names[c]) ?? field;
    return arrowValues(child, from, to, member);
  });
  return eachOf(data, from, to, (i) => Object.fromEntries(names.map((name, c) => [name, members[c]![i - from]])));
}

function maps(data: ArrowData, from: number, to: number, field: Field): ColumnValues {
  const offsets = data.valueOffsets!;
  const start = Number(offsets[from]);
  const [keys, values] = data.children[0]!.children.map((child, c) =>
    arrowValues(child, start, Number(offsets[to]), field.children[c] ?? field),
  );
  return eachOf(data, from, to, (i) => {
    const entries: [unknown, unknown][] = [];
    for (let at = Number(offsets[i]); at < Number(offsets[i + 1]); at++)
      entries.push([keys![at - start], values![at - start]]);
    const map = new Map(entries);
    // What holds a key twice is refused where rows are checked.
    return map.size < entries.length ? entries : map;
  });
}
