import type { CatalogView, TableInfo } from '../catalog/view.ts';
import type { FileFormat } from '../file/format.ts';
import type { ObjectWriter } from '../storage/object-store.ts';
import { blockRowCount, Gatherer } from './gather.ts';
import { targetOf, writeSettings } from './target.ts';

/** Rejects with INVALID_VALUE, as writing them would, when one of the rows `start` to `end` doesn't fit the table. */
export async function checkRows(
  format: FileFormat,
  view: CatalogView,
  table: TableInfo,
  rows: readonly unknown[],
  start: number,
  end: number,
): Promise<void> {
  const target = targetOf(table);
  const gatherer = new Gatherer(target);
  const writer = format.createWriter({
    table: { schema: target.schema, table: target.table },
    fields: table.fields,
    options: writeSettings(view, table).fileOptions,
    open: async () => nowhere,
  });
  try {
    for (let at = start; at < end; at += blockRowCount)
      await writer.write(gatherer.gather(rows, at, Math.min(at + blockRowCount, end), 0));
    // Some columns are looked at as a whole only.
    await writer.close();
  } finally {
    await writer.abort();
  }
}

const nothing = async (): Promise<void> => {};

const nowhere: ObjectWriter = { write: nothing, close: nothing, abort: nothing };
