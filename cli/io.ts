import type { Readable, Writable } from 'node:stream';

/** Whoever reads the output has gone away, as `head` does: no failure, there is just nobody left to tell. */
export class OutputClosed extends Error {
  override readonly name: string = 'OutputClosed';
}

/** What a command has of the world around it. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  /** Only asked for where it is read: opening it makes a pipe non-blocking for all the processes that share it. */
  readonly stdin: () => Readable;
  readonly stdout: Output;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Standard output, written no faster than it is read. */
export class Output {
  readonly isTerminal: boolean;
  readonly #stream: Writable;
  #failure: Error | undefined;

  constructor(stream: Writable & { readonly isTTY?: boolean }) {
    this.#stream = stream;
    this.isTerminal = stream.isTTY === true;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      this.#failure ??= outputError(error);
    });
  }

  /** Rejects with {@link OutputClosed} when nobody reads any more. */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#stream.write(text, (error) => {
        if (error) reject(outputError(error));
        else resolve();
      });
    });
  }

  async line(text: string): Promise<void> {
    await this.write(`${text}\n`);
  }
}

function outputError(error: NodeJS.ErrnoException): Error {
  return error.code === 'EPIPE' ? new OutputClosed('the output was closed', { cause: error }) : error;
}
