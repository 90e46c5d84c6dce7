import type { FilesRequest, LiveFile } from '../../catalog/table-files.ts';
import { type Expression, fieldsIn } from './expression.ts';
import { boundsOfStats } from './file-bounds.ts';
import { matters } from './prune.ts';
import { rangesOf } from './ranges.ts';

/** What a filter tells of data files by what the catalog knows of them. */
export interface FileFilter {
  /** For the catalog: which files it may leave out, and the statistics that decide on the others. */
  readonly request: Pick<FilesRequest, 'stats' | 'statsFrom' | 'within'>;
  readonly fileMatters: (file: LiveFile) => boolean;
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
  if (!expression) return { request: { stats: 'none' }, fileMatters: () => true };
  return {
    request: {
      stats: fieldsIn(expression).map(({ id }) => id),
      statsFrom: isRange(expression) ? FEW_FILES : undefined,
      within: rangesOf(expression),
    },
    fileMatters: (file) => matters(expression, boundsOfStats(file)),
  };
}
