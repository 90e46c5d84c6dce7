import type { Lake } from 'edgemere';
import { CommandError, UsageError } from './errors.ts';

const timePattern =
  /^(\d{4}-\d\d-\d\d)(?:[ Tt](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,6})\d*)?)?)?\s*(Z|z|[+-]\d\d(?::?\d\d)?)?$/;

/** Microseconds since 1970 of a time as people write it, in an option; in UTC unless it says its offset. */
export function parseInstant(text: string, option: string): bigint {
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
    `${option} ${text}: write a snapshot's id, or a time as 2024-01-15T12:30:00Z (in UTC unless it says its offset)`,
  );
}

/**
 * The snapshot that an option means: an id, or the newest one that is not younger than a time. Snapshots have microseconds, which
 * a Date can't tell apart, so they are compared here.
 */
export async function snapshotAsOf(lake: Lake, text: string, option: string): Promise<{ snapshot: number }> {
  const id = idOf(text);
  if (id !== undefined) return { snapshot: id };
  const instant = parseInstant(text, option);
  let snapshot: number | undefined;
  for await (const { id, time } of lake.snapshots()) if (time.micros <= instant) snapshot = id;
  if (snapshot === undefined)
    throw new CommandError(`the lake has no snapshot as old as ${text}: \`edgemere snapshots\` lists them`);
  return { snapshot };
}

/** The same for the begin of a range: an id, or the oldest snapshot that is not older than a time. */
export async function snapshotSince(lake: Lake, text: string, option: string): Promise<number> {
  const id = idOf(text);
  if (id !== undefined) return id;
  const instant = parseInstant(text, option);
  let first: { readonly id: number; readonly micros: bigint } | undefined;
  for await (const { id, time } of lake.snapshots())
    if (time.micros >= instant && (first === undefined || time.micros < first.micros))
      first = { id, micros: time.micros };
  if (first === undefined)
    throw new CommandError(`the lake has no snapshot since ${text}: \`edgemere snapshots\` lists them`);
  return first.id;
}

function idOf(text: string): number | undefined {
  const id = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(id) ? id : undefined;
}
