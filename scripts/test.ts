/**
 * `npm test`: everything. Starts the services, runs static checks, `bun test` and the other runtimes, and closes with
 * the count of it all.
 *
 *   npm test                          all of it
 *   npm test -- test/unit/x.test.ts   `bun test` on these paths alone, which start what they need
 */
import { extensionsFolder } from '../test/support/extensions.ts';
import { startServices } from '../test/support/services.ts';
import { allTasks, bunTask, type Counts, type Outcome, type Task } from './tasks.ts';

/** As many cores as CI has. */
const LANES = 2;
/** Of a failed task's output, in characters. */
const SHOWN = 20_000;

const SERVICES: Readonly<Record<string, string>> = {
  postgres: 'EDGEMERE_TEST_POSTGRES_URL',
  seaweedfs: 'EDGEMERE_TEST_S3_SEAWEEDFS_URL',
  swift: 'EDGEMERE_TEST_S3_SWIFT_URL',
};

interface Prepared {
  readonly env: Record<string, string>;
  stop(): Promise<void>;
}

/**
 * Starts what the environment does not name, and finds DuckDB's extensions once for all. What fails is left out: the tests
 * that need it try again by themselves, and fail with its reason.
 */
async function prepare(): Promise<Prepared> {
  const missing = Object.keys(SERVICES).filter((name) => !process.env[SERVICES[name]!]);
  const [extensions, ...started] = await Promise.allSettled([
    extensionsFolder(),
    ...missing.map((name) => startServices([name])),
  ]);
  const services = started.filter((outcome) => outcome.status === 'fulfilled').map(({ value }) => value);
  const env: Record<string, string> = Object.assign({}, ...services.map((service) => service.env));
  if (extensions.status === 'fulfilled') env['EDGEMERE_DUCKDB_EXTENSIONS'] = extensions.value;
  for (const outcome of [extensions, ...started])
    if (outcome.status === 'rejected') console.log(String(outcome.reason));
  return { env, stop: async () => void (await Promise.allSettled(services.map((service) => service.stop()))) };
}

function report(name: string, outcome: Outcome, milliseconds: number): void {
  const { passed, failed, skipped, note, output: failures } = outcome;
  const counts = passed + failed + skipped > 1 ? ` ${passed} passed, ${failed} failed, ${skipped} skipped` : '';
  console.log(
    `${failed > 0 ? 'FAIL' : 'ok  '}  ${name} (${(milliseconds / 1000).toFixed(1)} s)${counts}${note ? `: ${note}` : ''}`,
  );
  if (failures !== undefined) {
    // Bun also lists what passed, and files without a failure.
    const output = failures.replace(/^\(pass\).*\n/gm, '').replace(/^\S+\.test\.ts:\n+(?=\S+\.test\.ts:$)/gm, '');
    const cut = output.length - SHOWN;
    console.log(cut > 0 ? `… ${cut} characters left out …\n${output.slice(-SHOWN)}` : output);
  }
}

async function runTask(task: Task, prepared: Promise<Prepared> | undefined): Promise<Outcome> {
  try {
    return await task.run(task.needsServices && prepared ? (await prepared).env : {});
  } catch (error) {
    return { passed: 0, failed: 1, skipped: 0, output: String(error instanceof Error ? error.stack : error) };
  }
}

async function runAll(tasks: readonly Task[], prepared: Promise<Prepared> | undefined): Promise<Counts> {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const queue = [...tasks];
  const lane = async (): Promise<void> => {
    for (let task = queue.shift(); task; task = queue.shift()) {
      const began = performance.now();
      const outcome = await runTask(task, prepared);
      report(task.name, outcome, performance.now() - began);
      total.passed += outcome.passed;
      total.failed += outcome.failed;
      total.skipped += outcome.skipped;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await prepared?.then(({ stop }) => stop());
  return total;
}

const paths = process.argv.slice(2);
const { passed, failed, skipped } =
  paths.length > 0 ? await runAll([bunTask('selected', paths)], undefined) : await runAll(allTasks(), prepare());
const ci = process.env['CI'] === 'true';
if (ci && skipped > 0) console.log(`${skipped} tests were skipped, which CI does not accept`);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed > 0 || passed === 0 || (ci && skipped > 0) ? 1 : 0);
