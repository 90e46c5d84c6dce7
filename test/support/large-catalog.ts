import type { TestLake } from './lakes.ts';

export interface CatalogSize {
  /** Further tables of five columns. */
  readonly tables: number;
  /** Further snapshots, of appends that left nothing behind. */
  readonly snapshots: number;
  /** Further data files of the table `events`, with statistics of each of its columns. Nothing lies where they are said to be. */
  readonly files: number;
}

/** Makes the catalog as large as if a lake had lived long. It has to hold the table `events` with at least one file. */
export async function growCatalog(place: TestLake, { tables, snapshots, files }: CatalogSize): Promise<void> {
  const uuid = (i: string): string =>
    place.address.kind === 'sqlite'
      ? `printf('018f0000-0000-7000-8000-%012x', ${i})`
      : `('018f0000-0000-7000-8000-' || lpad(to_hex(${i}), 12, '0'))::uuid`;
  const yes = place.address.kind === 'sqlite' ? '1' : 'true';
  const series = (count: number): string =>
    `WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < ${count})`;
  const head = '(SELECT * FROM ducklake_snapshot WHERE snapshot_id = (SELECT max(snapshot_id) FROM ducklake_snapshot))';
  const table = "(SELECT table_id FROM ducklake_table WHERE table_name = 'events')";
  const file = `(SELECT * FROM ducklake_data_file WHERE table_id = ${table} ORDER BY data_file_id LIMIT 1)`;

  // Files and tables first: the newest snapshot then counts them.
  if (files > 0) {
    await place.sql(`INSERT INTO ducklake_data_file (data_file_id, table_id, begin_snapshot, path, path_is_relative, file_format, record_count,
        file_size_bytes, footer_size, row_id_start)
      ${series(files)} SELECT h.next_file_id + i - 1, f.table_id, h.snapshot_id, 'grown-' || i || '.parquet', f.path_is_relative, 'parquet',
        f.record_count, f.file_size_bytes, f.footer_size, s.next_row_id + (i - 1) * f.record_count
      FROM g, ${head} h, ${file} f, ducklake_table_stats s WHERE s.table_id = f.table_id`);
    await place.sql(`INSERT INTO ducklake_file_column_stats (data_file_id, table_id, column_id, column_size_bytes, value_count, null_count, min_value, max_value, contains_nan)
      ${series(files)} SELECT h.next_file_id + i - 1, c.table_id, c.column_id, c.column_size_bytes, c.value_count, c.null_count, c.min_value, c.max_value, c.contains_nan
      FROM g, ${head} h, ${file} f, ducklake_file_column_stats c WHERE c.data_file_id = f.data_file_id`);
    await place.sql(`UPDATE ducklake_table_stats SET
        record_count = record_count + ${files} * (SELECT f.record_count FROM ${file} f), next_row_id = next_row_id + ${files} * (SELECT f.record_count FROM ${file} f),
        file_size_bytes = file_size_bytes + ${files} * (SELECT f.file_size_bytes FROM ${file} f) WHERE table_id = ${table}`);
  }
  if (tables > 0) {
    await place.sql(`INSERT INTO ducklake_table (table_id, table_uuid, begin_snapshot, schema_id, table_name, path, path_is_relative)
      ${series(tables)} SELECT h.next_catalog_id + i - 1, ${uuid('i')}, h.snapshot_id, 0, 'grown_' || i, 'grown_' || i || '/', ${yes} FROM g, ${head} h`);
    await place.sql(`INSERT INTO ducklake_column (column_id, begin_snapshot, table_id, column_order, column_name, column_type, default_value, nulls_allowed, default_value_type, default_value_dialect)
      ${series(tables)}, c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5)
      SELECT n, h.snapshot_id, h.next_catalog_id + i - 1, n, 'column_' || n, 'int64', 'NULL', ${yes}, 'literal', 'duckdb' FROM g, c, ${head} h`);
    await place.sql(`INSERT INTO ducklake_schema_versions (begin_snapshot, schema_version, table_id)
      ${series(tables)} SELECT h.snapshot_id, h.schema_version, h.next_catalog_id + i - 1 FROM g, ${head} h`);
  }
  await place.sql(`INSERT INTO ducklake_snapshot_changes (snapshot_id, changes_made)
    ${series(Math.max(1, snapshots))} SELECT h.snapshot_id + i, 'inserted_into_table:' || ${table} FROM g, ${head} h`);
  await place.sql(`INSERT INTO ducklake_snapshot (snapshot_id, snapshot_time, schema_version, next_catalog_id, next_file_id)
    ${series(Math.max(1, snapshots))} SELECT h.snapshot_id + i, h.snapshot_time, h.schema_version, h.next_catalog_id + ${tables}, h.next_file_id + ${files} FROM g, ${head} h`);
  if (place.address.kind === 'postgres') await place.sql('ANALYZE');
}
