import type { FileMetaData, SchemaElement, SchemaTree, Statistics } from 'hyparquet';
import type { Field } from '../../schema/field.ts';
import { decodeText } from '../../spec/values/text.ts';
import type { Physical } from '../../spec/values/value-codec.ts';
import type { BoundsOf, FileBinding, ValueBounds } from '../format.ts';
import { RefusedValue } from '../refused-value.ts';
import { type BoundColumn, bindColumns } from './bind.ts';
import type { Raw } from './source.ts';

/** What a field is in a file. */
export type ColumnOf = (field: Field) => BoundColumn | undefined;

export function columnsOf(root: SchemaTree, binding: FileBinding | undefined): ColumnOf {
  const bound = new Map<Field, BoundColumn | undefined>();
  return (field) => {
    if (!bound.has(field)) bound.set(field, bindColumns(root, [field], binding)[0]);
    return bound.get(field);
  };
}

export function leafElements({ schema }: FileMetaData): SchemaElement[] {
  return schema.filter(({ type }) => type !== undefined);
}

/** What a file's row groups tell of their values. Whatever is in doubt is not known. */
export function groupBounds(metadata: FileMetaData, columnOf: ColumnOf): (group: number) => BoundsOf {
  const leaves = leafElements(metadata);
  return (group) => (field) => {
    const { columns, num_rows } = metadata.row_groups[group]!;
    const rowCount = Number(num_rows);
    const column = columnOf(field);
    if (column?.kind === 'missing') {
      const { value } = column;
      return {
        min: value ?? undefined,
        max: value ?? undefined,
        nullCount: value === null ? rowCount : 0,
        rowCount,
      };
    }
    const statistics = column?.kind === 'flat' ? columns[column.leaf]?.meta_data?.statistics : undefined;
    if (column?.kind !== 'flat' || !statistics) return undefined;
    return {
      ...valueBounds(column, leaves[column.leaf]!, field, statistics),
      nullCount: nullCountOf(statistics),
      rowCount,
    };
  };
}

function nullCountOf({ null_count }: Statistics): number | undefined {
  return null_count === undefined ? undefined : Number(null_count);
}

/** Types whose order is the same in Parquet and here, whoever wrote the file. */
const ordered = /^(int(8|16|32|64)|float(32|64)|date|timestamp.*|varchar)$/;

/** Of a row group or a page. */
export function valueBounds(
  { load }: BoundColumn & { kind: 'flat' },
  element: SchemaElement,
  { type }: Field,
  { min_value, max_value }: Statistics,
): Pick<ValueBounds, 'min' | 'max'> {
  const unknown = { min: undefined, max: undefined };
  const annotation = element.converted_type ?? element.logical_type?.type ?? '';
  const isUnsigned = element.logical_type?.type === 'INTEGER' && !element.logical_type.isSigned;
  if (!ordered.test(type.name) || /^(UINT|DECIMAL)/.test(annotation) || isUnsigned) return unknown;
  // What became text, or was it before, is in another order.
  if ((type.name === 'varchar') !== (element.type === 'BYTE_ARRAY')) return unknown;
  const min = boundOf(min_value, element, load);
  const max = boundOf(max_value, element, load);
  if (min === undefined || max === undefined || Number.isNaN(min) || Number.isNaN(max)) return unknown;
  // Bounds leave NaN out, which is above all numbers, and nothing tells whether there is one.
  if (typeof min === 'number' && /^float/.test(type.name)) return { min: min === 0 ? -0 : min, max: undefined };
  return { min, max };
}

function boundOf(
  raw: unknown,
  { type }: SchemaElement,
  load: ((raw: Raw) => Physical) | undefined,
): Physical | undefined {
  try {
    const value = type === 'BYTE_ARRAY' && raw instanceof Uint8Array ? decodeText(raw) : raw;
    if (type === 'BYTE_ARRAY' ? typeof value !== 'string' : typeof value !== rawTypes[type!]) return undefined;
    const loaded = load ? load(value as Raw) : (value as Physical);
    return (loaded as unknown) instanceof RefusedValue ? undefined : loaded;
  } catch {
    return undefined;
  }
}

const rawTypes: Readonly<Record<string, string>> = {
  INT32: 'number',
  INT64: 'bigint',
  FLOAT: 'number',
  DOUBLE: 'number',
};
