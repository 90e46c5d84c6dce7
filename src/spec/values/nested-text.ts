import type { ColumnType } from '../types.ts';
import { ValueError } from './value-codec.ts';

/** A type with its parts: of a list its element, of a map key and value, of a struct its members. */
export interface NestedShape {
  readonly name: string;
  readonly type: ColumnType;
  readonly children: readonly NestedShape[];
}

/**
 * What a text of nested values says: a leaf's own text; the items of a list; the members of a struct in the order of its
 * parts; a map's keys and values in turn. NULL is `null`.
 */
export type TextTree = string | null | readonly TextTree[];

/**
 * Parses DuckDB's text of a nested value, `CAST(x AS VARCHAR)`: `[a b, 'a,b', NULL]`, `{'name': [1, 2]}`, `{k='a=b'}`. Throws ValueError.
 *
 * @example
 * ```ts
 * const list = { name: 'l', type: { name: 'list' }, children: [{ name: 'element', type: { name: 'varchar' }, children: [] }] };
 * parseNested(`[a b, 'q\\'x', NULL]`, list); // ['a b', "q'x", null]
 * ```
 */
export function parseNested(text: string, shape: NestedShape): TextTree {
  const parser = new Parser(text);
  const tree = parser.value(shape, '');
  parser.end();
  return tree;
}

const spaces = /\s*/y;
const separators = /[\s,:]*/y;
const literal = /-?[\w.+-]+/y;
const jsonString = /"[^"\\]*(?:\\.[^"\\]*)*"/sy;

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** `stop`: what ends an unquoted text, beside commas and closing brackets. */
  value(shape: NestedShape, stop: string): TextTree {
    if (shape.children.length === 0) return this.#leaf(shape, stop);
    if (this.#skip('NULL')) return null;
    // Quoted as a whole: see `nestedText`.
    if (this.#text[this.#at] === "'") return parseNested(this.#quoted(), shape);
    switch (shape.type.name) {
      case 'list':
        return this.#list(shape.children[0]!);
      case 'map':
        return this.#map(shape.children[0]!, shape.children[1]!);
      default:
        return this.#struct(shape.children);
    }
  }

  end(): void {
    if (this.#at < this.#text.length) this.#fail('the end');
  }

  #list(element: NestedShape): TextTree[] {
    const items: TextTree[] = [];
    this.#expect('[');
    if (this.#skip(']')) return items;
    do items.push(this.value(element, ''));
    while (this.#skip(', '));
    this.#expect(']');
    return items;
  }

  #map(key: NestedShape, value: NestedShape): TextTree[] {
    const entries: TextTree[] = [];
    this.#expect('{');
    if (this.#skip('}')) return entries;
    do {
      entries.push(this.value(key, '='));
      this.#expect('=');
      entries.push(this.value(value, ''));
    } while (this.#skip(', '));
    this.#expect('}');
    return entries;
  }

  #struct(members: readonly NestedShape[]): TextTree[] {
    this.#expect('{');
    const values = members.map((member, i) => {
      if (i > 0) this.#expect(', ');
      if (this.#text[this.#at] !== "'" || this.#quoted() !== member.name) this.#fail(`member "${member.name}"`);
      this.#expect(': ');
      return this.value(member, '');
    });
    this.#expect('}');
    return values;
  }

  #leaf({ type }: NestedShape, stop: string): string | null {
    if (this.#text[this.#at] === "'") return this.#quoted();
    if (this.#skip('NULL')) return null;
    // JSON is never quoted: where it ends only its own grammar tells.
    if (type.name === 'json') return this.#json();
    // DuckDB's SQL for members of structs, which it can't read back itself.
    if (this.#text.startsWith("CAST('", this.#at)) this.#fail('a value, not an expression,');
    const start = this.#at;
    while (this.#at < this.#text.length && !`,]}${stop}`.includes(this.#text[this.#at]!)) this.#at++;
    if (this.#at === start) this.#fail('a value');
    return this.#text.slice(start, this.#at);
  }

  #quoted(): string {
    let value = '';
    for (let at = this.#at + 1; at < this.#text.length; at++) {
      const character = this.#text[at]!;
      if (character === "'") {
        // Members of structs are written as SQL literals, and read back by DuckDB without the quotes that are doubled in them.
        if (this.#text[at + 1] === "'") {
          at++;
          continue;
        }
        this.#at = at + 1;
        return value;
      }
      value += character === '\\' ? (this.#text[++at] ?? '') : character;
    }
    return this.#fail("the closing '");
  }

  #json(): string {
    const start = this.#at;
    let depth = 0;
    do {
      this.#match(depth > 0 ? separators : spaces);
      const character = this.#text[this.#at];
      if (character === '"') {
        this.#match(jsonString);
        continue;
      }
      if (character === '{' || character === '[') depth++;
      else if (depth > 0 && (character === '}' || character === ']')) depth--;
      else {
        this.#match(literal);
        continue;
      }
      this.#at++;
    } while (depth > 0);
    this.#match(spaces);
    return this.#text.slice(start, this.#at);
  }

  #match(pattern: RegExp): void {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) this.#fail('JSON');
    this.#at = pattern.lastIndex;
  }

  #skip(expected: string): boolean {
    if (!this.#text.startsWith(expected, this.#at)) return false;
    // The text NULL is quoted, but one that only starts with it isn't.
    if (expected === 'NULL' && !/[,\]}=]|^$/.test(this.#text[this.#at + 4] ?? '')) return false;
    this.#at += expected.length;
    return true;
  }

  #expect(expected: string): void {
    if (!this.#skip(expected)) this.#fail(JSON.stringify(expected));
  }

  #fail(expected: string): never {
    throw new ValueError(`expected DuckDB's text of a nested value: ${expected} at character ${this.#at}`);
  }
}
