import { UsageError } from './errors.ts';

export interface Token {
  readonly kind: 'name' | 'quoted' | 'string' | 'number' | 'mark';
  /** Quotes and escapes taken off. */
  readonly text: string;
  /** Where it begins in the source. */
  readonly at: number;
}

const tokenPattern =
  /\s+|(?<quoted>"(?:[^"]|"")*")|(?<string>'(?:[^']|'')*')|(?<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?<name>[\p{L}_][\p{L}\p{N}_$]*)|(?<mark>[(),[\]])/uy;

/** The tokens of a piece of SQL, one after another. */
export class Tokens {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
    for (let at = 0; at < source.length; at = tokenPattern.lastIndex) {
      tokenPattern.lastIndex = at;
      const found = tokenPattern.exec(source);
      if (found === null)
        throw new UsageError(
          `can't read the columns at ${this.shown(at)}: odd names go in double quotes, texts in single ones`,
        );
      for (const [kind, text] of Object.entries(found.groups ?? {}))
        if (text !== undefined) this.#tokens.push({ kind, text: unquote(kind, text), at } as Token);
    }
  }

  peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  next(): Token | undefined {
    return this.#tokens[this.#at++];
  }

  /** Takes a mark, if it is next. */
  mark(text: string): boolean {
    return this.#take((token) => token.kind === 'mark' && token.text === text);
  }

  /** Takes a word, in any case, if it is next. */
  word(text: string): boolean {
    return this.#take((token) => token.kind === 'name' && token.text.toLowerCase() === text);
  }

  /** What stands at a token, for errors. */
  shown(at: number): string {
    return JSON.stringify(this.#source.slice(at, at + 20));
  }

  #take(isIt: (token: Token) => boolean): boolean {
    const token = this.peek();
    if (token === undefined || !isIt(token)) return false;
    this.#at += 1;
    return true;
  }
}

function unquote(kind: string, text: string): string {
  if (kind === 'quoted') return text.slice(1, -1).replaceAll('""', '"');
  if (kind === 'string') return text.slice(1, -1).replaceAll("''", "'");
  return text;
}
