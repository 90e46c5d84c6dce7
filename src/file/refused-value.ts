import type { LakeError } from '../errors.ts';

/**
 * Stands for a stored value that the column can't hold since it was altered. An error only where its row is wanted: DuckDB lets columns be
 * altered when no row that is left has such a value.
 */
export class RefusedValue {
  readonly error: LakeError;

  constructor(error: LakeError) {
    this.error = error;
  }
}
