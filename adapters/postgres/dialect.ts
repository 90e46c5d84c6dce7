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

/** `schema` qualifies every name: `search_path` says nothing. */
export function postgresDialect(schema: string): SqlDialect {
  const table = (name: string): string => `${quoteName(schema)}.${quoteName(name)}`;
  return {
    table,
    type: (type) => types[type],
    jsonArray: (expressions) => `json_build_array(${expressions.join(', ')})::text`,
    parameter: (n, type) => `$${n}::text::${types[type]}`,
    instant: (column) => column,
    instantLiteral: (time) => instant(microsOf(time)),
    tableExists: (name) => `to_regclass(${literal(table(name))}) IS NOT NULL`,
  };
}
