import type { AsOf } from '../catalog/store.ts';
import type { CatalogView, TableInfo } from '../catalog/view.ts';
import type { ReadSession } from '../session.ts';
import { Rows } from './output.ts';
import type { PlannedScan } from './plan.ts';
import type { PlanOptions, ScanPlan } from './tasks.ts';
import type { Where } from './where/where.ts';

export interface ScanOptions<Name extends string = string, Row = Record<string, unknown>> {
  /** Which columns, in the order in which batches hold them. All by default. */
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
  readonly #planned: (signal: AbortSignal | undefined) => Promise<PlannedScan>;
  readonly #signal: AbortSignal | undefined;

  /** @internal */
  constructor(session: ReadSession, find: (view: CatalogView) => TableInfo, options: AnyOptions) {
    // Whoever only appends doesn't load this: bundlers put it apart.
    const planned = async (signal: AbortSignal | undefined): Promise<PlannedScan> =>
      (await import('./plan.ts')).planScan({ ...options, signal, session, find });
    super(async (signal) => {
      const { read, parts } = await planned(signal);
      return { read, parts, from: { store: session.store, format: session.format, signal } };
    }, options.signal);
    this.#planned = planned;
    this.#signal = options.signal;
  }

  /**
   * What the scan reads, as a JSON value: tasks for a job queue or for other machines, each of which `readTask` runs without the
   * catalog. Nothing but the catalog is read.
   */
  async plan(options: PlanOptions = {}): Promise<ScanPlan> {
    const { planOf } = await import('./tasks.ts');
    return planOf(await this.#planned(this.#signal), options);
  }
}
