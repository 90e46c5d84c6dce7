import type { AsOf } from '../catalog/store.ts';
import type { CatalogView, TableInfo } from '../catalog/view.ts';
import { checkOptions } from '../errors.ts';
import type { ReadSession } from '../session.ts';
import type { ScanExplanation } from './explanation.ts';
import { Rows } from './output.ts';
import type { PlanRequest } from './plan.ts';
import type { PlanOptions, ScanPlan } from './tasks.ts';
import type { Where } from './where/where.ts';

export interface ScanOptions<Name extends string = string, Row = Record<string, unknown>> {
  /** Which columns, in the order in which batches hold them. All by default, but for the {@link VirtualColumns}. */
  readonly columns?: readonly Name[] | undefined;
  /** Which rows; all by default. See {@link Where}. */
  readonly where?: Where<Row> | undefined;
  /** The most rows that are wanted, of those that `where` keeps. */
  readonly limit?: number | undefined;
  /** The version to read: a snapshot's id or a time. The head by default. */
  readonly asOf?: AsOf | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Filters are looked at when the scan runs, whatever their type was. */
type AnyOptions = Omit<ScanOptions, 'where'> & { readonly where?: unknown };

/** A read of one table that runs when it is iterated, each time anew. */
export class Scan<Row> extends Rows<Row> {
  readonly #request: PlanRequest;

  /** @internal */
  constructor(session: ReadSession, find: (view: CatalogView) => TableInfo, options: AnyOptions) {
    checkOptions(options);
    const request = { ...options, session, find };
    super(async (signal) => {
      // Whoever only appends doesn't load this: bundlers put it apart.
      const { planScan } = await import('./plan.ts');
      const { read, parts } = await planScan({ ...request, signal });
      return { read, parts, from: { store: session.store, format: session.format, signal } };
    }, options.signal);
    this.#request = request;
  }

  /**
   * What the scan reads, as a JSON value: tasks for a job queue or for other machines, each of which `readTask` runs without the
   * catalog. Nothing but the catalog is read.
   */
  async plan(options: PlanOptions = {}): Promise<ScanPlan> {
    return (await import('./tasks.ts')).planTasks(this.#request, options);
  }

  /**
   * What the scan reads and what it leaves out, and why. Reads the catalog's statistics of all of the table's files, and the footers
   * of those that the filter doesn't rule out.
   *
   * @example
   * ```ts
   * import { t } from 'edgemere';
   * import { memoryLake } from 'edgemere/memory';
   *
   * await using lake = await memoryLake({ dataInliningRowLimit: 0 });
   * const events = await lake.createTable('events', { id: t.int64() });
   * for (const id of [1, 2, 3]) await events.insert([{ id }]);
   * const explanation = await events.scan({ where: { id: { gte: 3 } } }).explain();
   * console.log(explanation.files.length, explanation.requestCount); // 1 1
   * console.log(explanation.pruned[0]?.filter, explanation.pruned[0]?.fileCount); // "id" >= 3 2
   * console.log(String(explanation).split('\n')[0]); // main.events at snapshot 4
   * ```
   */
  async explain(): Promise<ScanExplanation> {
    return (await import('./explain.ts')).explainScan(this.#request);
  }
}
