import type { ObjectWriter } from '../../../storage/object-store.ts';

/** Pieces of less are put together before they are written: a write costs more than a copy. */
const smallLength = 65536;

/** The file's bytes on their way to the store, which is opened when the first of them leave. */
export class Output {
  byteLength = 0;
  readonly #open: () => Promise<ObjectWriter>;
  #writer: Promise<ObjectWriter> | undefined;
  #small: Uint8Array[] = [];
  #smallLength = 0;

  constructor(open: () => Promise<ObjectWriter>) {
    this.#open = open;
  }

  /** Takes `bytes` over. What it returns has to be awaited: nothing, when they are few. */
  write(bytes: Uint8Array): Promise<void> | undefined {
    this.byteLength += bytes.length;
    if (bytes.length >= smallLength) return this.#sendAll(bytes);
    this.#small.push(bytes);
    this.#smallLength += bytes.length;
    return this.#smallLength >= smallLength ? this.#sendSmall() : undefined;
  }

  async #sendAll(bytes: Uint8Array): Promise<void> {
    await this.#sendSmall();
    await this.#send(bytes);
  }

  async #sendSmall(): Promise<void> {
    if (this.#small.length === 0) return;
    const joined = new Uint8Array(this.#smallLength);
    let at = 0;
    for (const piece of this.#small) {
      joined.set(piece, at);
      at += piece.length;
    }
    this.#small = [];
    this.#smallLength = 0;
    await this.#send(joined);
  }

  async #send(bytes: Uint8Array): Promise<void> {
    this.#writer ??= this.#open();
    const writer = await this.#writer;
    await writer.write(bytes);
  }

  async close(): Promise<void> {
    await this.#sendSmall();
    const writer = await this.#writer;
    await writer?.close();
  }

  async abort(): Promise<void> {
    this.#small = [];
    // A store that failed to begin an object has nothing to remove.
    const writer = await this.#writer?.catch(() => undefined);
    await writer?.abort();
  }
}
