import Table from 'cli-table3';

/** Longest cell that a table shows. */
const maxCellLength = 80;

/** A table for people: long cells cut, control characters made visible. `numeric` columns are set flush right. */
export function renderTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  numeric: readonly boolean[] = [],
): string {
  const table = new Table({
    head: header.map(visible),
    colAligns: header.map((_name, c) => (numeric[c] ? 'right' : 'left')),
    // Colours are for terminals only, and nothing here needs any.
    style: { head: [], border: [], compact: true },
  });
  table.push(...rows.map((row) => row.map(visible)));
  return table.toString();
}

function visible(text: string): string {
  const short = text.length > maxCellLength ? `${text.slice(0, maxCellLength - 1).toWellFormed()}…` : text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  return short.replaceAll(/[\x00-\x1f\x7f-\x9f]/g, (char) => JSON.stringify(char).slice(1, -1));
}

/** `1,234,567` */
export function showCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1 row`, `2 rows` */
export function counted(count: number, noun: string): string {
  return `${showCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `12.3 MB`, in powers of 1000. */
export function showBytes(byteLength: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let value = byteLength;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return unit === 0 ? `${byteLength} B` : `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** One JSON document, indented. */
export function renderJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
