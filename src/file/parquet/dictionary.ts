import type { ColumnMetaData, RowGroup } from 'hyparquet';
import type { Physical } from '../../spec/values/value-codec.ts';
import type { Compressors } from '../compressors.ts';
import { RefusedValue } from '../refused-value.ts';
import type { BoundColumn } from './bind.ts';
import { readDictionary } from './decode/flat.ts';
import { decoding } from './footer.ts';
import { inflatedPages } from './inflate.ts';
import type { Lookup } from './probe.ts';

/** A longer dictionary is read with its chunk. */
const maxLength = 1 << 16;

/** The dictionary of a column, where all its values are in it and it is small; `isLoaded`: where its size doesn't matter. */
export function dictionaryLookup(
  { columns }: RowGroup,
  column: BoundColumn | undefined,
  compressors: Compressors,
  isLoaded: boolean,
): Lookup | undefined {
  if (column?.kind !== 'flat') return undefined;
  const chunk = columns[column.leaf]?.meta_data;
  const { element } = column.schemaPath.at(-1)!;
  if (!chunk || chunk.type !== element.type || columns[column.leaf]?.file_path || !isWhole(chunk)) return undefined;
  const [start, end] = [Number(chunk.dictionary_page_offset ?? 0), Number(chunk.data_page_offset)];
  const length = end - start;
  if (start <= 0 || length <= 0 || (!isLoaded && length > maxLength)) return undefined;
  return {
    range: { start, end },
    knows: isPrimitive,
    async load(bytes) {
      const inflated = await inflatedPages(chunk, bytes, compressors);
      const { isText, load } = column;
      const values = decoding('dictionary', () =>
        readDictionary({ chunk, bytes, element, isText, load, compressors: inflated }),
      );
      const found = new Set<unknown>();
      for (let i = 0; i < values.length; i++) {
        const value = values[i];
        // A value that can't become the column's is an error when its row is wanted.
        if (value instanceof RefusedValue || !isPrimitive(value as Physical)) return undefined;
        found.add(value);
      }
      return (value) => found.has(value);
    },
  };
}

/** Such are equal where a Set says so: NaN is itself, and zero has no sign. */
function isPrimitive(value: Physical): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint';
}

const dictionaryEncoding = /^(PLAIN|RLE)_DICTIONARY$/;

/** Whether all data pages refer to the dictionary. Without numbers of pages PLAIN may be the dictionary's own, or not. */
function isWhole({ type, encodings, encoding_stats: stats }: ColumnMetaData): boolean {
  if (type === 'BOOLEAN') return false;
  const used = stats
    ? stats.filter(({ page_type: page }) => /^DATA_PAGE/.test(page)).map(({ encoding }) => encoding)
    : encodings.filter((encoding) => encoding !== 'RLE' && encoding !== 'BIT_PACKED');
  return used.length > 0 && used.every((encoding) => dictionaryEncoding.test(encoding));
}
