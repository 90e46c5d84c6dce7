/** The bytes of all chunks in one array of its own. */
export function concatenate(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    result.set(chunk, offset);
    offset += chunk.length;
  }
  return result;
}

/** Bytes in, parts of equal length out: what a multipart upload wants. Copies only parts that span several chunks. */
export class PartBuffer {
  readonly #partByteLength: number;
  #chunks: Uint8Array[] = [];
  #byteLength = 0;

  constructor(partByteLength: number) {
    this.#partByteLength = partByteLength;
  }

  /** Bytes held. */
  get byteLength(): number {
    return this.#byteLength;
  }

  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.#byteLength += bytes.length;
  }

  /** The next whole part, as long as something remains after it: the rest is never empty once a part was taken. */
  takePart(): Uint8Array | undefined {
    return this.#byteLength > this.#partByteLength ? this.#take(this.#partByteLength) : undefined;
  }

  /** Everything that is left: at most one part when `takePart` was called until it had none. */
  takeRest(): Uint8Array {
    return this.#take(this.#byteLength);
  }

  #take(byteLength: number): Uint8Array {
    const taken: Uint8Array[] = [];
    let missing = byteLength;
    let index = 0;
    while (missing > 0) {
      const chunk = this.#chunks[index]!;
      if (chunk.length > missing) {
        taken.push(chunk.subarray(0, missing));
        this.#chunks[index] = chunk.subarray(missing);
        break;
      }
      taken.push(chunk);
      missing -= chunk.length;
      index += 1;
    }
    this.#chunks = this.#chunks.slice(index);
    this.#byteLength -= byteLength;
    return taken.length === 1 ? taken[0]! : concatenate(taken);
  }
}
