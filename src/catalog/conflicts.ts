import { LakeError } from '../errors.ts';
import type { Change, IdChange } from '../spec/changes.ts';
import { sameName } from '../spec/names.ts';
import { againstAppend, type Isolation } from './fence.ts';
import type { PendingChange } from './pending.ts';

type Kind = Change['kind'];

/** A change of one's own: as others will read it, with what the rules ask about it beside that. */
export type OwnChange =
  | Extract<Change, { readonly kind: 'created_schema' }>
  | (Extract<Change, { readonly schema: string }> & { readonly schemaId: number })
  | { readonly kind: 'dropped_schema'; readonly id: number; readonly name: string }
  | { readonly kind: 'deleted_from_table'; readonly id: number; readonly fileIds: readonly number[] }
  | { readonly kind: Exclude<IdChange, 'dropped_schema' | 'deleted_from_table'>; readonly id: number };

/** What others did since the base of a transaction. */
export interface OtherChanges {
  readonly changes: readonly Change[];
  /**
   * Data files that got deletes or were taken out of their table since. Left out: not known, and every delete from the same
   * table then stands against one.
   */
  readonly deletedFrom?: ReadonlySet<number>;
}

/**
 * When two changes are at odds.
 * `id`: they are about one object. `name`: they give one name, in one schema, twice. `inside`: the other dropped the schema that
 * something is made in. `holds`: the other made something in the schema that is dropped. `files`: they delete from one data file.
 */
type Rule = 'id' | 'name' | 'inside' | 'holds' | 'files';

type Rules = { readonly [Theirs in Kind]?: Rule };

const byId = (kinds: readonly IdChange[]): Rules => Object.fromEntries(kinds.map((kind) => [kind, 'id']));

const appended = byId(againstAppend('snapshot'));
const compacted = byId(['dropped_table', 'deleted_from_table', 'merge_adjacent', 'rewrite_delete']);
const created: Rules = { dropped_schema: 'inside', created_table: 'name', created_view: 'name' };

/**
 * The reference's conflict matrix: for each kind of change that a transaction makes, the kinds that others may not have
 * committed since it began. What isn't listed goes together. It is not symmetric: who commits last is judged.
 */
export const conflictRules: Readonly<Record<Kind, Rules>> = {
  dropped_schema: { dropped_schema: 'id', created_table: 'holds', created_view: 'holds' },
  dropped_table: byId(['dropped_table']),
  dropped_view: byId(['dropped_view']),
  created_schema: { created_schema: 'name' },
  created_table: created,
  created_view: created,
  created_scalar_macro: { dropped_schema: 'inside', created_scalar_macro: 'name' },
  created_table_macro: { dropped_schema: 'inside', created_table_macro: 'name' },
  dropped_scalar_macro: byId(['dropped_scalar_macro']),
  dropped_table_macro: byId(['dropped_table_macro']),
  inserted_into_table: appended,
  inlined_insert: appended,
  deleted_from_table: {
    ...byId([
      'dropped_table',
      'altered_table',
      'merge_adjacent',
      'rewrite_delete',
      'inserted_into_table',
      'inlined_insert',
    ]),
    deleted_from_table: 'files',
  },
  inlined_delete: byId([
    'dropped_table',
    'altered_table',
    'inlined_delete',
    'inline_flush',
    'inserted_into_table',
    'inlined_insert',
  ]),
  altered_table: byId(['dropped_table', 'altered_table']),
  altered_view: byId(['altered_view']),
  inline_flush: byId(['dropped_table', 'inlined_delete', 'inline_flush']),
  merge_adjacent: compacted,
  rewrite_delete: compacted,
  compacted_table: {},
};

/**
 * Where the reference lets both commit and the lake comes to harm. These stand against one's own changes as well: a conflict more
 * can be tried again.
 */
export const stricterRules: { readonly [Mine in Kind]?: Rules } = {
  // The macro would be in no schema: DuckDB opens no such lake.
  dropped_schema: { created_scalar_macro: 'holds', created_table_macro: 'holds' },
  // A row deleted both by a file and in the catalog is counted as two.
  deleted_from_table: byId(['inlined_delete']),
  inlined_delete: byId(['deleted_from_table', 'merge_adjacent', 'rewrite_delete']),
  // Rows that were deleted in the catalog meanwhile would be back in the new file.
  merge_adjacent: byId(['inlined_delete']),
  rewrite_delete: byId(['inlined_delete']),
};

const allRules = Object.fromEntries(
  Object.entries(conflictRules).map(([kind, rules]) => [kind, { ...rules, ...stricterRules[kind as Kind] }]),
) as typeof conflictRules;

/** The first two changes that are at odds, or `undefined`. */
export function firstConflict(
  own: readonly OwnChange[],
  others: OtherChanges,
  rules: typeof conflictRules = allRules,
): { readonly mine: OwnChange; readonly theirs: Change } | undefined {
  for (const mine of own) {
    for (const theirs of others.changes) {
      const rule = rules[mine.kind][theirs.kind];
      if (rule !== undefined && isHit(rule, mine, theirs, others)) return { mine, theirs };
    }
  }
  return undefined;
}

function isHit(rule: Rule, mine: OwnChange, theirs: Change, { deletedFrom }: OtherChanges): boolean {
  const isSameId = 'id' in mine && 'id' in theirs && mine.id === theirs.id;
  switch (rule) {
    case 'id':
      return isSameId;
    case 'name':
      return nameIn(mine, 'schema') && nameIn(theirs, 'schema')
        ? sameName(mine.schema, theirs.schema) && sameName(mine.name, theirs.name)
        : 'name' in mine && 'name' in theirs && sameName(mine.name, theirs.name);
    case 'inside':
      return 'schemaId' in mine && 'id' in theirs && mine.schemaId === theirs.id;
    case 'holds':
      return 'name' in mine && 'schema' in theirs && sameName(theirs.schema, mine.name);
    case 'files':
      return (
        isSameId &&
        (deletedFrom === undefined || !('fileIds' in mine) || mine.fileIds.some((fileId) => deletedFrom.has(fileId)))
      );
  }
}

const nameIn = <C extends OwnChange | Change>(
  change: C,
  key: 'schema',
): change is C & { readonly schema: string; readonly name: string } => key in change;

/** The first conflict between what is pending and what others committed since its base, or `undefined`. */
export function findConflict(
  pending: readonly PendingChange[],
  others: readonly Change[],
  isolation: Isolation,
): LakeError | undefined {
  const ignored =
    isolation === 'none' ? againstAppend('snapshot').filter((kind) => !againstAppend('none').includes(kind)) : [];
  const changes = others.filter(({ kind }) => !(ignored as readonly Kind[]).includes(kind));
  const conflict = firstConflict(pending.flatMap(ownChange), { changes });
  if (!conflict) return undefined;
  const { mine, theirs } = conflict;
  return new LakeError(
    'CONFLICT',
    `can't ${describe(mine, pending)}: another transaction ${done(theirs, mine)}; nothing was committed: run it again on the lake as it is now`,
    { retryable: true, context: { other: theirs.kind } },
  );
}

/** What is pending as others will read it; nothing for rows of tables that the transaction itself makes. */
function ownChange(change: PendingChange): OwnChange[] {
  switch (change.kind) {
    case 'createSchema':
      return [{ kind: 'created_schema', name: change.name }];
    case 'dropSchema':
      return [{ kind: 'dropped_schema', id: change.id, name: change.name }];
    case 'createTable': {
      const { schema, name } = change;
      return [{ kind: 'created_table', schema: schema.name, schemaId: schema.id, name }];
    }
    case 'dropTable':
      return [{ kind: 'dropped_table', id: change.id }];
    case 'append': {
      const { tableId: id, files, inlined } = change;
      if (id < 0) return [];
      return [
        ...(files.length > 0 ? [{ kind: 'inserted_into_table', id } as const] : []),
        ...(inlined ? [{ kind: 'inlined_insert', id } as const] : []),
      ];
    }
  }
}

function describe(mine: OwnChange, pending: readonly PendingChange[]): string {
  const [verb, what] = verbs[mine.kind];
  if ('schema' in mine) return `${verb} ${what} "${mine.schema}"."${mine.name}"`;
  if ('name' in mine) return `${verb} ${what} "${mine.name}"`;
  const append = pending.find((change) => change.kind === 'append' && change.tableId === mine.id);
  const name = append?.kind === 'append' ? `"${append.name.schema}"."${append.name.name}"` : mine.id;
  return `${verb} ${what} ${name}`;
}

function done(theirs: Change, mine: OwnChange): string {
  if (theirs.kind === 'dropped_schema' && mine.kind !== 'dropped_schema') return 'dropped its schema';
  if ('schema' in theirs && mine.kind === 'dropped_schema') return `created "${theirs.name}" in it`;
  return verbs[theirs.kind][2];
}

const drop = (what: string): Verbs => ['drop', what, 'dropped it'];
const create = (what: string): Verbs => ['create', what, 'created it'];

type Verbs = readonly [verb: string, what: string, past: string];

const verbs: Readonly<Record<Kind, Verbs>> = {
  dropped_schema: drop('schema'),
  dropped_table: drop('table'),
  dropped_view: drop('view'),
  created_schema: create('schema'),
  created_table: create('table'),
  created_view: create('view'),
  created_scalar_macro: create('macro'),
  created_table_macro: create('table macro'),
  dropped_scalar_macro: drop('macro'),
  dropped_table_macro: drop('table macro'),
  inserted_into_table: ['insert into', 'table', 'inserted into it'],
  inlined_insert: ['insert into', 'table', 'inserted into it'],
  deleted_from_table: ['delete from', 'table', 'deleted from it'],
  inlined_delete: ['delete from', 'table', 'deleted from it'],
  altered_table: ['alter', 'table', 'altered it'],
  altered_view: ['alter', 'view', 'altered it'],
  inline_flush: ['flush inlined rows of', 'table', 'flushed its inlined rows'],
  merge_adjacent: ['compact', 'table', 'compacted it'],
  rewrite_delete: ['compact', 'table', 'compacted it'],
  compacted_table: ['compact', 'table', 'compacted it'],
};
