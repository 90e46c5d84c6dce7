import { type ErrorCode, isLakeError, type LakeError } from '../errors.ts';

/**
 * One thing that every implementation of a seam must do. A case registers nothing with a test framework, so that the
 * same cases run under any of them and in any runtime: whoever runs it makes a fresh target and awaits `run`.
 *
 * @example
 * ```ts
 * import { test } from 'bun:test';
 * import { storageCases } from 'edgemere/conformance';
 * import { memoryStore } from 'edgemere/memory';
 *
 * for (const { name, run } of storageCases) {
 *   test(name, () => run({ store: memoryStore(), prefix: 'lake/', capabilities: { exactKeys: true } }));
 * }
 * ```
 */
export interface ConformanceCase<Target> {
  readonly name: string;
  /** A capability without which the case says nothing: a runner skips it for targets that do not declare it. */
  readonly requires?: string;
  /** Rejects when the target fails the case. */
  run(target: Target): Promise<void>;
}

/** What a failed case throws. */
export class CaseFailure extends Error {
  override readonly name: string = 'CaseFailure';
}

/** Throws {@link CaseFailure} unless `condition` holds. */
export function check(condition: unknown, message: string): asserts condition {
  if (!condition) throw new CaseFailure(message);
}

/**
 * Throws {@link CaseFailure} unless the two are equal in depth: primitives by `Object.is`, dates by instant, bytes by
 * content, maps and sets by entries in order, other objects by own enumerable properties. A property that is
 * `undefined` differs from one that is missing.
 */
export function equal(actual: unknown, expected: unknown, what: string = 'value'): void {
  const difference = firstDifference(actual, expected, what);
  if (difference !== undefined) throw new CaseFailure(difference);
}

/** Awaits a rejection with a `LakeError` of this code and returns it. */
export async function rejects(
  attempt: PromiseLike<unknown> | (() => unknown),
  code: ErrorCode,
  what: string = 'the call',
): Promise<LakeError> {
  const thrown = await rejection(attempt, `${what}, which should have failed with ${code},`);
  if (isLakeError(thrown, code)) return thrown;
  throw new CaseFailure(`${what} should have failed with ${code}, but threw ${describe(thrown)}`, { cause: thrown });
}

/** Awaits a rejection with exactly `reason`: what an aborted call owes its caller. */
export async function rejectsWith(
  attempt: PromiseLike<unknown> | (() => unknown),
  reason: unknown,
  what: string = 'the call',
): Promise<void> {
  const thrown = await rejection(attempt, `${what}, which should have been aborted,`);
  if (thrown === reason) return;
  throw new CaseFailure(`${what} should have rejected with signal.reason, but threw ${describe(thrown)}`, {
    cause: thrown,
  });
}

/** Everything that an async iterable yields. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const result: T[] = [];
  for await (const item of items) result.push(item);
  return result;
}

async function rejection(attempt: PromiseLike<unknown> | (() => unknown), what: string): Promise<unknown> {
  let value: unknown;
  try {
    value = await (typeof attempt === 'function' ? attempt() : attempt);
  } catch (error) {
    return error;
  }
  throw new CaseFailure(`${what} succeeded with ${describe(value)}`);
}

function firstDifference(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  const unequal = (): string => `${path} is ${describe(actual)}, expected ${describe(expected)}`;
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) {
    return unequal();
  }
  if (actual instanceof Date && expected instanceof Date) {
    return Object.is(actual.getTime(), expected.getTime()) ? undefined : unequal();
  }
  const bytes = bytesOf(actual);
  const expectedBytes = bytesOf(expected);
  if (bytes !== undefined && expectedBytes !== undefined) {
    if (bytes.length !== expectedBytes.length) {
      return `${path} has ${bytes.length} bytes, expected ${expectedBytes.length}`;
    }
    for (let i = 0; i < bytes.length; i++) {
      if (bytes[i] !== expectedBytes[i]) return `${path} differs from byte ${i} on`;
    }
    return undefined;
  }
  if (bytes !== undefined || expectedBytes !== undefined || Array.isArray(actual) !== Array.isArray(expected)) {
    return unequal();
  }
  const entries = entriesOf(actual);
  const expectedEntries = entriesOf(expected);
  if ((entries === undefined) !== (expectedEntries === undefined)) return unequal();
  if (entries !== undefined) return firstDifference(entries, expectedEntries, path);
  for (const key of Object.keys(expected)) {
    const inner = Array.isArray(expected) ? `${path}[${key}]` : `${path}.${key}`;
    if (!Object.hasOwn(actual, key)) return `${inner} is missing`;
    const difference = firstDifference(
      (actual as Record<string, unknown>)[key],
      (expected as Record<string, unknown>)[key],
      inner,
    );
    if (difference !== undefined) return difference;
  }
  const extra = Object.keys(actual).find((key) => !Object.hasOwn(expected, key));
  return extra === undefined ? undefined : `${path} has an unexpected ${JSON.stringify(extra)}`;
}

function bytesOf(value: object): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
}

function entriesOf(value: object): unknown[] | undefined {
  return value instanceof Map || value instanceof Set ? [...value] : undefined;
}

function describe(value: unknown): string {
  if (value instanceof Error) return isLakeError(value) ? `LakeError ${value.code}: ${value.message}` : `${value}`;
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (typeof value !== 'object' && typeof value !== 'string') return String(value);
  let text: string | undefined;
  try {
    text = JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? `${item}n` : item));
  } catch {
    text = undefined;
  }
  text ??= Object.prototype.toString.call(value);
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}
