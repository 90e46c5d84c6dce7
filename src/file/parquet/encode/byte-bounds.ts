import type { ByteBuffer } from './byte-buffer.ts';

/** The smallest and largest of byte strings, unsigned: for text that is the order of the UTF-8, as it has to be. */
export class ByteBounds {
  #min: Uint8Array | undefined;
  #max: Uint8Array | undefined;
  readonly #enabled: boolean;
  /** Those of what was observed last. */
  observed: readonly [min: Uint8Array, max: Uint8Array] | undefined;

  constructor(enabled: boolean) {
    this.#enabled = enabled;
  }

  /**
   * Looks at `count` byte strings of these lengths, which follow one another from `start` on with `gap` bytes before each.
   *
   * Most share what the bounds have in common: then comparing that, and the word after it, settles it.
   */
  observe(buffer: ByteBuffer, start: number, gap: number, lengths: Int32Array, count: number): void {
    if (count === 0 || !this.#enabled) return;
    const { bytes, view } = buffer;
    let at = start + gap;
    let minAt = at;
    let minEnd = at + lengths[0]!;
    let maxAt = minAt;
    let maxEnd = minEnd;
    // The bounds' bytes before `common` are equal; their words there are `minWord` and `maxWord`, where they have them.
    let common = 0;
    let minWord = 0;
    let maxWord = 0;
    for (let i = 0; i < count; i++) {
      const end = at + lengths[i]!;
      let settled = false;
      if (end - at >= common + 4 && minWord < maxWord) {
        let difference = 0;
        let k = 0;
        for (; k + 8 <= common && difference === 0; k += 8)
          difference =
            (view.getInt32(at + k) ^ view.getInt32(minAt + k)) |
            (view.getInt32(at + k + 4) ^ view.getInt32(minAt + k + 4));
        if (k < common) difference |= view.getInt32(at + k) ^ view.getInt32(minAt + k);
        const word = view.getUint32(at + common);
        settled = difference === 0 && word !== minWord && word !== maxWord;
        if (settled && word < minWord) {
          minAt = at;
          minEnd = end;
          minWord = word;
        } else if (settled && word > maxWord) {
          maxAt = at;
          maxEnd = end;
          maxWord = word;
        }
      }
      if (!settled) {
        let moved = true;
        if (compare(bytes, at, end, bytes, minAt, minEnd) < 0) {
          minAt = at;
          minEnd = end;
        } else if (compare(bytes, at, end, bytes, maxAt, maxEnd) > 0) {
          maxAt = at;
          maxEnd = end;
        } else moved = false;
        if (moved) {
          const shorter = Math.min(minEnd - minAt, maxEnd - maxAt);
          common = 0;
          while (common + 4 <= shorter && view.getInt32(minAt + common) === view.getInt32(maxAt + common)) common += 4;
          if (common + 4 <= shorter) {
            minWord = view.getUint32(minAt + common);
            maxWord = view.getUint32(maxAt + common);
          } else {
            minWord = 0;
            maxWord = 0;
          }
        }
      }
      at = end + gap;
    }
    const min = bytes.slice(minAt, minEnd);
    const max = bytes.slice(maxAt, maxEnd);
    this.observed = [min, max];
    if (this.#min === undefined || compare(min, 0, min.length, this.#min, 0, this.#min.length) < 0) this.#min = min;
    if (this.#max === undefined || compare(max, 0, max.length, this.#max, 0, this.#max.length) > 0) this.#max = max;
  }

  /** Looks at one, and copies it when it is a bound. */
  add(bytes: Uint8Array): void {
    const min = this.#min;
    const max = this.#max;
    if (min === undefined || compare(bytes, 0, bytes.length, min, 0, min.length) < 0) this.#min = bytes.slice();
    if (max === undefined || compare(bytes, 0, bytes.length, max, 0, max.length) > 0) this.#max = bytes.slice();
  }

  /** The bounds of what was looked at since the last call. */
  take(): readonly [min: Uint8Array, max: Uint8Array] | undefined {
    const bounds = this.#min !== undefined && this.#max !== undefined ? ([this.#min, this.#max] as const) : undefined;
    this.#min = undefined;
    this.#max = undefined;
    return bounds;
  }
}

function compare(a: Uint8Array, aAt: number, aEnd: number, b: Uint8Array, bAt: number, bEnd: number): number {
  const aLength = aEnd - aAt;
  const bLength = bEnd - bAt;
  const shorter = Math.min(aLength, bLength);
  for (let i = 0; i < shorter; i++) {
    const difference = a[aAt + i]! - b[bAt + i]!;
    if (difference !== 0) return difference;
  }
  return aLength - bLength;
}
