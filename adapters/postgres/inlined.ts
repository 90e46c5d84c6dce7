import { quoteName, type SqlDialect } from '../../src/catalog/sql/dialect.ts';
import type { CommitBatch, CreateInlined, InsertInlined } from '../../src/catalog/store.ts';
import type { InlinedColumn } from '../../src/spec/inlining.ts';
import type { ColumnType } from '../../src/spec/types.ts';
import { codecFor } from '../../src/spec/values/codec.ts';
import type { Interval } from '../../src/spec/values/value-codec.ts';
import { dollarQuoted, literal } from './literal.ts';

/** What a batch's inlined rows add to its statement. */
export interface EncodedInlined {
  /** Parts of the statement. They name tables and columns, which no parameter can. */
  readonly parts: readonly string[];
  /** What they find in its payload under `inlined`. */
  readonly payload: readonly object[];
  /** A statement that has to follow in the same transaction. */
  readonly after: string | undefined;
  /** Up to which snapshots rows are removed, for the parts that do so. */
  readonly flushed: readonly number[] | undefined;
  /** What may be done once the batch is committed. */
  readonly afterwards: readonly string[];
}

export function encodeInlined(dialect: SqlDialect, batch: CommitBatch): EncodedInlined {
  const inserts = batch.ops.filter((op): op is ToThere => op.kind === 'insertInlined' && op.name !== undefined);
  const deletes = batch.ops.filter((op) => op.kind === 'deleteInlined');
  return {
    parts: [
      ...inserts.map((op, n) => insertInlined(dialect.table(op.name), inlinedShape(op), n)),
      ...deletes.map(
        ({ name }, n) =>
          `flushed${n} AS (DELETE FROM ${dialect.table(name)} t USING ids WHERE t.begin_snapshot <= (ids.j->'flushed'->>${n})::bigint)`,
      ),
    ],
    payload: inserts.map(inlinedPayload),
    after: createInlined(dialect, batch),
    flushed: deletes.length > 0 ? deletes.map(({ upTo }) => upTo) : undefined,
    afterwards: batch.ops.flatMap((op) => (op.kind === 'dropInlined' ? [dropInlined(dialect, op.name)] : [])),
  };
}

/** Rows for a catalog table that is there: its name and columns are part of the statement's text. */
type ToThere = InsertInlined & { readonly name: string };

type InlinedShape = readonly (readonly [name: string, type: string])[];

function inlinedShape({ columns }: InsertInlined | CreateInlined): InlinedShape {
  return columns.map((column) => [column.name, storedType(column.type)]);
}

/** What the statement finds in its payload: the table, the rows before these in the batch, the rows. */
function inlinedPayload({ tableId, rowIdStart, columns, rows }: InsertInlined): object {
  return { table: tableId, before: -1 - rowIdStart, rows: inlinedCells(columns, rows) };
}

/** The n-th of the batch's. */
function insertInlined(table: string, shape: InlinedShape, n: number): string {
  const payload = `j->'inlined'->${n}`;
  const start = `coalesce(totals.next, 0) + (${payload}->>'before')::bigint`;
  return (
    `inlined${n} AS (${insert(table, shape, start, 'snapshot')}\n  FROM ids CROSS JOIN LATERAL ${elements(`${payload}->'rows'`)}` +
    ` LEFT JOIN totals ON totals.id = (${payload}->>'table')::bigint)`
  );
}

/**
 * What makes catalog tables and fills them, to be carried out after the commit's statement in the same transaction: only when the
 * snapshot is one that this very transaction made. `undefined` when there are none to make.
 */
function createInlined(dialect: SqlDialect, { base, catalogIdCount, ops }: CommitBatch): string | undefined {
  const idOf = (tableId: number): string => (tableId < 0 ? `next_id - ${catalogIdCount + tableId + 1}` : `${tableId}`);
  // Its name has ids that are known when the statement has run.
  const named = (tableId: number, text: (table: string) => string): string => {
    const [before, after] = text(dialect.table(NAME)).split(NAME).map(literal);
    return `EXECUTE ${before} || 'ducklake_inlined_data_' || ${idOf(tableId)} || '_' || version || ${after}`;
  };
  const totals = new Map(
    ops.flatMap((op) => (op.kind === 'addStats' ? [[op.stats.tableId, op.stats.rowIdCount]] : [])),
  );
  const statements = ops.flatMap((op) => {
    if (op.kind === 'createInlined') {
      const definitions = inlinedShape(op).map(([column, type]) => `${quoteName(column)} ${type}`);
      const system = 'row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT';
      return [
        named(op.tableId, (table) => `CREATE TABLE IF NOT EXISTS ${table} (${system}, ${definitions.join(', ')})`),
        `INSERT INTO ${dialect.table('ducklake_inlined_data_tables')} (table_id, table_name, schema_version)
  VALUES (${idOf(op.tableId)}, 'ducklake_inlined_data_' || ${idOf(op.tableId)} || '_' || version, version)`,
      ];
    }
    if (op.kind !== 'insertInlined' || op.name !== undefined) return [];
    // The totals are those after the batch.
    const before = (totals.get(op.tableId) ?? 0) - (-1 - op.rowIdStart);
    const next = `(SELECT max(next_row_id) FROM ${dialect.table('ducklake_table_stats')} WHERE table_id = $2)`;
    const rows = `${literal(JSON.stringify(inlinedCells(op.columns, op.rows)))}::jsonb`;
    const rowsInto = (table: string): string =>
      `${insert(table, inlinedShape(op), `${next} - ${before}`, '$1')} FROM ${elements(rows)}`;
    return [`${named(op.tableId, rowsInto)} USING made, ${idOf(op.tableId)}`];
  });
  if (statements.length === 0) return undefined;
  const made =
    `SELECT snapshot_id, schema_version, next_catalog_id INTO made, version, next_id FROM ${dialect.table('ducklake_snapshot')} ` +
    `WHERE snapshot_id > ${base.id} AND xmin = pg_current_xact_id()::xid`;
  return `DO ${dollarQuoted(
    `DECLARE made bigint; version bigint; next_id bigint; BEGIN ${made};\nIF made IS NOT NULL THEN\n${statements.join(';\n')};\nEND IF; END`,
  )}`;
}

/** Stands for the name of a catalog table, in texts that hold no NUL characters. */
const NAME = '\0';

/** A transaction of its own, which gives up where readers keep the table: it would make writers wait for them. */
function dropInlined(dialect: SqlDialect, name: string): string {
  const table = dialect.table(name);
  const body =
    `BEGIN IF NOT EXISTS (SELECT FROM ${table}) THEN DELETE FROM ${dialect.table('ducklake_inlined_data_tables')} ` +
    `WHERE table_name = ${literal(name)}; DROP TABLE ${table}; END IF; END`;
  return `SELECT set_config('lock_timeout', '500ms', true);\nDO ${dollarQuoted(body)}`;
}

function insert(table: string, columns: InlinedShape, start: string, snapshot: string): string {
  const names = ['row_id', 'begin_snapshot', ...columns.map(([column]) => quoteName(column))];
  const values = columns.map(([, type], i) => storedValue(`r.v->>${i}`, type));
  return `INSERT INTO ${table} (${names.join(', ')}) SELECT ${[`${start} + r.n - 1`, snapshot, ...values].join(', ')}`;
}

const elements = (json: string): string => `jsonb_array_elements(${json}) WITH ORDINALITY AS r (v, n)`;

/** The column's type, as DuckDB makes it. */
function storedType(type: ColumnType): string {
  switch (type.name) {
    case 'int8':
    case 'int16':
      return 'smallint';
    case 'int32':
    case 'uint8':
    case 'uint16':
      return 'integer';
    case 'int64':
    case 'uint32':
      return 'bigint';
    case 'float32':
      return 'real';
    case 'float64':
      return 'double precision';
    case 'decimal':
      return `numeric(${type.precision},${type.scale})`;
    case 'varchar':
    case 'json':
    case 'blob':
      return 'bytea';
    case 'timetz':
      return 'time with time zone';
    case 'boolean':
    case 'uuid':
    case 'time':
    case 'interval':
      return type.name;
    default:
      return 'varchar';
  }
}

function storedValue(text: string, type: string): string {
  return type === 'bytea' ? `decode(${text}, 'hex')` : type === 'varchar' ? text : `(${text})::${type}`;
}

const utf8 = new TextEncoder();

/** Text as bytes, since Postgres keeps no NUL in text; intervals so that they read the same whatever a session's settings. */
function inlinedCells(columns: readonly InlinedColumn[], rows: InsertInlined['rows']): (string | null)[][] {
  const converters = columns.map(({ type }): ((cell: string) => string) => {
    if (type.name === 'varchar' || type.name === 'json')
      return (cell) => codecFor({ name: 'blob' }).text(utf8.encode(cell))!;
    if (type.name === 'interval') return (cell) => intervalText(codecFor(type).fromText(cell) as Interval);
    return (cell) => cell;
  });
  return rows.map((cells) => cells.map((cell, i) => (cell === null ? null : converters[i]!(cell))));
}

function intervalText({ months, days, micros }: Interval): string {
  const signed = (count: number | bigint): string => (count < 0 ? String(count) : `+${count}`);
  return `${signed(months)} months ${signed(days)} days ${signed(micros)} microseconds`;
}
