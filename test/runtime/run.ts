/**
 * The conformance cases on every adapter, in whichever runtime this is run:
 *
 *   node test/runtime/run.ts      bun test/runtime/run.ts      deno run -A --node-modules-dir=manual test/runtime/run.ts
 *
 * Arguments are parts of suites' names. The last line is the count, as JSON.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localStore } from '../../adapters/local.ts';
import { sqliteCatalog } from '../../adapters/sqlite.ts';
import { catalogCases } from '../../src/conformance/catalog.ts';
import { storageCases } from '../../src/conformance/storage.ts';
import { memorySuites } from './memory.ts';
import { runSuites, type Suite, suite } from './suite.ts';

async function folder(stack: AsyncDisposableStack): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'edgemere-runtime-'));
  stack.defer(() => rm(path, { recursive: true, force: true }));
  return path;
}

const suites: readonly Suite[] = [
  ...memorySuites(),
  suite('local store', storageCases, async (stack) => ({
    store: localStore(),
    prefix: `${await folder(stack)}/lake/`,
    capabilities: { exactKeys: false },
  })),
  suite('SQLite catalog', catalogCases, async (stack) => {
    const path = join(await folder(stack), 'catalog.sqlite');
    return { open: async () => sqliteCatalog({ path }) };
  }),
];

const wanted = process.argv.slice(2);
const counts = await runSuites(
  suites.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part))),
  (line) => console.log(line),
);
console.log(JSON.stringify(counts));
process.exit(counts.failed > 0 ? 1 : 0);
