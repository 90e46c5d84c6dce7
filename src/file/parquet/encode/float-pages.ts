import type { ByteBuffer } from './byte-buffer.ts';
import { type Encoding, encodings } from './encodings.ts';
import { writeCodes } from './integer-pages.ts';
import { WordDictionary } from './word-dictionary.ts';

/** Fewer values than this aren't worth a dictionary's page. */
const leastCount = 256;
const sampleCount = 4096;

/** Chooses between PLAIN and a dictionary: by a sample, then by length. */
export class FloatPages {
  readonly #stride: 1 | 2;
  #dictionary: WordDictionary | undefined;
  #closed = false;

  constructor(stride: 1 | 2) {
    this.#stride = stride;
  }

  encode(out: ByteBuffer, words: Int32Array, count: number): Encoding {
    const plainLength = count * this.#stride * 4;
    const dictionary = this.#dictionary ?? this.#begin(words, count);
    if (!this.#closed && dictionary?.encode(words, count)) {
      // Against what Snappy may make of the values as they are.
      const length = 40 + (count * dictionary.width) / 8 + dictionary.entryCount * this.#stride * 4;
      if (this.#dictionary !== undefined || length < plainLength * 0.75) {
        this.#dictionary = dictionary;
        return writeCodes(out, dictionary.codes, count, dictionary.width);
      }
    }
    this.#closed = true;
    out.append(new Uint8Array(words.buffer, words.byteOffset, plainLength));
    return encodings.plain;
  }

  #begin(words: Int32Array, count: number): WordDictionary | undefined {
    if (this.#closed || count < leastCount) return undefined;
    const dictionary = new WordDictionary(this.#stride);
    const sample = Math.min(count, sampleCount);
    dictionary.encode(words, sample);
    return dictionary.entryCount > sample * 0.9 ? undefined : dictionary;
  }

  /** Appends the dictionary in PLAIN encoding and begins anew; returns the number of entries. */
  takeDictionary(out: ByteBuffer): number {
    const dictionary = this.#dictionary;
    this.#dictionary = undefined;
    this.#closed = false;
    if (dictionary === undefined) return 0;
    const { entries, entryCount } = dictionary;
    out.append(new Uint8Array(entries.buffer, 0, entryCount * this.#stride * 4));
    return entryCount;
  }
}
