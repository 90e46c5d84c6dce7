import type { Io } from '../io.ts';
import { parseTableName, showTableName } from '../names.ts';
import { counted, renderJson } from '../output/render.ts';
import { type LakeOptions, lakeArguments, onTable, openLakeOf } from './context.ts';

export async function flush(
  args: readonly string[],
  options: LakeOptions & { readonly table?: string },
  io: Io,
): Promise<void> {
  const { target } = lakeArguments(args, { names: [] }, options, io.env);
  const table = options.table === undefined ? undefined : parseTableName(options.table);
  await using opened = await openLakeOf(target, options, io);
  const { maintenance } = opened.lake;
  const { signal } = io;
  const { snapshotId, tables } = await (table === undefined
    ? maintenance.flushInlined({ signal })
    : onTable(table, () => maintenance.flushInlined({ schema: table.schema, table: table.name, signal })));
  if (options.json) return io.stdout.line(renderJson({ snapshotId: snapshotId ?? null, tables }));
  if (snapshotId === undefined) return io.stdout.line('nothing to flush: no rows or deletes are kept in the catalog');
  for (const { schema, name, rowCount, deleteCount } of tables)
    await io.stdout.line(
      `${showTableName({ schema, name })}: ${counted(rowCount, 'row')}, ${counted(deleteCount, 'delete')}`,
    );
  await io.stdout.line(`flushed into files, snapshot ${snapshotId}`);
}
