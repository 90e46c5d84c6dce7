import { isLakeError, LakeError, showValue } from '../errors.ts';

export interface WriterOptions {
  /** Rows that make a batch full: it is committed at once. Defaults to 10,000. */
  readonly maxRows?: number | undefined;
  /** How long the first rows of a batch wait for more, in milliseconds. Defaults to 10. */
  readonly maxDelayMs?: number | undefined;
  /** Rows that may wait; `append` takes no more until some are committed. Defaults to four times `maxRows`. */
  readonly maxPendingRows?: number | undefined;
  /** Is handed each append's promise, so that an edge runtime stays until it is settled. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
}

/** Where an append's rows are. */
export interface AppendResult {
  readonly snapshotId: number | undefined;
  readonly rowCount: number;
}

type Insert = (rows: readonly unknown[]) => Promise<{ readonly snapshotId: number | undefined }>;

interface Append {
  readonly rows: readonly unknown[];
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects the rows of many `append` calls into few commits. Rows are committed in the order of the calls. Rows that don't
 * fit the table reject their own `append` alone, with the number that they have in it. Made by `table.writer`.
 */
export class BufferedWriter<In = Record<string, unknown>> implements AsyncDisposable {
  readonly #insert: Insert;
  readonly #maxRows: number;
  readonly #maxDelayMs: number;
  readonly #maxPendingRows: number;
  readonly #waitUntil: ((promise: Promise<unknown>) => void) | undefined;
  #waiting: Append[] = [];
  /** Rows that wait or are being committed. */
  #rowCount = 0;
  #room: { readonly rowCount: number; readonly enter: () => void }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  /** @internal */
  constructor(insert: Insert, options: WriterOptions = {}) {
    const { maxRows = 10_000, maxDelayMs = 10 } = options;
    const maxPendingRows = options.maxPendingRows ?? 4 * maxRows;
    for (const [name, value] of Object.entries({ maxRows, maxDelayMs, maxPendingRows }))
      if (!Number.isFinite(value) || value < (name === 'maxDelayMs' ? 0 : 1))
        throw new LakeError('INVALID_ARGUMENT', `the writer's ${name} is ${showValue(value)}`, {
          context: { value: showValue(value) },
        });
    this.#insert = insert;
    this.#maxRows = maxRows;
    this.#maxDelayMs = maxDelayMs;
    this.#maxPendingRows = maxPendingRows;
    this.#waitUntil = options.waitUntil;
  }

  /**
   * Adds rows; resolves when they are committed. The array must not be changed before. Errors: as `table.insert`, for these
   * rows; CONFLICT and the like for all rows of the batch; CLOSED after `close`.
   */
  append(rows: readonly In[]): Promise<AppendResult> {
    if (this.#isClosed) return Promise.reject(new LakeError('CLOSED', 'the writer was closed'));
    if (!Array.isArray(rows))
      return Promise.reject(
        new LakeError('INVALID_ARGUMENT', `append takes an array of row objects; got ${showValue(rows)}`, {
          context: { value: showValue(rows) },
        }),
      );
    const { promise, resolve, reject } = Promise.withResolvers<AppendResult>();
    const enter = (): void => {
      this.#rowCount += rows.length;
      this.#waiting.push({ rows, resolve, reject });
      this.#schedule();
    };
    if (this.#room.length === 0 && this.#hasRoom(rows.length)) enter();
    else this.#room.push({ rowCount: rows.length, enter });
    // The caller has the promise itself: here it only keeps the runtime awake.
    this.#waitUntil?.(promise.catch(() => undefined));
    return promise;
  }

  /** Commits what was appended so far without waiting for more. Never rejects: each `append` tells of its own rows. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#running) await this.#start();
  }

  /** Flushes, and takes no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** One append larger than all room goes alone. */
  #hasRoom(rowCount: number): boolean {
    return this.#rowCount === 0 || this.#rowCount + rowCount <= this.#maxPendingRows;
  }

  #schedule(): void {
    if (this.#running) return;
    if (this.#maxDelayMs === 0 || this.#rowCount >= this.#maxRows || this.#isClosed) void this.#start();
    else this.#timer ??= setTimeout(() => void this.#start(), this.#maxDelayMs);
  }

  #start(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#running ??= this.#commitBatch().finally(() => {
      this.#running = undefined;
      while (this.#room[0] && this.#hasRoom(this.#room[0].rowCount)) this.#room.shift()!.enter();
      if (this.#waiting.length > 0) this.#schedule();
    });
    return this.#running;
  }

  async #commitBatch(): Promise<void> {
    let rowCount = 0;
    let end = 0;
    while (end < this.#waiting.length && (end === 0 || rowCount + this.#waiting[end]!.rows.length <= this.#maxRows))
      rowCount += this.#waiting[end++]!.rows.length;
    const batch = this.#waiting.splice(0, end);
    await this.#commit(batch);
    this.#rowCount -= rowCount;
  }

  async #commit(batch: readonly Append[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      const { snapshotId } = await this.#insert(batch.flatMap(({ rows }) => rows));
      for (const { rows, resolve } of batch)
        resolve({ snapshotId: rows.length > 0 ? snapshotId : undefined, rowCount: rows.length });
    } catch (error) {
      const bad = batch.length > 1 ? appendOf(batch, error) : undefined;
      if (bad === undefined) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // Alone it fails again, with its own row numbers; the rest goes without it, in order.
      await this.#commit(batch.slice(0, bad));
      await this.#commit([batch[bad]!]);
      await this.#commit(batch.slice(bad + 1));
    }
  }
}

/** Which append a row belongs to that doesn't fit the table. */
function appendOf(batch: readonly Append[], error: unknown): number | undefined {
  if (!isLakeError(error, 'INVALID_VALUE') || error.context.row === undefined) return undefined;
  let left = error.context.row;
  for (const [index, { rows }] of batch.entries()) {
    if (left < rows.length) return index;
    left -= rows.length;
  }
  return undefined;
}
