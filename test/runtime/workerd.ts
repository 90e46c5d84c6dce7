/**
 * The conformance cases inside workerd, the runtime of Cloudflare's Workers, with its default flags: what runs there needs
 * no compatibility with Node. The last line is the count, as JSON.
 */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import type { Counts } from './suite.ts';

const bundle = await build({
  entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  mainFields: ['module', 'main'],
  // As wrangler has them.
  conditions: ['workerd', 'worker', 'browser'],
});
const miniflare = new Miniflare({
  modules: true,
  script: bundle.outputFiles[0]!.text,
  compatibilityDate: '2026-06-01',
});
let failed = 1;
try {
  const response = await miniflare.dispatchFetch('http://worker/');
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the worker answered ${response.status}: ${text}`);
  const { lines, counts } = JSON.parse(text) as { lines: string[]; counts: Counts };
  for (const line of lines) console.log(line);
  console.log(JSON.stringify(counts));
  failed = counts.failed;
} finally {
  await miniflare.dispose();
}
process.exit(failed > 0 ? 1 : 0);
