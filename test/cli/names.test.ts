import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { UsageError } from '../../cli/errors.ts';
import { parseTableName, showTableName } from '../../cli/names.ts';
import { absoluteDataPath, parseTarget, showTarget } from '../../cli/target.ts';

describe('table names', () => {
  test('with and without schema and quotes', () => {
    expect(parseTableName('events')).toEqual({ schema: 'main', name: 'events' });
    expect(parseTableName('web.events')).toEqual({ schema: 'web', name: 'events' });
    expect(parseTableName('"a.b"')).toEqual({ schema: 'main', name: 'a.b' });
    expect(parseTableName('"my ""schema""".page views')).toEqual({ schema: 'my "schema"', name: 'page views' });
  });

  test('what is shown is read back', () => {
    const name = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(name, name, (schema, table) => {
        expect(parseTableName(showTableName({ schema, name: table }))).toEqual({ schema, name: table });
      }),
    );
  });

  for (const text of ['', '.', 'a.', '.a', 'a.b.c', '"a', 'a"b', '"a"b', '""'])
    test(`${JSON.stringify(text)} is refused`, () => {
      expect(() => parseTableName(text)).toThrow(UsageError);
    });
});

describe('lakes', () => {
  test('a folder holds catalog and data', () => {
    expect(parseTarget('/tmp/lakes/x', undefined)).toEqual({
      kind: 'sqlite',
      path: '/tmp/lakes/x/catalog.sqlite',
      dataPath: '/tmp/lakes/x/data/',
      folder: '/tmp/lakes/x',
    });
    expect(parseTarget('/tmp/lakes/x.db/', undefined)).toMatchObject({ path: '/tmp/lakes/x.db/catalog.sqlite' });
  });

  test('a file has its data beside it, where DuckDB puts it', () => {
    for (const text of ['sqlite:/tmp/x.sqlite', '/tmp/x.sqlite', 'ducklake:sqlite:/tmp/x.sqlite'])
      expect(parseTarget(text, undefined)).toEqual({
        kind: 'sqlite',
        path: '/tmp/x.sqlite',
        dataPath: '/tmp/x.sqlite.files/',
        folder: undefined,
      });
    expect(parseTarget('sqlite:/tmp/anything', undefined)).toMatchObject({ path: '/tmp/anything' });
    // A file that is there is a catalog, whatever its name.
    expect(parseTarget(import.meta.path, undefined)).toMatchObject({ path: import.meta.path });
  });

  test('Postgres has a schema, and its password is not shown', () => {
    const target = parseTarget('postgres://u:secret@db:5433/lake?sslmode=require', 'tenant');
    expect(target).toMatchObject({ kind: 'postgres', schema: 'tenant' });
    expect(showTarget(target)).toBe('postgres://u@db:5433/lake (schema tenant)');
    expect(parseTarget('postgresql://db/lake', undefined)).toMatchObject({ schema: 'public' });
  });

  for (const text of [
    '',
    'sqlite:',
    'postgres:dbname=x',
    'postgres://host',
    'postgres://u:p ss@h:port/x',
    'x.duckdb',
    'mysql:x',
    's3://b/x',
  ])
    test(`${JSON.stringify(text)} is refused, without its password`, () => {
      expect(() => parseTarget(text, undefined)).toThrow(UsageError);
      expect(() => parseTarget(text, undefined)).not.toThrow(/p ss/);
    });

  test('--schema needs Postgres', () => {
    expect(() => parseTarget('/tmp/x', 'y')).toThrow(/--schema is for lakes in Postgres/);
  });

  test('data paths are absolute, S3 as it is', () => {
    expect(absoluteDataPath('/a/b')).toBe('/a/b/');
    expect(absoluteDataPath('x')).toBe(`${process.cwd()}/x/`);
    expect(absoluteDataPath('s3://bucket/a b')).toBe('s3://bucket/a b');
    for (const bad of ['', 's3://', 'gs://x/y']) expect(() => absoluteDataPath(bad)).toThrow(UsageError);
  });
});
