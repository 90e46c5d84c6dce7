import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { conflictRules, firstConflict, type OwnChange } from '../../src/catalog/conflicts.ts';
import { type Lake, type Transaction, t } from '../../src/index.ts';
import { type Change, parseChanges } from '../../src/spec/changes.ts';
import {
  attachTwice,
  changeSql,
  type MadeKind,
  madeKinds,
  ownChange,
  type Playground,
  playground,
} from '../support/duck-changes.ts';
import { type CatalogKind, type TestLake, testLake } from '../support/lakes.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

setDefaultTimeout(900_000);

// Real changes by both, one transaction open while the other commits. `conflict-matrix.test.ts` asks about every pair, but with
// changes that nobody made.

/** What a lake and a transaction both can. */
type Calls = Pick<Lake, 'createSchema' | 'dropSchema' | 'dropTable'> &
  Pick<Transaction, 'createTable'> & {
    table: (ref: { schema: string; name: string }) => Pick<ReturnType<Transaction['table']>, 'insert'>;
  };

interface OurChange {
  readonly own: (at: Playground) => OwnChange;
  readonly run: (calls: Calls, at: Playground) => Promise<unknown>;
  /** Whether small inserts go into the catalog. */
  readonly inlines?: boolean;
}

const columns = { id: t.int32() };

/** In an order in which one can follow the other. */
const ourChanges: Readonly<Record<string, OurChange>> = {
  'insert into a table': {
    own: (at) => ownChange('inserted_into_table', at),
    run: (calls, at) => calls.table({ schema: at.schema, name: 't' }).insert([{ id: 20 }]),
  },
  'insert inlined rows': {
    own: (at) => ownChange('inlined_insert', at),
    run: (calls, at) => calls.table({ schema: at.schema, name: 't' }).insert([{ id: 21 }, { id: null }]),
    inlines: true,
  },
  'create a schema': {
    own: (at) => ownChange('created_schema', at),
    run: (calls, at) => calls.createSchema(`${at.schema}_made`),
  },
  'create a table': {
    own: (at) => ownChange('created_table', at),
    run: (calls, at) => calls.createTable({ schema: at.schema, name: 'made' }, columns),
  },
  'drop a schema': {
    own: (at) => ownChange('dropped_schema', at),
    run: (calls, at) => calls.dropSchema(at.emptySchema),
  },
  'drop a table': {
    own: (at) => ownChange('dropped_table', at),
    run: (calls, at) => calls.dropTable({ schema: at.schema, name: 't' }),
  },
  'create a table in an empty schema': {
    own: (at) => ownChange('created_table', emptied(at)),
    run: (calls, at) => calls.createTable({ schema: at.emptySchema, name: 'made' }, columns),
  },
};

interface DuckChange {
  readonly kind: MadeKind;
  readonly at: (at: Playground) => Playground;
}

/** The same with the empty schema as the one that things are made in. */
const emptied = (at: Playground): Playground => ({ ...at, schema: at.emptySchema, schemaId: at.emptySchemaId });

const duckChanges: Readonly<Record<string, DuckChange>> = {
  ...Object.fromEntries(madeKinds.map((kind): [string, DuckChange] => [kind, { kind, at: (at) => at }])),
  'created_table in the empty schema': { kind: 'created_table', at: emptied },
  'created_view in the empty schema': { kind: 'created_view', at: emptied },
  'created_scalar_macro in the empty schema': { kind: 'created_scalar_macro', at: emptied },
  'created_table_macro in the empty schema': { kind: 'created_table_macro', at: emptied },
};

/** Those that go together one after the other, in this order; the rest is tried alone. */
const ranks: readonly string[] = [
  'inserted_into_table',
  'inlined_insert',
  'deleted_from_table',
  'inlined_delete',
  'inline_flush',
  'merge_adjacent',
  'rewrite_delete',
  'altered_table',
  'altered_view',
  'created_schema',
  'created_scalar_macro',
  'created_table_macro',
  'created_table',
  'dropped_scalar_macro',
  'dropped_table_macro',
  'dropped_view',
  'dropped_table',
  'dropped_schema',
];

const atOdds = (own: OwnChange, theirs: OwnChange, rules?: typeof conflictRules): boolean =>
  firstConflict([own], { changes: [theirs as Change] }, rules) !== undefined;

for (const kind of ['sqlite', 'postgres'] satisfies CatalogKind[])
  describe(`a transaction on ${kind}`, () => {
    let place: TestLake;
    let duck: Oracle;
    let lake: Lake;
    let inlining: Lake;
    let playgrounds = 0;

    beforeAll(async () => {
      place = await testLake(kind);
      duck = await openOracle();
      await attachTwice(duck, (options) => place.attach(duck, options));
      lake = await place.open({ dataInliningRowLimit: 0 });
      inlining = await place.open({ dataInliningRowLimit: 10 });
    });
    afterAll(async () => {
      await duck?.close();
      await place?.[Symbol.asyncDispose]();
    });

    const newPlayground = (): Promise<Playground> => playground(duck, (sql) => place.sql(sql), `p${playgrounds++}`);

    /** Both see the same afterwards. */
    const checkAgreement = async ({ schema }: Playground): Promise<void> => {
      const tables = (await lake.tables()).filter((table) => table.schema === schema).map(({ name }) => name);
      const theirs = await duck.rows(
        `SELECT table_name AS name FROM duckdb_tables() WHERE database_name = 'lake' AND schema_name = '${schema}'`,
      );
      expect(theirs.map(({ name }) => name).sort()).toEqual(tables.sort());
      if (!tables.includes('t')) return;
      const rows = await lake
        .table({ schema, name: 't' })
        .scan({ columns: ['id'] })
        .toArray();
      const asked = await duck.rowsAgreed(`SELECT id FROM lake.${schema}.t ORDER BY id`);
      expect(rows.map(({ id }) => String(id)).sort((a, b) => Number(a) - Number(b))).toEqual(
        asked.map(({ id }) => String(id)),
      );
    };

    describe('of ours, which DuckDB comes before', () => {
      const commitAfter = async (ours: OurChange, at: Playground, others: readonly DuckChange[]): Promise<string> => {
        try {
          await (ours.inlines ? inlining : lake).transaction(async (tx) => {
            await ours.run(tx as Calls, at);
            for (const { kind, at: where } of others) await duck.run(changeSql[kind](where(at)));
          });
          return 'committed';
        } catch (error) {
          const { code } = error as { readonly code?: string };
          return code === 'CONFLICT' ? 'conflict' : String(error);
        }
      };

      for (const [name, ours] of Object.entries(ourChanges))
        test(name, async () => {
          const at = await newPlayground();
          const isAtOdds = ({ kind, at: where }: DuckChange): boolean =>
            atOdds(ours.own(at), ownChange(kind, where(at)));
          const alone = Object.entries(duckChanges).filter(([, change]) => isAtOdds(change));
          expect(alone.length).toBeGreaterThan(0);
          const answers: Record<string, string> = {};
          for (const [name, change] of alone) answers[name] = await commitAfter(ours, await newPlayground(), [change]);
          expect(answers).toEqual(Object.fromEntries(alone.map(([name]) => [name, 'conflict'])));
          const together = ranks.map((name) => duckChanges[name]!).filter((change) => !isAtOdds(change));
          expect(await commitAfter(ours, at, together)).toBe('committed');
          await checkAgreement(at);
        });
    });

    // DuckDB's transactions keep a lock on SQLite: nobody comes before them.
    if (kind === 'sqlite') return;

    describe('of DuckDB, which we come before', () => {
      const commitAfter = async (theirs: DuckChange, at: Playground, ours: readonly OurChange[]): Promise<string> => {
        await duck.run(`BEGIN; ${changeSql[theirs.kind](theirs.at(at))}`);
        for (const { run, inlines } of ours) await run((inlines ? inlining : lake) as Calls, at);
        try {
          await duck.run('COMMIT');
          return 'committed';
        } catch (error) {
          await duck.run('ROLLBACK').catch(() => undefined);
          return /Transaction conflict/.test(String(error)) ? 'conflict' : String(error);
        }
      };

      for (const [name, theirs] of Object.entries(duckChanges))
        test(name, async () => {
          const at = await newPlayground();
          const isAtOdds = ({ own }: OurChange): boolean =>
            atOdds(ownChange(theirs.kind, theirs.at(at)), own(at), conflictRules);
          const answers: Record<string, string> = {};
          const alone = Object.entries(ourChanges).filter(([, change]) => isAtOdds(change));
          for (const [name, change] of alone)
            answers[name] = await commitAfter(theirs, await newPlayground(), [change]);
          expect(answers).toEqual(Object.fromEntries(alone.map(([name]) => [name, 'conflict'])));
          const together = Object.entries(ourChanges).filter(
            ([name, change]) => !isAtOdds(change) && name !== 'create a table in an empty schema',
          );
          expect(
            await commitAfter(
              theirs,
              at,
              together.map(([, change]) => change),
            ),
          ).toBe('committed');
          await checkAgreement(at);
        });
    });

    test('what both wrote down is what the matrix was asked about', async () => {
      const rows = await place.sql('SELECT changes_made AS made FROM ducklake_snapshot_changes');
      const kinds = new Set(rows.flatMap(({ made }) => parseChanges(String(made ?? '')).map((change) => change.kind)));
      expect([...kinds].sort()).toEqual([...madeKinds].sort());
    });
  });
