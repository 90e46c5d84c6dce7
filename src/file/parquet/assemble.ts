import { mapOf } from '../../spec/values/map.ts';
import { corrupt } from './footer.ts';
import type { LeafEntries } from './leaf-stream.ts';
import type { Raw } from './source.ts';

/**
 * A nested column of a file as its values are put together from the levels of its leaves (the record assembly of the
 * Dremel paper). `definition` is the level from which a node is not NULL.
 */
export type Assembly =
  | {
      readonly kind: 'leaf';
      readonly leaf: number;
      readonly definition: number;
      readonly convert: ((raw: Raw) => unknown) | undefined;
    }
  /** A part that the file was written without. */
  | { readonly kind: 'missing'; readonly value: unknown }
  | {
      readonly kind: 'struct';
      readonly definition: number;
      /** The leaves that are read below: a NULL has one entry in each. */
      readonly leaves: readonly number[];
      readonly members: readonly { readonly name: string; readonly part: Assembly }[];
      /** Of a struct none of whose members are in the file: a leaf that tells whether it is NULL. */
      readonly passed?: Passed;
    }
  | (Repeated & { readonly kind: 'list'; readonly element: Assembly })
  | (Repeated & { readonly kind: 'map'; readonly name: string; readonly key: Assembly; readonly value: Assembly });

/** Passes the entries of one value of a leaf, which may lie in lists. */
interface Passed {
  readonly leaf: number;
  /** The level of the value itself: entries above it belong to it. */
  readonly repetition: number;
}

interface Repeated {
  readonly definition: number;
  /** The level from which there is an element: below it a list that isn't NULL is empty. */
  readonly elementDefinition: number;
  /** The level of an entry that continues this list. */
  readonly repetition: number;
  readonly leaves: readonly number[];
}

/** Walks the entries of several leaves in step. */
export class Assembler {
  readonly #leaves: ReadonlyMap<number, LeafEntries>;
  readonly #entry: Map<number, number> = new Map();
  readonly #value: Map<number, number> = new Map();

  constructor(leaves: ReadonlyMap<number, LeafEntries>) {
    this.#leaves = leaves;
    for (const leaf of leaves.keys()) {
      this.#entry.set(leaf, 0);
      this.#value.set(leaf, 0);
    }
  }

  /** The next value of a node: of the next row, when the node is a whole column. */
  next(node: Assembly): unknown {
    switch (node.kind) {
      case 'missing':
        return node.value;
      case 'leaf':
        return this.#nextLeaf(node);
      case 'struct': {
        if (this.#definition(node.leaves) < node.definition) return this.#skip(node.leaves);
        if (node.passed) this.#pass(node.passed);
        return Object.fromEntries(node.members.map(({ name, part }) => [name, this.next(part)]));
      }
      case 'list':
        return this.#nextItems(node, () => this.next(node.element));
      case 'map': {
        const entries = this.#nextItems(node, () => [this.next(node.key), this.next(node.value)] as const);
        return entries && mapOf(entries, node.name);
      }
    }
  }

  #nextLeaf({ leaf, definition, convert }: Assembly & { kind: 'leaf' }): unknown {
    const isNull = this.#definition([leaf]) < definition;
    this.#entry.set(leaf, this.#entry.get(leaf)! + 1);
    if (isNull) return null;
    const at = this.#value.get(leaf)!;
    this.#value.set(leaf, at + 1);
    const raw = this.#leaves.get(leaf)!.values[at];
    if (raw === undefined) throw corrupt('a nested column has fewer values than its levels say');
    return convert ? convert(raw) : raw;
  }

  #nextItems<T>(node: Repeated, nextItem: () => T): T[] | null {
    const definition = this.#definition(node.leaves);
    if (definition < node.definition) return this.#skip(node.leaves);
    const items: T[] = [];
    if (definition < node.elementDefinition) {
      this.#skip(node.leaves);
      return items;
    }
    const first = node.leaves[0]!;
    const { repetitions } = this.#leaves.get(first)!;
    do items.push(nextItem());
    while (repetitions[this.#entry.get(first)!] === node.repetition);
    return items;
  }

  #pass({ leaf, repetition }: Passed): void {
    const { repetitions } = this.#leaves.get(leaf)!;
    let entry = this.#entry.get(leaf)! + 1;
    while (repetitions[entry]! > repetition) entry++;
    this.#entry.set(leaf, entry);
  }

  #definition([leaf]: readonly number[]): number {
    const level = this.#leaves.get(leaf!)!.definitions[this.#entry.get(leaf!)!];
    if (level === undefined) throw corrupt('a nested column has fewer entries than rows');
    return level;
  }

  /** Passes one entry of each leaf, none of which has a value. */
  #skip(leaves: readonly number[]): null {
    for (const leaf of leaves) this.#entry.set(leaf, this.#entry.get(leaf)! + 1);
    return null;
  }
}

export function leavesOf(node: Assembly): readonly number[] {
  if (node.kind === 'leaf') return [node.leaf];
  return node.kind === 'missing' ? [] : node.leaves;
}
