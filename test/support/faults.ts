import { LakeError } from '../../src/errors.ts';

/**
 * When a call fails: before it had any effect, half-way (where a call has a half: bytes of a write, some of several
 * deletions, the first of several snapshots), after its effect with the answer lost, or before it but so that nobody can
 * tell (a commit that never reached the server).
 */
export type FaultMoment = 'before' | 'during' | 'after' | 'lost';

/** Counts the calls of stores that share it, and makes one of them fail, once. */
export class Faults {
  /** The calls so far, by name: `catalog.commit`, `store.create`, `writer.close`, … */
  readonly calls: string[] = [];
  /** What was made to fail. */
  readonly failed: { readonly name: string; readonly moment: FaultMoment }[] = [];
  /** What calls left undone when they failed: frees what they held. To be called at the end. */
  readonly later: (() => Promise<unknown>)[] = [];
  readonly #named: { readonly name: string; readonly moment: FaultMoment; rest: number }[] = [];
  #chance: { readonly probability: number; readonly random: () => number } | undefined;

  /** The n-th call from now of this name, from 1, is to fail. */
  failNext(name: string, moment: FaultMoment, nth = 1): this {
    this.#named.push({ name, moment, rest: nth });
    return this;
  }

  /** From now on calls fail at random; `random` draws from 0 to 1. */
  failAtRandom(probability: number, random: () => number): this {
    this.#chance = { probability, random };
    return this;
  }

  /** No more faults. */
  stop(): void {
    this.#chance = undefined;
    this.#named.length = 0;
  }

  count(name: string): number {
    return this.calls.filter((call) => call === name).length;
  }

  /** Runs a call, or makes it fail. `half` is what it does until it fails half-way. */
  async run<T>(name: string, call: () => Promise<T>, half?: () => Promise<unknown>): Promise<T> {
    const moment = this.next(name);
    if (moment === undefined) return call();
    if (moment === 'after') await call();
    if (moment === 'during') await (half ?? call)();
    throw this.error(name, moment);
  }

  /** Notes a call; tells when it is to fail. */
  next(name: string): FaultMoment | undefined {
    this.calls.push(name);
    const moment = this.#momentOf(name);
    if (moment !== undefined) this.failed.push({ name, moment });
    return moment;
  }

  #momentOf(name: string): FaultMoment | undefined {
    const named = this.#named.find((fault) => fault.name === name);
    if (named && --named.rest === 0) return this.#named.splice(this.#named.indexOf(named), 1)[0]?.moment;
    if (this.#chance === undefined || this.#chance.random() >= this.#chance.probability) return undefined;
    const moments: readonly FaultMoment[] = ['before', 'during', 'after'];
    return moments[Math.floor(this.#chance.random() * moments.length)];
  }

  /** The error that an adapter gives. */
  error(name: string, moment: FaultMoment): LakeError {
    const isUnknown = name === 'catalog.commit' && moment !== 'before';
    const code = isUnknown
      ? 'COMMIT_UNKNOWN'
      : name.startsWith('catalog.')
        ? 'CATALOG_UNAVAILABLE'
        : 'STORE_UNAVAILABLE';
    return new LakeError(code, `made to fail: ${name}, ${moment} its effect`, { retryable: !isUnknown });
  }
}
