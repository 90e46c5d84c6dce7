import type { ByteBuffer } from './byte-buffer.ts';
import { type Encoding, encodings } from './encodings.ts';
import { encodeHybrid } from './hybrid.ts';
import { IntegerDictionary, maxDictionarySpan } from './integer-dictionary.ts';
import { scratch } from './scratch.ts';

/** The integers of one page, as they lie in memory: little-endian, one or two words each. */
export interface IntegerPage {
  readonly words: Int32Array;
  readonly stride: 1 | 2;
  readonly count: number;
  readonly min: bigint;
  readonly max: bigint;
}

/** Chooses each page's encoding by its length. A dictionary that won on the first page serves as long as it covers the pages. */
export class IntegerPages {
  #dictionary: IntegerDictionary | undefined;
  #dictionaryClosed = false;
  readonly #knowsDelta: boolean;

  constructor(version: 1 | 2) {
    this.#knowsDelta = version === 2;
  }

  encode(out: ByteBuffer, page: IntegerPage): Encoding {
    const { planner } = scratch;
    const { words, stride, count, min, max } = page;
    if (this.#dictionary !== undefined && !this.#dictionaryClosed && this.#dictionary.covers(min, max)) {
      this.#dictionary.encode(words, stride, count);
      return writeCodes(out, this.#dictionary.codes, count, this.#dictionary.width);
    }
    const plainLength = count * stride * 4;
    const planned = !this.#knowsDelta
      ? undefined
      : stride === 1
        ? planner.plan32(words, count)
        : planner.plan64(new Uint32Array(words.buffer, words.byteOffset, words.length), words, count);
    const deltaLength = planned ?? Number.POSITIVE_INFINITY;
    if (this.#dictionary === undefined && !this.#dictionaryClosed) {
      const dictionary = tryDictionary(page, Math.min(deltaLength, plainLength));
      if (dictionary !== undefined) {
        this.#dictionary = dictionary;
        return writeCodes(out, dictionary.codes, count, dictionary.width);
      }
    }
    this.#dictionaryClosed = true;
    if (deltaLength < plainLength) {
      planner.write(out);
      return encodings.deltaBinaryPacked;
    }
    out.append(new Uint8Array(words.buffer, words.byteOffset, plainLength));
    return encodings.plain;
  }

  /** Appends the dictionary in PLAIN encoding and begins anew; returns the number of entries. */
  takeDictionary(out: ByteBuffer, stride: 1 | 2): number {
    const dictionary = this.#dictionary;
    this.#dictionary = undefined;
    this.#dictionaryClosed = false;
    if (dictionary === undefined) return 0;
    const { base, entries, entryCount } = dictionary;
    out.reserve(entryCount * stride * 4);
    for (let i = 0; i < entryCount; i++, out.length += stride * 4) {
      const entry = base + BigInt(entries[i]!);
      if (stride === 1) out.view.setInt32(out.length, Number(BigInt.asIntN(32, entry)), true);
      else out.view.setBigInt64(out.length, entry, true);
    }
    return entryCount;
  }
}

/** Fewer values than this aren't worth a dictionary's page. */
const leastCount = 256;
const sampleCount = 1024;

/** The dictionary of a page, if with it the page takes less than `limit` bytes. A sample mostly shows when it doesn't. */
function tryDictionary({ words, stride, count, min, max }: IntegerPage, limit: number): IntegerDictionary | undefined {
  if (count < leastCount || max - min >= maxDictionarySpan) return undefined;
  const dictionary = new IntegerDictionary(min, max);
  // A dictionary has a page of its own, whose header takes about 40 bytes with what it adds to the footer.
  const tooLong = (): boolean => 40 + (count * dictionary.width) / 8 + dictionary.entryCount * stride * 4 >= limit;
  if (tooLong()) return undefined;
  if (count > sampleCount) dictionary.encode(words, stride, sampleCount);
  if (tooLong()) return undefined;
  dictionary.encode(words, stride, count);
  return tooLong() ? undefined : dictionary;
}

/** Appends a data page's codes: their width, then the hybrid. */
export function writeCodes(out: ByteBuffer, codes: Int32Array, count: number, width: number): Encoding {
  out.reserve(1);
  out.bytes[out.length++] = width;
  encodeHybrid(out, codes, 0, count, width);
  return encodings.rleDictionary;
}
