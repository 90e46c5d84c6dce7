import { LakeError, showValue } from '../errors.ts';
import { checkName, foldName } from '../spec/names.ts';
import type { ColumnType } from '../spec/types.ts';
import { blobText } from '../spec/values/blob.ts';
import { codecFor } from '../spec/values/codec.ts';
import { type Column, type ColumnDefinition, type ColumnMap, columnsOf, type TableSchema } from './builder.ts';
import type { Field } from './field.ts';

/** The fields of a new table: ids count from 1, depth first, as DuckDB gives them. */
export function defineFields(table: string, schema: TableSchema | ColumnMap): Field[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw new LakeError(
      'INVALID_ARGUMENT',
      `the columns of table "${table}" are ${showValue(schema)}; expected an object such as { id: t.int64() }`,
      { context: { table, value: showValue(schema) } },
    );
  const columns = columnsOf(schema).map(([name, column]) => [name, definitionOf(table, name, column)] as const);
  if (columns.length === 0)
    throw new LakeError('INVALID_ARGUMENT', `table "${table}" needs at least one column`, { context: { table } });
  return defineSiblings(table, columns, { nextId: 1 });
}

function definitionOf(table: string, name: string, column: Column): ColumnDefinition {
  if (column?.definition?.type === undefined)
    throw new LakeError(
      'INVALID_ARGUMENT',
      `column "${name}" of table "${table}" is ${showValue(column)}; make it with the t builder, such as t.varchar()`,
      { context: { table, column: name } },
    );
  return column.definition;
}

function defineSiblings(
  table: string,
  columns: readonly (readonly [string, ColumnDefinition])[],
  counter: { nextId: number },
): Field[] {
  const seen = new Map<string, string>();
  return columns.map(([name, definition]) => {
    checkName('column', name);
    const clash = seen.get(foldName(name));
    if (clash !== undefined)
      throw new LakeError(
        'INVALID_ARGUMENT',
        `table "${table}" has columns "${clash}" and "${name}", which differ in letter case only`,
        { context: { table, column: name } },
      );
    seen.set(foldName(name), name);
    const id = counter.nextId++;
    const isNested =
      definition.type.name === 'list' || definition.type.name === 'struct' || definition.type.name === 'map';
    if (isNested) checkParts(table, name, definition);
    const initialDefault = defaultText(table, name, definition);
    return {
      id,
      name,
      type: definition.type,
      nullable: definition.nullable,
      children: defineSiblings(table, [...definition.children], counter),
      initialDefault,
      defaultValue: initialDefault,
      defaultValueType: initialDefault === null ? null : 'literal',
      beginSnapshot: 0,
    };
  });
}

/** The format knows NOT NULL and defaults of whole columns only. */
function checkParts(table: string, column: string, { type, defaultValue, children }: ColumnDefinition): void {
  const refuse = (reason: string): LakeError =>
    new LakeError('INVALID_ARGUMENT', `${type.name} column "${column}" of table "${table}" ${reason}`, {
      context: { table, column },
    });
  const parts = [...children];
  if (parts.length === 0) throw refuse('has no members');
  if (defaultValue !== undefined) throw refuse('has a default, which nested columns can not have');
  for (const [name, part] of parts)
    if (!part.nullable || part.defaultValue !== undefined)
      throw refuse(`says notNull or default of its part "${name}", which only whole columns can`);
}

/** A default as the catalog holds it: text that DuckDB casts to the column's type. */
function defaultText(table: string, column: string, { type, defaultValue }: ColumnDefinition): string | null {
  if (defaultValue === undefined || defaultValue === null) return null;
  const refuse = (reason: string, cause?: unknown): LakeError =>
    new LakeError(
      'INVALID_ARGUMENT',
      `the default ${showValue(defaultValue)} of column "${column}" of table "${table}" ${reason}`,
      { context: { table, column, value: showValue(defaultValue) }, cause },
    );
  let text: string | undefined;
  try {
    text = literalText(type, defaultValue);
  } catch (cause) {
    if (cause instanceof LakeError) throw cause;
    throw refuse(`is not a ${type.name}: ${(cause as Error).message}`, cause);
  }
  if (text === undefined) throw refuse(`can't be written as text`);
  if (text.includes('\0')) throw refuse('holds a NUL character');
  // The catalog's mark for "no default" is this very text.
  if (text === 'NULL') throw refuse('reads as no default in DuckDB');
  return text;
}

function literalText(type: ColumnType, value: unknown): string | undefined {
  const codec = codecFor(type);
  const physical = codec.encode(value);
  if (type.name === 'json') return physical as string;
  if (type.name === 'boolean') return String(physical);
  if (type.name === 'blob') return blobText(physical as Uint8Array);
  return codec.text(physical);
}

/** What a row that leaves a column out gets, as a value that an insert takes; `undefined` for NULL. */
export function defaultOf(field: Field): unknown {
  if (field.defaultValue === null) return undefined;
  if (field.type.name === 'json') return field.defaultValue;
  const codec = codecFor(field.type);
  if (field.type.name === 'blob') return blobOf(field.defaultValue);
  return codec.decode(codec.fromText(field.defaultValue));
}

function blobOf(text: string): Uint8Array {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const escaped = /^\\x([0-9A-Fa-f]{2})/.exec(text.slice(i, i + 4));
    bytes.push(escaped ? Number.parseInt(escaped[1]!, 16) : text.charCodeAt(i));
    if (escaped) i += 3;
  }
  return Uint8Array.from(bytes);
}
