import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, type ColumnSource, parquetWrite, parquetWriteBuffer } from 'hyparquet-writer';
import { fileSchema } from '../../src/file/parquet/encode/leaves.ts';
import type { Field } from '../../src/schema/field.ts';
import { blockRowCount } from '../../src/write/gather.ts';
import { RowCells } from '../../src/write/row-cells.ts';
import type { DataSet, Row } from './data.ts';
import type { Contender } from './measure.ts';

/**
 * A package that is only needed to compare with it: from this project, or from the folder that `BENCH_MODULES` names. `undefined`
 * when it is in neither.
 */
async function optional<Module>(name: string): Promise<Module | undefined> {
  for (const folder of [import.meta.dirname, process.env['BENCH_MODULES']]) {
    if (folder === undefined) continue;
    try {
      const path = createRequire(join(folder, 'package.json')).resolve(name);
      return (await import(pathToFileURL(path).href)) as Module;
    } catch {
      // Perhaps in the other.
    }
  }
  return undefined;
}

/** The version of a package's nearest manifest. */
export function versionOf(name: string): string | undefined {
  for (const folder of [import.meta.dirname, process.env['BENCH_MODULES']]) {
    if (folder === undefined) continue;
    for (const path of createRequire(join(folder, 'package.json')).resolve.paths(name) ?? [])
      try {
        return (JSON.parse(readFileSync(join(path, name, 'package.json'), 'utf8')) as { version: string }).version;
      } catch {
        // Perhaps in the next.
      }
  }
  return undefined;
}

const basicTypes: Readonly<Record<string, NonNullable<ColumnSource['type']>>> = {
  int32: 'INT32',
  int64: 'INT64',
  float64: 'DOUBLE',
  varchar: 'STRING',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP',
};

/** hyparquet-writer as its README has it: columns of values, the types named, everything else by default. */
export function hyparquetAsDocumented(set: DataSet, rows: readonly Row[], path: string | undefined): Contender {
  return {
    name: 'hyparquet-writer, as documented',
    async run() {
      const nested = set.fields.some(({ children }) => children.length > 0);
      const columnData = set.fields.map(({ name, type }) => {
        const data = rows.map((row) => row[name]);
        return nested ? { name, data } : { name, data, type: basicTypes[type.name]! };
      });
      const buffer = parquetWriteBuffer({ columnData, ...(nested ? { schema: fileSchema(set.fields) } : {}) });
      if (path !== undefined) await writeFile(path, new Uint8Array(buffer));
      return buffer.byteLength;
    },
  };
}

/**
 * hyparquet-writer as fast as its options make it: typed arrays where there are no NULLs, row groups as large as ours, no
 * dictionaries where they don't pay, Snappy by WebAssembly.
 */
export async function hyparquetTuned(set: DataSet, rows: readonly Row[], path: string): Promise<Contender | undefined> {
  const hysnappy = await optional<{ snappyCompress(input: Uint8Array): Uint8Array }>('hysnappy');
  if (hysnappy === undefined) return undefined;
  return {
    name: 'hyparquet-writer, tuned',
    async run() {
      const columnData = set.fields.map((field) => tunedColumn(field, rows));
      const writer = new ByteWriter();
      parquetWrite({
        writer,
        columnData,
        schema: fileSchema(set.fields) as SchemaElement[],
        rowGroupSize: 122_880,
        compressors: { SNAPPY: hysnappy.snappyCompress },
      });
      const bytes = writer.getBytes();
      await writeFile(path, bytes);
      return bytes.length;
    },
  };
}

function tunedColumn({ name, type, children }: Field, rows: readonly Row[]): ColumnSource {
  const values = (): unknown[] => rows.map((row) => row[name]);
  const column = (data: unknown, encoding?: ColumnSource['encoding']): ColumnSource => ({
    name,
    data: data as ColumnSource['data'],
    offsetIndex: false,
    ...(encoding === undefined ? {} : { encoding }),
  });
  if (children.length > 0) return column(values());
  switch (type.name) {
    case 'int64':
      return column(
        BigInt64Array.from(rows, (row) => row[name] as bigint),
        'PLAIN',
      );
    case 'timestamp':
      return column(
        BigInt64Array.from(rows, (row) => BigInt((row[name] as Date).getTime()) * 1000n),
        'PLAIN',
      );
    case 'float64':
      return column(
        rows.some((row) => row[name] === null) ? values() : Float64Array.from(rows, (row) => row[name] as number),
        'PLAIN',
      );
    default:
      return column(values());
  }
}

/** @dsnp/parquetjs, row by row. It is slow: measured once. */
export async function parquetjs(set: DataSet, rows: readonly Row[], path: string): Promise<Contender | undefined> {
  interface Writer {
    appendRow(row: object): Promise<void>;
    setRowGroupSize(count: number): void;
    close(): Promise<void>;
  }
  const module = await optional<{
    ParquetSchema: new (fields: object) => unknown;
    ParquetWriter: { openFile(schema: unknown, path: string): Promise<Writer> };
  }>('@dsnp/parquetjs');
  const names: Readonly<Record<string, string>> = {
    int32: 'INT32',
    int64: 'INT64',
    float64: 'DOUBLE',
    varchar: 'UTF8',
    boolean: 'BOOLEAN',
    timestamp: 'TIMESTAMP_MICROS',
  };
  if (module === undefined || set.fields.some(({ type }) => !(type.name in names))) return undefined;
  const fields = Object.fromEntries(
    set.fields.map(({ name, type }) => [name, { type: names[type.name], optional: true, compression: 'SNAPPY' }]),
  );
  return {
    name: '@dsnp/parquetjs',
    runs: 1,
    async run() {
      const writer = await module.ParquetWriter.openFile(new module.ParquetSchema(fields), path);
      writer.setRowGroupSize(122_880);
      for (const row of rows) await writer.appendRow(row);
      await writer.close();
      return (await readFile(path)).length;
    },
  };
}

/** parquet-wasm, fed by apache-arrow. */
export async function parquetWasm(set: DataSet, rows: readonly Row[], path: string): Promise<Contender | undefined> {
  interface Arrow {
    Table: new (columns: object) => unknown;
    vectorFromArray(values: unknown, type: unknown): unknown;
    tableToIPC(table: unknown, kind: 'stream'): Uint8Array;
    [type: string]: unknown;
  }
  interface Wasm {
    Table: { fromIPCStream(bytes: Uint8Array): unknown };
    Compression: { SNAPPY: number };
    WriterPropertiesBuilder: new () => {
      setCompression(compression: number): { setMaxRowGroupSize(count: number): { build(): unknown } };
    };
    writeParquet(table: unknown, properties: unknown): Uint8Array;
  }
  const [arrow, wasm] = [await optional<Arrow>('apache-arrow'), await optional<Wasm>('parquet-wasm')];
  if (arrow === undefined || wasm === undefined) return undefined;
  const make = (name: string): unknown => new (arrow[name] as new () => unknown)();
  const types: Readonly<Record<string, () => unknown>> = {
    int32: () => make('Int32'),
    int64: () => make('Int64'),
    float64: () => make('Float64'),
    varchar: () => make('Utf8'),
    boolean: () => make('Bool'),
    timestamp: () => make('TimestampMillisecond'),
  };
  if (set.fields.some(({ type }) => !(type.name in types))) return undefined;
  return {
    name: 'parquet-wasm, from apache-arrow',
    runs: 3,
    async run() {
      const columns = Object.fromEntries(
        set.fields.map(({ name, type }) => [
          name,
          arrow.vectorFromArray(
            rows.map((row) => row[name]),
            types[type.name]!(),
          ),
        ]),
      );
      const table = wasm.Table.fromIPCStream(arrow.tableToIPC(new arrow.Table(columns), 'stream'));
      const properties = new wasm.WriterPropertiesBuilder().setCompression(wasm.Compression.SNAPPY);
      const bytes = wasm.writeParquet(table, properties.setMaxRowGroupSize(122_880).build());
      await writeFile(path, bytes);
      return bytes.length;
    },
  };
}

const sqlTypes: Readonly<Record<string, string>> = {
  int32: 'INTEGER',
  int64: 'BIGINT',
  float64: 'DOUBLE',
  varchar: 'VARCHAR',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMP',
};

function sqlType({ type, children }: Field): string {
  switch (type.name) {
    case 'list':
      return `${sqlType(children[0]!)}[]`;
    case 'struct':
      return `STRUCT(${children.map((child) => `"${child.name}" ${sqlType(child)}`).join(', ')})`;
    default:
      return sqlTypes[type.name]!;
  }
}

/** DuckDB's own binding: data chunks into a table in memory, from there by COPY, with two threads. */
export async function duckdb(
  set: DataSet,
  source: readonly Row[] | readonly ArrayLike<unknown>[],
  path: string,
  asColumns = false,
): Promise<Contender> {
  const api = await import('@duckdb/node-api');
  const instance = await api.DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  const create = `CREATE OR REPLACE TABLE t (${set.fields.map((field) => `"${field.name}" ${sqlType(field)}`).join(', ')})`;
  await connection.run(create);
  const types = await typesOf(connection);
  const isTime = set.fields.map(({ type }) => type.name === 'timestamp');
  const rowCount = asColumns ? (source as ArrayLike<unknown>[])[0]!.length : source.length;
  const toDuck = (value: unknown): DuckDBValue => {
    if (value === null || value === undefined) return null;
    if (Array.isArray(value)) return api.listValue(value.map(toDuck));
    if (typeof value === 'object') return api.structValue(value as Record<string, DuckDBValue>);
    return value as DuckDBValue;
  };
  const isNested = set.fields.map(({ children }) => children.length > 0);
  return {
    name: `DuckDB, data chunks, 2 threads`,
    async run() {
      await connection.run(create);
      const appender = await connection.createAppender('t');
      for (let start = 0; start < rowCount; start += 2048) {
        const count = Math.min(2048, rowCount - start);
        const chunk = api.DuckDBDataChunk.create(types, count);
        for (const [c, { name }] of set.fields.entries()) {
          if (asColumns) {
            // Faster than `setColumnValues`, which sets one value after the other.
            const vector = chunk.getColumnVector(c) as unknown as {
              items: { set(from: unknown): void };
              flush(): void;
            };
            vector.items.set((source[c] as Float64Array).subarray(start, start + count));
            vector.flush();
            continue;
          }
          const values: DuckDBValue[] = new Array(count);
          for (let i = 0; i < count; i++) {
            const value = (source as readonly Row[])[start + i]![name];
            if (isTime[c]) values[i] = new api.DuckDBTimestampValue(BigInt((value as Date).getTime()) * 1000n);
            else values[i] = isNested[c] ? toDuck(value) : ((value ?? null) as DuckDBValue);
          }
          chunk.setColumnValues(c, values);
        }
        appender.appendDataChunk(chunk);
      }
      appender.closeSync();
      await connection.run(`COPY t TO '${path}' (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 122880)`);
      return (await readFile(path)).length;
    },
  };
}

async function typesOf(connection: DuckDBConnection): Promise<DuckDBType[]> {
  const result = await connection.run('SELECT * FROM t');
  return result.columnTypes();
}

/** The floor: every property of every row is read, and nothing else is done. */
export function onlyReading(set: DataSet, rows: readonly Row[]): Contender {
  const names = set.fields.map(({ name }) => name);
  const columns = names.map(() => new Array<unknown>(blockRowCount));
  const cells = new RowCells(names);
  return {
    name: 'only reading the properties',
    async run() {
      for (let start = 0; start < rows.length; start += blockRowCount) {
        const end = Math.min(rows.length, start + blockRowCount);
        cells.read(rows, start, end, columns);
      }
      return undefined;
    },
  };
}
