import type { AsOf } from '../catalog/store.ts';
import type { LiveFile } from '../catalog/table-files.ts';
import type { CatalogView, TableInfo } from '../catalog/view.ts';
import { LakeError, showValue } from '../errors.ts';
import type { ColumnVector } from '../file/format.ts';
import type { Field } from '../schema/field.ts';
import { withParts } from '../schema/tree.ts';
import type { Session } from '../session.ts';
import { resolvePath } from '../spec/paths.ts';
import { isSupported } from '../spec/types.ts';

export interface ScanOptions<Name extends string = string> {
  /** Which columns, in the order in which batches hold them. All by default. */
  readonly columns?: readonly Name[] | undefined;
  /** The most rows that are wanted. */
  readonly limit?: number | undefined;
  /** The version to read: a snapshot's id or a time. The head by default. */
  readonly asOf?: AsOf | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Rows as columns: `columns[name][i]` is the value of row `i`. */
export interface RowBatch {
  readonly rowCount: number;
  readonly columns: Readonly<Record<string, ArrayLike<unknown>>>;
}

/** A read of one table that runs when it is iterated, each time anew. */
export class Scan<Row> implements AsyncIterable<Row> {
  readonly #session: Session;
  readonly #find: (view: CatalogView) => TableInfo;
  readonly #options: ScanOptions;

  /** @internal */
  constructor(session: Session, find: (view: CatalogView) => TableInfo, options: ScanOptions) {
    this.#session = session;
    this.#find = find;
    this.#options = options;
  }

  /** Row by row, one object each. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    for await (const batch of this.batches()) for (const row of rowsOf(batch)) yield row as Row;
  }

  async toArray(): Promise<Row[]> {
    const rows: Row[] = [];
    for await (const batch of this.batches()) for (const row of rowsOf(batch)) rows.push(row as Row);
    return rows;
  }

  /** Batch by batch, as columns: the cheaper way when no row objects are needed. */
  async *batches(): AsyncGenerator<RowBatch> {
    const { limit, asOf, signal } = this.#options;
    signal?.throwIfAborted();
    if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 0))
      throw new LakeError('INVALID_ARGUMENT', `limit is ${limit}; it must be a whole number from 0`);
    const view = asOf === undefined ? await this.#session.refresh() : await this.#session.viewAt(asOf);
    const table = this.#find(view);
    const fields = this.#project(table);
    const snapshotId = view.snapshot.id;
    if (limit === 0) return;
    const files = await liveFiles(this.#session, table, snapshotId);
    for (const file of files) checkReadable(file, table, fields, snapshotId);
    let rest = limit ?? Number.POSITIVE_INFINITY;
    for (const { file } of files) {
      signal?.throwIfAborted();
      const location = resolvePath(table.location, file.path ?? '', file.path_is_relative);
      const byteLength = file.file_size_bytes ?? undefined;
      const object = await this.#session.store.open(location, { byteLength, signal });
      const reader = await this.#session.format.openReader(object, { footerLength: file.footer_size ?? undefined });
      if (reader.rowCount !== file.record_count)
        throw new LakeError(
          'CORRUPT',
          `data file ${location} holds ${reader.rowCount} rows; the catalog says ${file.record_count}`,
          { context: { table: table.name, location } },
        );
      for await (const batch of reader.read({
        fields,
        signal,
        limit: rest === Number.POSITIVE_INFINITY ? undefined : rest,
      })) {
        const rowCount = Math.min(batch.rowCount, rest);
        rest -= rowCount;
        yield {
          rowCount,
          columns: namedColumns(fields, batch.columns.map(decoded)),
        };
        if (rest === 0) return;
      }
    }
  }

  #project(table: TableInfo): readonly Field[] {
    const { columns } = this.#options;
    if (columns !== undefined && !Array.isArray(columns))
      throw new LakeError('INVALID_ARGUMENT', `columns is ${showValue(columns)}; expected an array of names`, {
        context: { value: showValue(columns) },
      });
    const fields = columns === undefined ? table.fields : columns.map((name) => columnOf(table, name));
    for (const { name, type } of withParts(fields))
      if (!isSupported(type)) throw unsupported(table, `column "${name}" is of type ${type.name}`, { column: name });
    return fields;
  }
}

function columnOf(table: TableInfo, name: string): Field {
  const field = table.fields.find((candidate) => candidate.name === name);
  if (field) return field;
  const names = table.fields.map((candidate) => `"${candidate.name}"`).join(', ');
  throw new LakeError('NOT_FOUND', `table "${table.name}" has no column "${name}"; it has ${names}`, {
    context: { schema: table.schema.name, table: table.name, column: name },
  });
}

function decoded({ values, decode }: ColumnVector): ArrayLike<unknown> {
  if (!decode) return values;
  return Array.from(values, (value) => (value === null ? null : decode(value as never)));
}

/** A record that also holds columns with names such as `__proto__` as keys of its own. */
function namedColumns(fields: readonly Field[], columns: readonly ArrayLike<unknown>[]): RowBatch['columns'] {
  return Object.fromEntries(fields.map(({ name }, c) => [name, columns[c]!]));
}

function* rowsOf({ rowCount, columns }: RowBatch): Generator<Record<string, unknown>> {
  const names = Object.keys(columns);
  const values = names.map((name) => columns[name]!);
  const isPlain = !names.includes('__proto__');
  for (let i = 0; i < rowCount; i++) {
    const row: Record<string, unknown> = {};
    if (isPlain) for (let c = 0; c < names.length; c++) row[names[c]!] = values[c]![i];
    else
      for (let c = 0; c < names.length; c++)
        Object.defineProperty(row, names[c]!, {
          value: values[c]![i],
          enumerable: true,
          configurable: true,
          writable: true,
        });
    yield row;
  }
}

async function liveFiles(session: Session, table: TableInfo, snapshotId: number): Promise<readonly LiveFile[]> {
  const { files, inlined } = await session.catalog.readFiles({ snapshotId, tableId: table.id, stats: 'none' });
  if (inlined.length > 0 || files.some(({ inlinedDeletes }) => inlinedDeletes.length > 0))
    throw unsupported(table, 'rows or deletes of it are inlined in the catalog');
  return files;
}

/** Refuses what would need more than reading whole files: a wrong answer is worse than none. */
function checkReadable(
  { file, deletes }: LiveFile,
  table: TableInfo,
  fields: readonly Field[],
  snapshotId: number,
): void {
  const path = file.path ?? '';
  if (deletes.length > 0) throw unsupported(table, 'rows of it were deleted through delete files', { location: path });
  if (file.encryption_key !== null) throw unsupported(table, `data file ${path} is encrypted`, { location: path });
  if (file.mapping_id !== null)
    throw unsupported(table, `data file ${path} is mapped by column names`, { location: path });
  if (file.partial_max !== null && file.partial_max > snapshotId)
    throw unsupported(table, `data file ${path} holds rows of later snapshots`, { location: path });
  const evolved = fields.find((field) => isNewer(field, file.begin_snapshot ?? 0));
  if (evolved)
    throw unsupported(table, `column "${evolved.name}" was added or changed after data file ${path} was written`, {
      column: evolved.name,
      location: path,
    });
}

const isNewer = (field: Field, snapshotId: number): boolean =>
  field.beginSnapshot > snapshotId || field.children.some((child) => isNewer(child, snapshotId));

function unsupported(table: TableInfo, reason: string, context: Record<string, unknown> = {}): LakeError {
  return new LakeError('UNSUPPORTED', `table "${table.name}" can't be read here yet: ${reason}`, {
    context: { schema: table.schema.name, table: table.name, ...context },
  });
}
