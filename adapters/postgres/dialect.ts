import type { IsoForm, RangeEnd } from '../../src/catalog/bounds.ts';
import { microsOf } from '../../src/catalog/instant.ts';
import { quoteName, type SqlDialect } from '../../src/catalog/sql/dialect.ts';
import type { CellType } from '../../src/spec/rows.ts';
import { literal } from './literal.ts';

const types: Readonly<Record<CellType, string>> = {
  bigint: 'bigint',
  varchar: 'varchar',
  boolean: 'boolean',
  uuid: 'uuid',
  timestamptz: 'timestamptz',
};

/** A Date reaches further back than Postgres' first instant, and further ahead than the years that it reads as text. */
function instant(micros: bigint): string {
  if (micros < firstMicros) return "timestamptz '-infinity'";
  return `(timestamptz 'epoch' + ${micros} * interval '1 microsecond')`;
}

/** In 4713 BC. */
const firstMicros = -210_866_803_200_000_000n;

const NEWEST_PAGES = 64;

/** `schema` qualifies every name: `search_path` says nothing. */
export function postgresDialect(schema: string): SqlDialect {
  const table = (name: string): string => `${quoteName(schema)}.${quoteName(name)}`;
  return {
    table,
    type: (type) => types[type],
    jsonArray: (expressions) => `json_build_array(${expressions.join(', ')})::text`,
    jsonGroup: (expression) => `json_agg(${expression})::text`,
    columnsOf: (name) =>
      '(SELECT json_agg(json_build_array(a.attname, format_type(a.atttypid, NULL)) ORDER BY a.attnum)::text ' +
      'FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid ' +
      `WHERE n.nspname = ${literal(schema)} AND c.relname = ${name} AND a.attnum > 0 AND NOT a.attisdropped)`,
    // Rows are mostly where they were put, the newest on the last pages.
    newestRows: (name) =>
      `(SELECT * FROM ${table(name)} WHERE ctid >= (SELECT format('(%s,0)', greatest(0, pg_relation_size(${literal(table(name))}) ` +
      `/ current_setting('block_size')::bigint - ${NEWEST_PAGES}))::tid))`,
    inlinedCell,
    isBeyond,
    parameter: (n, type) => `$${n}::text::${types[type]}`,
    textLiteral: literal,
    instant: (column) => column,
    instantLiteral: (time) => instant(microsOf(time)),
    tableExists: (name) => `to_regclass(${literal(table(name))}) IS NOT NULL`,
  };
}

/** What a session's settings would spell in one way or another, or what isn't always text, goes as bytes or numbers. */
function inlinedCell(column: string, type: string): string {
  switch (type) {
    case 'bytea':
      return `encode(${column}, 'hex')`;
    case 'real':
      return `encode(float4send(${column}), 'hex')`;
    case 'double precision':
      return `encode(float8send(${column}), 'hex')`;
    case 'interval': {
      const part = (name: string): string => `extract(${name} FROM ${column})::bigint`;
      const micros = `(${part('hour')} * 60 + ${part('minute')}) * 60000000 + ${part('microseconds')}`;
      return `(${part('year')} * 12 + ${part('month')}) || ' ' || ${part('day')} || ' ' || (${micros})`;
    }
    default:
      return `${column}::text`;
  }
}

const isoForms: Readonly<Record<IsoForm, string>> = {
  date: '$',
  timestamp: ' [0-9:.]+$',
  timestamptz: ' [0-9:.]+[+]00$',
};

/** CASE evaluates a cast only where the text is known to be fit for it. */
function isBeyond(bound: string, operator: '<' | '>', end: RangeEnd): string {
  const isNumber = `length(${bound}) < 60 AND ${bound} ~ '^-?[0-9]+([.][0-9]+)?(e[+-]?[0-9]{1,3})?$'`;
  switch (end.kind) {
    case 'infinite':
      return `(${isNumber})`;
    case 'number': {
      const exactly = `${bound}::numeric ${operator} ${literal(end.text)}::numeric`;
      // Most are whole numbers, which are known as such, and compared, in a fraction of the time.
      const isWhole = (length: number): string =>
        `ltrim(${bound}, '0123456789') = '' AND length(${bound}) BETWEEN 1 AND ${length}`;
      const cases = /^-?\d{1,18}$/.test(end.text)
        ? `WHEN ${isWhole(18)} THEN ${bound}::bigint ${operator} ${literal(end.text)}::bigint WHEN ${isNumber}`
        : `WHEN ${isWhole(40)} OR ${isNumber}`;
      return `CASE ${cases} THEN ${exactly} ELSE false END`;
    }
    case 'iso':
      return `(${bound} COLLATE "C" ${operator} ${literal(end.text)} AND ${bound} ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}${isoForms[end.form]}')`;
    case 'bytes':
      return `${bound} COLLATE "C" ${operator} ${literal(end.text)}`;
  }
}
