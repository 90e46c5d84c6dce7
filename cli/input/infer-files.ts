import { InputError, UsageError } from '../errors.ts';
import type { ReadContext } from './bytes.ts';
import type { InputFile } from './file.ts';
import { Inference, type InferredColumn } from './infer.ts';
import type { InputReader } from './reader.ts';

/** The columns of a table to be made, and what they rest on. */
export interface InferredTable {
  readonly columns: readonly InferredColumn[];
  /** How many records were looked at: all that there are. */
  readonly recordCount: number;
  /** The files say their types themselves. */
  readonly isDeclared: boolean;
}

/** Looks at all of the input. */
export async function inferColumns(
  files: readonly InputFile[],
  readers: readonly InputReader[],
  context: ReadContext,
): Promise<InferredTable> {
  const kinds = new Set(files.map(({ format }) => (format === 'ndjson' ? 'json' : format)));
  if (kinds.size > 1)
    throw new UsageError(
      '--create takes columns from files of one format: make the table with `edgemere create` first',
    );
  const inference = new Inference(kinds.has('csv'));
  let declared: readonly InferredColumn[] | undefined;
  let recordCount = 0;
  for (const [i, reader] of readers.entries()) {
    const columns = await reader.declared(context);
    if (columns !== undefined) {
      declared ??= columns;
      checkSame(declared, columns, files[0]!, files[i]!);
    }
    recordCount += await reader.observe(inference, context);
  }
  const columns = declared ?? inference.result();
  if (columns.length === 0)
    throw new InputError(
      files[0]!.label,
      'there is nothing in the input to take columns from: make the table with `edgemere create`',
    );
  return { columns, recordCount, isDeclared: declared !== undefined };
}

function checkSame(
  first: readonly InferredColumn[],
  other: readonly InferredColumn[],
  firstFile: InputFile,
  file: InputFile,
): void {
  for (const { name, type } of other) {
    const known = first.find((column) => column.name === name);
    if (known?.type === type) continue;
    const why =
      known === undefined ? `which ${firstFile.label} has not` : `which is ${known.type} in ${firstFile.label}`;
    throw new InputError(
      file.label,
      `column "${name}" is ${type}, ${why}: make the table with \`edgemere create\` first`,
    );
  }
}
