/** The command line was used wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

/** A value or a record of an input file can't be taken: exit code 1. Says where it is. */
export class InputError extends Error {
  override readonly name: string = 'InputError';

  /** `where` is a place a user can find: `flights.csv:17`, `flights.parquet, row 17`. */
  constructor(where: string, reason: string, options?: ErrorOptions) {
    super(`${where}: ${reason}`, options);
  }
}

/** Something the command needs isn't there or doesn't fit: exit code 1. The message says what to do next. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
}

/** Exit codes, as documented in `edgemere help`. */
export const exitCodes: { readonly ok: 0; readonly failed: 1; readonly usage: 2; readonly interrupted: 130 } = {
  ok: 0,
  failed: 1,
  usage: 2,
  interrupted: 130,
};

/** The reason with which Ctrl-C aborts what is running. */
export class Interrupted extends Error {
  override readonly name: string = 'Interrupted';
  constructor(what = '') {
    super(`interrupted${what}`);
  }
}

/** An error as one line, without a stack. */
export function errorLine(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error);
  return message.replaceAll(/\s*[\r\n]+\s*/g, ' ').trim();
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof Interrupted) return exitCodes.interrupted;
  if (error instanceof UsageError) return exitCodes.usage;
  return exitCodes.failed;
}
