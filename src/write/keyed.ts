import type { CommitKey, UsedKey } from '../catalog/store.ts';
import type { TableName } from '../catalog/view.ts';
import { isLakeError, LakeError, showValue } from '../errors.ts';
import type { Session } from '../session.ts';
import { foldName } from '../spec/names.ts';

/** What a repeat is told instead of being carried out. */
export type RepeatOf<Result> = Result & { readonly snapshotId: number; readonly isRepeat: true };

export const transactionScope = 'a transaction';

export function insertScope({ schema, name }: TableName): string {
  return `an insert into "${foldName(schema)}"."${foldName(name)}"`;
}

/** Errors: INVALID_ARGUMENT. */
export function checkKey(key: unknown): string {
  if (typeof key === 'string' && key.length <= 255 && key !== '' && key.isWellFormed() && !key.includes('\0'))
    return key;
  throw new LakeError(
    'INVALID_ARGUMENT',
    `idempotencyKey is ${showValue(key)}; expected a string of 1 to 255 characters, without NUL characters and lone surrogates`,
    { context: { value: showValue(key) } },
  );
}

/** One call's use of an idempotency key. `Result` is what the call returns, but for the snapshot: plain JSON data. */
export class KeyUse<Result extends object> {
  readonly #session: Session;
  readonly #key: string;
  readonly #scope: string;

  constructor(session: Session, key: unknown, scope: string) {
    this.#session = session;
    this.#key = checkKey(key);
    this.#scope = scope;
  }

  /** For a commit that gives `result`. INVALID_ARGUMENT when a repeat could not get the same. */
  keys(result: Result): CommitKey[] {
    if (!isJson(result))
      throw new LakeError(
        'INVALID_ARGUMENT',
        'with idempotencyKey a transaction returns JSON data or nothing, so that a repeat can return the same',
      );
    return [{ key: this.#key, scope: this.#scope, result: JSON.stringify(result) }];
  }

  /** What the commit that used the key gave. INVALID_ARGUMENT when that was something else. */
  repeat(used: readonly UsedKey[]): RepeatOf<Result> {
    const { scope, snapshotId, result } = used.find(({ key }) => key === this.#key)!;
    if (scope !== this.#scope)
      throw new LakeError(
        'INVALID_ARGUMENT',
        `idempotencyKey ${showValue(this.#key)} was used for ${scope} in snapshot ${snapshotId}, and this is ${this.#scope}`,
        { context: { value: this.#key, snapshotId } },
      );
    return { ...(JSON.parse(result) as Result), snapshotId, isRepeat: true };
  }

  /** One round trip. `undefined` when the key has not been used yet. */
  async find(): Promise<RepeatOf<Result> | undefined> {
    const used = await this.#session.catalog.findKeys([this.#key]);
    return used.length === 0 ? undefined : this.repeat(used);
  }

  /** What is due to a call that failed: whoever used the key meanwhile may be the reason. */
  async instead(error: unknown): Promise<RepeatOf<Result>> {
    let found: RepeatOf<Result> | undefined;
    try {
      found = await this.find();
    } catch (other) {
      throw isLakeError(other, 'INVALID_ARGUMENT') ? other : error;
    }
    if (found) return found;
    throw error;
  }

  /**
   * Runs the call and looks the key up beside it: where it was used, the signal stops the call. Whether it was is decided when the
   * commit is made, not here.
   */
  async beside<Full>(
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<Full>,
  ): Promise<Full | RepeatOf<Result>> {
    const stop = new AbortController();
    const lookedUp = this.find().then(
      (found) => found && stop.abort(found),
      (error) => isLakeError(error, 'INVALID_ARGUMENT') && stop.abort(error),
    );
    try {
      return await run(signal ? AbortSignal.any([signal, stop.signal]) : stop.signal);
    } catch (error) {
      if (signal?.aborted) throw error;
      await lookedUp;
      if (!stop.signal.aborted) return this.instead(error);
      if (isLakeError(stop.signal.reason)) throw stop.signal.reason;
      return stop.signal.reason as RepeatOf<Result>;
    }
  }
}

/** Whether `JSON.parse(JSON.stringify(value))` is the same; properties that are `undefined` aside. */
function isJson(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() && !value.includes('\0');
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0);
    case 'boolean':
      return true;
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (Array.isArray(value)) return Array.from(value).every(isJson);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return Object.entries(value).every(([, part]) => part === undefined || isJson(part));
}
