import type { StagedRows } from '../catalog/pending.ts';
import type { TableInfo } from '../catalog/view.ts';
import type { ColumnBatch } from '../file/format.ts';
import { RefusedWithin } from '../file/parquet/encode/nested-input.ts';
import { explain, missingValue } from '../file/parquet/refuse.ts';
import { uuidv7 } from '../util/uuid.ts';
import { InlinedColumnEncoder, Unfit } from './inlined-values.ts';

type Inlined =
  | { readonly isOver: false; readonly rowCount: number; readonly inlined: StagedRows | undefined }
  /** The same batches, for a file. */
  | { readonly isOver: true; readonly batches: AsyncIterable<ColumnBatch> };

/** Takes rows as the catalog keeps them, unless they are more than `limit` or hold what it can't keep. */
export async function inlineUpTo(
  limit: number,
  table: TableInfo,
  batches: AsyncIterable<ColumnBatch>,
): Promise<Inlined> {
  const { held, rest } = await takeUpTo(limit, batches);
  if (rest !== undefined) return { isOver: true, batches: chain(held, rest) };
  const rowCount = held.reduce((sum, batch) => sum + batch.rowCount, 0);
  if (rowCount === 0) return { isOver: false, rowCount, inlined: undefined };
  const staged = inlineRows(table, held);
  if (staged === undefined) return { isOver: true, batches: chain(held, undefined) };
  return { isOver: false, rowCount, inlined: { ...staged, into: table.inlinedTable } };
}

/**
 * Rows as the catalog keeps them. `undefined` when a value can't be kept there; the rows then go into a file. INVALID_VALUE for
 * those that the table doesn't take, as for a file.
 */
function inlineRows(table: TableInfo, batches: readonly ColumnBatch[]): Omit<StagedRows, 'into'> | undefined {
  const encoders = table.fields.map((field) => new InlinedColumnEncoder(field));
  const rows: (string | null)[][] = [];
  let isFit = true;
  for (const batch of batches) {
    const first = rows.length;
    for (let i = 0; i < batch.rowCount; i++) rows.push(new Array<string | null>(encoders.length).fill(null));
    // Column by column, as in a file: of several bad values the same one is told of.
    for (const [c, field] of table.fields.entries()) {
      for (let i = 0; i < batch.rowCount; i++) {
        const value = batch.columns[c]![i];
        const place = { schema: table.schema.name, table: table.name, field, row: batch.firstRow + i };
        try {
          rows[first + i]![c] = encoders[c]!.add(value);
        } catch (error) {
          if (error instanceof Unfit) isFit = false;
          else throw explain(error, place, error instanceof RefusedWithin ? error.value : value);
        }
      }
      if (field.nullable) continue;
      const at = rows
        .slice(first)
        .findIndex((_, i) => batch.columns[c]![i] === null || batch.columns[c]![i] === undefined);
      if (at >= 0)
        throw missingValue(
          { schema: table.schema.name, table: table.name, field, row: batch.firstRow + at },
          batch.columns[c]![at] as null | undefined,
        );
    }
  }
  if (!isFit) return undefined;
  return {
    id: uuidv7(),
    columns: table.fields.map(({ name, type }) => ({ name, type })),
    rows,
    stats: encoders.flatMap((encoder) => encoder.stats()),
  };
}

interface Taken {
  /** Copies: a batch is only valid until the next one. */
  readonly held: readonly ColumnBatch[];
  /** What comes after them; `undefined` when there is nothing more. */
  readonly rest: AsyncIterator<ColumnBatch> | undefined;
}

/** Takes batches until they are more than `limit` rows: then at once, so that hardly more than those are held. */
async function takeUpTo(limit: number, batches: AsyncIterable<ColumnBatch>): Promise<Taken> {
  const iterator = batches[Symbol.asyncIterator]();
  const held: ColumnBatch[] = [];
  for (let rowCount = 0; rowCount <= limit; ) {
    const next = await iterator.next();
    if (next.done) return { held, rest: undefined };
    held.push(copyOf(next.value));
    rowCount += next.value.rowCount;
  }
  return { held, rest: iterator };
}

function copyOf({ columns, rowCount, firstRow }: ColumnBatch): ColumnBatch {
  return { rowCount, firstRow, columns: columns.map((column) => Array.prototype.slice.call(column, 0, rowCount)) };
}

async function* chain(
  held: readonly ColumnBatch[],
  rest: AsyncIterator<ColumnBatch> | undefined,
): AsyncGenerator<ColumnBatch> {
  try {
    yield* held;
    if (rest === undefined) return;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest?.return?.();
  }
}
