import type { IsoForm, RangeEnd } from '../../src/catalog/bounds.ts';
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

const NEWEST_ROWS = 8192;

export const sqliteDialect: SqlDialect = {
  table: quoteName,
  type: (type) => types[type],
  jsonArray: (expressions) => `json_array(${expressions.join(', ')})`,
  // What is no more than text isn't taken for JSON by the array around it.
  jsonGroup: (expression) => `json_group_array(${expression}) || ''`,
  columnsOf: (name) =>
    `(SELECT nullif(json_group_array(json_array(name, type)), '[]') FROM (SELECT name, type FROM pragma_table_info(${name}) ORDER BY cid))`,
  newestRows: (name) =>
    `(SELECT * FROM ${quoteName(name)} WHERE rowid > (SELECT max(rowid) FROM ${quoteName(name)}) - ${NEWEST_ROWS})`,
  inlinedCell: (column, type) =>
    type === 'BLOB'
      ? `CASE WHEN ${column} IS NOT NULL THEN hex(${column}) END`
      : `CASE typeof(${column}) WHEN 'real' THEN printf('%!.17g', ${column}) ELSE CAST(${column} AS TEXT) END`,
  isBeyond,
  // Without its number: better-sqlite3 takes ?1 for a name.
  parameter: () => '?',
  textLiteral: text,
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

const isoDate = '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]';
const isoForms: Readonly<Record<IsoForm, (bound: string) => string>> = {
  date: (bound) => `${bound} GLOB '${isoDate}'`,
  timestamp: (bound) => `${bound} GLOB '${isoDate} *' AND substr(${bound}, 12) NOT GLOB '*[^0-9:.]*'`,
  timestamptz: (bound) => `${bound} GLOB '${isoDate} *+00' AND substr(${bound}, 12) NOT GLOB '*[^0-9:.+]*'`,
};

/** How far, relatively, SQLite may be off when it reads the digits of a number: much less. */
const TOLERANCE = 2 ** -50;

const INFINITY = 'CAST(9e999 AS REAL)';

/**
 * Next to a REAL, text that is a number is compared as one; any other is above all numbers. That is several times faster than to look
 * at its characters.
 */
function isBeyond(bound: string, operator: '<' | '>', end: RangeEnd): string {
  switch (end.kind) {
    case 'infinite':
      return `(${bound} < ${INFINITY} AND ${bound} > CAST(-9e999 AS REAL))`;
    case 'number': {
      const slack = Math.abs(end.value) * TOLERANCE;
      const threshold = operator === '<' ? end.value - slack : end.value + slack;
      if (!Number.isFinite(threshold)) return '0';
      const isNumber = operator === '<' ? '' : ` AND ${bound} < ${INFINITY}`;
      return `(${bound} ${operator} CAST(${threshold} AS REAL)${isNumber})`;
    }
    case 'iso':
      return `(${bound} ${operator} ${text(end.text)} AND ${isoForms[end.form](bound)})`;
    case 'bytes':
      return `${bound} ${operator} ${text(end.text)}`;
  }
}

function text(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
