import { showValue } from '../errors.ts';
import {
  absent,
  entriesOf,
  expectedKey,
  expectedList,
  expectedMap,
  expectedRecord,
  isList,
  isMap,
  isRecord,
  RefusedWithin,
} from '../file/parquet/encode/nested-input.ts';
import { storableCodec } from '../file/parquet/refuse.ts';
import type { Field } from '../schema/field.ts';
import { withParts } from '../schema/tree.ts';
import type { ColumnType } from '../spec/types.ts';
import { blobText } from '../spec/values/blob.ts';
import { type Physical, type ValueCodec, ValueError } from '../spec/values/codec.ts';
import type { TextTree } from '../spec/values/nested-text.ts';
import { nestedText } from '../spec/values/nested-write.ts';
import { boundsText, isFloat } from '../stats/bounds.ts';
import type { ColumnStatsDelta } from '../stats/column-stats.ts';
import { boundsOrder } from '../stats/order.ts';

/** A value that the table takes and the catalog can't keep as text. */
export class Unfit extends Error {}

/** One column's values as the text that the catalog keeps, and what they add to the table's statistics. */
export class InlinedColumnEncoder {
  readonly #field: Field;
  readonly #leaves: LeafNode[] = [];
  readonly #node: Node;

  constructor(field: Field) {
    this.#field = field;
    this.#node = nodeOf(field, this.#leaves);
  }

  /** The value's text; see `InlinedRow.cells`. Throws ValueError for what the type refuses, {@link Unfit} for what goes into no text. */
  add(value: unknown): string | null {
    const tree = this.#node.add(value, '');
    if (tree === null || this.#field.children.length === 0) return tree as string | null;
    return nestedText(tree, this.#field);
  }

  stats(): ColumnStatsDelta[] {
    return this.#leaves.map((leaf) => leaf.stats());
  }
}

/** Whether values of other texts may be equal: both zeros, `1 month` and `30 days`. */
const isAmbiguous = ({ type }: Field): boolean => isFloat(type) || type.name === 'interval';

interface Node {
  add(value: unknown, path: string): TextTree;
}

function nodeOf(field: Field, leaves: LeafNode[], isNested = false): Node {
  const below = (child: Field): Node => nodeOf(child, leaves, true);
  const [first, second] = field.children;
  switch (field.type.name) {
    case 'list':
      return new ListNode(below(first!));
    case 'map':
      return new MapNode(below(first!), below(second!), withParts([first!]).some(isAmbiguous));
    case 'struct':
      return new StructNode(field.children, field.children.map(below));
    default: {
      const leaf = new LeafNode(field, isNested);
      leaves.push(leaf);
      return leaf;
    }
  }
}

class LeafNode implements Node {
  readonly #field: Field;
  readonly #codec: ValueCodec;
  readonly #isNested: boolean;
  #containsNull = false;
  #bounds: { min: Physical; max: Physical } | undefined;

  constructor(field: Field, isNested: boolean) {
    this.#field = field;
    this.#codec = storableCodec(field.type);
    this.#isNested = isNested;
  }

  add(value: unknown, path: string): string | null {
    if (absent(value)) {
      this.#containsNull = true;
      return null;
    }
    let physical: Physical;
    try {
      physical = this.#codec.encode(value);
    } catch (error) {
      if (error instanceof ValueError && this.#isNested) throw new RefusedWithin(error.message, path, value);
      throw error;
    }
    const bounds = this.#bounds;
    if (bounds === undefined) this.#bounds = { min: physical, max: physical };
    else {
      if (this.#codec.compare(physical, bounds.min) < 0) bounds.min = physical;
      if (this.#codec.compare(physical, bounds.max) > 0) bounds.max = physical;
    }
    return this.#text(physical);
  }

  stats(): ColumnStatsDelta {
    const { id, type } = this.#field;
    return {
      columnId: id,
      containsNull: this.#containsNull,
      // As DuckDB: with inlined rows it is no longer known.
      containsNan: null,
      bounds: this.#boundsText(type),
      order: boundsOrder(type),
    };
  }

  #text(physical: Physical): string {
    switch (this.#field.type.name) {
      case 'boolean':
        return String(physical);
      case 'varchar':
      case 'json':
        // Some catalogs keep nested values in columns that take no NUL.
        if (this.#isNested && (physical as string).includes('\0')) throw new Unfit('a NUL character in a nested value');
        return physical as string;
      case 'blob':
        if (this.#isNested) return blobText(physical as Uint8Array);
    }
    return this.#codec.text(physical)!;
  }

  /** DuckDB's, but where its bounds of inlined rows are in the order of text that is not the order of the values. */
  #boundsText(type: ColumnType): ColumnStatsDelta['bounds'] {
    const bounds = this.#bounds;
    if (bounds === undefined) return 'none';
    switch (type.name) {
      case 'interval':
      case 'timetz':
        return 'unknown';
      case 'boolean':
        return { min: String(bounds.min), max: String(bounds.max) };
      case 'int128':
      case 'uint128':
        return { min: this.#codec.text(bounds.min)!, max: this.#codec.text(bounds.max)! };
    }
    const { min, max } = boundsText(type, bounds.min, bounds.max, this.#codec);
    return min === undefined || max === undefined ? 'unknown' : { min, max };
  }
}

class ListNode implements Node {
  readonly #element: Node;

  constructor(element: Node) {
    this.#element = element;
  }

  add(value: unknown, path: string): TextTree {
    if (absent(value)) return null;
    if (!isList(value)) throw new RefusedWithin(expectedList, path, value);
    return Array.from({ length: value.length }, (_, i) => this.#element.add(value[i], `${path}[${i}]`));
  }
}

class StructNode implements Node {
  readonly #names: readonly string[];
  readonly #members: readonly Node[];

  constructor(fields: readonly Field[], members: readonly Node[]) {
    this.#names = fields.map(({ name }) => name);
    this.#members = members;
  }

  add(value: unknown, path: string): TextTree {
    const names = this.#names;
    if (absent(value)) {
      // Its members are NULL with it: so DuckDB counts them.
      for (const member of this.#members) member.add(null, path);
      return null;
    }
    if (!isRecord(value)) throw new RefusedWithin(expectedRecord, path, value);
    for (const unknown in value)
      if (!names.includes(unknown))
        throw new RefusedWithin(`expected no member but ${names.join(', ')}`, `${path}.${unknown}`, value[unknown]);
    return this.#members.map((member, i) => {
      const name = names[i]!;
      return member.add(Object.hasOwn(value, name) || !(name in {}) ? value[name] : undefined, `${path}.${name}`);
    });
  }
}

class MapNode implements Node {
  readonly #key: Node;
  readonly #value: Node;
  readonly #isAmbiguous: boolean;

  constructor(key: Node, value: Node, isAmbiguous: boolean) {
    this.#key = key;
    this.#value = value;
    this.#isAmbiguous = isAmbiguous;
  }

  add(value: unknown, path: string): TextTree {
    if (absent(value)) return null;
    if (!isMap(value)) throw new RefusedWithin(expectedMap, path, value);
    const parts: TextTree[] = [];
    const keys = new Set<string>();
    for (const [key, item] of entriesOf(value)) {
      if (absent(key)) throw new RefusedWithin(expectedKey, path, key);
      const keyTree = this.#key.add(key, `${path}.key`);
      keys.add(JSON.stringify(keyTree));
      parts.push(keyTree, this.#value.add(item, `${path}[${showValue(key)}]`));
    }
    // DuckDB reads no text of a map in which a key is there twice.
    if (keys.size * 2 < parts.length || (this.#isAmbiguous && keys.size > 1)) throw new Unfit('a map with a key twice');
    return parts;
  }
}
