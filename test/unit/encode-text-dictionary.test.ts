import { expect, test } from 'bun:test';
import { parquetMetadata } from 'hyparquet';
import { encodeFile } from '../support/encode-cases.ts';
import { field, readFile } from '../support/parquet.ts';

const name = field(1, 'name', 'varchar');
const document = field(2, 'document', 'json');

/** Whether each row group's chunk of the first column has a dictionary. */
const dictionaries = (bytes: Uint8Array): boolean[] =>
  parquetMetadata(bytes.buffer as ArrayBuffer).row_groups.map(
    ({ columns }) => columns[0]!.meta_data!.dictionary_page_offset !== undefined,
  );

test('row groups with strings of the one before, with others, and with so many that earlier ones are forgotten', async () => {
  const perGroup = 8_000;
  const rowCount = 24 * perGroup;
  // Each row group has 3,500 strings, of which 500 were in the one before: 72,000 in all.
  const names = Array.from({ length: rowCount }, (_, i) => {
    const group = Math.floor(i / perGroup);
    return i % 11 === 0 ? null : `name ${group * 3_000 + ((i * 7) % 3_500)}`;
  });
  const { bytes, file } = await encodeFile([name], [names], { rowGroupRowCount: perGroup });
  expect(dictionaries(bytes)).toEqual(new Array(24).fill(true));
  expect(await readFile(bytes, { fields: [name] })).toEqual([names]);
  const present = names.filter((text) => text !== null).sort();
  expect(file.columns[0]).toMatchObject({ min: present[0]!, max: present.at(-1)! });
});

test("a row group's bounds and dictionary are of its own strings, not of those before it", async () => {
  const names = [...new Array(6000).fill('zebra'), ...new Array(6000).fill('ant'), ...new Array(6000).fill('zebra')];
  const { bytes } = await encodeFile([name], [names], { rowGroupRowCount: 6000 });
  const bounds = parquetMetadata(bytes.buffer as ArrayBuffer).row_groups.map(({ columns }) => {
    const { min_value, max_value } = columns[0]!.meta_data!.statistics!;
    return [min_value, max_value];
  });
  expect(bounds).toEqual([
    ['zebra', 'zebra'],
    ['ant', 'ant'],
    ['zebra', 'zebra'],
  ]);
  expect(await readFile(bytes, { fields: [name] })).toEqual([names]);
});

test('JSON of equal text is one entry, whether it came as text or as a value, in every row group', async () => {
  const values = Array.from({ length: 12_000 }, (_, i) => (i % 2 === 0 ? { a: i % 3 } : `{"a":${i % 3}}`));
  const { bytes } = await encodeFile([document], [values], { rowGroupRowCount: 4000 });
  expect(dictionaries(bytes)).toEqual([true, true, true]);
  expect(await readFile(bytes, { fields: [document] })).toEqual([
    Array.from({ length: 12_000 }, (_, i) => ({ a: i % 3 })),
  ]);
});
