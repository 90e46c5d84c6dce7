import { checkBatch } from '../../src/catalog/sql/batch.ts';
import { decodeRows, snapshotOf } from '../../src/catalog/sql/decode.ts';
import { MissingTables, type SqlDialect } from '../../src/catalog/sql/dialect.ts';
import { SqlCatalog } from '../../src/catalog/sql/reader.ts';
import type { CommitBatch, CommitOutcome, LakeInit } from '../../src/catalog/store.ts';
import { LakeError } from '../../src/errors.ts';
import type { InliningLimits } from '../../src/spec/inlining.ts';
import { pause } from '../../src/util/pause.ts';
import type { PostgresClient } from './client.ts';
import { postgresDialect } from './dialect.ts';
import { catalogError, isDuplicate, isEnded, isLostRace, isUnsure } from './errors.ts';
import type { EncodedInlined } from './inlined.ts';
import { literal } from './literal.ts';
import type { PostgresCatalogOptions } from './options.ts';
import { type EncodedBatch, encodeBatch } from './payload.ts';
import type { Part, PreparedStatements } from './prepared.ts';
import type { Room } from './room.ts';
import { commitStatement } from './statement.ts';

/** How often a commit that only lost races is sent again before the caller is asked to plan it again. */
const MAX_RACES = 20;
/** How many commits come before those with prepared statements: a function that commits once has no use for them. */
const UNPREPARED = 1;

/** Of the names and number of columns. */
const limits: InliningLimits = {
  maxNameByteLength: 63,
  maxColumnCount: 1597,
  reservedNames: ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'],
};

/** How many times `roomMs` others are given to come to an end: DuckDB takes 13 round trips. */
const ROOM = 4;

/** A batch with what makes the tables of inlined rows that it needs. */
type Message = EncodedBatch & { readonly after: string | undefined; readonly room: Room | undefined };

/** See `postgresCatalog`. */
export class PostgresCatalog extends SqlCatalog {
  readonly name: string;
  readonly inlining: InliningLimits = limits;
  readonly makesRoom = true;
  readonly #client: PostgresClient;
  readonly #schema: string;
  readonly #dialect: SqlDialect;
  readonly #endsClient: boolean;
  /** How many commits are still to come before statements are prepared. */
  #unprepared: number;
  /**
   * Takes its place in the lake's queue until the transaction, which is the message, ends: several writers don't waste each other's work
   * then, and get their turns in order. A lock taken inside the statement would come too late: the statement sees what was committed when
   * it starts. It is a queue only, which DuckDB doesn't know of; the fence keeps writers apart.
   */
  readonly #queue: string;
  #room: Room | undefined;
  /** When the last commit ended. */
  #lastCommit = Number.NEGATIVE_INFINITY;
  #prepared: PreparedStatements | undefined;

  constructor({ sql, schema = 'public', end = false, prepare }: PostgresCatalogOptions) {
    const dialect = postgresDialect(schema);
    super({ query: (text, parameters) => query(sql, text, parameters) }, dialect);
    this.name = `postgres:${schema}`;
    this.#client = sql;
    this.#schema = schema;
    this.#dialect = dialect;
    this.#endsClient = end;
    this.#queue = `SELECT pg_advisory_xact_lock(hashtextextended(${literal(`edgemere commit ${schema}`)}, 0))`;
    const prepares = prepare ?? sql.options?.prepare ?? false;
    this.#unprepared = prepare ? 0 : prepares ? UNPREPARED : Number.POSITIVE_INFINITY;
  }

  async initialize(init: LakeInit): Promise<boolean> {
    this.checkOpen();
    const { initializeMessage } = await import('./initialize.ts');
    const message = initializeMessage(this.#dialect, this.#schema, init);
    for (let attempt = 0; ; attempt++) {
      try {
        const [, answer] = (await this.#client.unsafe(message).values()) as unknown[][][];
        return answer?.[0]?.[0] === 'true';
      } catch (error) {
        // DuckDB doesn't wait for our lock: the second time its lake is there.
        if (attempt === 2 || !isDuplicate(error)) throw catalogError(error);
      }
    }
  }

  async commit(batch: CommitBatch, roomMs = 0): Promise<CommitOutcome> {
    this.checkOpen();
    checkBatch(batch);
    try {
      return await this.#commit(batch, await this.#roomFor(roomMs), performance.now() + ROOM * roomMs);
    } finally {
      this.#lastCommit = performance.now();
    }
  }

  /** One more of several commits in a row. Loaded with the second: the first does without. */
  async #roomFor(roomMs: number): Promise<Room | undefined> {
    if (performance.now() - this.#lastCommit >= roomMs) return undefined;
    if (this.#room === undefined) {
      const { Room } = await import('./room.ts');
      this.#room ??= new Room(this.#dialect, ROOM * roomMs, Number.isFinite(this.#unprepared));
    }
    return this.#room;
  }

  async #commit(batch: CommitBatch, room: Room | undefined, yieldsUntil: number): Promise<CommitOutcome> {
    const inlined = await this.#inlined(batch);
    const encoded = { ...encodeBatch(batch, inlined), after: inlined?.after };
    for (let attempt = 0; attempt < MAX_RACES; ) {
      const result = await this.#attempt(batch, {
        ...encoded,
        room: performance.now() < yieldsUntil ? room : undefined,
      });
      if (result === 'yielded') continue;
      if (result !== 'raced') {
        // What may be left undone: a failure is no failure of the commit.
        if (result.status === 'committed')
          for (const text of inlined?.afterwards ?? [])
            await Promise.resolve(this.#client.unsafe(text)).catch(() => {});
        return result;
      }
      attempt++;
      // On top of the new head the same batch may be just as right.
      if (batch.fence.kind === 'exact') break;
    }
    return { status: 'superseded' };
  }

  /** Loaded when it is needed: who writes large batches only does without. */
  async #inlined(batch: CommitBatch): Promise<EncodedInlined | undefined> {
    if (!batch.ops.some(({ kind }) => kind.endsWith('Inlined'))) return undefined;
    const { encodeInlined } = await import('./inlined.ts');
    return encodeInlined(this.#dialect, batch);
  }

  protected async close(): Promise<void> {
    if (this.#endsClient) await this.#client.end();
  }

  async #attempt(batch: CommitBatch, encoded: Message, isSecond = false): Promise<CommitOutcome | 'raced' | 'yielded'> {
    try {
      const rows = await this.#send(encoded);
      const [row] = rows;
      if (row === undefined) return { status: 'superseded' };
      if (row[0] === null) return 'raced';
      if (row[0] === '') return 'yielded';
      if (String(row[0]).startsWith('["')) {
        const { usedKeyOf } = await keyModule();
        return { status: 'used', keys: rows.map(([json]) => usedKeyOf(String(json))) };
      }
      const [snapshot] = decodeRows('ducklake_snapshot', [String(row[0])]);
      return { status: 'committed', snapshot: snapshotOf(snapshot!) };
    } catch (error) {
      if (isLostRace(error)) return 'raced';
      if (isUnsure(error)) return this.#settle(batch, error);
      const failed = catalogError(error);
      if (!(failed instanceof MissingTables)) throw failed;
      if (encoded.shape.hasKeys && !isSecond && (await (await keyModule()).makeKeyTable(this.#client, this.#dialect)))
        return this.#attempt(batch, encoded, true);
      // Somebody flushed a table of inlined rows and dropped it: it had a successor.
      if (encoded.shape.inlined.length > 0) return { status: 'superseded' };
      throw await this.missingLake(error);
    }
  }

  async #send({ shape, payload, after, room }: Message): Promise<unknown[][]> {
    const isNeeded = room?.isNeeded === true;
    const looks = isNeeded || room?.isLookDue === true;
    const keys = shape.hasKeys ? (await keyModule()).keyParts(this.#dialect) : undefined;
    const yieldsTo = isNeeded ? room.somebody : undefined;
    const parts: Part[] = [{ text: () => this.#queue }];
    if (looks) parts.push({ key: 'look', text: () => room!.look });
    const before = parts.length;
    if (isNeeded) parts.push({ text: () => room.wait });
    parts.push({
      key: JSON.stringify([shape, isNeeded]),
      text: (input) => commitStatement(this.#dialect, shape, input, { keys, yieldsTo }),
      value: literal(payload),
    });
    if (after !== undefined) parts.push({ text: () => after });
    const isPrepared = this.#unprepared === 0 && after === undefined;
    if (this.#unprepared > 0) this.#unprepared--;
    // Of the statements that have rows: what waits, and what comes after, has none.
    const results = await (isPrepared ? this.#sendPrepared(parts) : this.#sendPlain(parts));
    if (looks) room?.saw(results[before - 1]?.[0]?.[0] === 'true');
    return results[before]!;
  }

  async #sendPrepared(parts: readonly Part[]): Promise<unknown[][][]> {
    this.#prepared ??= new (await import('./prepared.ts')).PreparedStatements(this.#client);
    return this.#prepared.send(parts);
  }

  async #sendPlain(parts: readonly Part[]): Promise<unknown[][][]> {
    const texts = parts.map(({ text, value = '' }) => text(value));
    return (await this.#client.unsafe(texts.join(';\n')).values()) as unknown[][][];
  }

  /** Of a commit whose answer was lost. */
  async #settle(batch: CommitBatch, cause: unknown): Promise<CommitOutcome> {
    for (const waitMs of [0, 100]) {
      await pause(waitMs);
      try {
        const snapshot = await this.findCommit(batch);
        if (snapshot !== undefined) return { status: 'committed', snapshot };
      } catch {
        continue;
      }
      // Otherwise not finding it proves nothing: the server may still be at work on it.
      if (isEnded(cause)) throw catalogError(cause);
    }
    throw new LakeError(
      'COMMIT_UNKNOWN',
      'the connection broke after the commit was sent, and the catalog does not show it (yet): look for its rows before sending them again',
      { cause },
    );
  }
}

/** Loaded with the first key: most commits do without. */
const keyModule = (): Promise<typeof import('./keys.ts')> => import('./keys.ts');

async function query(client: PostgresClient, text: string, parameters?: readonly string[]): Promise<string[][]> {
  try {
    const pending = parameters === undefined ? client.unsafe(text) : client.unsafe(text, [...parameters]);
    // After a query that failed when it had sent rows, the client leaves as many places of the connection's next result empty.
    return ((await pending.values()) as string[][]).filter(() => true);
  } catch (error) {
    throw catalogError(error);
  }
}
