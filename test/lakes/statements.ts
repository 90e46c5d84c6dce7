import { identifier, literal } from '../support/oracle.ts';
import {
  type ColumnModel,
  freshColumn,
  type Model,
  memberNames,
  structPaths,
  type TableModel,
  tableSql,
  withMembers,
} from './model.ts';
import { foreign, promoted } from './other-types.ts';
import type { Random } from './random.ts';
import {
  bulk,
  randomScalar,
  randomType,
  type SqlType,
  scalar,
  scalarLiteral,
  textsOf,
  typeSql,
  value,
} from './types.ts';

const isScalar = (type: SqlType): type is SqlType & { kind: 'scalar' } => type.kind === 'scalar';

const cell = (random: Random, column: ColumnModel): string => value(random, column.type, !column.notNull);

export function createTable(random: Random, table: TableModel): string {
  const count = random.pick([1, 2, 3, 3, 4, 5, 7]);
  const definitions: string[] = [];
  for (let k = 0; k < count; k++) {
    const column: ColumnModel = {
      name: freshColumn(random, table),
      type:
        k === 0 ? scalar(random.pick(['INTEGER', 'BIGINT', 'VARCHAR'])) : randomType(random, () => memberNames(random)),
      notNull: random.chance(0.08),
    };
    table.columns.push(column);
    const fallback =
      isScalar(column.type) && random.chance(0.15) ? ` DEFAULT ${defaultOf(random, column.type.sql)}` : '';
    definitions.push(
      `${identifier(column.name)} ${typeSql(column.type)}${fallback}${column.notNull ? ' NOT NULL' : ''}`,
    );
  }
  return `CREATE TABLE ${tableSql(table)} (${definitions.join(', ')})`;
}

/** DuckLake takes literals; as a default for inserts also what it evaluates then. */
function defaultOf(random: Random, sql: string): string {
  if (sql === 'VARCHAR' || sql === 'BLOB') return literal(random.pick(textsOf(sql)));
  return random.chance(0.01) ? scalarLiteral(random, sql) : literal(random.pick(textsOf(sql)));
}

/** `CREATE TABLE … AS` of a few plain columns. */
export function createTableAs(random: Random, table: TableModel): string {
  const parts: string[] = [];
  for (let k = 0; k < random.int(1, 4); k++) {
    const column = { name: freshColumn(random, table), type: randomScalar(random), notNull: false };
    table.columns.push(column);
    parts.push(`CAST(${bulk(random, column.type)} AS ${typeSql(column.type)}) AS ${identifier(column.name)}`);
  }
  return `CREATE TABLE ${tableSql(table)} AS SELECT ${parts.join(', ')} FROM range(${random.pick([0, 3, 12, 150])}) r(i)`;
}

export function insertValues(random: Random, table: TableModel): string {
  const rows = Array.from(
    { length: random.pick([1, 1, 2, 3, 5, 9, 12, 20]) },
    () => `(${table.columns.map((column) => cell(random, column)).join(', ')})`,
  );
  return `INSERT INTO ${tableSql(table)} VALUES ${rows.join(', ')}`;
}

/** Into some of the columns, in another order. */
export function insertSome(random: Random, table: TableModel): string {
  const some = random.shuffled(table.columns.filter((column) => column.notNull || random.chance(0.6)));
  if (some.length === 0) return insertValues(random, table);
  const rows = Array.from(
    { length: random.int(1, 4) },
    () => `(${some.map((column) => cell(random, column)).join(', ')})`,
  );
  return `INSERT INTO ${tableSql(table)} (${some.map(({ name }) => identifier(name)).join(', ')}) VALUES ${rows.join(', ')}`;
}

export function insertBulk(random: Random, table: TableModel): string {
  const isWide = table.columns.length > 4 || table.columns.some(({ type }) => !isScalar(type));
  const count = random.pick(isWide ? [15, 40, 100, 250] : [15, 40, 100, 250, 700, 3000]);
  const parts = table.columns.map((column) => bulk(random, column.type, !column.notNull));
  return `INSERT INTO ${tableSql(table)} SELECT ${parts.join(', ')} FROM range(${count}) r(i)`;
}

export function insertFromSelf(random: Random, table: TableModel): string {
  return `INSERT INTO ${tableSql(table)} SELECT * FROM ${tableSql(table)} WHERE rowid % ${random.int(2, 9)} = 0`;
}

function condition(random: Random, table: TableModel): string {
  const column = random.pick(table.columns);
  const name = identifier(column.name);
  switch (random.weighted({ modulo: 4, range: 3, hash: 3, isNull: 1, compare: 2, all: 1, none: 0.5, random: 1 })) {
    case 'modulo':
      return `rowid % ${random.pick([2, 3, 7, 20])} = ${random.int(0, 1)}`;
    case 'range': {
      const from = random.int(0, 60);
      return `rowid BETWEEN ${from} AND ${from + random.pick([0, 1, 5, 30, 500])}`;
    }
    case 'hash':
      return `hash(${name}) % ${random.pick([2, 3, 10])} = 0`;
    case 'isNull':
      return `${name} IS ${random.chance(0.5) ? 'NOT ' : ''}NULL`;
    case 'compare':
      return `${name} ${random.pick(['=', '<', '>', '<=', '>=', '<>', 'IS DISTINCT FROM'])} ${value(random, column.type, false)}`;
    case 'all':
      return 'true';
    case 'none':
      return 'false';
    case 'random':
      return `(rowid * ${random.pick([7, 13, 31])}) % 11 < ${random.int(1, 6)}`;
  }
}

export function update(random: Random, table: TableModel): string {
  const set = random.shuffled(table.columns).slice(0, random.pick([1, 1, 2, 3]));
  const parts = set.map((column) => {
    const other = table.columns.find(
      (candidate) => candidate !== column && typeSql(candidate.type) === typeSql(column.type) && !column.notNull,
    );
    return `${identifier(column.name)} = ${other && random.chance(0.3) ? identifier(other.name) : cell(random, column)}`;
  });
  const key = random.chance(0.15) ? joinKey(random, table) : undefined;
  // Of several partners of a row DuckDB takes the first.
  if (key)
    return `UPDATE ${tableSql(table)} AS t SET ${parts.join(', ')} FROM ${partners(random, key)} AS s WHERE t.${identifier(key.name)} = s.k`;
  return `UPDATE ${tableSql(table)} SET ${parts.join(', ')} WHERE ${condition(random, table)}`;
}

function joinKey(random: Random, table: TableModel): ColumnModel | undefined {
  const keys = table.columns.filter(({ type }) => isScalar(type) && /INT|VARCHAR|DATE|UUID/.test(type.sql));
  return keys.length > 0 ? random.pick(keys) : undefined;
}

/** Values of a column as a table `(k)`, some of them twice. */
function partners(random: Random, key: ColumnModel): string {
  const values = Array.from({ length: random.int(1, 6) }, () => value(random, key.type, false));
  if (random.chance(0.3)) values.push(values[0]!);
  return `(SELECT CAST(k AS ${typeSql(key.type)}) AS k FROM (VALUES ${values.map((k) => `(${k})`).join(', ')}) p(k))`;
}

export function remove(random: Random, table: TableModel): string {
  if (random.chance(0.05)) return `TRUNCATE ${tableSql(table)}`;
  const key = random.chance(0.1) ? joinKey(random, table) : undefined;
  if (key)
    return `DELETE FROM ${tableSql(table)} AS t USING ${partners(random, key)} AS s WHERE t.${identifier(key.name)} = s.k`;
  return `DELETE FROM ${tableSql(table)} WHERE ${condition(random, table)}`;
}

export function merge(random: Random, table: TableModel): string {
  const key = joinKey(random, table);
  if (!key) return update(random, table);
  const name = identifier(key.name);
  const wanted = new Set(Array.from({ length: random.int(1, 6) }, () => value(random, key.type, false)));
  const source = `(SELECT DISTINCT CAST(k AS ${typeSql(key.type)}) AS k FROM (VALUES ${[...wanted].map((k) => `(${k})`).join(', ')}) s(k))`;
  const others = table.columns.filter((column) => column !== key);
  const changed = others.length > 0 ? random.pick(others) : key;
  const matched = random.pick([
    `UPDATE SET ${identifier(changed.name)} = ${cell(random, changed)}`,
    `UPDATE SET ${identifier(changed.name)} = ${cell(random, changed)}`,
    'DELETE',
  ]);
  const bySource = random.pick([
    '',
    '',
    '',
    ' WHEN NOT MATCHED BY SOURCE AND t.rowid % 5 = 0 THEN DELETE',
    ` WHEN NOT MATCHED BY SOURCE AND t.rowid % 7 = 0 THEN UPDATE SET ${identifier(changed.name)} = ${cell(random, changed)}`,
  ]);
  const needed = others.filter(({ notNull }) => notNull);
  const columns = [key, ...needed].map((column) => identifier(column.name)).join(', ');
  const values = ['s.k', ...needed.map((column) => cell(random, column))].join(', ');
  return `MERGE INTO ${tableSql(table)} AS t USING ${source} AS s ON (t.${name} = s.k) WHEN MATCHED${random.chance(0.2) ? ` AND t.rowid % 2 = 0` : ''} THEN ${matched} WHEN NOT MATCHED THEN INSERT (${columns}) VALUES (${values})${bySource}`;
}

const quotedPath = (path: readonly string[]): string => path.map(identifier).join('.');

export function alter(random: Random, model: Model, table: TableModel): string {
  const target = `ALTER TABLE ${tableSql(table)}`;
  const column = random.pick(table.columns);
  const name = identifier(column.name);
  const kind = random.weighted({
    add: 5,
    drop: 3,
    rename: 3,
    promote: 4,
    members: 5,
    defaults: 2,
    notNull: 1,
    renameTable: 1,
  });
  switch (kind) {
    case 'add': {
      const type = randomType(random, () => memberNames(random));
      const added: ColumnModel = { name: freshColumn(random, table), type, notNull: false };
      table.columns.push(added);
      const fallback = isScalar(type) && random.chance(0.5) ? ` DEFAULT ${defaultOf(random, type.sql)}` : '';
      return `${target} ADD COLUMN ${identifier(added.name)} ${typeSql(type)}${fallback}`;
    }
    case 'drop':
      if (table.columns.length === 1) return `${target} ALTER ${name} DROP DEFAULT`;
      table.columns = table.columns.filter((other) => other !== column);
      return `${target} DROP COLUMN ${name}`;
    case 'rename': {
      const old = name;
      // Also to a name that another column had before.
      column.name = freshColumn(random, table);
      return `${target} RENAME ${old} TO ${identifier(column.name)}`;
    }
    case 'promote': {
      const type = promoted(random, column.type);
      if (type === undefined) return `${target} ALTER ${name} SET DEFAULT NULL`;
      column.type = type;
      return `${target} ALTER ${name} SET DATA TYPE ${typeSql(type)}`;
    }
    case 'members':
      return alterMembers(random, table, target);
    case 'defaults': {
      if (!isScalar(column.type) || random.chance(0.3)) return `${target} ALTER ${name} DROP DEFAULT`;
      return `${target} ALTER ${name} SET DEFAULT ${random.chance(0.9) ? defaultOf(random, column.type.sql) : 'NULL'}`;
    }
    case 'notNull':
      if (column.notNull) column.notNull = false;
      else if (random.chance(0.5)) column.notNull = true;
      return `${target} ALTER ${name} ${column.notNull ? 'SET' : 'DROP'} NOT NULL`;
    case 'renameTable': {
      const names = ['t', 'u', 'w', 'a b', 'Renamed', 'é'];
      const taken = new Set(
        model.tables.filter(({ schema }) => schema === table.schema).map((other) => other.name.toLowerCase()),
      );
      const free = names.filter((candidate) => !taken.has(candidate.toLowerCase()));
      if (free.length === 0) return `${target} ALTER ${name} DROP DEFAULT`;
      table.name = random.pick(free);
      return `${target} RENAME TO ${identifier(table.name)}`;
    }
  }
}

function alterMembers(random: Random, table: TableModel, target: string): string {
  const paths = structPaths(table);
  if (paths.length === 0) {
    const added: ColumnModel = {
      name: freshColumn(random, table),
      type: { kind: 'struct', members: memberNames(random).map((name) => ({ name, type: randomScalar(random) })) },
      notNull: false,
    };
    table.columns.push(added);
    return `${target} ADD COLUMN ${identifier(added.name)} ${typeSql(added.type)}`;
  }
  const { path, members } = random.pick(paths);
  const column = table.columns.find(({ name }) => name === path[0])!;
  const change = (
    to: (members: readonly { name: string; type: SqlType }[]) => { name: string; type: SqlType }[],
  ): void => {
    column.type = withMembers(column.type, path.slice(1), to);
  };
  const member = random.pick(members);
  const names = memberNames(random).filter(
    (name) => !members.some((other) => other.name.toLowerCase() === name.toLowerCase()),
  );
  const kind = random.weighted({ add: 5, drop: members.length > 1 ? 3 : 0, rename: 3, promote: 4 });
  if (kind === 'drop') {
    change((all) => all.filter(({ name }) => name !== member.name));
    return `${target} DROP COLUMN ${quotedPath([...path, member.name])}`;
  }
  if (kind === 'promote') {
    const type = promoted(random, member.type);
    if (type) {
      change((all) => all.map((other) => (other.name === member.name ? { name: member.name, type } : other)));
      return `${target} ALTER ${identifier(column.name)} SET DATA TYPE ${typeSql(column.type)}`;
    }
  }
  const name = names[0] ?? 'fresh';
  if (kind === 'rename') {
    change((all) => all.map((other) => (other.name === member.name ? { name, type: other.type } : other)));
    return `${target} RENAME ${quotedPath([...path, member.name])} TO ${identifier(name)}`;
  }
  const type = randomType(random, () => memberNames(random), 2);
  change((all) => [...all, { name, type }]);
  const fallback = isScalar(type) && random.chance(0.4) ? ` DEFAULT ${defaultOf(random, type.sql)}` : '';
  return `${target} ADD COLUMN ${quotedPath([...path, name])} ${typeSql(type)}${fallback}`;
}

export function partition(random: Random, table: TableModel): string {
  const target = `ALTER TABLE ${tableSql(table)}`;
  if (table.isPartitioned && random.chance(0.4)) {
    table.isPartitioned = false;
    return `${target} RESET PARTITIONED BY`;
  }
  const columns = random
    .shuffled(table.columns.filter(({ type }) => isScalar(type)))
    .slice(0, random.pick([1, 1, 2, 3]));
  if (columns.length === 0) return `${target} RESET PARTITIONED BY`;
  table.isPartitioned = true;
  const keys = columns.map((column) => {
    const name = identifier(column.name);
    const sql = (column.type as { sql: string }).sql;
    const isTime = /^(DATE|TIMESTAMP.*)$/.test(sql);
    if (isTime && random.chance(0.6)) return `${random.pick(['year', 'month', 'day', 'hour'])}(${name})`;
    if (random.chance(0.35)) return `bucket(${random.pick([1, 2, 4, 16])}, ${name})`;
    return name;
  });
  return `${target} SET PARTITIONED BY (${keys.join(', ')})`;
}

export function sort(random: Random, table: TableModel): string {
  const target = `ALTER TABLE ${tableSql(table)}`;
  if (table.isSorted && random.chance(0.5)) {
    table.isSorted = false;
    return `${target} RESET SORTED BY`;
  }
  table.isSorted = true;
  const columns = random.shuffled(table.columns).slice(0, random.pick([1, 1, 1, 2, 3]));
  const keys = columns.map(({ name }) => {
    const key = random.pick([identifier(name), `hash(${identifier(name)})`]);
    return `${key} ${random.pick(['ASC', 'DESC'])} ${random.pick(['NULLS FIRST', 'NULLS LAST'])}`;
  });
  return `${target} SET SORTED BY (${keys.join(', ')})`;
}

/** Writes a Parquet file (or a folder of them) outside of DuckLake, and registers it. */
export function addFiles(random: Random, table: TableModel, serial: number): string[] {
  const columns = random.shuffled(table.columns).filter(() => random.chance(0.9));
  if (columns.length === 0) columns.push(table.columns[0]!);
  const parts = columns.map((column) => {
    const type = foreign(random, column.type);
    const name = random.chance(0.1) ? column.name.toUpperCase() : column.name;
    return `CAST(${bulk(random, type, !column.notNull)} AS ${typeSql(type)}) AS ${identifier(name)}`;
  });
  const hasExtra = random.chance(0.2);
  if (hasExtra) parts.splice(random.int(0, parts.length), 0, '\'extra\' || i AS "extra column"');
  const hiveColumns = columns.filter(
    ({ type, name }) =>
      isScalar(type) && /^(.*INT|INTEGER|VARCHAR|DATE|BOOLEAN)$/.test(type.sql) && /^[\w ]+$/.test(name),
  );
  const isHive = hiveColumns.length > 0 && columns.length > 1 && random.chance(0.3);
  const folder = random.pick(['$DIR', '$DIR', '$DATA']);
  const options = ['FORMAT PARQUET'];
  if (random.chance(0.3)) options.push(`ROW_GROUP_SIZE ${random.pick([1, 10, 2048])}`);
  if (random.chance(0.3))
    options.push(
      `COMPRESSION ${random.pick(['uncompressed', 'uncompressed', 'gzip', 'gzip', 'zstd', 'zstd', 'brotli', 'lz4_raw'])}`,
    );
  if (random.chance(0.3)) options.push(`PARQUET_VERSION ${random.pick(['V1', 'V2'])}`);
  if (random.chance(0.15)) options.push("FIELD_IDS 'auto'");
  const path = `${folder}/add ${serial}${isHive ? '' : '.parquet'}`;
  if (isHive) {
    const keys = random.shuffled(hiveColumns).slice(0, random.pick([1, 1, 2]));
    options.push(`PARTITION_BY (${keys.map(({ name }) => identifier(name)).join(', ')})`);
    if (random.chance(0.3)) options.push('WRITE_PARTITION_COLUMNS true');
  }
  const parameters = [`schema => ${literal(table.schema)}`];
  if (random.chance(0.8)) parameters.push('allow_missing => true');
  if (hasExtra || random.chance(0.5)) parameters.push('ignore_extra_columns => true');
  if (isHive ? random.chance(0.8) : random.chance(0.1)) parameters.push(`hive_partitioning => ${random.chance(0.9)}`);
  const count = random.pick(isHive ? [3, 8] : [0, 1, 5, 30, 300]);
  const copy = (to: string, from: string): string =>
    `COPY (SELECT ${parts.join(', ')} FROM ${from} r(i)) TO ${literal(to)} (${options.join(', ')})`;
  if (!isHive && random.chance(0.15))
    return [
      copy(path, `range(${count})`),
      copy(`${folder}/add ${serial} more.parquet`, `range(${count}, ${count + 9})`),
      `CALL ducklake_add_data_files('lake', ${literal(table.name)}, ${literal(`${folder}/add ${serial}*.parquet`)}, ${parameters.join(', ')})`,
    ];
  return [
    copy(path, `range(${count})`),
    `CALL ducklake_add_data_files('lake', ${literal(table.name)}, ${literal(isHive ? `${path}/**/*.parquet` : path)}, ${parameters.join(', ')})`,
  ];
}

export function option(random: Random, model: Model): string {
  const [name, setting] = random.pick([
    ['data_inlining_row_limit', random.pick(['0', '3', '10', '10', '100'])],
    ['data_inlining_row_limit', random.pick(['0', '10', '100'])],
    [
      'parquet_compression',
      `'${random.pick(['uncompressed', 'uncompressed', 'snappy', 'snappy', 'gzip', 'gzip', 'zstd', 'zstd', 'brotli', 'lz4'])}'`,
    ],
    ['parquet_version', random.pick(['1', '2'])],
    ['parquet_row_group_size', random.pick(['1', '10', '50', '2048'])],
    ['target_file_size', `'${random.pick(['1KB', '10KB', '512MB'])}'`],
    ['per_thread_output', random.pick(['true', 'false'])],
    ['write_deletion_vectors', random.pick(['true', 'true', 'false'])],
    ['hive_file_pattern', random.pick(['true', 'false'])],
    ['sort_on_insert', random.pick(['true', 'false'])],
    ['rewrite_delete_threshold', random.pick(['0.0', '0.5'])],
    ['auto_compact', random.pick(['true', 'false'])],
  ] as const);
  const scope = random.weighted({ lake: 4, schema: 1, table: 2 });
  const table = model.tables.length > 0 ? random.pick(model.tables) : undefined;
  if (scope === 'table' && table)
    return `CALL lake.set_option('${name}', ${setting}, schema => ${literal(table.schema)}, table_name => ${literal(table.name)})`;
  if (scope === 'schema')
    return `CALL lake.set_option('${name}', ${setting}, schema => ${literal(random.pick(model.schemas))})`;
  return `CALL lake.set_option('${name}', ${setting})`;
}

function expired(random: Random): number[] {
  if (random.chance(0.5)) return Array.from({ length: random.int(1, 3) }, () => random.int(0, 15));
  const from = random.pick([0, 0, 3]);
  return Array.from({ length: random.int(1, 10) }, (_, k) => from + k);
}

export function maintain(random: Random, table: TableModel): string {
  const name = literal(table.name);
  const schema = literal(table.schema);
  const hasTable = random.chance(0.4);
  switch (random.weighted({ flush: 6, merge: 4, rewrite: 4, expire: 2, cleanup: 2, orphans: 1, checkpoint: 1 })) {
    case 'flush':
      return `CALL ducklake_flush_inlined_data('lake'${hasTable ? `, schema_name => ${schema}, table_name => ${name}` : ''})`;
    case 'merge': {
      const more = random.chance(0.2)
        ? ', max_compacted_files => 2'
        : random.chance(0.1)
          ? ', max_file_size => 100000'
          : '';
      return `CALL ducklake_merge_adjacent_files('lake'${hasTable ? `, ${name}, schema => ${schema}` : ''}${more})`;
    }
    case 'rewrite':
      return `CALL ducklake_rewrite_data_files('lake'${hasTable ? `, ${name}, schema => ${schema}` : ''}, delete_threshold => ${random.pick(['0', '0.1', '0.5', '0.95'])})`;
    case 'expire':
      // The oldest few, or single ones: all at once would leave nothing to look at.
      if (random.chance(0.1)) return "CALL ducklake_expire_snapshots('lake', older_than => now())";
      return `CALL ducklake_expire_snapshots('lake', versions => [${expired(random).join(', ')}])`;
    case 'cleanup':
      return "CALL ducklake_cleanup_old_files('lake', cleanup_all => true)";
    case 'orphans':
      return "CALL ducklake_delete_orphaned_files('lake', cleanup_all => true)";
    case 'checkpoint':
      return 'CHECKPOINT lake';
  }
}
