import type { FilesRequest, LiveFile, TableFiles } from '../../catalog/table-files.ts';
import type { Field } from '../../schema/field.ts';
import { type Expression, fieldsIn } from './expression.ts';
import { boundsOfStats } from './file-bounds.ts';
import { type KnownBounds, matters } from './prune.ts';
import { rangesOf } from './ranges.ts';

/** What a filter tells of data files by what the catalog knows of them. */
export interface FileFilter {
  /** For the catalog: which files it may leave out, and the statistics that decide on the others. */
  readonly request: Pick<FilesRequest, 'stats' | 'statsFrom' | 'within'>;
  readonly keep: (found: TableFiles) => Promise<readonly LiveFile[]>;
}

/** So many files that are read although they didn't matter cost less than their statistics. */
const FEW_FILES = 8;

/** Whether catalogs tell as well as statistics do which files matter. */
function isRange(expression: Expression): boolean {
  switch (expression.op) {
    case 'and':
      return expression.parts.every(isRange);
    case 'eq':
    case 'gte':
    case 'lte':
      return /^(u?int(8|16|32|64)|varchar|date|timestamp.*)$/.test(expression.field.type.name);
    default:
      return false;
  }
}

export function fileFilterOf(expression: Expression | undefined): FileFilter {
  if (!expression) return { request: { stats: 'none' }, keep: async ({ files }) => files };
  return {
    request: {
      stats: fieldsIn(expression).map(({ id }) => id),
      statsFrom: isRange(expression) ? FEW_FILES : undefined,
      within: rangesOf(expression),
    },
    async keep(found) {
      const boundsOf = await fileBounds(found);
      return found.files.filter((file) => matters(expression, boundsOf(file)));
    },
  };
}

/** What the catalog knows of the columns of each file: by its statistics, and by the bucket that it is of. */
export async function fileBounds({
  partitionColumns,
}: TableFiles): Promise<(file: LiveFile) => (field: Field) => KnownBounds | undefined> {
  if (!partitionColumns.some(({ transform }) => transform?.startsWith('bucket('))) return boundsOfStats;
  return (await import('./buckets.ts')).boundsOfBuckets(partitionColumns);
}
