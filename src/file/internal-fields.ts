import type { Field } from '../schema/field.ts';

/** A column that DuckLake adds to files: field ids above those that a table may use. */
function internalField(id: number, name: string): Field {
  return {
    id,
    name,
    type: { name: 'int64' },
    nullable: true,
    children: [],
    initialDefault: null,
    defaultValue: null,
    defaultValueType: null,
    beginSnapshot: 0,
  };
}

/** The row's id, in files whose rows are not numbered from `row_id_start` on. */
export const rowIdField: Field = internalField(2147483540, '_ducklake_internal_row_id');
/** The snapshot that the row is of, in files that hold rows of several. */
export const snapshotIdField: Field = internalField(2147483539, '_ducklake_internal_snapshot_id');
/** In a delete file: the position of a deleted row in its data file. */
export const positionField: Field = internalField(2147483545, 'pos');
