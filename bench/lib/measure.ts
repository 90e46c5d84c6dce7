/** One way of doing what a question asks. */
export interface Contender {
  readonly name: string;
  /** Does it once. Returns the bytes that it made, where there are any. */
  run(): Promise<number | undefined>;
  /** Measured for so many runs only, because it takes so long; and not warmed up. */
  readonly runs?: number;
  /** What the last run took, when that is not the time that `run` took. */
  readonly millis?: () => number;
  /** The most memory that the last run took, where it had a process of its own. */
  readonly peakMiB?: () => number;
  /** What else the last run showed, by name. */
  readonly more?: () => Readonly<Record<string, number>>;
}

export interface Figure {
  readonly name: string;
  /** Milliseconds, each run. */
  readonly millis: readonly number[];
  readonly median: number;
  /** Processor time of the whole process, other threads included: of use where the machine has other things to do. */
  readonly cpuMedian: number;
  readonly byteLength: number | undefined;
  readonly peakMiB?: number;
  readonly more?: Readonly<Record<string, number>>;
}

/**
 * Runs the contenders in turns, after one run each that doesn't count, and takes the median of each. Each round begins with another,
 * lest the collections of a heap full of test data always meet the same one.
 */
export async function measure(contenders: readonly Contender[], runs: number): Promise<Figure[]> {
  const taken = contenders.map((): number[] => []);
  const cpuMillis = contenders.map((): number[] => []);
  const lengths: (number | undefined)[] = [];
  // Those that only tell what another took have to come after it.
  const rotates = contenders.every(({ millis }) => millis === undefined);
  for (let round = -1; round < runs; round++)
    for (let turn = 0; turn < contenders.length; turn++) {
      const i = (turn + (rotates ? Math.max(0, round) : 0)) % contenders.length;
      const contender = contenders[i]!;
      if (contender.runs !== undefined && (round < 0 || round >= contender.runs)) continue;
      collectGarbage();
      const start = performance.now();
      const before = process.cpuUsage();
      lengths[i] = await contender.run();
      if (round < 0) continue;
      taken[i]!.push(contender.millis?.() ?? performance.now() - start);
      const { user, system } = process.cpuUsage(before);
      cpuMillis[i]!.push((user + system) / 1000);
    }
  return contenders.map(({ name, peakMiB, more }, i) => ({
    name,
    millis: taken[i]!,
    median: median(taken[i]!),
    cpuMedian: median(cpuMillis[i]!),
    byteLength: lengths[i],
    ...(peakMiB === undefined ? {} : { peakMiB: peakMiB() }),
    ...(more === undefined ? {} : { more: more() }),
  }));
}

/**
 * So that nobody pays for what the one before left behind, which JavaScriptCore lets pile up. Not on V8, which throws away
 * optimized code when it collects the last object of a class.
 */
function collectGarbage(): void {
  (globalThis as { Bun?: { gc(wait: boolean): void } }).Bun?.gc(true);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >>> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
