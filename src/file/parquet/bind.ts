import type { SchemaElement, SchemaTree } from 'hyparquet';
import { LakeError } from '../../errors.ts';
import type { Field } from '../../schema/field.ts';
import { withParts } from '../../schema/tree.ts';
import { codecFor, type Physical, ValueError } from '../../spec/values/codec.ts';
import type { FileBinding } from '../format.ts';
import { type Assembly, leavesOf } from './assemble.ts';
import { decoding } from './footer.ts';
import { lenientForm, loadedForm } from './loaded.ts';
import { type Found, type Matcher, matcherFor } from './match.ts';
import { type FileLeaf, type FileNode, type FileStruct, fileColumns, leavesBelow } from './shape.ts';
import { isText, type Raw } from './source.ts';

/** How one requested column is got from a file. */
export type BoundColumn =
  /** The file has no such column: every row has `value`. */
  | {
      readonly kind: 'missing';
      readonly value: Physical | null;
      readonly decode: ((value: never) => unknown) | undefined;
    }
  | (BoundLeaf & {
      readonly kind: 'flat';
      /** From what the decoder gives to physical values. */
      readonly load: ((raw: Raw) => Physical) | undefined;
      /** Whether the file has another type than the column: of what that can't hold, `load` makes a RefusedValue. */
      readonly isCast: boolean;
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

/** How each field is got from a file. UNSUPPORTED, naming the column, where what the file has can't become what the field is. */
export function bindColumns(
  root: SchemaTree,
  fields: readonly Field[],
  binding: FileBinding = { kind: 'ids' },
): BoundColumn[] {
  return decoding('schema', () => {
    const columns = fileColumns(root);
    const matcher = matcherFor(binding, columns);
    return fields.map((field) => boundColumn(field, matcher.find(field, columns)));
  });
}

function boundColumn(field: Field, found: Found): BoundColumn {
  if (found?.kind !== 'node') return { kind: 'missing', value: valueWithout(field, found), decode: decodeOf(field) };
  const { node } = found;
  if (field.children.length === 0) {
    const leaf = leafOf(node, field);
    return { kind: 'flat', ...boundLeaf(leaf), ...lenientForm(leaf.element, field), decode: decodeOf(field) };
  }
  const leaves = new Map<number, BoundLeaf>();
  const assembly = assemblyOf(field, node, found.below, leaves);
  return { kind: 'nested', assembly, leaves: [...leaves.values()] };
}

function boundLeaf({ leaf, path, element }: FileLeaf): BoundLeaf {
  const schemaPath = [...path.slice(0, -1), { ...path.at(-1)!, element: physicalElement(element) }];
  return { leaf, schemaPath, isText: isText(element) };
}

/** A node of the file as a field that has parts, or is one. The leaves it needs are added to `leaves`. */
function assemblyOf(field: Field, node: FileNode, below: Matcher, leaves: Map<number, BoundLeaf>): Assembly {
  if (field.children.length === 0) {
    const leaf = leafOf(node, field);
    leaves.set(leaf.leaf, boundLeaf(leaf));
    return { kind: 'leaf', leaf: leaf.leaf, definition: leaf.definition, convert: conversion(leaf, field) };
  }
  if (field.type.name !== node.kind) throw unreadable(field, `is stored as ${article(node.kind)}`);
  const part = (child: Field, found: FileNode): Assembly => assemblyOf(child, found, below.part(child), leaves);
  const [first, second] = field.children;
  switch (node.kind) {
    case 'struct':
      return structOf(field, node, below, leaves);
    case 'list': {
      const element = part(first!, node.element);
      return { kind: 'list', ...repeatedOf(node), leaves: leavesOf(element), element };
    }
    case 'map': {
      const [key, value] = [part(first!, node.key), part(second!, node.value)];
      const read = [...leavesOf(key), ...leavesOf(value)];
      return { kind: 'map', name: field.name, ...repeatedOf(node), leaves: read, key, value };
    }
  }
}

function structOf(field: Field, node: FileStruct, below: Matcher, leaves: Map<number, BoundLeaf>): Assembly {
  const members = field.children.map((child) => {
    const found = below.find(child, node.members);
    const part: Assembly =
      found?.kind === 'node'
        ? assemblyOf(child, found.node, found.below, leaves)
        : { kind: 'missing', value: memberWithout(child, found) };
    return { name: child.name, part };
  });
  const read = members.flatMap(({ part }) => leavesOf(part));
  const { definition } = node;
  if (read.length > 0) return { kind: 'struct', definition, leaves: read, members };
  // DuckDB confuses which of them are NULL.
  if (!node.isColumn) throw unreadable(field, 'lies in another and has none of its members there');
  // None of its members is left, yet whether it is NULL still shows in those it had.
  const witness = leavesBelow(node).toSorted((a, b) => a.repetition - b.repetition)[0];
  if (!witness) throw unreadable(field, 'has no members there');
  leaves.set(witness.leaf, boundLeaf(witness));
  const passed = { leaf: witness.leaf, repetition: node.repetition };
  return { kind: 'struct', definition, leaves: [witness.leaf], members, passed };
}

function repeatedOf(node: FileNode & { kind: 'list' | 'map' }): {
  definition: number;
  elementDefinition: number;
  repetition: number;
} {
  const { definition, elementDefinition, elementRepetition } = node;
  return { definition, elementDefinition, repetition: elementRepetition };
}

function leafOf(node: FileNode, field: Field): FileLeaf {
  if (node.kind !== 'leaf') throw unreadable(field, `is stored as ${article(node.kind)}`);
  return node;
}

/** From raw Parquet values to what callers get; `undefined` where they are the same. */
function conversion({ element }: FileLeaf, field: Field): ((raw: Raw) => unknown) | undefined {
  const load = loadedForm(element, field);
  const decode = decodeOf(field) as ((value: unknown) => unknown) | undefined;
  if (!load || !decode) return load ?? decode;
  return (raw) => decode(load(raw));
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

/** What every row has in a column that the file lacks: the value in the file's path, or that from before the column was added. */
function valueWithout(field: Field, found: Found): Physical | null {
  const text = found?.kind === 'partition' ? found.value : field.initialDefault;
  if (text === null) return null;
  // As DuckDB reads paths.
  if (found && text === '' && field.type.name !== 'varchar') return null;
  if (withParts([field]).length > 1) throw unreadable(field, `is not in it, and ${JSON.stringify(text)} stands for it`);
  try {
    return codecFor(field.type).fromText(text);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw unreadable(field, `is not in it, and ${JSON.stringify(text)} stands for it (${error.message})`);
  }
}

/** The same of a part of a nested column, as callers get it. */
function memberWithout(field: Field, found: Found): unknown {
  const value = valueWithout(field, found);
  const decode = decodeOf(field);
  return value === null || !decode ? value : decode(value as never);
}

function physicalElement({ converted_type: _, logical_type: __, ...element }: SchemaElement): SchemaElement {
  // The decoder would make dates of them, without micros.
  return element.type === 'INT96' ? { ...element, type: 'FIXED_LEN_BYTE_ARRAY', type_length: 12 } : element;
}

const article = (kind: FileNode['kind']): string => (kind === 'leaf' ? 'a single value' : `a ${kind}`);

function unreadable(field: Field, why: string): LakeError {
  return new LakeError('UNSUPPORTED', `column "${field.name}" of a data file ${why}: that cannot be read`, {
    context: { column: field.name },
  });
}
