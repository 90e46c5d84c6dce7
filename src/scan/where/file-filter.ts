import type { FilesRequest, LiveFile } from '../../catalog/table-files.ts';
import { type Expression, fieldsOf } from './expression.ts';
import { boundsOfStats } from './file-bounds.ts';
import { matters } from './prune.ts';
import { rangesOf } from './ranges.ts';

/** What a filter tells of data files by what the catalog knows of them. */
export interface FileFilter {
  /** For the catalog: which files it may leave out, and the statistics that decide on the others. */
  readonly request: Pick<FilesRequest, 'stats' | 'within'>;
  readonly fileMatters: (file: LiveFile) => boolean;
}

export function fileFilterOf(expression: Expression | undefined): FileFilter {
  if (!expression) return { request: { stats: 'none' }, fileMatters: () => true };
  return {
    request: {
      stats: fieldsOf(expression).map(({ id }) => id),
      within: rangesOf(expression),
    },
    fileMatters: (file) => matters(expression, boundsOfStats(file)),
  };
}
