import type { ConformanceCase } from './case.ts';
import { changeCases } from './lake/changes.ts';
import { inliningCases } from './lake/inlining.ts';
import { insertCases } from './lake/insert.ts';
import { onceCases } from './lake/once.ts';
import { openingCases } from './lake/opening.ts';
import { readingCases } from './lake/reading.ts';
import { schemaCases } from './lake/schema.ts';
import type { LakeTarget } from './lake/target.ts';
import { transactionCases } from './lake/transaction.ts';
import { transactionReadingCases } from './lake/transaction-reading.ts';
import { valueCases } from './lake/values.ts';

export type { LakeTarget } from './lake/target.ts';

/** For cases that look at files, which small inserts leave out otherwise. */
const intoFiles = (one: ConformanceCase<LakeTarget>): ConformanceCase<LakeTarget> => ({
  ...one,
  run: (target) => one.run({ ...target, open: (options) => target.open({ dataInliningRowLimit: 0, ...options }) }),
});

/** What a lake must do on any catalog and any store. Each case wants an empty place of its own. */
export const lakeCases: readonly ConformanceCase<LakeTarget>[] = [
  ...[
    ...openingCases,
    ...schemaCases,
    ...insertCases,
    ...transactionCases,
    ...transactionReadingCases,
    ...readingCases,
    ...valueCases,
  ].map(intoFiles),
  ...changeCases,
  ...inliningCases,
  ...onceCases,
];
