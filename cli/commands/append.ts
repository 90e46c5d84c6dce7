import { stat } from 'node:fs/promises';
import { type InsertedRows, isLakeError } from 'edgemere';
import { tableSchema } from '../columns.ts';
import { CommandError, InputError, Interrupted, UsageError } from '../errors.ts';
import { type ReadContext, readError, Spool } from '../input/bytes.ts';
import { type InputFile, type InputFormat, inputFile } from '../input/file.ts';
import { type InferredTable, inferColumns } from '../input/infer-files.ts';
import { openInput } from '../input/open.ts';
import type { InputReader, InputRow, TargetColumn } from '../input/reader.ts';
import type { Io } from '../io.ts';
import { parseTableName, showTableName, type TableName } from '../names.ts';
import type { OpenLake } from '../open.ts';
import { counted, renderJson, showBytes } from '../output/render.ts';
import { startProgress } from '../progress.ts';
import { isMissingTable, type LakeOptions, lakeArguments, noSuchTable, openLakeOf } from './context.ts';

export interface AppendOptions extends LakeOptions {
  readonly create?: boolean;
  readonly format?: InputFormat;
  readonly delimiter?: string;
  readonly author?: string;
  readonly message?: string;
}

interface Appended extends InsertedRows {
  readonly snapshotId: number | undefined;
}

export async function append(args: readonly string[], options: AppendOptions, io: Io): Promise<void> {
  const arity = { names: ['TABLE', 'FILE'], variadic: true };
  const { target, rest } = lakeArguments(args, arity, options, io.env);
  const table = parseTableName(rest[0]!);
  const given = rest.slice(1).map((argument) => inputFile(argument, options));
  if (given.filter((file) => file.path === undefined).length > 1)
    throw new UsageError('"-", standard input, is there twice: it can be read once');
  const byteLength = await totalLength(given);

  await using opened = await openLakeOf(target, options, io);
  const existing = await findColumns(opened, table);
  if (existing === undefined && !options.create)
    throw noSuchTable(
      table,
      'make it with `edgemere create`, or add --create to take its columns from the input',
      undefined,
    );
  await using spooled = await spoolInput(given, existing === undefined, io);
  const files = spooled.files;
  const readers = files.map(openInput);

  const made = existing === undefined ? await inferTable(files, readers, io, byteLength) : undefined;
  const columns = existing ?? made!.columns;
  const source = new InputRows(readers, columns);
  const progress = startProgress(io.stderr, `appending to ${showTableName(table)}`, byteLength);
  let result: Appended;
  try {
    const rows = source.read({ stdin: io.stdin, signal: io.signal, onBytes: progress.read });
    const write = { signal: io.signal, onProgress: ({ rowCount }: { rowCount: number }) => progress.rows(rowCount) };
    const { author, message } = options;
    if (made === undefined) result = await opened.lake.table(table).insert(rows, { ...write, author, message });
    else {
      const { snapshotId, value } = await opened.lake.transaction(
        async (tx) => {
          await tx.createSchema(table.schema, { ifNotExists: true });
          await tx.createTable(
            table,
            tableSchema(made.columns.map((column) => ({ ...column, children: [], nullable: true }))),
          );
          return tx.table(table).insert(rows, write);
        },
        { author, message, signal: io.signal },
      );
      result = { ...value, snapshotId };
    }
  } catch (error) {
    throw error instanceof Interrupted ? new Interrupted(': nothing was committed') : source.locate(error);
  } finally {
    progress.stop();
  }
  await report(result, table, made, options, io);
}

/** The input's rows in order, remembering which came from where. */
class InputRows {
  readonly #readers: readonly InputReader[];
  readonly #columns: readonly TargetColumn[];
  /** The index of each reader's first row. */
  readonly #starts: number[] = [];
  #count = 0;

  constructor(readers: readonly InputReader[], columns: readonly TargetColumn[]) {
    this.#readers = readers;
    this.#columns = columns;
  }

  async *read(context: ReadContext): AsyncGenerator<InputRow> {
    for (const reader of this.#readers) {
      this.#starts.push(this.#count);
      for await (const rows of reader.rows(this.#columns, context)) {
        this.#count += rows.length;
        yield* rows;
      }
    }
  }

  /** An error of the library about a row, as one about a place in a file. */
  locate(error: unknown): unknown {
    if (!isLakeError(error, 'INVALID_VALUE')) return error;
    const { row } = error.context;
    const index = row === undefined ? -1 : this.#starts.findLastIndex((start) => start <= row);
    if (row === undefined || index < 0) return error;
    const place = this.#readers[index]!.place(row - this.#starts[index]!);
    return new InputError(place, error.message.replace(`, row ${row}:`, ':'), { cause: error });
  }
}

async function findColumns({ lake }: OpenLake, table: TableName): Promise<readonly TargetColumn[] | undefined> {
  try {
    return (await lake.table(table).describe()).columns;
  } catch (error) {
    if (isMissingTable(error)) return undefined;
    throw error;
  }
}

/** The bytes to read; `undefined` when standard input is among the files. */
async function totalLength(files: readonly InputFile[]): Promise<number | undefined> {
  let total = 0;
  for (const file of files) {
    if (file.path === undefined) return undefined;
    try {
      const stats = await stat(file.path);
      if (stats.isDirectory()) throw new CommandError(`can't read ${file.path}: it is a directory`);
      total += stats.size;
    } catch (error) {
      throw readError(file, error);
    }
  }
  return total;
}

/** Keeps standard input in a file where it has to be read twice, or from its end. */
async function spoolInput(
  files: readonly InputFile[],
  isReadTwice: boolean,
  { stdin, signal }: Io,
): Promise<AsyncDisposable & { readonly files: readonly InputFile[] }> {
  const piped = files.find((file) => file.path === undefined);
  if (piped === undefined || !(isReadTwice || piped.format === 'parquet'))
    return { files, async [Symbol.asyncDispose]() {} };
  const spool = await Spool.of(piped, stdin(), signal);
  return {
    files: files.map((file) => (file === piped ? spool.file : file)),
    [Symbol.asyncDispose]: () => spool[Symbol.asyncDispose](),
  };
}

async function inferTable(
  files: readonly InputFile[],
  readers: readonly InputReader[],
  io: Io,
  byteLength: number | undefined,
): Promise<InferredTable> {
  const progress = startProgress(io.stderr, 'looking at the columns', byteLength);
  try {
    return await inferColumns(files, readers, { stdin: io.stdin, signal: io.signal, onBytes: progress.read });
  } finally {
    progress.stop();
  }
}

async function report(
  result: Appended,
  table: TableName,
  made: InferredTable | undefined,
  options: AppendOptions,
  { stdout, stderr }: Io,
): Promise<void> {
  const { snapshotId, rowCount, inlinedRowCount, files } = result;
  if (options.json) {
    const created = made === undefined ? null : { columns: made.columns, recordCount: made.recordCount };
    return stdout.line(
      renderJson({ ...table, created, rowCount, inlinedRowCount, snapshotId: snapshotId ?? null, files }),
    );
  }
  if (made !== undefined) {
    const basis = made.isDeclared
      ? 'types as the file declares them'
      : `types from all ${counted(made.recordCount, 'record')}`;
    await stdout.line(`made ${showTableName(table)} of ${counted(made.columns.length, 'column')}, ${basis}`);
    for (const { name, type, note } of made.columns)
      if (note !== undefined) stderr.write(`note: column "${name}" is ${type}: ${note}\n`);
  }
  if (rowCount === 0) return stdout.line('no rows in the input: nothing was appended');
  const byteLength = files.reduce((sum, file) => sum + file.byteLength, 0);
  const place =
    inlinedRowCount > 0 ? ', kept in the catalog' : ` in ${counted(files.length, 'file')} (${showBytes(byteLength)})`;
  await stdout.line(`appended ${counted(rowCount, 'row')} to ${showTableName(table)}${place}, snapshot ${snapshotId}`);
}
