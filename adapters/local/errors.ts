import { type ErrorCode, LakeError } from '../../src/errors.ts';

const codes: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'NOT_FOUND',
  ENOTDIR: 'NOT_FOUND',
  EISDIR: 'NOT_FOUND',
  EACCES: 'ACCESS_DENIED',
  EPERM: 'ACCESS_DENIED',
  EROFS: 'ACCESS_DENIED',
  ELOOP: 'INVALID_ARGUMENT',
  EINVAL: 'INVALID_ARGUMENT',
  ENAMETOOLONG: 'INVALID_ARGUMENT',
  ERR_INVALID_ARG_VALUE: 'INVALID_ARGUMENT',
};

/** Where a file should be made, and a folder is in the way, or a file where a folder should be. */
const obstructed: ReadonlySet<string> = new Set(['EISDIR', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY']);

/** Node's code of a file system's error. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** A file system's error as a LakeError; a LakeError as it is. */
export function localError(error: unknown, action: 'read' | 'write' | 'delete' | 'list', location: string): LakeError {
  if (error instanceof LakeError) return error;
  const fsCode = codeOf(error);
  const options = { context: { location, ...(fsCode === undefined ? {} : { fsCode }) }, cause: error };
  if (action === 'write' && fsCode !== undefined && obstructed.has(fsCode)) {
    return new LakeError('INVALID_ARGUMENT', `could not write ${location}: a file or folder is in the way`, options);
  }
  const code = codes[fsCode ?? ''];
  if (code === 'NOT_FOUND' && action === 'write')
    return new LakeError(code, `could not write ${location}: its folder is missing, and can't be made`, options);
  if (code === 'NOT_FOUND') return new LakeError(code, `${location} does not exist`, options);
  const reason = error instanceof Error ? error.message : String(error);
  const message = `could not ${action} ${location}: ${reason}`;
  return code === undefined
    ? new LakeError('STORE_UNAVAILABLE', message, { ...options, retryable: true })
    : new LakeError(code, message, options);
}
