import type { Lake } from 'edgemere';
import { renderTable } from '../../cli/output/render.ts';
import type { DemoTable } from './tables.ts';

/** A question in SQL, and edgemere's answer as DuckDB would write it. */
export interface Answer {
  readonly table: string;
  readonly sql: string;
  readonly answer: string;
}

/** Answers from scans (counts and sums) and from the statistics in the catalog (bounds). */
export async function answersOf(lake: Lake, tables: readonly DemoTable[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const { name, sums, distinct, bounds } of tables) {
    const add = (sql: string, answer: unknown): void => {
      answers.push({ table: name, sql, answer: String(answer) });
    };
    const totals = new Map(sums.map((column) => [column, 0n]));
    const values = new Map(distinct.map((column) => [column, new Set<unknown>()]));
    let rowCount = 0;
    for await (const { rowCount: count, columns } of lake
      .table(name)
      .scan({ columns: [...sums, ...distinct] })
      .batches()) {
      rowCount += count;
      for (const column of sums) totals.set(column, totals.get(column)! + sumOf(columns[column]!));
      for (const column of distinct)
        for (let i = 0; i < count; i++) {
          const value = columns[column]![i];
          if (value !== null) values.get(column)!.add(value);
        }
    }
    add('count(*)', rowCount);
    for (const [column, total] of totals) add(`sum(${column})`, total);
    for (const [column, found] of values) add(`count(DISTINCT ${column})`, found.size);
    for (const { name: column, min, max } of (await lake.table(name).stats()).columns) {
      if (!bounds.includes(column)) continue;
      add(`min(${column})`, min);
      add(`max(${column})`, max);
    }
  }
  return answers;
}

function sumOf(values: ArrayLike<unknown>): bigint {
  let total = 0n;
  // Sums of few enough small numbers are exact.
  let small = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (typeof value === 'number') small += value;
    else if (typeof value === 'bigint') total += value;
  }
  return total + BigInt(small);
}

/** Asks DuckDB, if it is there, and prints both answers. False when one differs. */
export async function compareWithDuckDb(catalogPath: string, answers: readonly Answer[]): Promise<boolean> {
  const duck = await openDuckDb();
  if (duck === undefined) return true;
  await using _ = duck;
  await duck.attachSqlite(catalogPath);
  const rows: string[][] = [];
  let differing = 0;
  for (const { table, sql, answer } of answers) {
    // Twice: DuckDB answers from statistics where it may, and from the files when it may not.
    const [found] = await duck.rowsAgreed(`SELECT ${sql} AS answer FROM lake.${table}`);
    const theirs = found?.['answer'] ?? 'NULL';
    if (theirs !== answer) differing += 1;
    rows.push([table, sql, answer, theirs, theirs === answer ? '' : 'DIFFERS']);
  }
  console.log(renderTable(['table', 'question', 'edgemere', 'DuckDB', ''], rows, [false, false, true, true]));
  console.log(
    differing === 0
      ? `\nEQUAL: ${answers.length} answers, by DuckDB's statistics and by reading the files.`
      : `\n${differing} of ${answers.length} answers DIFFER.`,
  );
  return differing === 0;
}

/** Stock DuckDB, as the tests use it; `undefined`, and a word about it, when it can't be had here. */
async function openDuckDb(): Promise<import('../../test/support/oracle.ts').Oracle | undefined> {
  try {
    const { openOracle } = await import('../../test/support/oracle.ts');
    return await openOracle();
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    console.log(`DuckDB or its ducklake extension isn't here (${reason}), so nothing was compared.`);
    console.log('Attach the lake in a DuckDB of your own with the line above.');
    return undefined;
  }
}
