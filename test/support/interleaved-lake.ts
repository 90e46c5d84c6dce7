import type { Lake, Transaction } from '../../src/index.ts';
import { isLakeError, t } from '../../src/index.ts';
import { type Op, type Participant, parts, type Seen } from './interleaving.ts';

const columns = { id: t.int32() };

type Calls = Pick<Transaction, 'createSchema' | 'dropSchema' | 'dropTable' | 'createTable'> & {
  table(ref: { readonly schema: string; readonly name: string }): {
    insert(rows: { readonly id: number }[]): Promise<unknown>;
  };
};

export async function runOn(on: Calls, op: Op): Promise<void> {
  switch (op.kind) {
    case 'createSchema':
      return on.createSchema(op.schema);
    case 'dropSchema':
      return on.dropSchema(op.schema);
    case 'create':
      return void (await on.createTable(parts(op.table), columns));
    case 'drop':
      return on.dropTable(parts(op.table));
    case 'insert':
      return void (await on.table(parts(op.table)).insert([{ id: op.id }]));
  }
}

/** What a lake, or a transaction, shows. */
export async function seenBy(on: Pick<Transaction, 'schemas' | 'tables' | 'table'> | Lake): Promise<Seen> {
  const tables: Record<string, readonly number[]> = {};
  const refs = (await on.tables()).map(({ schema, name }) => `${schema}.${name}` as const).sort();
  for (const ref of refs) {
    if (ref in tables) throw new Error(`there are two tables ${ref}`);
    const rows = await (on as Transaction).table<{ id: number }, { id: number }>(parts(ref)).scan().toArray();
    tables[ref] = rows.map(({ id }) => id).sort((a, b) => a - b);
  }
  return { schemas: (await on.schemas()).map(({ name }) => name).sort(), tables };
}

/** Somebody who works through a lake handle of ours. */
export function lakeParticipant(lake: Lake): Participant {
  let tx: Transaction;
  let end: PromiseWithResolvers<void>;
  let done: Promise<unknown>;
  return {
    async begin() {
      const begun = Promise.withResolvers<Transaction>();
      end = Promise.withResolvers();
      done = lake.transaction((one) => {
        begun.resolve(one);
        return end.promise;
      });
      done.catch(begun.reject);
      tx = await begun.promise;
    },
    run: (op) => runOn(tx as Calls, op),
    see: () => seenBy(tx),
    async commit() {
      end.resolve();
      try {
        await done;
        return true;
      } catch (error) {
        if (isLakeError(error, 'CONFLICT')) return false;
        throw error;
      }
    },
    async abort() {
      end.reject(new Error('given up'));
      await done.catch(() => undefined);
    },
    call: (op) => runOn(lake as Calls, op),
  };
}
