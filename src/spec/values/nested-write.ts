import type { NestedShape, TextTree } from './nested-text.ts';

/**
 * DuckDB's text of a nested value, as `parseNested` reads it. DuckDB casts it to the nested type and finds every value in it again.
 *
 * @example
 * ```ts
 * const list = { name: 'l', type: { name: 'list' }, children: [{ name: 'element', type: { name: 'varchar' }, children: [] }] };
 * nestedText(['a b', "q'x", null], list); // `[a b, 'q\\'x', NULL]`
 * ```
 */
export function nestedText(tree: TextTree, { type, children }: NestedShape): string {
  if (tree === null) return 'NULL';
  if (typeof tree === 'string') return needsQuotes.test(tree) ? quoted(tree) : tree;
  switch (type.name) {
    case 'list':
      return `[${tree.map((item) => nestedText(item, children[0]!)).join(', ')}]`;
    case 'map': {
      const entries: string[] = [];
      for (let i = 0; i < tree.length; i += 2)
        entries.push(`${nestedText(tree[i]!, children[0]!)}=${nestedText(tree[i + 1]!, children[1]!)}`);
      return `{${entries.join(', ')}}`;
    }
    default:
      return `{${children.map((member, i) => `${quoted(member.name)}: ${nestedText(tree[i]!, member)}`).join(', ')}}`;
  }
}

/** Nothing at all, what reads as NULL, white space at either end, or a character of the grammar. */
const needsQuotes = /^$|^null$|^[\t-\r ]|[\t-\r ]$|["'(),:=[\]{}]/i;

const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;
