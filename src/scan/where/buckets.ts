import type { LiveFile, TableFiles } from '../../catalog/table-files.ts';
import type { Field } from '../../schema/field.ts';
import { bucketHash } from '../../spec/bucket.ts';
import type { Physical } from '../../spec/values/codec.ts';
import { boundsOfStats } from './file-bounds.ts';
import type { KnownBounds } from './prune.ts';

/** One of several parts, by their hashes, that a column's values fall into. */
interface Bucketed {
  readonly partitionId: number | null;
  readonly keyIndex: number;
  readonly columnId: number;
  readonly count: number;
}

/** As {@link boundsOfStats}, and which values a file's bucket may contain. */
export function boundsOfBuckets(
  columns: TableFiles['partitionColumns'],
): (live: LiveFile) => (field: Field) => KnownBounds | undefined {
  const bucketed = columns.flatMap((row): Bucketed[] => {
    const count = Number(/^bucket\(([1-9]\d*)\)$/i.exec(row.transform ?? '')?.[1]);
    const { partition_id: partitionId, partition_key_index: keyIndex, column_id: columnId } = row;
    return count > 0 && keyIndex !== null && columnId !== null ? [{ partitionId, keyIndex, columnId, count }] : [];
  });
  const hashOf = rememberedHashes();
  return (live) => {
    const boundsOf = boundsOfStats(live);
    return (field) => {
      const bounds = boundsOf(field);
      const within = bucketed.flatMap((one) => {
        const bucket = one.columnId === field.id ? bucketIn(live, field, one) : undefined;
        return bucket === undefined ? [] : [{ bucket, count: one.count }];
      });
      if (within.length === 0) return bounds;
      const known = bounds ?? { min: undefined, max: undefined, nullCount: undefined, rowCount: 1 };
      const mayContain = (value: Physical): boolean => {
        const hash = hashOf(field, value);
        return hash === undefined || within.every(({ bucket, count }) => hash % count === bucket);
      };
      return { ...known, mayContain };
    };
  };
}

/** The bucket that all the file's values of the column are in; `undefined` where that is not certain. */
function bucketIn(
  { file, partitionValues }: LiveFile,
  field: Field,
  { partitionId, keyIndex, count }: Bucketed,
): number | undefined {
  if (file.partition_id !== partitionId || field.children.length > 0) return undefined;
  // What others wrote, or was written before the column was changed, may have been hashed as another type. Both may also begin with one
  // snapshot: a transaction can insert first.
  if (file.mapping_id !== null || file.begin_snapshot === null || field.beginSnapshot >= file.begin_snapshot)
    return undefined;
  const text = partitionValues.find((row) => row.partition_key_index === keyIndex)?.partition_value;
  const bucket = /^\d+$/.test(text ?? '') ? Number(text) : -1;
  return bucket >= 0 && bucket < count ? bucket : undefined;
}

/** Each value is asked for once for every file. */
function rememberedHashes(): (field: Field, value: Physical) => number | undefined {
  const fields = new Map<Field, Map<Physical, number | undefined>>();
  return (field, value) => {
    const hashes = fields.get(field) ?? new Map<Physical, number | undefined>();
    fields.set(field, hashes);
    if (!hashes.has(value)) hashes.set(value, bucketHash(field.type, value));
    return hashes.get(value);
  };
}
