/**
 * DuckDB in a process of its own, inserting one row at a time while its standard input is open: `bun duck.ts ADDRESS`, a
 * {@link LakeAddress} as JSON. Prints `ready`, and at the end which ids it committed and how often it failed.
 */
import type { LakeAddress } from '../support/lakes.ts';
import { openOracle } from '../support/oracle.ts';

export interface DuckReport {
  readonly ids: readonly number[];
  readonly failures: number;
}

if (import.meta.main) {
  const address: LakeAddress = JSON.parse(process.argv[2]!);
  await using duck = await openOracle();
  if (address.kind === 'sqlite') await duck.attachSqlite(address.path);
  else await duck.attachPostgres(address.url, undefined, { schema: address.schema });
  let isOver = false;
  process.stdin.on('end', () => {
    isOver = true;
  });
  process.stdin.resume();
  process.stdout.write('ready\n');
  const ids: number[] = [];
  let failures = 0;
  for (let id = -1; !isOver; id--) {
    try {
      await duck.run(`INSERT INTO lake.events VALUES (${id}, -1, 'duck')`);
      ids.push(id);
    } catch {
      // Its retries run out beside faster writers, and SQLite is locked to it.
      failures++;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const report: DuckReport = { ids, failures };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
