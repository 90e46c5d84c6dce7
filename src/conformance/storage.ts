import type { ConformanceCase } from './case.ts';
import { abortingCases } from './storage/aborting.ts';
import { keyCases } from './storage/keys.ts';
import { listingCases } from './storage/listing.ts';
import { readingCases } from './storage/reading.ts';
import type { StorageTarget } from './storage/target.ts';
import { writingCases } from './storage/writing.ts';

export type { StorageTarget } from './storage/target.ts';

/** What every `ObjectStore` must do. Run each on a fresh prefix. */
export const storageCases: readonly ConformanceCase<StorageTarget>[] = [
  ...readingCases,
  ...writingCases,
  ...listingCases,
  ...keyCases,
  ...abortingCases,
];
