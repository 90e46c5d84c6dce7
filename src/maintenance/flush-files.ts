import type { StagedFile } from '../catalog/pending.ts';
import type { InlinedRows, LiveFile, TableFiles } from '../catalog/table-files.ts';
import { type CatalogView, nameOf, type TableInfo } from '../catalog/view.ts';
import { rowIdField, snapshotIdField } from '../file/internal-fields.ts';
import { loadDeleteTimes } from '../scan/deletes.ts';
import { inlinedColumns } from '../scan/inlined.ts';
import { inlinedPart } from '../scan/table-parts.ts';
import type { Field } from '../schema/field.ts';
import { fieldsOf } from '../schema/tree.ts';
import type { Session } from '../session.ts';
import type { RowOf } from '../spec/rows.ts';
import { uuidv7 } from '../util/uuid.ts';
import { removeFiles } from '../write/table-writer.ts';
import { writeSettings } from '../write/target.ts';

/** A delete file that waits to be registered. */
export interface StagedDeletes {
  readonly file: StagedFile;
  readonly count: number;
  /** The snapshots of its first and its last deletes. */
  readonly first: number;
  readonly last: number;
}

/** The rows of one catalog table, in a file, with the deletes of those that have ended. */
export interface FlushedRows {
  readonly inlined: InlinedRows;
  readonly file: StagedFile;
  readonly deletes: StagedDeletes | undefined;
}

/** Inlined deletes of a data file, together with those of the delete files that it has. */
export interface FlushedDeletes {
  readonly dataFileId: number;
  readonly deletes: StagedDeletes;
  readonly replaced: readonly RowOf<'ducklake_delete_file'>[];
  /** How many of them were inlined. */
  readonly count: number;
}

/** Writes what a table has inlined into files that no snapshot knows yet. */
export class FlushWriter {
  readonly written: StagedFile[] = [];
  readonly #session: Session;
  readonly #table: TableInfo;
  readonly #settings: ReturnType<typeof writeSettings>;
  readonly #signal: AbortSignal | undefined;

  constructor(session: Session, view: CatalogView, table: TableInfo, signal: AbortSignal | undefined) {
    this.#session = session;
    this.#table = table;
    // Files without partition values may lie in a partitioned table, as those from before it was one.
    this.#settings = writeSettings(view, { ...table, isPartitioned: false });
    this.#signal = signal;
  }

  /** One file: rows of one schema version, in the order of their ids. */
  async rows(files: TableFiles, inlined: InlinedRows): Promise<FlushedRows> {
    const stored = fieldsOf(files.inlinedFields.get(inlined.schemaVersion) ?? [], this.#table.name);
    const part = inlinedPart(this.#table, files, inlined, 0, new Set(stored.map(({ id }) => id)));
    // JSON as its text: parsed and written again it would not be the same.
    const asText = part.fields.map(jsonAsText);
    const vectors = inlinedColumns(nameOf(this.#table), { ...part, fields: asText }, asText);
    const columns = vectors.map(({ values, decode }) =>
      Array.from(values, (value) => (value === null || decode === undefined ? value : decode(value as never))),
    );
    const begins = inlined.rows.map(({ beginSnapshot }) => beginSnapshot);
    const file = await this.#write(
      // What a column takes now says nothing of older rows.
      [...part.fields.map((field) => ({ ...field, nullable: true })), rowIdField, snapshotIdField],
      [...columns, inlined.rows.map(({ rowId }) => rowId), begins],
    );
    const ended = inlined.rows.flatMap(({ endSnapshot }, position) =>
      endSnapshot === null ? [] : [{ position, snapshot: endSnapshot }],
    );
    return { inlined, file, deletes: ended.length > 0 ? await this.#deletes(file.location, ended) : undefined };
  }

  async deletes(live: LiveFile): Promise<FlushedDeletes> {
    const { file, deletes, inlinedDeletes, inlinedDeleteSnapshots = [] } = live;
    const { positions, snapshots } = await loadDeleteTimes({
      session: this.#session,
      table: this.#table,
      signal: this.#signal,
      deletes,
      inlined: inlinedDeletes.map((position, i) => ({ position, beginSnapshot: inlinedDeleteSnapshots[i]! })),
    });
    const all = Array.from(positions, (position, i) => ({ position, snapshot: snapshots[i]! }));
    const location = file.path_is_relative === false ? file.path! : this.#table.location + file.path;
    return {
      dataFileId: file.data_file_id,
      deletes: await this.#deletes(location, all),
      replaced: deletes,
      count: inlinedDeletes.length,
    };
  }

  /** Removes what was written, when no snapshot will know it. */
  async remove(): Promise<void> {
    await removeFiles(this.#session.store, this.written);
  }

  async #deletes(
    location: string,
    rows: readonly { readonly position: number; readonly snapshot: number }[],
  ): Promise<StagedDeletes> {
    const snapshots = rows.map(({ snapshot }) => snapshot);
    const file = await this.#write(
      [filePathField, positionField, snapshotIdField],
      [rows.map(() => location), rows.map(({ position }) => position), snapshots],
      '-delete',
    );
    const [first, last] = [Math.min(...snapshots), Math.max(...snapshots)];
    return { file, count: rows.length, first, last };
  }

  async #write(fields: readonly Field[], columns: readonly (readonly unknown[])[], suffix = ''): Promise<StagedFile> {
    const { store, format } = this.#session;
    const { name, schema, location: folder } = this.#table;
    this.#signal?.throwIfAborted();
    const path = `ducklake-${uuidv7()}${suffix}${format.extension}`;
    const location = folder + path;
    const writer = format.createWriter({
      table: { schema: schema.name, table: name },
      fields,
      options: this.#settings.fileOptions,
      open: () => store.create(location, { signal: this.#signal }),
    });
    try {
      await writer.write({ rowCount: columns[0]!.length, firstRow: 0, columns });
      const { rowCount, byteLength, footerLength, columns: stats } = await writer.close();
      const file = { path, location, rowCount, byteLength, footerLength, columns: stats };
      this.written.push(file);
      return file;
    } catch (error) {
      await writer.abort().catch(() => {});
      throw error;
    }
  }
}

const internal = (id: number, name: string, type: 'varchar' | 'int64'): Field => ({
  ...rowIdField,
  id,
  name,
  type: { name: type },
});
/** As DuckDB has them in delete files. */
const filePathField: Field = internal(2147483646, 'file_path', 'varchar');
const positionField: Field = internal(2147483645, 'pos', 'int64');

function jsonAsText(field: Field): Field {
  return {
    ...field,
    type: field.type.name === 'json' ? { name: 'varchar' } : field.type,
    children: field.children.map(jsonAsText),
  };
}
