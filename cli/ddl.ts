import { UsageError } from './errors.ts';
import { resolveType } from './sql-types.ts';

/** A column to be made. */
export interface ColumnSpec {
  readonly name: string;
  /** DuckLake's type: `decimal(12,2)`. */
  readonly type: string;
  readonly nullable: boolean;
  /** The default's text, without quotes; `undefined` when there is none. */
  readonly defaultText?: string | undefined;
}

type TokenKind = 'name' | 'quoted' | 'string' | 'number' | 'mark';
interface Token {
  readonly kind: TokenKind;
  /** Quotes and escapes taken off. */
  readonly text: string;
  /** Where it begins in the source. */
  readonly at: number;
}

const tokenPattern =
  /\s+|(?<quoted>"(?:[^"]|"")*")|(?<string>'(?:[^']|'')*')|(?<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?<name>[\p{L}_][\p{L}\p{N}_$]*)|(?<mark>[(),[\]])/uy;

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < source.length; at = tokenPattern.lastIndex) {
    tokenPattern.lastIndex = at;
    const found = tokenPattern.exec(source);
    if (found === null)
      throw new UsageError(
        `can't read the columns at ${JSON.stringify(source.slice(at, at + 20))}: odd names go in double quotes, texts in single ones`,
      );
    for (const [kind, text] of Object.entries(found.groups ?? {})) {
      if (text !== undefined) tokens.push({ kind: kind as TokenKind, text: unquote(kind as TokenKind, text), at });
    }
  }
  return tokens;
}

function unquote(kind: TokenKind, text: string): string {
  if (kind === 'quoted') return text.slice(1, -1).replaceAll('""', '"');
  if (kind === 'string') return text.slice(1, -1).replaceAll("''", "'");
  return text;
}

/** Words that may follow a type, besides a comma: none of them is part of one. */
const constraints: Readonly<Record<string, string>> = {
  primary: 'DuckLake has no primary keys',
  unique: 'DuckLake has no UNIQUE constraints',
  references: 'DuckLake has no foreign keys',
  check: 'DuckLake has no CHECK constraints',
  generated: 'DuckLake has no generated columns',
  collate: "DuckLake's tables carry no collations",
};

/**
 * Parses what stands between the parentheses of a CREATE TABLE: `id bigint not null, "at time" timestamptz default null`.
 * Types as in {@link resolveType}; defaults may be literals.
 */
export function parseColumns(source: string): ColumnSpec[] {
  const tokens = tokenize(source);
  const columns: ColumnSpec[] = [];
  let at = 0;

  const peek = (): Token | undefined => tokens[at];
  const mark = (text: string): boolean => {
    const token = peek();
    const found = token?.kind === 'mark' && token.text === text;
    if (found) at += 1;
    return found;
  };
  const word = (...options: string[]): string | undefined => {
    const token = peek();
    const text = token?.kind === 'name' ? token.text.toLowerCase() : '';
    if (!options.includes(text)) return undefined;
    at += 1;
    return text;
  };

  const typeArgs = (column: string): number[] | undefined => {
    if (!mark('(')) return undefined;
    const args: number[] = [];
    while (!mark(')')) {
      const token = tokens[at++];
      if (token?.kind !== 'number' || !/^\d+$/.test(token.text))
        throw new UsageError(`column "${column}": a type's parentheses hold whole numbers, as in decimal(12, 2)`);
      args.push(Number(token.text));
      if (!mark(',') && !(peek()?.kind === 'mark' && peek()?.text === ')'))
        throw new UsageError(`column "${column}": a closing parenthesis is missing after its type`);
    }
    return args;
  };

  const type = (column: string): string => {
    const words: string[] = [];
    let args: number[] | undefined;
    for (let token = peek(); token?.kind === 'name'; token = peek()) {
      const text = token.text.toLowerCase();
      if (text === 'not' || text === 'null' || text === 'default' || Object.hasOwn(constraints, text)) break;
      words.push(text);
      at += 1;
      args ??= typeArgs(column);
    }
    if (words.length === 0)
      throw new UsageError(`column "${column}" has no type: write NAME TYPE, as in 'id bigint not null, name text'`);
    if (mark('['))
      throw new UsageError(`column "${column}": nested types such as ${words.join(' ')}[] can't be made here yet`);
    try {
      return resolveType({ words: words.join(' '), args });
    } catch (error) {
      if (error instanceof UsageError) throw new UsageError(`column "${column}": ${error.message}`);
      throw error;
    }
  };

  const defaultText = (column: string): string | undefined => {
    const token = tokens[at++];
    const next = peek();
    const single = next === undefined || next.kind === 'name' || (next.kind === 'mark' && next.text === ',');
    if (single && (token?.kind === 'string' || token?.kind === 'number')) return token.text;
    const name = token?.kind === 'name' ? token.text.toLowerCase() : '';
    if (single && (name === 'true' || name === 'false')) return name;
    if (single && name === 'null') return undefined;
    throw new UsageError(
      `column "${column}": a default is a literal (12.5, 'text', true, null); expressions such as now() aren't evaluated here`,
    );
  };

  if (tokens.length === 0) throw new UsageError('a table needs a column, such as: id bigint not null, name text');
  do {
    const token = tokens[at++];
    if (token === undefined || (token.kind !== 'name' && token.kind !== 'quoted'))
      throw new UsageError(
        `a column's name is missing ${token === undefined ? 'after the last comma' : `before ${JSON.stringify(source.slice(token.at, token.at + 20))}`}`,
      );
    const name = token.text;
    const spec: { name: string; type: string; nullable: boolean; defaultText?: string | undefined } = {
      name,
      type: type(name),
      nullable: true,
    };
    for (let next = peek(); next !== undefined && !(next.kind === 'mark' && next.text === ','); next = peek()) {
      if (word('not')) {
        if (!word('null')) throw new UsageError(`column "${name}": write NOT NULL`);
        spec.nullable = false;
      } else if (word('default')) spec.defaultText = defaultText(name);
      else if (!word('null')) {
        const why = next.kind === 'name' ? constraints[next.text.toLowerCase()] : undefined;
        throw new UsageError(
          `column "${name}": ${why ?? `can't read ${JSON.stringify(source.slice(next.at, next.at + 20))} after its type`}`,
        );
      }
    }
    columns.push(spec);
  } while (mark(','));

  refuseDoubles(columns);
  return columns;
}

function refuseDoubles(columns: readonly ColumnSpec[]): void {
  const seen = new Map<string, string>();
  for (const { name } of columns) {
    const earlier = seen.get(name.toLowerCase());
    if (earlier !== undefined)
      throw new UsageError(
        earlier === name ? `column "${name}" is there twice` : `columns "${earlier}" and "${name}" differ in case only`,
      );
    seen.set(name.toLowerCase(), name);
  }
}
