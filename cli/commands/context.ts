import { isLakeError } from 'edgemere';
import { CommandError, UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { parseTableName, showTableName, type TableName } from '../names.ts';
import { type OpenLake, openTarget } from '../open.ts';
import { type LakeTarget, parseTarget } from '../target.ts';

/** Options that every command takes. */
export interface LakeOptions {
  readonly schema?: string;
  readonly dataPath?: string;
  readonly overrideDataPath?: boolean;
  readonly json?: boolean;
  /** Set by commands, for {@link openTarget}. */
  readonly jsonAsText?: boolean;
}

/** How many arguments a command takes after LAKE. */
export interface Arity {
  /** Their names, for errors. */
  readonly names: readonly string[];
  /** Whether the last one may be repeated. */
  readonly variadic?: boolean;
}

export interface LakeArguments {
  readonly target: LakeTarget;
  readonly rest: readonly string[];
}

/**
 * Takes LAKE off the arguments. With EDGEMERE_LAKE set it may be left out: it is there when the count of arguments says so, or
 * when the first one begins like the address of a lake.
 */
export function lakeArguments(
  args: readonly string[],
  arity: Arity,
  options: LakeOptions,
  env: NodeJS.ProcessEnv,
): LakeArguments {
  const { names, variadic = false } = arity;
  const byEnvironment = env['EDGEMERE_LAKE'] || undefined;
  const isGiven =
    byEnvironment === undefined ||
    /^(ducklake:|sqlite:|postgres(ql)?:)/.test(args[0] ?? '') ||
    (!variadic && args.length === names.length + 1);
  const rest = isGiven ? args.slice(1) : args;
  if (isGiven && args.length === 0)
    throw new UsageError('which lake? Give LAKE (a folder, sqlite:FILE or postgres://…) or set EDGEMERE_LAKE');
  const missing = names[rest.length];
  if (missing !== undefined)
    throw new UsageError(`${missing} is missing after ${rest.length === 0 ? 'LAKE' : names[rest.length - 1]}`);
  if (!variadic && rest.length > names.length)
    throw new UsageError(`${JSON.stringify(rest[names.length])} is one argument too many`);
  return { target: parseTarget(isGiven ? args[0]! : byEnvironment!, options.schema), rest };
}

/** Opens the lake that is there. */
export function openLakeOf(target: LakeTarget, options: LakeOptions, { env }: Io): Promise<OpenLake> {
  const { dataPath, overrideDataPath, jsonAsText } = options;
  return openTarget(target, { env, dataPath, overrideDataPath, jsonAsText });
}

/** Opens the lake of a command on one table. */
export async function openTable(
  args: readonly string[],
  options: LakeOptions,
  io: Io,
): Promise<{ opened: OpenLake; table: TableName }> {
  const { target, rest } = lakeArguments(args, { names: ['TABLE'] }, options, io.env);
  const table = parseTableName(rest[0]!);
  return { opened: await openLakeOf(target, options, io), table };
}

/** A table that isn't there, as the command line says it. */
export function noSuchTable(table: TableName, hint: string, cause: unknown): CommandError {
  return new CommandError(`there is no table ${showTableName(table)}: ${hint}`, { cause });
}

/** Runs something on a table; when the table isn't there, says how to find those that are. */
export async function onTable<T>(table: TableName, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isMissingTable(error)) throw noSuchTable(table, '`edgemere ls` lists those that are there', error);
    throw error;
  }
}

/** Whether the table itself wasn't found, rather than one of its columns, files or snapshots. */
export function isMissingTable(error: unknown): boolean {
  if (!isLakeError(error, 'NOT_FOUND')) return false;
  const { table, column, location, snapshotId } = error.context;
  return table !== undefined && column === undefined && location === undefined && snapshotId === undefined;
}
