import type { History, Step } from './history.ts';

/** The smallest history found of which `fails` is still true. It is asked at most `budget` times. */
export async function shrink(
  history: History,
  fails: (history: History) => Promise<boolean>,
  budget = 250,
): Promise<History> {
  let best = history;
  let left = budget;
  const attempt = async (candidate: History): Promise<boolean> => {
    if (left <= 0) return false;
    left--;
    if (!(await fails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let before = ''; before !== JSON.stringify(best) && left > 0; ) {
    before = JSON.stringify(best);
    for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
      for (let at = best.steps.length - size; at > -size; at -= size)
        await attempt({ ...best, steps: [...best.steps.slice(0, Math.max(0, at)), ...best.steps.slice(at + size)] });
    for (let at = 0; at < best.steps.length; at++)
      for (const smaller of smallerSteps(best.steps[at]!)) {
        if (await attempt({ ...best, steps: best.steps.with(at, smaller) })) {
          at--;
          break;
        }
      }
    for (let isNarrower = true; isNarrower; ) {
      isNarrower = false;
      for (const candidate of narrower(best)) {
        isNarrower = await attempt(candidate);
        // Those after it were made from what was before.
        if (isNarrower) break;
      }
    }
    if (best.attach !== '') await attempt({ ...best, attach: '' });
  }
  return best;
}

function* smallerSteps(step: Step): Generator<Step> {
  if (typeof step !== 'string') {
    if (step.length <= 2 && step.at(-1) === 'COMMIT' && step[0] !== undefined) yield step[0];
    for (let k = 0; k < step.length - 1; k++) yield step.toSpliced(k, 1);
    for (const [k, sql] of step.entries())
      for (const smaller of smallerSteps(sql)) yield step.with(k, smaller as string);
    return;
  }
  const range = /FROM range\((\d+)\)/.exec(step);
  if (range)
    for (const size of [1, 2, 5, 12, 40])
      if (size < Number(range[1])) yield step.replace(range[0], `FROM range(${size})`);
  const values = step.indexOf(' VALUES (');
  if (step.startsWith('INSERT') && values > 0) {
    const head = step.slice(0, values + ' VALUES '.length);
    const rows = tuples(step.slice(values + ' VALUES '.length));
    if (rows.length > 1) {
      for (const half of [rows.slice(0, rows.length >> 1), rows.slice(rows.length >> 1)]) yield head + half.join(', ');
      for (let k = 0; k < rows.length; k++) yield head + rows.toSpliced(k, 1).join(', ');
    }
  }
}

/** A table without one of its columns, wherever the statements list all of them. */
function* narrower(history: History): Generator<History> {
  for (const step of history.steps) {
    const [, table, definitions] =
      (typeof step === 'string' && /^CREATE TABLE (\S+|lake\..*?") \((.*)\)$/s.exec(step)) || [];
    if (table === undefined || definitions === undefined) continue;
    const count = parts(definitions).length;
    for (let k = 0; k < count && count > 1; k++)
      yield { ...history, steps: history.steps.map((other) => withoutColumn(other, table, k, count)) };
  }
}

function withoutColumn(step: Step, table: string, k: number, count: number): Step {
  if (typeof step !== 'string') return step.map((sql) => withoutColumn(sql, table, k, count) as string);
  const drop = (list: string): string => {
    const items = parts(list);
    return items.length === count ? items.toSpliced(k, 1).join(', ') : list;
  };
  const create = `CREATE TABLE ${table} (`;
  if (step.startsWith(create)) return `${create}${drop(step.slice(create.length, -1))})`;
  const values = `INSERT INTO ${table} VALUES `;
  if (step.startsWith(values))
    return `${values}${tuples(step.slice(values.length))
      .map((row) => `(${drop(row.slice(1, -1))})`)
      .join(', ')}`;
  const select = `INSERT INTO ${table} SELECT `;
  const end = step.lastIndexOf(' FROM range(');
  if (step.startsWith(select) && end > 0) return `${select}${drop(step.slice(select.length, end))}${step.slice(end)}`;
  return step;
}

/** `(1, 'a'), (2, 'b)')` apart. */
function tuples(text: string): string[] {
  return parts(text).map((part) => part.trim());
}

/** What commas part that stand in no brackets and no quotes. */
function parts(text: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let quoted: string | undefined;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (quoted) {
      if (c === quoted) quoted = undefined;
    } else if (c === "'" || c === '"') quoted = c;
    else if ('([{'.includes(c)) depth++;
    else if (')]}'.includes(c)) depth--;
    else if (c === ',' && depth === 0) {
      out.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  out.push(text.slice(from).trim());
  return out;
}
