import type { FileMetaData } from 'hyparquet';
import { DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { parquetMetadata } from 'hyparquet/src/metadata.js';
import { LakeError } from '../../errors.ts';
import type { ObjectReader } from '../../storage/object-store.ts';

/** The length of the footer and the magic number. */
const tailLength = 8;
/** Read when the footer's length is not known: enough for the footer of most files. */
const usualLength = 1 << 16;
const magic = 0x31524150;
const encryptedMagic = 0x45524150;

/** Bounds as they are: dates would lose micros, and bytes that end within a character are no text. */
export const asStored: typeof DEFAULT_PARSERS = {
  ...DEFAULT_PARSERS,
  stringFromBytes: (bytes: Uint8Array): Uint8Array => bytes,
  dateFromDays: (days: number): number => days,
  timestampFromMilliseconds: (ticks: bigint): bigint => ticks,
  timestampFromMicroseconds: (ticks: bigint): bigint => ticks,
  timestampFromNanoseconds: (ticks: bigint): bigint => ticks,
};

/** Reads a file's footer: one request when its length is known or it is of usual length, else two. */
export async function readFooter(object: ObjectReader, footerLength: number | undefined): Promise<FileMetaData> {
  const { byteLength } = object;
  if (byteLength < tailLength + 4) throw corrupt(`it has ${byteLength} bytes, too few for a Parquet file`);
  const start = Math.max(0, byteLength - (footerLength === undefined ? usualLength : footerLength + tailLength));
  let bytes = await slice(object, start, byteLength);

  const view = new DataView(bytes);
  const found = view.getUint32(view.byteLength - 4, true);
  if (found === encryptedMagic) throw new LakeError('UNSUPPORTED', 'encrypted Parquet files cannot be read yet');
  if (found !== magic) throw corrupt('it does not end as a Parquet file does: it is cut, or no Parquet file');
  const needed = view.getUint32(view.byteLength - tailLength, true) + tailLength;
  if (needed + 4 > byteLength) throw corrupt(`its footer of ${needed - tailLength} bytes is longer than the file`);
  if (needed > bytes.byteLength) bytes = await slice(object, byteLength - needed, byteLength);

  return decoding('footer', () => {
    const metadata = parquetMetadata(bytes, { geoparquet: false, parsers: asStored });
    if (!isComplete(metadata)) throw corrupt('its footer lacks what each has');
    return metadata;
  });
}

/** The decoder takes what it finds: a changed byte may be one of a field's number. */
function isComplete({ schema, row_groups: groups }: FileMetaData): boolean {
  const chunks = groups.flatMap(({ columns }) => columns.flatMap((column) => column.meta_data ?? []));
  return (
    schema.every(({ name }) => typeof name === 'string') &&
    chunks.every(({ encodings, path_in_schema: path, ...chunk }) =>
      [encodings, path, chunk.num_values, chunk.total_compressed_size, chunk.data_page_offset].every(isThere),
    )
  );
}

const isThere = (value: unknown): boolean => value !== undefined;

async function slice(object: ObjectReader, start: number, end: number): Promise<ArrayBuffer> {
  const bytes = await object.slice(start, end);
  if (bytes.byteLength !== end - start)
    throw corrupt(`bytes ${start} to ${end} were asked for, ${bytes.byteLength} bytes came`);
  return bytes;
}

/** The file is not what the catalog says, or is no whole Parquet file. */
export function corrupt(what: string, cause?: unknown): LakeError {
  return new LakeError('CORRUPT', `a data file can't be read: ${what}`, { cause });
}

/** Runs a decoder that throws errors of its own on damaged bytes. */
export function decoding<T>(part: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw damaged(part, error);
  }
}

/** As {@link decoding}, for what takes a promise. */
export function decodingLater<T>(part: string, decoded: Promise<T>): Promise<T> {
  return decoded.catch((error) => {
    throw damaged(part, error);
  });
}

function damaged(part: string, error: unknown): LakeError {
  if (error instanceof LakeError) return error;
  return corrupt(`its ${part} is damaged (${error instanceof Error ? error.message : error})`, error);
}
