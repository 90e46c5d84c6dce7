import type { AsOf } from '../catalog/store.ts';
import type { CatalogView, TableInfo } from '../catalog/view.ts';
import type { Session } from '../session.ts';
import { Rows } from './output.ts';
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
  /** @internal */
  constructor(session: Session, find: (view: CatalogView) => TableInfo, options: AnyOptions) {
    super(async (signal) => {
      const { planScan } = await import('./plan.ts');
      const { read, parts } = await planScan({ ...options, signal, session, find });
      return { read, parts, from: { store: session.store, format: session.format, signal } };
    }, options.signal);
  }
}
