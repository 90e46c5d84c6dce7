import type { Session } from '../session.ts';
import type { FlushOptions, FlushResult } from './flush.ts';

/** Work on a lake's files and catalog that changes no row. Made by `lake.maintenance`. */
export class Maintenance {
  readonly #session: Session;

  /** @internal */
  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Writes rows that are kept in the catalog into files, those of every table or of some, as one snapshot: as DuckDB's
   * `ducklake_flush_inlined_data`. Older snapshots show what they showed, and rows keep their ids. Deletes that are kept in the
   * catalog become delete files. Tables whose option `auto_compact` is false are left out, unless `table` names them.
   *
   * Of a table that was altered while it had inlined rows, catalog tables are dropped, as by DuckDB: a DuckDB session that is attached
   * meanwhile fails to read that table until it is attached anew.
   *
   * Errors: INVALID_ARGUMENT, NOT_FOUND for the table or schema, RETRIES_EXHAUSTED when others deleted from the tables again and again meanwhile,
   * INVALID_VALUE for what DuckDB inlined and Parquet can't hold: negative intervals.
   *
   * @example
   * ```ts
   * import { t } from 'edgemere';
   * import { memoryLake } from 'edgemere/memory';
   *
   * await using lake = await memoryLake();
   * const events = await lake.createTable('events', { id: t.int64() });
   * for (let id = 0; id < 20; id++) await events.insert([{ id }]);
   * const { tables } = await lake.maintenance.flushInlined();
   * console.log(tables[0].rowCount, (await events.files()).length); // 20 1
   * ```
   */
  async flushInlined(options: FlushOptions = {}): Promise<FlushResult> {
    this.#session.assertOpen();
    // Loaded when it is needed: bundlers put it apart.
    const { flushInlined } = await import('./flush.ts');
    return flushInlined(this.#session, options);
  }
}
