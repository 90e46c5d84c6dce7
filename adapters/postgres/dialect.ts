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

/** `schema` qualifies every name: `search_path` says nothing. */
export function postgresDialect(schema: string): SqlDialect {
  const table = (name: string): string => `${quoteName(schema)}.${quoteName(name)}`;
  return {
    table,
    type: (type) => types[type],
    jsonArray: (expressions) => `json_build_array(${expressions.join(', ')})::text`,
    parameter: (n, type) => `$${n}::text::${types[type]}`,
    instant: (column) => column,
    // Dates reach beyond the years that Postgres reads as text.
    instantLiteral: (time) => `(timestamptz 'epoch' + ${microsOf(time)} * interval '1 microsecond')`,
    tableExists: (name) => `to_regclass(${literal(table(name))}) IS NOT NULL`,
  };
}
