/** The commands that look at a lake. */

import type { Change, SnapshotInfo } from 'edgemere';
import type { Io } from '../io.ts';
import { showTableName } from '../names.ts';
import { renderJson, renderTable, showBytes, showCount } from '../output/render.ts';
import { showType } from '../sql-types.ts';
import { type LakeOptions, lakeArguments, onTable, openLakeOf, openTable } from './context.ts';

export async function ls(args: readonly string[], options: LakeOptions, io: Io): Promise<void> {
  const { target } = lakeArguments(args, { names: [] }, options, io.env);
  await using opened = await openLakeOf(target, options, io);
  const { lake } = opened;
  const tables = [];
  for (const { schema, name, id, location } of await lake.tables()) {
    const { rowCount, byteLength } = await lake.table({ schema, name }).stats();
    tables.push({ schema, name, id, rowCount, byteLength, location });
  }
  if (options.json) return io.stdout.line(renderJson(tables));
  if (tables.length === 0)
    return io.stdout.line('no tables yet: `edgemere create` makes one, `edgemere append --create` too');
  await io.stdout.line(
    renderTable(
      ['table', 'rows', 'size'],
      tables.map((table) => [showTableName(table), showCount(table.rowCount), showBytes(table.byteLength)]),
      [false, true, true],
    ),
  );
}

export async function describe(args: readonly string[], options: LakeOptions, io: Io): Promise<void> {
  const { opened, table } = await openTable(args, options, io);
  await using _ = opened;
  const description = await onTable(table, () => opened.lake.table(table).describe());
  if (options.json) return io.stdout.line(renderJson(description));
  await io.stdout.line(
    renderTable(
      ['column', 'type', 'null', 'default'],
      description.columns.map((column) => [
        column.name,
        showType(column),
        column.nullable ? 'yes' : 'no',
        column.defaultValue ?? '',
      ]),
    ),
  );
}

export async function snapshots(args: readonly string[], options: LakeOptions, io: Io): Promise<void> {
  const { target } = lakeArguments(args, { names: [] }, options, io.env);
  await using opened = await openLakeOf(target, options, io);
  const { lake } = opened;
  const found: SnapshotInfo[] = [];
  for await (const snapshot of lake.snapshots()) found.push(snapshot);
  if (options.json) return io.stdout.line(renderJson(found));
  const names = new Map((await lake.tables()).map((table) => [table.id, showTableName(table)]));
  await io.stdout.line(
    renderTable(
      ['id', 'time', 'changes', 'author', 'message'],
      found.map(({ id, time, changes, author, message }) => [
        String(id),
        time.toJSON(),
        changes.map((change) => changeText(change, names)).join(', '),
        author ?? '',
        message ?? '',
      ]),
      [true],
    ),
  );
}

/** `inserted into main.events`; tables that are gone keep their id. */
function changeText(change: Change, names: ReadonlyMap<number, string>): string {
  const kind = change.kind.replaceAll('_', ' ');
  if ('schema' in change) return `${kind} ${showTableName(change)}`;
  if ('name' in change) return `${kind} ${change.name}`;
  return `${kind} ${names.get(change.id) ?? change.id}`;
}

export async function files(args: readonly string[], options: LakeOptions, io: Io): Promise<void> {
  const { opened, table } = await openTable(args, options, io);
  await using _ = opened;
  const found = await onTable(table, () => opened.lake.table(table).files());
  if (options.json) return io.stdout.line(renderJson(found));
  if (found.length === 0) return io.stdout.line(`${showTableName(table)} has no files`);
  await io.stdout.line(
    renderTable(
      ['id', 'path', 'rows', 'size', 'snapshot'],
      found.map(({ id, path, rowCount, byteLength, beginSnapshot }) => [
        String(id),
        path,
        showCount(rowCount),
        showBytes(byteLength),
        String(beginSnapshot),
      ]),
      [true, false, true, true, true],
    ),
  );
}

export async function stats(args: readonly string[], options: LakeOptions, io: Io): Promise<void> {
  const { opened, table } = await openTable(args, options, io);
  await using _ = opened;
  const totals = await onTable(table, () => opened.lake.table(table).stats());
  if (options.json) return io.stdout.line(renderJson(totals));
  await io.stdout.line(`${showCount(totals.rowCount)} rows, ${showBytes(totals.byteLength)}`);
  const known = (flag: boolean | null): string => (flag === null ? '' : flag ? 'yes' : 'no');
  await io.stdout.line(
    renderTable(
      ['column', 'min', 'max', 'has null', 'has NaN'],
      totals.columns.map(({ name, min, max, containsNull, containsNan }) => [
        name,
        min ?? '',
        max ?? '',
        known(containsNull),
        known(containsNan),
      ]),
    ),
  );
}
