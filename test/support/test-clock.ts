/** Time that goes by only when it is told to, or when somebody waits for it: how fast the machine is doesn't matter. */
export class TestClock implements Disposable {
  now = 0;
  readonly #performanceNow = performance.now;
  readonly #setTimeout = globalThis.setTimeout;

  constructor() {
    performance.now = () => this.now;
    globalThis.setTimeout = ((wake: () => void, ms = 0) => {
      const due = this.now + ms;
      return this.#setTimeout(() => {
        this.now = Math.max(this.now, due);
        wake();
      });
    }) as typeof setTimeout;
  }

  [Symbol.dispose](): void {
    performance.now = this.#performanceNow;
    globalThis.setTimeout = this.#setTimeout;
  }
}
