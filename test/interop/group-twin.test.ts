import { expect, setDefaultTimeout, test } from 'bun:test';
import { type Lake, type Transaction, t } from '../../src/index.ts';
import { Random } from '../lakes/random.ts';
import { CATALOG_KINDS } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';
import { type TwinStep, twinDifferences } from '../support/twin.ts';

setDefaultTimeout(900_000);

// What callers commit at once becomes one snapshot. Its catalog rows are those of a DuckDB transaction that does all of it.

const columns = { id: t.int32(), x: t.float64(), name: t.varchar() };
const sqlColumns = '(id INTEGER, x DOUBLE, name VARCHAR)';

interface Insert {
  readonly table: string;
  readonly rows: readonly { readonly id: number | null; readonly x: number | null; readonly name: string | null }[];
}

function inserts(random: Random, count: number): Insert[] {
  let id = 0;
  return Array.from({ length: count }, () => ({
    table: random.pick(['a', 'a', 'b', 'c']),
    rows: Array.from({ length: random.int(1, random.pick([2, 12])) }, (_, row) => ({
      id: random.chance(0.2) ? null : random.int(-50, 50) * ++id,
      // Files of nothing but NaN: DuckDB then knows no bounds of the table any more, we do.
      x: row === 0 ? random.int(0, 9) : random.pick([null, 1.5, -2.25, 1e300, Number.NaN]),
      name: random.pick([null, '', 'ä', "it's", `n${id}`]),
    })),
  }));
}

const sqlOf = ({ table, rows }: Insert): string =>
  `INSERT INTO ${table} VALUES ${rows
    .map(({ id, x, name }) => {
      const float = x === null ? 'NULL' : Number.isNaN(x) ? "'nan'::DOUBLE" : `${x}::DOUBLE`;
      return `(${id}, ${float}, ${name === null ? 'NULL' : `'${name.replaceAll("'", "''")}'`})`;
    })
    .join(', ')}`;

/** All at once: the first commits alone, and while it does the others come together. */
async function commitAtOnce(lake: Lake, all: readonly Insert[]): Promise<void> {
  const ready: Promise<void>[] = [];
  const gates = all.map(() => Promise.withResolvers<void>());
  const done = all.map(({ table, rows }, i) => {
    const staged = Promise.withResolvers<void>();
    ready.push(staged.promise);
    const run = async (tx: Transaction): Promise<void> => {
      await tx.table(table).insert(rows);
      staged.resolve();
      await gates[i]!.promise;
    };
    const transaction = lake.transaction(run);
    transaction.catch(staged.reject);
    return transaction;
  });
  await Promise.all(ready);
  // Longer than the handle's pause for others after several commits together: during one the first would not go alone.
  await Bun.sleep(150);
  for (const gate of gates) gate.resolve();
  const ids = (await Promise.all(done)).map(({ snapshotId }) => snapshotId!);
  expect(ids).toEqual(ids.map((_, i) => ids[0]! + (i === 0 ? 0 : 1)));
}

for (const kind of CATALOG_KINDS)
  for (const inliningRowLimit of [0, 10])
    for (const seed of [1, 2])
      test(`concurrent appends on ${kind}, inlining up to ${inliningRowLimit} rows, seed ${seed}`, async () => {
        const random = new Random(seed);
        const steps: TwinStep[] = ['a', 'b', 'c'].map((table) => ({
          sql: `CREATE TABLE ${table} ${sqlColumns}`,
          ours: (lake) => lake.createTable(table, columns),
        }));
        for (let round = 0; round < 3; round++) {
          const all = inserts(random, 6);
          const [first, ...others] = all.map(sqlOf);
          steps.push({
            sql: `${first}; BEGIN; ${others.join('; ')}; COMMIT`,
            ours: (lake) => commitAtOnce(lake, all),
          });
        }
        await using duck = await openOracle();
        expect(await twinDifferences(kind, duck, steps, [], inliningRowLimit)).toEqual([]);
      });
