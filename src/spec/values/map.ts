import { LakeError } from '../../errors.ts';

/**
 * A map as callers get it. Files of others may hold a key several times, of which DuckDB shows each; and what are two numbers in the
 * lake may be one in JavaScript. UNSUPPORTED then: nothing is lost silently.
 */
export function mapOf(
  entries: readonly (readonly [unknown, unknown])[],
  column: string,
  table?: { readonly schema: string; readonly name: string },
): Map<unknown, unknown> {
  const map = new Map(entries);
  if (map.size < entries.length)
    throw new LakeError(
      'UNSUPPORTED',
      `column "${column}"${table ? ` of table "${table.name}"` : ''} holds a map with keys that are the same in JavaScript`,
      { context: { column, ...(table && { schema: table.schema, table: table.name }) } },
    );
  return map;
}
