import type { RowOf } from '../spec/rows.ts';
import { compareUtf8 } from '../spec/values/text.ts';
import type { BoundsComparison, ColumnRange } from './table-files.ts';

/** How an end of a range compares with bounds, which are text that may be anything. */
export type RangeEnd =
  /** With plain numbers, by value. */
  | { readonly kind: 'number'; readonly text: string; readonly value: number }
  /** Below or above all plain numbers. */
  | { readonly kind: 'infinite' }
  | { readonly kind: 'bytes'; readonly text: string }
  /** With texts of its own form, as bytes. */
  | { readonly kind: 'iso'; readonly text: string; readonly form: IsoForm };

/** A date, a date with a time, or such with the offset of UTC: texts of different forms don't sort as what they mean. */
export type IsoForm = 'date' | 'timestamp' | 'timestamptz';

const forms: Readonly<Record<IsoForm, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  timestamp: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$/,
  timestamptz: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00$/,
};

const plainNumber = /^-?\d+(\.\d+)?(e[+-]?\d{1,3})?$/;

/** `undefined` when nothing can be told with this end; `side` is the end's own. */
export function rangeEnd(
  text: string | undefined,
  comparison: BoundsComparison,
  side: 'min' | 'max',
): RangeEnd | undefined {
  if (text === undefined) return undefined;
  if (comparison === 'number') {
    if (text === (side === 'min' ? 'inf' : '-inf')) return { kind: 'infinite' };
    return isPlainNumber(text) ? { kind: 'number', text, value: Number(text) } : undefined;
  }
  // Neither is text to all databases.
  if (text.includes('\0') || !text.isWellFormed()) return undefined;
  if (comparison === 'bytes') return { kind: 'bytes', text };
  const form = (Object.keys(forms) as IsoForm[]).find((name) => forms[name].test(text));
  return form && { kind: 'iso', text, form };
}

function isPlainNumber(text: string): boolean {
  return text.length < 60 && plainNumber.test(text) && Number.isFinite(Number(text));
}

/** Whether by these statistics no value of the file's column lies in the range. Never when there is doubt. */
export function isOutside(
  stats: RowOf<'ducklake_file_column_stats'>,
  range: ColumnRange,
  file: Pick<RowOf<'ducklake_data_file'>, 'begin_snapshot' | 'mapping_id'>,
): boolean {
  if (stats.value_count === 0) return true;
  if (range.fromSnapshot !== undefined && !(file.mapping_id === null && file.begin_snapshot! >= range.fromSnapshot))
    return false;
  if (range.includesNan && stats.contains_nan !== false) return false;
  const min = rangeEnd(range.min, range.comparison, 'min');
  const max = rangeEnd(range.max, range.comparison, 'max');
  return (
    (min !== undefined && isBeyond(stats.max_value, min, -1)) ||
    (max !== undefined && isBeyond(stats.min_value, max, 1))
  );
}

/** Whether a bound is certainly below (-1) or above (1) the end. */
function isBeyond(bound: string | null, end: RangeEnd, sign: 1 | -1): boolean {
  if (bound === null) return false;
  switch (end.kind) {
    case 'infinite':
      return isPlainNumber(bound);
    case 'number':
      // Rounding keeps the order, so that different results were different numbers.
      return isPlainNumber(bound) && sign * (Number(bound) - end.value) > 0;
    case 'iso':
      return forms[end.form].test(bound) && (sign > 0 ? bound > end.text : bound < end.text);
    case 'bytes':
      return sign * compareUtf8(bound, end.text) > 0;
  }
}
