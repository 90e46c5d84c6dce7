import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { ROOT } from '../process.ts';

/** What a user's bundle of one entry may weigh: kB, minified and compressed by gzip, Parquet libraries included. */
const BUDGETS: Readonly<Record<string, number>> = { '.': 60 };

/** Bundles every export for the browser's side of the world, where a stray Node import of the core would fail. */
export async function bundleReport(): Promise<{ lines: string[]; problems: string[] }> {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, string>;
  };
  const lines: string[] = [];
  const problems: string[] = [];
  for (const [path, target] of Object.entries(exports)) {
    if (!target.endsWith('.ts')) continue;
    const { outputFiles } = await build({
      entryPoints: [join(ROOT, target)],
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['browser', 'import'],
      // What users bring themselves, and what a runtime has built in.
      external: ['node:*', 'bun:*', 'postgres', '@aws-sdk/*'],
      logLevel: 'silent',
    });
    const bytes = outputFiles[0]!.contents;
    const size = gzipSync(bytes, { level: 9 }).byteLength / 1024;
    const budget = BUDGETS[path];
    const name = path === '.' ? 'edgemere' : `edgemere/${path.slice(2)}`;
    lines.push(`${name.padEnd(22)} ${size.toFixed(1).padStart(6)} kB${budget ? ` of ${budget}` : ''}`);
    if (budget !== undefined && size > budget) problems.push(`${name} is ${size.toFixed(1)} kB, over its ${budget} kB`);
    if (path === '.' && /from"(node|bun):/.test(new TextDecoder().decode(bytes))) {
      problems.push(`${name} imports a runtime's own module`);
    }
  }
  return { lines, problems };
}
