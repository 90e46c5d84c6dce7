import { expect, setDefaultTimeout, test } from 'bun:test';
import { testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

setDefaultTimeout(60_000);

test.each(['TIMESTAMPTZ', 'TIMESTAMP', 'TIMESTAMP_MS', 'DATE'])(
  'bounds before year 1 and after 9999 of %s in added files, which DuckDB merges as text, rule nothing out',
  async (type) => {
    await using place = await testLake('sqlite');
    await using duck = await openOracle();
    await place.attach(duck);
    // Of two row groups the later BC comes last, as does the earlier of the years with five digits.
    await duck.run(`
    COPY (SELECT i, CASE WHEN i < 2048 THEN '6061-01-02 (BC) 00:00:00+00' ELSE '6030-01-02 (BC) 00:00:00+00' END::TIMESTAMPTZ::${type} AS old,
      CASE WHEN i < 2048 THEN '12024-01-02 00:00:00+00' ELSE '9024-01-02 00:00:00+00' END::TIMESTAMPTZ::${type} AS new,
      ('2024-01-02 00:00:00+00'::TIMESTAMPTZ + INTERVAL (i) SECOND)::${type} AS now FROM range(4096) r(i))
    TO '${place.folder}/added.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048);
    CREATE TABLE lake.t (i BIGINT, old ${type}, new ${type}, now ${type});
    CALL ducklake_add_data_files('lake', 't', '${place.folder}/added.parquet')`);
    const [theirs] = await duck.rows(
      `SELECT epoch_ms(min(old)) AS old, epoch_ms(max(new)) AS new FROM (SELECT min(old) AS old, max(new) AS new FROM '${place.folder}/added.parquet')`,
    );
    await duck.detach();
    await using lake = await place.open();
    const table = lake.table('t');
    const count = (where: object): Promise<number> => table.count(where as never);
    // Twice: a handle remembers what it knows of files.
    for (const _ of [1, 2]) {
      expect(await count({ old: new Date(Number(theirs!['old'])) })).toBe(2048);
      // Of other conditions than ranges the statistics are asked for.
      expect(await count({ old: { in: [new Date(Number(theirs!['old']))] } })).toBe(2048);
      expect(await count({ new: { in: [new Date(Number(theirs!['new'])), new Date(0)] } })).toBe(2048);
      expect(await count({ old: { lte: new Date(Number(theirs!['old'])) } })).toBe(2048);
      expect(await count({ new: new Date(Number(theirs!['new'])) })).toBe(2048);
    }
    const { pruned } = await table
      .scan({ where: { now: { lt: new Date('2024-01-01T00:00:00Z') } } as never })
      .explain();
    expect(pruned).toHaveLength(1);
  },
);
