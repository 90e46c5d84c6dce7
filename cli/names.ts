import { UsageError } from './errors.ts';

/** A table as the library takes it. */
export interface TableName {
  readonly schema: string;
  readonly name: string;
}

const part = /"(?:[^"]|"")+"|[^."]+/y;

/**
 * Parses `table`, `schema.table`, `"odd.name"`, `"my schema"."my ""table"""`. A part without quotes is taken as it is, whatever
 * is in it but dots and quotes.
 */
export function parseTableName(text: string): TableName {
  const parts: string[] = [];
  let at = 0;
  for (;;) {
    part.lastIndex = at;
    const found = part.exec(text)?.[0];
    if (found === undefined) throw badName(text);
    parts.push(found.startsWith('"') ? found.slice(1, -1).replaceAll('""', '"') : found);
    at += found.length;
    if (at === text.length) break;
    if (text[at] !== '.') throw badName(text);
    at += 1;
  }
  if (parts.length > 2)
    throw new UsageError(
      `"${text}" has ${parts.length} parts: a table is NAME or SCHEMA.NAME; put a name that holds dots in double quotes`,
    );
  return parts.length === 2 ? { schema: parts[0]!, name: parts[1]! } : { schema: 'main', name: parts[0]! };
}

function badName(text: string): UsageError {
  return new UsageError(
    `"${text}" is not a table's name: write NAME or SCHEMA.NAME, odd names in double quotes ('"my.table"', a quote inside twice)`,
  );
}

/** A name as {@link parseTableName} reads it, and as SQL does. */
export function quoteName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** `main.events`, quoted where needed. */
export function showTableName(table: TableName): string {
  return `${quoteName(table.schema)}.${quoteName(table.name)}`;
}
