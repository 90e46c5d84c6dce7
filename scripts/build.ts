/**
 * Makes the two npm packages: dist/edgemere (the library) and dist/cli (the command line).
 * Of the library declarations for each module, and JavaScript in few files (see library.ts); of the command line what `tsc` makes.
 */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildModules, moduleName } from './library.ts';
import { bin, ROOT, run } from './process.ts';

interface Manifest {
  [key: string]: unknown;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

const LIBRARY = 'dist/edgemere';
const CLI = 'dist/cli';
/** Where the library's JavaScript lies in its package. */
const MODULES = 'lib';

function manifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
}

function without(source: Manifest, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(source).filter(([key]) => !keys.includes(key)));
}

/** An export of the sources as what was made of it. */
function built(path: string, target: string): string | { types: string; default: string } {
  if (!target.endsWith('.ts')) return target;
  return { types: `${target.slice(0, -'.ts'.length)}.d.ts`, default: `./${MODULES}/${moduleName(path)}.js` };
}

function finish(folder: string, content: Record<string, unknown>): void {
  writeFileSync(join(ROOT, folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`);
  cpSync(join(ROOT, 'LICENSE'), join(ROOT, folder, 'LICENSE'));
  for (const file of ['README.md', 'CHANGELOG.md']) {
    if (folder === LIBRARY) cpSync(join(ROOT, file), join(ROOT, folder, file));
  }
}

async function buildLibrary(): Promise<void> {
  await run(bin('tsc'), ['-p', 'tsconfig.build.json']);
  await buildModules(join(ROOT, LIBRARY, MODULES));
  const source = manifest('.');
  finish(LIBRARY, {
    ...without(source, ['private', 'workspaces', 'scripts', 'devDependencies', 'allowScripts']),
    exports: Object.fromEntries(Object.entries(source.exports).map(([path, target]) => [path, built(path, target)])),
  });
}

async function buildCli(): Promise<void> {
  await run(bin('tsc'), ['-p', 'cli/tsconfig.build.json']);
  const source = manifest('cli');
  finish(CLI, {
    ...without(source, ['private', 'devDependencies']),
    bin: { edgemere: './main.js' },
    dependencies: { ...source.dependencies, edgemere: manifest('.').version },
  });
  const readme = join(ROOT, 'cli/README.md');
  if (existsSync(readme)) cpSync(readme, join(ROOT, CLI, 'README.md'));
}

rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
try {
  await buildLibrary();
  await buildCli();
  console.log(`${LIBRARY} and ${CLI} are ready for npm publish`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
