import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileBinding, MappedName } from '../../src/file/format.ts';
import type { Field } from '../../src/schema/field.ts';
import { fieldsOf } from '../../src/schema/tree.ts';
import type { RowOf } from '../../src/spec/rows.ts';
import { codecFor } from '../../src/spec/values/codec.ts';
import { literal, type Oracle, openOracle } from '../support/oracle.ts';
import { field, readFile } from '../support/parquet.ts';

setDefaultTimeout(300_000);

let duck: Oracle;
let dir: string;
beforeAll(async () => {
  duck = await openOracle();
  dir = await mkdtemp(join(tmpdir(), 'edgemere-bind-'));
  await duck.attachSqlite(`${dir}/lake.sqlite`, `${dir}/data/`);
});
afterAll(async () => {
  await duck.close();
  await rm(dir, { recursive: true, force: true });
});

const catalog = '__ducklake_metadata_lake';
const number = (text: string | null | undefined): number | null =>
  text === null || text === undefined ? null : Number(text);

async function fieldsAt(table: string, snapshot: number): Promise<Field[]> {
  const rows = await duck.rows(`
    SELECT c.* FROM ${catalog}.ducklake_column c JOIN ${catalog}.ducklake_table t USING (table_id)
    WHERE t.table_name = ${literal(table)} AND t.end_snapshot IS NULL
      AND c.begin_snapshot <= ${snapshot} AND (c.end_snapshot IS NULL OR c.end_snapshot > ${snapshot})`);
  return fieldsOf(
    rows.map(
      (row): RowOf<'ducklake_column'> => ({
        column_id: Number(row['column_id']),
        begin_snapshot: number(row['begin_snapshot']),
        end_snapshot: number(row['end_snapshot']),
        table_id: number(row['table_id']),
        column_order: number(row['column_order']),
        column_name: row['column_name']!,
        column_type: row['column_type']!,
        initial_default: row['initial_default']!,
        default_value: row['default_value']!,
        nulls_allowed: row['nulls_allowed'] !== 'false' && row['nulls_allowed'] !== '0',
        parent_column: number(row['parent_column']),
        default_value_type: row['default_value_type']!,
        default_value_dialect: row['default_value_dialect']!,
      }),
    ),
    table,
  );
}

/** The mapping of a file, with hive columns from its path. */
async function bindingOf(mappingId: string | null, path: string, fields: readonly Field[]): Promise<FileBinding> {
  if (mappingId === null) return { kind: 'positions', fieldIds: fields.map(({ id }) => id) };
  const rows = await duck.rows(`SELECT * FROM ${catalog}.ducklake_name_mapping WHERE mapping_id = ${mappingId}`);
  const below = (parent: string | null): MappedName[] =>
    rows
      .filter((row) => row['parent_column'] === parent)
      .map((row) => {
        const sourceName = row['source_name']!;
        const segment = path.split('/').find((part) => part.startsWith(`${sourceName}=`));
        const text = segment && decodeURIComponent(segment.slice(sourceName.length + 1));
        const isHive = row['is_partition'] === 'true' || row['is_partition'] === '1';
        return {
          sourceName,
          fieldId: Number(row['target_field_id']),
          partition: isHive ? { value: text === '__HIVE_DEFAULT_PARTITION__' ? null : text! } : undefined,
          children: below(row['column_id']!),
        };
      });
  return { kind: 'names', names: below(null) };
}

/** A value as it stands in what is compared: JSON of DuckDB's texts. */
function shown(field: Field, value: unknown): unknown {
  if (value === null) return null;
  const [first, second] = field.children;
  switch (field.type.name) {
    case 'struct':
      return Object.fromEntries(
        field.children.map((child) => [child.name, shown(child, (value as Record<string, unknown>)[child.name])]),
      );
    case 'list':
      return (value as unknown[]).map((item) => shown(first!, item));
    case 'map':
      return Object.fromEntries(
        [...(value as Map<unknown, unknown>)].map(([key, item]) => [shown(first!, key), shown(second!, item)]),
      );
    case 'boolean':
      return String(value);
    case 'json':
      return JSON.stringify(value);
    case 'blob':
      return [...(value as Uint8Array)].map((byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join('');
    default: {
      const codec = codecFor(field.type);
      return codec.text(codec.encode(value));
    }
  }
}

/** SQL that makes of a column's value what {@link shown} makes. */
function shownSql(field: Field, sql: string): string {
  const [first, second] = field.children;
  switch (field.type.name) {
    case 'struct': {
      const members = field.children.map((child) => {
        const name = `"${child.name.replaceAll('"', '""')}"`;
        return `${name} := ${shownSql(child, `struct_extract(${sql}, ${literal(child.name)})`)}`;
      });
      return `CASE WHEN ${sql} IS NULL THEN NULL ELSE struct_pack(${members.join(', ')}) END`;
    }
    case 'list':
      return `list_transform(${sql}, lambda x: ${shownSql(first!, 'x')})`;
    case 'map':
      return `map_from_entries(list_transform(map_entries(${sql}), lambda e: struct_pack(k := ${shownSql(first!, 'e.key')}, v := ${shownSql(second!, 'e.value')})))`;
    case 'blob':
      return `hex(${sql})`;
    case 'json':
      return `CAST(json(${sql}) AS VARCHAR)`;
    default:
      return `CAST(${sql} AS VARCHAR)`;
  }
}

/** Every data file of a table, read here and by DuckDB through the table, at the last few snapshots from the file's first on. */
async function agrees(table: string, depth = 2): Promise<number> {
  const files = await duck.rows(`
    SELECT d.*, t.begin_snapshot AS born FROM ${catalog}.ducklake_data_file d JOIN ${catalog}.ducklake_table t USING (table_id)
    WHERE t.table_name = ${literal(table)} AND t.end_snapshot IS NULL`);
  const snapshots = await duck.rows(
    `SELECT snapshot_id AS id FROM ducklake_snapshots('lake') ORDER BY snapshot_id DESC LIMIT ${depth}`,
  );
  let compared = 0;
  for (const file of files)
    for (const snapshot of snapshots) {
      if (Number(snapshot['id']) < Number(file['begin_snapshot'])) continue;
      const fields = await fieldsAt(table, Number(snapshot['id']));
      const columns = fields.map((f) => `to_json(${shownSql(f, `"${f.name.replaceAll('"', '""')}"`)}) AS "${f.name}"`);
      const path = file['path']!;
      const expected = await duck.rows(
        `SELECT ${columns.join(', ')} FROM lake."${table}" AT (VERSION => ${snapshot['id']})
         WHERE filename LIKE ${literal(`%${path.replaceAll('%', '\\%')}`)} ESCAPE '\\' ORDER BY file_row_number`,
      );
      const absolute = path.startsWith('/') ? path : `${dir}/data/main/${table}/${path}`;
      const bytes = new Uint8Array(await Bun.file(absolute).arrayBuffer());
      const binding = await bindingOf(file['mapping_id']!, path, fields);
      const read = await readFile(bytes, { fields, binding });
      const rows = Array.from({ length: Number(file['record_count']) }, (_, i) =>
        Object.fromEntries(fields.map((f, c) => [f.name, shown(f, read[c]![i])])),
      );
      const wanted = expected.map((row) =>
        Object.fromEntries(fields.map(({ name }) => [name, row[name] == null ? null : JSON.parse(row[name])])),
      );
      expect(rows).toEqual(wanted);
      compared += rows.length;
    }
  return compared;
}

describe('columns whose type was changed', () => {
  const cases: readonly [from: string, values: readonly string[], to: readonly string[]][] = [
    ['BOOLEAN', ['true', 'false'], ['TINYINT', 'BIGINT', 'UHUGEINT', 'JSON']],
    [
      'TINYINT',
      ['-128', '127'],
      ['SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'FLOAT', 'DOUBLE', 'DECIMAL(5,2)', 'DECIMAL(38,4)', 'JSON'],
    ],
    [
      'INTEGER',
      ['-2147483648', '2147483647', '16777217'],
      ['BIGINT', 'HUGEINT', 'FLOAT', 'DOUBLE', 'DECIMAL(12,2)', 'JSON'],
    ],
    ['UINTEGER', ['4294967295', '0'], ['BIGINT', 'UBIGINT', 'HUGEINT', 'UHUGEINT', 'FLOAT', 'DOUBLE', 'DECIMAL(12,2)']],
    ['UTINYINT', ['255'], ['SMALLINT', 'USMALLINT', 'UINTEGER', 'INTEGER']],
    [
      'UBIGINT',
      ['18446744073709551615', '9007199254740993', '16777217'],
      ['HUGEINT', 'UHUGEINT', 'FLOAT', 'DOUBLE', 'DECIMAL(38,4)'],
    ],
    [
      'BIGINT',
      ['-9223372036854775807', '9007199791611905', '9007199254740993', '36028797018963969', '-36028799166447617'],
      ['HUGEINT', 'FLOAT', 'DOUBLE', 'DECIMAL(38,4)'],
    ],
    ['HUGEINT', ['5', '-3', '12345678901234567890'], ['DOUBLE', 'FLOAT', 'DECIMAL(38,4)']],
    ['FLOAT', ['1.1', "'nan'", "'-inf'", '-0.0', '3.4e38'], ['DOUBLE']],
    [
      'DECIMAL(5,2)',
      ['1.50', '-999.99', '0.01'],
      ['FLOAT', 'DOUBLE', 'DECIMAL(12,2)', 'DECIMAL(12,4)', 'DECIMAL(38,4)'],
    ],
    [
      'DECIMAL(18,3)',
      ['123456789012345.678', '-0.005', '9007199254740.993', '16777.217'],
      ['FLOAT', 'DOUBLE', 'DECIMAL(38,4)'],
    ],
    [
      'DECIMAL(38,4)',
      ['1234567890123456789012345678901234.5678', '-0.0001', '-99999999999999999999.9999', '922337203685477.5808'],
      ['FLOAT', 'DOUBLE'],
    ],
    ['VARCHAR', ["'5'", "'[1, 2]'", '\'"a"\''], ['JSON']],
    ['UUID', ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"], ['JSON']],
    [
      'DATE',
      ["'2020-01-01'", "'1969-12-31'", "'infinity'", "'-infinity'"],
      ['TIMESTAMP', 'TIMESTAMPTZ', 'TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS', 'JSON'],
    ],
    [
      'TIMESTAMP',
      ["'2020-01-01 00:00:00.123456'", "'infinity'", "'1969-12-31 23:59:59.999999'"],
      ['TIMESTAMPTZ', 'TIMESTAMP_NS', 'JSON'],
    ],
    ['TIMESTAMP_S', ["'2020-01-01 00:00:01'"], ['TIMESTAMP', 'TIMESTAMP_MS', 'TIMESTAMP_NS']],
    ['TIMESTAMP_MS', ["'2020-01-01 00:00:01.123'", "'infinity'"], ['TIMESTAMP', 'TIMESTAMP_NS']],
    ['TIMETZ', ["'12:34:56+02'"], ['JSON']],
  ];
  for (const [from, values, targets] of cases)
    test(`${from} to ${targets.join(', ')}`, async () => {
      const table = `p_${from}`.replaceAll(/\W/g, '_').toLowerCase();
      const columns = targets.map((_, i) => `x${i} ${from}`).join(', ');
      const rows = [...values, 'NULL'].map((value) => {
        const cast = `CAST(${value} AS ${from})`;
        return `(${targets.map(() => cast).join(', ')}, {'a': ${cast}, 'l': [${cast}, NULL]})`;
      });
      const [target] = targets;
      await duck.run(`
        CREATE TABLE lake.${table} (${columns}, s STRUCT(a ${from}, l ${from}[]));
        INSERT INTO lake.${table} VALUES ${rows.join(', ')};
        BEGIN;
        ${targets.map((to, i) => `ALTER TABLE lake.${table} ALTER x${i} SET DATA TYPE ${to}`).join(';\n')};
        ALTER TABLE lake.${table} ALTER s SET DATA TYPE STRUCT(a ${target}, l ${target}[]);
        COMMIT`);
      expect(await agrees(table)).toBe(2 * rows.length);
    });
});

describe('nested columns that were changed', () => {
  test('members added, dropped, renamed, added again, and all replaced', async () => {
    await duck.run(`
      CREATE TABLE lake.n (id INTEGER, s STRUCT(a INTEGER, b VARCHAR, t STRUCT(x INTEGER, y DATE)), l STRUCT(a INTEGER, q INTEGER[])[],
        m MAP(VARCHAR, STRUCT(a INTEGER)), r STRUCT(deep INTEGER[][], z MAP(VARCHAR, INTEGER)),
        o STRUCT(i STRUCT(a INTEGER)));
      INSERT INTO lake.n VALUES
        (1, {a: 1, b: 'x', t: {x: 5, y: DATE '2020-01-01'}}, [{a: 1, q: [1, 2]}, NULL, {a: NULL, q: NULL}, {a: 4, q: []}], MAP {'k': {a: 1}, 'n': NULL},
          {deep: [[1, 2], [3]], z: MAP {'a': 1, 'b': 2}}, {i: NULL}),
        (2, NULL, NULL, NULL, NULL, NULL),
        (3, {a: NULL, b: NULL, t: NULL}, [], MAP {}, {deep: NULL, z: NULL}, {i: {a: NULL}}),
        (4, {a: 7, b: 'NULL', t: {x: NULL, y: NULL}}, [NULL], MAP {'z': {a: 9}}, {deep: [], z: MAP {}}, {i: {a: 1}});
      ALTER TABLE lake.n ADD COLUMN s.c INTEGER;
      ALTER TABLE lake.n ADD COLUMN s.d VARCHAR DEFAULT 'a, ''b''';
      ALTER TABLE lake.n ADD COLUMN s.t.w BIGINT DEFAULT 9;
      ALTER TABLE lake.n RENAME COLUMN s.a TO aa;
      ALTER TABLE lake.n ADD COLUMN s.a VARCHAR DEFAULT 'new';
      ALTER TABLE lake.n DROP COLUMN s.b;
      ALTER TABLE lake.n DROP COLUMN s.aa;
      ALTER TABLE lake.n DROP COLUMN s.t;
      ALTER TABLE lake.n ADD COLUMN l.element.c INTEGER DEFAULT 3;
      ALTER TABLE lake.n DROP COLUMN l.element.q;
      ALTER TABLE lake.n ADD COLUMN m.value.c INTEGER DEFAULT 5;
      ALTER TABLE lake.n ADD COLUMN r.other INTEGER;
      ALTER TABLE lake.n DROP COLUMN r.deep;
      ALTER TABLE lake.n DROP COLUMN r.z;
      ALTER TABLE lake.n ADD COLUMN o.i.b INTEGER`);
    expect(await agrees('n', 12)).toBe(48);
  });

  test('structs in others, none of whose members are left are refused: DuckDB shows NULL for others than are', async () => {
    await duck.run(`
      CREATE TABLE lake.e (l STRUCT(a INTEGER)[], m MAP(VARCHAR, STRUCT(a INTEGER)), o STRUCT(i STRUCT(a INTEGER)));
      INSERT INTO lake.e VALUES ([NULL], MAP {'k': NULL}, {i: NULL});
      ALTER TABLE lake.e ADD COLUMN l.element.b INTEGER;
      ALTER TABLE lake.e DROP COLUMN l.element.a;
      ALTER TABLE lake.e ADD COLUMN m.value.b INTEGER;
      ALTER TABLE lake.e DROP COLUMN m.value.a;
      ALTER TABLE lake.e ADD COLUMN o.i.b INTEGER;
      ALTER TABLE lake.e DROP COLUMN o.i.a`);
    const [l, m, o] = await fieldsAt('e', 2 ** 31);
    const [file] = await duck.rows(`SELECT filename AS path FROM lake.e`);
    const bytes = new Uint8Array(await Bun.file(file!['path']!).arrayBuffer());
    for (const [column, part] of [
      [l!, 'element'],
      [m!, 'value'],
      [o!, 'i'],
    ] as const)
      await expect(readFile(bytes, { fields: [column] })).rejects.toMatchObject({
        code: 'UNSUPPORTED',
        context: { column: part },
      });
  });

  test('columns added with defaults of every type', async () => {
    await duck.run(`CREATE TABLE lake.d (id INTEGER); INSERT INTO lake.d VALUES (1), (2)`);
    const defaults: readonly [string, string][] = [
      ['VARCHAR', "''"],
      ['VARCHAR', "'it''s {a}'"],
      ['DECIMAL(9,3)', '1.5'],
      ['FLOAT', '1.1'],
      ['DOUBLE', "'nan'"],
      ['UUID', "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"],
      ['JSON', `'{"a": [1]}'`],
      ['DATE', "'0044-03-15 (BC)'"],
      ['TIMESTAMP', "'2020-01-01 00:00:00.5'"],
      ['TIMESTAMPTZ', "'2020-01-01 00:00:00+02'"],
      ['TIMESTAMP_NS', "'2020-01-01 00:00:00.123456789'"],
      ['TIMESTAMP_S', "'2020-01-01 00:00:01'"],
      ['TIME', "'12:34:56.7'"],
      ['HUGEINT', '-5'],
      ['UBIGINT', '18446744073709551615'],
      ['TINYINT', '7'],
      ['BOOLEAN', "'true'"],
      ['INTERVAL', "'1 year 2 days 03:00:00'"],
    ];
    const added = defaults.map(([type, value], i) => `ALTER TABLE lake.d ADD COLUMN c${i} ${type} DEFAULT ${value};`);
    await duck.run(`BEGIN; ${added.join('\n')} COMMIT`);
    await duck.run('INSERT INTO lake.d (id) VALUES (3); ALTER TABLE lake.d ALTER c15 SET DATA TYPE DOUBLE');
    expect(await agrees('d', 4)).toBe(10);
  });
});

describe('files from outside', () => {
  const add = async (table: string, path: string, options = ''): Promise<void> =>
    duck.run(
      `CALL ducklake_add_data_files('lake', '${table}', '${path}', allow_missing => true, ignore_extra_columns => true${options})`,
    );

  test('are mapped by name, nested ones too, and by the names they had', async () => {
    const path = `${dir}/one.parquet`;
    await duck.run(`
      COPY (SELECT 7::TINYINT AS "A", 'x' AS extra, {'Y': 'why', x: 5::UTINYINT, more: 1} AS s, [1::SMALLINT, NULL] AS l, MAP {'k': {q: 2::INTEGER}} AS m
        UNION ALL SELECT NULL, NULL, NULL, NULL, NULL) TO '${path}' (FORMAT parquet);
      CREATE TABLE lake.f (a BIGINT, missing INTEGER, s STRUCT(x INTEGER, y VARCHAR), l BIGINT[], m MAP(VARCHAR, STRUCT(q BIGINT)))`);
    await add('f', path);
    await duck.run(`
      ALTER TABLE lake.f RENAME COLUMN a TO b;
      ALTER TABLE lake.f ADD COLUMN a VARCHAR DEFAULT 'later';
      ALTER TABLE lake.f RENAME COLUMN s.x TO xx;
      ALTER TABLE lake.f ADD COLUMN s.x INTEGER DEFAULT 1;
      ALTER TABLE lake.f ALTER l SET DATA TYPE HUGEINT[];
      ALTER TABLE lake.f DROP COLUMN missing`);
    expect(await agrees('f', 7)).toBe(14);
  });

  test('that have field ids go by name all the same', async () => {
    const path = `${dir}/ids.parquet`;
    await duck.run(`
      COPY (SELECT 1 AS a, 2 AS b) TO '${path}' (FORMAT parquet, FIELD_IDS {a: 2, b: 1});
      CREATE TABLE lake.i (a INTEGER, b INTEGER)`);
    await add('i', path);
    expect(await agrees('i')).toBeGreaterThan(0);
    expect(await duck.rows('FROM lake.i')).toEqual([{ a: '1', b: '2' }]);
  });

  test('times of another unit are rounded and cut as DuckDB does it', async () => {
    const path = `${dir}/times.parquet`;
    await duck.run(`
      COPY (SELECT make_timestamp(n * 1000) AS s, make_timestamp(n) AS ms, make_timestamp_ns(n) AS us, make_timestamp(n)::TIMESTAMP_MS AS of_ms
        FROM (SELECT unnest([1499, 1500, 499, 500, 0, -1, -499, -500, -501, -1500, -1999, 499999, 500000, -499999, -500000]) AS n))
        TO '${path}' (FORMAT parquet);
      CREATE TABLE lake.times (s TIMESTAMP_S, ms TIMESTAMP_MS, us TIMESTAMP, of_ms TIMESTAMP_S)`);
    await add('times', path);
    expect(await agrees('times', 1)).toBe(15);
  });

  test('hive columns', async () => {
    await duck.run(`
      CREATE TABLE lake.h (v INTEGER, k VARCHAR, y INTEGER, d DATE);
      COPY (SELECT * FROM (VALUES (1, 'a b', 2020, DATE '2020-01-02'), (2, NULL, 2021, DATE '2021-01-01'), (3, 'x/=%', 2021, NULL), (4, '', NULL, NULL)) t(v, k, y, d))
        TO '${dir}/hive' (FORMAT parquet, PARTITION_BY (k, y, d))`);
    await add('h', `${dir}/hive/**/*.parquet`, ', hive_partitioning => true');
    expect(await agrees('h')).toBeGreaterThan(3);
  });

  test('read by position where the catalog has no mapping', async () => {
    const path = `${dir}/positions.parquet`;
    await duck.run(`
      COPY (SELECT 1::INTEGER AS p, 'two' AS q, 3::TINYINT AS x) TO '${path}' (FORMAT parquet);
      CREATE TABLE lake.added (p INTEGER, q VARCHAR, x TINYINT);
      CREATE TABLE lake.pos (x BIGINT, y VARCHAR, dropped INTEGER, z INTEGER, s STRUCT(a INTEGER), later INTEGER DEFAULT 7)`);
    await add('added', path);
    await duck.run(`
      UPDATE ${catalog}.ducklake_data_file SET mapping_id = NULL,
        table_id = (SELECT table_id FROM ${catalog}.ducklake_table WHERE table_name = 'pos') WHERE path = '${path}';
      DETACH lake`);
    await duck.attachSqlite(`${dir}/lake.sqlite`);
    // What the n-th column is changes with the table: so DuckDB has it.
    await duck.run(
      'ALTER TABLE lake.pos DROP COLUMN dropped; ALTER TABLE lake.pos DROP COLUMN s; ALTER TABLE lake.pos ALTER z SET DATA TYPE BIGINT',
    );
    expect(await agrees('pos', 1)).toBe(1);
    await duck.run(`COPY (SELECT {a: 1} AS s) TO '${path}' (FORMAT parquet)`);
    const fields = [field(1, 's', 'struct', { children: [field(2, 'a', 'int32')] })];
    const bytes = new Uint8Array(await Bun.file(path).arrayBuffer());
    await expect(readFile(bytes, { fields, binding: { kind: 'positions', fieldIds: [1] } })).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      context: { column: 's' },
    });
  });
});
