import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { InsertFigures } from '../lib/insert-child.ts';
import type { Contender } from '../lib/measure.ts';
import type { Question } from '../lib/question.ts';

const source = fileURLToPath(new URL('../lib/insert-child.ts', import.meta.url));
/** Beside the packages, so that what isn't bundled is found. */
const child = fileURLToPath(new URL('../../node_modules/.cache/edgemere/insert-child.mjs', import.meta.url));
/** What the runtime wants before a file that it is to run. */
const flags = 'Deno' in globalThis ? ['run', '--allow-all', '--node-modules-dir=manual'] : [];
/** The peak has to be the same for fewer rows. */
const shares = [1, 0.2];

function insert(place: string, rowCount: number): Contender {
  let figures: InsertFigures | undefined;
  return {
    name: `${rowCount} rows, ${place === 's3' ? 'S3' : 'local files'}`,
    runs: 1,
    millis: () => figures!.millis,
    peakMiB: () => figures!.peakMiB,
    async run() {
      const { stdout } = await promisify(execFile)(process.execPath, [...flags, child, place, String(rowCount)]);
      figures = JSON.parse(stdout) as InsertFigures;
      return figures.byteLength;
    },
  };
}

/**
 * How much memory an insert takes, whatever the number of rows: 256 MiB at most for ten times `--rows`, which come from an async
 * generator and go to local files and, where EDGEMERE_TEST_S3_SEAWEEDFS_URL names a server, to S3. One row shows what the runtime takes.
 */
export const memory: Question = {
  name: 'memory',
  async *ask({ rowCount }) {
    // As it is deployed: a runtime that strips types itself takes 40 MiB for that.
    const external = ['@aws-sdk/client-s3'];
    await build({ entryPoints: [source], outfile: child, bundle: true, platform: 'node', format: 'esm', external });
    const places = process.env['EDGEMERE_TEST_S3_SEAWEEDFS_URL'] === undefined ? ['local'] : ['local', 's3'];
    for (const place of places)
      yield {
        of: `an async iterable into ${place === 's3' ? 'S3' : 'local files'}`,
        contenders: [...shares.map((share) => insert(place, Math.round(rowCount * 10 * share))), insert(place, 1)],
      };
  },
};
