import type { ConformanceCase } from '../../src/conformance/case.ts';

/** Conformance cases on one kind of target, ready to run in any runtime. */
export interface Suite {
  readonly name: string;
  readonly cases: readonly { readonly name: string; run(): Promise<void> }[];
}

/**
 * @param make A fresh target for each case; what it makes beside it is disposed of afterwards.
 * @param capabilities What the target can do: cases that require something else don't apply to it and are left out.
 */
export function suite<Target>(
  name: string,
  cases: readonly ConformanceCase<Target>[],
  make: (stack: AsyncDisposableStack) => Target | Promise<Target>,
  capabilities: readonly string[] = [],
): Suite {
  return {
    name,
    cases: cases
      .filter(({ requires }) => requires === undefined || capabilities.includes(requires))
      .map((testCase) => ({
        name: testCase.name,
        async run() {
          await using stack = new AsyncDisposableStack();
          await testCase.run(await make(stack));
        },
      })),
  };
}

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const TIMEOUT_MS = 300_000;

/** Runs suites one case after the other; `log` gets a line for each suite and for each failure. */
export async function runSuites(suites: readonly Suite[], log: (line: string) => void): Promise<Counts> {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { name, cases } of suites) {
    const began = performance.now();
    for (const testCase of cases) {
      try {
        await withTimeout(testCase.run());
        counts.passed++;
      } catch (error) {
        counts.failed++;
        log(`FAIL ${name}: ${testCase.name}\n${error instanceof Error ? error.stack : error}`);
      }
    }
    log(`${name}: ${cases.length} cases, ${Math.round(performance.now() - began)} ms`);
    if (cases.length === 0) {
      counts.failed++;
      log(`FAIL ${name}: no case`);
    }
  }
  return counts;
}

async function withTimeout(work: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`still running after ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS);
  await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
