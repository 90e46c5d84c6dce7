import { LakeError } from '../../errors.ts';
import { type ColumnType, typeText } from '../types.ts';
import { blobCodec } from './blob.ts';
import { booleanCodec } from './boolean.ts';
import { dateCodec } from './date.ts';
import { decimalCodec } from './decimal.ts';
import { float32Codec, float64Codec } from './float.ts';
import { bigIntegerCodec, smallIntegerCodec } from './integer.ts';
import { intervalCodec } from './interval.ts';
import { jsonCodec } from './json.ts';
import { varcharCodec } from './text.ts';
import { timeCodec, timetzCodec } from './time.ts';
import { timestampCodec } from './timestamp-codec.ts';
import { uuidCodec } from './uuid.ts';
import type { Physical, ValueCodec } from './value-codec.ts';

export { type Physical, type ValueCodec, ValueError } from './value-codec.ts';

/**
 * The codec of a type. UNSUPPORTED for types that this version can't write, and for nested ones, whose leaves have codecs.
 *
 * @example
 * ```ts
 * const codec = codecFor({ name: 'decimal', precision: 5, scale: 2 });
 * codec.text(codec.encode('1.5')); // '1.50'
 * ```
 */
export function codecFor(type: ColumnType): ValueCodec {
  const codec: unknown = type.name === 'decimal' ? decimalCodec(type.precision, type.scale) : codecs.get(type.name);
  if (codec === undefined)
    throw new LakeError('UNSUPPORTED', `values of type ${typeText(type)} can't be read or written by this version`);
  // Each codec is only handed what it stored itself.
  return codec as ValueCodec<Physical>;
}

const codecs: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['boolean', booleanCodec],
  ['int8', smallIntegerCodec(8, true)],
  ['int16', smallIntegerCodec(16, true)],
  ['int32', smallIntegerCodec(32, true)],
  ['int64', bigIntegerCodec(64, true)],
  ['int128', bigIntegerCodec(128, true)],
  ['uint8', smallIntegerCodec(8, false)],
  ['uint16', smallIntegerCodec(16, false)],
  ['uint32', smallIntegerCodec(32, false)],
  ['uint64', bigIntegerCodec(64, false)],
  ['uint128', bigIntegerCodec(128, false)],
  ['float32', float32Codec],
  ['float64', float64Codec],
  ['varchar', varcharCodec],
  ['json', jsonCodec],
  ['blob', blobCodec],
  ['uuid', uuidCodec],
  ['date', dateCodec],
  ['time', timeCodec],
  ['timetz', timetzCodec],
  ['timestamp', timestampCodec('us')],
  ['timestamptz', timestampCodec('us', true)],
  ['timestamp_s', timestampCodec('s')],
  ['timestamp_ms', timestampCodec('ms')],
  ['timestamp_ns', timestampCodec('ns')],
  ['interval', intervalCodec],
]);
