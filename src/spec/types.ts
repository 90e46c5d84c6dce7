import { LakeError } from '../errors.ts';

/** Types that DuckLake names with one word and that this version reads and writes. */
export const scalarNames = [
  'boolean',
  'int8',
  'int16',
  'int32',
  'int64',
  'int128',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'uint128',
  'float32',
  'float64',
  'varchar',
  'json',
  'blob',
  'uuid',
  'date',
  'time',
  'timetz',
  'timestamp',
  'timestamptz',
  'timestamp_s',
  'timestamp_ms',
  'timestamp_ns',
  'interval',
] as const;

export type ScalarName = (typeof scalarNames)[number];
export type NestedName = 'list' | 'struct' | 'map';
/** Types that the format has and this version can't read or write: a table may hold such columns untouched. */
export type UnsupportedName = 'variant' | 'geometry' | 'time_ns' | 'unknown';

export type ColumnType =
  | { readonly name: ScalarName }
  | { readonly name: 'decimal'; readonly precision: number; readonly scale: number }
  /** Children are fields of their own: see `Field`. */
  | { readonly name: NestedName }
  | { readonly name: UnsupportedName };

const plainNames: ReadonlySet<string> = new Set([
  ...scalarNames,
  'list',
  'struct',
  'map',
  'variant',
  'geometry',
  'time_ns',
  'unknown',
]);

const unsupportedNames: readonly ColumnType['name'][] = ['variant', 'geometry', 'time_ns', 'unknown'];

/** Whether this version reads and writes values of the type. */
export function isSupported(type: ColumnType): boolean {
  return !unsupportedNames.includes(type.name);
}

/** Parses `ducklake_column.column_type`. */
export function parseType(text: string): ColumnType {
  const name = text.toLowerCase();
  if (plainNames.has(name)) return { name } as ColumnType;
  if (name === 'timestamp_us') return { name: 'timestamp' };
  const decimal = /^decimal\((\d+), ?(\d+)\)$/.exec(name);
  if (decimal) return decimalType(Number(decimal[1]), Number(decimal[2]));
  throw new LakeError('UNSUPPORTED', `column type "${text}" is not one that DuckLake 1.0 defines`);
}

/** A type as `ducklake_column.column_type` holds it. */
export function typeText(type: ColumnType): string {
  return type.name === 'decimal' ? `decimal(${type.precision},${type.scale})` : type.name;
}

/** Decimals have 1 to 38 digits, of which 0 to all are behind the point. */
export function decimalType(precision: number, scale: number): ColumnType {
  if (!Number.isInteger(precision) || precision < 1 || precision > 38)
    throw new LakeError('INVALID_ARGUMENT', `a decimal's precision is 1 to 38, not ${precision}`);
  if (!Number.isInteger(scale) || scale < 0 || scale > precision)
    throw new LakeError('INVALID_ARGUMENT', `a decimal(${precision})'s scale is 0 to ${precision}, not ${scale}`);
  return { name: 'decimal', precision, scale };
}
