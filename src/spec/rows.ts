/**
 * The 28 tables of a DuckLake 1.0 catalog, as data. Source: the DuckLake specification, "Tables", and the statements
 * with which DuckDB creates them (the order of columns is DuckDB's).
 */

/** A column's type in the catalog database. SQLite keeps booleans as 0 / 1, uuids and instants as text. */
export type CellType = 'bigint' | 'varchar' | 'boolean' | 'uuid' | 'timestamptz';

/**
 * A counter of the head from which a commit takes ids. In a batch a cell of such a column that is negative is relative:
 * see {@link relativeId}.
 */
export type Counter = 'snapshot' | 'schemaVersion' | 'catalog' | 'file' | 'row';

/** What a cell holds; ids that a commit may assign are kinds of their own. */
export type CellKind =
  | 'int'
  | 'text'
  | 'bool'
  | 'uuid'
  | 'instant'
  | 'catalogId'
  | 'fileId'
  | 'snapshotId'
  | 'schemaVersion'
  | 'rowId';

export interface CellSpec {
  readonly type: CellType;
  readonly counter: Counter | undefined;
  readonly key: 'primary' | 'not null' | undefined;
}

const kinds: Readonly<Record<CellKind, readonly [CellType, Counter?]>> = {
  int: ['bigint'],
  text: ['varchar'],
  bool: ['boolean'],
  uuid: ['uuid'],
  instant: ['timestamptz'],
  catalogId: ['bigint', 'catalog'],
  fileId: ['bigint', 'file'],
  snapshotId: ['bigint', 'snapshot'],
  schemaVersion: ['bigint', 'schemaVersion'],
  rowId: ['bigint', 'row'],
};

export const catalogTables = {
  ducklake_metadata: {
    key: 'text not null',
    value: 'text not null',
    scope: 'text',
    scope_id: 'int',
  },
  ducklake_snapshot: {
    snapshot_id: 'snapshotId primary',
    snapshot_time: 'instant',
    schema_version: 'schemaVersion',
    next_catalog_id: 'int',
    next_file_id: 'int',
  },
  ducklake_snapshot_changes: {
    snapshot_id: 'snapshotId primary',
    changes_made: 'text',
    author: 'text',
    commit_message: 'text',
    commit_extra_info: 'text',
  },
  ducklake_schema: {
    schema_id: 'catalogId primary',
    schema_uuid: 'uuid',
    begin_snapshot: 'snapshotId',
    end_snapshot: 'snapshotId',
    schema_name: 'text',
    path: 'text',
    path_is_relative: 'bool',
  },
  ducklake_table: {
    table_id: 'catalogId',
    table_uuid: 'uuid',
    begin_snapshot: 'snapshotId',
    end_snapshot: 'snapshotId',
    schema_id: 'catalogId',
    table_name: 'text',
    path: 'text',
    path_is_relative: 'bool',
  },
  ducklake_view: {
    view_id: 'catalogId',
    view_uuid: 'uuid',
    begin_snapshot: 'snapshotId',
    end_snapshot: 'snapshotId',
    schema_id: 'catalogId',
    view_name: 'text',
    dialect: 'text',
    sql: 'text',
    column_aliases: 'text',
  },
  ducklake_tag: {
    object_id: 'catalogId',
    begin_snapshot: 'snapshotId',
    end_snapshot: 'snapshotId',
    key: 'text',
    value: 'text',
  },
  ducklake_column_tag: {
    table_id: 'catalogId',
    column_id: 'int',
    begin_snapshot: 'snapshotId',
    end_snapshot: 'snapshotId',
    key: 'text',
    value: 'text',
  },
  ducklake_data_file: {
    data_file_id: 'fileId primary',
    table_id: 'catalogId',
    begin_snapshot: 'snapshotId',
    end_snapshot: 'snapshotId',
    file_order: 'int',
    path: 'text',
    path_is_relative: 'bool',
    file_format: 'text',
    record_count: 'int',
    file_size_bytes: 'int',
    footer_size: 'int',
    row_id_start: 'rowId',
    partition_id: 'int',
    encryption_key: 'text',
    mapping_id: 'int',
    partial_max: 'int',
  },
  ducklake_file_column_stats: {
    data_file_id: 'fileId',
    table_id: 'catalogId',
    column_id: 'int',
    column_size_bytes: 'int',
    value_count: 'int',
    null_count: 'int',
    min_value: 'text',
    max_value: 'text',
    contains_nan: 'bool',
    extra_stats: 'text',
  },
  ducklake_file_variant_stats: {
    data_file_id: 'fileId',
    table_id: 'catalogId',
    column_id: 'int',
    variant_path: 'text',
    shredded_type: 'text',
    column_size_bytes: 'int',
    value_count: 'int',
    null_count: 'int',
    min_value: 'text',
    max_value: 'text',
    contains_nan: 'bool',
    extra_stats: 'text',
  },
  ducklake_delete_file: {
    delete_file_id: 'fileId primary',
    table_id: 'catalogId',
    begin_snapshot: 'snapshotId',
    end_snapshot: 'snapshotId',
    data_file_id: 'fileId',
    path: 'text',
    path_is_relative: 'bool',
    format: 'text',
    delete_count: 'int',
    file_size_bytes: 'int',
    footer_size: 'int',
    encryption_key: 'text',
    partial_max: 'int',
  },
  ducklake_column: {
    column_id: 'int',
    begin_snapshot: 'snapshotId',
    end_snapshot: 'snapshotId',
    table_id: 'catalogId',
    column_order: 'int',
    column_name: 'text',
    column_type: 'text',
    initial_default: 'text',
    default_value: 'text',
    nulls_allowed: 'bool',
    parent_column: 'int',
    default_value_type: 'text',
    default_value_dialect: 'text',
  },
  ducklake_table_stats: { table_id: 'catalogId', record_count: 'int', next_row_id: 'int', file_size_bytes: 'int' },
  ducklake_table_column_stats: {
    table_id: 'catalogId',
    column_id: 'int',
    contains_null: 'bool',
    contains_nan: 'bool',
    min_value: 'text',
    max_value: 'text',
    extra_stats: 'text',
  },
  ducklake_partition_info: {
    partition_id: 'catalogId',
    table_id: 'catalogId',
    begin_snapshot: 'snapshotId',
    end_snapshot: 'snapshotId',
  },
  ducklake_partition_column: {
    partition_id: 'catalogId',
    table_id: 'catalogId',
    partition_key_index: 'int',
    column_id: 'int',
    transform: 'text',
  },
  ducklake_file_partition_value: {
    data_file_id: 'fileId',
    table_id: 'catalogId',
    partition_key_index: 'int',
    partition_value: 'text',
  },
  ducklake_files_scheduled_for_deletion: {
    data_file_id: 'int',
    path: 'text',
    path_is_relative: 'bool',
    schedule_start: 'instant',
  },
  ducklake_inlined_data_tables: {
    table_id: 'catalogId',
    table_name: 'text',
    schema_version: 'schemaVersion',
  },
  ducklake_column_mapping: { mapping_id: 'fileId', table_id: 'catalogId', type: 'text' },
  ducklake_name_mapping: {
    mapping_id: 'fileId',
    column_id: 'int',
    source_name: 'text',
    target_field_id: 'int',
    parent_column: 'int',
    is_partition: 'bool',
  },
  ducklake_schema_versions: {
    begin_snapshot: 'snapshotId',
    schema_version: 'schemaVersion',
    table_id: 'catalogId',
  },
  ducklake_macro: {
    schema_id: 'catalogId',
    macro_id: 'catalogId',
    macro_name: 'text',
    begin_snapshot: 'snapshotId',
    end_snapshot: 'snapshotId',
  },
  ducklake_macro_impl: { macro_id: 'catalogId', impl_id: 'int', dialect: 'text', sql: 'text', type: 'text' },
  ducklake_macro_parameters: {
    macro_id: 'catalogId',
    impl_id: 'int',
    column_id: 'int',
    parameter_name: 'text',
    parameter_type: 'text',
    default_value: 'text',
    default_value_type: 'text',
  },
  ducklake_sort_info: {
    sort_id: 'catalogId',
    table_id: 'catalogId',
    begin_snapshot: 'snapshotId',
    end_snapshot: 'snapshotId',
  },
  ducklake_sort_expression: {
    sort_id: 'catalogId',
    table_id: 'catalogId',
    sort_key_index: 'int',
    expression: 'text',
    dialect: 'text',
    sort_direction: 'text',
    null_order: 'text',
  },
} as const;

export type CatalogTable = keyof typeof catalogTables;

/** A cell as it crosses the CatalogStore seam, whatever the driver: ids and counts are safe integers. */
export type Cell = number | string | boolean | null;

type CellOf<Kind extends string> = Kind extends 'bool'
  ? boolean
  : Kind extends 'text' | 'uuid' | 'instant'
    ? string
    : number;

/** One row of a catalog table, under the specification's own names. Instants are text: `2024-01-15 12:30:00.123456+00`. */
export type RowOf<Table extends CatalogTable> = {
  -readonly [Column in keyof (typeof catalogTables)[Table]]: (typeof catalogTables)[Table][Column] extends `${infer Kind} ${'primary' | 'not null'}`
    ? CellOf<Kind>
    : CellOf<(typeof catalogTables)[Table][Column] & string> | null;
};

/** Any catalog row, for code that treats all tables alike. */
export type CatalogRow = Readonly<Record<string, Cell>>;

/** The columns of a catalog table in catalog order, for code that treats all tables alike. */
export function cellsOf(table: CatalogTable): readonly (readonly [name: string, spec: CellSpec])[] {
  return specs[table]!;
}

const specs: Readonly<Record<string, readonly (readonly [string, CellSpec])[]>> = Object.fromEntries(
  Object.entries(catalogTables).map(([table, columns]) => [table, Object.entries(columns).map(parseCell)]),
);

function parseCell([name, text]: [string, string]): readonly [string, CellSpec] {
  const [kind, ...key] = text.split(' ') as [CellKind, ...string[]];
  const [type, counter] = kinds[kind];
  return [name, { type, counter, key: (key.join(' ') || undefined) as CellSpec['key'] }];
}

/**
 * The k-th id (from 0) that a batch takes from a counter, as a cell. Ids that exist are never negative, so a negative
 * cell is relative: the store resolves it against the head on which it puts the batch.
 */
export function relativeId(k: number): number {
  return -1 - k;
}

/** A cell that may be relative, resolved: `next` is the counter's value at the head. */
export function resolveId(cell: number, next: number): number {
  return cell < 0 ? next - 1 - cell : cell;
}

/** The relative id of the snapshot that the batch makes, and of the schema version when the batch changes the schema. */
export const NEXT: number = relativeId(0);
