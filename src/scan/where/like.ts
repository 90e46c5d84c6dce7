/** A test of text against SQL's LIKE: `%` is any text, `_` one code point; no escape. */
export function likeMatcher(pattern: string): (text: string) => boolean {
  const inner = pattern.replace(/^%+/, '').replace(/%+$/, '');
  if (!/[%_]/.test(inner)) {
    const isOpenLeft = pattern.startsWith('%');
    const isOpenRight = pattern.endsWith('%');
    if (isOpenLeft && isOpenRight) return (text) => text.includes(inner);
    if (isOpenLeft) return (text) => text.endsWith(inner);
    if (isOpenRight) return (text) => text.startsWith(inner);
    return (text) => text === inner;
  }
  return (text) => matches(text, pattern);
}

/** What all text that matches starts with. */
export function likePrefix(pattern: string): string {
  return /^[^%_]*/.exec(pattern)![0];
}

const PERCENT = 0x25;
const UNDERSCORE = 0x5f;

/** Goes back to the last `%` only, which is enough: time is at most text × pattern. */
function matches(text: string, pattern: string): boolean {
  let at = 0;
  let p = 0;
  let afterPercent = -1;
  let resume = 0;
  while (at < text.length) {
    const wanted = p < pattern.length ? pattern.charCodeAt(p) : -1;
    if (wanted === PERCENT) {
      afterPercent = ++p;
      resume = at;
    } else if (wanted === UNDERSCORE) {
      at += widthAt(text, at);
      p++;
    } else if (wanted === text.charCodeAt(at)) {
      at++;
      p++;
    } else if (afterPercent >= 0) {
      resume += widthAt(text, resume);
      at = resume;
      p = afterPercent;
    } else return false;
  }
  while (p < pattern.length && pattern.charCodeAt(p) === PERCENT) p++;
  return p === pattern.length;
}

function widthAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit < 0xdc00 ? 2 : 1;
}
