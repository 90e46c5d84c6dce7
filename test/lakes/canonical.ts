import {
  type DuckDBBlobValue,
  type DuckDBDateValue,
  type DuckDBDecimalValue,
  type DuckDBIntervalValue,
  type DuckDBListType,
  type DuckDBListValue,
  type DuckDBMapType,
  type DuckDBMapValue,
  type DuckDBStructType,
  type DuckDBStructValue,
  type DuckDBTimestampMillisecondsValue,
  type DuckDBTimestampNanosecondsValue,
  type DuckDBTimestampSecondsValue,
  type DuckDBTimestampValue,
  type DuckDBTimeTZValue,
  type DuckDBTimeValue,
  type DuckDBType,
  DuckDBTypeId,
} from '@duckdb/node-api';

/** One text for each value that a type has, made from what DuckDB's binding gives and from what edgemere gives. */
export interface Canonical {
  theirs(value: unknown): string;
  /** Of what is no value of the type, a text that no value has. */
  ours(value: unknown): string;
}

/** Of a table with millions of values the texts are made for each: one closure per type, no look-ups. */
export function canonicalOf(type: DuckDBType): Canonical {
  const inner = typed(type);
  return {
    theirs: (value) => (value === null ? 'NULL' : inner.theirs(value)),
    ours: (value) => (value === null ? 'NULL' : (inner.ours(value) ?? wrong(value))),
  };
}

const wrong = (value: unknown): string => {
  const kind = typeof value === 'object' && value !== null ? (value.constructor?.name ?? 'object') : typeof value;
  return `«not a value of the type: ${kind} ${String(value)}»`;
};

interface Typed {
  theirs(value: unknown): string;
  ours(value: unknown): string | undefined;
}

const number: Typed = {
  theirs: (value) => String(value),
  ours: (value) => (typeof value === 'number' ? String(value) : undefined),
};
const bigint: Typed = {
  theirs: (value) => String(value),
  ours: (value) => (typeof value === 'bigint' ? String(value) : undefined),
};
const floatText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));
const float: Typed = {
  theirs: (value) => floatText(value as number),
  ours: (value) => (typeof value === 'number' ? floatText(value) : undefined),
};
const text: Typed = {
  theirs: (value) => JSON.stringify(value),
  ours: (value) => (typeof value === 'string' ? JSON.stringify(value) : undefined),
};
/** JSON's null is null to JavaScript, as NULL is. */
const json: Typed = {
  theirs: (value) => (value === 'null' ? 'NULL' : JSON.stringify(JSON.parse(value as string))),
  ours: (value) => JSON.stringify(value),
};
const boolean: Typed = {
  theirs: (value) => String(value),
  ours: (value) => (typeof value === 'boolean' ? String(value) : undefined),
};
const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const blob: Typed = {
  theirs: (value) => `x${hex((value as DuckDBBlobValue).bytes)}`,
  ours: (value) => (value instanceof Uint8Array ? `x${hex(value)}` : undefined),
};
const uuid: Typed = {
  theirs: (value) => String(value),
  ours: (value) => (typeof value === 'string' ? value : undefined),
};
const date: Typed = {
  theirs: (value) => `${(value as DuckDBDateValue).days}`,
  ours(value) {
    if (!(value instanceof Date)) return undefined;
    const days = Number.isNaN(value.getTime()) ? (value as { days?: number }).days : value.getTime() / 86_400_000;
    return `${days}`;
  },
};

function clock(micros: bigint): string {
  const two = (part: bigint): string => String(part).padStart(2, '0');
  const fraction = String(micros % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '');
  const seconds = micros / 1_000_000n;
  return `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}${fraction && `.${fraction}`}`;
}

const time: Typed = {
  theirs: (value) => clock((value as DuckDBTimeValue).micros),
  ours: (value) => (typeof value === 'string' ? value : undefined),
};
const DAY = 86_400_000_000n;
/** The offset is lost on the way through Parquet, and kept in catalogs: the time in UTC is what both have. */
const timetz: Typed = {
  theirs(value) {
    const { micros, offset } = value as DuckDBTimeTZValue;
    const utc = micros - BigInt(offset) * 1_000_000n;
    return `${clock(utc === DAY ? utc : ((utc % DAY) + DAY) % DAY)}+00`;
  },
  ours: (value) => (typeof value === 'string' ? value : undefined),
};

const EDGE = 2n ** 63n - 1n;
const infinite = (epoch: bigint): boolean => epoch === EDGE || epoch === -EDGE;

function timestamp(theirs: (value: unknown) => bigint, perUnit: bigint): Typed {
  return {
    theirs(value) {
      const epoch = theirs(value);
      return infinite(epoch) ? `${epoch > 0n ? '' : '-'}infinity` : `${epoch * perUnit}`;
    },
    ours(value) {
      if (!(value instanceof Date)) return undefined;
      const { micros, nanos } = value as unknown as { micros?: bigint; nanos?: bigint };
      if (typeof micros !== 'bigint' || typeof nanos !== 'bigint') return undefined;
      if (infinite(micros)) return `${micros > 0n ? '' : '-'}infinity`;
      if (Math.abs(Number(micros / 1000n)) < 8.64e15) {
        const millis = value.getTime();
        if (millis !== Number(micros / 1000n) - (micros < 0n && micros % 1000n !== 0n ? 1 : 0)) return undefined;
      }
      return `${nanos}`;
    },
  };
}

const interval: Typed = {
  theirs(value) {
    const { months, days, micros } = value as DuckDBIntervalValue;
    return `${months} months ${days} days ${micros} µs`;
  },
  ours(value) {
    const { months, days, micros } = value as { months?: unknown; days?: unknown; micros?: unknown };
    if (typeof months !== 'number' || typeof days !== 'number' || typeof micros !== 'bigint') return undefined;
    return `${months} months ${days} days ${micros} µs`;
  },
};

function decimal(scale: number): Typed {
  return {
    theirs(value) {
      const unscaled = (value as DuckDBDecimalValue).value;
      const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
      const plain = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
      return `${unscaled < 0n ? '-' : ''}${plain}`;
    },
    ours: (value) => (typeof value === 'string' ? value : undefined),
  };
}

function list(item: Canonical): Typed {
  return {
    theirs: (value) => `[${(value as DuckDBListValue).items.map(item.theirs).join(', ')}]`,
    ours: (value) => (Array.isArray(value) ? `[${value.map(item.ours).join(', ')}]` : undefined),
  };
}

function struct(names: readonly string[], members: readonly Canonical[]): Typed {
  const joined = (parts: string[]): string => `{${parts.join(', ')}}`;
  return {
    theirs(value) {
      const { entries } = value as DuckDBStructValue;
      return joined(names.map((name, k) => `${JSON.stringify(name)}: ${members[k]!.theirs(entries[name])}`));
    },
    ours(value) {
      if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Map) return undefined;
      const object = value as Record<string, unknown>;
      if (Object.keys(object).length !== names.length) return undefined;
      if (!names.every((name) => Object.hasOwn(object, name))) return undefined;
      return joined(names.map((name, k) => `${JSON.stringify(name)}: ${members[k]!.ours(object[name])}`));
    },
  };
}

/** Entries keep their order. */
function map(key: Canonical, value: Canonical): Typed {
  return {
    theirs: (map) =>
      `map{${(map as DuckDBMapValue).entries.map((entry) => `${key.theirs(entry.key)}=${value.theirs(entry.value)}`).join(', ')}}`,
    ours: (map) =>
      map instanceof Map ? `map{${[...map].map(([k, v]) => `${key.ours(k)}=${value.ours(v)}`).join(', ')}}` : undefined,
  };
}

function typed(type: DuckDBType): Typed {
  switch (type.typeId) {
    case DuckDBTypeId.BOOLEAN:
      return boolean;
    case DuckDBTypeId.TINYINT:
    case DuckDBTypeId.SMALLINT:
    case DuckDBTypeId.INTEGER:
    case DuckDBTypeId.UTINYINT:
    case DuckDBTypeId.USMALLINT:
    case DuckDBTypeId.UINTEGER:
      return number;
    case DuckDBTypeId.BIGINT:
    case DuckDBTypeId.UBIGINT:
    case DuckDBTypeId.HUGEINT:
    case DuckDBTypeId.UHUGEINT:
      return bigint;
    case DuckDBTypeId.FLOAT:
    case DuckDBTypeId.DOUBLE:
      return float;
    case DuckDBTypeId.DECIMAL:
      return decimal((type as unknown as { scale: number }).scale);
    case DuckDBTypeId.VARCHAR:
      return type.alias === 'JSON' ? json : text;
    case DuckDBTypeId.BLOB:
      return blob;
    case DuckDBTypeId.UUID:
      return uuid;
    case DuckDBTypeId.DATE:
      return date;
    case DuckDBTypeId.TIME:
      return time;
    case DuckDBTypeId.TIME_TZ:
      return timetz;
    case DuckDBTypeId.TIMESTAMP:
    case DuckDBTypeId.TIMESTAMP_TZ:
      return timestamp((value) => (value as DuckDBTimestampValue).micros, 1000n);
    case DuckDBTypeId.TIMESTAMP_S:
      return timestamp((value) => (value as DuckDBTimestampSecondsValue).seconds, 1_000_000_000n);
    case DuckDBTypeId.TIMESTAMP_MS:
      return timestamp((value) => (value as DuckDBTimestampMillisecondsValue).millis, 1_000_000n);
    case DuckDBTypeId.TIMESTAMP_NS:
      return timestamp((value) => (value as DuckDBTimestampNanosecondsValue).nanos, 1n);
    case DuckDBTypeId.INTERVAL:
      return interval;
    case DuckDBTypeId.LIST:
      return list(canonicalOf((type as DuckDBListType).valueType));
    case DuckDBTypeId.STRUCT: {
      const { entryNames, entryTypes } = type as DuckDBStructType;
      return struct(entryNames, entryTypes.map(canonicalOf));
    }
    case DuckDBTypeId.MAP: {
      const { keyType, valueType } = type as DuckDBMapType;
      return map(canonicalOf(keyType), canonicalOf(valueType));
    }
    default:
      // Refused by edgemere so far.
      return { theirs: () => `(${type})`, ours: () => undefined };
  }
}
