import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { isOutside } from '../../../src/catalog/bounds.ts';
import type { LiveFile } from '../../../src/catalog/table-files.ts';
import { selectRows } from '../../../src/scan/where/evaluate.ts';
import type { Expression } from '../../../src/scan/where/expression.ts';
import { boundsOfStats } from '../../../src/scan/where/file-bounds.ts';
import { compareOf } from '../../../src/scan/where/order.ts';
import { parseWhere } from '../../../src/scan/where/parse.ts';
import { isCertain, type KnownBounds, matters } from '../../../src/scan/where/prune.ts';
import { rangesOf } from '../../../src/scan/where/ranges.ts';
import type { Field } from '../../../src/schema/field.ts';
import { codecFor, type Physical } from '../../../src/spec/values/codec.ts';
import { boundsText, isFloat } from '../../../src/stats/bounds.ts';
import { typeCases } from '../../support/type-cases.ts';
import { fieldOf } from './fields.ts';

type Stats = LiveFile['stats'][number];

const more: Readonly<Record<string, readonly unknown[]>> = {
  varchar: ['', 'a', 'ab', 'b', '\ud7ff', '\ue000', '😀', '😀b', '\u{10ffff}', '\u{10ffff}a'],
  int8: [-3, -1, 1, 2, 5, 300, 2.5],
  float64: [-2.5, 1, 2, 3],
  float32: [-2.5, 1, 2, 3, 1e39],
};

const columns = typeCases.map(({ name, values }, c) => {
  const field = fieldOf(c + 1, `c${c + 1}`, name);
  const given = [...values.map((value) => value.given), ...(more[name] ?? [])];
  return { field, given, stored: given.flatMap((value) => fits(field, value)) };
});

function fits(field: Field, value: unknown): Physical[] {
  try {
    return [codecFor(field.type).encode(value)];
  } catch {
    return [];
  }
}

const table = { schema: 'main', table: 't', fields: columns.map(({ field }) => field) };

function filters(): fc.Arbitrary<Record<string, unknown>> {
  const leaf = fc.constantFrom(...columns).chain(({ field, given }) => {
    const value = fc.constantFrom(...given);
    const isText = field.type.name === 'varchar' || field.type.name === 'json';
    const text = value.map((one) => (typeof one === 'string' ? one.slice(0, 2) : ''));
    const check = fc.oneof(
      { weight: 4, arbitrary: fc.tuple(fc.constantFrom('eq', 'ne', 'lt', 'lte', 'gt', 'gte'), value) },
      fc.tuple(fc.constant('in'), fc.array(fc.option(value, { freq: 6 }), { maxLength: 3 })),
      fc.tuple(fc.constant('isNull'), fc.boolean()),
      ...(isText
        ? [
            fc.tuple(
              fc.constant('startsWith'),
              text.filter((one) => one.isWellFormed()),
            ),
            fc.tuple(
              fc.constant('like'),
              text.filter((one) => one.isWellFormed()).map((one) => `${one}%`),
            ),
          ]
        : []),
    );
    return check.map(([op, operand]): Record<string, unknown> => ({ [field.name]: { [op]: operand } }));
  });
  return fc.letrec<{ filter: Record<string, unknown> }>((tie) => ({
    filter: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      tie('filter').map((where) => ({ not: [where] })),
      fc
        .tuple(fc.constantFrom('and', 'or'), fc.array(tie('filter'), { maxLength: 3 }))
        .map(([op, parts]) => ({ [op]: parts })),
    ),
  })).filter;
}

/** Few distinct values in few rows: bounds then decide something. */
const chunk = fc
  .tuple(
    fc.integer({ min: 1, max: 4 }),
    fc.tuple(
      ...columns.map(({ stored }) =>
        fc.array(fc.option(fc.constantFrom(...stored), { freq: 3 }), { minLength: 4, maxLength: 4 }),
      ),
    ),
  )
  .map(([rowCount, values]) => values.map((column) => column.slice(0, rowCount)));

const knowledge = fc.array(fc.constantFrom('all', 'all', 'all', 'bounds', 'counts', 'nothing'), {
  minLength: columns.length,
  maxLength: columns.length,
});

function isNan(value: unknown): boolean {
  return typeof value === 'number' && Number.isNaN(value);
}

function boundsOf(field: Field, values: readonly (Physical | null)[], known: string): KnownBounds | undefined {
  if (known === 'nothing') return undefined;
  const sorted = values
    .filter((value): value is Physical => value !== null && !isNan(value))
    .sort(compareOf(field.type));
  const hasBounds = known !== 'counts';
  return {
    min: hasBounds ? sorted[0] : undefined,
    max: hasBounds ? sorted.at(-1) : undefined,
    nullCount: known === 'bounds' ? undefined : values.filter((value) => value === null).length,
    rowCount: values.length,
    containsNan: known === 'all' ? values.some(isNan) : undefined,
  };
}

function statsOf(field: Field, values: readonly (Physical | null)[], known: string): Stats[] {
  const bounds = boundsOf(field, values, known);
  if (!bounds) return [];
  const { min, max, nullCount, containsNan } = bounds;
  const text =
    min === undefined || max === undefined ? { min: undefined, max: undefined } : boundsText(field.type, min, max);
  return [
    {
      data_file_id: 1,
      table_id: 1,
      column_id: field.id,
      column_size_bytes: 1,
      value_count: nullCount === undefined ? null : values.length - nullCount,
      null_count: nullCount ?? null,
      min_value: text.min ?? null,
      max_value: text.max ?? null,
      contains_nan: isFloat(field.type) ? (containsNan ?? null) : null,
      extra_stats: null,
    },
  ];
}

function fileOf(stats: readonly Stats[], rowCount: number, begin = 5): Pick<LiveFile, 'file' | 'stats'> {
  return { file: { record_count: rowCount, begin_snapshot: begin, mapping_id: null } as LiveFile['file'], stats };
}

function selected(expression: Expression, chunkOf: readonly (readonly (Physical | null)[])[]): number {
  return selectRows(expression, (field) => ({ values: chunkOf[field.id - 1]!, decode: undefined }), chunkOf[0]!.length)
    .length;
}

describe('pruning', () => {
  test('never leaves out a row, nor takes one for certain that is left out, whatever is known', () => {
    let certain = 0;
    let pruned = { rowGroups: 0, files: 0, catalog: 0 };
    fc.assert(
      fc.property(filters(), fc.array(chunk, { minLength: 1, maxLength: 4 }), knowledge, (where, chunks, known) => {
        const expression = parseWhere(where, table);
        const ranges = rangesOf(expression);
        for (const values of chunks) {
          const rowCount = values[0]!.length;
          const isWanted = selected(expression, values) > 0;
          const stats = columns.flatMap(({ field }, c) => statsOf(field, values[c]!, known[c]!));
          const { file } = fileOf(stats, rowCount);
          const kept = {
            rowGroups: matters(expression, (field) => boundsOf(field, values[field.id - 1]!, known[field.id - 1]!)),
            files: matters(expression, boundsOfStats(fileOf(stats, rowCount))),
            catalog: !ranges.some((range) =>
              stats.some((row) => row.column_id === range.columnId && isOutside(row, range, file)),
            ),
          };
          if (isWanted)
            expect({ where, kept }).toEqual({ where, kept: { rowGroups: true, files: true, catalog: true } });
          const boundsIn = boundsOfStats(fileOf(stats, rowCount));
          if (isCertain(expression, boundsIn)) {
            expect([where, selected(expression, values)]).toEqual([where, rowCount]);
            certain++;
          }
          pruned = {
            rowGroups: pruned.rowGroups + Number(!kept.rowGroups),
            files: pruned.files + Number(!kept.files),
            catalog: pruned.catalog + Number(!kept.catalog),
          };
        }
      }),
      { numRuns: 2000 },
    );
    // It does leave out something.
    expect(Math.min(pruned.rowGroups, pruned.files, pruned.catalog, certain)).toBeGreaterThan(100);
  }, 300_000);

  const id = fieldOf(1, 'id', 'int64');
  const name = fieldOf(2, 'name', 'varchar');
  const at = fieldOf(3, 'at', 'timestamptz');
  const size = fieldOf(4, 'size', 'float64');
  const fields = [id, name, at, size];
  const parse = (where: unknown): Expression => parseWhere(where, { ...table, fields });
  const row = (field: Field, min: string | null, max: string | null, more: Partial<Stats> = {}): Stats => ({
    data_file_id: 1,
    table_id: 1,
    column_id: field.id,
    column_size_bytes: null,
    value_count: 3,
    null_count: 0,
    min_value: min,
    max_value: max,
    contains_nan: null,
    extra_stats: null,
    ...more,
  });

  test.each<[unknown, Stats[], boolean]>([
    [{ id: 5 }, [row(id, '6', '9')], false],
    [{ id: 5 }, [row(id, '10', '9')], false],
    [{ id: 5 }, [row(id, '5', '5')], true],
    [{ id: { ne: 5 } }, [row(id, '5', '5')], false],
    [{ not: { id: 5 } }, [row(id, '5', '5', { null_count: 1 })], false],
    [{ id: { isNull: true } }, [row(id, null, null)], false],
    [{ id: { isNull: true } }, [row(id, null, null, { null_count: null })], true],
    [{ id: { isNull: false } }, [row(id, null, null, { null_count: 3 })], false],
    [{ id: { gt: 5 } }, [row(id, 'x', 'y')], true],
    [{ id: { gt: 5 } }, [], true],
    [{ id: { in: [1, 20] } }, [row(id, '2', '10')], false],
    [{ or: [{ id: 1 }, { name: 'a' }] }, [row(id, '2', '3'), row(name, 'b', 'c')], false],
    [{ or: [{ id: 1 }, { name: 'a' }] }, [row(id, '2', '3')], true],
    [{ and: [{ id: 1 }, { name: 'a' }] }, [row(id, '2', '3')], false],
    [{ or: [] }, [], false],
    [{ name: { startsWith: 'ab' } }, [row(name, 'ac', 'b')], false],
    [{ name: { startsWith: 'ab' } }, [row(name, 'abc', 'b')], true],
    [{ name: { like: 'ab_%' } }, [row(name, 'a', 'aa')], false],
    [{ name: '\ufb01' }, [row(name, '😀', '😀')], false],
    [
      { at: { gte: new Date('2026-02-01') } },
      [row(at, '2026-01-01 00:00:00+00', '2026-01-31 23:59:59.999999+00')],
      false,
    ],
    [{ at: { lt: new Date(0) } }, [row(at, '-infinity', 'infinity')], true],
    [{ at: { lt: new Date(0) } }, [row(at, '2026-01-01 00:00:00+00', 'infinity')], false],
    [{ size: { gt: 5 } }, [row(size, '1.0', '2.0')], true],
    [{ size: { gt: 5 } }, [row(size, '1.0', '2.0', { contains_nan: false })], false],
    [{ size: { lt: 1 } }, [row(size, '1.0', '2.0', { contains_nan: true })], false],
    [{ size: { gt: 5 } }, [row(size, '1.0', 'nan', { contains_nan: false })], true],
  ])('%j', (where, stats, expected) => {
    expect(matters(parse(where), boundsOfStats(fileOf(stats, 3)))).toBe(expected);
  });

  test('bounds from before a column was changed', () => {
    const old = (where: unknown, stats: Stats): boolean => matters(parse(where), boundsOfStats(fileOf([stats], 3, 0)));
    // int8 before: 9 to 10, of which "10" is the lesser text.
    expect(old({ name: '9' }, row(name, '9', '10'))).toBe(true);
    expect(old({ id: 11 }, row(id, '9', '10'))).toBe(false);
    // float32 before: 0.1 became 0.10000000149011612.
    expect(old({ size: { gt: 0.1 } }, row(size, '0.1', '0.1', { contains_nan: false }))).toBe(true);
    expect(old({ size: { gt: 0.2 } }, row(size, '0.1', '0.1', { contains_nan: false }))).toBe(false);
    expect(rangesOf(parse({ name: '9' }))).toEqual([
      { columnId: 2, comparison: 'bytes', min: '9', max: '9', includesNan: false, fromSnapshot: 1 },
    ]);
    const [range] = rangesOf(parse({ size: { gt: 0.1 } }));
    expect(Number(range!.min)).toBeLessThan(0.1);
  });

  test('ranges for the catalog', () => {
    const ranges = (where: unknown): unknown => rangesOf(parse(where));
    const range = (field: Field, comparison: string, min?: string, max?: string, includesNan = false): unknown => ({
      columnId: field.id,
      comparison,
      min,
      max,
      includesNan,
      fromSnapshot: comparison === 'bytes' ? 1 : undefined,
    });
    expect(ranges({ id: { gte: 1, lt: 5 } })).toEqual([range(id, 'number', '1', '5')]);
    expect(ranges({ not: { id: { lt: 5 } } })).toEqual([range(id, 'number', '5')]);
    expect(ranges({ id: { in: [3, 1, 2] } })).toEqual([range(id, 'number', '1', '3')]);
    expect(ranges({ or: [{ id: 1 }, { id: 7, name: 'a' }] })).toEqual([range(id, 'number', '1', '7')]);
    expect(ranges({ or: [{ id: 1 }, { name: 'a' }] })).toEqual([]);
    expect(ranges({ name: { like: 'ab%c' } })).toEqual([range(name, 'bytes', 'ab', 'ac')]);
    expect(ranges({ name: { startsWith: '\ud7ff' } })).toEqual([range(name, 'bytes', '\ud7ff', '\ue000')]);
    expect(ranges({ name: { startsWith: 'a\u{10ffff}' } })).toEqual([range(name, 'bytes', 'a\u{10ffff}', 'b')]);
    const long = 'x'.repeat(1_000_000);
    expect(ranges({ name: { startsWith: long } })).toEqual([range(name, 'bytes', long, `${long.slice(1)}y`)]);
    // One tick lower: files that others wrote may have finer ones.
    expect(ranges({ at: { gte: new Date(0) } })).toEqual([range(at, 'iso', '1969-12-31 23:59:59.999999+00')]);
    expect(ranges({ size: { gte: Number.POSITIVE_INFINITY } })).toEqual([
      range(size, 'number', 'inf', undefined, true),
    ]);
    expect(ranges({ id: { isNull: true } })).toEqual([]);
    expect(ranges({})).toEqual([]);
  });

  test('several conditions on a nested column, which has no order', () => {
    const list = fieldOf(9, 'list', 'list', [fieldOf(10, 'element', 'int32')]);
    const isThere = parseWhere(
      { and: [{ list: { isNull: false } }, { not: { list: { isNull: true } } }] },
      {
        schema: 'main',
        table: 't',
        fields: [list],
      },
    );
    expect(rangesOf(isThere)).toEqual([]);
  });
});
