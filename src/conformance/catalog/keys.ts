import type { CommitKey } from '../../catalog/store.ts';
import { type ConformanceCase, equal, rejects } from '../case.ts';
import {
  appendParts,
  appendUnless,
  batchOn,
  type CatalogTarget,
  commitOnHead,
  committed,
  createTables,
  leavesNothing,
  openLake,
} from './batches.ts';

const keyed = (key: string, result: string = '{"rowCount":10}'): CommitKey => ({ key, scope: 'test', result });

/** Keys that are like another one to somebody who trims, folds, normalizes or quotes carelessly. */
const alike = ['a', 'A', ' a', 'a ', "a'", 'a"', 'a\\', '\u00e9', 'e\u0301', '%', '_', '', '🦆', "');--", 'null'];

export const keyCases: readonly ConformanceCase<CatalogTarget>[] = [
  {
    name: 'a key is used once: later batches with it write nothing and get what the first was committed with',
    async run(target) {
      await using catalog = await openLake(target);
      await using other = await target.open();
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot: base } = await catalog.readHead();
      equal(await other.findKeys(['k', 'l']), [], 'the keys before');
      const first = committed(
        await catalog.commit({ ...appendUnless(base, id), keys: [keyed('k', '{"a":"é\\n\'"}')] }),
      );
      const used = [{ ...keyed('k', '{"a":"é\\n\'"}'), snapshotId: first.id }];
      equal(await other.findKeys(['l', 'k']), used, 'the keys after');
      const again = { keys: [keyed('k', '"second"')] };
      for (const batch of [
        { ...appendUnless(base, id), ...again },
        { ...appendUnless(first, id), ...again },
        batchOn(first, { ...appendParts(id), ...again }),
        // Superseded too: that it happened matters more.
        batchOn(base, { ...appendParts(id), ...again }),
        batchOn(first, { ...appendParts(id), keys: [keyed('new'), ...again.keys] }),
      ]) {
        const outcome = await leavesNothing(other, () => other.commit(batch));
        equal(outcome, { status: 'used', keys: used }, 'the outcome');
      }
      equal(await catalog.findKeys(['new']), [], 'the other key of a batch that was not committed');
      const second = committed(await other.commit({ ...appendUnless(base, id), keys: [keyed('new')] }));
      equal(second.id, first.id + 1, 'the next snapshot');
    },
  },
  {
    name: 'a batch has any number of keys, and each of them is used then',
    async run(target) {
      await using catalog = await openLake(target);
      const keys = Array.from({ length: 2500 }, (_, n) => keyed(`key ${n}`, `${n}`));
      const snapshot = await commitOnHead(catalog, { changes: [{ kind: 'altered_table', id: 7 }], keys });
      const found = await catalog.findKeys(keys.map(({ key }) => key));
      const byKey = new Map(found.map((key) => [key.key, key]));
      equal(found.length, keys.length, 'the number of keys');
      for (const key of keys) equal(byKey.get(key.key), { ...key, snapshotId: snapshot.id }, key.key);
      const { snapshot: head } = await catalog.readHead();
      const outcome = await catalog.commit(batchOn(head, { keys: [keyed('key 3'), keyed('x'), keyed('key 2400')] }));
      const names = outcome.status === 'used' ? outcome.keys.map(({ key }) => key).sort() : outcome.status;
      equal(names, ['key 2400', 'key 3'], 'the used keys');
    },
  },
  {
    name: 'keys that look alike are different ones',
    async run(target) {
      await using catalog = await openLake(target);
      for (const key of alike) {
        equal(await catalog.findKeys([key]), [], `"${key}" before`);
        const { id } = await commitOnHead(catalog, { keys: [keyed(key)] });
        equal(await catalog.findKeys([key]), [{ ...keyed(key), snapshotId: id }], `"${key}" after`);
      }
      equal((await catalog.findKeys(alike)).length, alike.length, 'all of them');
    },
  },
  {
    name: 'a key twice in one batch is refused',
    async run(target) {
      await using catalog = await openLake(target);
      const { snapshot } = await catalog.readHead();
      const batch = batchOn(snapshot, { keys: [keyed('k'), keyed('k')] });
      await leavesNothing(catalog, () => rejects(() => catalog.commit(batch), 'INVALID_ARGUMENT'));
      equal(await catalog.findKeys(['k']), [], 'the key');
    },
  },
  {
    name: 'a batch that is superseded leaves its keys unused',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot: base } = await catalog.readHead();
      await commitOnHead(catalog, { changes: [{ kind: 'dropped_table', id }] });
      const keys = [keyed('k')];
      for (const batch of [{ ...appendUnless(base, id), keys }, batchOn(base, { keys })])
        equal(await catalog.commit(batch), { status: 'superseded' }, 'the outcome');
      equal(await catalog.findKeys(['k']), [], 'the key');
      await commitOnHead(catalog, { keys });
    },
  },
  {
    name: 'of several clients that use a key at once, one commits, and the others get what it committed',
    async run(target) {
      await using catalog = await openLake(target);
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot: base } = await catalog.readHead();
      const catalogs = await Promise.all(Array.from({ length: 5 }, () => target.open()));
      try {
        for (let round = 0; round < 4; round++) {
          const outcomes = await Promise.all(
            catalogs.map((one, k) =>
              one.commit({
                ...appendUnless(base, id),
                author: `${k}`,
                keys: [keyed(`round ${round}`, `"writer ${k}"`)],
              }),
            ),
          );
          const winner = outcomes.findIndex(({ status }) => status === 'committed');
          const snapshot = committed(outcomes[winner]!, `the first of round ${round}`);
          const used = { ...keyed(`round ${round}`, `"writer ${winner}"`), snapshotId: snapshot.id };
          for (const [k, outcome] of outcomes.entries())
            if (k !== winner) equal(outcome, { status: 'used', keys: [used] }, `writer ${k} in round ${round}`);
          equal((await catalog.readHead()).snapshot.id, base.id + 1 + round, 'the head');
        }
      } finally {
        for (const one of catalogs) await one[Symbol.asyncDispose]();
      }
      equal((await catalog.readTableStats(id)).table?.record_count, 40, 'the rows');
    },
  },
  {
    name: 'keys are forgotten by the time of their use',
    async run(target) {
      await using catalog = await openLake(target);
      const forget = (inMs: number, ...exceptScopes: string[]): Promise<number> =>
        catalog.forgetKeys({ usedBefore: new Date(Date.now() + inMs), exceptScopes });
      // However slow the machine is, and however its clock differs from the catalog's.
      const hour = 3_600_000;
      equal(await forget(hour), 0, 'of none');
      for (const [key, scope] of ['test', 'test', "it's kept", 'other'].entries())
        await commitOnHead(catalog, { keys: [{ ...keyed(`${key}`), scope }] });
      const left = async (): Promise<string[]> =>
        (await catalog.findKeys(['0', '1', '2', '3'])).map(({ key }) => key).sort();
      equal(await forget(-hour), 0, 'of those older than they are');
      equal(await left(), ['0', '1', '2', '3'], 'the keys');
      equal(await leavesNothing(catalog, () => forget(hour, "it's kept", 'other')), 2, 'but for two scopes');
      equal(await left(), ['2', '3'], 'the keys of these');
      equal(await forget(hour), 2, 'of all');
      equal(await left(), [], 'the keys afterwards');
      await commitOnHead(catalog, { keys: [keyed('0')] });
    },
  },
  {
    name: 'a snapshot that says nothing of its changes supersedes whatever was planned before it',
    async run(target) {
      await using catalog = await openLake(target);
      await using other = await target.open();
      const [id] = (await createTables(catalog, 't')) as [number];
      const { snapshot: base } = await catalog.readHead();
      const silent = await commitOnHead(other, { message: 'nothing' });
      equal({ ...silent, id: base.id, time: base.time }, base, 'the counters of a snapshot without changes');
      equal(
        (await catalog.readHead(base.id)).since.map(({ changes, message }) => [changes, message]),
        [['', 'nothing']],
        'what it says',
      );
      await commitOnHead(other, appendParts(id));
      for (const batch of [appendUnless(base, id), batchOn(base, appendParts(id))]) {
        const outcome = await leavesNothing(catalog, () => catalog.commit(batch));
        equal(outcome, { status: 'superseded' }, `the outcome of ${batch.fence.kind}`);
      }
      committed(await catalog.commit(appendUnless(silent, id)), 'a batch that was planned on top of it');
    },
  },
];
