import { t } from '../../schema/builder.ts';
import { type ConformanceCase, equal, rejects } from '../case.ts';
import { createNumbered, type LakeTarget, numbered, range } from './target.ts';

export const changeCases: readonly ConformanceCase<LakeTarget>[] = [0, 10].map((dataInliningRowLimit) => ({
  name: `changes tell what was inserted, snapshot by snapshot, with rows ${dataInliningRowLimit === 0 ? 'in files' : 'inlined, and in files'}`,
  async run(target) {
    await using lake = await target.open({ dataInliningRowLimit });
    const table = await createNumbered(lake);
    await lake.createTable('others', { id: t.int32() });
    const snapshots: number[] = [];
    for (const [from, to] of [
      [0, 2],
      [3, 22],
      [23, 23],
    ] as const)
      snapshots.push((await table.insert(numbered(from, to))).snapshotId!);
    await lake.table('others').insert([{ id: 1 }]);
    const [first, second, third] = snapshots as [number, number, number];
    const of = async (options: Parameters<typeof table.changes>[0]): Promise<number[][]> => {
      const changes = await table.changes(options).toArray();
      equal([...new Set(changes.map(({ change_type }) => change_type))], changes.length > 0 ? ['insert'] : [], 'kinds');
      return changes.map(({ snapshot_id, rowid, id }) => [Number(snapshot_id), Number(rowid), Number(id)]);
    };
    const rows = (snapshotId: number, from: number, to: number): number[][] =>
      range(from, to).map((id) => [snapshotId, id, id]);
    const all = [...rows(first, 0, 2), ...rows(second, 3, 22), ...rows(third, 23, 23)];
    equal(await of({ from: 0 }), all, 'all changes');
    equal(await of({ from: second, to: second }), rows(second, 3, 22), 'those of one snapshot');
    equal(await of({ from: second }), all.slice(3), 'those from a snapshot on');
    equal(await of({ from: 0, to: second }), all.slice(0, 23), 'those up to a snapshot');
    equal(await of({ from: third + 1 }), [], 'those after the last');
    equal(await of({ from: 0, limit: 5 }), all.slice(0, 5), 'the first five');
    equal(await of({ from: 0, where: { id: { gte: 22 } } }), all.slice(22), 'those that a filter keeps');
    equal(await of({ from: 0, types: ['delete', 'update_preimage', 'update_postimage'] }), [], 'other kinds');
    equal(await of({ from: new Date(0), to: new Date(8e15) }), all, 'those between two times');
    await rejects(() => of({ from: third + 9 }), 'NOT_FOUND', 'a snapshot that is not there');
    await rejects(() => of({ from: new Date(8e15) }), 'NOT_FOUND', 'a time after all snapshots');
  },
}));
