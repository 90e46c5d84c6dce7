import { afterAll, beforeAll, describe, setDefaultTimeout, test } from 'bun:test';
import postgres from 'postgres';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { catalogCases } from '../../src/conformance/catalog.ts';
import { freshDatabase } from '../support/services.ts';

setDefaultTimeout(300_000);

let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database?.[Symbol.asyncDispose]());

for (const prepare of [true, false]) {
  describe(`conformance, ${prepare ? 'with' : 'without'} prepared statements`, () => {
    let sql: postgres.Sql;
    beforeAll(() => {
      sql = postgres(database.url, { prepare, max: 4, onnotice: () => {} });
    });
    afterAll(() => sql.end());
    for (const { name, run } of catalogCases)
      test(name, async () => {
        const schema = `lake "${crypto.randomUUID()}"`;
        await run({ open: async () => postgresCatalog({ sql, schema, prepare }) });
      });
  });
}
