import { type ErrorCode, LakeError } from '../../src/errors.ts';

/** What the error names of services, and of the SDK itself, mean where the status alone would mislead. */
const names: ReadonlyMap<string, ErrorCode> = new Map(
  Object.entries<ErrorCode>({
    AccessDenied: 'ACCESS_DENIED',
    AccessForbidden: 'ACCESS_DENIED',
    CredentialsProviderError: 'ACCESS_DENIED',
    ExpiredToken: 'ACCESS_DENIED',
    InvalidAccessKeyId: 'ACCESS_DENIED',
    InvalidToken: 'ACCESS_DENIED',
    RequestTimeTooSkewed: 'ACCESS_DENIED',
    SignatureDoesNotMatch: 'ACCESS_DENIED',
    TokenRefreshRequired: 'ACCESS_DENIED',
    NoSuchUpload: 'STORE_UNAVAILABLE',
    InternalError: 'STORE_UNAVAILABLE',
    RequestTimeout: 'STORE_UNAVAILABLE',
    ServiceUnavailable: 'STORE_UNAVAILABLE',
    SlowDown: 'STORE_UNAVAILABLE',
    NotImplemented: 'UNSUPPORTED',
  }),
);

function codeOf(name: string, status: number | undefined): ErrorCode {
  const named = names.get(name);
  if (named !== undefined) return named;
  if (status === undefined || status === 408 || status === 429) return 'STORE_UNAVAILABLE';
  if (status === 401 || status === 403) return 'ACCESS_DENIED';
  if (status === 404) return 'NOT_FOUND';
  if (status === 416) return 'CORRUPT';
  if (status === 501) return 'UNSUPPORTED';
  return status >= 500 ? 'STORE_UNAVAILABLE' : 'INVALID_ARGUMENT';
}

/** What the SDK throws, and what a bulk deletion reports for one key. */
interface S3Failure {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly $retryable?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
}

/** An error of the SDK as a LakeError; a LakeError as it is. */
export function s3Error(error: unknown, action: string, location: string): LakeError {
  if (error instanceof LakeError) return error;
  const failure = (typeof error === 'object' && error !== null ? error : { message: error }) as S3Failure;
  const name = String(failure.name ?? 'Error');
  const status = failure.$metadata?.httpStatusCode;
  const code = codeOf(name, status);
  // Without an answer and without a code of the network it may be a wrong setting, which no repetition mends.
  const passing =
    status !== undefined || names.has(name) || typeof failure.code === 'string' || failure.$retryable !== undefined;
  const retryable = code === 'STORE_UNAVAILABLE' && (passing || /Timeout|Abort|TypeError|Network/.test(name));
  const context = {
    location,
    ...(status === undefined ? {} : { status }),
    ...(name === 'Error' || name === 'Unknown' ? {} : { s3Code: name }),
  };
  const cause = describedCause(failure, name);
  if (code === 'NOT_FOUND') {
    const missing = name === 'NoSuchBucket' ? `the bucket of ${location}` : location;
    return new LakeError(code, `${missing} does not exist`, { context, cause });
  }
  const reason = cause.message === '' || cause.message === 'UnknownError' ? (status ?? name) : cause.message;
  return new LakeError(code, `could not ${action} ${location}: ${reason}${advice(name, code)}`, {
    retryable,
    context,
    cause,
  });
}

function advice(name: string, code: ErrorCode): string {
  if (name === 'PermanentRedirect' || name === 'AuthorizationHeaderMalformed') return ' (set the region of the bucket)';
  if (name === 'RequestTimeTooSkewed') return ' (set the clock)';
  return code === 'ACCESS_DENIED' ? ' (look at the credentials and at what they may do)' : '';
}

/**
 * The cause without what the SDK hangs on it: services answer a wrong signature with the request's headers, a session
 * token among them. Signed URLs and passwords in an endpoint are cut out of the text.
 */
function describedCause(failure: S3Failure, name: string): Error {
  const text = String(failure.message ?? '')
    .replace(/([?&]x-amz-[a-z-]+=)[^&\s"'<]*/gi, '$1…')
    .replace(/(\/\/)[^/@\s]*@/g, '$1');
  const cause = new Error(text);
  cause.name = name;
  const { code, $metadata } = failure;
  return Object.assign(cause, {
    ...(typeof code === 'string' ? { code } : {}),
    ...($metadata?.httpStatusCode === undefined ? {} : { status: $metadata.httpStatusCode }),
    ...($metadata?.requestId === undefined ? {} : { requestId: $metadata.requestId }),
  });
}
