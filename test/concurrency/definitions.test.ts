import { expect, setDefaultTimeout, test } from 'bun:test';
import { t } from '../../src/index.ts';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

setDefaultTimeout(900_000);

/** Lost races are those that a handle is told of: on Postgres its catalog makes up for some by itself. */
const MAX_LOST = 3;

for (const kind of CATALOG_KINDS)
  test(`32 handles that create and drop at once on ${kind}: none fails, none is put off again and again`, async () => {
    const [handles, rounds] = [32, 3];
    await using place = await testLake(kind);
    await using first = await place.open();
    await first.createTable('kept', { id: t.int64() });
    let lost = 0;
    await Promise.all(
      Array.from({ length: handles }, async (_, n) => {
        const onRetry = ({ attempt }: { readonly attempt: number }): void => {
          lost = Math.max(lost, attempt);
        };
        await using lake = await place.open({ dataInliningRowLimit: n % 2 === 0 ? 10 : 0, onRetry });
        for (let round = 0; round < rounds; round++) {
          const name = `t_${n}_${round}`;
          if (n % 4 === 0) {
            const schema = `s_${n}_${round}`;
            await lake.transaction(async (tx) => {
              await tx.createSchema(schema);
              const table = await tx.createTable({ schema, name }, { id: t.int64() });
              await table.insert([{ id: n }]);
              await tx.insert('kept', [{ id: n }]);
            });
          } else await lake.createTable(name, { id: t.int64(), v: t.varchar() });
          if (n % 4 === 1) await lake.dropTable(name);
          if (n % 4 > 1) await lake.table<{ id: number }>(name).insert([{ id: n }, { id: round }]);
        }
      }),
    );
    expect(lost).toBeLessThanOrEqual(MAX_LOST);

    const tables = await first.tables();
    const [made, kept] = [(handles / 4) * 3 * rounds, (handles / 4) * rounds];
    expect(tables.length).toBe(made + 1);
    expect(await first.table('kept').count()).toBe(kept);
    await first.close();
    await using duck = await openOracle();
    await place.attach(duck);
    expect(await duck.rows("SELECT count(*)::VARCHAR n FROM duckdb_tables() WHERE database_name = 'lake'")).toEqual([
      { n: String(made + 1) },
    ]);
    const rows = ({ schema, name }: (typeof tables)[number]): number =>
      name === 'kept' ? kept : schema === 'main' ? 2 : 1;
    const counts = tables.map(
      ({ schema, name }) =>
        `SELECT '${name}' t, count(*)::VARCHAR n, count(DISTINCT rowid)::VARCHAR r FROM lake."${schema}"."${name}"`,
    );
    expect(await duck.rows(`${counts.join(' UNION ALL ')} ORDER BY t`)).toEqual(
      tables
        .map((table) => ({ t: table.name, n: String(rows(table)), r: String(rows(table)) }))
        .toSorted((a, b) => (a.t < b.t ? -1 : 1)),
    );
  });
