import { checkOptions, LakeError, type OptionKinds, showValue } from '../errors.ts';
import type { FilePart, ScanPart } from './parts.ts';
import { type PlannedScan, type PlanRequest, planScan } from './plan.ts';
import { type ScanTask, taskMaker } from './task.ts';

export interface PlanOptions {
  /** Data files of more bytes become several tasks, each of some of the row groups. 128 MiB by default. */
  readonly maxByteLength?: number | undefined;
}

/** What a scan reads, as a value. */
export interface ScanPlan {
  readonly snapshotId: number;
  /** Each can be read by itself, anywhere: see `readTask`. Their rows, one task after the other, are those of the scan. */
  readonly tasks: readonly ScanTask[];
  /** The scan's. No task gives more rows; whoever joins the rows of several takes the first so many. */
  readonly limit: number | null;
}

const planOptions: OptionKinds<PlanOptions> = { maxByteLength: 'any' };

const usualMaxByteLength = 1 << 27;

/** Plans a scan as tasks. */
export async function planTasks(request: PlanRequest, options: PlanOptions): Promise<ScanPlan> {
  checkOptions(options, planOptions);
  const { maxByteLength = usualMaxByteLength } = options;
  if (!Number.isSafeInteger(maxByteLength) || maxByteLength < 1)
    throw new LakeError(
      'INVALID_ARGUMENT',
      `maxByteLength is ${showValue(maxByteLength)}; it must be a whole number from 1`,
    );
  const planned = await planScan(request);
  const { read } = planned;
  const { snapshotId, limit } = read;
  const taskOf = taskMaker(read);
  const tasks: ScanTask[] = [];
  for (const part of neededParts(planned))
    for (const piece of part.kind === 'file' ? split(part, maxByteLength) : [part]) tasks.push(taskOf(piece));
  return { snapshotId, tasks, limit: limit === Number.POSITIVE_INFINITY ? null : limit };
}

/** Up to where there are enough rows for certain. */
export function* neededParts({ read: { limit, where }, parts }: PlannedScan): Generator<ScanPart> {
  let certain = 0;
  for (let i = 0; i < parts.count && certain < limit; i++) {
    const part = parts.part(i);
    if (!where) certain += certainRows(part);
    yield part;
  }
}

/** How many rows there are at least, by what is known without reading. */
function certainRows(part: ScanPart): number {
  if (part.kind === 'inlined') return part.rows.length;
  const { rowCount, isPartial, deletes } = part;
  return isPartial || deletes.files.length > 0 ? 0 : Math.max(0, (rowCount ?? 0) - deletes.positions.length);
}

function split(part: FilePart, maxByteLength: number): FilePart[] {
  const { byteLength } = part;
  if (byteLength === null || byteLength <= maxByteLength) return [part];
  const count = Math.ceil(byteLength / maxByteLength);
  const length = Math.ceil(byteLength / count);
  return Array.from({ length: count }, (_, i) => ({
    ...part,
    range: { start: i * length, end: Math.min(byteLength, (i + 1) * length) },
  }));
}
