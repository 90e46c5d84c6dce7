import { LakeError, showValue } from '../errors.ts';
import type { TableName } from './view.ts';

/** A table's name: its own, in schema `main`, or with its schema. */
export type TableRef = string | TableName;

declare const rowTypes: unique symbol;

/** A table's name with the types of its rows, which only TypeScript knows. */
export interface TypedTable<In, Out> extends TableName {
  readonly [rowTypes]: { insert(row: In): void; readonly scan: Out };
}

export function tableName(ref: TableRef): TableName {
  if (typeof ref === 'string') return { schema: 'main', name: ref };
  if (typeof ref?.schema === 'string' && typeof ref.name === 'string') return ref;
  throw new LakeError('INVALID_ARGUMENT', `${showValue(ref)} names no table; give its name, or { schema, name }`, {
    context: { value: showValue(ref) },
  });
}

export const noTable = ({ schema, name }: TableName): LakeError =>
  new LakeError(
    'NOT_FOUND',
    `table "${schema}"."${name}" does not exist; lake.tables() lists those that do, and one of another schema is { schema, name }`,
    {
      context: { schema, table: name },
    },
  );
