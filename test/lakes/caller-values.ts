import type { ColumnType, ScalarName } from '../../src/spec/types.ts';
import { codecFor } from '../../src/spec/values/codec.ts';

const names: Readonly<Record<string, ScalarName>> = {
  BOOLEAN: 'boolean',
  TINYINT: 'int8',
  SMALLINT: 'int16',
  INTEGER: 'int32',
  BIGINT: 'int64',
  HUGEINT: 'int128',
  UTINYINT: 'uint8',
  USMALLINT: 'uint16',
  UINTEGER: 'uint32',
  UBIGINT: 'uint64',
  UHUGEINT: 'uint128',
  FLOAT: 'float32',
  DOUBLE: 'float64',
  VARCHAR: 'varchar',
  UUID: 'uuid',
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'timestamp',
  TIMESTAMP_S: 'timestamp_s',
  TIMESTAMP_MS: 'timestamp_ms',
  TIMESTAMP_NS: 'timestamp_ns',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
};

/** What a caller of edgemere has in the place of a value that DuckDB writes as `text`. */
export function callerValue(type: string, text: string): unknown {
  if (type === 'BLOB') return blob(text);
  const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(type);
  const columnType: ColumnType = decimal
    ? { name: 'decimal', precision: Number(decimal[1]), scale: Number(decimal[2]) }
    : { name: names[type]! };
  const codec = codecFor(columnType);
  return codec.decode(codec.fromText(text));
}

/** DuckDB's text of a blob: ASCII, and `\x0A` for all other bytes. */
function blob(text: string): Uint8Array {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++)
    if (text[i] === '\\') {
      bytes.push(Number.parseInt(text.slice(i + 2, i + 4), 16));
      i += 3;
    } else bytes.push(text.charCodeAt(i));
  return Uint8Array.from(bytes);
}
