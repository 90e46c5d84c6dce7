import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measure } from './lib/measure.ts';
import { versionOf } from './lib/peers.ts';
import type { Question } from './lib/question.ts';
import { type Answer, answerTable, compare, reportOf } from './lib/report.ts';
import { columns } from './questions/columns.ts';
import { commit } from './questions/commit.ts';
import { memory } from './questions/memory.ts';
import { plan } from './questions/plan.ts';
import { read } from './questions/read.ts';
import { rows } from './questions/rows.ts';
import { selective } from './questions/selective.ts';
import { small } from './questions/small.ts';
import { stages } from './questions/stages.ts';
import { statistics } from './questions/statistics.ts';
import { wideTables } from './questions/wide.ts';

// Stages come last: they slow the writer's methods down.
const questions: readonly Question[] = [
  rows,
  columns,
  small,
  wideTables,
  statistics,
  read,
  plan,
  selective,
  memory,
  commit,
  stages,
];

const usage = `npm run bench -- [QUESTION…] [--rows N] [--runs N] [--set NAME] [--peers none|NAME,NAME] [--out FILE]
npm run bench -- --compare BEFORE.json AFTER.json [--threshold 1.1]
questions: ${questions.map(({ name }) => name).join(' ')}`;

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '5' },
    set: { type: 'string' },
    peers: { type: 'string' },
    out: { type: 'string' },
    compare: { type: 'boolean', default: false },
    threshold: { type: 'string', default: '1.1' },
    help: { type: 'boolean', default: false },
  },
});

const packages = [
  'hyparquet-writer',
  'hysnappy',
  '@duckdb/node-api',
  'parquet-wasm',
  'apache-arrow',
  '@dsnp/parquetjs',
];

async function main(): Promise<number> {
  if (given.help) {
    console.log(usage);
    return 0;
  }
  if (given.compare) {
    if (positionals.length !== 2) throw new Error(usage);
    const { text, slower } = await compare(positionals[0]!, positionals[1]!, Number(given.threshold));
    console.log(text);
    return slower > 0 ? 1 : 0;
  }
  const chosen = positionals.length === 0 ? questions : questions.filter(({ name }) => positionals.includes(name));
  if (chosen.length === 0) throw new Error(usage);
  const folder = await mkdtemp(join(tmpdir(), 'edgemere-bench-'));
  const answers: Answer[] = [];
  try {
    const setting = {
      rowCount: Number(given.rows),
      only: given.set,
      path: (name: string) => join(folder, `${name}.parquet`),
    };
    for (const question of chosen)
      for await (const { of, contenders } of question.ask(setting)) {
        const wanted = given.peers?.split(',');
        const taking = contenders.filter(
          ({ name }, i) => i === 0 || !wanted || wanted.some((part) => name.includes(part)),
        );
        const answer = { question: question.name, of, figures: await measure(taking, Number(given.runs)) };
        answers.push(answer);
        console.log(`${answerTable(answer)}\n`);
      }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const versions = Object.fromEntries(
    packages.flatMap((name) => {
      const version = versionOf(name);
      return version === undefined ? [] : [[name, version]];
    }),
  );
  if (given.out !== undefined)
    await writeFile(given.out, `${JSON.stringify(reportOf(answers, versions), undefined, 2)}\n`);
  return 0;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? (error.stack ?? error.message) : error);
  return 2;
});
