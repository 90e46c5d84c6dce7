import type { SchemaElement, SchemaTree } from 'hyparquet';
import { LakeError } from '../../errors.ts';
import type { Field } from '../../schema/field.ts';
import { codecFor, type Physical } from '../../spec/values/codec.ts';
import { type Assembly, leavesOf } from './assemble.ts';
import { isStoredAsText, loadedForm, type Raw } from './loaded.ts';

/** How one requested column is got from a file. */
export type BoundColumn =
  /** The file was written before the column was added: every row has `value`. */
  | {
      readonly kind: 'missing';
      readonly value: Physical | null;
      readonly decode: ((value: never) => unknown) | undefined;
    }
  | (BoundLeaf & {
      readonly kind: 'flat';
      /** From what the decoder gives to physical values. */
      readonly load: ((raw: Raw) => Physical) | undefined;
      readonly decode: ((value: never) => unknown) | undefined;
    })
  | { readonly kind: 'nested'; readonly assembly: Assembly; readonly leaves: readonly BoundLeaf[] };

/** A leaf of the file. */
export interface BoundLeaf {
  /** Its index among the file's leaves. */
  readonly leaf: number;
  /** From the root; the leaf's own element without annotations, by which the decoder would make lossy values. */
  readonly schemaPath: SchemaTree[];
  /** Whether the decoder is to make strings of bytes. */
  readonly isText: boolean;
}

/** Columns are bound by field id and by nothing else: names change, and are given to other columns later. */
export function bindColumns(root: SchemaTree, fields: readonly Field[]): BoundColumn[] {
  if (root.children.length > 0 && root.children.every((child) => child.element.field_id === undefined))
    throw new LakeError('UNSUPPORTED', 'a data file without field ids cannot be read yet');
  const binder = new Binder(root);
  return fields.map((field) => binder.column(field));
}

/** Levels of a node: from the root down to it. */
interface Levels {
  readonly definition: number;
  readonly repetition: number;
}

class Binder {
  readonly #root: SchemaTree;
  readonly #leafIndex: ReadonlyMap<SchemaTree, number>;

  constructor(root: SchemaTree) {
    this.#root = root;
    this.#leafIndex = new Map(fileLeaves(root).map((node, i) => [node, i]));
  }

  column(field: Field): BoundColumn {
    const node = this.#root.children.find((child) => child.element.field_id === field.id);
    if (!node) return { kind: 'missing', value: defaultBefore(field), decode: decodeOf(field) };
    if (field.children.length === 0) {
      return { kind: 'flat', ...flatConversion(node, field), ...this.#leaf([this.#root, node], field) };
    }
    const leaves: BoundLeaf[] = [];
    const assembly = this.#part([this.#root, node], field, { definition: 0, repetition: 0 }, leaves);
    return { kind: 'nested', assembly, leaves };
  }

  #leaf(path: readonly SchemaTree[], field: Field): BoundLeaf {
    const node = path.at(-1)!;
    const schemaPath = [...path.slice(0, -1), { ...node, element: physicalElement(node.element) }];
    return { leaf: this.#leafIndex.get(node)!, schemaPath, isText: isStoredAsText(field.type) };
  }

  /** A node of the file as a part of a column; its path ends in it. `above` are its parent's levels. */
  #part(path: readonly SchemaTree[], field: Field, above: Levels, leaves: BoundLeaf[]): Assembly {
    const node = path.at(-1)!;
    const levels = below(above, node.element);
    const { definition } = levels;
    if (field.children.length === 0) {
      const bound = this.#leaf(path, field);
      leaves.push(bound);
      return { kind: 'leaf', leaf: bound.leaf, definition, convert: conversion(node, field) };
    }
    if (field.type.name === 'struct') {
      const members = field.children.map((child) => {
        const found = node.children.find((candidate) => candidate.element.field_id === child.id);
        const part: Assembly = found
          ? this.#part([...path, found], child, levels, leaves)
          : { kind: 'missing', value: missingValue(child) };
        return { name: child.name, part };
      });
      const read = members.flatMap(({ part }) => leavesOf(part));
      if (read.length === 0) throw unreadable(field, 'shares no member with its struct');
      return { kind: 'struct', definition, leaves: read, members };
    }
    // The group of three levels that the format prescribes: list or map, its repeated entries, their parts.
    const [entries] = node.children;
    if (node.children.length !== 1 || entries?.element.repetition_type !== 'REPEATED' || entries.children.length === 0)
      throw unreadable(field, 'is stored in another shape than the three levels of lists and maps');
    const inner = below(levels, entries.element);
    const parts = field.children.map((child, i) => {
      const found = entries.children[i];
      if (!found) throw unreadable(field, `has no ${child.name}`);
      return this.#part([...path, entries, found], child, inner, leaves);
    });
    const repeated = {
      definition,
      elementDefinition: inner.definition,
      repetition: inner.repetition,
      leaves: parts.flatMap(leavesOf),
    };
    if (field.type.name === 'list') return { kind: 'list', ...repeated, element: parts[0]! };
    return { kind: 'map', ...repeated, key: parts[0]!, value: parts[1]! };
  }
}

function below({ definition, repetition }: Levels, { repetition_type }: SchemaElement): Levels {
  return {
    definition: repetition_type === 'REQUIRED' ? definition : definition + 1,
    repetition: repetition_type === 'REPEATED' ? repetition + 1 : repetition,
  };
}

/** From raw Parquet values to physical ones, and on to what callers get; `undefined` where they are the same. */
function flatConversion(node: SchemaTree, field: Field): Pick<BoundColumn & { kind: 'flat' }, 'load' | 'decode'> {
  if (node.children.length > 0 || node.element.repetition_type === 'REPEATED')
    throw unreadable(field, 'is nested there');
  return { load: loadedForm(node.element, field.type), decode: decodeOf(field) };
}

function conversion(node: SchemaTree, field: Field): ((raw: Raw) => unknown) | undefined {
  const { load, decode } = flatConversion(node, field);
  if (!load || !decode) return load ?? (decode as ((raw: Raw) => unknown) | undefined);
  return (raw) => decode(load(raw) as never);
}

/** From physical values to what callers get; `undefined` where they are the same. */
export function decodeOf(field: Field): ((value: never) => unknown) | undefined {
  if (field.children.length > 0 || isDecodedAsLoaded(field)) return undefined;
  const codec = codecFor(field.type);
  return (value) => codec.decode(value);
}

/** Types whose physical values are what callers get. */
function isDecodedAsLoaded({ type }: Field): boolean {
  return /^(boolean|u?int\d+|float\d+|varchar|blob|uuid|interval)$/.test(type.name);
}

/** What rows of a file have in a column that was added after it was written: a physical value. */
function defaultBefore({ initialDefault, type, children }: Field): Physical | null {
  if (initialDefault === null || children.length > 0) return null;
  return codecFor(type).fromText(initialDefault);
}

/** The same of a part of a nested column, as callers get it. */
function missingValue(field: Field): unknown {
  const value = defaultBefore(field);
  const decode = decodeOf(field);
  return value === null || !decode ? value : decode(value as never);
}

function physicalElement({ converted_type: _, logical_type: __, ...element }: SchemaElement): SchemaElement {
  return element;
}

function fileLeaves(node: SchemaTree): SchemaTree[] {
  return node.children.flatMap((child) => (child.children.length === 0 ? [child] : fileLeaves(child)));
}

function unreadable(field: Field, why: string): LakeError {
  return new LakeError('UNSUPPORTED', `column "${field.name}" of a data file ${why}: that cannot be read`, {
    context: { column: field.name },
  });
}
