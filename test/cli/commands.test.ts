import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdir, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { openOracle } from '../support/oracle.ts';
import { type Cli, headOf, scratch, startCli } from './run.ts';

setDefaultTimeout(300_000);

let folder: Awaited<ReturnType<typeof scratch>>;
let cli: Cli;
const edgemere: Cli['run'] = (...args) => cli.run(...args);
const ok: Cli['ok'] = (...args) => cli.ok(...args);
beforeAll(async () => {
  folder = await scratch();
  cli = startCli();
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const file = async (name: string, content: string | Uint8Array): Promise<string> => {
  const path = `${folder.path}/${name}`;
  await writeFile(path, content);
  return path;
};

describe('a lake from nothing', () => {
  test('init, create, append, and every way to look at it', async () => {
    const lake = `${folder.path}/web`;
    expect(await ok(['init', lake])).toBe(`made a lake in ${lake}, its data files in ${lake}/data/\n`);
    expect(await ok(['init', lake])).toContain('there is a lake already');
    expect(await ok(['ls', lake])).toContain('no tables yet');

    const columns = `id bigint not null, "at time" timestamptz, price decimal(12, 2) default 0.50, note text default 'none'`;
    expect(await ok(['create', lake, 'shop.events', columns, '--author', 'ada', '--message', 'first'])).toBe(
      'made shop.events of 4 columns, snapshot 1\n',
    );
    expect(await ok(['create', lake, 'shop.events', 'x int', '--if-not-exists'])).toContain('is there already');

    const ndjson =
      '{"id":9007199254740993,"at time":"2024-01-15T12:30:00.123456Z","price":"1.10"}\n\n{"id":2,"at time":null,"price":1234567890.12,"note":null}\n';
    const append = ['append', lake, 'shop.events', '-', '--author', 'bob', '--message', 'two rows', '--json'];
    expect(JSON.parse(await ok(append, { stdin: ndjson }))).toMatchObject({
      schema: 'shop',
      name: 'events',
      created: null,
      rowCount: 2,
      inlinedRowCount: 2,
      snapshotId: 2,
      files: [],
    });
    expect(await ok(['append', lake, 'shop.events', '-'], { stdin: '\n' })).toContain('nothing was appended');

    expect(await ok(['scan', lake, 'shop.events'])).toBe(
      '{"id":9007199254740993,"at time":"2024-01-15T12:30:00.123456Z","price":1.10,"note":"none"}\n' +
        '{"id":2,"at time":null,"price":1234567890.12,"note":null}\n',
    );
    expect(await ok(['scan', lake, 'shop.events', '--format', 'csv', '--columns', 'note,ID'])).toBe(
      'note,id\nnone,9007199254740993\n,2\n',
    );
    expect(await ok(['scan', lake, 'shop.events', '--json', '--limit', '1', '--columns', '"at time"'])).toBe(
      '[\n{"at time":"2024-01-15T12:30:00.123456Z"}\n]\n',
    );
    expect(await ok(['scan', lake, 'shop.events', '--as-of', '1'])).toBe('');
    expect(await ok(['scan', lake, 'shop.events', '--columns', 'id,ROWID,snapshot_id', '--format', 'csv'])).toBe(
      'id,rowid,snapshot_id\n9007199254740993,0,2\n2,1,2\n',
    );
    expect(await ok(['count', lake, 'shop.events'])).toBe('2\n');
    expect(await ok(['count', lake, 'shop.events', '--where', '{"ID": {"gt": 2}}', '--json'])).toBe('1\n');
    expect(await ok(['count', lake, 'shop.events', '--as-of', '1'])).toBe('0\n');
    expect(await ok(['scan', lake, 'shop.events', '--format', 'table'])).toContain(
      '│ 9007199254740993 │ 2024-01-15T12:30:00.123456Z │          1.10 │ none │',
    );

    expect(JSON.parse(await ok(['ls', lake, '--json']))).toMatchObject([
      { schema: 'shop', name: 'events', rowCount: 2 },
    ]);
    expect(JSON.parse(await ok(['describe', lake, 'shop.events', '--json']))).toMatchObject({
      columns: [
        { name: 'id', type: 'int64', nullable: false, defaultValue: null },
        { name: 'at time', type: 'timestamptz', nullable: true },
        { name: 'price', type: 'decimal(12,2)', defaultValue: '0.50' },
        { name: 'note', type: 'varchar', defaultValue: 'none' },
      ],
    });
    const snapshots = JSON.parse(await ok(['snapshots', lake, '--json'])) as { time: string }[];
    expect(snapshots).toMatchObject([
      { id: 0, author: null },
      {
        id: 1,
        author: 'ada',
        message: 'first',
        changes: [
          { kind: 'created_schema', name: 'shop' },
          { kind: 'created_table', schema: 'shop', name: 'events' },
        ],
      },
      { id: 2, author: 'bob', message: 'two rows', changes: [{ kind: 'inlined_insert' }] },
    ]);
    expect(JSON.parse(await ok(['files', lake, 'shop.events', '--json']))).toEqual([]);
    expect(JSON.parse(await ok(['stats', lake, 'shop.events', '--json']))).toMatchObject({
      rowCount: 2,
      columns: [
        { name: 'id', min: '2', max: '9007199254740993', containsNull: false },
        { name: 'at time', min: '2024-01-15 12:30:00.123456+00', containsNull: true },
        { name: 'price', min: '1.10', max: '1234567890.12' },
        { name: 'note', min: 'none', max: 'none' },
      ],
    });
    for (const verb of ['ls', 'snapshots']) expect(await ok([verb, lake])).toContain('shop.events');
    for (const verb of ['describe', 'stats']) expect(await ok([verb, lake, 'shop.events'])).toContain('│');

    // A time as the list prints it: the snapshot of that very microsecond, and the one before it.
    expect(await ok(['scan', lake, 'shop.events', '--as-of', snapshots[2]!.time, '--columns', 'id'])).toContain(
      '{"id":2}',
    );
    expect(await ok(['scan', lake, 'shop.events', '--as-of', snapshots[1]!.time, '--columns', 'id'])).toBe('');

    await using duck = await openOracle();
    await duck.attachSqlite(`${lake}/catalog.sqlite`);
    expect(await duck.rowsAgreed('SELECT * FROM lake.shop.events ORDER BY id')).toEqual([
      { id: '2', 'at time': null, price: '1234567890.12', note: null },
      { id: '9007199254740993', 'at time': '2024-01-15 12:30:00.123456+00', price: '1.10', note: 'none' },
    ]);
  });

  test('a few rows are kept in the catalog, more in a file', async () => {
    const lake = `${folder.path}/few`;
    await ok(['init', lake]);
    await ok(['create', lake, 't', 'a int']);
    const append = (count: number) => ok(['append', lake, 't', '-'], { stdin: '{"a":1}\n'.repeat(count) });
    expect(await append(10)).toBe('appended 10 rows to main.t, kept in the catalog, snapshot 2\n');
    expect(await append(11)).toMatch(/^appended 11 rows to main.t in 1 file \(.*\), snapshot 3\n$/);
    expect(JSON.parse(await ok(['files', lake, 't', '--json']))).toMatchObject([{ rowCount: 11, beginSnapshot: 3 }]);
    expect(await ok(['files', lake, 't'])).toContain('│');
    expect(await ok(['scan', lake, 't'])).toBe('{"a":1}\n'.repeat(21));
  });

  test('EDGEMERE_LAKE stands in for LAKE, which may be given all the same', async () => {
    const path = `${folder.path}/env.sqlite`;
    const env = { EDGEMERE_LAKE: `sqlite:${path}` };
    expect(await ok(['init'], { env })).toContain(`${path}.files/`);
    await ok(['create', 't', 'a int'], { env });
    const rows = '{"a":1}\n'.repeat(11);
    await ok(['append', 't', '-'], { env, stdin: rows });
    expect(await ok(['scan', 't'], { env })).toBe(rows);
    expect(await ok(['scan', path, 't'], { env: { EDGEMERE_LAKE: '/nowhere' } })).toBe(rows);
    await ok(['append', `sqlite:${path}`, 't', '-'], { env: { EDGEMERE_LAKE: '/nowhere' }, stdin: rows });
    expect(await readdir(`${path}.files/main/t`)).toHaveLength(2);
  });
});

describe('append --create', () => {
  test('takes columns from all of NDJSON on standard input', async () => {
    const lake = `${folder.path}/ndjson.sqlite`;
    await ok(['init', lake]);
    const lines = Array.from({ length: 3000 }, (_, i) => JSON.stringify({ n: i, s: `x${i}` }));
    const last = '{"n":12345678901234567890,"late":{"a":[1]},"at":"2024-01-15T00:00:00Z"}';
    const { code, out, log } = await edgemere(['append', lake, 'new.made', '-', '--create'], {
      stdin: `${lines.join('\n')}\n${last}`,
    });
    expect([code, log]).toEqual([0, '']);
    expect(out).toContain('made new.made of 4 columns, types from all 3,001 records');
    expect(JSON.parse(await ok(['describe', lake, 'new.made', '--json']))).toMatchObject({
      columns: [
        { name: 'n', type: 'uint64' },
        { name: 's', type: 'varchar' },
        { name: 'late', type: 'json' },
        { name: 'at', type: 'timestamptz' },
      ],
    });
    // Table and rows are one snapshot.
    expect(headOf(lake)).toBe(1);
    const [head] = (await ok(['scan', lake, 'new.made', '--columns', 'n'])).trim().split('\n').slice(-1);
    expect(head).toBe('{"n":12345678901234567890}');
  });

  test('CSV, TSV and gzip, in any mix of one format', async () => {
    const lake = `${folder.path}/csv.sqlite`;
    await ok(['init', lake]);
    const csv = await file('a.csv', '\ufeffid,zip,name,price\r\n1,00501,"Ann ""A"", Ltd",1.5\r\n2,00544,"",\r\n\r\n');
    const tsv = await file('b.tsv', 'price\tid\tzip\tname\n1.25\t3\t00601\tNULL\n');
    const zipped = await file('c.csv.gz', gzipSync('id;zip;name;price\n4;x;"two\nlines";"7"\n'));
    await ok(['append', lake, 't', csv, tsv, '--create']);
    await ok(['append', lake, 't', zipped, '--delimiter', ';']);
    expect(await ok(['scan', lake, 't'])).toBe(
      `{"id":1,"zip":"00501","name":"Ann \\"A\\", Ltd","price":1.5}
{"id":2,"zip":"00544","name":"","price":null}
{"id":3,"zip":"00601","name":"NULL","price":1.25}
{"id":4,"zip":"x","name":"two\\nlines","price":7}
`,
    );
  });

  test('says what it made of columns that surprise', async () => {
    const lake = `${folder.path}/notes.sqlite`;
    await ok(['init', lake]);
    const mixed = await file('mixed.json', '[{"a":1,"b":null},{"a":"x"}]');
    const { out, log } = await edgemere(['append', lake, 't', mixed, '--create']);
    expect(out).toContain('appended 2 rows to main.t');
    expect(log).toBe('note: column "a" is json: values of several kinds\nnote: column "b" is json: no values\n');
    expect(await ok(['scan', lake, 't'])).toBe('{"a":1,"b":null}\n{"a":"x","b":null}\n');
  });
});

test('a lake that DuckDB made, with its own compression, is read and added to', async () => {
  const path = `${folder.path}/theirs.sqlite`;
  await using duck = await openOracle();
  await duck.attachSqlite(path, `${folder.path}/theirs/`);
  await duck.run("CALL lake.set_option('parquet_compression', 'zstd')");
  await duck.run("CREATE TABLE lake.t AS SELECT range AS n, 'text ' || range AS s FROM range(1000)");
  await duck.detach();
  expect(await ok(['append', path, 't', '-'], { stdin: '{"N":1000,"s":"ours"}' })).toContain('appended 1 row');
  expect(await ok(['scan', path, 't', '--format', 'csv'])).toMatch(
    /^n,s\n0,text 0\n[\s\S]*\n999,text 999\n1000,ours\n$/,
  );
  await duck.attachSqlite(path);
  expect(await duck.rowsAgreed('SELECT count(*) c, sum(n) s, max(s) m FROM lake.t')).toEqual([
    { c: '1001', s: '500500', m: 'text 999' },
  ]);
});

test('columns stay in their order, also those called like numbers', async () => {
  const path = `${folder.path}/order.sqlite`;
  await ok(['init', path]);
  await ok(['create', path, 't', '"2024" int, b int, "1" int, "__proto__" int']);
  await ok(['append', path, 't', '-', '--format', 'csv'], { stdin: '__proto__,1,b,2024\n4,3,2,1\n' });
  expect(await ok(['scan', path, 't'])).toBe('{"2024":1,"b":2,"1":3,"__proto__":4}\n');
  await using duck = await openOracle();
  await duck.attachSqlite(path);
  expect((await duck.rows('DESCRIBE lake.t')).map((row) => row['column_name'])).toEqual([
    '2024',
    'b',
    '1',
    '__proto__',
  ]);
});

describe('nested columns', () => {
  test('are made, filled, shown and refused by the part that does not fit', async () => {
    const lake = `${folder.path}/nested.sqlite`;
    await ok(['init', lake]);
    await ok([
      'create',
      lake,
      't',
      'id int, at struct(city text, "geo point" double[]), seen map(text, decimal(20, 2))',
    ]);
    expect(await ok(['describe', lake, 't'])).toContain('struct(city varchar, "geo point" float64[])');
    const rows =
      '{"id":1,"at":{"city":"X","geo point":[1.5,null]},"seen":{"k":123456789012345678.90,"__proto__":null}}\n' +
      '{"id":2,"at":null,"seen":{}}\n';
    await ok(['append', lake, 't', '-'], { stdin: rows });
    expect(await ok(['scan', lake, 't'])).toBe(rows);
    expect(await ok(['scan', lake, 't', '--format', 'csv', '--limit', '1'])).toBe(
      `id,at,seen\n1,"{""city"":""X"",""geo point"":[1.5,null]}","{""k"":123456789012345678.90,""__proto__"":null}"\n`,
    );
    const refused: readonly (readonly [value: string, says: string])[] = [
      ['"at":{"town":"X"}', 'column "at" (struct(city varchar, "geo point" float64[])): it has no member "town"'],
      ['"at":{"geo point":["x"]}', 'member "geo point": in the list: expected a number, got "x"'],
      ['"at":[1]', 'expected an object, got [1]'],
      ['"seen":[["k"]]', 'expected [key, value], got ["k"]'],
    ];
    for (const [value, says] of refused)
      expect(await edgemere(['append', lake, 't', '-'], { stdin: `{${value}}` })).toMatchObject({
        code: 1,
        log: expect.stringContaining(says),
      });
  });
});

describe('failures', () => {
  let lake: string;
  beforeAll(async () => {
    lake = `${folder.path}/failures`;
    await ok(['init', lake]);
    await ok(['create', lake, 't', 'id int not null, price decimal(5,2), at timestamp, b blob, ok boolean']);
  });

  const usage: readonly (readonly [args: readonly string[], says: string])[] = [
    [[], 'Usage: edgemere'],
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['init'], 'which lake?'],
    [['scan', 'x'], 'TABLE is missing after LAKE'],
    [['scan', 'x', 'y', 'z'], 'one argument too many'],
    [['scan', 'x', 'y', '--limit', '-1'], 'whole number'],
    [['scan', 'x', 'y', '--format', 'xml'], 'Allowed choices are table, ndjson, csv, json, parquet'],
    [['scan', 'x', 'y', '--frob'], "unknown option '--frob'"],
    [['scan', 'x', 'y', '--json', '--format', 'csv'], 'say different things'],
    [['append', 'x', 'y', 'data.txt'], 'add --format ndjson|json|csv|parquet'],
    [['append', 'x', 'y', '-', '-'], 'it can be read once'],
    [['create', 'x', 'y', 'id bigint primary key'], 'DuckLake has no primary keys'],
    [['ls', 'postgres://localhost'], 'names no database'],
    [['help', 'nothing'], 'there is no help on "nothing"'],
  ];
  for (const [args, says] of usage)
    test(`edgemere ${args.join(' ')}: exit code 2`, async () => {
      const { code, out, log } = await edgemere(args);
      expect([code, out]).toEqual([2, '']);
      expect(log).toContain(says);
      if (args.length > 0) expect(log).toMatch(/^edgemere: .*\n$/);
    });

  test('what fails says where and what to do, in one line', async () => {
    const failing: readonly (readonly [args: readonly string[], says: string, stdin?: string])[] = [
      [['ls', `${folder.path}/nowhere`], 'make one with `edgemere init LAKE`'],
      [['ls', await file('text.sqlite', 'no database')], 'not a SQLite database'],
      [['describe', lake, 'x.y'], 'there is no table x.y: `edgemere ls` lists those that are there'],
      [['scan', lake, 't', '--columns', 'nope'], 'main.t has no column nope: it has id, price, at, b, ok'],
      [['scan', lake, 't', '--as-of', '7'], 'no snapshot 7'],
      [['scan', lake, 't', '--as-of', '0'], 'there was no table main.t at that snapshot'],
      [['scan', lake, 't', '--as-of', '1999-12-31 23:59'], 'no snapshot as old as 1999-12-31 23:59'],
      [['create', lake, 't', 'a int'], 'add --if-not-exists'],
      [['append', lake, 'new', '-'], 'add --create to take its columns from the input', '{"a":1}'],
      [['append', lake, 'new', '-', '--create'], 'nothing in the input to take columns from', ''],
      [['append', lake, 't', `${folder.path}/none.csv`], 'none.csv: there is no such file'],
      [['append', lake, 't', folder.path, '--format', 'csv'], 'it is a directory'],
      [['append', lake, 't', '-'], 'stdin:2: not JSON', '{"id":1}\n{"id":1,}\n'],
      [['append', lake, 't', '-'], 'stdin:3: expected an object', '{"id":1}\n\n[{"id":1}]\n'],
      [
        ['append', lake, 't', '-'],
        'stdin:2: the table has no column x; it has id, price, at, b, ok',
        '{"id":1}\n{"x":1}',
      ],
      [['append', lake, 't', '-'], 'stdin:4: "main"."t", column "id"', '{"id":1}\n\n\n{"id":2147483648}\n'],
      [['append', lake, 't', '-'], 'stdin:1: "main"."t", column "id"', '{"price":1}'],
      [['append', lake, 't', '-'], 'stdin:1: "main"."t", column "price"', '{"id":1,"price":1.005}'],
      [
        ['append', lake, 't', '-'],
        'column "at" (timestamp): expected a string, got 1705321800',
        '{"id":1,"at":1705321800}',
      ],
      [['append', lake, 't', '-'], 'stdin:1: "main"."t", column "at"', '{"id":1,"at":"yesterday"}'],
      [['append', lake, 't', '-'], 'is not base64', '{"id":1,"b":"="}'],
      [
        ['append', lake, 't', '-', '--format', 'csv'],
        'stdin:3: column "ok" (boolean): "maybe"',
        'id,ok\n1,true\n2,maybe\n',
      ],
      [
        ['append', lake, 't', '-', '--format', 'csv'],
        'stdin:3: 3 cells, where the header has 2',
        'id,ok\n1,true\n2,t,f\n',
      ],
      [['append', lake, 't', '-', '--format', 'csv'], 'the header names "id" twice', 'id,id\n1,2\n'],
      [['append', lake, 't', '-', '--format', 'csv'], 'not CSV', 'id,ok\n1,"true\n'],
      [['append', lake, 't', '-', '--format', 'json'], 'the array has no end', '[{"id":1},'],
      [['append', lake, 't', '-', '--format', 'parquet'], 'not a Parquet file', 'PAR1'],
    ];
    const before = headOf(`${lake}/catalog.sqlite`);
    for (const [args, says, stdin = ''] of failing) {
      const { code, out, log } = await edgemere(args, { stdin });
      expect({ args, code, out, log }).toEqual({ args, code: 1, out: '', log: expect.stringContaining(says) });
      expect(log).toMatch(/^edgemere: .*\n$/);
    }
    const invalid = Uint8Array.of(0x7b, 0x22, 0x69, 0x64, 0x22, 0x3a, 0x31, 0xff, 0x7d);
    expect((await edgemere(['append', lake, 't', '-'], { stdin: invalid })).log).toContain('the file is not UTF-8');
    // Nothing was committed, and no file is left behind.
    expect(headOf(`${lake}/catalog.sqlite`)).toBe(before);
    expect(await readdir(`${lake}/data/main/t`).catch(() => [])).toEqual([]);
  });

  test('EDGEMERE_DEBUG shows the stack', async () => {
    const { log } = await edgemere(['ls', '/nowhere/at/all'], { env: { EDGEMERE_DEBUG: '1' } });
    expect(log).toMatch(/^edgemere: .*\nCommandError: .*\n {4}at /);
  });
});

describe('the data path', () => {
  test('is where it was made, unless told otherwise', async () => {
    const lake = `${folder.path}/moved.sqlite`;
    const elsewhere = `${folder.path}/else where`;
    await ok(['init', lake, '--data-path', elsewhere]);
    const rows = '{"a":1}\n'.repeat(11);
    await ok(['append', lake, 't', '-', '--create'], { stdin: rows });
    expect(await readdir(`${elsewhere}/main/t`)).toHaveLength(1);
    const other = await edgemere(['scan', lake, 't', '--data-path', folder.path]);
    expect(other.code).toBe(1);
    expect(other.log).toContain('add --override-data-path');
    const moved = ['scan', lake, 't', '--data-path', folder.path, '--override-data-path'];
    expect((await edgemere(moved)).code).toBe(1);
    expect(await ok(['scan', lake, 't', '--data-path', `${elsewhere}/`])).toBe(rows);
  });
});

test('flush writes what the catalog keeps into files', async () => {
  const lake = `${folder.path}/flushed`;
  await ok(['init', lake]);
  await ok(['create', lake, 't', 'a int']);
  expect(await ok(['flush', lake])).toContain('nothing to flush');
  for (const a of [1, 2]) await ok(['append', lake, 't', '-'], { stdin: `{"a":${a}}` });
  expect(await ok(['flush', lake, '--table', 't'])).toBe('main.t: 2 rows, 0 deletes\nflushed into files, snapshot 4\n');
  expect(JSON.parse(await ok(['flush', lake, '--json']))).toEqual({ snapshotId: null, tables: [] });
  expect(await ok(['scan', lake, 't'])).toBe('{"a":1}\n{"a":2}\n');
  expect((await edgemere(['flush', lake, '--table', 'no'])).code).toBe(1);
});
