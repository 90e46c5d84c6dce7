/**
 * Values as text that `append` reads back to the same values: the rule is in `edgemere help values`.
 */

import { compactJson } from '../input/json-text.ts';
import type { TargetColumn } from '../input/reader.ts';

/** A value of a column, never NULL, as text: what a CSV cell and a table show. */
export type ToText = (value: unknown) => string;

/** How the values of a column of this DuckLake type are written. */
export interface ValueWriter {
  readonly text: ToText;
  /** As JSON, on one line. */
  readonly json: ToText;
}

export function valueWriter({ type, children = [] }: TargetColumn): ValueWriter {
  if (type.startsWith('decimal(')) return numbers;
  switch (type) {
    case 'list':
      return asJson(listText(children[0]!));
    case 'struct':
      return asJson(structText(children));
    case 'map':
      return asJson(mapText(children[0]!, children[1]!));
    default:
      return writers[type] ?? asJson(String);
  }
}

const asJson = (text: ToText): ValueWriter => ({ text, json: text });

/** The JSON of a part, which may be NULL. */
function partText(column: TargetColumn): ToText {
  const { json } = valueWriter(column);
  return (value) => (value === null || value === undefined ? 'null' : json(value));
}

function listText(element: TargetColumn): ToText {
  const text = partText(element);
  return (value) => `[${Array.from(value as ArrayLike<unknown>, text).join(',')}]`;
}

function structText(members: readonly TargetColumn[]): ToText {
  const parts = members.map((member) => ({
    name: member.name,
    key: JSON.stringify(member.name),
    text: partText(member),
  }));
  return (value) => `{${parts.map(({ name, key, text }) => `${key}:${text((value as never)[name])}`).join(',')}}`;
}

/** An object where keys are texts, else pairs. */
function mapText(key: TargetColumn, value: TargetColumn): ToText {
  const [keyText, valueText] = [partText(key), partText(value)];
  const isObject = key.type === 'varchar';
  return (map) => {
    const entries = [...(map as Map<unknown, unknown>)].map(([k, v]) => [keyText(k), valueText(v)] as const);
    if (isObject) return `{${entries.map(([k, v]) => `${k}:${v}`).join(',')}}`;
    return `[${entries.map(([k, v]) => `[${k},${v}]`).join(',')}]`;
  };
}

const quoted = (text: ToText): ValueWriter => ({ text, json: (value) => JSON.stringify(text(value)) });

const numbers: ValueWriter = { text: String, json: String };

function floatText(value: unknown): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** The shortest digits that read back as the same float32. */
function float32Text(value: unknown): string {
  const number = value as number;
  if (!Number.isFinite(number) || number === 0) return floatText(number);
  for (let digits = 1; digits < 9; digits++) {
    const text = number.toPrecision(digits);
    if (Math.fround(Number(text)) === number) return String(Number(text));
  }
  return String(Number(number.toPrecision(9)));
}

const floats = (text: ToText): ValueWriter => ({
  text,
  // JSON has no NaN and no infinities.
  json: (value) => (Number.isFinite(value) ? text(value) : `"${text(value)}"`),
});

/** `2024-01-15`; with a sign and six digits outside of the years 0 to 9999, and DuckDB's text where a Date doesn't reach. */
function dateText(value: unknown): string {
  const date = value as Date;
  if (Number.isNaN(date.getTime())) return date.toJSON();
  const text = date.toISOString();
  return text.slice(0, text.indexOf('T'));
}

function timestampText(suffix: '' | 'Z'): ToText {
  return (value) => {
    const text = (value as Date).toJSON();
    if (text.endsWith('infinity')) return text;
    return text.endsWith('Z') ? text.slice(0, -1) + suffix : text + suffix;
  };
}

/** ISO 8601: `P1Y2M3DT4H5M6.5S`, each part with its own sign. */
export function durationText(value: unknown): string {
  const { months, days, micros } = value as { months: number; days: number; micros: bigint };
  const part = (count: number | bigint, unit: string): string => (count === 0 || count === 0n ? '' : `${count}${unit}`);
  const day = part(Math.trunc(months / 12), 'Y') + part(months % 12, 'M') + part(days, 'D');
  const rest = micros % 60_000_000n;
  const clock = part(micros / 3_600_000_000n, 'H') + part((micros / 60_000_000n) % 60n, 'M') + secondsText(rest);
  if (clock === '') return day === '' ? 'PT0S' : `P${day}`;
  return `P${day}T${clock}`;
}

function secondsText(micros: bigint): string {
  if (micros === 0n) return '';
  const magnitude = micros < 0n ? -micros : micros;
  const fraction = String(magnitude % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${micros < 0n ? '-' : ''}${magnitude / 1_000_000n}${fraction === '' ? '' : `.${fraction}`}S`;
}

function base64(value: unknown): string {
  const bytes = value as Uint8Array;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

const writers: Readonly<Record<string, ValueWriter>> = {
  boolean: numbers,
  int8: numbers,
  int16: numbers,
  int32: numbers,
  int64: numbers,
  int128: numbers,
  uint8: numbers,
  uint16: numbers,
  uint32: numbers,
  uint64: numbers,
  uint128: numbers,
  float32: floats(float32Text),
  float64: floats(floatText),
  varchar: quoted(String),
  // Scanned as text.
  json: { text: String, json: (value) => compactJson(String(value)) },
  blob: quoted(base64),
  uuid: quoted(String),
  date: quoted(dateText),
  time: quoted(String),
  timetz: quoted(String),
  timestamp: quoted(timestampText('')),
  timestamptz: quoted(timestampText('Z')),
  timestamp_s: quoted(timestampText('')),
  timestamp_ms: quoted(timestampText('')),
  timestamp_ns: quoted(timestampText('')),
  interval: quoted(durationText),
};
