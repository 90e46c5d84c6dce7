/** Walking JSON text that JSON.parse takes: only where values begin and end, so that no digit of a number is lost. */

const stringPattern = /"(?:[^"\\]|\\.)*"/y;
const plainPattern = /[^\s,}\]]+/y;
const nestedPattern = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;
const spacePattern = /\s*/y;

/**
 * The JSON text of each member of an object, by name. `text` must be the valid JSON text of an object. Of members with the
 * same name the last counts, as in JSON.parse.
 */
export function memberSources(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = text.indexOf('{') + 1;
  for (;;) {
    at = skip(spacePattern, text, at);
    if (text[at] === '}') return members;
    if (text[at] === ',') {
      at += 1;
      continue;
    }
    const keyEnd = skip(stringPattern, text, at);
    const key = text.slice(at, keyEnd);
    at = skip(spacePattern, text, keyEnd) + 1;
    at = skip(spacePattern, text, at);
    const end = valueEnd(text, at);
    members.set(key.includes('\\') ? (JSON.parse(key) as string) : key.slice(1, -1), text.slice(at, end));
    at = end;
  }
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.exec(text);
  return pattern.lastIndex;
}

function valueEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return skip(stringPattern, text, at);
  if (first !== '{' && first !== '[') return skip(plainPattern, text, at);
  nestedPattern.lastIndex = at;
  let depth = 0;
  for (let found = nestedPattern.exec(text); found !== null; found = nestedPattern.exec(text)) {
    const [token] = found;
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth === 0) break;
  }
  return nestedPattern.lastIndex;
}

/**
 * JSON text on one line: white space between tokens taken out, everything else as it was, but for the NaN and infinities that DuckDB's
 * JSON may hold, which become strings.
 */
export function compactJson(text: string): string {
  if (!/\s|nan|inf/i.test(text)) return text;
  return text.replaceAll(
    /("(?:[^"\\]|\\.)*")|\s+|(-?\b(?:nan|inf(?:inity)?)\b)/gi,
    (_all, string?: string, special?: string) => string ?? (special === undefined ? '' : `"${special}"`),
  );
}

/** Whether JSON.parse may lose digits of a number in this text: more than 15 digits, or an exponent. */
export function mayLoseDigits(text: string): boolean {
  return /[\d.]{16}|\d[eE][+-]?\d/.test(text);
}

/**
 * Cuts a stream of JSON text into records: the elements of one array, or values after one another with white space (or nothing)
 * between them. Throws a SyntaxError for what can't stand between records; what is inside one is not looked at.
 */
export class JsonSplitter {
  #text = '';
  /** Where the scan goes on in `#text`. */
  #at = 0;
  /** Where the current record began; -1 between records. */
  #start = -1;
  #depth = 0;
  #inString = false;
  /** What may come next between records. `values` is the state outside of an array. */
  #next: 'anything' | 'values' | 'first' | 'element' | 'separator' | 'nothing' = 'anything';

  /** The records that end in this chunk. */
  push(chunk: string): string[] {
    const text = this.#text + chunk;
    const records: string[] = [];
    let at = this.#at;
    const finish = (end: number): void => {
      records.push(text.slice(this.#start, end));
      this.#start = -1;
      if (this.#next === 'element') this.#next = 'separator';
    };
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#inString) {
        if (code === backslash) {
          if (at + 1 === text.length) break;
          at += 1;
        } else if (code === quote) {
          this.#inString = false;
          if (this.#depth === 0) finish(at + 1);
        }
      } else if (this.#start === -1) {
        if (isSpace(code) || this.#isBetween(code)) continue;
        this.#start = at;
        if (code === quote) this.#inString = true;
        else if (code === openBrace || code === openBracket) this.#depth = 1;
      } else if (this.#depth === 0) {
        // A number or a word ends where something else begins, which is then looked at again.
        if (isSpace(code) || code === comma || code === closeBracket) finish(at--);
      } else if (code === quote) this.#inString = true;
      else if (code === openBrace || code === openBracket) this.#depth += 1;
      else if (code === closeBrace || code === closeBracket) {
        this.#depth -= 1;
        if (this.#depth === 0) finish(at + 1);
      }
    }
    const kept = this.#start === -1 ? at : this.#start;
    this.#text = text.slice(kept);
    this.#at = at - kept;
    if (this.#start !== -1) this.#start = 0;
    return records;
  }

  /** Takes in what stands between records; false when a record begins here. */
  #isBetween(code: number): boolean {
    switch (this.#next) {
      case 'anything':
        this.#next = code === openBracket ? 'first' : 'values';
        return code === openBracket;
      case 'values':
        return false;
      case 'first':
        this.#next = code === closeBracket ? 'nothing' : 'element';
        return code === closeBracket;
      case 'element':
        return false;
      case 'separator':
        if (code !== comma && code !== closeBracket) throw new SyntaxError('a comma is missing after this record');
        this.#next = code === comma ? 'element' : 'nothing';
        return true;
      case 'nothing':
        throw new SyntaxError('there is something after the end of the array');
    }
  }

  /** The last record, when nothing but the end of the input ended it. */
  end(): string | undefined {
    const rest = this.#start === -1 ? undefined : this.#text;
    if (this.#next === 'first' || this.#next === 'element' || this.#next === 'separator')
      throw new SyntaxError('the array has no end: is the file whole?');
    return rest;
  }

  /** Characters of a record that hasn't ended yet. */
  get pending(): number {
    return this.#text.length;
  }
}

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
