import type { SchemaElement, SchemaTree } from 'hyparquet';

/** A node of a file's schema as a value: what lists and maps are made of is taken out, in whichever way they are stored. */
export type FileNode = FileLeaf | FileStruct | FileList | FileMap;

interface Node {
  readonly name: string;
  readonly fieldId: number | undefined;
  /** The definition level from which the value is not NULL. */
  readonly definition: number;
}

export interface FileLeaf extends Node {
  readonly kind: 'leaf';
  /** Its index among the file's leaves. */
  readonly leaf: number;
  /** From the root down to it. */
  readonly path: readonly SchemaTree[];
  readonly element: SchemaElement;
  /** How many lists and maps it lies in. */
  readonly repetition: number;
}

export interface FileStruct extends Node {
  readonly kind: 'struct';
  readonly repetition: number;
  /** Whether it lies in nothing else. */
  readonly isColumn: boolean;
  readonly members: readonly FileNode[];
}

interface Repeated extends Node {
  /** The level from which there is an element: below it a list that isn't NULL is empty. */
  readonly elementDefinition: number;
  /** The level of an entry that continues the list. */
  readonly elementRepetition: number;
}

export interface FileList extends Repeated {
  readonly kind: 'list';
  readonly element: FileNode;
}

export interface FileMap extends Repeated {
  readonly kind: 'map';
  readonly key: FileNode;
  readonly value: FileNode;
}

/** The columns of a file. */
export function fileColumns(root: SchemaTree): FileNode[] {
  const shaper = new Shaper();
  return root.children.map((child) => shaper.node([root, child], { definition: 0, repetition: 0 }));
}

interface Levels {
  readonly definition: number;
  readonly repetition: number;
}

class Shaper {
  #leafCount = 0;

  node(path: readonly SchemaTree[], above: Levels): FileNode {
    const node = path.at(-1)!;
    const levels = below(above, node.element);
    const named = { name: node.element.name, fieldId: node.element.field_id };
    if (node.element.repetition_type === 'REPEATED') {
      // Lists of old, without a group around them: they are never NULL, and hold no NULL.
      const { definition } = above;
      const element = this.#single(path, node, levels) ?? this.#value(path, levels);
      const continued = { elementDefinition: levels.definition, elementRepetition: levels.repetition };
      return { kind: 'list', ...named, definition, ...continued, element };
    }
    const annotation = node.element.logical_type?.type ?? node.element.converted_type;
    const [entries] = node.children;
    if (node.children.length !== 1 || entries?.element.repetition_type !== 'REPEATED') return this.#value(path, levels);
    const inner = below(levels, entries.element);
    const entriesPath = [...path, entries];
    const repeated = {
      ...named,
      definition: levels.definition,
      elementDefinition: inner.definition,
      elementRepetition: inner.repetition,
    };
    if ((annotation === 'MAP' || annotation === 'MAP_KEY_VALUE') && entries.children.length === 2) {
      const [key, value] = entries.children.map((child) => this.node([...entriesPath, child], inner));
      return { kind: 'map', ...repeated, key: key!, value: value! };
    }
    if (annotation !== 'LIST') return this.#value(path, levels);
    const element = this.#single(entriesPath, entries, inner) ?? this.#value(entriesPath, inner);
    return { kind: 'list', ...repeated, element };
  }

  /** What a repeated group of one part stands for: that part. */
  #single(path: readonly SchemaTree[], group: SchemaTree, levels: Levels): FileNode | undefined {
    const [only] = group.children;
    return only && group.children.length === 1 ? this.node([...path, only], levels) : undefined;
  }

  /** The node itself, whatever is around it. */
  #value(path: readonly SchemaTree[], { definition, repetition }: Levels): FileLeaf | FileStruct {
    const { element, children } = path.at(-1)!;
    const named = { name: element.name, fieldId: element.field_id, definition, repetition };
    if (children.length === 0) return { kind: 'leaf', ...named, leaf: this.#leafCount++, path, element };
    const members = children.map((child) => this.node([...path, child], { definition, repetition }));
    return { kind: 'struct', ...named, isColumn: path.length === 2, members };
  }
}

function below({ definition, repetition }: Levels, { repetition_type }: SchemaElement): Levels {
  return {
    definition: repetition_type === 'REQUIRED' ? definition : definition + 1,
    repetition: repetition_type === 'REPEATED' ? repetition + 1 : repetition,
  };
}

/** Every leaf below a node, in the file's order. */
export function leavesBelow(node: FileNode): FileLeaf[] {
  switch (node.kind) {
    case 'leaf':
      return [node];
    case 'struct':
      return node.members.flatMap(leavesBelow);
    case 'list':
      return leavesBelow(node.element);
    case 'map':
      return [...leavesBelow(node.key), ...leavesBelow(node.value)];
  }
}
