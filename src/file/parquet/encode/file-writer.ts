import { LakeError } from '../../../errors.ts';
import type { Physical, ValueCodec } from '../../../spec/values/codec.ts';
import { boundsText, hasBounds, isFloat } from '../../../stats/bounds.ts';
import type { ColumnBatch, ColumnStats, FileTarget, FileWriter, WrittenFile } from '../../format.ts';
import { explain, missingValue } from '../refuse.ts';
import { carve } from './arena.ts';
import { fileBounds, pageIndexOf } from './chunk-bounds.ts';
import type { Chunk, ColumnEncoder } from './column.ts';
import { type EncoderOptions, type Encoders, giveBack, takeEncoders } from './encoders.ts';
import { pageTypes } from './encodings.ts';
import { type ChunkEntry, type IndexPlace, type RowGroupEntry, writeFooter } from './footer.ts';
import { Output } from './output.ts';
import { writeColumnIndex, writeOffsetIndex } from './page-index.ts';
import { scratch } from './scratch.ts';

/** Rows that all columns take in before the next: their cells and the columns' tables stay in the cache. */
const blockRowCount = 1024;
/** Bytes that a block should add at most. */
const blockByteLength: number = 4 << 20;

/** Encoders of files that are no larger are used again. */
const smallFile = { rowCount: 4096, byteLength: 1 << 20 } as const;

const magic = Uint8Array.of(0x50, 0x41, 0x52, 0x31);

/**
 * Writes Parquet: see {@link FileWriter}. Memory is bounded by the row group, whose pages are kept, compressed, until it is
 * written column after column.
 */
export function createEncodedWriter(target: FileTarget, options: EncoderOptions = {}): FileWriter {
  return new EncodedFileWriter(target, options);
}

/** What the catalog gets to know of a leaf: summed up over the row groups. */
interface LeafTotals {
  byteLength: number;
  valueCount: number;
  nullCount: number;
  bounds: readonly [min: Physical, max: Physical] | undefined;
  containsNan: boolean;
}

class EncodedFileWriter implements FileWriter {
  readonly #target: FileTarget;
  readonly #encoders: Encoders;
  readonly #totals: readonly LeafTotals[];
  readonly #output: Output;
  readonly #rowGroups: RowGroupEntry[] = [];
  #state: 'open' | 'failed' | 'closed' = 'open';
  /** The encoders may be another file's by now. */
  #isEncoded = false;
  #openRowCount = 0;
  #closedRowCount = 0;
  #blockRowCount = 128;

  constructor(target: FileTarget, options: EncoderOptions) {
    this.#target = target;
    this.#encoders = takeEncoders(target.fields, target.options, options);
    this.#totals = this.#encoders.leaves.map(() => ({
      byteLength: 0,
      valueCount: 0,
      nullCount: 0,
      bounds: undefined,
      containsNan: false,
    }));
    this.#output = new Output(target.open);
  }

  get rowCount(): number {
    return this.#closedRowCount + this.#openRowCount;
  }

  get byteLength(): number {
    return this.#output.byteLength + this.#openByteLength();
  }

  #openByteLength(): number {
    if (this.#isEncoded) return 0;
    let sum = 0;
    for (const { byteLength } of this.#encoders.columns) sum += byteLength;
    return sum;
  }

  write(batch: ColumnBatch): Promise<void> {
    return this.#step(() => this.#write(batch));
  }

  close(): Promise<WrittenFile> {
    return this.#step(() => this.#close());
  }

  async abort(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'failed';
    await this.#output.abort();
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

  async #write(batch: ColumnBatch): Promise<void> {
    this.#checkShape(batch);
    const { rowGroupRowCount, rowGroupByteLength } = this.#target.options;
    for (let at = 0; at < batch.rowCount; ) {
      const before = this.#openByteLength();
      const room = Math.max(1, rowGroupRowCount - this.#openRowCount);
      const end = Math.min(batch.rowCount, at + Math.min(room, this.#blockRowCount));
      for (let i = 0; i < batch.columns.length; i++) this.#append(batch, i, at, end);
      this.#openRowCount += end - at;
      at = end;
      if (this.#encoders.codec.compressLater !== undefined) await this.#encoders.assembler.settle();
      const after = this.#openByteLength();
      // Rows may be long: the first blocks are small, and those of long rows stay so.
      this.#blockRowCount =
        after - before > blockByteLength
          ? Math.max(1, this.#blockRowCount >>> 2)
          : Math.min(blockRowCount, this.#blockRowCount * 4);
      if (this.#openRowCount >= rowGroupRowCount || after >= rowGroupByteLength) await this.#writeRowGroup();
    }
  }

  #checkShape({ columns, rowCount }: ColumnBatch): void {
    const { schema, table } = this.#target.table;
    const { fields } = this.#target;
    if (columns.length !== fields.length)
      throw new LakeError('INVALID_ARGUMENT', `the batch has ${columns.length} columns, the table ${fields.length}`);
    for (const [i, { name }] of fields.entries())
      if (columns[i]!.length < rowCount)
        throw new LakeError(
          'INVALID_ARGUMENT',
          `column "${name}" has ${columns[i]!.length} values for ${rowCount} rows`,
          { context: { schema, table, column: name } },
        );
  }

  #append(batch: ColumnBatch, index: number, from: number, to: number): void {
    const field = this.#target.fields[index]!;
    const values = this.#encoders.columns[index]!;
    const input = batch.columns[index]!;
    const nulls = values.nullCount;
    const place = (at: number) => ({ ...this.#target.table, field, row: batch.firstRow + at });
    try {
      values.append(input, from, to);
    } catch (error) {
      const refused = values.findRefused(input, from, to);
      throw refused === undefined ? error : explain(refused.reason, place(refused.index), refused.value);
    }
    if (field.nullable || values.nullCount === nulls) return;
    let at = from;
    while (input[at] !== null && input[at] !== undefined) at++;
    throw missingValue(place(at), input[at] as null | undefined);
  }

  async #writeRowGroup(): Promise<void> {
    if (this.#output.byteLength === 0) await this.#output.write(magic);
    const chunks: ChunkEntry[] = [];
    for (const [i, leaf] of this.#encoders.leaves.entries()) {
      const chunk = leaf.takeChunk();
      if (this.#encoders.codec.compressLater !== undefined) await this.#encoders.assembler.settle();
      const entry = this.#entryOf(leaf, chunk);
      addChunk(this.#totals[i]!, leaf, chunk, entry.byteLength);
      chunks.push(entry);
      for (const page of chunk.pages) {
        const sent = this.#output.write(page.bytes);
        if (sent !== undefined) await sent;
      }
    }
    scratch.trim();
    this.#rowGroups.push({ rowCount: this.#openRowCount, chunks });
    this.#closedRowCount += this.#openRowCount;
    this.#openRowCount = 0;
  }

  #entryOf(leaf: ColumnEncoder, chunk: Chunk): ChunkEntry {
    const offset = this.#output.byteLength;
    const first = chunk.pages[0]!;
    const hasDictionary = first.content.type === pageTypes.dictionary;
    let byteLength = 0;
    let uncompressedLength = 0;
    for (const page of chunk.pages) {
      byteLength += page.bytes.length;
      uncompressedLength += page.uncompressedLength;
    }
    return {
      leaf: leaf.leaf,
      encodings: chunk.encodings,
      codec: this.#encoders.codec.id,
      slots: chunk.slots,
      nullCount: chunk.nullCount,
      uncompressedLength,
      byteLength,
      dictionaryOffset: hasDictionary ? offset : undefined,
      dataOffset: hasDictionary ? offset + first.bytes.length : offset,
      // To readers that order NaN above all numbers, as DuckDB does, bounds without it would be wrong.
      bounds: chunk.containsNan ? undefined : fileBounds(leaf, chunk.bounds),
      pageIndex: pageIndexOf(leaf, chunk),
    };
  }

  /** For row groups of more pages than one a column: for all of their columns, since skipped rows are skipped in each. */
  async #writePageIndex(): Promise<void> {
    const chunks = this.#rowGroups.flatMap((group) =>
      group.chunks.some(({ pageIndex }) => pageIndex.pages.length > 1) ? group.chunks : [],
    );
    const { body } = scratch;
    const write = async (append: () => void): Promise<IndexPlace> => {
      body.length = 0;
      append();
      const place = { offset: this.#output.byteLength, byteLength: body.length };
      await this.#output.write(body.copy());
      return place;
    };
    for (const chunk of chunks)
      if (chunk.pageIndex.hasBounds) chunk.columnIndex = await write(() => writeColumnIndex(body, chunk.pageIndex));
    for (const chunk of chunks)
      chunk.offsetIndex = await write(() => writeOffsetIndex(body, chunk.pageIndex, chunk.dataOffset));
  }

  async #close(): Promise<WrittenFile> {
    if (this.#openRowCount > 0) await this.#writeRowGroup();
    if (this.#output.byteLength === 0) await this.#output.write(magic);
    await this.#writePageIndex();
    const footer = scratch.body;
    footer.length = 0;
    writeFooter(footer, this.#encoders.frame, this.#rowGroups);
    const footerLength = footer.length;
    footer.reserve(8);
    footer.view.setUint32(footerLength, footerLength, true);
    footer.length += 4;
    footer.append(magic);
    const bytes = carve(footer.length);
    bytes.set(footer.bytes.subarray(0, footer.length));
    const written = this.#output.write(bytes);
    const { rowCount, byteLength } = this;
    const columns = this.#encoders.leaves.map((leaf, i) => statsOf(leaf, this.#totals[i]!));
    // Before the store is done, which takes longer than encoding another small file.
    this.#isEncoded = true;
    const isSmall = rowCount <= smallFile.rowCount && byteLength <= smallFile.byteLength;
    giveBack(this.#target.fields, this.#encoders, isSmall);
    await written;
    await this.#output.close();
    this.#state = 'closed';
    return { rowCount, byteLength, footerLength, columns };
  }
}

function addChunk(totals: LeafTotals, { leaf, codec }: ColumnEncoder, chunk: Chunk, byteLength: number): void {
  totals.byteLength += byteLength;
  totals.valueCount += chunk.slots - chunk.nullCount;
  totals.nullCount += chunk.nullCount;
  totals.containsNan ||= chunk.containsNan;
  if (chunk.bounds === undefined || !hasBounds(leaf.field.type)) return;
  totals.bounds = totals.bounds === undefined ? chunk.bounds : widen(totals.bounds, chunk.bounds, codec);
}

/** Of equal values (both zeros) the first stays the bound. */
function widen(
  [min, max]: NonNullable<Chunk['bounds']>,
  [otherMin, otherMax]: NonNullable<Chunk['bounds']>,
  codec: ValueCodec,
): NonNullable<Chunk['bounds']> {
  return [codec.compare(otherMin, min) < 0 ? otherMin : min, codec.compare(otherMax, max) > 0 ? otherMax : max];
}

function statsOf({ leaf, codec }: ColumnEncoder, totals: LeafTotals): ColumnStats {
  const { type, id } = leaf.field;
  const { byteLength, valueCount, nullCount, bounds, containsNan } = totals;
  return {
    fieldId: id,
    byteLength,
    valueCount,
    nullCount,
    ...(bounds === undefined ? { min: undefined, max: undefined } : boundsText(type, bounds[0], bounds[1], codec)),
    containsNan: isFloat(type) ? containsNan : undefined,
  };
}
