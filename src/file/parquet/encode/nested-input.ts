import { ValueError } from '../../../spec/values/codec.ts';

/** What callers may hand over as lists, structs and maps. */

export const absent = (value: unknown): value is null | undefined => value === null || value === undefined;

export const expectedList: string = 'expected an array';

/** Arrays and typed arrays. */
export function isList(value: unknown): value is ArrayLike<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

export const expectedRecord: string = 'expected an object with the members as keys';

/** Objects that hold members by name, not by another rule. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  return (
    Object.getPrototypeOf(value) === Object.prototype ||
    (!Array.isArray(value) &&
      !ArrayBuffer.isView(value) &&
      !(value instanceof Map) &&
      !(value instanceof Set) &&
      !(value instanceof Date) &&
      !isOpaque(value))
  );
}

/** Promises, iterators and the like keep what they have elsewhere, and would be taken for empty objects. */
function isOpaque(value: object): boolean {
  return Object.prototype.toString.call(value) !== '[object Object]' && Object.keys(value).length === 0;
}

export const expectedMap: string = 'expected a Map, an array of entries with each key once, or an object with its keys';
export const expectedOnce: string = 'expected each key of a map once';
export const expectedKey: string = 'expected no NULL among the keys of a map';

type Entries = Iterable<readonly [unknown, unknown]>;

export function entriesOf(value: unknown): Entries {
  if (value instanceof Map || isEntries(value)) return value;
  if (!isRecord(value)) throw new ValueError(expectedMap);
  return Object.entries(value);
}

export function isMap(value: unknown): boolean {
  return value instanceof Map || isEntries(value) || isRecord(value);
}

function isEntries(value: unknown): value is Entries & readonly unknown[] {
  if (!Array.isArray(value) || ![...value].every((entry) => Array.isArray(entry) && entry.length === 2)) return false;
  return new Map(value as [unknown, unknown][]).size === value.length;
}

/** Why a value within a nested one is refused. */
export class RefusedWithin extends ValueError {
  readonly value: unknown;

  constructor(reason: string, path: string, value: unknown) {
    super(path === '' ? reason : `${reason} at ${path}`);
    this.value = value;
  }
}
