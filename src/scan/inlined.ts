import type { TableName } from '../catalog/view.ts';
import { LakeError } from '../errors.ts';
import type { ColumnVector } from '../file/format.ts';
import { decodeOf } from '../file/parquet/bind.ts';
import { castOf } from '../file/parquet/casts.ts';
import type { Field } from '../schema/field.ts';
import { typeText } from '../spec/types.ts';
import { hexBytes } from '../spec/values/blob.ts';
import { codecFor, type Physical, ValueError } from '../spec/values/codec.ts';
import { mapOf } from '../spec/values/map.ts';
import { parseNested, type TextTree } from '../spec/values/nested-text.ts';
import { unsupported } from './columns.ts';
import type { InlinedPart, InlinedPartRow } from './parts.ts';

/** From the text of a value that isn't NULL. */
type Conversion<From> = (from: From) => unknown;

/** Fields of the table as columns of inlined rows. */
export function inlinedColumns(
  table: TableName,
  part: Pick<InlinedPart, 'fields' | 'rows'>,
  fields: readonly Field[],
): ColumnVector[] {
  return fields.map((field) => {
    const index = part.fields.findIndex(({ id }) => id === field.id);
    const values =
      index >= 0
        ? cellValues(table, part.rows, index, columnOf(table, part.fields[index]!, field))
        : new Array<unknown>(part.rows.length).fill(valueWithout(table, field));
    return { values, decode: decodeOf(field) };
  });
}

/** What rows from before the column was added have. */
function valueWithout(table: TableName, field: Field): Physical | null {
  if (field.initialDefault === null) return null;
  if (field.children.length > 0)
    throw unsupported(table, `column "${field.name}" of inlined rows has a nested default`, { column: field.name });
  try {
    return codecFor(field.type).fromText(field.initialDefault);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    const shown = JSON.stringify(field.initialDefault.slice(0, 50));
    throw unsupported(table, `column "${field.name}" has the default ${shown}: ${error.message}`, {
      column: field.name,
    });
  }
}

function cellValues(
  table: TableName,
  rows: readonly InlinedPartRow[],
  index: number,
  convert: Conversion<string>,
): unknown[] {
  return rows.map(({ rowId, cells }) => {
    const cell = cells[index];
    if (cell === null || cell === undefined) return null;
    try {
      return convert(cell);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      throw new LakeError(
        'CORRUPT',
        `inlined row ${rowId} of table "${table.name}" holds ${JSON.stringify(cell.slice(0, 50))}: ${error.message}`,
        { context: { schema: table.schema, table: table.name }, cause: error },
      );
    }
  });
}

function columnOf(table: TableName, stored: Field, wanted: Field): Conversion<string> {
  if (stored.children.length > 0) {
    const convert = partOf(table, stored, wanted);
    return (text) => convert(parseNested(text, stored));
  }
  return leafOf(table, stored, wanted, stored.type.name === 'blob' ? hexBytes : textValue(stored));
}

/** A part of a nested column, or the whole: to what callers get. */
function partOf(table: TableName, stored: Field, wanted: Field): Conversion<TextTree> {
  if (stored.children.length === 0) {
    const codec = codecFor(wanted.type);
    const convert = leafOf(table, stored, wanted, textValue(stored));
    return orNull((tree) => codec.decode(convert(tree as string) as Physical));
  }
  if (stored.type.name !== wanted.type.name) throw unlike(table, stored, wanted);
  const [first, second] = wanted.children.map((child, i) => {
    const was = wanted.type.name === 'struct' ? undefined : stored.children[i];
    return was && partOf(table, was, child);
  });
  switch (wanted.type.name) {
    case 'list':
      return orNull((tree) => (tree as TextTree[]).map(first!));
    case 'map':
      return orNull((tree) => {
        const entries: [unknown, unknown][] = [];
        const parts = tree as TextTree[];
        for (let i = 0; i < parts.length; i += 2) entries.push([first!(parts[i]!), second!(parts[i + 1]!)]);
        return mapOf(entries, wanted.name, table);
      });
    default: {
      const members = wanted.children.map((child) => {
        const index = stored.children.findIndex(({ id }) => id === child.id);
        if (index >= 0) return { name: child.name, index, convert: partOf(table, stored.children[index]!, child) };
        const value = valueWithout(table, child);
        const decoded = value === null ? null : codecFor(child.type).decode(value);
        return { name: child.name, index, convert: (): unknown => decoded };
      });
      return orNull((tree) =>
        Object.fromEntries(members.map(({ name, index, convert }) => [name, convert((tree as TextTree[])[index]!)])),
      );
    }
  }
}

const orNull =
  (convert: Conversion<TextTree>): Conversion<TextTree> =>
  (tree) =>
    tree === null ? null : convert(tree);

/** To a physical value of the wanted type: the column may have had a narrower one. */
function leafOf(table: TableName, stored: Field, wanted: Field, parse: (text: string) => Physical): Conversion<string> {
  const cast = wanted.children.length === 0 ? castOf(stored.type, wanted.type) : undefined;
  if (!cast) throw unlike(table, stored, wanted);
  return cast === 'same' ? parse : (text) => cast(parse(text));
}

function textValue({ type }: Field): (text: string) => Physical {
  // DuckDB takes more for JSON than JSON's grammar allows.
  if (type.name === 'json') return (text) => text;
  const codec = codecFor(type);
  return (text) => codec.fromText(text);
}

function unlike(table: TableName, stored: Field, wanted: Field): LakeError {
  return unsupported(
    table,
    `column "${wanted.name}" was inlined as ${typeText(stored.type)} and is ${typeText(wanted.type)} now`,
    { column: wanted.name },
  );
}
