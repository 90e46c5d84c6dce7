import type { FileBinding, MappedName } from '../file/format.ts';
import type { Field } from '../schema/field.ts';
import { type ColumnType, parseType } from '../spec/types.ts';
import { type ScanColumn, virtualNames } from './columns.ts';
import { JsonValue } from './json-value.ts';
import type { DeleteFile, FilePart, InlinedPart, ScanPart, ScanRead } from './parts.ts';
import { TASK_VERSION } from './task.ts';
import { expressionFromJson } from './where/expression-json.ts';

/** What a task says, which may come from anybody. INVALID_ARGUMENT, saying where, for what is none or of another version. */
export function parseTask(value: unknown): { readonly read: ScanRead; readonly part: ScanPart } {
  const task = new JsonValue(value, 'task');
  const version = task.at('version');
  if (version.value !== TASK_VERSION)
    throw version.not(`${TASK_VERSION}, the version of the tasks that this version of edgemere makes and reads`);
  const where = task.at('where').orNull((at) => expressionFromJson(at, task.at('whereFields').list(readField)));
  const read: ScanRead = {
    table: { schema: task.at('table').at('schema').text(), name: task.at('table').at('name').text() },
    snapshotId: task.at('snapshotId').whole(),
    columns: task.at('columns').list(readColumn),
    where: where ?? undefined,
    limit: task.at('limit').orNull((at) => at.whole()) ?? Number.POSITIVE_INFINITY,
  };
  return { read, part: readPart(task.at('part')) };
}

function readColumn(at: JsonValue): ScanColumn {
  if (at.has('virtual')) return { kind: 'virtual', name: at.at('virtual').oneOf(virtualNames) };
  const field = readField(at.at('field'));
  return { kind: 'field', name: field.name, field };
}

function readField(at: JsonValue): Field {
  const type = readType(at.at('type'));
  const children = at.at('children').list(readField);
  const expected = { list: 1, map: 2, struct: children.length }[type.name as string] ?? 0;
  if (children.length !== expected) throw at.at('children').not(`an array of ${expected} for a ${type.name}`);
  return {
    id: at.at('id').whole(),
    name: at.at('name').text(),
    type,
    nullable: true,
    children,
    initialDefault: at.at('initialDefault').orNull((text) => text.text()),
    // What only planning and inserts look at.
    defaultValue: null,
    defaultValueType: null,
    beginSnapshot: 0,
  };
}

function readType(at: JsonValue): ColumnType {
  const text = at.text();
  try {
    return parseType(text);
  } catch {
    throw at.not('a type of DuckLake');
  }
}

function readPart(at: JsonValue): ScanPart {
  return at.at('kind').oneOf(['file', 'inlined']) === 'file' ? readFilePart(at) : readInlinedPart(at);
}

function readFilePart(at: JsonValue): FilePart {
  const deletes = at.at('deletes');
  const wholeOrNull = (key: string): number | null => at.at(key).orNull((value) => value.whole());
  return {
    kind: 'file',
    fileIndex: at.at('fileIndex').whole(),
    location: at.at('location').text(),
    byteLength: wholeOrNull('byteLength'),
    footerLength: wholeOrNull('footerLength'),
    rowCount: wholeOrNull('rowCount'),
    rowIdStart: wholeOrNull('rowIdStart'),
    beginSnapshot: wholeOrNull('beginSnapshot'),
    isPartial: at.at('isPartial').boolean(),
    binding: readBinding(at.at('binding')),
    deletes: {
      files: deletes.at('files').list(readDeleteFile),
      positions: deletes.at('positions').list((position) => {
        if (position.whole() > 0xffffffff) throw position.not('a position below 2^32');
        return position.whole();
      }),
    },
    range: at.at('range').orNull((range) => ({ start: range.at('start').whole(), end: range.at('end').whole() })),
  };
}

function readDeleteFile(at: JsonValue): DeleteFile {
  return {
    location: at.at('location').text(),
    format: at.at('format').oneOf(['parquet', 'puffin']),
    byteLength: at.at('byteLength').orNull((value) => value.whole()),
    footerLength: at.at('footerLength').orNull((value) => value.whole()),
  };
}

function readBinding(at: JsonValue): FileBinding {
  const kind = at.at('kind').oneOf(['ids', 'names', 'positions']);
  if (kind === 'ids') return { kind };
  if (kind === 'positions') return { kind, fieldIds: at.at('fieldIds').list((id) => id.whole()) };
  return { kind, names: at.at('names').list(readName) };
}

function readName(at: JsonValue): MappedName {
  const partition = at.at('partition').orNull((value) => ({ value: value.at('value').orNull((one) => one.text()) }));
  return {
    sourceName: at.at('sourceName').text(),
    fieldId: at.at('fieldId').whole(),
    ...(partition && { partition }),
    children: at.at('children').list(readName),
  };
}

function readInlinedPart(at: JsonValue): InlinedPart {
  const fields = at.at('fields').list(readField);
  return {
    kind: 'inlined',
    fileIndex: at.at('fileIndex').whole(),
    tableName: at.at('tableName').text(),
    fields,
    rows: at.at('rows').list((row) => {
      const cells = row.at('cells').list((cell) => cell.orNull((one) => one.text()));
      if (cells.length !== fields.length) throw row.at('cells').not(`an array of ${fields.length}`);
      return { rowId: row.at('rowId').whole(), beginSnapshot: row.at('beginSnapshot').whole(), cells };
    }),
  };
}
