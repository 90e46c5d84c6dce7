import { microsOf } from '../../src/catalog/instant.ts';
import { quoteName, type SqlDialect } from '../../src/catalog/sql/dialect.ts';
import type { CellType } from '../../src/spec/rows.ts';

const types: Readonly<Record<CellType, string>> = {
  bigint: 'BIGINT',
  varchar: 'VARCHAR',
  boolean: 'BIGINT',
  uuid: 'VARCHAR',
  timestamptz: 'VARCHAR',
};

export const sqliteDialect: SqlDialect = {
  table: quoteName,
  type: (type) => types[type],
  jsonArray: (expressions) => `json_array(${expressions.join(', ')})`,
  // What is no more than text isn't taken for JSON by the array around it.
  jsonGroup: (expression) => `json_group_array(${expression}) || ''`,
  columnsOf: (name) =>
    `(SELECT nullif(json_group_array(json_array(name, type)), '[]') FROM (SELECT name, type FROM pragma_table_info(${name}) ORDER BY cid))`,
  inlinedCell: (column, type) =>
    type === 'BLOB'
      ? `CASE WHEN ${column} IS NOT NULL THEN hex(${column}) END`
      : `CASE typeof(${column}) WHEN 'real' THEN printf('%!.17g', ${column}) ELSE CAST(${column} AS TEXT) END`,
  // Without its number: better-sqlite3 takes ?1 for a name.
  parameter: () => '?',
  instant: micros,
  instantLiteral: (time) => String(microsOf(time)),
  tableExists: (name) => `EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '${name}')`,
};

/**
 * Instants are text with the offset of the session that wrote them: `2024-01-15 12:30:00.5+00`, or `+05:30`. SQLite
 * reads the offset only with its minutes, and fractions only to milliseconds.
 */
function micros(column: string): string {
  const rest = `substr(${column}, 20)`;
  const sign = `max(instr(${rest}, '+'), instr(${rest}, '-'))`;
  const minutes = `coalesce(nullif(substr(${rest}, ${sign} + 4, 2), ''), '00')`;
  const seconds = `strftime('%s', substr(${column}, 1, 19) || substr(${rest}, ${sign}, 3) || ':' || ${minutes})`;
  const fraction = `substr(substr(${rest}, 2, max(${sign} - 2, 0)) || '000000', 1, 6)`;
  return `(${seconds} * 1000000 + ${fraction})`;
}
