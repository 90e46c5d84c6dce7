import type { Field } from '../schema/field.ts';
import { type Change, changeText, sortChanges } from '../spec/changes.ts';
import { type CatalogRow, type CatalogTable, NEXT, relativeId, resolveId } from '../spec/rows.ts';
import { typeText } from '../spec/types.ts';
import { addDeltas, deltaOf } from '../stats/merge.ts';
import { fenceOf, type Isolation, type TableNames } from './fence.ts';
import { Inlining } from './inlining.ts';
import type { CommitMessage, PendingChange, StagedFile, StagedRows } from './pending.ts';
import type { CatalogOp, CommitBatch, CommitWitness, Snapshot } from './store.ts';

/** Turns pending changes into one commit on top of `base`. Pure: planning again on a newer head gives the next attempt. */
export function plan(
  pending: readonly PendingChange[],
  base: Snapshot,
  { author, message, extraInfo }: CommitMessage,
  isolation: Isolation,
  names: TableNames = { named: [], isAgain: false },
): CommitBatch {
  const ids = assignIds(pending);
  const rows = new RowsByTable();
  const ends: CatalogOp[] = [];
  const changes: Change[] = [];
  const appends = new Map<number, { fields: readonly Field[]; files: StagedFile[]; inlined: StagedRows[] }>();
  const inlining = new Inlining();

  for (const change of pending) {
    switch (change.kind) {
      case 'createSchema':
        rows.add('ducklake_schema', schemaRow(change, ids(change.id)));
        changes.push({ kind: 'created_schema', name: change.name });
        break;
      case 'createTable':
        rows.add('ducklake_table', tableRow(change, ids(change.id), ids(change.schema.id)));
        for (const row of columnRows(change.fields, ids(change.id))) rows.add('ducklake_column', row);
        rows.add('ducklake_schema_versions', { begin_snapshot: NEXT, schema_version: NEXT, table_id: ids(change.id) });
        if (change.inlines) inlining.create(ids(change.id), change.fields);
        changes.push({ kind: 'created_table', schema: change.schema.name, name: change.name });
        break;
      case 'dropSchema':
        ends.push({ kind: 'end', table: 'ducklake_schema', match: { schema_id: change.id } });
        changes.push({ kind: 'dropped_schema', id: change.id });
        break;
      case 'dropTable':
        ends.push(...endTable(change.id));
        changes.push({ kind: 'dropped_table', id: change.id });
        break;
      case 'append': {
        const tableId = ids(change.tableId);
        const append = appends.get(tableId) ?? { fields: change.fields, files: [], inlined: [] };
        append.files.push(...change.files);
        if (change.inlined) append.inlined.push(change.inlined);
        appends.set(tableId, append);
      }
    }
  }

  let fileIdCount = 0;
  const stats: CatalogOp[] = [];
  // Files count in the order of their tables, as in DuckDB: tables that exist come before those made here.
  const order = (tableId: number): number => resolveId(tableId, 2 ** 52);
  for (const [tableId, { fields, files, inlined }] of [...appends].sort(([a], [b]) => order(a) - order(b))) {
    let rowIdCount = 0;
    for (const file of files) {
      const fileId = relativeId(fileIdCount++);
      rows.add('ducklake_data_file', fileRow(file, fileId, tableId, relativeId(rowIdCount)));
      for (const row of statsRows(file, fileId, tableId)) rows.add('ducklake_file_column_stats', row);
      rowIdCount += file.rowCount;
    }
    const byteLength = files.reduce((sum, file) => sum + file.byteLength, 0);
    const ofFiles = files.map((file) => file.columns);
    const deltas = [...(files.length > 0 ? [deltaOf(ofFiles, fields)] : []), ...inlined.map((one) => one.stats)];
    rowIdCount += inlining.insert(tableId, fields, inlined, rowIdCount);
    // DuckDB caches statistics by this counter.
    if (files.length === 0) fileIdCount++;
    const columns = deltas.reduce(addDeltas);
    stats.push({ kind: 'addStats', stats: { tableId, recordCount: rowIdCount, rowIdCount, byteLength, columns } });
    if (files.length > 0) changes.push({ kind: 'inserted_into_table', id: tableId });
    if (inlined.length > 0) changes.push({ kind: 'inlined_insert', id: tableId });
  }
  const made = new Set(pending.flatMap((change) => (change.kind === 'createTable' ? [ids(change.id)] : [])));
  // Without it DuckDB, which leaves it out, reads the rows with the columns that the table began with once the schema has changed.
  for (const id of inlining.created)
    if (!made.has(id))
      rows.add('ducklake_schema_versions', { begin_snapshot: NEXT, schema_version: NEXT, table_id: id });

  const sorted = sortChanges(changes);
  const witness = witnessOf(pending, sorted, extraInfo);
  return {
    base,
    fence: fenceOf(pending, isolation, witness, names),
    changesSchema: inlining.created.size > 0 || pending.some((change) => change.kind !== 'append'),
    catalogIdCount: pending.filter((change) => change.kind === 'createSchema' || change.kind === 'createTable').length,
    fileIdCount,
    changes: sorted,
    author: author ?? null,
    message: message ?? null,
    extraInfo: witness.column === 'commit_extra_info' ? witness.value : (extraInfo ?? null),
    ops: [...ends, ...rows.ops(), ...stats, ...inlining.ops],
    witness,
  };
}

/** From a transaction's own ids of what it creates to relative ids, which count in the order of creation. */
function assignIds(pending: readonly PendingChange[]): (id: number) => number {
  const assigned = new Map<number, number>();
  for (const change of pending)
    if (change.kind === 'createSchema' || change.kind === 'createTable')
      assigned.set(change.id, relativeId(assigned.size));
  return (id) => assigned.get(id) ?? id;
}

function witnessOf(
  pending: readonly PendingChange[],
  changes: readonly Change[],
  extraInfo: string | undefined,
): CommitWitness {
  for (const change of pending) {
    if (change.kind === 'append' && change.files[0])
      return { table: 'ducklake_data_file', column: 'path', value: change.files[0].path };
    if (change.kind === 'createTable') return { table: 'ducklake_table', column: 'table_uuid', value: change.uuid };
    if (change.kind === 'createSchema') return { table: 'ducklake_schema', column: 'schema_uuid', value: change.uuid };
  }
  // Inlined rows and drops leave nothing that is theirs alone: the snapshot says which commit it is, unless the caller has a say.
  const first = pending[0];
  const id = first?.kind === 'append' ? first.inlined?.id : first?.uuid;
  if (id !== undefined && extraInfo === undefined)
    return {
      table: 'ducklake_snapshot_changes',
      column: 'commit_extra_info',
      value: JSON.stringify({ edgemere: id }),
    };
  return {
    table: 'ducklake_snapshot_changes',
    column: 'changes_made',
    value: changes.map((change) => changeText(change)).join(','),
    isShared: pending.some((change) => change.kind === 'append'),
  };
}

/** Rows to insert, one op for each catalog table. */
class RowsByTable {
  readonly #rows = new Map<CatalogTable, CatalogRow[]>();

  add(table: CatalogTable, row: CatalogRow): void {
    const rows = this.#rows.get(table);
    if (rows) rows.push(row);
    else this.#rows.set(table, [row]);
  }

  ops(): CatalogOp[] {
    return [...this.#rows].map(([table, rows]) => ({ kind: 'insert', table, rows }));
  }
}

function schemaRow(change: PendingChange & { kind: 'createSchema' }, id: number): CatalogRow {
  return {
    schema_id: id,
    schema_uuid: change.uuid,
    begin_snapshot: NEXT,
    schema_name: change.name,
    path: change.path,
    path_is_relative: true,
  };
}

function tableRow(change: PendingChange & { kind: 'createTable' }, id: number, schemaId: number): CatalogRow {
  return {
    table_id: id,
    table_uuid: change.uuid,
    begin_snapshot: NEXT,
    schema_id: schemaId,
    table_name: change.name,
    path: change.path,
    path_is_relative: true,
  };
}

export function columnRows(fields: readonly Field[], tableId: number, parent: number | null = null): CatalogRow[] {
  return fields.flatMap((field) => [
    {
      column_id: field.id,
      begin_snapshot: NEXT,
      table_id: tableId,
      column_order: field.id,
      column_name: field.name,
      column_type: typeText(field.type),
      initial_default: field.initialDefault,
      default_value: field.defaultValue ?? 'NULL',
      nulls_allowed: field.nullable,
      parent_column: parent,
      default_value_type: field.children.length > 0 ? '' : 'literal',
      default_value_dialect: 'duckdb',
    },
    ...columnRows(field.children, tableId, field.id),
  ]);
}

function fileRow(file: StagedFile, id: number, tableId: number, rowIdStart: number): CatalogRow {
  return {
    data_file_id: id,
    table_id: tableId,
    begin_snapshot: NEXT,
    path: file.path,
    path_is_relative: true,
    file_format: 'parquet',
    record_count: file.rowCount,
    file_size_bytes: file.byteLength,
    footer_size: file.footerLength,
    row_id_start: rowIdStart,
  };
}

/** For `ducklake_file_column_stats`. */
export function statsRows(file: StagedFile, fileId: number, tableId: number): CatalogRow[] {
  return file.columns.map((column) => ({
    data_file_id: fileId,
    table_id: tableId,
    column_id: column.fieldId,
    column_size_bytes: column.byteLength,
    value_count: column.valueCount,
    null_count: column.nullCount,
    min_value: column.min ?? null,
    max_value: column.max ?? null,
    contains_nan: column.containsNan ?? null,
  }));
}

function endTable(id: number): CatalogOp[] {
  const byTable = ['ducklake_table', 'ducklake_partition_info', 'ducklake_column', 'ducklake_column_tag'] as const;
  const files = ['ducklake_data_file', 'ducklake_delete_file', 'ducklake_sort_info'] as const;
  return [
    ...[...byTable, ...files].map((table): CatalogOp => ({ kind: 'end', table, match: { table_id: id } })),
    { kind: 'end', table: 'ducklake_tag', match: { object_id: id } },
  ];
}
