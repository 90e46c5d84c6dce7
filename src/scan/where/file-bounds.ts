import type { LiveFile } from '../../catalog/table-files.ts';
import type { Field } from '../../schema/field.ts';
import type { ColumnType } from '../../spec/types.ts';
import { hexBytes } from '../../spec/values/blob.ts';
import { codecFor, type Physical } from '../../spec/values/codec.ts';
import { hasBounds, isFloat } from '../../stats/bounds.ts';
import { boundsOrder } from '../../stats/order.ts';
import type { KnownBounds } from './prune.ts';

/**
 * What the catalog knows of the columns of a data file: of each nothing, when it has no statistics of it (it was added later, say),
 * or they may be of another type, whose text does not sort as today's does.
 */
export function boundsOfStats({
  file,
  stats,
}: Pick<LiveFile, 'file' | 'stats'>): (field: Field) => KnownBounds | undefined {
  const rows = new Map(stats.map((row) => [row.column_id, row]));
  return (field) => {
    const row = rows.get(field.id);
    const rowCount = file.record_count;
    // Of types without bounds DuckDB counts nothing: it writes that a column of intervals has no values.
    if (row === undefined || rowCount === null || !hasBounds(field.type) || field.children.length > 0) return undefined;
    // Renamed columns too, which the catalog doesn't tell from changed ones.
    const isChanged = file.begin_snapshot === null || field.beginSnapshot > file.begin_snapshot;
    // Of files that others wrote DuckDB keeps bounds of bytes as Parquet's tools print them.
    const isForeign = file.mapping_id !== null && boundsOrder(field.type) === 'bytes';
    const isKnown = (!isChanged || isNumeric(field.type)) && !isForeign;
    // A transaction may insert into a column and change its type after that: file and column then begin with one snapshot. And files
    // that others wrote may have a narrower type than the column.
    const mayBeNarrower = isChanged || field.beginSnapshot === file.begin_snapshot || file.mapping_id !== null;
    const slack = mayBeNarrower && isFloat(field.type) ? 1 : 0;
    // Of such files DuckDB takes the least text of their row groups' bounds for the least day or instant.
    const isMisjudged = file.mapping_id !== null && /^(date|timestamp.*)$/.test(field.type.name);
    const known = (text: string | null): string | null =>
      !isKnown || (isMisjudged && !sortsAsText.test(text ?? '')) ? null : text;
    return {
      min: bound(field.type, known(row.min_value), -slack),
      max: bound(field.type, known(row.max_value), slack),
      nullCount: row.null_count ?? undefined,
      rowCount,
      containsNan: row.contains_nan ?? undefined,
    };
  };
}

/** Days and instants of years that have four digits. */
const sortsAsText = /^\d{4}-[^()]*$/;

/** Of these all that widens to them has bounds that read as theirs. */
export function isNumeric({ name }: ColumnType): boolean {
  return /^(u?int\d+|float\d+|decimal)$/.test(name);
}

function bound(type: ColumnType, text: string | null, slack: number): Physical | undefined {
  if (text === null) return undefined;
  try {
    const value = type.name === 'blob' ? hexBytes(text) : codecFor(type).fromText(text);
    if (typeof value !== 'number') return value;
    return Number.isNaN(value) ? undefined : widened(value, slack);
  } catch {
    // Whatever another writer put there.
    return undefined;
  }
}

/**
 * A bound moved outwards by more than the rounding of a float32: text of a narrower type's bounds is not exactly what its
 * values became.
 */
export function widened(value: number, slack: number): number {
  return slack === 0 || !Number.isFinite(value) ? value : value + slack * (Math.abs(value) * 2 ** -20 + 2 ** -140);
}
