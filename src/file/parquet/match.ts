import { LakeError } from '../../errors.ts';
import type { Field } from '../../schema/field.ts';
import { sameName } from '../../spec/names.ts';
import type { FileBinding, MappedName } from '../format.ts';
import { rowIdField, snapshotIdField } from '../internal-fields.ts';
import type { FileNode } from './shape.ts';

/** What of a file a field is: a node, a value that the file's path has, or nothing. */
export type Found =
  | { readonly kind: 'node'; readonly node: FileNode; readonly below: Matcher }
  | { readonly kind: 'partition'; readonly value: string | null }
  | undefined;

/** Finds the fields of one level among a file's nodes. */
export interface Matcher {
  find(field: Field, nodes: readonly FileNode[]): Found;
  /** For the parts of lists and maps, which are where they are whatever they are called. */
  part(field: Field): Matcher;
}

/** The matcher of a file's columns. */
export function matcherFor(binding: FileBinding, columns: readonly FileNode[]): Matcher {
  if (binding.kind === 'names') return mapped(binding.names);
  // As DuckDB tells: one column without an id, and the file has none.
  if (columns.every(({ fieldId }) => fieldId !== undefined)) return byId;
  if (binding.kind === 'ids')
    throw new LakeError('UNSUPPORTED', 'a data file without field ids is read by position or by name only');
  return byPosition(binding.fieldIds);
}

const byId: Matcher = {
  find: ({ id }, nodes) =>
    found(
      nodes.find(({ fieldId }) => fieldId === id),
      byId,
    ),
  part: () => byId,
};

function byPosition(fieldIds: readonly number[]): Matcher {
  return {
    find(field, nodes) {
      if (isInternal(field)) return byId.find(field, nodes);
      const position = fieldIds.indexOf(field.id);
      const node = position < 0 ? undefined : nodes[position];
      // DuckDB loses what is in them.
      if (node && field.children.length > 0)
        throw new LakeError('UNSUPPORTED', `column "${field.name}" is nested in a data file without field ids`, {
          context: { column: field.name },
        });
      return found(node, byId);
    },
    part: () => byId,
  };
}

function mapped(names: readonly MappedName[]): Matcher {
  const byFieldId = new Map(names.map((entry) => [entry.fieldId, entry]));
  const childrenOf = ({ id }: Field): Matcher => mapped(byFieldId.get(id)?.children ?? []);
  return {
    find(field, nodes) {
      const entry = byFieldId.get(field.id);
      if (!entry) return isInternal(field) ? byId.find(field, nodes) : undefined;
      if (entry.partition) return { kind: 'partition', value: entry.partition.value };
      return found(named(nodes, entry.sourceName), childrenOf(field));
    },
    part: childrenOf,
  };
}

function found(node: FileNode | undefined, below: Matcher): Found {
  return node && { kind: 'node', node, below };
}

/** Columns that DuckLake adds are found by their ids, in whatever way the others are. */
function isInternal({ id }: Field): boolean {
  return id === rowIdField.id || id === snapshotIdField.id;
}

function named(nodes: readonly FileNode[], name: string): FileNode | undefined {
  return nodes.find((node) => node.name === name) ?? nodes.find((node) => sameName(node.name, name));
}
