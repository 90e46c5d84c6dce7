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
