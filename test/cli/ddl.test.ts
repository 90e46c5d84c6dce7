import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { parseColumns } from '../../cli/ddl.ts';
import { UsageError } from '../../cli/errors.ts';
import { showType, typeTable } from '../../cli/sql-types.ts';
import { type Oracle, openOracle } from '../support/oracle.ts';

const typeOf = (sql: string): string => parseColumns(`x ${sql}`)[0]!.type;
const refusal = (source: string): string => {
  try {
    parseColumns(source);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error(`it took ${source}`);
};

describe('types', () => {
  let duck: Oracle;
  beforeAll(async () => {
    duck = await openOracle();
  });
  afterAll(() => duck.close());

  /** DuckDB's names of DuckLake's types. */
  const sqlNames: Readonly<Record<string, string>> = {
    boolean: 'BOOLEAN',
    int8: 'TINYINT',
    int16: 'SMALLINT',
    int32: 'INTEGER',
    int64: 'BIGINT',
    int128: 'HUGEINT',
    uint8: 'UTINYINT',
    uint16: 'USMALLINT',
    uint32: 'UINTEGER',
    uint64: 'UBIGINT',
    uint128: 'UHUGEINT',
    float32: 'FLOAT',
    float64: 'DOUBLE',
    timetz: 'TIME WITH TIME ZONE',
    timestamptz: 'TIMESTAMP WITH TIME ZONE',
  };
  const ofDuckDb = async (sql: string): Promise<string> =>
    (await duck.rows(`SELECT typeof(NULL::${sql}) AS t`))[0]!['t']!;

  // DuckLake's own names, which SQL doesn't have.
  const ours = new Set(['float32', 'float64']);
  const written = typeTable()
    .filter(([type]) => !['decimal(p,s)', 'list', 'struct', 'map'].includes(type))
    .flatMap(([, spellings]) => spellings.split(', '))
    .concat('decimal', 'numeric', 'dec', 'decimal(12,2)', 'NUMERIC(38, 10)', 'numeric(10)', 'Decimal(5,5)')
    .concat('float(1)', 'float(24)', 'float(25)', 'float(53)', 'VARCHAR(20)', 'character varying(3)', 'char(1)')
    .concat(
      Array.from({ length: 10 }, (_, digits) => `timestamp(${digits})`),
      'datetime(3)',
      'TIMESTAMP_NS',
      'Text',
    );

  for (const sql of written) {
    if (ours.has(sql)) continue;
    test(`${sql} is what DuckDB takes it for`, async () => {
      const type = typeOf(sql);
      expect(sqlNames[type] ?? type.toUpperCase()).toBe(await ofDuckDb(sql));
    });
  }

  test('DuckLake has names of its own', () => {
    expect(typeOf('float32')).toBe('float32');
    expect(typeOf('float64')).toBe('float64');
  });

  test('a name that means two things is refused', () => {
    expect(refusal('x int8')).toContain('"bigint" or "tinyint"');
  });

  for (const sql of [
    'int[3]',
    'struct(a int, A int)',
    'struct()',
    'map(int)',
    'map(int, int',
    'int[',
    'decimal(39,1)',
    'decimal(3,4)',
    'decimal(0,0)',
    'bit',
    'int(11)',
  ])
    test(`${sql} is refused`, () => {
      expect(refusal(`x ${sql}`)).toContain('column "x"');
    });
});

describe('columns', () => {
  test('names, NOT NULL and defaults', () => {
    expect(
      parseColumns(`id bigint NOT NULL, "odd ""name"" , (x)" text default 'it''s', price decimal(12, 2) default -1.50 not null,
        ok bool default TRUE, none int null default null, größe double precision`),
    ).toEqual([
      { name: 'id', type: 'int64', nullable: false, children: [] },
      { name: 'odd "name" , (x)', type: 'varchar', nullable: true, children: [], defaultText: "it's" },
      { name: 'price', type: 'decimal(12,2)', nullable: false, children: [], defaultText: '-1.50' },
      { name: 'ok', type: 'boolean', nullable: true, children: [], defaultText: 'true' },
      { name: 'none', type: 'int32', nullable: true, children: [], defaultText: undefined },
      { name: 'größe', type: 'float64', nullable: true, children: [] },
    ]);
  });

  test('a column may be called like a type or a keyword', () => {
    expect(
      parseColumns('date date, "not" int, time timestamp with time zone').map(({ name, type }) => [name, type]),
    ).toEqual([
      ['date', 'date'],
      ['not', 'int32'],
      ['time', 'timestamptz'],
    ]);
  });

  const refused: readonly (readonly [source: string, says: string])[] = [
    ['', 'a table needs a column'],
    ['id', 'column "id": it has no type'],
    ['id bigint,', "a column's name is missing at the end"],
    [', id int', "a column's name is missing before"],
    ['id bigint name text', 'is not a type'],
    ['id bigint primary key', 'DuckLake has no primary keys'],
    ['id bigint unique', 'UNIQUE'],
    ['id bigint not', 'write NOT NULL'],
    ['at timestamptz default now()', "aren't evaluated"],
    ['at timestamptz default current_timestamp', "aren't evaluated"],
    ['a int default 1 + 1', "can't read the columns at"],
    ['id bigint, ID int', 'differ in case only'],
    ['id bigint, id int', 'is there twice'],
    ['d decimal(12, 2', 'column "d"'],
    ['d decimal(x)', 'whole numbers'],
    ['a int; drop', "can't read the columns at"],
    ['"a int', "can't read the columns at"],
  ];
  for (const [source, says] of refused)
    test(`${JSON.stringify(source)} is refused in one line`, () => {
      const message = refusal(source);
      expect(message).toContain(says);
      expect(message).not.toContain('\n');
    });
});

describe('nested types', () => {
  const sql = 'struct(a int, "b c" text[], d map(text, decimal(5, 2)[][]))[]';

  test('are shown as they are written, and read again', async () => {
    const [column] = parseColumns(`x ${sql} not null`);
    expect(column!.nullable).toBe(false);
    const shown = showType(column!);
    expect(shown).toBe('struct(a int32, "b c" varchar[], d map(varchar, decimal(5,2)[][]))[]');
    expect(parseColumns(`x ${shown}`)).toEqual(parseColumns(`x ${sql}`));
  });

  test('are the same to DuckDB', async () => {
    await using duck = await openOracle();
    const [row] = await duck.rows(`SELECT typeof(NULL::${sql}) AS t`);
    expect(row!['t']).toBe('STRUCT(a INTEGER, "b c" VARCHAR[], d MAP(VARCHAR, DECIMAL(5,2)[][]))[]');
  });
});
