import { check, collect, equal } from '../../src/conformance/case.ts';
import { batchOn, insert } from '../../src/conformance/catalog/batches.ts';
import { isLakeError, type LakeError } from '../../src/errors.ts';
import { type CatalogStore, type Lake, type ObjectStore, openLake, type TableRef, t } from '../../src/index.ts';
import { type FaultMoment, Faults } from './faults.ts';
import { faultyCatalog } from './faulty-catalog.ts';
import { faultyStore } from './faulty-store.ts';

/** Where one lake lives. `catalog` opens a client each time. */
export interface FaultPlace {
  readonly dataPath: string;
  readonly store: ObjectStore;
  catalog(): CatalogStore;
}

/** What happened to the rows of one insert. */
type Fate = 'acknowledged' | 'refused' | 'in doubt';

interface Rows {
  readonly table: string;
  readonly ids: readonly number[];
  readonly fate: Fate;
}

const refOf = (table: string): TableRef => {
  const [schema, name] = table.split('.') as [string, string];
  return { schema, name };
};

/**
 * A day in the life of a lake, of which any one call may fail: each step notes what became of it, and the next ones go on.
 * Afterwards `verify` compares what the lake holds with what was acknowledged.
 */
export class Scenario implements AsyncDisposable {
  readonly faults: Faults;
  readonly errors: LakeError[] = [];
  readonly #place: FaultPlace;
  readonly #rows: Rows[] = [];
  #nextId = 1;
  #lake: Lake | undefined;

  constructor(place: FaultPlace, faults: Faults) {
    this.#place = place;
    this.faults = faults;
  }

  async run(): Promise<void> {
    await this.#untilDone(async () => {
      const { store, dataPath } = this.#place;
      this.#lake = await openLake({
        dataInliningRowLimit: 0,
        catalog: faultyCatalog(this.#place.catalog(), this.faults),
        store: faultyStore(store, this.faults),
        dataPath,
        retryWaitMs: 1,
      });
    });
    const lake = this.#lake!;
    await this.#untilDone(() => lake.createSchema('s', { ifNotExists: true }));
    await this.#untilDone(() => lake.createTable('a', { id: t.int64().notNull() }, { ifNotExists: true }));
    await this.#untilDone(() =>
      lake.createTable({ schema: 's', name: 'b' }, { id: t.int64().notNull() }, { ifNotExists: true }),
    );
    await this.#insert('main.a');
    await this.#insert('main.a');
    await this.#smallRowGroups();
    await this.#badInsert('main.a');
    await this.#transaction();
    await this.#once(() => lake.table('a').scan().toArray());
    await this.#once(() => collect(lake.snapshots()));
    await this.#once(() => lake.table('a').stats());
    await this.#once(() => lake.table('a').files());
    await this.#once(() => lake.tables({ asOf: { snapshot: 1 } }));
    await this.#failedTransaction();
    await this.#insert('s.b');
    await this.#untilDone(() => lake.dropTable('c', { ifExists: true }));
    await this.#insert('main.a');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lake?.close();
    for (const finish of this.faults.later) await finish();
  }

  /** Throws when the lake isn't as it has to be. */
  async verify(): Promise<void> {
    this.faults.stop();
    // The handle that met the fault goes on.
    const lake = this.#lake!;
    await lake.table('a').insert([{ id: 1_000_001 }]);
    await lake.close();
    await using fresh = await openLake({
      dataInliningRowLimit: 0,
      catalog: this.#place.catalog(),
      store: this.#place.store,
    });
    await fresh.table('a').insert([{ id: 1_000_002 }]);
    await fresh.createTable('another', { id: t.int64() });
    await this.#verifyRows(fresh);
    await this.#verifyFiles(fresh);
  }

  /** Ids that must be there, and those that may be. */
  ids(table: string): { readonly all: readonly number[]; readonly maybe: readonly (readonly number[])[] } {
    const of = (fate: Fate): Rows[] => this.#rows.filter((rows) => rows.table === table && rows.fate === fate);
    const last = table === 'main.a' ? [1_000_001, 1_000_002] : [];
    return {
      all: [...of('acknowledged').flatMap(({ ids }) => ids), ...last],
      maybe: of('in doubt').map(({ ids }) => ids),
    };
  }

  async #verifyRows(lake: Lake): Promise<void> {
    const live = new Set((await lake.tables()).map(({ schema, name }) => `${schema}.${name}`));
    for (const table of ['main.a', 's.b']) {
      check(live.has(table), `table ${table} is gone`);
      const rows = (await lake.table(refOf(table)).scan().toArray()) as { id: bigint }[];
      const found = rows.map(({ id }) => Number(id)).sort((x, y) => x - y);
      const { all, maybe } = this.ids(table);
      const here = maybe.filter((ids) => ids.some((id) => found.includes(id))).flat();
      equal(
        found,
        [...all, ...here].sort((x, y) => x - y),
        `the rows of ${table}`,
      );
      const { rowCount } = await lake.table(refOf(table)).stats();
      equal(rowCount, found.length, `the row count that the statistics of ${table} tell`);
    }
    const starts = (await lake.table('a').files()).map(({ rowIdStart, rowCount }) => [rowIdStart!, rowCount] as const);
    let next = 0;
    for (const [start, count] of starts.sort(([x], [y]) => x - y)) {
      equal(start, next, 'the first row id of a file');
      next = start + count;
    }
    const snapshots = await collect(lake.snapshots());
    equal(
      snapshots.map(({ id }) => id),
      snapshots.map((_, k) => k),
      'the snapshots',
    );
  }

  async #verifyFiles(lake: Lake): Promise<void> {
    const { store, dataPath } = this.#place;
    const known = new Map<string, number>();
    const live = new Set<string>();
    for (const { schema, name } of await lake.tables()) {
      live.add(`${schema}.${name}`);
      for (const { location, byteLength } of await lake.table({ schema, name }).files())
        known.set(location, byteLength);
    }
    for await (const { id } of lake.snapshots()) {
      const asOf = { snapshot: id };
      // Older snapshots still read the files of tables that are gone.
      for (const { schema, name } of await lake.tables({ asOf }))
        if (!live.has(`${schema}.${name}`)) await lake.table({ schema, name }).scan({ asOf }).toArray();
    }
    const listed = new Map((await collect(store.list(dataPath))).map((object) => [object.location, object.byteLength]));
    for (const [location, byteLength] of known)
      equal(listed.get(location), byteLength, `the size of ${location}, which the catalog knows`);
    const orphans = [...listed.keys()].filter((location) => !known.has(location));
    const dropped = this.#rows.filter(({ table, fate }) => table === 'main.c' && fate === 'acknowledged').length;
    if (!this.#mayLeaveOrphans())
      check(orphans.length <= dropped, `orphans are left: ${orphans.slice(dropped).join(', ')}`);
  }

  /** Only a store that fails to clean up, or an outcome that can't be told, excuses a file that nobody knows. */
  #mayLeaveOrphans(): boolean {
    const { failed } = this.faults;
    return (
      this.errors.some(({ code }) => code === 'COMMIT_UNKNOWN') ||
      failed.some(
        ({ name, moment }) =>
          name === 'store.delete' || name === 'writer.abort' || (name === 'writer.close' && moment !== 'before'),
      )
    );
  }

  #newIds(count: number): number[] {
    return Array.from({ length: count }, () => this.#nextId++);
  }

  async #insert(table: string): Promise<void> {
    const ids = this.#newIds(3);
    const fate = await this.#fateOf(() => this.#lake!.table(refOf(table)).insert(ids.map((id) => ({ id }))));
    this.#rows.push({ table, ids, fate });
  }

  /** So that a bad row comes after bytes were written. */
  async #smallRowGroups(): Promise<void> {
    await using catalog = this.#place.catalog();
    const { snapshot } = await catalog.readHead();
    const setting = { key: 'parquet_row_group_size', value: '1000' };
    await catalog.commit(batchOn(snapshot, { changesSchema: true, ops: [insert('ducklake_metadata', setting)] }));
    await this.#untilDone(() => this.#lake!.tables());
  }

  /** The last row of an insert is bad: what was written has to go. The numbers before it are too wild to compress. */
  async #badInsert(table: string): Promise<void> {
    const wild = (k: number): bigint => BigInt.asIntN(64, BigInt(k) * 0x9e3779b97f4a7c15n);
    const rows = Array.from({ length: 20_000 }, (_, k) => ({ id: k === 19_999 ? 'bad' : wild(k) }));
    try {
      await this.#lake!.table(refOf(table)).insert(rows);
      check(false, 'a bad row was inserted');
    } catch (error) {
      if (!isLakeError(error, 'INVALID_VALUE')) this.#note(error);
    }
  }

  async #transaction(): Promise<void> {
    const parts = ['main.a', 's.b', 'main.c'].map((table) => ({ table, ids: this.#newIds(2) }));
    const fate = await this.#fateOf(() =>
      this.#lake!.transaction(async (tx) => {
        await tx.createTable('c', { id: t.int64() });
        for (const { table, ids } of parts) await tx.table(refOf(table)).insert(ids.map((id) => ({ id })));
      }),
    );
    for (const part of parts) this.#rows.push({ ...part, fate });
  }

  async #failedTransaction(): Promise<void> {
    const reason = new Error('on purpose');
    const attempt = this.#lake!.transaction(async (tx) => {
      await tx.table('a').insert([{ id: -1 }]);
      await tx.table({ schema: 's', name: 'b' }).insert([{ id: -1 }]);
      throw reason;
    });
    await attempt.then(
      () => check(false, 'a transaction that throws was committed'),
      (error) => {
        if (error !== reason) this.#note(error);
      },
    );
  }

  async #fateOf(attempt: () => Promise<unknown>): Promise<Fate> {
    const error = await this.#once(attempt);
    if (error === undefined) return 'acknowledged';
    return error.code === 'COMMIT_UNKNOWN' ? 'in doubt' : 'refused';
  }

  async #once(attempt: () => Promise<unknown>): Promise<LakeError | undefined> {
    try {
      await attempt();
      return undefined;
    } catch (error) {
      return this.#note(error);
    }
  }

  /** What failed works when it is done again, unless another fault comes. */
  async #untilDone(attempt: () => Promise<unknown>): Promise<void> {
    for (let attempts = 0; await this.#once(attempt); attempts++) check(attempts < 20, 'the same step fails for ever');
  }

  #note(error: unknown): LakeError {
    if (!isLakeError(error)) throw error;
    check(
      ['CATALOG_UNAVAILABLE', 'STORE_UNAVAILABLE', 'COMMIT_UNKNOWN'].includes(error.code),
      `a fault surfaced as ${error.code}: ${error.message}`,
    );
    this.errors.push(error);
    return error;
  }
}

/** Calls that can fail half-way. */
const halves: ReadonlySet<string> = new Set(['catalog.readSnapshots', 'store.delete', 'store.list', 'writer.write']);

/** A call that fails. The how manieth of its name it is, not of all: what goes on at once begins in no certain order. */
export interface Fault {
  readonly name: string;
  /** From 1. */
  readonly nth: number;
  readonly moment: FaultMoment;
}

/** Every single fault of the scenario. */
export async function everyFault(place: FaultPlace): Promise<Fault[]> {
  await using scenario = new Scenario(place, new Faults());
  await scenario.run();
  const calls = [...scenario.faults.calls];
  equal(scenario.errors, [], 'the errors without a fault');
  await scenario.verify();
  return calls.flatMap((name, index) =>
    (['before', 'during', 'after'] as const)
      .filter((moment) => moment !== 'during' || halves.has(name))
      .map((moment) => ({ name, nth: calls.slice(0, index + 1).filter((call) => call === name).length, moment })),
  );
}
