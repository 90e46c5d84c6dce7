import { LakeError, showValue } from '../errors.ts';

/** A JSON value that may be anybody's, and where it stands. Whatever is not as it has to be is INVALID_ARGUMENT, saying where. */
export class JsonValue {
  readonly value: unknown;
  readonly path: string;

  constructor(value: unknown, path: string) {
    this.value = value;
    this.path = path;
  }

  at(key: string): JsonValue {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.not('an object');
    const own = Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
    return new JsonValue(own, `${this.path}.${key}`);
  }

  has(key: string): boolean {
    return this.at(key).value !== undefined;
  }

  list<T>(read: (item: JsonValue) => T): T[] {
    if (!Array.isArray(this.value)) throw this.not('an array');
    // Holes are items too.
    return Array.from(this.value, (item, i) => read(new JsonValue(item, `${this.path}[${i}]`)));
  }

  orNull<T>(read: (value: this) => T): T | null {
    return this.value === null ? null : read(this);
  }

  text(): string {
    if (typeof this.value !== 'string') throw this.not('a string');
    return this.value;
  }

  boolean(): boolean {
    if (typeof this.value !== 'boolean') throw this.not('true or false');
    return this.value;
  }

  number(): number {
    if (typeof this.value !== 'number') throw this.not('a number');
    return this.value;
  }

  /** An id, a count or a position. */
  whole(): number {
    if (!Number.isSafeInteger(this.value) || (this.value as number) < 0) throw this.not('a whole number from 0');
    return this.value as number;
  }

  bigint(): bigint {
    if (typeof this.value !== 'string' || !/^-?\d{1,40}$/.test(this.value)) throw this.not('digits in a string');
    return BigInt(this.value);
  }

  oneOf<T extends string>(allowed: readonly T[]): T {
    const found = allowed.find((one) => one === this.value);
    if (found === undefined) throw this.not(allowed.join(', '));
    return found;
  }

  not(expected: string): LakeError {
    const shown = this.value === undefined ? 'missing' : showValue(this.value);
    return new LakeError('INVALID_ARGUMENT', `${this.path} is ${shown}; expected ${expected}`, {
      context: { value: shown },
    });
  }
}
