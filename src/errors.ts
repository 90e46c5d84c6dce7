/** What went wrong, as a word that callers branch on. */
export type ErrorCode =
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'INVALID_ARGUMENT'
  | 'INVALID_VALUE'
  | 'UNSUPPORTED'
  | 'VERSION'
  | 'CONFLICT'
  | 'RETRIES_EXHAUSTED'
  | 'COMMIT_UNKNOWN'
  | 'CATALOG_UNAVAILABLE'
  | 'STORE_UNAVAILABLE'
  | 'ACCESS_DENIED'
  | 'CORRUPT'
  | 'CLOSED';

/** Where it went wrong. Holds no secret: neither passwords nor keys nor signed URLs. */
export interface ErrorContext {
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  /** Index of the row in the rows that the caller handed over, from 0. */
  readonly row?: number;
  /** The offending value, shortened for display. */
  readonly value?: string;
  /** A location in the object store, or a catalog's name. */
  readonly location?: string;
  readonly snapshotId?: number;
  /** Of COMMIT_UNKNOWN: text that `lake.resolve` takes, now or later, in any process. */
  readonly token?: string;
  readonly [key: string]: unknown;
}

export interface LakeErrorOptions {
  /** Whether the same call may succeed when it is made again. Defaults to false. */
  readonly retryable?: boolean;
  readonly context?: ErrorContext;
  readonly cause?: unknown;
}

/**
 * The one error that edgemere throws. An abort is the exception: it rethrows `signal.reason`.
 *
 * @example
 * ```ts
 * import { LakeError } from 'edgemere';
 *
 * const error = new LakeError('NOT_FOUND', 'table "events" does not exist', { context: { table: 'events' } });
 * console.log(error.code, error.retryable); // NOT_FOUND false
 * ```
 */
export class LakeError extends Error {
  override readonly name: string = 'LakeError';
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly context: ErrorContext;

  constructor(code: ErrorCode, message: string, options: LakeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.context = options.context ?? {};
  }
}

/** Whether `error` is a {@link LakeError}, optionally with this code. Works across copies of the library. */
export function isLakeError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code,
): error is LakeError & { readonly code: Code } {
  return (
    error instanceof Error && error.name === 'LakeError' && (code === undefined || (error as LakeError).code === code)
  );
}

/** A value as it appears in a message: short, on one line, never throwing. */
export function showValue(value: unknown): string {
  let text: string;
  try {
    if (typeof value === 'string') text = JSON.stringify(value);
    else if (typeof value === 'bigint') text = `${value}n`;
    else if (value instanceof Date) text = Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    else if (value instanceof Uint8Array) text = `Uint8Array(${value.length})`;
    else if (typeof value === 'function') text = `function ${value.name}`;
    else if (typeof value === 'object' && value !== null)
      text = JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? `${item}n` : item)) ?? String(value);
    else text = String(value);
  } catch {
    text = Object.prototype.toString.call(value);
  }
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/** The options that a call has. `any`: their values are looked at where they are used. */
export type OptionKinds<Options> = { readonly [Name in keyof Options]-?: 'any' | 'boolean' | 'function' };

/**
 * Refuses what is no object: options may be left out, but not be `null` or a flag. A signal has to be one. With `kinds`, an option
 * that is not among them is refused too: misspelt, it would be a safety that isn't there.
 */
export function checkOptions<Options>(options: unknown, kinds?: OptionKinds<Options>): void {
  if (typeof options !== 'object' || options === null)
    throw new LakeError('INVALID_ARGUMENT', `the options are ${showValue(options)}; expected an object, or none`, {
      context: { value: showValue(options) },
    });
  const { signal } = options as { signal?: Partial<AbortSignal> | null };
  // Not by its class: a signal may be another realm's.
  if (signal !== undefined && signal !== null && typeof signal.throwIfAborted !== 'function')
    throw new LakeError('INVALID_ARGUMENT', `the signal is ${showValue(signal)}; expected an AbortSignal`, {
      context: { value: showValue(signal) },
    });
  if (kinds) for (const [name, value] of Object.entries(options)) checkOption(name, value, kinds);
}

function checkOption(name: string, value: unknown, kinds: Readonly<Record<string, string>>): void {
  const context = { value: showValue(value) };
  if (!Object.hasOwn(kinds, name)) {
    const meant = Object.keys(kinds).find((known) => known.toLowerCase() === name.toLowerCase());
    const advice = meant === undefined ? '' : `: did you mean "${meant}"?`;
    throw new LakeError('INVALID_ARGUMENT', `there is no option "${name}"${advice}`, { context: { value: name } });
  }
  const kind = kinds[name];
  if (kind === 'any' || value === undefined || (kind === 'function' && value === null)) return;
  if (typeof value !== kind)
    throw new LakeError('INVALID_ARGUMENT', `the option ${name} is ${showValue(value)}; expected a ${kind}`, {
      context,
    });
}

/** A name where a backend belongs would be told only by a TypeError. */
export function checkBackend(option: 'catalog' | 'store', method: string, value: unknown): void {
  if (typeof (value as Record<string, unknown> | null | undefined)?.[method] === 'function') return;
  const made = option === 'catalog' ? 'sqliteCatalog({ path })' : 'localStore()';
  throw new LakeError(
    'INVALID_ARGUMENT',
    `${option} is ${showValue(value)}; expected what an adapter makes, such as ${made}`,
    { context: { value: showValue(value) } },
  );
}
