/**
 * Random calls by many processes on one lake, with kills, cuts and pauses among them; then the lake has to be what they were told.
 *
 *   node test/soak/run.ts [--catalog postgres|sqlite] [--seconds 600] [--processes 16] [--seed N]
 */
import { parseArgs } from 'node:util';
import { soak } from './soak.ts';

const { values } = parseArgs({
  options: {
    catalog: { type: 'string', default: 'postgres' },
    seconds: { type: 'string', default: '600' },
    processes: { type: 'string', default: '16' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
  },
});
const { catalog, seconds, processes, seed } = values;
if (catalog !== 'postgres' && catalog !== 'sqlite') throw new Error(`no such catalog: ${catalog}`);
console.log(`seed ${seed}`);
const report = await soak({ catalog, seconds: Number(seconds), processes: Number(processes), seed: Number(seed) });
console.log(JSON.stringify({ ...report, problems: report.problems.slice(0, 50) }, undefined, 2));
console.log(`${report.problems.length} problems`);
process.exit(report.problems.length > 0 ? 1 : 0);
