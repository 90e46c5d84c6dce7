import { expect, setDefaultTimeout, test } from 'bun:test';
import { isLakeError } from '../../src/errors.ts';
import { CATALOG_KINDS, testLake } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

setDefaultTimeout(60_000);

for (const kind of CATALOG_KINDS)
  test.each([0, 100])(
    `maps whose keys are one in JavaScript are refused, never shorter, ${kind}, inlined up to %d rows`,
    async (limit) => {
      await using place = await testLake(kind);
      await using duck = await openOracle();
      await place.attach(duck, { inliningRowLimit: limit });
      await duck.run(`
      CREATE TABLE lake.t (id INTEGER, m MAP(JSON, INTEGER), l MAP(INTEGER, VARCHAR)[]);
      INSERT INTO lake.t VALUES (1, MAP {'1'::JSON: 10, '"1"'::JSON: 20}, [MAP {1: 'a', 2: 'b'}]), (2, MAP {'1'::JSON: 10, '1.0'::JSON: 20}, [])`);
      expect(await duck.rows('SELECT cardinality(m) AS n FROM lake.t ORDER BY id')).toEqual([{ n: '2' }, { n: '2' }]);
      await duck.detach();
      await using lake = await place.open();
      const table = lake.table('t');
      const error = await table
        .scan({ columns: ['m'] as never })
        .toArray()
        .then(
          () => undefined,
          (thrown) => thrown,
        );
      expect(isLakeError(error, 'UNSUPPORTED')).toBe(true);
      expect(error.context).toMatchObject({ schema: 'main', table: 't', column: 'm' });
      // All else of the table is there.
      const rows = await table.scan({ columns: ['id', 'l'] as never }).toArray();
      expect(rows).toEqual([
        {
          id: 1,
          l: [
            new Map([
              [1, 'a'],
              [2, 'b'],
            ]),
          ],
        },
        { id: 2, l: [] },
      ] as never);
      expect(await table.count()).toBe(2);
    },
  );
