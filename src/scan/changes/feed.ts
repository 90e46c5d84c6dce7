import { nameOf } from '../../catalog/view.ts';
import type { ScanColumn } from '../columns.ts';
import type { PartRead } from '../data-file.ts';
import type { RowBatch } from '../rows.ts';
import { decoded, firstRows, gather, selectRows, type VectorBatch } from '../vectors.ts';
import { filterOf } from '../where/filter.ts';
import { imagesOf } from './images.ts';
import { planChanges } from './plan.ts';
import type { ChangesRequest, ChangeType } from './request.ts';
import { stepsOf } from './steps.ts';
import { fileVersions, Readers } from './versions.ts';

const rowIdColumn: ScanColumn = { kind: 'virtual', name: 'rowid' };

/** A table's changes, as columns: see `Changes` for their order. */
export async function* changeBatches(request: ChangesRequest): AsyncGenerator<RowBatch> {
  const planned = await planChanges(request);
  if (planned.limit === 0) return;
  const { store, format } = request.session;
  const signal = request.options.signal as AbortSignal | undefined;
  const columns = [rowIdColumn, ...planned.columns];
  const filter = planned.where && filterOf(planned.where, columns);
  const read: PartRead = {
    store,
    format,
    signal,
    table: nameOf(planned.table),
    snapshotId: planned.to,
    columns: filter?.columns ?? columns,
    matters: filter?.matters,
  };
  const readers = new Readers(read);
  const files = await fileVersions(planned, read, readers);
  let rest = planned.limit;
  for (const step of stepsOf(planned, files, readers, rest === Number.POSITIVE_INFINITY)) {
    signal?.throwIfAborted();
    const images = await imagesOf(step, read);
    const sides = [
      { sources: step.ended, types: ['delete', 'update_preimage'] },
      { sources: step.begun, types: ['insert', 'update_postimage'] },
    ] as const;
    for (const { sources, types } of sides) {
      if (!types.some((type) => planned.types.has(type))) continue;
      const typeOf = (rowId: bigint): ChangeType => types[images.isUpdated(rowId) ? 1 : 0];
      for (const source of sources)
        for await (const found of source(read)) {
          const batch = ofTypes(filter ? filter.keep(found) : found, typeOf, planned.types);
          const rowCount = Math.min(batch.rowCount, rest);
          if (rowCount === 0) continue;
          yield rowBatch(step.snapshotId, batch, rowCount, typeOf, planned.columns);
          rest -= rowCount;
          if (rest === 0) return;
        }
    }
  }
}

const rowIds = (batch: VectorBatch): BigInt64Array => batch.columns[0]!.values as BigInt64Array;

function ofTypes(
  batch: VectorBatch,
  typeOf: (rowId: bigint) => ChangeType,
  types: ReadonlySet<ChangeType>,
): VectorBatch {
  const ids = rowIds(batch);
  const selection = selectRows(batch.rowCount, (row) => types.has(typeOf(ids[row]!)));
  if (!selection) return batch;
  return { rowCount: selection.length, columns: batch.columns.map((vector) => gather(vector, selection)) };
}

function rowBatch(
  snapshotId: number,
  batch: VectorBatch,
  rowCount: number,
  typeOf: (rowId: bigint) => ChangeType,
  columns: readonly ScanColumn[],
): RowBatch {
  const [ids, ...vectors] = batch.columns.map((vector) =>
    decoded(batch.rowCount === rowCount ? vector : firstRows(vector, rowCount)),
  );
  // As entries: columns with names such as `__proto__` are keys of their own.
  const named: Record<string, ArrayLike<unknown>> = Object.fromEntries([
    ['snapshot_id', new BigInt64Array(rowCount).fill(BigInt(snapshotId))],
    ['rowid', ids],
    ['change_type', Array.from(ids as BigInt64Array, typeOf)],
    ...columns.map(({ name }, c) => [name, vectors[c]]),
  ]);
  return { rowCount, columns: named };
}
