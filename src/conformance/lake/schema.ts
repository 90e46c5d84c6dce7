import type { Lake } from '../../lake.ts';
import { type Column, t } from '../../schema/builder.ts';
import { type ConformanceCase, check, collect, equal, rejects } from '../case.ts';
import { createNumbered, headId, ids, type LakeTarget, numbered, weirdNames } from './target.ts';

export const schemaCases: readonly ConformanceCase<LakeTarget>[] = [
  {
    name: 'columns and members of a Map keep their order, whole numbers as names or not',
    async run(target) {
      await using lake = await target.open();
      const members = new Map<string, Column>([
        ['10', t.int32()],
        ['x', t.varchar()],
        ['9', t.int32()],
      ]);
      const columns = new Map<string, Column>([
        ['2024', t.int32().notNull()],
        ['id', t.struct(members)],
        ['2023', t.varchar()],
      ]);
      const table = await lake.createTable('years', columns);
      const described = (await table.describe()).columns;
      equal(
        described.map(({ id, name, children }) => [id, name, children.map((child) => [child.id, child.name])]),
        [
          [1, '2024', []],
          [
            2,
            'id',
            [
              [3, '10'],
              [4, 'x'],
              [5, '9'],
            ],
          ],
          [6, '2023', []],
        ],
        'the columns',
      );
      const row = { '2024': 1, id: { '10': 2, x: 'a', '9': 3 }, '2023': 'b' };
      await table.insert([row]);
      equal(await table.scan().toArray(), [row], 'the rows');
    },
  },
  {
    name: 'a table is described as it was made',
    async run(target) {
      await using lake = await target.open();
      const table = await lake.createTable('events', {
        id: t.int64().notNull(),
        name: t.varchar().default("it's"),
        price: t.decimal(12, 2).notNull().default('0.10'),
        at: t.timestamptz(),
        flag: t.boolean().default(false),
        precise: t.timestampNs(),
      });
      const described = await table.describe();
      equal(
        described.columns.map(({ id, name, type, nullable, defaultValue }) => [id, name, type, nullable, defaultValue]),
        [
          [1, 'id', 'int64', false, null],
          [2, 'name', 'varchar', true, "it's"],
          [3, 'price', 'decimal(12,2)', false, '0.10'],
          [4, 'at', 'timestamptz', true, null],
          [5, 'flag', 'boolean', true, 'false'],
          [6, 'precise', 'timestamp_ns', true, null],
        ],
        'the columns',
      );
      equal([described.id, described.schema, described.name], [1, 'main', 'events'], 'the table');
      check(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(described.uuid), `the uuid is ${described.uuid}`);
      equal(described.location, `${lake.dataPath}main/events/`, 'the location');
      equal(
        await lake.tables(),
        [{ id: 1, schema: 'main', name: 'events', location: described.location }],
        'the tables',
      );
      await using other = await target.open();
      equal(await other.table('events').describe(), described, 'the description that another client gives');
    },
  },
  {
    name: 'making what is there, and dropping what is not',
    async run(target) {
      await using lake = await target.open();
      await createNumbered(lake);
      await lake.createSchema('s');
      const head = await headId(lake);
      for (const name of ['numbers', 'NUMBERS', 'Numbers']) {
        await rejects(() => createNumbered(lake, name), 'ALREADY_EXISTS', `createTable ${name}`);
        await lake.createTable(name, { other: t.varchar() }, { ifNotExists: true });
      }
      for (const name of ['s', 'S', 'main', 'MAIN']) {
        await rejects(() => lake.createSchema(name), 'ALREADY_EXISTS', `createSchema ${name}`);
        await lake.createSchema(name, { ifNotExists: true });
      }
      for (const ref of ['nothing', { schema: 's', name: 'numbers' }, { schema: 'nothing', name: 'numbers' }]) {
        await rejects(() => lake.dropTable(ref), 'NOT_FOUND', `dropTable ${JSON.stringify(ref)}`);
        await lake.dropTable(ref, { ifExists: true });
        await rejects(() => lake.table(ref).describe(), 'NOT_FOUND', `describe ${JSON.stringify(ref)}`);
        await rejects(() => lake.table(ref).insert([{ id: 1 }]), 'NOT_FOUND', `insert into ${JSON.stringify(ref)}`);
        await rejects(() => lake.table(ref).scan().toArray(), 'NOT_FOUND', `scan of ${JSON.stringify(ref)}`);
      }
      await rejects(() => lake.dropSchema('nothing'), 'NOT_FOUND', 'dropSchema');
      await lake.dropSchema('nothing', { ifExists: true });
      await rejects(
        () => lake.createTable({ schema: 'nothing', name: 't' }, { a: t.int8() }),
        'NOT_FOUND',
        'createTable in a schema that is not there',
      );
      equal(await headId(lake), head, 'the head after calls that change nothing');
      equal(
        (await lake.table('NumberS').describe()).columns.map(({ name }) => name),
        ['id'],
        'the columns of the table, found whatever the case',
      );
    },
  },
  {
    name: 'ifNotExists and ifExists hold for those that do the same at once',
    async run(target) {
      const lakes = await Promise.all([target.open(), target.open(), target.open()]);
      const each = (work: (lake: Lake) => Promise<unknown>): Promise<unknown> => Promise.all(lakes.map(work));
      await each((lake) => lake.createSchema('s', { ifNotExists: true }));
      const ref = { schema: 's', name: 't' };
      await each((lake) => lake.createTable(ref, { id: t.int64() }, { ifNotExists: true }));
      await each((lake) => lake.table(ref).insert([{ id: 1 }]));
      equal((await lakes[0]!.table(ref).scan().toArray()).length, 3, 'the number of rows');
      await each((lake) => lake.dropTable(ref, { ifExists: true }));
      await each((lake) => lake.dropSchema('s', { ifExists: true }));
      equal(await headId(lakes[0]!), 7, 'the head');
      for (const lake of lakes) await lake.close();
    },
  },
  {
    name: 'names that can not be are refused',
    async run(target) {
      await using lake = await target.open();
      for (const name of ['', 'a\0b', '\ud800', '_ducklake_internal_row_id', '_DuckLake_x']) {
        const what = JSON.stringify(name);
        await rejects(() => lake.createSchema(name), 'INVALID_ARGUMENT', `schema ${what}`);
        await rejects(() => createNumbered(lake, name), 'INVALID_ARGUMENT', `table ${what}`);
        await rejects(() => lake.createTable('t', { [name]: t.int8() }), 'INVALID_ARGUMENT', `column ${what}`);
      }
      await rejects(() => lake.createTable('t', { a: t.int8(), A: t.int8() }), 'INVALID_ARGUMENT', 'columns a and A');
      await rejects(() => lake.createTable('t', {}), 'INVALID_ARGUMENT', 'no columns');
      equal(await headId(lake), 0, 'the head');
    },
  },
  {
    name: 'names that need quoting, of schemas, tables and columns',
    async run(target) {
      await using lake = await target.open();
      await lake.transaction(async (tx) => {
        for (const name of weirdNames) {
          await tx.createSchema(name);
          const columns = Object.fromEntries(weirdNames.map((column) => [column, t.varchar()]));
          await tx.createTable({ schema: name, name }, columns);
        }
      });
      await using other = await target.open();
      equal((await other.schemas()).map(({ name }) => name).sort(), ['main', ...weirdNames].sort(), 'the schemas');
      const row = Object.fromEntries(weirdNames.map((name) => [name, `value of ${name}`]));
      for (const name of weirdNames) {
        const table = other.table({ schema: name, name });
        const what = JSON.stringify(name);
        equal(
          (await table.describe()).columns.map((column) => column.name),
          [...weirdNames],
          `the columns of ${what}`,
        );
        await table.insert([row]);
        await table.insert({ columns: Object.fromEntries(weirdNames.map((column) => [column, ['x', null]])) });
        const rows = await other.table({ schema: name, name }).scan().toArray();
        equal(rows.length, 3, `the number of rows of ${what}`);
        equal(Object.entries(rows[0]!), Object.entries(row), `the first row of ${what}`);
        equal(
          Object.entries(rows[2]!),
          weirdNames.map((column) => [column, null]),
          `the last row of ${what}`,
        );
        equal(
          await table.scan({ columns: ['__proto__', 'a"b'], limit: 1 }).toArray(),
          [
            Object.fromEntries([
              ['__proto__', 'value of __proto__'],
              ['a"b', 'value of a"b'],
            ]),
          ],
          `some columns of ${what}`,
        );
      }
      const changes = (await collect(other.snapshots({ from: 1, to: 1 })))[0]?.changes;
      equal(
        changes?.flatMap((change) => (change.kind === 'created_schema' ? [change.name] : [])).sort(),
        [...weirdNames].sort(),
        'the schemas that the snapshot says it created',
      );
    },
  },
  {
    name: 'a dropped table is there for older snapshots, and its name is free',
    async run(target) {
      await using lake = await target.open();
      const table = await createNumbered(lake);
      const { snapshotId } = await table.insert(numbered(1, 3));
      await lake.dropTable('numbers');
      equal(await lake.tables(), [], 'the tables');
      await rejects(() => ids(table), 'NOT_FOUND', 'a scan');
      equal(await ids(table, snapshotId), [1, 2, 3], 'the rows then');
      equal(
        (await lake.tables({ asOf: { snapshot: snapshotId! } })).map(({ name }) => name),
        ['numbers'],
        'the tables then',
      );
      const again = await createNumbered(lake);
      equal(await ids(again), [], 'the rows of a new table of that name');
      await again.insert([{ id: 9 }]);
      equal(await ids(again), [9], 'its rows after an insert');
      equal(await ids(again, snapshotId), [1, 2, 3], 'the rows of the old one');
      check((await again.describe()).id > 1, 'the new table took the id of the old one');
      equal((await again.files())[0]?.rowIdStart, 0, 'the first row id of the new table');
    },
  },
  {
    name: 'a schema is dropped with its tables only when told so',
    async run(target) {
      await using lake = await target.open();
      await lake.createSchema('s');
      const table = await lake.createTable({ schema: 's', name: 't' }, { id: t.int64() });
      await createNumbered(lake, 't');
      const { snapshotId } = await table.insert([{ id: 1 }]);
      await rejects(() => lake.dropSchema('s'), 'INVALID_ARGUMENT', 'dropSchema of one that holds a table');
      await lake.dropSchema('S', { cascade: true });
      equal(
        (await lake.schemas()).map(({ name }) => name),
        ['main'],
        'the schemas',
      );
      equal(
        (await lake.tables()).map(({ schema, name }) => [schema, name]),
        [['main', 't']],
        'the tables',
      );
      equal(await table.scan({ asOf: { snapshot: snapshotId! } }).toArray(), [{ id: 1n }], 'the rows then');
      equal(
        (await lake.schemas({ asOf: { snapshot: snapshotId! } })).map(({ name }) => name).sort(),
        ['main', 's'],
        'the schemas then',
      );
      await lake.createSchema('s');
      await lake.dropSchema('s');
    },
  },
  {
    name: 'defaults stand in for columns that are left out, and for those alone',
    async run(target) {
      await using lake = await target.open();
      const table = await lake.createTable('t', {
        id: t.int32().notNull(),
        text: t.varchar().default('none'),
        count: t.int64().default(7),
        price: t.decimal(5, 2).notNull().default('1.50'),
        bytes: t.blob().default(new Uint8Array([0, 255])),
        doc: t.json().default({ a: [1] }),
      });
      await table.insert([{ id: 1 }, { id: 2, text: null, count: null, price: '2', bytes: null, doc: null }]);
      await table.insert([{ id: 3, text: undefined, count: 0, price: undefined }]);
      await table.insert({ columns: { id: [4], text: ['x'] } });
      const defaults = { count: 7n, price: '1.50', bytes: new Uint8Array([0, 255]), doc: { a: [1] } };
      equal(
        await table.scan().toArray(),
        [
          { id: 1, text: 'none', ...defaults },
          { id: 2, text: null, count: null, price: '2.00', bytes: null, doc: null },
          { id: 3, text: 'none', ...defaults, count: 0n },
          { id: 4, text: 'x', ...defaults },
        ],
        'the rows',
      );
    },
  },
];
