import { identifier, literal } from '../support/oracle.ts';
import { type History, REATTACH, type Step } from './history.ts';
import { emptyModel, freshSchema, freshTable, type Model, type TableModel, tableSql } from './model.ts';
import { Random } from './random.ts';
import * as make from './statements.ts';

/** What a seed prefers, so that histories differ in kind and not just in luck. */
interface Taste {
  readonly maintenance: number;
  readonly alter: number;
  readonly deletes: number;
  readonly addFiles: number;
  readonly inserts: number;
  readonly tables: number;
}

/** The history of a seed. */
export function generate(seed: number): History {
  const random = new Random(seed);
  const model = emptyModel();
  const limit = random.weighted({ '0': 4, '10': 4, '100': 2, default: 1 });
  const attach = [
    ...(limit === 'default' ? [] : [`DATA_INLINING_ROW_LIMIT ${limit}`]),
    ...(random.chance(0.25) ? ['WRITE_DELETION_VECTORS true'] : []),
  ].join(', ');
  const level = (): number => random.pick([0.2, 1, 1, 3]);
  const taste: Taste = {
    maintenance: level(),
    alter: level(),
    deletes: random.pick([0.3, 1, 2, 4]),
    addFiles: random.pick([0, 0.5, 1, 4]),
    inserts: level(),
    tables: random.pick([0.2, 1]),
  };
  const steps: Step[] = [];
  if (random.chance(0.5)) steps.push("CALL lake.set_option('parquet_row_group_size', 10)");
  for (let k = random.int(1, 2); k > 0; k--) {
    steps.push(newTable(random, model));
    steps.push(
      random.chance(0.5)
        ? make.insertBulk(random, model.tables.at(-1)!)
        : make.insertValues(random, model.tables.at(-1)!),
    );
  }
  const count = random.pick([5, 8, 12, 18, 28]);
  for (let k = 0; k < count; k++) steps.push(...step(random, model, taste, steps.length));
  return { attach, steps };
}

function step(random: Random, model: Model, taste: Taste, serial: number): Step[] {
  if (model.tables.length === 0) return [newTable(random, model)];
  const table = random.pick(model.tables);
  switch (
    random.weighted({
      change: 20,
      transaction: 3,
      maintain: 5 * taste.maintenance,
      add: 2 * taste.addFiles,
      option: 1.5,
      reattach: 0.4,
    })
  ) {
    case 'change':
      return [change(random, model, taste)];
    case 'transaction': {
      const saved = structuredClone(model);
      const statements = Array.from({ length: random.int(2, 5) }, () => change(random, model, taste));
      const end = random.chance(0.8) ? 'COMMIT' : 'ROLLBACK';
      if (end === 'ROLLBACK') Object.assign(model, saved);
      return [[...statements, end]];
    }
    case 'maintain':
      return [make.maintain(random, table)];
    case 'add':
      return make.addFiles(random, table, serial);
    case 'option':
      return [make.option(random, model)];
    case 'reattach':
      return [REATTACH];
  }
}

/** One statement that may stand in a transaction. */
function change(random: Random, model: Model, taste: Taste): string {
  if (model.tables.length === 0) return newTable(random, model);
  const table = random.pick(model.tables);
  const { inserts, deletes, alter, tables } = taste;
  switch (
    random.weighted({
      values: 6 * inserts,
      some: 1 * inserts,
      bulk: 4 * inserts,
      self: 0.5 * inserts,
      update: 4 * deletes,
      remove: 5 * deletes,
      merge: 1.5 * deletes,
      alter: 5 * alter,
      partition: 1 * alter,
      sort: 0.5 * alter,
      newTable: 1.5 * tables,
      dropTable: 0.5 * tables,
      again: 0.5 * tables,
      schema: 0.6 * tables,
      other: 1,
    })
  ) {
    case 'values':
      return make.insertValues(random, table);
    case 'some':
      return make.insertSome(random, table);
    case 'bulk':
      return make.insertBulk(random, table);
    case 'self':
      return make.insertFromSelf(random, table);
    case 'update':
      return make.update(random, table);
    case 'remove':
      return make.remove(random, table);
    case 'merge':
      return make.merge(random, table);
    case 'alter':
      return make.alter(random, model, table);
    case 'partition':
      return make.partition(random, table);
    case 'sort':
      return make.sort(random, table);
    case 'newTable':
      return newTable(random, model);
    case 'dropTable':
      model.tables = model.tables.filter((other) => other !== table);
      return `DROP TABLE ${tableSql(table)}`;
    case 'again': {
      // The same name with other columns.
      const next: TableModel = { ...table, columns: [], isPartitioned: false, isSorted: false };
      model.tables = [...model.tables.filter((other) => other !== table), next];
      return make.createTable(random, next).replace('CREATE TABLE', 'CREATE OR REPLACE TABLE');
    }
    case 'schema': {
      const [, ...others] = model.schemas;
      if (others.length > 0 && random.chance(0.3)) {
        const gone = random.pick(others);
        model.schemas = model.schemas.filter((name) => name !== gone);
        model.tables = model.tables.filter(({ schema }) => schema !== gone);
        model.views = model.views.filter(({ schema }) => schema !== gone);
        return `DROP SCHEMA lake.${identifier(gone)} CASCADE`;
      }
      const name = freshSchema(random, model);
      model.schemas.push(name);
      return `CREATE SCHEMA lake.${identifier(name)}`;
    }
    case 'other':
      return other(random, model, table);
  }
}

function newTable(random: Random, model: Model): string {
  const schema = random.chance(0.5) ? 'main' : random.pick(model.schemas);
  const table: TableModel = {
    schema,
    name: freshTable(random, model, schema),
    columns: [],
    isPartitioned: false,
    isSorted: false,
  };
  model.tables.push(table);
  return random.chance(0.15) ? make.createTableAs(random, table) : make.createTable(random, table);
}

/** Views, macros, comments: nothing of a table's rows may change by them. */
function other(random: Random, model: Model, table: TableModel): string {
  const schema = random.pick(model.schemas);
  switch (random.weighted({ view: 3, dropView: 1, renameView: 1, macro: 2, dropMacro: 1, comment: 2 })) {
    case 'view': {
      const view = { schema, name: freshTable(random, model, schema) };
      model.views.push(view);
      return `CREATE VIEW ${tableSql(view)} AS SELECT * FROM ${tableSql(table)}`;
    }
    case 'dropView': {
      const view = model.views.pop();
      return view ? `DROP VIEW ${tableSql(view)}` : `COMMENT ON TABLE ${tableSql(table)} IS 'no view'`;
    }
    case 'renameView': {
      const view = model.views.at(-1);
      if (!view) return `COMMENT ON TABLE ${tableSql(table)} IS NULL`;
      const old = tableSql(view);
      view.name = freshTable(random, model, view.schema);
      return `ALTER VIEW ${old} RENAME TO ${identifier(view.name)}`;
    }
    case 'macro': {
      const macro = { schema, name: `m${random.int(0, 9)}`, isTable: random.chance(0.4) };
      model.macros.push(macro);
      return `CREATE OR REPLACE MACRO ${tableSql(macro)}(a, b := 2) AS ${macro.isTable ? `TABLE SELECT a AS x, b AS y` : 'a + b'}`;
    }
    case 'dropMacro': {
      const macro = model.macros.pop();
      return macro
        ? `DROP MACRO ${macro.isTable ? 'TABLE ' : ''}${tableSql(macro)}`
        : `COMMENT ON TABLE ${tableSql(table)} IS 'none'`;
    }
    case 'comment': {
      const text = literal(random.pick(["a 'comment'", '', 'é', '"x".y']));
      return random.chance(0.5)
        ? `COMMENT ON TABLE ${tableSql(table)} IS ${text}`
        : `COMMENT ON COLUMN ${tableSql(table)}.${identifier(random.pick(table.columns).name)} IS ${text}`;
    }
  }
}
