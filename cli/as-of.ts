import type { Lake } from 'edgemere';
import { CommandError, UsageError } from './errors.ts';

const timePattern =
  /^(\d{4}-\d\d-\d\d)(?:[ Tt](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,6})\d*)?)?)?\s*(Z|z|[+-]\d\d(?::?\d\d)?)?$/;

/** Microseconds since 1970 of a time as people write it; in UTC unless it says its offset. */
export function parseInstant(text: string): bigint {
  const found = timePattern.exec(text);
  if (found) {
    const [, day, clock = '00:00', seconds = '00', fraction = '', zone = 'Z'] = found;
    const offset = /^z$/i.test(zone)
      ? 'Z'
      : zone.replace(/^(...):?(\d\d)?$/, (_all, hours, minutes) => `${hours}:${minutes ?? '00'}`);
    const millis = Date.parse(`${day}T${clock}:${seconds}${offset}`);
    if (!Number.isNaN(millis)) return BigInt(millis) * 1000n + BigInt(fraction.padEnd(6, '0'));
  }
  throw new UsageError(
    `--as-of ${text}: write a snapshot's id, or a time as 2024-01-15T12:30:00Z (in UTC unless it says its offset)`,
  );
}

/**
 * The snapshot that `--as-of` means: an id, or the newest one that is not younger than a time. Snapshots have microseconds, which
 * a Date can't tell apart, so they are compared here.
 */
export async function snapshotAsOf(lake: Lake, text: string): Promise<{ snapshot: number }> {
  if (/^\d+$/.test(text)) {
    const id = Number(text);
    if (Number.isSafeInteger(id)) return { snapshot: id };
  }
  const instant = parseInstant(text);
  let snapshot: number | undefined;
  for await (const { id, time } of lake.snapshots()) if (time.micros <= instant) snapshot = id;
  if (snapshot === undefined)
    throw new CommandError(`the lake has no snapshot as old as ${text}: \`edgemere snapshots\` lists them`);
  return { snapshot };
}
