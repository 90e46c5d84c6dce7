import { showValue } from '../../../errors.ts';
import type { Field } from '../../../schema/field.ts';
import { ValueError } from '../../../spec/values/codec.ts';
import type { ColumnEncoder, Refused, Workbench } from './column.ts';
import { columnOf } from './column-of.ts';
import { isNested, leafOf, type Place } from './leaves.ts';
import { identityOf, isSuspect, type Sameness, samenessOf } from './map-keys.ts';
import {
  absent,
  entriesOf,
  expectedKey,
  expectedList,
  expectedMap,
  expectedOnce,
  expectedRecord,
  isList,
  isMap,
  isRecord,
  RefusedWithin,
} from './nested-input.ts';

/** Values of a leaf that are collected before it takes them in. */
const leafValues = 8192;

/** Encodes a list, struct or map: takes rows apart into the values and levels of its leaves (Dremel's shredding). */
export class NestedColumn {
  readonly leaves: readonly ColumnEncoder[];
  readonly #node: Node;
  readonly #leafNodes: readonly LeafNode[];

  constructor(field: Field, bench: Workbench) {
    const leafNodes: LeafNode[] = [];
    this.#node = nodeOf(field, { path: [field.name], repetition: 0, definition: 1 }, bench, leafNodes);
    this.#leafNodes = leafNodes;
    this.leaves = leafNodes.map(({ column }) => column);
  }

  get byteLength(): number {
    let sum = 0;
    for (const { byteLength } of this.leaves) sum += byteLength;
    return sum;
  }

  /** Rows that are NULL. */
  nullCount = 0;

  append(values: ArrayLike<unknown>, from: number, to: number): void {
    const leaves = this.#leafNodes;
    for (let i = from; i < to; ) {
      for (const leaf of leaves) leaf.column.begin();
      for (let full = false; i < to && !full; i++) {
        const value = values[i];
        if (absent(value)) this.nullCount++;
        this.#node.write(value, 0, 0);
        for (let l = 0; l < leaves.length; l++) full ||= leaves[l]!.pending >= leafValues;
      }
      for (const leaf of leaves) leaf.hand();
    }
  }

  findRefused(values: ArrayLike<unknown>, from: number, to: number): Refused | undefined {
    for (let index = from; index < to; index++) {
      try {
        this.#node.check(values[index], '');
      } catch (error) {
        if (error instanceof RefusedWithin) return { index, value: error.value, reason: error };
        throw error;
      }
    }
    return undefined;
  }
}

/**
 * A field within the column. `definition` is the level of what is there when the value is NULL. `write` may throw anything at all
 * when a value is refused; `check` then says which.
 */
interface Node {
  write(value: unknown, repetition: number, definition: number): void;
  check(value: unknown, path: string): void;
  /** A text that tells values apart as DuckDB does, of one that is not refused. */
  identity(value: unknown): string;
}

function nodeOf(field: Field, place: Place, bench: Workbench, leaves: LeafNode[]): Node {
  const { type, children } = field;
  if (!isNested(field)) {
    const leaf = new LeafNode(columnOf(leafOf(field, place), bench), place);
    leaves.push(leaf);
    return leaf;
  }
  const below = (name: string, repeated: boolean, required: boolean, within: string[]): Place => ({
    path: [...place.path, ...within, name],
    repetition: place.repetition + (repeated ? 1 : 0),
    definition: place.definition + (repeated ? 1 : 0) + (required ? 0 : 1),
  });
  switch (type.name) {
    case 'list': {
      const element = nodeOf(children[0]!, below('element', true, false, ['list']), bench, leaves);
      return new ListNode(element, place);
    }
    case 'map': {
      const key = nodeOf(children[0]!, below('key', true, true, ['key_value']), bench, leaves);
      const value = nodeOf(children[1]!, below('value', true, false, ['key_value']), bench, leaves);
      return new MapNode(key, value, place, samenessOf(children[0]!));
    }
    default:
      return new StructNode(
        children.map((child) => child.name),
        children.map((child) => nodeOf(child, below(child.name, false, false, []), bench, leaves)),
        place,
      );
  }
}

class LeafNode implements Node {
  readonly column: ColumnEncoder;
  readonly #definition: number;
  readonly #levels: NonNullable<ColumnEncoder['nested']>;
  #values: unknown[] = [];
  pending = 0;

  constructor(column: ColumnEncoder, place: Place) {
    this.column = column;
    this.#definition = place.definition;
    this.#levels = column.nested!;
  }

  write(value: unknown, repetition: number, definition: number): void {
    if (absent(value)) this.#levels.add(repetition, definition);
    else {
      this.#levels.add(repetition, this.#definition);
      this.#values[this.pending++] = value;
    }
  }

  /** Hands the values over to the column. */
  hand(): void {
    this.column.appendDense(this.#values, this.pending);
    this.pending = 0;
  }

  check(value: unknown, path: string): void {
    if (absent(value)) return;
    try {
      this.column.codec.encode(value);
    } catch (error) {
      if (error instanceof ValueError) throw new RefusedWithin(error.message, path, value);
      throw error;
    }
  }

  identity(value: unknown): string {
    return absent(value) ? 'NULL' : identityOf(this.column.codec.encode(value));
  }
}

class ListNode implements Node {
  readonly #element: Node;
  readonly #definition: number;
  readonly #repetition: number;

  constructor(element: Node, { definition, repetition }: Place) {
    this.#element = element;
    this.#definition = definition;
    this.#repetition = repetition + 1;
  }

  write(value: unknown, repetition: number, definition: number): void {
    if (absent(value)) this.#element.write(null, repetition, definition);
    else if (!isList(value)) throw new ValueError(expectedList);
    else if (value.length === 0) this.#element.write(null, repetition, this.#definition);
    else {
      this.#element.write(value[0], repetition, this.#definition + 1);
      for (let i = 1; i < value.length; i++) this.#element.write(value[i], this.#repetition, this.#definition + 1);
    }
  }

  check(value: unknown, path: string): void {
    if (absent(value)) return;
    if (!isList(value)) throw new RefusedWithin(expectedList, path, value);
    for (let i = 0; i < value.length; i++) this.#element.check(value[i], `${path}[${i}]`);
  }

  identity(value: unknown): string {
    return absent(value)
      ? 'NULL'
      : `[${Array.from(value as ArrayLike<unknown>, (one) => this.#element.identity(one))}]`;
  }
}

class StructNode implements Node {
  readonly #names: readonly string[];
  readonly #members: readonly Node[];
  readonly #definition: number;
  /** Whether every object has a property of some member's name: `constructor`, for example. */
  readonly #inherited: boolean;

  constructor(names: readonly string[], members: readonly Node[], { definition }: Place) {
    this.#names = names;
    this.#members = members;
    this.#definition = definition;
    this.#inherited = names.some((name) => name in {});
  }

  write(value: unknown, repetition: number, definition: number): void {
    const members = this.#members;
    if (absent(value)) {
      for (let i = 0; i < members.length; i++) members[i]!.write(null, repetition, definition);
      return;
    }
    if (!isRecord(value)) throw new ValueError(expectedRecord);
    const names = this.#names;
    const level = this.#definition;
    let next = 0;
    let inOrder = true;
    // Keys mostly come in the order of the members, and are read fastest while the object is walked.
    for (const key in value) {
      if (inOrder && key === names[next]) members[next++]!.write(value[key], repetition, level);
      else if (names.includes(key)) inOrder = false;
      else throw new ValueError(expectedRecord);
    }
    for (; next < members.length; next++) {
      const name = names[next]!;
      const member = this.#inherited && !Object.hasOwn(value, name) ? undefined : value[name];
      members[next]!.write(member, repetition, level);
    }
  }

  check(value: unknown, path: string): void {
    if (absent(value)) return;
    if (!isRecord(value)) throw new RefusedWithin(expectedRecord, path, value);
    for (const unknown in value)
      if (!this.#names.includes(unknown))
        throw new RefusedWithin(
          `expected no member but ${this.#names.join(', ')}`,
          `${path}.${unknown}`,
          value[unknown],
        );
    for (const [i, member] of this.#members.entries())
      member.check(this.#member(value, i), `${path}.${this.#names[i]}`);
  }

  identity(value: unknown): string {
    if (absent(value)) return 'NULL';
    return `{${this.#members.map((member, i) => member.identity(this.#member(value as Readonly<Record<string, unknown>>, i)))}}`;
  }

  #member(value: Readonly<Record<string, unknown>>, i: number): unknown {
    const name = this.#names[i]!;
    return Object.hasOwn(value, name) || !(name in {}) ? value[name] : undefined;
  }
}

class MapNode implements Node {
  readonly #key: Node;
  readonly #value: Node;
  readonly #definition: number;
  readonly #repetition: number;

  readonly #sameness: Sameness;

  constructor(key: Node, value: Node, { definition, repetition }: Place, sameness: Sameness) {
    this.#sameness = sameness;
    this.#key = key;
    this.#value = value;
    this.#definition = definition;
    this.#repetition = repetition + 1;
  }

  write(value: unknown, repetition: number, definition: number): void {
    if (absent(value)) {
      this.#writeNone(repetition, definition);
      return;
    }
    let next = repetition;
    let empty = true;
    const entries = entriesOf(value);
    let first: unknown;
    let suspect = false;
    for (const [key, item] of entries) {
      empty = false;
      if (absent(key)) throw new ValueError(expectedKey);
      first ??= key;
      suspect ||= isSuspect(this.#sameness, key, first);
      this.#key.write(key, next, this.#definition + 1);
      this.#value.write(item, next, this.#definition + 1);
      next = this.#repetition;
    }
    if (empty) this.#writeNone(repetition, this.#definition);
    else if (suspect && this.#twice(entries) !== undefined) throw new ValueError(expectedOnce);
  }

  /** A key that is there before, by another value. */
  #twice(entries: Iterable<readonly [unknown, unknown]>): { readonly key: unknown } | undefined {
    const seen = new Set<string>();
    for (const [key] of entries) if (seen.size === seen.add(this.#key.identity(key)).size) return { key };
    return undefined;
  }

  #writeNone(repetition: number, definition: number): void {
    this.#key.write(null, repetition, definition);
    this.#value.write(null, repetition, definition);
  }

  check(value: unknown, path: string): void {
    if (absent(value)) return;
    if (!isMap(value)) throw new RefusedWithin(expectedMap, path, value);
    for (const [key, item] of entriesOf(value)) {
      if (absent(key)) throw new RefusedWithin(expectedKey, path, key);
      this.#key.check(key, `${path}.key`);
      this.#value.check(item, `${path}[${showValue(key)}]`);
    }
    const twice = this.#twice(entriesOf(value));
    if (twice) throw new RefusedWithin(expectedOnce, path, twice.key);
  }

  identity(value: unknown): string {
    if (absent(value)) return 'NULL';
    return `{${[...entriesOf(value)].map(([key, item]) => `${this.#key.identity(key)}=${this.#value.identity(item)}`)}}`;
  }
}
