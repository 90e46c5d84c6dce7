import { isLakeError } from 'edgemere';
import { tableSchema } from '../columns.ts';
import { parseColumns } from '../ddl.ts';
import { CommandError } from '../errors.ts';
import type { Io } from '../io.ts';
import { parseTableName, showTableName } from '../names.ts';
import { counted, renderJson } from '../output/render.ts';
import { type LakeOptions, lakeArguments, openLakeOf } from './context.ts';

export interface CreateOptions extends LakeOptions {
  readonly ifNotExists?: boolean;
  readonly author?: string;
  readonly message?: string;
}

export async function create(args: readonly string[], options: CreateOptions, io: Io): Promise<void> {
  const { target, rest } = lakeArguments(args, { names: ['TABLE', 'COLUMNS'] }, options, io.env);
  const table = parseTableName(rest[0]!);
  const columns = tableSchema(parseColumns(rest[1]!));
  const { author, message } = options;
  await using opened = await openLakeOf(target, options, io);
  try {
    const { snapshotId } = await opened.lake.transaction(
      async (tx) => {
        await tx.createSchema(table.schema, { ifNotExists: true });
        await tx.createTable(table, columns, { ifNotExists: options.ifNotExists });
      },
      { author, message, signal: io.signal },
    );
    const count = columns.size;
    if (options.json)
      return await io.stdout.line(
        renderJson({ created: snapshotId !== undefined, ...table, snapshotId: snapshotId ?? null }),
      );
    await io.stdout.line(
      snapshotId === undefined
        ? `${showTableName(table)} is there already`
        : `made ${showTableName(table)} of ${counted(count, 'column')}, snapshot ${snapshotId}`,
    );
  } catch (error) {
    if (isLakeError(error, 'ALREADY_EXISTS'))
      throw new CommandError(
        `there is a table ${showTableName(table)} already: add --if-not-exists to leave it as it is`,
        {
          cause: error,
        },
      );
    throw error;
  }
}
