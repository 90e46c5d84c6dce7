import { quoteName } from '../../src/catalog/sql/dialect.ts';
import type { CreateInlined, DeleteInlined, DropInlined, InsertInlined } from '../../src/catalog/store.ts';
import type { InliningLimits } from '../../src/spec/inlining.ts';
import type { ColumnType } from '../../src/spec/types.ts';
import { hexBytes } from '../../src/spec/values/blob.ts';
import type { Connection, SqliteValue } from './database.ts';

export const sqliteInlining: InliningLimits = {
  maxNameByteLength: Number.MAX_SAFE_INTEGER,
  maxColumnCount: 1997,
  reservedNames: [],
};

export function createInlined(connection: Connection, name: string, { columns }: CreateInlined): void {
  const definitions = columns.map((column) => `${quoteName(column.name)} ${storedType(column.type)}`);
  connection.exec(
    `CREATE TABLE IF NOT EXISTS ${quoteName(name)}(row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, ${definitions.join(', ')})`,
  );
}

export function hasTable(connection: Connection, name: string): boolean {
  return connection.value("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name) !== undefined;
}

export function insertInlined(
  connection: Connection,
  name: string,
  { columns, rows }: InsertInlined,
  { snapshotId, rowIdStart }: { readonly snapshotId: number; readonly rowIdStart: number },
): void {
  const types = columns.map(({ type }) => storedType(type));
  const names = columns.map((column) => quoteName(column.name));
  for (const [n, cells] of rows.entries()) {
    const bound = cells.map((cell, i) => boundCell(cell, types[i]!, columns[i]!.type));
    // Cast where the column's affinity would not do: drivers keep text up to its first NUL, or numbers as floats.
    const values = bound.map((value, i) =>
      types[i] === 'BIGINT'
        ? 'CAST(? AS INTEGER)'
        : types[i] === 'VARCHAR' && value instanceof Uint8Array
          ? 'CAST(? AS TEXT)'
          : '?',
    );
    connection.run(
      `INSERT INTO ${quoteName(name)} (row_id, begin_snapshot, ${names.join(', ')}) VALUES (CAST(? AS INTEGER), CAST(? AS INTEGER), ${values.join(', ')})`,
      rowIdStart + n,
      snapshotId,
      ...bound,
    );
  }
}

export function deleteInlined(connection: Connection, { name, upTo }: DeleteInlined): void {
  connection.run(`DELETE FROM ${quoteName(name)} WHERE begin_snapshot <= ?`, upTo);
}

export function dropInlined(connection: Connection, { name }: DropInlined): void {
  if (!hasTable(connection, name) || connection.value(`SELECT 1 FROM ${quoteName(name)} LIMIT 1`) !== undefined) return;
  connection.run('DELETE FROM ducklake_inlined_data_tables WHERE table_name = ?', name);
  connection.exec(`DROP TABLE ${quoteName(name)}`);
}

/** The column's type, as DuckDB makes it: nearly everything is text. */
function storedType(type: ColumnType): 'BIGINT' | 'BLOB' | 'VARCHAR' {
  switch (type.name) {
    case 'boolean':
    case 'int8':
    case 'int16':
    case 'int32':
    case 'int64':
    case 'uint8':
    case 'uint16':
    case 'uint32':
      return 'BIGINT';
    case 'blob':
      return 'BLOB';
    default:
      return 'VARCHAR';
  }
}

const utf8 = new TextEncoder();

function boundCell(cell: string | null, stored: string, type: ColumnType): SqliteValue {
  if (cell === null) return null;
  if (type.name === 'boolean') return cell === 'true' ? 1 : 0;
  if (stored === 'BLOB') return hexBytes(cell);
  return cell.includes('\0') ? utf8.encode(cell) : cell;
}
