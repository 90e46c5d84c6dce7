import { UsageError } from './errors.ts';
import { type Token, Tokens } from './sql-tokens.ts';
import { resolveType } from './sql-types.ts';

/** A column's type with those of its parts: of a list `element`, of a map `key` and `value`, of a struct its members. */
export interface TypeSpec {
  /** DuckLake's type: `decimal(12,2)`, `list`. */
  readonly type: string;
  readonly children: readonly ColumnSpec[];
}

/** A column to be made. */
export interface ColumnSpec extends TypeSpec {
  readonly name: string;
  readonly nullable: boolean;
  /** The default's text, without quotes; `undefined` when there is none. */
  readonly defaultText?: string | undefined;
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
 * Types as in {@link resolveType}, and `T[]`, `struct(a T, …)`, `map(K, V)`; defaults may be literals.
 */
export function parseColumns(source: string): ColumnSpec[] {
  return new ColumnParser(source).all();
}

class ColumnParser {
  readonly #tokens: Tokens;

  constructor(source: string) {
    this.#tokens = new Tokens(source);
  }

  all(): ColumnSpec[] {
    const tokens = this.#tokens;
    if (tokens.peek() === undefined)
      throw new UsageError('a table needs a column, such as: id bigint not null, name text');
    const columns: ColumnSpec[] = [];
    do columns.push(this.#column());
    while (tokens.mark(','));
    refuseDoubles(columns, 'column');
    return columns;
  }

  #column(): ColumnSpec {
    const tokens = this.#tokens;
    const name = this.#name('column');
    const spec = naming(`column "${name}"`, () => this.#type());
    let nullable = true;
    let defaultText: string | undefined;
    for (let token = tokens.peek(); token !== undefined && !isMark(token, ','); token = tokens.peek()) {
      if (tokens.word('not')) {
        if (!tokens.word('null')) throw new UsageError(`column "${name}": write NOT NULL`);
        nullable = false;
      } else if (tokens.word('default')) defaultText = this.#default(name);
      else if (!tokens.word('null')) {
        const why = token.kind === 'name' ? constraints[token.text.toLowerCase()] : undefined;
        throw new UsageError(`column "${name}": ${why ?? `can't read ${tokens.shown(token.at)} after its type`}`);
      }
    }
    return { name, ...spec, nullable, defaultText };
  }

  #name(what: string): string {
    const token = this.#tokens.next();
    if (token?.kind === 'name' || token?.kind === 'quoted') return token.text;
    const where = token === undefined ? 'at the end' : `before ${this.#tokens.shown(token.at)}`;
    throw new UsageError(`a ${what}'s name is missing ${where}`);
  }

  #type(): TypeSpec {
    const tokens = this.#tokens;
    let spec = this.#plainType();
    while (tokens.mark('[')) {
      if (!tokens.mark(']')) throw new UsageError('DuckLake has lists of any length only: write T[]');
      spec = { type: 'list', children: [part('element', spec)] };
    }
    return spec;
  }

  #plainType(): TypeSpec {
    const tokens = this.#tokens;
    if (tokens.word('struct') || tokens.word('row')) return { type: 'struct', children: this.#members() };
    if (tokens.word('map')) return { type: 'map', children: this.#keyAndValue() };
    const words: string[] = [];
    let args: number[] | undefined;
    for (let token = tokens.peek(); token?.kind === 'name'; token = tokens.peek()) {
      const text = token.text.toLowerCase();
      if (text === 'not' || text === 'null' || text === 'default' || Object.hasOwn(constraints, text)) break;
      words.push(text);
      tokens.next();
      args ??= this.#args();
    }
    if (words.length === 0)
      throw new UsageError("it has no type: write NAME TYPE, as in 'id bigint not null, name text'");
    return { type: resolveType({ words: words.join(' '), args }), children: [] };
  }

  /** `(a int, "odd name" text)` */
  #members(): ColumnSpec[] {
    const members: ColumnSpec[] = [];
    this.#open('a struct is written as struct(NAME TYPE, …)');
    do {
      const name = this.#name('member');
      members.push(
        part(
          name,
          naming(`member "${name}"`, () => this.#type()),
        ),
      );
    } while (this.#tokens.mark(','));
    this.#close();
    refuseDoubles(members, 'member');
    return members;
  }

  /** `(text, int)` */
  #keyAndValue(): ColumnSpec[] {
    const form = 'a map is written as map(KEY TYPE, VALUE TYPE), such as map(text, int)';
    this.#open(form);
    const key = this.#type();
    if (!this.#tokens.mark(',')) throw new UsageError(form);
    const value = this.#type();
    this.#close();
    return [{ ...part('key', key), nullable: false }, part('value', value)];
  }

  #args(): number[] | undefined {
    const tokens = this.#tokens;
    if (!tokens.mark('(')) return undefined;
    const args: number[] = [];
    if (tokens.mark(')')) return args;
    do {
      const token = tokens.next();
      if (token?.kind !== 'number' || !/^\d+$/.test(token.text))
        throw new UsageError("a type's parentheses hold whole numbers, as in decimal(12, 2)");
      args.push(Number(token.text));
    } while (tokens.mark(','));
    this.#close();
    return args;
  }

  #open(form: string): void {
    if (!this.#tokens.mark('(')) throw new UsageError(form);
  }

  #close(): void {
    if (this.#tokens.mark(')')) return;
    const token = this.#tokens.peek();
    const where = token === undefined ? 'at the end' : `before ${this.#tokens.shown(token.at)}`;
    throw new UsageError(`a closing parenthesis is missing ${where}`);
  }

  #default(column: string): string | undefined {
    const token = this.#tokens.next();
    const next = this.#tokens.peek();
    if (next === undefined || next.kind === 'name' || isMark(next, ',')) {
      if (token?.kind === 'string' || token?.kind === 'number') return token.text;
      const word = token?.kind === 'name' ? token.text.toLowerCase() : '';
      if (word === 'true' || word === 'false') return word;
      if (word === 'null') return undefined;
    }
    throw new UsageError(
      `column "${column}": a default is a literal (12.5, 'text', true, null); expressions such as now() aren't evaluated here`,
    );
  }
}

function part(name: string, spec: TypeSpec): ColumnSpec {
  return { name, ...spec, nullable: true };
}

function isMark(token: Token, text: string): boolean {
  return token.kind === 'mark' && token.text === text;
}

/** Says of what an error is. */
function naming<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${what}: ${error.message}`);
    throw error;
  }
}

function refuseDoubles(columns: readonly ColumnSpec[], what: string): void {
  const seen = new Map<string, string>();
  for (const { name } of columns) {
    const earlier = seen.get(name.toLowerCase());
    if (earlier !== undefined)
      throw new UsageError(
        earlier === name
          ? `${what} "${name}" is there twice`
          : `${what}s "${earlier}" and "${name}" differ in case only`,
      );
    seen.set(name.toLowerCase(), name);
  }
}
