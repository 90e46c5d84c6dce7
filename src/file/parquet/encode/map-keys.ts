import type { Field } from '../../../schema/field.ts';
import type { Physical } from '../../../spec/values/codec.ts';

/**
 * When keys of a map that are different values to JavaScript may be one to DuckDB, which has each key once.
 * `never`: text. `mixed`: numbers, which may come as bigints too. `spelling`: UUIDs. `always`: what has several ways of being written, or
 * is compared by identity, such as dates.
 */
export type Sameness = 'never' | 'mixed' | 'spelling' | 'always';

/** Whether keys that JavaScript tells apart have to be compared by their values. */
export function isSuspect(sameness: Sameness, key: unknown, first: unknown): boolean {
  switch (sameness) {
    case 'never':
      return false;
    case 'mixed':
      return typeof key !== typeof first;
    case 'spelling':
      return typeof key !== 'string' || key.length !== 36 || key !== key.toLowerCase();
    case 'always':
      return true;
  }
}

export function samenessOf({ type: { name } }: Field): Sameness {
  if (name === 'varchar' || name === 'boolean') return 'never';
  if (name === 'uuid') return 'spelling';
  return name === 'float64' || /^u?int\d/.test(name) ? 'mixed' : 'always';
}

/** A text that is the same for values that are equal to DuckDB. */
export function identityOf(physical: Physical): string {
  if (typeof physical !== 'object') return typeof physical === 'string' ? JSON.stringify(physical) : String(physical);
  if (!('months' in physical)) return physical.join();
  const { months, days, micros } = physical;
  return String(BigInt(months * 30 + days) * 86_400_000_000n + micros);
}
