import { type ColumnType, decimalType, type NestedName, type ScalarName } from '../spec/types.ts';
import type { Timestamp } from '../spec/values/timestamp.ts';

/** A column as a new table is given it: what the `t` builder makes. */
export interface ColumnDefinition {
  readonly type: ColumnType;
  readonly nullable: boolean;
  /** The value of a row that leaves the column out; `undefined` when there is none (NULL then). */
  readonly defaultValue: unknown;
  /** Of a list: `element`. Of a map: `key`, `value`. Of a struct: its members, in order. */
  readonly children: ReadonlyMap<string, ColumnDefinition>;
}

/** An interval's parts, as DuckDB keeps them: they don't add up to one number. */
export interface IntervalParts {
  readonly months: number;
  readonly days: number;
  readonly micros: bigint;
}

/** Any JSON value, as a `json` column gives it back: integers beyond the safe ones are bigints. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/**
 * One column of a table to be made. Immutable: each method returns a new column.
 * `In` is what an insert takes, `Out` what a scan gives, both without NULL.
 */
export class Column<
  In = unknown,
  Out = unknown,
  Nullable extends boolean = boolean,
  HasDefault extends boolean = boolean,
> {
  declare readonly in: In;
  declare readonly out: Out;
  declare readonly nullable: Nullable;
  declare readonly hasDefault: HasDefault;
  readonly definition: ColumnDefinition;

  constructor(definition: ColumnDefinition) {
    this.definition = definition;
  }

  /** Refuses NULL. */
  notNull(): Column<In, Out, false, HasDefault> {
    return new Column({ ...this.definition, nullable: false });
  }

  /** The value of rows that leave the column out (`undefined`); an explicit `null` stays NULL. */
  default(value: In): Column<In, Out, Nullable, true> {
    return new Column({ ...this.definition, defaultValue: value });
  }
}

/** The columns of a table to be made, in order. */
export type TableSchema = Readonly<Record<string, Column>>;

/** The same as a Map, which keeps names such as `2024` where they stand: objects put them first. Its rows have no types. */
export type ColumnMap = ReadonlyMap<string, Column>;

/** Columns with their names, in order. */
export function columnsOf(columns: TableSchema | ColumnMap): [string, Column][] {
  return columns instanceof Map ? [...columns] : Object.entries(columns);
}

type IsRequired<C extends Column> = C['nullable'] extends false ? (C['hasDefault'] extends true ? false : true) : false;
type OptionalKeys<S extends TableSchema> = { [K in keyof S]: IsRequired<S[K]> extends true ? never : K }[keyof S];
type OrNull<C extends Column, T> = C['nullable'] extends false ? T : T | null;
type Simplify<T> = { [K in keyof T]: T[K] };

/** A row as `table.insert` takes it: nullable columns and those with a default may be left out. */
export type InsertRow<S extends TableSchema> = Simplify<
  { readonly [K in Exclude<keyof S, OptionalKeys<S>>]: OrNull<S[K], S[K]['in']> } & {
    readonly [K in OptionalKeys<S>]?: OrNull<S[K], S[K]['in']> | undefined;
  }
>;

/** A row as `table.scan` gives it. */
export type Row<S extends TableSchema> = Simplify<{ -readonly [K in keyof S]: OrNull<S[K], S[K]['out']> }>;

type New<In, Out = In> = Column<In, Out, true, false>;

function column<In, Out = In>(type: ColumnType, children: ColumnDefinition['children'] = new Map()): New<In, Out> {
  return new Column({ type, nullable: true, defaultValue: undefined, children });
}

const scalar = <In, Out = In>(name: ScalarName): New<In, Out> => column({ name });

function nested<In, Out>(name: NestedName, children: TableSchema | ColumnMap): New<In, Out> {
  return column({ name }, new Map(columnsOf(children).map(([key, child]) => [key, child.definition])));
}

type InstantIn = Date | string | bigint;
type IntegerIn = number | bigint;
type MapIn<K, V> =
  | ReadonlyMap<K, V>
  | readonly (readonly [K, V])[]
  | (K extends string ? Readonly<Record<K, V>> : never);

/** Builders of columns, one for each DuckLake type. See {@link t}. */
export interface Types {
  boolean(): New<boolean>;
  int8(): New<IntegerIn, number>;
  int16(): New<IntegerIn, number>;
  int32(): New<IntegerIn, number>;
  /** A `number` is taken when it is a safe integer. */
  int64(): New<IntegerIn, bigint>;
  int128(): New<IntegerIn, bigint>;
  uint8(): New<IntegerIn, number>;
  uint16(): New<IntegerIn, number>;
  uint32(): New<IntegerIn, number>;
  uint64(): New<IntegerIn, bigint>;
  uint128(): New<IntegerIn, bigint>;
  /** Stored as the nearest 32-bit float. */
  float32(): New<number>;
  float64(): New<number>;
  /** `precision` digits (1–38), of which `scale` behind the point. Given and returned as text; never rounded. */
  decimal(precision: number, scale: number): New<string | number | bigint, string>;
  varchar(): New<string>;
  /** JSON text, or any JSON value that isn't a string. */
  json(): New<unknown, JsonValue>;
  blob(): New<Uint8Array>;
  uuid(): New<string>;
  date(): New<string | Date, Date>;
  time(): New<string | bigint, string>;
  timetz(): New<string | bigint, string>;
  /** Microseconds, without a time zone. */
  timestamp(): New<InstantIn, Timestamp>;
  /** Microseconds, an instant. */
  timestamptz(): New<InstantIn, Timestamp>;
  timestampS(): New<InstantIn, Timestamp>;
  timestampMs(): New<InstantIn, Timestamp>;
  timestampNs(): New<InstantIn, Timestamp>;
  /** Without negative parts, and with whole milliseconds, less than 2^32 of them: Parquet keeps no others. */
  interval(): New<IntervalParts>;
  /** An array. NULL, an empty list and a list of NULLs are three different values. */
  list<E extends Column>(element: E): New<readonly OrNull<E, E['in']>[], OrNull<E, E['out']>[]>;
  /** An object with these members; one that is left out is NULL. */
  struct<S extends TableSchema>(members: S | ColumnMap): New<InsertRow<S>, Row<S>>;
  /** A Map, or entries in order. Keys can't be NULL. */
  map<K extends Column, V extends Column>(
    key: K,
    value: V,
  ): New<MapIn<K['in'], OrNull<V, V['in']>>, Map<K['out'], OrNull<V, V['out']>>>;
}

/**
 * Builds the columns of a new table. Columns are nullable unless told otherwise.
 *
 * @example
 * ```ts
 * import { t } from 'edgemere';
 * import { memoryLake } from 'edgemere/memory';
 *
 * await using lake = await memoryLake();
 * const events = await lake.createTable('events', {
 *   id: t.int64().notNull(),
 *   kind: t.varchar().default('view'),
 *   price: t.decimal(12, 2),
 * });
 * await events.insert([{ id: 1, price: '9.90' }]);
 * console.log(await events.scan().toArray()); // [{ id: 1n, kind: 'view', price: '9.90' }]
 * ```
 */
export const t: Types = {
  boolean: () => scalar('boolean'),
  int8: () => scalar('int8'),
  int16: () => scalar('int16'),
  int32: () => scalar('int32'),
  int64: () => scalar('int64'),
  int128: () => scalar('int128'),
  uint8: () => scalar('uint8'),
  uint16: () => scalar('uint16'),
  uint32: () => scalar('uint32'),
  uint64: () => scalar('uint64'),
  uint128: () => scalar('uint128'),
  float32: () => scalar('float32'),
  float64: () => scalar('float64'),
  decimal: (precision, scale) => column(decimalType(precision, scale)),
  varchar: () => scalar('varchar'),
  json: () => scalar('json'),
  blob: () => scalar('blob'),
  uuid: () => scalar('uuid'),
  date: () => scalar('date'),
  time: () => scalar('time'),
  timetz: () => scalar('timetz'),
  timestamp: () => scalar('timestamp'),
  timestamptz: () => scalar('timestamptz'),
  timestampS: () => scalar('timestamp_s'),
  timestampMs: () => scalar('timestamp_ms'),
  timestampNs: () => scalar('timestamp_ns'),
  interval: () => scalar('interval'),
  list: (element) => nested('list', { element }),
  struct: (members) => nested('struct', members),
  map: (key, value) => nested('map', { key, value }),
};
