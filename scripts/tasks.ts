import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKS } from './checks.ts';
import { bin, execute, ROOT } from './process.ts';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface Outcome extends Counts {
  /** What there is to say about a success. */
  readonly note?: string | undefined;
  /** What went wrong. */
  readonly output?: string | undefined;
}

/** A part of `npm test`: a check, the tests of a folder, or a runtime. */
export interface Task {
  readonly name: string;
  readonly needsServices: boolean;
  run(env: Readonly<Record<string, string>>): Promise<Outcome>;
}

const RESULTS = join(ROOT, 'test-results');
/** Only what hangs takes longer, on however slow a machine: Bun's own limit of 5 s a test is for idle ones. */
const TEST_TIMEOUT_MS = 300_000;
/** How long Postgres may take to log somebody in, in seconds. */
const ENV = { PGCONNECT_TIMEOUT: '300' };
const DENO_SUITES = ['memory', 'local', 'seaweedfs', 'sqlite', 'postgres'];
const BUN_SUITES = ['memory', 'sqlite', 'postgres'];
const TASK_TIMEOUT_MS = 90 * 60_000;

function checkTask({ name, run }: (typeof CHECKS)[number]): Task {
  return {
    name: `check: ${name}`,
    needsServices: false,
    run: () =>
      run().then(
        (note) => ({ passed: 1, failed: 0, skipped: 0, note }),
        (error) => ({ passed: 0, failed: 1, skipped: 0, output: String(error?.message ?? error) }),
      ),
  };
}

/** `bun test` on files or folders, counted by its JUnit report. */
export function bunTask(name: string, paths: readonly string[]): Task {
  return {
    name: `bun test ${name}`,
    needsServices: true,
    async run(env) {
      const report = join(RESULTS, `${name.replaceAll('/', '-')}.xml`);
      rmSync(report, { force: true });
      mkdirSync(RESULTS, { recursive: true });
      const args = [
        'test',
        `--timeout=${TEST_TIMEOUT_MS}`,
        '--reporter=junit',
        `--reporter-outfile=${report}`,
        ...paths,
      ];
      const { code, output } = await execute(bin('bun'), args, { env: { ...ENV, ...env }, timeoutMs: TASK_TIMEOUT_MS });
      const counts = junitCounts(report);
      // A crash, a file that doesn't load or an error between tests is in no report.
      if (code !== 0 && counts.failed === 0) return { ...counts, failed: 1, output: `exit ${code}\n${output}` };
      return counts.failed > 0 ? { ...counts, output } : counts;
    },
  };
}

function junitCounts(report: string): Counts {
  let text: string;
  try {
    text = readFileSync(report, 'utf8');
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
  const root = /<testsuites\b[^>]*>/.exec(text)?.[0] ?? '';
  const figure = (name: string): number => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
  const failed = figure('failures');
  const skipped = figure('skipped');
  return { passed: figure('tests') - failed - skipped, failed, skipped };
}

/** A program that ends with a line of JSON: `{"passed":12,"failed":0,"skipped":0}`. */
function runtimeTask(name: string, command: string, args: readonly string[]): Task {
  return {
    name: `runtime ${name}`,
    needsServices: true,
    async run(env) {
      const { code, output } = await execute(command, args, { env: { ...ENV, ...env }, timeoutMs: TASK_TIMEOUT_MS });
      const last = output.trimEnd().split('\n').at(-1) ?? '';
      let counts: Counts = { passed: 0, failed: 0, skipped: 0 };
      try {
        counts = { ...counts, ...JSON.parse(last) };
      } catch {
        return { ...counts, failed: 1, output: `exit ${code}, without a count\n${output}` };
      }
      if (code !== 0 && counts.failed === 0) return { ...counts, failed: 1, output: `exit ${code}\n${output}` };
      return counts.failed > 0 ? { ...counts, output } : counts;
    },
  };
}

/** Folders whose files run as tasks of their own, so that both cores stay busy to the end. */
const BY_FILE = ['interop'];

function bunTasks(): Task[] {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .sort();
  const groups = Map.groupBy(files, (file) => {
    const folder = file.split('/')[0]!;
    return BY_FILE.includes(folder) ? file : folder;
  });
  // Small tasks after large ones: both cores end at about the same time.
  const sizes = [...groups].sort(([, a], [, b]) => b.length - a.length);
  return sizes.map(([name, members]) =>
    bunTask(
      name,
      members.map((file) => `./test/${file}`),
    ),
  );
}

/** All of `npm test`. */
export function allTasks(): Task[] {
  const run = 'test/runtime/run.ts';
  return [
    ...bunTasks(),
    runtimeTask('node', bin('node'), [run]),
    // Swift is slow, and under Bun most cases are part of `bun test` already.
    runtimeTask('deno', bin('deno'), ['run', '-A', '--node-modules-dir=manual', run, ...DENO_SUITES]),
    runtimeTask('bun', bin('bun'), [run, ...BUN_SUITES]),
    runtimeTask('workerd', bin('node'), ['test/runtime/workerd.ts']),
    ...CHECKS.map(checkTask),
  ];
}
