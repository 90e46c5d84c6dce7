/**
 * Values of input files: from a CSV cell's text, and from a JSON value, to what the library takes. Nothing is rounded or
 * guessed: what doesn't fit its column is refused here, or by the library.
 */

/** Why a value can't be taken, without its place, which the reader knows. */
export class CellError extends Error {
  override readonly name: string = 'CellError';
}

/** From text, as in a CSV cell. */
export type TextCell = (text: string) => unknown;

/**
 * From a JSON value that isn't null. `source` is its JSON text, given where `value` may have lost something: numbers of many
 * digits, and everything that goes into a json column.
 */
export type JsonCell = (value: unknown, source: string | undefined) => unknown;

export interface CellReaders {
  readonly fromText: TextCell;
  readonly fromJson: JsonCell;
  /** Whether `fromJson` needs the JSON text of every value. */
  readonly needsSource: boolean;
}

/** The readers of a column of this DuckLake type. */
export function cellReaders(type: string): CellReaders {
  const found = readers[type];
  if (found !== undefined) return found;
  if (type.startsWith('decimal(')) return decimals;
  return { fromText: refuse(type), fromJson: (value) => value, needsSource: false };
}

function refuse(type: string): () => never {
  return () => {
    throw new CellError(`columns of type ${type} can't be read from CSV`);
  };
}

const integerPattern = /^[+-]?\d+$/;
const numberPattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function integerFromText(text: string): number | bigint {
  if (!integerPattern.test(text)) throw new CellError(`${show(text)} is not an integer`);
  return text.length < 16 ? Number(text) : BigInt(text.startsWith('+') ? text.slice(1) : text);
}

function integerFromJson(value: unknown, source: string | undefined): unknown {
  if (typeof value === 'string') return integerFromText(value);
  if (typeof value !== 'number') throw wrongKind('an integer', value);
  if (source === undefined) return value;
  // 1e3 and 1.0 are integers too; whether a double has kept all of their digits, its size tells.
  return integerPattern.test(source) ? BigInt(source) : Number.isSafeInteger(value) ? value : Number(source);
}

function floatFromText(text: string): number {
  const special = specialFloat(text);
  if (special !== undefined) return special;
  if (!numberPattern.test(text)) throw new CellError(`${show(text)} is not a number`);
  return finite(Number(text), text);
}

function finite(value: number, text: string): number {
  if (!Number.isFinite(value)) throw new CellError(`${show(text)} is beyond what a double holds`);
  return value;
}

function specialFloat(text: string): number | undefined {
  switch (text.toLowerCase()) {
    case 'nan':
      return Number.NaN;
    case 'infinity':
    case '+infinity':
    case 'inf':
      return Number.POSITIVE_INFINITY;
    case '-infinity':
    case '-inf':
      return Number.NEGATIVE_INFINITY;
    default:
      return undefined;
  }
}

function floatFromJson(value: unknown, source: string | undefined): number {
  if (typeof value === 'number') return finite(value, source ?? String(value));
  const special = typeof value === 'string' ? specialFloat(value) : undefined;
  if (special === undefined) throw wrongKind('a number', value);
  return special;
}

function decimalFromText(text: string): string {
  if (!numberPattern.test(text)) throw new CellError(`${show(text)} is not a number`);
  return text;
}

function booleanFromText(text: string): boolean {
  switch (text.toLowerCase()) {
    case 'true':
    case 't':
    case '1':
      return true;
    case 'false':
    case 'f':
    case '0':
      return false;
    default:
      throw new CellError(`${show(text)} is not a boolean: write true or false`);
  }
}

function blobFromText(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text)
    throw new CellError(`${show(text)} is not base64, which is how blobs are written in text`);
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

const durationPattern =
  /^([+-])?P(?:([+-]?\d+)Y)?(?:([+-]?\d+)M)?(?:([+-]?\d+)W)?(?:([+-]?\d+)D)?(?:T(?=.)(?:([+-]?\d+)H)?(?:([+-]?\d+)M)?(?:([+-]?)(\d*)(?:[.,](\d{1,6}))?S)?)?$/;

/** An ISO 8601 duration, each part with a sign of its own if need be: `P1Y2M3DT4H5M6.5S`, `P-1DT0.000001S`. */
export function parseDuration(text: string): { months: number; days: number; micros: bigint } {
  const found = durationPattern.exec(text);
  const given = found?.slice(2).some((part) => part !== undefined && part !== '');
  if (!found || !given) throw new CellError(`${show(text)} is not an ISO 8601 duration such as P1Y2M3DT4H5M6.5S`);
  const [, sign, years, months, weeks, days, hours, minutes, secondSign, seconds, fraction = ''] = found;
  const factor = sign === '-' ? -1 : 1;
  const second = BigInt(seconds || 0) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
  const micros =
    BigInt(hours ?? 0) * 3_600_000_000n + BigInt(minutes ?? 0) * 60_000_000n + (secondSign === '-' ? -second : second);
  return {
    months: factor * (Number(years ?? 0) * 12 + Number(months ?? 0)),
    days: factor * (Number(weeks ?? 0) * 7 + Number(days ?? 0)),
    micros: BigInt(factor) * micros,
  };
}

function intervalFromJson(value: unknown): unknown {
  if (typeof value === 'string') return parseDuration(value);
  if (typeof value === 'object') return value;
  throw wrongKind('a duration such as "P1DT2H"', value);
}

function jsonFromText(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    throw new CellError(`${show(text)} is not JSON (a text in a json column stands in double quotes: "text")`);
  }
  return text;
}

const asText: JsonCell = (value) => {
  if (typeof value !== 'string') throw wrongKind('a string', value);
  return value;
};

const integers: CellReaders = { fromText: integerFromText, fromJson: integerFromJson, needsSource: false };
const floats: CellReaders = { fromText: floatFromText, fromJson: floatFromJson, needsSource: false };
const texts: CellReaders = { fromText: (text) => text, fromJson: asText, needsSource: false };
const decimals: CellReaders = {
  fromText: decimalFromText,
  fromJson: (value, source) => {
    if (typeof value === 'string') return decimalFromText(value);
    if (typeof value !== 'number') throw wrongKind('a number', value);
    return source ?? String(value);
  },
  needsSource: false,
};

const readers: Readonly<Record<string, CellReaders>> = {
  boolean: {
    fromText: booleanFromText,
    fromJson: (value) => {
      if (typeof value !== 'boolean') throw wrongKind('true or false', value);
      return value;
    },
    needsSource: false,
  },
  int8: integers,
  int16: integers,
  int32: integers,
  int64: integers,
  int128: integers,
  uint8: integers,
  uint16: integers,
  uint32: integers,
  uint64: integers,
  uint128: integers,
  float32: floats,
  float64: floats,
  varchar: texts,
  json: {
    fromText: jsonFromText,
    fromJson: (value, source) => source ?? JSON.stringify(value),
    needsSource: true,
  },
  blob: {
    fromText: blobFromText,
    fromJson: (value) => {
      if (typeof value !== 'string') throw wrongKind('a string of base64', value);
      return blobFromText(value);
    },
    needsSource: false,
  },
  uuid: texts,
  date: texts,
  time: texts,
  timetz: texts,
  timestamp: texts,
  timestamptz: texts,
  timestamp_s: texts,
  timestamp_ms: texts,
  timestamp_ns: texts,
  interval: { fromText: parseDuration, fromJson: intervalFromJson, needsSource: false },
};

function wrongKind(expected: string, value: unknown): CellError {
  return new CellError(`expected ${expected}, got ${show(value)}`);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
