import type { OwnChange } from '../../src/catalog/conflicts.ts';
import type { Change } from '../../src/spec/changes.ts';
import type { Oracle } from './oracle.ts';

/** Kinds of changes that DuckDB makes today. */
export type MadeKind = Exclude<Change['kind'], 'compacted_table'>;

/** A schema of its own with an object for each kind of change to be about, made by DuckDB. */
export interface Playground {
  readonly schema: string;
  readonly schemaId: number;
  /** A schema without anything in it. */
  readonly emptySchema: string;
  readonly emptySchemaId: number;
  readonly tableId: number;
  readonly viewId: number;
  readonly macroId: number;
  readonly tableMacroId: number;
}

/**
 * Attaches a lake twice: as `lake`, where every insert and delete makes files, and as `inl`, where small ones go into the catalog.
 * A commit that has to be tried again doesn't wait.
 */
export async function attachTwice(
  duck: Oracle,
  attach: (options: { readonly as: string; readonly inliningRowLimit: number }) => Promise<void>,
): Promise<void> {
  await attach({ as: 'lake', inliningRowLimit: 0 });
  await attach({ as: 'inl', inliningRowLimit: 10 });
  await duck.run('SET ducklake_retry_wait_ms = 1');
}

/** `sql` asks the catalog itself. */
export async function playground(
  duck: Oracle,
  sql: (text: string) => Promise<Record<string, unknown>[]>,
  schema: string,
): Promise<Playground> {
  const emptySchema = `${schema}_empty`;
  await duck.run(`BEGIN; CREATE SCHEMA lake.${schema}; CREATE SCHEMA lake.${emptySchema};
    CREATE TABLE lake.${schema}.t (id INTEGER); CREATE VIEW lake.${schema}.v AS SELECT 1 AS one;
    CREATE MACRO lake.${schema}.m(x) AS x + 1; CREATE MACRO lake.${schema}.tm(x) AS TABLE SELECT x AS y;
    INSERT INTO lake.${schema}.t VALUES (1), (2), (3); INSERT INTO lake.${schema}.t VALUES (4), (5); COMMIT`);
  await duck.run(`INSERT INTO lake.${schema}.t VALUES (6), (7), (8)`);
  await duck.run(`DELETE FROM lake.${schema}.t WHERE id = 6`);
  await duck.run(`INSERT INTO inl.${schema}.t VALUES (9), (10)`);
  const id = async (column: string, from: string): Promise<number> =>
    Number((await sql(`SELECT ${column} AS id FROM ${from}`))[0]!['id']);
  const schemaId = await id('schema_id', `ducklake_schema WHERE schema_name = '${schema}'`);
  const inside = `AND schema_id = ${schemaId} AND end_snapshot IS NULL`;
  return {
    schema,
    schemaId,
    emptySchema,
    emptySchemaId: await id('schema_id', `ducklake_schema WHERE schema_name = '${emptySchema}'`),
    tableId: await id('table_id', `ducklake_table WHERE table_name = 't' ${inside}`),
    viewId: await id('view_id', `ducklake_view WHERE view_name = 'v' ${inside}`),
    macroId: await id('macro_id', `ducklake_macro WHERE macro_name = 'm' ${inside}`),
    tableMacroId: await id('macro_id', `ducklake_macro WHERE macro_name = 'tm' ${inside}`),
  };
}

/** What DuckDB runs to make a change, in the playground's objects. New objects are called `made`. */
export const changeSql: Readonly<Record<MadeKind, (at: Playground) => string>> = {
  dropped_schema: ({ emptySchema }) => `DROP SCHEMA lake.${emptySchema}`,
  dropped_table: ({ schema }) => `DROP TABLE lake.${schema}.t`,
  dropped_view: ({ schema }) => `DROP VIEW lake.${schema}.v`,
  created_schema: ({ schema }) => `CREATE SCHEMA lake.${schema}_made`,
  created_table: ({ schema }) => `CREATE TABLE lake.${schema}.made (id INTEGER)`,
  created_view: ({ schema }) => `CREATE VIEW lake.${schema}.made AS SELECT 2 AS two`,
  created_scalar_macro: ({ schema }) => `CREATE MACRO lake.${schema}.made(x) AS x + 2`,
  created_table_macro: ({ schema }) => `CREATE MACRO lake.${schema}.made(x) AS TABLE SELECT x AS z`,
  dropped_scalar_macro: ({ schema }) => `DROP MACRO lake.${schema}.m`,
  dropped_table_macro: ({ schema }) => `DROP MACRO TABLE lake.${schema}.tm`,
  inserted_into_table: ({ schema }) => `INSERT INTO lake.${schema}.t VALUES (11)`,
  inlined_insert: ({ schema }) => `INSERT INTO inl.${schema}.t VALUES (12)`,
  deleted_from_table: ({ schema }) => `DELETE FROM lake.${schema}.t WHERE id = 1`,
  inlined_delete: ({ schema }) => `DELETE FROM inl.${schema}.t WHERE id = 4`,
  altered_table: ({ schema }) => `ALTER TABLE lake.${schema}.t ADD COLUMN more INTEGER`,
  altered_view: ({ schema }) => `COMMENT ON VIEW lake.${schema}.v IS 'said'`,
  inline_flush: ({ schema }) =>
    `CALL ducklake_flush_inlined_data('lake', schema_name => '${schema}', table_name => 't')`,
  merge_adjacent: ({ schema }) => `CALL ducklake_merge_adjacent_files('lake', 't', schema => '${schema}')`,
  rewrite_delete: ({ schema }) =>
    `CALL ducklake_rewrite_data_files('lake', 't', schema => '${schema}', delete_threshold => 0)`,
};

export const madeKinds = Object.keys(changeSql) as MadeKind[];

/** What a change of `changeSql` is to the matrix. `fileIds`: the data files that it deletes from. */
export function ownChange(kind: MadeKind, at: Playground, fileIds: readonly number[] = []): OwnChange {
  const { schema, schemaId } = at;
  switch (kind) {
    case 'created_schema':
      return { kind, name: `${schema}_made` };
    case 'created_table':
    case 'created_view':
    case 'created_scalar_macro':
    case 'created_table_macro':
      return { kind, schema, schemaId, name: 'made' };
    case 'dropped_schema':
      return { kind, id: at.emptySchemaId, name: at.emptySchema };
    case 'deleted_from_table':
      return { kind, id: at.tableId, fileIds };
    case 'dropped_view':
    case 'altered_view':
      return { kind, id: at.viewId };
    case 'dropped_scalar_macro':
      return { kind, id: at.macroId };
    case 'dropped_table_macro':
      return { kind, id: at.tableMacroId };
    default:
      return { kind, id: at.tableId };
  }
}
