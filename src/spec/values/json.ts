import { compareUtf8 } from './text.ts';
import { isDate, type ValueCodec, ValueError } from './value-codec.ts';

/** A string is JSON text and kept as it is; any other JSON value is serialised, bigints with all their digits. */
export const jsonCodec: ValueCodec<string> = {
  encode(value) {
    if (typeof value === 'string') return checkText(value);
    try {
      return serialize(value, []);
    } catch (error) {
      // Too deep for the stack.
      if (error instanceof RangeError) throw new ValueError('expected JSON that is nested less deeply');
      throw error;
    }
  },
  decode: parseJson,
  text: (physical) => physical,
  fromText: checkText,
  compare: compareUtf8,
};

function checkText(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    // DuckDB refuses escapes that stand for lone surrogates, JSON.parse doesn't.
    if (text.isWellFormed() && (!/\\u[dD][89a-fA-F]/.test(text) || isWellFormed(parsed))) return text;
  } catch {
    throw new ValueError('expected JSON text (a string that is to be a JSON string goes through JSON.stringify)');
  }
  throw new ValueError('expected JSON without lone surrogates, which UTF-8 cannot hold');
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, item]) => key.isWellFormed() && isWellFormed(item));
}

function serialize(value: unknown, ancestors: object[]): string {
  switch (typeof value) {
    case 'string':
      if (!value.isWellFormed()) throw new ValueError('expected JSON without lone surrogates, which UTF-8 cannot hold');
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw new ValueError('expected JSON, which has no NaN and no infinities');
      return Object.is(value, -0) ? '-0' : String(value);
    case 'bigint':
      return String(value);
    case 'boolean':
      return String(value);
    case 'object':
      if (value !== null) return serializeObject(value, ancestors);
      return 'null';
    default:
      throw new ValueError(`expected JSON, which has no ${typeof value}`);
  }
}

function serializeObject(value: object, ancestors: object[]): string {
  if (ancestors.includes(value)) throw new ValueError('expected JSON, not an object that contains itself');
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') {
    if (isDate(value) && value.toJSON() === null) throw new ValueError('expected a valid Date');
    return serialize(toJSON.call(value, ''), [...ancestors, value]);
  }
  ancestors.push(value);
  let text: string;
  if (Array.isArray(value)) {
    text = `[${Array.from(value, (item) => serialize(item, ancestors)).join(',')}]`;
  } else if (isPlain(value)) {
    const members = Object.entries(value).map(
      ([key, item]) => `${serialize(key, ancestors)}:${serialize(item, ancestors)}`,
    );
    text = `{${members.join(',')}}`;
  } else {
    throw new ValueError(
      `expected JSON: arrays and plain objects, not a ${value.constructor?.name || 'class instance'}`,
    );
  }
  ancestors.pop();
  return text;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // Of whichever realm: Object.prototype is the one prototype that has none itself.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Parses JSON as DuckDB writes it. Integers that are not safe ones become bigints, so that no digit is lost; the bare NaN and
 * infinities that DuckDB accepts become those numbers.
 */
function parseJson(text: string): unknown {
  if (!/\d{16}/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // Below.
    }
  }
  // What JSON.parse can't take, or only with fewer digits, travels in strings; all other strings but keys move one along.
  const marked = text.replace(token, (found) => {
    if (found.startsWith('"')) return found.endsWith(':') ? found : `" ${found.slice(1)}`;
    return isExact(found) ? found : `"#${found}"`;
  });
  return JSON.parse(marked, (_key, value: unknown) => {
    if (typeof value !== 'string') return value;
    return value.startsWith('#') ? special(value.slice(1)) : value.slice(1);
  });
}

const token = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?|-?(?:nan|inf(?:inity)?)\b|-?\d+(?![\d.eE])|-?\d[\d.eE+-]*/gi;

function isExact(literal: string): boolean {
  return !/^-?(nan|inf)/i.test(literal) && (!/^-?\d+$/.test(literal) || Number.isSafeInteger(Number(literal)));
}

function special(literal: string): number | bigint {
  if (/^-?\d+$/.test(literal)) return BigInt(literal);
  if (/nan/i.test(literal)) return Number.NaN;
  return literal.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}
