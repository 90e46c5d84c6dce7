import { ByteBuffer } from './byte-buffer.ts';
import { DeltaPlanner } from './delta.ts';

/** A buffer that one very large page made longer than this isn't kept. */
const keptLength: number = 8 << 20;

/**
 * Scratch space that all files share: a page is encoded in one go, so that no two are at it at once, and a small file would spend
 * more time on making buffers than on its values.
 */
class Scratch {
  /** A page's levels and values, before compression. */
  body: ByteBuffer = new ByteBuffer(4096);
  /** The same, compressed. */
  packed: ByteBuffer = new ByteBuffer(4096);
  /** The bytes of a dictionary's text. */
  text: ByteBuffer = new ByteBuffer(4096);
  readonly header: ByteBuffer = new ByteBuffer(64);
  planner: DeltaPlanner = new DeltaPlanner();

  /** Called when a row group is written. */
  trim(): void {
    for (const name of ['body', 'packed', 'text'] as const)
      if (this[name].bytes.length > keptLength) this[name] = new ByteBuffer(4096);
    if (this.planner.byteLength > keptLength) this.planner = new DeltaPlanner();
  }
}

export const scratch: Scratch = new Scratch();
