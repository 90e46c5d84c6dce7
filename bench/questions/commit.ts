import { growCatalog } from '../../test/support/large-catalog.ts';
import { type CommitPlace, commitPlace, commitTogether, type Group, type Run } from '../lib/commit-run.ts';
import { type Contender, median } from '../lib/measure.ts';
import type { Question } from '../lib/question.ts';

type Catalog = Parameters<typeof commitPlace>[0];

/** Four milliseconds a round trip are a database in the same region. */
const near: Catalog = { kind: 'postgres', delayMs: 4 };
const here: Catalog = { kind: 'postgres', delayMs: 0 };
/** Many processes need some seconds to warm up on few cores; DuckDB makes few commits in a second. */
const seconds = { edgemere: 12, duckdb: 15 };

/**
 * What it takes to commit, alone and beside others, against DuckDB. Of many writers the time is that between commits of all of them, of one
 * the median of its own.
 */
export const commit: Question = {
  name: 'commit',
  async *ask({ only }) {
    for (const { name, of, contenders } of sets)
      if (only === undefined || only.split(',').includes(name)) yield { of: `${name}: ${of}`, contenders };
  },
};

interface Set {
  /** As `--set` names it. */
  readonly name: string;
  readonly of: string;
  readonly contenders: readonly Contender[];
}

const sets: readonly Set[] = [
  {
    name: 'one',
    of: 'one file of 100 rows, one writer, Postgres at 4 ms',
    contenders: [
      contender('edgemere', near, { client: 'edgemere' }, latency),
      contender('DuckDB', near, { client: 'duckdb' }, latency),
    ],
  },
  {
    name: 'inlined',
    of: '5 rows into the catalog, one writer, Postgres at 4 ms',
    contenders: [
      contender('edgemere', near, { client: 'edgemere', rows: 5, inlines: true }, latency),
      contender('DuckDB', near, { client: 'duckdb', rows: 5, inlines: true }, latency),
    ],
  },
  {
    name: 'processes',
    of: '16 writer processes, one table, Postgres at 4 ms',
    contenders: [
      contender('edgemere', near, { client: 'edgemere', processes: 16 }, throughput),
      contender('DuckDB', near, { client: 'duckdb', processes: 16 }, throughput),
    ],
  },
  {
    name: 'writers',
    of: '64 writers, one table, Postgres without delay',
    contenders: [
      contender('edgemere', here, { client: 'edgemere', processes: 16, writers: 4 }, throughput),
      contender('DuckDB, 32 writers', here, { client: 'duckdb', processes: 16, writers: 2 }, throughput),
      // Sixteen processes on few cores warm up most of the time.
      contender('edgemere, 2 processes', here, { client: 'edgemere', processes: 2, writers: 32 }, throughput),
      contender('DuckDB, 32 in 2 processes', here, { client: 'duckdb', processes: 2, writers: 16 }, throughput),
    ],
  },
  {
    name: 'callers',
    of: '64 callers in one process, Postgres without delay',
    contenders: [
      contender('edgemere, table.writer', here, { client: 'edgemere', callers: 64, call: 'writer' }, throughput),
      contender('edgemere, table.insert', here, { client: 'edgemere', callers: 64 }, throughput),
      contender('DuckDB, 32 writers', here, { client: 'duckdb', processes: 16, writers: 2 }, throughput),
    ],
  },
  {
    name: 'sqlite',
    of: '4 writer processes, SQLite',
    contenders: [
      contender('edgemere', { kind: 'sqlite', wal: false }, { client: 'edgemere', processes: 4 }, throughput),
      contender('edgemere, WAL', { kind: 'sqlite', wal: true }, { client: 'edgemere', processes: 4 }, throughput),
      contender('DuckDB', { kind: 'sqlite', wal: false }, { client: 'duckdb', processes: 4 }, throughput),
    ],
  },
  ...[near, here].map((catalog): Set => {
    const delay = catalog === near ? 'Postgres at 4 ms' : 'Postgres without delay';
    return {
      name: catalog === near ? 'beside' : 'beside-here',
      of: `what DuckDB commits, ${delay}`,
      contenders: [
        contender('DuckDB alone', catalog, { client: 'duckdb' }, throughput),
        beside('beside 16 callers of edgemere', catalog, { client: 'edgemere', callers: 16 }),
        beside('beside one caller of edgemere', catalog, { client: 'edgemere' }),
        beside('beside 16 processes of edgemere', catalog, { client: 'edgemere', processes: 16 }),
      ],
    };
  }),
  {
    name: 'cold',
    of: 'a fresh process to its first committed append, Postgres at 4 ms',
    contenders: [cold('edgemere', 'edgemere'), cold('DuckDB', 'duckdb')],
  },
  {
    name: 'large',
    of: 'one file of 100 rows, one writer, Postgres at 4 ms, after 100,000 files, 100,000 snapshots and 5,000 tables',
    contenders: [
      contender('edgemere', near, { client: 'edgemere' }, latency, grow),
      contender('edgemere, new lake', near, { client: 'edgemere' }, latency),
      contender('DuckDB', near, { client: 'duckdb' }, latency, grow),
    ],
  },
];

interface Summary {
  readonly millis: number;
  readonly more: Readonly<Record<string, number>>;
}

/** One group of processes, on a lake of its own. */
function contender(
  name: string,
  catalog: Catalog,
  group: Group,
  summarize: (run: Run, seconds: number, place: CommitPlace) => Summary,
  prepare?: (place: CommitPlace) => Promise<void>,
): Contender {
  return taken(name, async () => {
    await using place = await commitPlace(catalog);
    await prepare?.(place);
    const time = seconds[group.client];
    const [run] = await commitTogether(place, time, [group]);
    return summarize(run!, time, place);
  });
}

/** What DuckDB commits while others commit. */
function beside(name: string, catalog: Catalog, group: Group): Contender {
  return taken(name, async () => {
    await using place = await commitPlace(catalog);
    const time = seconds.duckdb;
    const [duck, others] = await commitTogether(place, time, [{ client: 'duckdb' }, group]);
    const { millis, more } = throughput(duck!, time);
    const theirs = throughput(others!, time).more;
    return { millis, more: { ...more, 'others/s': theirs['commits/s']!, 'others fail %': theirs['fail %']! } };
  });
}

function cold(name: string, client: Group['client']): Contender {
  let summary: Summary | undefined;
  return {
    name,
    millis: () => summary!.millis,
    more: () => summary!.more,
    async run() {
      await using place = await commitPlace(near);
      // What another left in the server's memory is there for both.
      await commitTogether(place, 0, [{ client }]);
      place.wire!.reset();
      const [run] = await commitTogether(place, 0, [{ client }]);
      const roundTrips = place.wire!.roundTrips() + place.wire!.loginRoundTrips();
      summary = { millis: run!.firstCommitMillis, more: { 'round trips': roundTrips, 'peak MiB': run!.peakMiB } };
      return undefined;
    },
  };
}

function taken(name: string, run: () => Promise<Summary>): Contender {
  let summary: Summary | undefined;
  return {
    name,
    runs: 1,
    millis: () => summary!.millis,
    more: () => summary!.more,
    async run() {
      summary = await run();
      return undefined;
    },
  };
}

async function grow(place: CommitPlace): Promise<void> {
  const { lake, wire } = place;
  const { delayMs } = wire!;
  wire!.delayMs = 0;
  await commitTogether(place, 0, [{ client: 'edgemere' }]);
  await growCatalog(lake, { tables: 5000, snapshots: 100_000, files: 100_000 });
  wire!.delayMs = delayMs;
}

/** Of one writer, which has the wire to itself. */
function latency({ millis, failures }: Run, _seconds: number, { wire }: CommitPlace): Summary {
  const all = millis.flat();
  return {
    millis: median(all),
    more: {
      'round trips': wire!.roundTrips() / all.length,
      'KB up': wire!.sentBytes() / all.length / 1000,
      'KB down': wire!.receivedBytes() / all.length / 1000,
      'fail %': (100 * failures) / (all.length + failures),
    },
  };
}

function throughput({ millis, failures }: Run, seconds: number): Summary {
  const counts = millis.map(({ length }) => length);
  const all = millis.flat().sort((a, b) => a - b);
  return {
    millis: (seconds * 1000) / all.length,
    more: {
      'commits/s': all.length / seconds,
      'fail %': (100 * failures) / Math.max(1, all.length + failures),
      p90: all[Math.floor(all.length * 0.9)] ?? Number.NaN,
      worst: all.at(-1) ?? Number.NaN,
      // What a process does for the first time takes it longer.
      'worst but firsts': millis.flatMap((taken) => taken.slice(1)).reduce((a, b) => Math.max(a, b), 0),
      'least/most': Math.min(...counts) / Math.max(...counts),
    },
  };
}
