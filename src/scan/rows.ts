/** Rows as columns: `columns[name][i]` is the value of row `i`. */
export interface RowBatch {
  readonly rowCount: number;
  readonly columns: Readonly<Record<string, ArrayLike<unknown>>>;
}

/** Engines keep objects of more keys as hash tables when they are copied. */
const maxCopied = 100;

/** Rows `from` to `to` of a batch as objects, their keys in the order of the columns. */
export function rowsOf({ rowCount, columns }: RowBatch, from = 0, to: number = rowCount): Record<string, unknown>[] {
  const names = Object.keys(columns);
  const values = names.map((name) => columns[name]!);
  return names.length <= maxCopied ? copiedRows(names, values, from, to) : wideRows(names, values, from, to);
}

/** Rows of a piece: objects are made as they are asked for, since a batch may be a row group of millions. */
const pieceRowCount = 1024;

export async function* piecesOf<Row>(batches: AsyncIterable<RowBatch>): AsyncGenerator<Row[]> {
  for await (const batch of batches)
    for (let from = 0; from < batch.rowCount; from += pieceRowCount)
      yield rowsOf(batch, from, Math.min(batch.rowCount, from + pieceRowCount)) as Row[];
}

/**
 * Copies of one object: made at once with their final shape. Each of the first columns is stored by a line of its own, which engines
 * then compile for that one name: a loop over names costs three times as much.
 */
function copiedRows(
  names: readonly string[],
  values: readonly ArrayLike<unknown>[],
  from: number,
  to: number,
): Record<string, unknown>[] {
  const count = names.length;
  // Parsed: engines then keep all cells in the object itself, and `__proto__` is a key like any other.
  const blank: Record<string, unknown> = JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:null`).join()}}`);
  const [n0, n1, n2, n3, n4, n5, n6, n7] = names as [string, string, string, string, string, string, string, string];
  type Cells = ArrayLike<unknown>;
  const [v0, v1, v2, v3, v4, v5, v6, v7] = values as [Cells, Cells, Cells, Cells, Cells, Cells, Cells, Cells];
  const rows = new Array<Record<string, unknown>>(to - from);
  for (let i = from; i < to; i++) {
    const row = { ...blank };
    if (count > 0) row[n0] = v0[i];
    if (count > 1) row[n1] = v1[i];
    if (count > 2) row[n2] = v2[i];
    if (count > 3) row[n3] = v3[i];
    if (count > 4) row[n4] = v4[i];
    if (count > 5) row[n5] = v5[i];
    if (count > 6) row[n6] = v6[i];
    if (count > 7) row[n7] = v7[i];
    for (let c = 8; c < count; c++) row[names[c]!] = values[c]![i];
    rows[i - from] = row;
  }
  return rows;
}

function wideRows(
  names: readonly string[],
  values: readonly ArrayLike<unknown>[],
  from: number,
  to: number,
): Record<string, unknown>[] {
  const odd = names.indexOf('__proto__');
  return Array.from({ length: to - from }, (_, i) => {
    const row: Record<string, unknown> = {};
    for (let c = 0; c < names.length; c++) {
      if (c === odd) Object.defineProperty(row, '__proto__', { enumerable: true, configurable: true, writable: true });
      row[names[c]!] = values[c]![from + i];
    }
    return row;
  });
}
