import type { BoundsOrder } from '../../catalog/store.ts';

/** Appends to one column, and the table's bounds afterwards. */
export interface Series {
  readonly what: string;
  readonly order: BoundsOrder;
  /** What each append brings: `min max`, or that there is nothing, or nothing known. */
  readonly appends: readonly (readonly [min: string, max: string] | 'none' | 'unknown')[];
  readonly expected: readonly [min: string, max: string] | undefined;
}

const long = '9'.repeat(37);

// biome-ignore format: a table
export const series: readonly Series[] = [
  { what: 'one append', order: 'number', appends: [['5', '9']], expected: ['5', '9'] },
  { what: 'wider at both ends', order: 'number', appends: [['5', '9'], ['-3', '12']], expected: ['-3', '12'] },
  { what: 'narrower', order: 'number', appends: [['-3', '12'], ['5', '9']], expected: ['-3', '12'] },
  { what: 'fewer digits', order: 'number', appends: [['10', '10'], ['9', '9']], expected: ['9', '10'] },
  { what: 'negative', order: 'number', appends: [['-9', '-9'], ['-10', '-10']], expected: ['-10', '-9'] },
  { what: 'decimals', order: 'number', appends: [['-1.490', '1.490'], ['-1.500', '1.500']], expected: ['-1.500', '1.500'] },
  { what: 'decimals below one', order: 'number', appends: [['0.010', '0.010'], ['0.009', '0.100']], expected: ['0.009', '0.100'] },
  {
    what: '64-bit edges',
    order: 'number',
    appends: [['-9223372036854775807', '9223372036854775806'], ['-9223372036854775808', '9223372036854775807']],
    expected: ['-9223372036854775808', '9223372036854775807'],
  },
  {
    what: '64-bit edges the other way round',
    order: 'number',
    appends: [['-9223372036854775808', '18446744073709551615'], ['-9223372036854775807', '18446744073709551614']],
    expected: ['-9223372036854775808', '18446744073709551615'],
  },
  { what: '38 digits', order: 'number', appends: [[`-${long}8`, `${long}8`], [`-${long}9`, `${long}9`]], expected: [`-${long}9`, `${long}9`] },
  { what: 'floats', order: 'number', appends: [['0.5', '2.5'], ['1e-05', '1e+300']], expected: ['1e-05', '1e+300'] },
  { what: 'large floats', order: 'number', appends: [['-1e+300', '1e+300'], ['-3.0', '3.0']], expected: ['-1e+300', '1e+300'] },
  {
    what: 'the ends of doubles',
    order: 'number',
    appends: [['5e-324', '1.7976931348623157e+308'], ['-1.7976931348623157e+308', '1.0']],
    expected: ['-1.7976931348623157e+308', '1.7976931348623157e+308'],
  },
  { what: 'infinities', order: 'number', appends: [['1.0', '2.0'], ['-inf', 'inf'], ['-1e+300', '1e+300']], expected: ['-inf', 'inf'] },
  { what: 'infinity alone', order: 'number', appends: [['inf', 'inf'], ['1.0', '1.0']], expected: ['1.0', 'inf'] },
  { what: 'booleans', order: 'number', appends: [['1', '1'], ['0', '0']], expected: ['0', '1'] },

  { what: 'only NULLs', order: 'number', appends: ['none', 'none'], expected: undefined },
  { what: 'values after NULLs', order: 'number', appends: ['none', 'none', ['3', '4']], expected: ['3', '4'] },
  { what: 'NULLs after values', order: 'number', appends: [['3', '4'], 'none'], expected: ['3', '4'] },
  { what: 'bounds after unknown ones', order: 'number', appends: ['unknown', ['3', '4']], expected: undefined },
  { what: 'unknown bounds after known ones', order: 'number', appends: [['3', '4'], 'unknown'], expected: undefined },
  { what: 'unknown for good', order: 'number', appends: [['3', '4'], 'unknown', 'none', ['1', '9']], expected: undefined },
  { what: 'unknown after NULLs', order: 'number', appends: ['none', 'unknown', ['1', '9']], expected: undefined },

  { what: 'letters', order: 'bytes', appends: [['b', 'c'], ['a', 'd']], expected: ['a', 'd'] },
  { what: 'case, which no collation folds', order: 'bytes', appends: [['a', 'b'], ['B', 'B']], expected: ['B', 'b'] },
  { what: 'accents, which sort behind z', order: 'bytes', appends: [['z', 'z'], ['é', 'é']], expected: ['z', 'é'] },
  { what: 'a character beyond 16 bits', order: 'bytes', appends: [['\uffff', '\uffff'], ['\u{10000}', '\u{10000}']], expected: ['\uffff', '\u{10000}'] },
  { what: 'beyond 16 bits first', order: 'bytes', appends: [['🦆', '🦆'], ['\ufb01', '\ufb01']], expected: ['\ufb01', '🦆'] },
  { what: 'the empty text', order: 'bytes', appends: [['a', 'a'], ['', '']], expected: ['', 'a'] },
  { what: 'prefixes and spaces', order: 'bytes', appends: [['a ', 'a '], ['a', 'a'], ['a-', 'aa']], expected: ['a', 'aa'] },
  { what: 'punctuation, which some collations skip', order: 'bytes', appends: [['-b', '-b'], ['a', 'a']], expected: ['-b', 'a'] },
  { what: 'digits as text', order: 'bytes', appends: [['10', '10'], ['9', '9']], expected: ['10', '9'] },
  { what: 'text like NULL', order: 'bytes', appends: [['NULL', 'NULL'], ['M', 'O']], expected: ['M', 'O'] },
  { what: 'quotes and backslashes', order: 'bytes', appends: [["it's", '\\"'], ['{"a":1}', '{}']], expected: ["it's", '{}'] },
  { what: 'long texts that differ at the end', order: 'bytes', appends: [[`${'x'.repeat(5000)}b`, `${'x'.repeat(5000)}b`], [`${'x'.repeat(5000)}a`, `${'x'.repeat(5000)}c`]], expected: [`${'x'.repeat(5000)}a`, `${'x'.repeat(5000)}c`] },

  { what: 'dates', order: 'temporal', appends: [['2024-01-15', '2024-01-15'], ['2023-12-31', '2024-02-01']], expected: ['2023-12-31', '2024-02-01'] },
  { what: 'a year of five digits', order: 'temporal', appends: [['9999-12-31', '9999-12-31'], ['12024-01-15', '12024-01-15']], expected: ['9999-12-31', '12024-01-15'] },
  { what: 'a year of five digits first', order: 'temporal', appends: [['12024-01-15', '12024-01-15'], ['2024-01-15', '2024-01-15']], expected: ['2024-01-15', '12024-01-15'] },
  { what: 'a date BC', order: 'temporal', appends: [['0001-01-01', '0001-01-01'], ['0044-03-15 (BC)', '0044-03-15 (BC)']], expected: ['0044-03-15 (BC)', '0001-01-01'] },
  { what: 'dates BC, where greater years are earlier', order: 'temporal', appends: [['0044-03-15 (BC)', '0044-03-15 (BC)'], ['0100-01-01 (BC)', '0100-01-01 (BC)']], expected: ['0100-01-01 (BC)', '0044-03-15 (BC)'] },
  { what: 'months of one year BC, where greater ones are later', order: 'temporal', appends: [['0044-03-15 (BC)', '0044-03-15 (BC)'], ['0044-04-01 (BC)', '0044-04-01 (BC)']], expected: ['0044-03-15 (BC)', '0044-04-01 (BC)'] },
  { what: 'timestamps with and without a fraction', order: 'temporal', appends: [['2024-01-15 12:30:00.5', '2024-01-15 12:30:00.5'], ['2024-01-15 12:30:00', '2024-01-15 12:30:00.123456']], expected: ['2024-01-15 12:30:00', '2024-01-15 12:30:00.5'] },
  { what: 'instants', order: 'temporal', appends: [['2024-01-15 12:30:00.5+00', '2024-01-15 12:30:00.5+00'], ['2024-01-15 12:30:00+00', '2024-01-15 12:30:00.51+00']], expected: ['2024-01-15 12:30:00+00', '2024-01-15 12:30:00.51+00'] },
  { what: 'timestamps BC', order: 'temporal', appends: [['0044-03-15 (BC) 12:00:00', '0044-03-15 (BC) 12:00:00'], ['0044-03-15 (BC) 11:59:59.999999', '2024-01-01 00:00:00']], expected: ['0044-03-15 (BC) 11:59:59.999999', '2024-01-01 00:00:00'] },
  { what: 'nanoseconds', order: 'temporal', appends: [['2024-01-15 12:30:00.123456788', '2024-01-15 12:30:00.123456788'], ['2024-01-15 12:30:00.123456789', '2024-01-15 12:30:00.123456789']], expected: ['2024-01-15 12:30:00.123456788', '2024-01-15 12:30:00.123456789'] },
  { what: 'infinite dates', order: 'temporal', appends: [['12024-01-15', 'infinity'], ['-infinity', '0044-03-15 (BC)']], expected: ['-infinity', 'infinity'] },
  { what: 'times', order: 'temporal', appends: [['12:30:00', '12:30:00'], ['09:00:00', '23:59:59.999999']], expected: ['09:00:00', '23:59:59.999999'] },
];
