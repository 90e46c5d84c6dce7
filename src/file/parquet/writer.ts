import type { SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { ParquetWriter } from 'hyparquet-writer/src/parquet-writer.js';
import { LakeError } from '../../errors.ts';
import type { Field } from '../../schema/field.ts';
import { codecFor, type Physical, type ValueCodec } from '../../spec/values/codec.ts';
import { ColumnCollector } from '../../stats/collect.ts';
import type { ObjectWriter } from '../../storage/object-store.ts';
import type { ColumnBatch, FileTarget, FileWriter, WrittenFile } from '../format.ts';
import { explain, missingValue, storableCheck } from './refuse.ts';
import { hasFooterBounds, schemaElements } from './schema.ts';
import { type Stored, storedByteLength, storedForm } from './stored.ts';

/** A column while its row group is open. */
interface OpenColumn {
  readonly field: Field;
  readonly codec: ValueCodec;
  readonly check: ((value: Physical) => void) | undefined;
  readonly toStored: ((value: Physical) => Stored) | undefined;
  readonly collector: ColumnCollector;
  values: (Stored | null)[];
  /** Of the chunks written so far. */
  byteLength: number;
}

/** Writes Parquet with hyparquet-writer. All values of a batch are validated before any of its bytes is stored. */
export function createWriter(target: FileTarget): FileWriter {
  return new HyparquetFileWriter(target);
}

class HyparquetFileWriter implements FileWriter {
  readonly #target: FileTarget;
  readonly #columns: readonly OpenColumn[];
  readonly #schema: readonly SchemaElement[];
  readonly #bytes: ByteWriter = new ByteWriter();
  readonly #parquet: ParquetWriter;
  #sink: Promise<ObjectWriter> | undefined;
  #state: 'open' | 'failed' | 'closed' = 'open';
  #rowCount = 0;
  #openRowCount = 0;
  #openByteLength = 0;

  constructor(target: FileTarget) {
    const { fields, options } = target;
    if (options.compression !== 'snappy' && options.compression !== 'uncompressed')
      throw new LakeError('UNSUPPORTED', `compression "${options.compression}" can't be written yet: use "snappy"`);
    this.#target = target;
    this.#schema = schemaElements(fields);
    this.#columns = fields.map((field) => {
      const codec = codecFor(field.type);
      return {
        field,
        codec,
        check: storableCheck(field.type),
        toStored: storedForm(field.type),
        collector: new ColumnCollector(field.id, field.type, codec),
        values: [],
        byteLength: 0,
      };
    });
    this.#parquet = new ParquetWriter({
      writer: this.#bytes,
      schema: this.#schema.map(asWritten),
      codec: options.compression === 'snappy' ? 'SNAPPY' : 'UNCOMPRESSED',
      createdBy: 'edgemere',
    });
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  get byteLength(): number {
    return this.#bytes.offset + Math.round(this.#openByteLength);
  }

  write(batch: ColumnBatch): Promise<void> {
    return this.#step(async () => {
      this.#take(batch);
      const { rowGroupRowCount, rowGroupByteLength } = this.#target.options;
      while (this.#openRowCount >= rowGroupRowCount) await this.#writeRowGroup(rowGroupRowCount);
      if (this.#openByteLength >= rowGroupByteLength) await this.#writeRowGroup(this.#openRowCount);
    });
  }

  close(): Promise<WrittenFile> {
    return this.#step(async () => {
      if (this.#openRowCount > 0) await this.#writeRowGroup(this.#openRowCount);
      this.#parquet.schema = [...this.#schema];
      this.#parquet.finish();
      const footerLength = this.#bytes.view.getUint32(this.#bytes.index - 8, true);
      await this.#store();
      const sink = await this.#sink!;
      await sink.close();
      this.#state = 'closed';
      return {
        rowCount: this.#rowCount,
        byteLength: this.#bytes.offset,
        footerLength,
        columns: this.#columns.map(({ collector, byteLength }) => collector.finish(byteLength)),
      };
    });
  }

  async abort(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'failed';
    for (const column of this.#columns) column.values = [];
    // A store that fails to begin an object has nothing to remove.
    const sink = await this.#sink?.catch(() => undefined);
    await sink?.abort();
  }

  /** Runs one call. After a failure the file is dead: part of a batch may be in it. */
  async #step<T>(call: () => Promise<T>): Promise<T> {
    if (this.#state !== 'open') throw new LakeError('CLOSED', `the file writer is ${this.#state}: make a new one`);
    try {
      return await call();
    } catch (error) {
      this.#state = 'failed';
      throw error;
    }
  }

  #take(batch: ColumnBatch): void {
    if (batch.columns.length !== this.#columns.length)
      throw new LakeError(
        'INVALID_ARGUMENT',
        `the batch has ${batch.columns.length} columns, the table ${this.#columns.length}`,
      );
    for (const [i, column] of this.#columns.entries()) this.#takeColumn(column, batch, i);
    this.#openRowCount += batch.rowCount;
    this.#rowCount += batch.rowCount;
  }

  #takeColumn(column: OpenColumn, { columns, rowCount, firstRow }: ColumnBatch, index: number): void {
    const { field, codec, check, toStored, collector, values } = column;
    const { schema, table } = this.#target.table;
    const input = columns[index]!;
    if (input.length < rowCount)
      throw new LakeError(
        'INVALID_ARGUMENT',
        `column "${field.name}" has ${input.length} values for ${rowCount} rows`,
        {
          context: { schema, table, column: field.name },
        },
      );
    let byteLength = 0;
    for (let i = 0; i < rowCount; i++) {
      const value = input[i];
      if (value === null || value === undefined) {
        if (!field.nullable) throw missingValue({ schema, table, field, row: firstRow + i }, value);
        collector.addNull();
        values.push(null);
        continue;
      }
      try {
        const physical = codec.encode(value);
        check?.(physical);
        const stored = toStored ? toStored(physical) : (physical as Stored);
        // The blob's own copy: a bound is kept beyond this call.
        collector.add(field.type.name === 'blob' ? stored : physical);
        values.push(stored);
        byteLength += storedByteLength(stored);
      } catch (error) {
        throw explain(error, { schema, table, field, row: firstRow + i }, value);
      }
    }
    this.#openByteLength += byteLength;
  }

  /** Writes the first `rowCount` open rows as a row group. */
  async #writeRowGroup(rowCount: number): Promise<void> {
    const columnData = this.#columns.map((column) => {
      const data = column.values.length === rowCount ? column.values : column.values.slice(0, rowCount);
      column.values = column.values.length === rowCount ? [] : column.values.slice(rowCount);
      const { field } = column;
      const source = { name: field.name, data, statistics: hasFooterBounds(field.type) };
      // Dictionaries there are Maps, to which both zeros are one.
      const isZeroSigned = field.type.name.startsWith('float') && data.some((value) => Object.is(value, -0));
      return isZeroSigned ? { ...source, encoding: 'PLAIN' as const } : source;
    });
    this.#openByteLength =
      rowCount === this.#openRowCount ? 0 : this.#openByteLength * (1 - rowCount / this.#openRowCount);
    this.#openRowCount -= rowCount;
    this.#parquet.write({ columnData, rowGroupSize: rowCount });

    const chunks = this.#parquet.row_groups.at(-1)!.columns;
    for (const [i, { meta_data: chunk }] of chunks.entries()) {
      this.#columns[i]!.byteLength += Number(chunk!.total_compressed_size);
      // To readers that order NaN above all numbers, as DuckDB does, bounds without it would be wrong.
      const statistics = chunk!.statistics as
        | { nan_count?: bigint; min_value?: unknown; max_value?: unknown }
        | undefined;
      if (statistics?.nan_count) {
        delete statistics.min_value;
        delete statistics.max_value;
      }
    }
    await this.#store();
  }

  /** Hands the bytes so far over to the store. */
  async #store(): Promise<void> {
    const bytes = this.#bytes.getBytes();
    this.#bytes.buffer = new ArrayBuffer(1024);
    this.#bytes.view = new DataView(this.#bytes.buffer);
    this.#bytes.index = 0;
    this.#sink ??= this.#target.open();
    const sink = await this.#sink;
    await sink.write(bytes);
  }
}

/**
 * The element by which hyparquet-writer encodes values. It would serialise our JSON text once more, so that goes in as plain text;
 * the footer says JSON.
 */
function asWritten(element: SchemaElement): SchemaElement {
  if (element.converted_type !== 'JSON') return element;
  const { logical_type: _, ...rest } = element;
  return { ...rest, converted_type: 'UTF8' };
}
