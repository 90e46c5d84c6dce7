import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import type { Figure } from './measure.ts';

/** The answer to one question for one data set. Ratios are to the first figure, which is ours. */
export interface Answer {
  readonly question: string;
  /** What was measured: the data set and its size. */
  readonly of: string;
  readonly figures: readonly Figure[];
}

export interface Report {
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGiB: number;
    readonly platform: string;
  };
  readonly runtime: string;
  readonly commit: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly takenAt: string;
  readonly answers: readonly Answer[];
}

export function reportOf(answers: readonly Answer[], versions: Report['versions']): Report {
  return {
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
    },
    runtime: runtimeName(),
    commit: commit(),
    versions,
    takenAt: new Date().toISOString(),
    answers,
  };
}

function runtimeName(): string {
  const { bun, deno, node } = process.versions as Record<string, string | undefined>;
  return bun ? `bun ${bun}` : deno ? `deno ${deno}` : `node ${node}`;
}

function commit(): string {
  try {
    const hash = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
    const isClean = execFileSync('git', ['status', '--porcelain', 'src', 'bench'], { encoding: 'utf8' }) === '';
    return isClean ? hash : `${hash} with changes`;
  } catch {
    return 'unknown';
  }
}

export function answerTable({ question, of, figures }: Answer): string {
  const more = [...new Set(figures.flatMap((figure) => Object.keys(figure.more ?? {})))];
  const rows = figures.map(({ name, median, cpuMedian, millis, byteLength, peakMiB, ...figure }, i) => [
    name,
    shown(median),
    i === 0 ? '' : `${(median / figures[0]!.median).toFixed(2)} ×`,
    shown(cpuMedian),
    byteLength === undefined ? '' : (byteLength / 1e6).toFixed(byteLength > 1e6 ? 2 : 4),
    String(millis.length),
    ...(peakMiB === undefined ? [] : [peakMiB.toFixed(0)]),
    ...more.map((what) => (figure.more?.[what] === undefined ? '' : shown(figure.more[what]))),
  ]);
  return [
    `${question}: ${of}`,
    ...aligned([
      ['', 'ms', 'ratio', 'CPU ms', 'MB', 'runs', ...(figures[0]?.peakMiB === undefined ? [] : ['peak MiB']), ...more],
      ...rows,
    ]),
  ].join('\n');
}

function shown(millis: number): string {
  return millis >= 100 || millis === 0 ? millis.toFixed(0) : millis.toPrecision(3);
}

/** Lines with the first column flush left, the others flush right. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, c) => Math.max(...rows.map((row) => row[c]!.length)));
  return rows.map(
    (row) => `  ${row.map((cell, c) => (c === 0 ? cell.padEnd(widths[c]!) : cell.padStart(widths[c]!))).join('  ')}`,
  );
}

/**
 * How the second report stands to the first: each figure's median as a ratio. Past `threshold` (1.1: ten per cent slower) a
 * figure of ours is a regression.
 */
export async function compare(
  before: string,
  after: string,
  threshold: number,
): Promise<{ text: string; slower: number }> {
  const [old, now] = await Promise.all(
    [before, after].map(async (path) => JSON.parse(await readFile(path, 'utf8')) as Report),
  );
  const lines: string[][] = [['', 'before', 'after', 'ratio', '']];
  let slower = 0;
  for (const answer of now!.answers) {
    const was = old!.answers.find(({ question, of }) => question === answer.question && of === answer.of);
    for (const [i, figure] of answer.figures.entries()) {
      const other = was?.figures.find(({ name }) => name === figure.name);
      if (other === undefined) continue;
      const ratio = figure.median / other.median;
      const isWorse = i === 0 && ratio > threshold;
      if (isWorse) slower++;
      lines.push([
        `${answer.question}, ${answer.of}: ${figure.name}`,
        other.median.toPrecision(3),
        figure.median.toPrecision(3),
        ratio.toFixed(2),
        isWorse ? 'slower' : '',
      ]);
    }
  }
  const head = `before: ${old!.commit}, ${old!.runtime}; after: ${now!.commit}, ${now!.runtime}; medians in ms`;
  return { text: [head, ...aligned(lines)].join('\n'), slower };
}
