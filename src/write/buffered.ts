import { type CommitMessage, messageOptions } from '../catalog/pending.ts';
import { checkOptions, isLakeError, LakeError, type OptionKinds, showValue } from '../errors.ts';
import type { Batches, BatchTarget } from './batch.ts';

export interface WriterOptions {
  /** Rows that make a batch full: it is committed at once. Defaults to 10,000. */
  readonly maxRows?: number | undefined;
  /** Bytes that make a batch full, as far as they can be told from the values. No limit by default. */
  readonly maxBytes?: number | undefined;
  /**
   * How long the first rows of a batch wait for more at most, in milliseconds. Defaults to 10. A batch goes at once when as many appends
   * wait as were lately under way together: callers that await theirs are all there then.
   */
  readonly maxDelayMs?: number | undefined;
  /** Rows that may wait; `append` takes no more until some are committed. Defaults to four times `maxRows`. */
  readonly maxPendingRows?: number | undefined;
  /** The same for bytes. Defaults to four times `maxBytes`. */
  readonly maxPendingBytes?: number | undefined;
  /**
   * Names each batch for good, as the option of `table.insert` does: for who replays a log in the same batches. A text is followed by
   * a colon and the batch's number. For appends of many sources give each `append` a key of its own instead.
   */
  readonly idempotencyKey?: string | ((batch: WriterBatch) => string | undefined) | undefined;
  /**
   * What a row that doesn't fit the table does. `reject`: its append is rejected as a whole. `skip`: it is left out, and the append's
   * result names it. Other appends are committed in any case.
   */
  readonly badRows?: 'reject' | 'skip' | undefined;
  /** Is told of each batch that could not be committed, with its rows. Their appends are rejected too. */
  readonly onBatchError?: ((error: unknown, batch: WriterBatch) => void) | undefined;
  /** Is handed each append's promise, so that an edge runtime stays until it is settled, and reports its failure where nobody else does. */
  readonly waitUntil?: ((promise: Promise<unknown>) => void) | undefined;
}

export const writerOptions: OptionKinds<WriterOptions & CommitMessage> = {
  ...messageOptions,
  maxRows: 'any',
  maxBytes: 'any',
  maxDelayMs: 'any',
  maxPendingRows: 'any',
  maxPendingBytes: 'any',
  idempotencyKey: 'any',
  badRows: 'any',
  onBatchError: 'function',
  waitUntil: 'function',
};

/** Rows that are committed together. */
export interface WriterBatch {
  /** Its number among those of this writer, from 0. */
  readonly index: number;
  readonly rows: readonly unknown[];
}

export interface AppendOptions {
  /** As the option of `table.insert`, for these rows: a repeat resolves as the first did, also in another process. */
  readonly idempotencyKey?: string | undefined;
}

const appendOptions: OptionKinds<AppendOptions> = { idempotencyKey: 'any' };

/** Where an append's rows are. */
export interface AppendResult {
  readonly snapshotId: number | undefined;
  /** Rows committed. */
  readonly rowCount: number;
  /** With `badRows: 'skip'`: the rows that were left out, if any. */
  readonly badRows?: readonly BadRow[] | undefined;
  /** The rows were committed by an earlier call with the same key. */
  readonly isRepeat?: true | undefined;
}

/** A row that doesn't fit its table. */
export interface BadRow {
  /** Its index in the append. */
  readonly row: number;
  readonly error: LakeError;
}

/** One caller's rows on their way. */
export interface Append {
  rows: readonly unknown[];
  readonly byteLength: number;
  readonly key: string | undefined;
  bad: readonly BadRow[];
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects the rows of many `append` calls into few commits. Rows are committed in the order of the calls. Rows that don't
 * fit the table reject their own `append` alone, with the number that they have in it. Writers of several tables of one lake that
 * commit at the same time share snapshots. Made by `table.writer`.
 *
 * What a batch failed with rejects all its appends; `context.batch` of the error says which batch it was, how many appends and rows
 * it had, and where the append's own rows begin in it.
 */
export class BufferedWriter<In = object> implements AsyncDisposable {
  readonly #target: BatchTarget;
  readonly #options: WriterOptions;
  readonly #maxRows: number;
  readonly #maxBytes: number;
  readonly #maxDelayMs: number;
  readonly #maxPendingRows: number;
  readonly #maxPendingBytes: number;
  /** There from the first batch on. */
  #batches: Batches | undefined;
  readonly #waiting: Append[] = [];
  /** Rows that wait, and their bytes. */
  #rowCount = 0;
  #byteLength = 0;
  /** Those and what is being committed. */
  #pendingRowCount = 0;
  #pendingByteLength = 0;
  #room: { readonly append: Append; readonly enter: () => void }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Batches under way: full ones are made while others are committed, four at most. */
  readonly #running = new Set<Promise<void>>();
  #isTaking = false;
  #isClosed = false;

  /** @internal */
  constructor(target: BatchTarget, options: WriterOptions = {}) {
    const { maxRows = 10_000, maxBytes = Number.POSITIVE_INFINITY, maxDelayMs = 10, badRows = 'reject' } = options;
    const { maxPendingRows = 4 * maxRows, maxPendingBytes = 4 * maxBytes } = options;
    for (const [name, value] of Object.entries({ maxRows, maxBytes, maxDelayMs, maxPendingRows, maxPendingBytes })) {
      const isFit = value >= (name === 'maxDelayMs' ? 0 : 1) && (Number.isFinite(value) || name.endsWith('Bytes'));
      if (!isFit) throw bad(name, value);
    }
    if (badRows !== 'reject' && badRows !== 'skip') throw bad('badRows', badRows);
    this.#target = target;
    this.#options = options;
    this.#maxRows = maxRows;
    this.#maxBytes = maxBytes;
    this.#maxDelayMs = maxDelayMs;
    this.#maxPendingRows = maxPendingRows;
    this.#maxPendingBytes = maxPendingBytes;
  }

  /**
   * Adds rows; resolves when they are committed. The array must not be changed before. Errors: as `table.insert`, for these
   * rows; CONFLICT and the like for all rows of the batch; CLOSED after `close`.
   */
  append(rows: readonly In[], options: AppendOptions = {}): Promise<AppendResult> {
    if (this.#isClosed) return Promise.reject(new LakeError('CLOSED', 'the writer was closed'));
    if (!Array.isArray(rows))
      return Promise.reject(
        new LakeError('INVALID_ARGUMENT', `append takes an array of row objects; got ${showValue(rows)}`, {
          context: { value: showValue(rows) },
        }),
      );
    const { promise, resolve, reject } = Promise.withResolvers<AppendResult>();
    let byteLength = 0;
    try {
      checkOptions(options, appendOptions);
      if (this.#maxBytes !== Number.POSITIVE_INFINITY) byteLength = byteLengthOf(rows);
    } catch (error) {
      // A value that can't be walked through is told of when it is written.
      if (isLakeError(error)) return Promise.reject(error);
    }
    const append: Append = { rows, byteLength, key: options.idempotencyKey, bad: [], resolve, reject };
    const enter = (): void => {
      this.#rowCount += rows.length;
      this.#byteLength += byteLength;
      this.#pendingRowCount += rows.length;
      this.#pendingByteLength += byteLength;
      this.#waiting.push(append);
    };
    if (this.#room.length === 0 && this.#hasRoom(append)) enter();
    else this.#room.push({ append, enter });
    this.#schedule();
    // Not a copy whose rejection is handled: of an append that nobody awaits the runtime would report nothing then.
    this.#options.waitUntil?.(promise);
    return promise;
  }

  /**
   * Commits what was appended so far without waiting for more; resolves when all of it is settled. Never rejects: each `append` tells of
   * its own rows. The rejection of an append that nobody awaits is unhandled, which runtimes report, or stop for.
   */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#running.size > 0)
      await (this.#running.size > 0 ? Promise.race(this.#running) : this.#start());
  }

  /** Flushes, and takes no more. Like `flush` it resolves where batches failed: their appends were rejected, and `onBatchError` told. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** One append larger than all room goes alone. */
  #hasRoom({ rows, byteLength }: Append): boolean {
    return (
      this.#pendingRowCount === 0 ||
      (this.#pendingRowCount + rows.length <= this.#maxPendingRows &&
        this.#pendingByteLength + byteLength <= this.#maxPendingBytes)
    );
  }

  #schedule(): void {
    const isFull = this.#rowCount >= this.#maxRows || this.#byteLength >= this.#maxBytes;
    if (this.#waiting.length === 0 || this.#isTaking || this.#running.size > (isFull ? 3 : 0)) return;
    const isAll = this.#waiting.length >= (this.#batches?.knownCallers() ?? Number.POSITIVE_INFINITY);
    if (this.#maxDelayMs === 0 || isFull || isAll || this.#room.length > 0 || this.#isClosed) void this.#start();
    else this.#timer ??= setTimeout(() => void this.#start(), this.#maxDelayMs);
  }

  #start(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#commitBatch().finally(() => {
      this.#running.delete(batch);
      while (this.#room[0] && this.#hasRoom(this.#room[0].append)) this.#room.shift()!.enter();
      this.#schedule();
    });
    this.#running.add(batch);
    return batch;
  }

  async #commitBatch(): Promise<void> {
    this.#isTaking = true;
    // Whoever doesn't use a writer doesn't load it: bundlers put it apart. Appends of the same moment come in meanwhile.
    const { Batches } = await import('./batch.ts').finally(() => {
      this.#isTaking = false;
    });
    this.#batches ??= new Batches(this.#target, this.#options);
    const { rowCount, byteLength, done } = this.#batches.commit(this.#waiting, this.#maxRows, this.#maxBytes);
    this.#rowCount -= rowCount;
    this.#byteLength -= byteLength;
    this.#schedule();
    await done;
    this.#pendingRowCount -= rowCount;
    this.#pendingByteLength -= byteLength;
  }
}

const bad = (name: string, value: unknown): LakeError =>
  new LakeError('INVALID_ARGUMENT', `the writer's ${name} is ${showValue(value)}`, {
    context: { value: showValue(value) },
  });

/** Roughly what a value takes. */
function byteLengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || value instanceof Date) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  const parts = value instanceof Map ? [...value].flat() : Object.values(value);
  return parts.reduce((sum: number, part) => sum + byteLengthOf(part), 0);
}
