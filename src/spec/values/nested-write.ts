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
      return `[${tree.map((item) => partText(item, children[0]!)).join(', ')}]`;
    case 'map': {
      const entries: string[] = [];
      for (let i = 0; i < tree.length; i += 2)
        entries.push(`${partText(tree[i]!, children[0]!)}=${partText(tree[i + 1]!, children[1]!)}`);
      return `{${entries.join(', ')}}`;
    }
    default:
      return `{${children.map((member, i) => `${quoted(member.name)}: ${partText(tree[i]!, member)}`).join(', ')}}`;
  }
}

/**
 * Looking for the end of a part that is nested itself, DuckDB counts brackets without regard to quotes, its own texts included: a
 * part with brackets in its values is quoted as a whole.
 */
function partText(tree: TextTree, shape: NestedShape): string {
  const text = nestedText(tree, shape);
  return typeof tree === 'object' && holdsBrackets(tree, shape) ? quoted(text) : text;
}

function holdsBrackets(tree: TextTree, { type, children }: NestedShape): boolean {
  if (tree === null) return false;
  if (typeof tree === 'string') return /[[\]{}]/.test(tree);
  if (children.some(({ name }) => type.name === 'struct' && /[[\]{}]/.test(name))) return true;
  return tree.some((part, i) =>
    holdsBrackets(part, children[type.name === 'list' ? 0 : type.name === 'map' ? i % 2 : i]!),
  );
}

/** Nothing at all, what reads as NULL, white space at either end, or a character of the grammar; backslashes, which DuckDB doesn't quote and then may take for escapes. */
const needsQuotes = /^$|^null$|^[\t-\r ]|[\t-\r ]$|["'(),:=[\\\]{}]/i;

const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;
