import type { StagedFile } from '../catalog/pending.ts';
import type { TableInfo } from '../catalog/view.ts';
import { LakeError } from '../errors.ts';
import type { Field } from '../schema/field.ts';
import { typeText } from '../spec/types.ts';
import type { ColumnStats } from '../stats/column-stats.ts';
import { sha256 } from '../util/digest.ts';
import { uuidv7 } from '../util/uuid.ts';

/**
 * Files that `table.writeFiles` wrote and that no snapshot knows yet: plain JSON data, for `lake.register` on any machine. To be
 * passed on as it is.
 */
export interface FileReceipt {
  readonly version: 1;
  readonly id: string;
  readonly table: { readonly schema: string; readonly name: string; readonly uuid: string };
  /** The columns that the files have. */
  readonly columns: readonly ReceiptColumn[];
  readonly rowCount: number;
  readonly files: readonly ReceiptFile[];
  /** SHA-256 of the rest: tells a receipt that was damaged or changed, not one that somebody forged. */
  readonly checksum: string;
}

export interface ReceiptColumn {
  readonly id: number;
  readonly type: string;
  readonly nullable: boolean;
  readonly children: readonly ReceiptColumn[];
}

/** Without its location: where the table's folder is may differ from machine to machine. */
export type ReceiptFile = Omit<StagedFile, 'location'>;

export async function receiptOf(table: TableInfo, files: readonly StagedFile[]): Promise<FileReceipt> {
  const content: Omit<FileReceipt, 'checksum'> = {
    version: 1,
    id: uuidv7(),
    table: { schema: table.schema.name, name: table.name, uuid: table.uuid },
    columns: table.fields.map(columnOf),
    rowCount: files.reduce((sum, file) => sum + file.rowCount, 0),
    files: files.map(({ location, ...file }) => file),
  };
  // Through JSON at once, so that a receipt is the same wherever it went.
  return { ...JSON.parse(JSON.stringify(content)), checksum: await checksum(content) };
}

function columnOf({ id, type, nullable, children }: Field): ReceiptColumn {
  return { id, type: typeText(type), nullable, children: children.map(columnOf) };
}

/** A receipt as it came, when it is whole. INVALID_ARGUMENT otherwise; `index` is its place among the caller's. */
export async function checkReceipt(value: unknown, index: number): Promise<FileReceipt> {
  const fail = (reason: string): LakeError =>
    new LakeError('INVALID_ARGUMENT', `receipt ${index} ${reason}; pass on what table.writeFiles returned`, {
      context: { receipt: index },
    });
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || (value as FileReceipt).version !== 1 || typeof (value as FileReceipt).checksum !== 'string')
    throw fail('is none');
  const { checksum: claimed, ...content } = value as FileReceipt;
  if ((await checksum(content)) !== claimed) throw fail('was changed since it was made');
  if (!isWhole(content)) throw fail('lacks a part or holds what no receipt does');
  return value as FileReceipt;
}

async function checksum(content: object): Promise<string> {
  return sha256(canonical(JSON.parse(JSON.stringify(content))));
}

/** JSON with sorted keys: a database may have kept the receipt in another order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`).join(',')}}`;
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): boolean => typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
const isOptional = (value: unknown, type: string): boolean => value === undefined || typeof value === type;

function isWhole({ id, table, columns, rowCount, files }: Omit<FileReceipt, 'checksum'>): boolean {
  return (
    isText(id) &&
    id.length === 36 &&
    [table?.schema, table?.name, table?.uuid].every(isText) &&
    Array.isArray(columns) &&
    columns.every(isColumn) &&
    Array.isArray(files) &&
    files.every(isFile) &&
    rowCount === files.reduce((sum, file) => sum + file.rowCount, 0)
  );
}

function isColumn({ id, type, nullable, children }: ReceiptColumn): boolean {
  return (
    isCount(id) && isText(type) && typeof nullable === 'boolean' && Array.isArray(children) && children.every(isColumn)
  );
}

function isFile({ path, rowCount, byteLength, footerLength, columns }: ReceiptFile): boolean {
  return (
    /^ducklake-[0-9a-f-]{36}\.parquet$/.test(path) &&
    [rowCount, byteLength, footerLength].every(isCount) &&
    Array.isArray(columns) &&
    columns.every(isStats)
  );
}

function isStats({ fieldId, byteLength, valueCount, nullCount, min, max, containsNan }: ColumnStats): boolean {
  return (
    [fieldId, byteLength, valueCount, nullCount].every(isCount) &&
    (min === undefined || isText(min)) &&
    (max === undefined || isText(max)) &&
    isOptional(containsNan, 'boolean')
  );
}

/**
 * Why the files don't fit the table as it is; `undefined` when they do. Names, defaults and the order of columns may have changed,
 * and NULL may be allowed now where it wasn't: files say nothing of these.
 */
export function misfit(receipt: FileReceipt, { fields, isPartitioned }: TableInfo): string | undefined {
  if (isPartitioned) return 'it is partitioned now';
  return differentColumns(receipt.columns, fields) ? 'its columns are others now' : undefined;
}

function differentColumns(written: readonly ReceiptColumn[], fields: readonly Field[]): boolean {
  const byId = new Map(written.map((column) => [column.id, column]));
  return (
    written.length !== fields.length ||
    fields.some((field) => {
      const column = byId.get(field.id);
      return (
        column === undefined ||
        column.type !== typeText(field.type) ||
        (column.nullable && !field.nullable) ||
        differentColumns(column.children, field.children)
      );
    })
  );
}
