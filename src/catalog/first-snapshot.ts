import { LakeError, showValue } from '../errors.ts';
import type { HistoryRequest } from './table-history.ts';

/** The error for a range whose first snapshot isn't there. */
export function noFirstSnapshot(from: HistoryRequest['from']): LakeError {
  if ('time' in from)
    return new LakeError('NOT_FOUND', `the lake has no snapshot from ${showValue(from.time)} on: it had none since`);
  return new LakeError('NOT_FOUND', `the lake has no snapshot ${from.snapshot}: it was expired, or is yet to come`, {
    context: { snapshotId: from.snapshot },
  });
}
