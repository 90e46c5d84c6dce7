/** Walking JSON text that JSON.parse takes: only where values begin and end, so that no digit of a number is lost. */

const spacePattern = /\s*/y;
const plainPattern = /[^\s,}\]]+/y;

/**
 * The JSON text of each member of an object, by name. `text` must be the valid JSON text of an object. Of members with the
 * same name the last counts, as in JSON.parse.
 */
export function memberSources(text: string): Map<string, string> {
  return new Map(memberEntries(text));
}

/** As {@link memberSources}, each member that is there, also those with the same name. */
export function memberEntries(text: string): (readonly [name: string, source: string])[] {
  const members: (readonly [string, string])[] = [];
  for (let at = begin(text, '{'); text[at] !== '}'; at = next(text, at)) {
    const keyEnd = stringEnd(text, at);
    const key = text.slice(at, keyEnd);
    const colon = skip(spacePattern, text, keyEnd);
    const start = skip(spacePattern, text, colon + 1);
    at = valueEnd(text, start);
    members.push([key.includes('\\') ? (JSON.parse(key) as string) : key.slice(1, -1), text.slice(start, at)]);
  }
  return members;
}

/** The JSON text of each element of an array. `text` must be the valid JSON text of an array. */
export function elementSources(text: string): string[] {
  const elements: string[] = [];
  for (let at = begin(text, '['); text[at] !== ']'; at = next(text, at)) {
    const start = at;
    at = valueEnd(text, start);
    elements.push(text.slice(start, at));
  }
  return elements;
}

/** Where the first thing inside of the brackets is. */
function begin(text: string, bracket: string): number {
  return skip(spacePattern, text, text.indexOf(bracket) + 1);
}

/** Where the next thing, or the closing bracket, is. */
function next(text: string, at: number): number {
  const comma = skip(spacePattern, text, at);
  return text[comma] === ',' ? skip(spacePattern, text, comma + 1) : comma;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.exec(text);
  return pattern.lastIndex;
}

/** Where a string that begins at `at` ends. Not by a regular expression, which would run out of stack on a long one. */
function stringEnd(text: string, at: number): number {
  for (let quote = text.indexOf('"', at + 1); ; quote = text.indexOf('"', quote + 1)) {
    if (quote === -1) return text.length;
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
}

function valueEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return stringEnd(text, at);
  if (first !== '{' && first !== '[') return skip(plainPattern, text, at);
  const pattern = /["{}[\]]/g;
  pattern.lastIndex = at;
  let depth = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const [token] = found;
    if (token === '"') pattern.lastIndex = stringEnd(text, found.index);
    else depth += token === '{' || token === '[' ? 1 : -1;
    if (depth === 0) return pattern.lastIndex;
  }
  return text.length;
}

/**
 * JSON text on one line: white space between tokens taken out, everything else as it was, but for the NaN and infinities that DuckDB's
 * JSON may hold, which become strings.
 */
export function compactJson(text: string): string {
  if (!/\s|nan|inf/i.test(text)) return text;
  const pattern = /"|\s+|-?\b(?:nan|inf(?:inity)?)\b/gi;
  let compact = '';
  let copied = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const [token] = found;
    if (token === '"') {
      pattern.lastIndex = stringEnd(text, found.index);
      continue;
    }
    compact += text.slice(copied, found.index) + (/^\s/.test(token) ? '' : `"${token}"`);
    copied = pattern.lastIndex;
  }
  return compact + text.slice(copied);
}

/** Whether JSON.parse may lose digits of a number in this text: more than 15 digits, or an exponent. */
export function mayLoseDigits(text: string): boolean {
  return /[\d.]{16}|\d[eE][+-]?\d/.test(text);
}
