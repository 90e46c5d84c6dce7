import { LakeError } from '../errors.ts';
import type { RowOf } from './rows.ts';

/** Rows of `ducklake_metadata`: the lake's version and path, and options of the lake, a schema or a table. */
export type MetadataRow = RowOf<'ducklake_metadata'>;

/** Which table an option is asked for: the narrowest scope that sets it wins. */
export interface SettingScope {
  readonly schemaId: number;
  readonly tableId: number;
}

/** The value of an option as text, or `undefined` when no scope sets it. */
export function setting(metadata: readonly MetadataRow[], key: string, scope?: SettingScope): string | undefined {
  const at = (name: string | null, id: number | undefined): string | undefined =>
    metadata.find((row) => row.key === key && row.scope === name && (name === null || row.scope_id === id))?.value;
  if (scope === undefined) return at(null, undefined);
  return at('table', scope.tableId) ?? at('schema', scope.schemaId) ?? at(null, undefined);
}

/** An option that is a count, checked. */
export function countSetting(
  metadata: readonly MetadataRow[],
  key: string,
  scope: SettingScope,
  byDefault: number,
  least: number = 1,
): number {
  const text = setting(metadata, key, scope);
  if (text === undefined) return byDefault;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least)
    throw new LakeError('CORRUPT', `the lake's option ${key} is ${JSON.stringify(text)}, which is not a count`);
  return value;
}
