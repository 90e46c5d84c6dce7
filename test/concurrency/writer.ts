/**
 * Writers in a process of their own: `bun writer.ts TASK` with a {@link WriterTask} as JSON. Prints `ready`, waits for a line on its standard
 * input so that all processes begin together, and prints a {@link WriterLine} for each commit, and one at a writer's end.
 */
import { once } from 'node:events';
import { localStore } from '../../adapters/local.ts';
import { openLake } from '../../src/index.ts';
import { catalogAt, type LakeAddress } from '../support/lakes.ts';
import { watchedStore } from '../support/watched-store.ts';

export interface WriterTask {
  readonly address: LakeAddress;
  /** Each is a client with a connection of its own. None: the process only opens the lake. */
  readonly writers: readonly number[];
  readonly commits: number;
  readonly rows: number;
}

export interface WriterLine {
  readonly writer: number;
  /** `end`: it is done, with all the locations that it ever began. */
  readonly event: 'commit' | 'end' | 'error';
  readonly snapshotId?: number | undefined;
  readonly firstId?: number;
  readonly locations: readonly string[];
  readonly error?: string;
}

/** What a writer writes in its n-th commit. */
export function rowsOf(writer: number, n: number, count: number): { id: number; writer: number; v: string }[] {
  const firstId = (writer * 1000 + n) * 1000;
  return Array.from({ length: count }, (_, i) => ({ id: firstId + i, writer, v: `${writer}-${n}-${i}` }));
}

/** Appends, telling of each commit. */
export async function write(task: WriterTask, writer: number, say: (line: WriterLine) => void): Promise<void> {
  const { store, created } = watchedStore(localStore());
  const { catalog, close } = catalogAt(task.address);
  try {
    await using lake = await openLake({ dataInliningRowLimit: 0, catalog, store, dataPath: task.address.dataPath });
    const events = lake.table('events');
    for (let n = 0; n < task.commits; n++) {
      const rows = rowsOf(writer, n, task.rows);
      const { snapshotId, files } = await events.insert(rows);
      const locations = files.map(({ location }) => location);
      say({ writer, event: 'commit', snapshotId, firstId: rows[0]!.id, locations });
    }
    say({ writer, event: 'end', locations: created });
  } catch (error) {
    say({ writer, event: 'error', locations: created, error: String(error) });
  } finally {
    await close();
  }
}

if (import.meta.main) {
  const task: WriterTask = JSON.parse(process.argv[2]!);
  const begin = once(process.stdin, 'data');
  process.stdout.write('ready\n');
  await begin;
  await Promise.all(
    task.writers.map((writer) => write(task, writer, (line) => process.stdout.write(`${JSON.stringify(line)}\n`))),
  );
  process.exit(0);
}
