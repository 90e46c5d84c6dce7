import type { Io } from '../io.ts';
import { type RowOptions, rowsOf } from '../scan-options.ts';
import { type LakeOptions, openTable } from './context.ts';

export async function count(args: readonly string[], options: LakeOptions & RowOptions, io: Io): Promise<void> {
  const { opened, table } = await openTable(args, { ...options, jsonAsText: true }, io);
  await using _ = opened;
  const { where, snapshotId } = await rowsOf(opened, table, options);
  const asOf = { snapshot: snapshotId };
  await io.stdout.line(String(await opened.lake.table(table).count(where, { asOf, signal: io.signal })));
}
