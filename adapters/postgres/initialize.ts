import { quoteName, type SqlDialect } from '../../src/catalog/sql/dialect.ts';
import { createTables, initialRows } from '../../src/catalog/sql/schema.ts';
import type { LakeInit } from '../../src/catalog/store.ts';
import type { Cell } from '../../src/spec/rows.ts';
import { dollarQuoted, literal } from './literal.ts';

/**
 * Makes a lake unless there is one, as one message and so one transaction, without a BEGIN that an error would leave
 * open on the caller's connection. The second result says whether there was none. Two at once wait for each other; the key
 * is the schema's own, so that two lakes of one database don't.
 */
export function initializeMessage(dialect: SqlDialect, schema: string, init: LakeInit): string {
  const isNew = ['ducklake_metadata', 'ducklake_snapshot']
    .map((name) => `NOT ${dialect.tableExists(name)}`)
    .join(' AND ');
  const inserts = initialRows(init, 'now').map(([table, row]) => {
    const columns = Object.keys(row).map(quoteName).join(', ');
    return `INSERT INTO ${dialect.table(table)} (${columns}) VALUES (${Object.values(row).map(constant).join(', ')})`;
  });
  // Creating a schema that exists may be forbidden even with IF NOT EXISTS.
  const body = `BEGIN IF ${isNew} THEN
IF to_regnamespace(${literal(quoteName(schema))}) IS NULL THEN CREATE SCHEMA ${quoteName(schema)}; END IF;
${[...createTables(dialect), ...inserts].join(';\n')};
END IF; END`;
  return [
    `SELECT pg_advisory_xact_lock(hashtextextended(${literal(`edgemere initialize ${schema}`)}, 0))`,
    `SELECT (${isNew})::text`,
    `DO ${dollarQuoted(body)}`,
  ].join(';\n');
}

function constant(cell: Cell): string {
  return typeof cell === 'string' ? literal(cell) : String(cell);
}
