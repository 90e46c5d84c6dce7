import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { ROOT } from '../process.ts';

/** What an edge function that appends has: lake, catalog and store, drivers left out. */
const APPEND = `
  export { openLake, t } from './src/index.ts';
  export { postgresCatalog } from './adapters/postgres.ts';
  export { s3Store } from './adapters/s3.ts';
`;
const APPEND_NAME = 'to append: core + Postgres + S3';

/** What is loaded at first may weigh so much: kB, minified and compressed by gzip, Parquet libraries included. */
const BUDGETS: Readonly<Record<string, number>> = { edgemere: 60, [APPEND_NAME]: 60 };

/** Bundles every export for the browser's side of the world, where a stray Node import of the core would fail. */
export async function bundleReport(): Promise<{ lines: string[]; problems: string[] }> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, string>;
  };
  const sources = Object.entries(exports)
    .filter(([, target]) => target.endsWith('.ts'))
    .map(([path, target]) => [path === '.' ? 'edgemere' : `edgemere/${path.slice(2)}`, `export * from '${target}'`]);
  const lines: string[] = [];
  const problems: string[] = [];
  for (const [name, source] of [...sources, [APPEND_NAME, APPEND]] as [string, string][]) {
    const { atFirst, later, text } = await bundle(source);
    const budget = BUDGETS[name];
    const more = later > 0 ? `, ${later.toFixed(1)} kB when it is needed` : '';
    lines.push(`${name.padEnd(32)} ${atFirst.toFixed(1).padStart(6)} kB${budget ? ` of ${budget}` : ''}${more}`);
    if (budget !== undefined && atFirst > budget)
      problems.push(`${name} is ${atFirst.toFixed(1)} kB, over its ${budget} kB`);
    if (name === 'edgemere' && /from"(node|bun):/.test(text)) problems.push(`${name} imports a runtime's own module`);
  }
  return { lines, problems };
}

/** Sizes of what a program loads when it starts, and of what it imports dynamically. */
async function bundle(source: string): Promise<{ atFirst: number; later: number; text: string }> {
  const first = await outputOf(source, [dynamicImportsOutside]);
  const whole = await outputOf(source, []);
  return { atFirst: kiloBytes(first), later: kiloBytes(whole) - kiloBytes(first), text: first + whole };
}

const dynamicImportsOutside: Plugin = {
  name: 'dynamic imports outside',
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : undefined));
  },
};

const kiloBytes = (text: string): number => gzipSync(text, { level: 9 }).byteLength / 1024;

async function outputOf(source: string, plugins: Plugin[]): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: ROOT, loader: 'ts' },
    plugins,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['browser', 'import'],
    // What users bring themselves, and what a runtime has built in.
    external: ['node:*', 'bun:*', 'postgres', '@aws-sdk/*'],
    absWorkingDir: ROOT,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}
