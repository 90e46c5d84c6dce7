import { LakeError } from '../errors.ts';

/** What one commit did, in the grammar of `ducklake_snapshot_changes.changes_made`. */
export type Change =
  | { readonly kind: NamedChange; readonly schema: string; readonly name: string }
  | { readonly kind: 'created_schema'; readonly name: string }
  | { readonly kind: IdChange; readonly id: number };

type NamedChange = 'created_table' | 'created_view' | 'created_scalar_macro' | 'created_table_macro';

/** Changes that name their object by id. In a batch the id may be relative (see `relativeId`). */
export type IdChange = (typeof drops)[number] | (typeof others)[number];

const drops = ['dropped_schema', 'dropped_table', 'dropped_view'] as const;
const creations = [
  'created_schema',
  'created_table',
  'created_view',
  'created_scalar_macro',
  'created_table_macro',
] as const;
const others = [
  'dropped_scalar_macro',
  'dropped_table_macro',
  'inserted_into_table',
  'deleted_from_table',
  'altered_table',
  'altered_view',
  'inlined_insert',
  'inlined_delete',
  'inline_flush',
  'merge_adjacent',
  'rewrite_delete',
  // Written before DuckLake 0.3; read only.
  'compacted_table',
] as const;

const idChanges: readonly IdChange[] = [...drops, ...others];

/** The order in which DuckDB writes the tokens of one commit. */
const writtenOrder: readonly Change['kind'][] = [...drops, ...creations, ...others];

/** Changes in the order DuckDB writes them: by kind, then by id; created objects by schema, then as they were made. */
export function sortChanges(changes: readonly Change[]): Change[] {
  const rank = (change: Change): number => writtenOrder.indexOf(change.kind);
  const named = (change: Change): string => ('schema' in change ? change.schema : 'name' in change ? change.name : '');
  // A relative id is above every id that exists, and -1 comes before -2.
  const key = (id: number): number => (id < 0 ? 2 ** 50 - id : id);
  return [...changes].sort((a, b) => {
    const byKind = rank(a) - rank(b);
    if (byKind !== 0) return byKind;
    if ('id' in a && 'id' in b) return key(a.id) - key(b.id);
    return named(a) < named(b) ? -1 : named(a) > named(b) ? 1 : 0;
  });
}

/** One change as a token. `id` stands for the change's id when that is relative. */
export function changeText(change: Change, id?: number): string {
  if ('id' in change) return `${change.kind}:${id ?? change.id}`;
  if (change.kind === 'created_schema') return `created_schema:${quote(change.name)}`;
  return `${change.kind}:${quote(change.schema)}.${quote(change.name)}`;
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Parses `changes_made` as DuckDB does: kinds in any case, `flushed_inlined` as an older word for `inline_flush`. A token
 * that this version doesn't know is an error: guessing would hide a conflict.
 */
export function parseChanges(text: string): Change[] {
  const changes: Change[] = [];
  let at = 0;
  const fail = (): never => {
    throw new LakeError('CORRUPT', `changes_made can't be parsed at character ${at}: ${text.slice(0, 200)}`);
  };
  const quoted = (): string => {
    if (text[at] !== '"') fail();
    let name = '';
    for (at++; ; at++) {
      if (at >= text.length) fail();
      if (text[at] !== '"') name += text[at];
      else if (text[at + 1] === '"') {
        name += '"';
        at++;
      } else break;
    }
    at++;
    return name;
  };
  while (at < text.length) {
    const colon = text.indexOf(':', at);
    if (colon < 0) fail();
    const written = text.slice(at, colon).toLowerCase();
    const kind = written === 'flushed_inlined' ? 'inline_flush' : written;
    at = colon + 1;
    if ((idChanges as readonly string[]).includes(kind)) {
      const digits = /^\d+/.exec(text.slice(at, at + 20))?.[0] ?? '';
      if (digits === '' || !Number.isSafeInteger(Number(digits))) fail();
      changes.push({ kind: kind as IdChange, id: Number(digits) });
      at += digits.length;
    } else if (kind === 'created_schema') {
      changes.push({ kind, name: quoted() });
    } else if ((creations as readonly string[]).includes(kind)) {
      const schema = quoted();
      if (text[at] !== '.') fail();
      at++;
      changes.push({ kind: kind as NamedChange, schema, name: quoted() });
    } else fail();
    if (at < text.length && text[at++] !== ',') fail();
  }
  return changes;
}
