import { LakeError } from '../../src/errors.ts';

export interface S3Location {
  /** Scheme and bucket as given, with the slash after them. */
  readonly root: string;
  readonly bucket: string;
  /** The rest, byte for byte. */
  readonly key: string;
}

/** Takes `s3://bucket/key` apart; the other schemes are those that DuckDB takes for the same protocol. */
export function parseLocation(location: string): S3Location {
  const [, root, bucket] = /^((?:s3|s3a|s3n|r2|gs|gcs):\/\/([^/]+)\/)/.exec(location) ?? [];
  if (root !== undefined && bucket !== undefined) return { root, bucket, key: location.slice(root.length) };
  throw new LakeError('INVALID_ARGUMENT', `${location} is not of the form s3://bucket/key`, { context: { location } });
}

/** The place of one object: its key must not be empty. */
export function parseObject(location: string): S3Location {
  const parsed = parseLocation(location);
  if (parsed.key !== '') return parsed;
  throw new LakeError('INVALID_ARGUMENT', `${location} names a bucket, not an object`, { context: { location } });
}

/** A key from a list in url encoding. Bytes that are no UTF-8 become U+FFFD: no JavaScript string could name them. */
export function decodeKey(encoded: string): string {
  const plain = encoded.replaceAll('+', ' ');
  try {
    return decodeURIComponent(plain);
  } catch {
    const bytes = plain.replace(/%([0-9a-f]{2})/gi, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    return new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)));
  }
}
