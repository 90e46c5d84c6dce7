import { UsageError } from './errors.ts';
import { quoteName } from './names.ts';

/** What a type is written like: its words, and the numbers in parentheses. */
export interface TypeSyntax {
  /** `timestamp with time zone` */
  readonly words: string;
  /** `undefined` without parentheses. */
  readonly args: readonly number[] | undefined;
}

/** The spellings of each DuckLake type, as DuckDB takes them; `float32` and `float64` are DuckLake's own. */
const spellings: Readonly<Record<string, string>> = {
  boolean: 'boolean, bool, logical',
  int8: 'tinyint, int1',
  int16: 'smallint, int2, short, int16',
  int32: 'integer, int, int4, signed, integral, int32',
  int64: 'bigint, long, oid, int64',
  int128: 'hugeint, int128',
  uint8: 'utinyint, uint8',
  uint16: 'usmallint, uint16',
  uint32: 'uinteger, uint32',
  uint64: 'ubigint, uint64',
  uint128: 'uhugeint, uint128',
  float32: 'real, float, float4, float32',
  float64: 'double, double precision, float8, float64',
  varchar: 'varchar, text, string, char, bpchar, nvarchar, nchar, character, character varying',
  json: 'json',
  blob: 'blob, bytea, binary, varbinary',
  uuid: 'uuid, guid',
  date: 'date',
  time: 'time, time without time zone',
  timetz: 'timetz, time with time zone',
  timestamp: 'timestamp, datetime, timestamp_us, timestamp without time zone',
  timestamptz: 'timestamptz, timestamp with time zone',
  timestamp_s: 'timestamp_s, timestamp(0)',
  timestamp_ms: 'timestamp_ms, timestamp(3)',
  timestamp_ns: 'timestamp_ns, timestamp(9)',
  interval: 'interval',
};

const bySpelling = new Map<string, string>(
  Object.entries(spellings).flatMap(([type, names]) => names.split(', ').map((name): [string, string] => [name, type])),
);
const decimals = new Set(['decimal', 'numeric', 'dec']);

/** The DuckLake type (`decimal(12,2)`) of a type as SQL, DuckDB or DuckLake writes it. */
export function resolveType({ words, args }: TypeSyntax): string {
  const name = words.toLowerCase();
  const shown = args === undefined ? words : `${words}(${args.join(', ')})`;
  if (decimals.has(name)) return decimal(shown, args);
  if (name === 'int8')
    throw new UsageError('"int8" means 8 bytes in SQL and 8 bits in DuckLake: write "bigint" or "tinyint"');
  const type = bySpelling.get(name);
  if (type === undefined) throw new UsageError(`"${shown}" is not a type; \`edgemere help types\` lists them`);
  if (args === undefined || type === 'varchar') return type;
  const [digits] = args;
  if (args.length === 1 && digits !== undefined) {
    if ((name === 'timestamp' || name === 'datetime') && digits <= 9) return timestampType(digits);
    if (name === 'float' && digits >= 1 && digits <= 53) return digits <= 24 ? 'float32' : 'float64';
  }
  throw new UsageError(`the type "${words}" takes no (${args.join(', ')})`);
}

function timestampType(digits: number): string {
  if (digits === 0) return 'timestamp_s';
  if (digits <= 3) return 'timestamp_ms';
  return digits <= 6 ? 'timestamp' : 'timestamp_ns';
}

function decimal(shown: string, args: readonly number[] = []): string {
  if (args.length > 2) throw new UsageError(`"${shown}": a decimal takes a precision and a scale`);
  const [precision = 18, scale = args.length === 0 ? 3 : 0] = args;
  if (precision < 1 || precision > 38 || scale > precision)
    throw new UsageError(`"${shown}": a decimal has 1 to 38 digits, of which 0 to all are behind the point`);
  return `decimal(${precision},${scale})`;
}

/** A DuckLake type with those of its parts. */
export interface NestedType {
  readonly type: string;
  readonly children?: readonly (NestedType & { readonly name: string })[] | undefined;
}

/** A type as SQL writes it, scalars by DuckLake's name: `struct(city varchar, geo float64[])`. */
export function showType({ type, children = [] }: NestedType): string {
  const parts = children.map(showType);
  switch (type) {
    case 'list':
      return `${parts[0]}[]`;
    case 'map':
      return `map(${parts.join(', ')})`;
    case 'struct':
      return `struct(${children.map(({ name }, i) => `${quoteName(name)} ${parts[i]}`).join(', ')})`;
    default:
      return type;
  }
}

/** DuckLake types with their spellings, for `edgemere help types`. */
export function typeTable(): [type: string, spellings: string][] {
  return [
    ...Object.entries(spellings),
    ['decimal(p,s)', 'decimal, numeric, dec: (18,3) unless given, s = 0 when only p is'],
    ['list', 'T[], such as int[]'],
    ['struct', 'struct(NAME T, …)'],
    ['map', 'map(T, T), such as map(text, int)'],
  ];
}
