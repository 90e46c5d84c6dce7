import { compareBytes } from '../../../spec/values/blob.ts';
import type { Physical } from '../../../spec/values/codec.ts';
import { isFloat, maxBoundByteLength } from '../../../stats/bounds.ts';
import { hasFooterBounds } from '../schema.ts';
import { type Stored, storedForm } from '../stored.ts';
import type { Chunk, ColumnEncoder } from './column.ts';
import { pageTypes } from './encodings.ts';
import type { PageContent } from './page.ts';
import { type BoundaryOrder, orders, type PageIndex } from './page-index.ts';
import { plainValue } from './plain-value.ts';

type Bounds = NonNullable<Chunk['bounds']>;

/** A row group's bounds, or a page's, for the file; none where they would be long, or would mislead readers. */
export function fileBounds(
  { leaf }: ColumnEncoder,
  bounds: Bounds | undefined,
): readonly [min: Uint8Array, max: Uint8Array] | undefined {
  const { type } = leaf.field;
  if (bounds === undefined || !hasFooterBounds(type)) return undefined;
  let [min, max] = bounds;
  if (isFloat(type)) {
    // Readers may tell the zeros apart: the bounds have to contain both.
    if (min === 0) min = -0;
    if (max === 0) max = 0;
  }
  const toStored = storedForm(type) ?? ((value: Physical) => value as Stored);
  const plain = [plainValue(leaf.element, toStored(min)), plainValue(leaf.element, toStored(max))] as const;
  return plain[0].length <= maxBoundByteLength && plain[1].length <= maxBoundByteLength ? plain : undefined;
}

/** Tells of a chunk's data pages, when there are more of them than one: of a single page the footer tells all there is. */
export function pageIndexOf(column: ColumnEncoder, { pages }: Chunk): PageIndex {
  const data = pages[0]!.content.type === pageTypes.dictionary ? pages.slice(1) : pages;
  const isAlone = data.length === 1;
  const entries = data.map(({ content: { rowCount, nullCount }, bytes, bounds }) => ({
    byteLength: bytes.length,
    rowCount,
    nullCount,
    bounds: isAlone ? undefined : fileBounds(column, bounds),
  }));
  if (isAlone) return { pages: entries, hasBounds: false, order: orders.unordered };
  const isNull = ({ nullCount, valueCount }: PageContent): boolean => nullCount === valueCount;
  return {
    pages: entries,
    hasBounds: data.every(({ content }, i) => entries[i]!.bounds !== undefined || isNull(content)),
    order: orderOf(
      data.flatMap(({ bounds }) => (bounds === undefined ? [] : [bounds])),
      column,
    ),
  };
}

function orderOf(pages: readonly Bounds[], { codec }: ColumnEncoder): BoundaryOrder {
  // Text comes as its UTF-8.
  const compare = (a: Physical, b: Physical): number =>
    a instanceof Uint8Array && b instanceof Uint8Array ? compareBytes(a, b) : codec.compare(a, b);
  let ascends = true;
  let descends = true;
  for (let i = 1; i < pages.length && (ascends || descends); i++)
    for (const k of [0, 1] as const) {
      const step = compare(pages[i - 1]![k], pages[i]![k]);
      if (step > 0) ascends = false;
      if (step < 0) descends = false;
    }
  return ascends ? orders.ascending : descends ? orders.descending : orders.unordered;
}
