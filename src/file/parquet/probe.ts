import type { RowGroup } from 'hyparquet';
import type { Field } from '../../schema/field.ts';
import type { Physical } from '../../spec/values/value-codec.ts';
import type { ObjectReader } from '../../storage/object-store.ts';
import type { BoundsOf, ByteRange, ReadRequest } from '../format.ts';
import { readRanges } from './ranges.ts';

/** What of a row group's column tells which values it has. */
export interface Lookup {
  readonly range: ByteRange;
  /** Whether it tells anything of the value. */
  readonly knows: (value: Physical) => boolean;
  /** Whether the column may have a value that it knows: `false` is certain. `undefined` when it tells nothing after all. */
  readonly load: (bytes: Uint8Array) => Promise<((value: Physical) => boolean) | undefined>;
}

/** Something to read that can tell whether a row group matters. */
export interface Probe {
  readonly ranges: readonly ByteRange[];
  /** Reads it. `false`: no row of the group matters. */
  readonly matters: (object: ObjectReader) => Promise<boolean>;
}

/** `undefined` when no value that the filter looks for, and that bounds leave open, can be looked up. */
export function probeOf(
  group: RowGroup,
  boundsOf: BoundsOf,
  matters: NonNullable<ReadRequest['matters']>,
  lookupOf: (field: Field) => Lookup | undefined,
): Probe | undefined {
  const asked = new Map<Field, Lookup>();
  const boundsWith = (mayContain: (field: Field, value: Physical) => boolean): BoundsOf => {
    return (field) => {
      const bounds = boundsOf(field) ?? { ...unknown, rowCount: Number(group.num_rows) };
      return { ...bounds, mayContain: (value) => mayContain(field, value) };
    };
  };
  matters(
    boundsWith((field, value) => {
      const lookup = asked.get(field) ?? lookupOf(field);
      if (lookup?.knows(value)) asked.set(field, lookup);
      return true;
    }),
  );
  if (asked.size === 0) return undefined;
  const lookups = [...asked];
  const ranges = lookups.map(([, { range }]) => range);
  return {
    ranges,
    async matters(object) {
      const bytes = await readRanges(object, ranges);
      const loaded = await Promise.all(
        lookups.map(async ([field, { load }], i) => [field, await load(bytes[i]!)] as const),
      );
      const found = new Map(loaded);
      return matters(
        boundsWith((field, value) => {
          const mayContain = found.get(field);
          return mayContain === undefined || !asked.get(field)!.knows(value) || mayContain(value);
        }),
      );
    },
  };
}

const unknown = { min: undefined, max: undefined, nullCount: undefined };
