import type { SqlDialect } from '../../src/catalog/sql/dialect.ts';
import { literal } from './literal.ts';

/**
 * How often it is looked for others, in milliseconds. A look costs the server 0.1 ms where it is prepared: as often as the few milliseconds
 * come that a transaction of DuckDB's next to the server takes. Elsewhere it costs a millisecond or two.
 */
const LOOK_MS = { prepared: 5, plain: 100 };
/**
 * How long nobody comes before a commit goes on, in milliseconds. Who begins when the commit has looked for the last time loses: commits one
 * after another that took no such break would be in that state nearly always, and who commits in a loop begins right after its last.
 */
const QUIET_MS = 3;
/** For how long one that was seen is reckoned with: DuckDB waits up to four seconds before it tries again. */
const MEMORY_MS = 5000;

/**
 * Room for those who need several round trips from reading the head to their snapshot, as DuckDB does: our commits one after another
 * would never let them in. Others are seen by what they do: a transaction that read the head and is between two statements, or in
 * a later one than its first. Our own commits are one message each.
 */
export class Room {
  readonly #dialect: SqlDialect;
  readonly #ms: number;
  readonly #lookMs: number;
  #nextLook = 0;
  #until = 0;

  /** @param ms how long a commit holds back at most. */
  constructor(dialect: SqlDialect, ms: number, isPrepared: boolean) {
    this.#dialect = dialect;
    this.#ms = ms;
    this.#lookMs = isPrepared ? LOOK_MS.prepared : LOOK_MS.plain;
  }

  /** Whether somebody was seen not long ago. */
  get isNeeded(): boolean {
    return performance.now() < this.#until;
  }

  get isLookDue(): boolean {
    return performance.now() >= this.#nextLook;
  }

  saw(isSomebody: boolean): void {
    this.#nextLook = performance.now() + this.#lookMs;
    if (isSomebody) this.#until = performance.now() + MEMORY_MS;
  }

  /** A query with one row of one text, whether somebody is in the middle of something. */
  get look(): string {
    return `SELECT (${this.somebody})::text`;
  }

  /** Waits until nobody is. What others do is seen once in a transaction unless it is asked to look again. */
  get wait(): string {
    return `DO $room$ BEGIN
FOR n IN 1..${Math.ceil(this.#ms / 2)} LOOP EXIT WHEN NOT ${this.somebody}; PERFORM pg_sleep(0.002), pg_stat_clear_snapshot(); END LOOP;
PERFORM pg_sleep(${QUIET_MS / 1000}), pg_stat_clear_snapshot(); END $room$`;
  }

  /**
   * Of a transaction of another role often no more is to be seen than its locks. Who takes longer than the room, and who began in one of
   * three such spans, is not waited for: those who never rest must not shut us out in their turn.
   */
  get somebody(): string {
    const [snapshots, stats] = ['ducklake_snapshot', 'ducklake_table_stats'].map((name) =>
      literal(this.#dialect.table(name)),
    );
    const begin = 'coalesce(a.xact_start, clock_timestamp())';
    return `EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.relation IN (${snapshots}::regclass, ${stats}::regclass) AND l.pid <> pg_backend_pid()
    AND (a.state IS NULL OR a.state = 'idle in transaction' OR a.query_start > a.xact_start + interval '2 milliseconds')
    AND ${begin} > clock_timestamp() - ${this.#ms} * interval '1 millisecond' AND floor(extract(epoch FROM ${begin}) * 1000 / ${this.#ms})::bigint % 3 <> 0)`;
  }
}
