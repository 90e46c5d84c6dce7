import { mkdir } from 'node:fs/promises';
import { type TestLake, testLake } from '../support/lakes.ts';
import { literal } from '../support/oracle.ts';
import { type Duck, isFatal } from './duck.ts';
import { type History, REATTACH } from './history.ts';

/** Where lakes are made. */
export type Kind = { readonly kind: 'sqlite' } | { readonly kind: 'postgres'; readonly url: string };

/** A lake that DuckDB wrote and has let go of. */
export interface BuiltLake extends AsyncDisposable {
  readonly place: TestLake;
  /** Statements that DuckDB refused, with what it said. */
  readonly refusals: readonly { readonly sql: string; readonly message: string }[];
  /** Runs queries while the lake is attached, read-only. `metadata` is where DuckDB shows the catalog's tables. */
  ask<T>(run: (duck: Duck, metadata: string) => Promise<T>): Promise<T>;
}

let serial = 0;

/** Makes the lake of a history. DuckDB has no hold of it when this is done: it doesn't exclude a SQLite of the same process. */
export async function build(duck: Duck, kind: Kind, history: History): Promise<BuiltLake> {
  const schema = `l${process.pid}_${++serial}`;
  const place = await testLake(kind.kind, kind.kind === 'postgres' ? { url: kind.url, schema } : {});
  const attach = (more: string): Promise<void> => duck.run(attachSql(place, more));
  const metadata = `__ducklake_metadata_lake${kind.kind === 'postgres' ? `.${schema}` : ''}`;
  const refusals: { sql: string; message: string }[] = [];
  try {
    const outside = `${place.folder}/outside`;
    await mkdir(outside);
    await mkdir(place.dataPath, { recursive: true });
    await attach(history.attach);
    const run = async (sql: string): Promise<boolean> => {
      try {
        await duck.run(sql.replaceAll('$DIR', outside).replaceAll('$DATA/', place.dataPath));
        return true;
      } catch (error) {
        if (isFatal(error)) throw error;
        refusals.push({ sql, message: String(error) });
        return false;
      }
    };
    for (const step of history.steps) {
      if (step === REATTACH) {
        await duck.run('DETACH lake');
        await attach('');
      } else if (typeof step === 'string') await run(step);
      else {
        await run('BEGIN');
        let isWhole = true;
        for (const sql of step) {
          isWhole &&= await run(sql);
          if (!isWhole) break;
        }
        if (!isWhole) await duck.run('ROLLBACK').catch(() => {});
      }
    }
  } catch (error) {
    if (!isFatal(error)) await duck.run('DETACH DATABASE IF EXISTS lake').catch(() => {});
    await place[Symbol.asyncDispose]();
    throw error;
  }
  await duck.run('DETACH lake');
  return {
    place,
    refusals,
    async ask(query) {
      await attach('READ_ONLY');
      try {
        return await query(duck, metadata);
      } finally {
        await duck.run('DETACH DATABASE IF EXISTS lake');
      }
    },
    async [Symbol.asyncDispose]() {
      // DuckDB may have left a transaction open after an error: what it reads then goes with the database.
      if (kind.kind === 'postgres')
        await place.sql(
          `DO $$ BEGIN SET LOCAL lock_timeout = '5s'; DROP SCHEMA IF EXISTS ${schema} CASCADE; EXCEPTION WHEN lock_not_available THEN NULL; END $$`,
        );
      await place[Symbol.asyncDispose]();
    },
  };
}

function attachSql({ address, dataPath }: TestLake, more: string): string {
  const target = address.kind === 'sqlite' ? `sqlite:${address.path}` : `postgres:${address.url}`;
  const options = [`DATA_PATH ${literal(dataPath)}`];
  if (address.kind === 'postgres') options.push(`METADATA_SCHEMA ${literal(address.schema)}`);
  if (more) options.push(more);
  return `ATTACH ${literal(`ducklake:${target}`)} AS lake (${options.join(', ')})`;
}
