import type { IntervalParts, JsonValue } from '../../schema/builder.ts';
import type { Timestamp } from '../../spec/values/timestamp.ts';

/** A column of JSON, or one of which nothing is known, takes any value. */
type IsAny<T> = [unknown] extends [T] ? true : [NonNullable<JsonValue>] extends [T] ? true : false;

/** What may stand for a value of a column in a filter: what an insert takes, and what a scan gives. */
type Value<T> = IsAny<T> extends true ? unknown : OneValue<T>;
type OneValue<T> = T extends bigint | number
  ? bigint | number
  : T extends Timestamp
    ? Date | string | bigint
    : T extends Date
      ? Date | string
      : T extends string | boolean | Uint8Array | IntervalParts
        ? T
        : never;

/** Values that can't be mistaken for an object of operators. */
type Bare<T> = IsAny<T> extends true ? unknown : Exclude<Value<T>, IntervalParts>;
type NonNull<T> = unknown extends T ? unknown : NonNullable<T>;

/** Operators on one column; several have to hold all. Without a value to compare with (nested columns) there is only `isNull`. */
export type ColumnTest<T> = { readonly isNull?: boolean } & ([Value<T>] extends [never]
  ? unknown
  : {
      readonly eq?: Value<T>;
      readonly ne?: Value<T>;
      readonly lt?: Value<T>;
      readonly lte?: Value<T>;
      readonly gt?: Value<T>;
      readonly gte?: Value<T>;
      /** `null` among them is SQL's: neither inside nor outside for sure. */
      readonly in?: readonly (Value<T> | null)[];
      readonly not?: Bare<T> | ColumnTest<T>;
    } & (IsAny<T> extends true ? TextTest : string extends T ? TextTest : unknown));

interface TextTest {
  /** `%` is any text, `_` one character (code point); there is no escape. Case matters. */
  readonly like?: string;
  readonly startsWith?: string;
}

type OperatorName = 'and' | 'or' | 'not';
type Of<Row, K extends string> = K extends keyof Row ? Bare<NonNull<Row[K]>> | ColumnTest<NonNull<Row[K]>> : never;

/**
 * Which rows, as data: columns with what they have to be, all of which has to hold. Logic is SQL's: a comparison with NULL is neither
 * true nor false, and only rows for which the whole is true are kept. `null` and `undefined` are no values to compare with
 * (INVALID_ARGUMENT): NULL is asked for with `isNull`.
 *
 * `and`, `or` and `not` with an array are always operators (`not` with several means not all of them). `not` with one filter
 * is too, unless the table has a column called `not`.
 *
 * @example
 * ```ts
 * const where: Where<{ id: bigint; at: Timestamp; kind: string | null }> = {
 *   at: { gte: new Date('2026-01-01'), lt: new Date('2026-02-01') },
 *   or: [{ kind: 'click' }, { kind: { isNull: true } }],
 *   not: { id: { in: [1, 2, 3] } },
 * };
 * ```
 */
export type Where<Row = Record<string, unknown>> = {
  readonly [K in Exclude<keyof Row, OperatorName>]?: Bare<NonNull<Row[K]>> | ColumnTest<NonNull<Row[K]>>;
} & {
  readonly and?: readonly Where<Row>[] | Of<Row, 'and'>;
  readonly or?: readonly Where<Row>[] | Of<Row, 'or'>;
  readonly not?: readonly Where<Row>[] | ('not' extends keyof Row ? Of<Row, 'not'> : Where<Row>);
};
