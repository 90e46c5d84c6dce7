import type { CommitKey } from '../catalog/store.ts';
import type { TableName } from '../catalog/view.ts';
import { isLakeError, LakeError, showValue } from '../errors.ts';
import type { Session } from '../session.ts';
import type { Append, BadRow, WriterBatch, WriterOptions } from './buffered.ts';
import { checkRows } from './check-rows.ts';
import { checkKey, insertScope } from './keyed.ts';

/** The table that a writer writes to. */
export interface BatchTarget {
  readonly session: Session;
  readonly table: TableName;
  /** Commits rows as `table.insert` does. */
  insert(rows: readonly unknown[], use: KeysOf): Promise<{ readonly snapshotId: number | undefined }>;
}

/** The keys of a commit. `repeat` is called instead of committing when some were used before. */
export interface KeysOf {
  /** The commit waits for it; files are written before. */
  readonly turn: Promise<unknown>;
  keys(): CommitKey[];
  repeat(): never;
}

/** Thrown by `repeat`. */
class KeysUsed extends Error {}

/** A writer's batches, one after another. */
export class Batches {
  readonly #target: BatchTarget;
  readonly #options: WriterOptions;
  /** How long callers are remembered, in milliseconds. */
  readonly #memoryMs: number;
  #count = 0;
  #last: Promise<void> = Promise.resolve();
  /** Appends in batches. */
  #underWay = 0;
  /** The most appends that were under way at once: in the time before `#since`, and after it. */
  #before = 0;
  #lately = 0;
  #since = performance.now();

  constructor(target: BatchTarget, options: WriterOptions) {
    this.#target = target;
    this.#options = options;
    this.#memoryMs = Math.max(1000, 10 * (options.maxDelayMs ?? 0));
  }

  /**
   * How many appends were lately under way at once. Where callers await their appends no more will come than those; where rows just
   * arrive, some did while a batch was committed, and so it is more than what arrives before the next.
   */
  knownCallers(): number {
    const now = performance.now();
    const elapsed = now - this.#since;
    if (elapsed > this.#memoryMs) {
      this.#before = elapsed > 2 * this.#memoryMs ? 0 : this.#lately;
      this.#lately = 0;
      this.#since = now;
    }
    return Math.max(this.#before, this.#lately) || Number.POSITIVE_INFINITY;
  }

  /** Takes the next batch off `waiting`, commits it when those before it are settled, and settles its appends; `done` never rejects. */
  commit(waiting: Append[], maxRows: number, maxBytes: number): Batch {
    const appends = takeBatch(waiting, maxRows, maxBytes);
    const sum = (part: (append: Append) => number): number => appends.reduce((total, one) => total + part(one), 0);
    const [rowCount, byteLength] = [sum(({ rows }) => rows.length), sum((append) => append.byteLength)];
    if (appends.length === 0) return { rowCount, byteLength, done: this.#last };
    this.#underWay += appends.length;
    // Who is told may be back before the next line: callers are counted before.
    const settling = (): void => {
      this.#lately = Math.max(this.#lately, this.#underWay + waiting.length);
    };
    const settled = commitBatch(this.#target, appends, this.#count++, this.#options, this.#last, settling);
    const done = settled.then(() => {
      this.#underWay -= appends.length;
    });
    // A batch of which nothing is left to commit is settled before its turn: those after it wait for the ones before it all the same.
    this.#last = Promise.all([this.#last, done]).then(() => {});
    return { rowCount, byteLength, done };
  }
}

/** What a batch held when it was taken. */
interface Batch {
  readonly rowCount: number;
  readonly byteLength: number;
  readonly done: Promise<void>;
}

/** Those that wait longest, up to a full batch. Of two with one key the later is a repeat: it waits for the next. */
function takeBatch(waiting: Append[], maxRows: number, maxBytes: number): Append[] {
  let [rowCount, byteLength, end] = [0, 0, 0];
  const keys = new Set<string>();
  for (const append of waiting) {
    rowCount += append.rows.length;
    byteLength += append.byteLength;
    if (end > 0 && (rowCount > maxRows || byteLength > maxBytes)) break;
    if (append.key !== undefined && keys.size === keys.add(append.key).size) break;
    end++;
  }
  return waiting.splice(0, end);
}

/** `settling` is called before the first of the appends that share the commit is told. */
async function commitBatch(
  target: BatchTarget,
  appends: readonly Append[],
  index: number,
  options: WriterOptions,
  turn: Promise<void>,
  settling: () => void,
): Promise<void> {
  const all = appends.flatMap(({ rows }) => rows);
  const batch: WriterBatch = { index, rows: all };
  const starts = new Map<Append, number>();
  for (let k = 0, start = 0; k < appends.length; start += appends[k++]!.rows.length) starts.set(appends[k]!, start);
  const scope = insertScope(target.table);
  let open = [...appends];
  try {
    const batchKey = keyOf(options.idempotencyKey, batch);
    open = open.filter(hasFitKey);
    for (let checked = 0; open.length > 0; ) {
      open = await withoutRepeats(target, scope, open, batchKey);
      if (open.length === 0) return;
      try {
        const keys = keysOf(scope, open, batchKey);
        const end = await target.insert(
          open.flatMap(({ rows }) => rows),
          {
            turn,
            keys: () => keys,
            repeat() {
              throw new KeysUsed();
            },
          },
        );
        settling();
        for (const { rows, bad, resolve } of open)
          resolve({
            snapshotId: rows.length > 0 ? end.snapshotId : undefined,
            rowCount: rows.length,
            ...(bad.length > 0 ? { badRows: bad } : {}),
          });
        return;
      } catch (error) {
        // Somebody else used some of them meanwhile.
        if (error instanceof KeysUsed) continue;
        // The second time it is the table that changed.
        if (!isAboutRow(error) || checked++ > 1) throw error;
        open = await withoutBadRows(target, open, options.badRows === 'skip');
      }
    }
  } catch (error) {
    settling();
    for (const append of open) append.reject(ofBatch(error, append));
    try {
      options.onBatchError?.(error, batch);
    } catch {
      // Everybody was told already.
    }
  }

  function ofBatch(error: unknown, append: Append): unknown {
    if (!isLakeError(error)) return error;
    const about = { index, appendCount: appends.length, rowCount: all.length, firstRow: starts.get(append) };
    const { code, message, retryable, context, cause } = error;
    return new LakeError(code, message, { retryable, context: { ...context, batch: about }, cause });
  }
}

const isAboutRow = (error: unknown): error is LakeError =>
  isLakeError(error, 'INVALID_VALUE') && error.context.row !== undefined;

function keyOf(key: WriterOptions['idempotencyKey'], batch: WriterBatch): string | undefined {
  const text = typeof key === 'function' ? key(batch) : key === undefined ? undefined : `${key}:${batch.index}`;
  return text === undefined ? undefined : checkKey(text);
}

function hasFitKey({ key, reject }: Append): boolean {
  try {
    if (key !== undefined) checkKey(key);
    return true;
  } catch (error) {
    reject(error);
    return false;
  }
}

function keysOf(scope: string, appends: readonly Append[], batchKey: string | undefined): CommitKey[] {
  const used = (key: string, rowCount: number): CommitKey => ({ key, scope, result: JSON.stringify({ rowCount }) });
  const keys = appends.flatMap(({ key, rows }) => (key === undefined ? [] : [used(key, rows.length)]));
  const rowCount = appends.reduce((sum, { rows }) => sum + rows.length, 0);
  return batchKey === undefined ? keys : [...keys, used(batchKey, rowCount)];
}

/** Resolves what earlier commits hold, by their keys; the rest. One round trip, none without keys. */
async function withoutRepeats(
  { session }: BatchTarget,
  scope: string,
  appends: readonly Append[],
  batchKey: string | undefined,
): Promise<Append[]> {
  const keys = appends.flatMap(({ key }) => key ?? []);
  if (batchKey !== undefined) keys.push(batchKey);
  if (keys.length === 0) return [...appends];
  const used = new Map((await session.catalog.findKeys(keys)).map((key) => [key.key, key]));
  const whole = batchKey === undefined ? undefined : used.get(batchKey);
  return appends.filter((append) => {
    const found = (append.key === undefined ? undefined : used.get(append.key)) ?? whole;
    if (found === undefined) return true;
    if (found.scope !== scope) {
      append.reject(
        new LakeError(
          'INVALID_ARGUMENT',
          `idempotencyKey ${showValue(found.key)} was used for ${found.scope} in snapshot ${found.snapshotId}, and this is ${scope}`,
          { context: { value: found.key, snapshotId: found.snapshotId } },
        ),
      );
      return false;
    }
    const rowCount = found === whole ? append.rows.length : (JSON.parse(found.result) as { rowCount: number }).rowCount;
    append.resolve({ snapshotId: found.snapshotId, rowCount, isRepeat: true });
    return false;
  });
}

/** Rejects appends with bad rows, or takes these rows out of them. Rows are numbered within their append. */
async function withoutBadRows(target: BatchTarget, appends: readonly Append[], skips: boolean): Promise<Append[]> {
  const rest: Append[] = [];
  for (const append of appends) {
    const { rows } = append;
    const bad = await badRowsOf(target, rows, 0, rows.length, skips);
    if (bad.length === 0) rest.push(append);
    else if (!skips) append.reject(bad[0]!.error);
    else {
      const numbers = new Set(bad.map(({ row }) => row));
      append.rows = rows.filter((_, k) => !numbers.has(k));
      append.bad = bad;
      rest.push(append);
    }
  }
  return rest;
}

/** Bad rows from `start` to `end`, or one of them. Each splits what is left in two. */
async function badRowsOf(
  target: BatchTarget,
  rows: readonly unknown[],
  start: number,
  end: number,
  wantsAll: boolean,
): Promise<BadRow[]> {
  if (start === end) return [];
  const { session, table: name } = target;
  const view = await session.view();
  const table = view.findTable(name);
  if (!table) return [];
  try {
    await checkRows(session.format, view, table, rows, start, end);
    return [];
  } catch (error) {
    const row = isAboutRow(error) ? error.context.row : undefined;
    if (row === undefined) throw error;
    const bad = { row, error: error as LakeError };
    if (!wantsAll) return [bad];
    const before = await badRowsOf(target, rows, start, row, true);
    return [...before, bad, ...(await badRowsOf(target, rows, row + 1, end, true))];
  }
}
