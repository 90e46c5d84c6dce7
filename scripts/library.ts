import { readFileSync, rmSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { ROOT } from './process.ts';

/** The file of what most programs load. */
const CORE = 'core';

const common = {
  absWorkingDir: ROOT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'neutral',
  target: 'esnext',
  packages: 'external',
  external: ['node:*', 'bun:*'],
  // Chunks import others for their order alone, and the package says that loading has no effects.
  logOverride: { 'ignored-bare-import': 'silent' },
} as const satisfies BuildOptions;

/**
 * Makes the library's JavaScript: a file for each export of package.json, called as it is; `core.js`, which is all that the first of
 * them loads and what adapters have in common; and a file for each of what is loaded on demand. As many files as there are modules
 * would be most of what a program takes to start; and bundlers cut what on-demand code has in common with the rest into as many
 * pieces, but leave a file whole.
 */
export async function buildModules(outdir: string): Promise<void> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const entries = Object.entries(exports).filter(([, target]) => target.endsWith('.ts'));
  const entryPoints = entries.map(([, target]) => target.slice('./'.length));
  const { metafile } = await build({ ...common, entryPoints, outdir, write: false, metafile: true });
  const core = coreOf(entryPoints, metafile);
  rmSync(outdir, { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: [{ in: CORE, out: CORE }, ...entries.map(([path, target]) => ({ in: target, out: moduleName(path) }))],
    outdir,
    chunkNames: '[name]-[hash]',
    plugins: [coreApart(core)],
  });
  // Of names that two of its modules export, the core exports none: whoever imports one fails here.
  await build({ ...common, entryPoints: [join(outdir, '*.js')], outdir: join(outdir, 'again'), write: false });
}

/** What the file of an export is called. */
export function moduleName(path: string): string {
  return path === '.' ? 'index' : path.slice('./'.length);
}

function coreOf(entryPoints: readonly string[], metafile: Metafile): ReadonlySet<string> {
  const core = loadedWith('src/index.ts', metafile);
  const ofAdapters = new Set<string>();
  for (const entry of entryPoints.filter((path) => path.startsWith('adapters/')))
    for (const module of loadedWith(entry, metafile)) (ofAdapters.has(module) ? core : ofAdapters).add(module);
  return core;
}

/** The modules that come with one, itself left out. */
function loadedWith(entry: string, { inputs }: Metafile): Set<string> {
  const found = new Set<string>();
  const visit = (module: string): void => {
    for (const { kind, path } of inputs[module]?.imports ?? [])
      if (kind !== 'dynamic-import' && path in inputs && !found.has(path)) {
        found.add(path);
        visit(path);
      }
  };
  visit(entry);
  return found;
}

/** Whatever is not in the core imports from it as a whole. */
function coreApart(core: ReadonlySet<string>): Plugin {
  return {
    name: 'core apart',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: new RegExp(`^${CORE}$`) }, () => ({ path: CORE, namespace: CORE }));
      onLoad({ filter: /./, namespace: CORE }, () => ({
        resolveDir: ROOT,
        contents: [...core].map((module) => `export * from './${module}';`).join('\n'),
      }));
      onResolve({ filter: /\.ts$/ }, ({ namespace, importer, path, resolveDir }) => {
        const isWithin = namespace === CORE || core.has(relative(ROOT, importer));
        if (isWithin || !core.has(relative(ROOT, resolve(resolveDir, path)))) return undefined;
        return { path: `./${CORE}.js`, external: true, sideEffects: false };
      });
    },
  };
}
