/** What TypeScript knows of an error whose code was asked for. Nothing here runs. */
import { type ErrorCode, isLakeError } from '../../src/index.ts';

export function retryable(error: unknown): boolean {
  if (isLakeError(error, 'CONFLICT')) {
    const code: 'CONFLICT' = error.code;
    return code === 'CONFLICT' && error.retryable;
  }
  if (!isLakeError(error)) return false;
  const code: ErrorCode = error.code;
  // @ts-expect-error: any code may be left
  const one: 'CONFLICT' = error.code;
  return code === one;
}
