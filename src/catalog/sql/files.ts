import { LakeError } from '../../errors.ts';
import type { RowOf } from '../../spec/rows.ts';
import { noFirstSnapshot } from '../first-snapshot.ts';
import type { FilesRequest, InlinedRows, LiveFile, SeenSnapshot, TableFiles } from '../table-files.ts';
import type { HistoryRequest, TableHistory } from '../table-history.ts';
import { snapshotOf } from './decode.ts';
import { MissingTables, type SqlDialect } from './dialect.ts';
import {
  type FileStatements,
  fileStatements,
  INLINED_SYSTEM_COLUMNS,
  type InlinedShape,
  type InlinedTable,
} from './file-statements.ts';
import { cellDecoder } from './inlined-cells.ts';
import type { Result } from './result.ts';

/** How often what others do at the same time may change what a table's inlined rows are in. */
const MAX_ATTEMPTS = 5;
const nothing: InlinedShape = { tables: [], hasDeletes: false };

/** Reads tables' files, each time all at once, and remembers in which tables their inlined rows are. */
export class FilesReader {
  readonly #statements: FileStatements;
  readonly #run: (text: string) => Promise<Result>;
  readonly #shapes = new Map<number, InlinedShape>();

  /** `run` rejects with MissingTables when a table that the statement names isn't there. */
  constructor(dialect: SqlDialect, run: (text: string) => Promise<Result>) {
    this.#statements = fileStatements(dialect);
    this.#run = run;
  }

  async read(request: FilesRequest): Promise<TableFiles> {
    if (request.fromFileId !== undefined) {
      const files = await this.#read(request, false);
      if (hasStats(request, files)) return files;
    }
    return this.#read(request, true);
  }

  async #read(request: FilesRequest, isWhole: boolean): Promise<TableFiles> {
    const found = await this.#consistent(request.tableId, (shape) => this.#statements.files(request, shape, isWhole));
    return request.since === undefined ? tableFiles(found) : { ...tableFiles(found), since: seenSnapshots(found) };
  }

  async readHistory(request: HistoryRequest): Promise<TableHistory> {
    const found = await this.#consistent(request.tableId, (shape) => this.#statements.history(request, shape));
    const history = tableHistory(found);
    if (history === undefined) throw noFirstSnapshot(request.from);
    return history;
  }

  /** Runs the statement until it knew before what it then found out. */
  async #consistent(tableId: number, statement: (shape: InlinedShape) => string): Promise<Found> {
    let shape = this.#shapes.get(tableId) ?? nothing;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      let result: Result;
      try {
        result = await this.#run(statement(shape));
      } catch (error) {
        // Without inlined tables in it, it names those of the lake only.
        if (!(error instanceof MissingTables) || shape === nothing) throw error;
        shape = nothing;
        continue;
      }
      const found = shapeOf(result);
      if (found === undefined) continue;
      if (sameShape(found, shape)) {
        this.#shapes.set(tableId, shape);
        return { result, shape };
      }
      shape = found;
    }
    throw new LakeError(
      'CORRUPT',
      'the catalog names tables of inlined rows that are not there, or are of another version',
      { context: { tableId } },
    );
  }
}

interface Found {
  readonly result: Result;
  readonly shape: InlinedShape;
}

type Pairs = readonly (readonly [name: string, type: string])[];

/** `undefined` when a table that the catalog names isn't there. */
function shapeOf(result: Result): InlinedShape | undefined {
  const named = result.json('inlined_table').map((json) => JSON.parse(json) as [string, number, Pairs | string | null]);
  const tables: InlinedTable[] = [];
  for (const [name, schemaVersion, text] of named) {
    // Some versions of SQLite pass JSON on through a subquery as JSON, others as text.
    const columns = typeof text === 'string' ? (JSON.parse(text) as Pairs) : (text ?? []);
    if (columns.length < INLINED_SYSTEM_COLUMNS.length) return undefined;
    if (tables.some((table) => table.name === name)) continue;
    tables.push({
      name,
      schemaVersion,
      columns: columns.slice(INLINED_SYSTEM_COLUMNS.length).map(([columnName, type]) => ({ name: columnName, type })),
    });
  }
  const hasDeletes = result.json('has_deletes').length > 0;
  if (tables.length === 0 && !hasDeletes) return nothing;
  return { tables: tables.sort((a, b) => a.schemaVersion - b.schemaVersion), hasDeletes };
}

const sameShape = (a: InlinedShape, b: InlinedShape): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

const byFile = <Row extends { readonly data_file_id: number | null }>(rows: Row[]): Map<number | null, Row[]> =>
  Map.groupBy(rows, (row) => row.data_file_id);

function dataFiles(result: Result): RowOf<'ducklake_data_file'>[] {
  return result.of('ducklake_data_file').sort((a, b) => a.data_file_id - b.data_file_id);
}

/** Whether each file has the statistics that were asked for. */
function hasStats({ stats }: FilesRequest, { files }: TableFiles): boolean {
  if (typeof stats === 'string') return stats === 'none' || files.length === 0;
  return files.every((file) => file.stats.length === stats.length);
}

function tableFiles({ result, shape }: Found): TableFiles {
  const deletes = byFile(result.of('ducklake_delete_file'));
  const values = byFile(result.of('ducklake_file_partition_value'));
  const stats = byFile(result.of('ducklake_file_column_stats'));
  const positions = new Map(
    result.parsed('deletes').map((row) => {
      const [fileId, text] = row as [number, string];
      return [fileId, (JSON.parse(text) as number[]).sort((a, b) => a - b)];
    }),
  );
  const deleted = Map.groupBy(result.parsed('deleted') as [number, number, number][], ([fileId]) => fileId);
  const flushed = (fileId: number): Pick<LiveFile, 'inlinedDeletes' | 'inlinedDeleteSnapshots'> | undefined => {
    const found = deleted.get(fileId)?.sort(([, a], [, b]) => a - b);
    return (
      found && {
        inlinedDeletes: found.map(([, position]) => position),
        inlinedDeleteSnapshots: found.map(([, , snapshot]) => snapshot),
      }
    );
  };
  return {
    files: dataFiles(result).map((file) => ({
      file,
      deletes: deletes.get(file.data_file_id) ?? [],
      inlinedDeletes: positions.get(file.data_file_id) ?? [],
      ...flushed(file.data_file_id),
      partitionValues: values.get(file.data_file_id) ?? [],
      stats: stats.get(file.data_file_id) ?? [],
    })),
    ...restOf(result, shape),
  };
}

function seenSnapshots({ result }: Found): SeenSnapshot[] {
  const changes = new Map(result.of('ducklake_snapshot_changes').map((row) => [row.snapshot_id, row.changes_made]));
  return result
    .of('ducklake_snapshot')
    .map((row) => {
      const { id, time, nextFileId } = snapshotOf(row);
      return { id, time, nextFileId, changes: changes.get(id) ?? undefined };
    })
    .sort((a, b) => a.id - b.id);
}

function tableHistory({ result, shape }: Found): TableHistory | undefined {
  const [span] = result.parsed('span') as [number, number, number][];
  if (span === undefined) return undefined;
  const [from, snapshotCount, countBefore] = span;
  const deletes = byFile(result.of('ducklake_delete_file'));
  const inlinedDeletes = Map.groupBy(result.parsed('deletes') as [number, number, number][], ([fileId]) => fileId);
  return {
    from,
    snapshotCount,
    hasBefore: countBefore > 0,
    changes: new Map(result.of('ducklake_snapshot_changes').map((row) => [row.snapshot_id, row.changes_made ?? ''])),
    files: dataFiles(result).map((file) => ({
      file,
      deletes: deletes.get(file.data_file_id) ?? [],
      inlinedDeletes: (inlinedDeletes.get(file.data_file_id) ?? []).map(([, position, beginSnapshot]) => ({
        position,
        beginSnapshot,
      })),
    })),
    ...restOf(result, shape),
  };
}

/** What files and history have in common. */
function restOf(
  result: Result,
  shape: InlinedShape,
): Pick<TableFiles, 'inlined' | 'inlinedFields' | 'mappings' | 'nameMappings' | 'partitionColumns'> {
  const inlinedFields = new Map(
    shape.tables.map(({ schemaVersion }) => [schemaVersion, result.of('ducklake_column', `fields:${schemaVersion}`)]),
  );
  return {
    inlined: shape.tables.flatMap((table, index) => {
      const found = result.parsed(`inlined:${index}`) as unknown[][][];
      if (found.length === 0) return [];
      const rows = inlinedRows(table, found, inlinedFields.get(table.schemaVersion)!);
      const mistakenFor = result.of('ducklake_column', `mistaken:${table.schemaVersion}`);
      return [mistakenFor.length === 0 ? rows : { ...rows, mistakenFor }];
    }),
    inlinedFields,
    mappings: result.of('ducklake_column_mapping'),
    nameMappings: result.of('ducklake_name_mapping'),
    partitionColumns: result.of('ducklake_partition_column'),
  };
}

/** Each row comes in parts, none of which has too many cells for the database. */
function inlinedRows(
  table: InlinedTable,
  found: unknown[][][],
  fields: readonly RowOf<'ducklake_column'>[],
): InlinedRows {
  const decoders = table.columns.map(({ name, type }) => {
    const field = fields.find((row) => row.column_name === name && row.parent_column === null);
    return cellDecoder(type, field?.column_type ?? undefined);
  });
  const rows = found.map((parts) => {
    const cells = parts.flat() as (string | number | null)[];
    const [rowId, beginSnapshot, endSnapshot] = cells as [number, number, number | null];
    return {
      rowId,
      beginSnapshot,
      endSnapshot,
      cells: decoders.map((decode, i) => {
        const cell = cells[INLINED_SYSTEM_COLUMNS.length + i] as string | null;
        return cell === null ? null : decode(cell);
      }),
    };
  });
  return {
    tableName: table.name,
    schemaVersion: table.schemaVersion,
    columns: table.columns.map(({ name }) => name),
    rows: rows.sort((a, b) => a.rowId - b.rowId || a.beginSnapshot - b.beginSnapshot),
  };
}
