import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ColumnInference } from '../../cli/input/infer.ts';
import { isExactDouble, plainDigits } from '../../cli/input/infer-numbers.ts';
import { memberSources } from '../../cli/input/json-text.ts';

/** The type of a column that holds these JSON values, `null` among them. */
function ofJson(...values: readonly string[]): string {
  const column = new ColumnInference(false);
  for (const value of values) {
    const text = `{"x":${value}}`;
    column.observeJson((JSON.parse(text) as { x: unknown }).x, memberSources(text).get('x'));
  }
  return column.result('x').type;
}

function ofCsv(...cells: readonly string[]): string {
  const column = new ColumnInference(true);
  for (const cell of cells) column.observeCsv(cell);
  return column.result('x').type;
}

describe('numbers', () => {
  const cases: readonly (readonly [type: string, ...values: string[]])[] = [
    ['int64', '1', '-2', 'null'],
    ['int64', '9223372036854775807', '-9223372036854775808'],
    ['uint64', '9223372036854775808'],
    ['uint64', '0', '18446744073709551615'],
    ['decimal(38,0)', '-1', '9223372036854775808'],
    ['decimal(38,0)', '18446744073709551616'],
    ['decimal(38,0)', '99999999999999999999999999999999999999'],
    ['float64', '1', '0.5'],
    ['float64', '0.1', '5e-324', '1.7976931348623157e308'],
    ['float64', '0.30000000000000004'],
    ['float64', '1.50'],
    ['float64', '1e3'],
    // More digits than a double keeps.
    ['decimal(20,18)', '12.345678901234567891', '0.000000000000000001'],
    ['decimal(18,17)', '0.12345678901234567'],
    // An integer that isn't one of a double's, beside a fraction.
    ['decimal(18,1)', '9007199254740993', '0.5'],
  ];
  for (const [type, ...values] of cases) {
    test(`${values.join(', ')}: ${type}`, () => {
      expect(ofJson(...values)).toBe(type);
      expect(ofCsv(...values.filter((value) => value !== 'null'))).toBe(type);
    });
  }

  test('more digits than any type keeps', () => {
    const digits = '1'.repeat(39);
    expect(ofJson(digits)).toBe('json');
    expect(ofCsv(digits)).toBe('varchar');
    expect(ofJson('1e400')).toBe('json');
    expect(ofCsv(`0.${'1'.repeat(38)}`, '11')).toBe('varchar');
  });

  test('numbers that say they are none', () => {
    expect(ofJson('1.5', '"NaN"', '"-Infinity"')).toBe('float64');
    expect(ofJson('"NaN"')).toBe('varchar');
    expect(ofCsv('1', 'nan', 'inf')).toBe('float64');
    expect(ofCsv('9007199254740993', 'nan')).toBe('varchar');
  });

  test('a double is exact when it prints as the number that was given', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(isExactDouble(String(value))).toBe(true);
      }),
    );
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }),
        fc.integer({ min: 0, max: 25 }),
        (digits, scale) => {
          const text = `${digits}e-${scale}`;
          const { whole, fraction } = plainDigits(text)!;
          // By another way: as fractions.
          const value = Number(text);
          const [mantissa, exponent = '0'] = String(value).split('e') as [string, string?];
          const places = (mantissa.split('.')[1] ?? '').length - Number(exponent);
          const shown = BigInt(mantissa.replace('.', ''));
          const isSame =
            shown * 10n ** BigInt(scale) * 10n ** BigInt(Math.max(0, -places)) ===
            digits * 10n ** BigInt(Math.max(0, places));
          expect(isExactDouble(text)).toBe(isSame);
          expect(BigInt(whole + fraction) * 10n ** BigInt(scale) * (digits < 0n ? -1n : 1n)).toBe(
            digits * 10n ** BigInt(fraction.length),
          );
        },
      ),
    );
  });
});

describe('other values', () => {
  const texts: readonly (readonly [type: string, ...values: string[]])[] = [
    ['varchar', 'a', '2024-01-15'],
    ['varchar', '00501', '10001'],
    ['varchar', '2024-02-30'],
    ['varchar', '2024-1-15'],
    ['date', '2024-02-29', '1969-12-31'],
    ['timestamp', '2024-01-15 12:30:00', '2024-01-15T12:30:00.123456'],
    ['timestamp', '2024-01-15', '2024-01-15 12:30:00'],
    ['timestamp_ns', '2024-01-15 12:30:00.123456789'],
    ['timestamptz', '2024-01-15T12:30:00Z', '2024-01-15 12:30:00.5+05:30', '2024-01-15 12:30:00-08'],
    ['varchar', '2024-01-15T12:30:00Z', '2024-01-15T12:30:00'],
    ['varchar', '2024-01-15T25:30:00'],
    ['time', '12:30:00', '23:59:59.999999'],
    ['uuid', '7fffffff-0000-4000-8000-00000000000A'],
    ['varchar', ''],
  ];
  for (const [type, ...values] of texts)
    test(`${values.join(', ')}: ${type}`, () => {
      expect(ofJson(...values.map((value) => JSON.stringify(value)))).toBe(type);
      expect(ofCsv(...values)).toBe(type);
    });

  test('JSON: booleans, and what only json holds', () => {
    expect(ofJson('true', 'false', 'null')).toBe('boolean');
    expect(ofJson('null')).toBe('json');
    expect(ofJson('true', '1')).toBe('json');
    expect(ofJson('1', '"1"')).toBe('json');
    expect(ofJson('[1]', '{"a":1}')).toBe('json');
    // Texts that are written like numbers are texts.
    expect(ofJson('"1"', '"2"')).toBe('varchar');
  });

  test('CSV: booleans, empty cells, spaces', () => {
    expect(ofCsv('true', 'FALSE')).toBe('boolean');
    expect(ofCsv('0', '1')).toBe('int64');
    expect(ofCsv('', ' 1', '2 ')).toBe('int64');
    expect(ofCsv('true', '1')).toBe('varchar');
    expect(ofCsv()).toBe('varchar');
  });

  test('a type that surprises has a note', () => {
    const column = new ColumnInference(false);
    column.observeJson(1, undefined);
    column.observeJson('x', undefined);
    expect(column.result('x')).toEqual({ name: 'x', type: 'json', note: 'values of several kinds' });
  });
});
