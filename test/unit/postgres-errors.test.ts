import { describe, expect, test } from 'bun:test';
import { type PostgresClient, postgresCatalog } from '../../adapters/postgres.ts';
import type { CommitBatch, Snapshot } from '../../src/catalog/store.ts';
import { rejects } from '../../src/conformance/case.ts';
import { appendUnless, batchOn, newLake } from '../../src/conformance/catalog/batches.ts';
import type { ErrorCode } from '../../src/errors.ts';

const base: Snapshot = { id: 4, time: '2024-01-01 00:00:00+00', schemaVersion: 1, nextCatalogId: 2, nextFileId: 3 };
const snapshotRow = JSON.stringify([5, '2024-01-01T00:00:01-05:00', 1, 2, 4]);

type Answer = { readonly code: string } | unknown[][];

/** A client that gives these answers, one for each statement, the last one for ever; it notes what it was sent. */
function answering(...answers: Answer[]): PostgresClient & { readonly sent: string[] } {
  const sent: string[] = [];
  return {
    sent,
    unsafe(text) {
      const values = async (): Promise<unknown> => {
        const answer = answers[Math.min(sent.push(text), answers.length) - 1]!;
        if (!Array.isArray(answer)) throw Object.assign(new Error('from the server'), answer);
        // A message of several statements has several results.
        return text.startsWith('SELECT pg_advisory_xact_lock') ? [[['']], answer] : answer;
      };
      // biome-ignore lint/suspicious/noThenProperty: a query is sent when it is awaited.
      return { values, then: (...args) => values().then(...args) };
    },
    end: async () => {},
  };
}

const commit = (client: PostgresClient, batch: CommitBatch = appendUnless(base, 1)): Promise<unknown> =>
  postgresCatalog({ sql: client }).commit(batch);

describe('an error is told by its code', () => {
  const cases: [code: string, expected: ErrorCode, retryable: boolean][] = [
    ['ECONNREFUSED', 'CATALOG_UNAVAILABLE', true],
    ['CONNECT_TIMEOUT', 'CATALOG_UNAVAILABLE', true],
    ['CONNECTION_ENDED', 'CATALOG_UNAVAILABLE', true],
    ['53300', 'CATALOG_UNAVAILABLE', true],
    ['57P03', 'CATALOG_UNAVAILABLE', true],
    ['57014', 'CATALOG_UNAVAILABLE', true],
    ['55P03', 'CATALOG_UNAVAILABLE', true],
    ['28P01', 'ACCESS_DENIED', false],
    ['42501', 'ACCESS_DENIED', false],
    ['25006', 'ACCESS_DENIED', false],
    ['3D000', 'NOT_FOUND', false],
    ['23505', 'CORRUPT', false],
    ['22P02', 'CORRUPT', false],
    ['42804', 'CORRUPT', false],
  ];
  for (const [code, expected, retryable] of cases)
    test(`${code}: ${expected}`, async () => {
      const client = answering({ code });
      expect((await rejects(commit(client), expected, 'commit')).retryable).toBe(retryable);
      expect(client.sent).toHaveLength(1);
      await rejects(postgresCatalog({ sql: answering({ code }) }).readHead(), expected, 'readHead');
    });

  test('one without a code is passed on as it is', async () => {
    const bug = new TypeError('a bug');
    const client: PostgresClient = {
      unsafe: () => {
        throw bug;
      },
      end: async () => {},
    };
    expect(await commit(client).catch((error: unknown) => error)).toBe(bug);
  });
});

describe('a commit whose answer was lost', () => {
  const found = [
    ['id', '[5]'],
    ['ducklake_snapshot', snapshotRow],
  ];
  for (const code of ['CONNECTION_CLOSED', 'ECONNRESET', '08006', '08P01', '57P01'])
    test(`(${code}) and that is found was committed`, async () => {
      const client = answering({ code }, found);
      expect(await commit(client)).toEqual({
        status: 'committed',
        snapshot: { id: 5, time: '2024-01-01 05:00:01+00', schemaVersion: 1, nextCatalogId: 2, nextFileId: 4 },
      });
      expect(client.sent).toHaveLength(2);
    });

  test('is looked for again when it was not found, or could not be looked for', async () => {
    expect(await commit(answering({ code: 'CONNECTION_CLOSED' }, [], found))).toMatchObject({ status: 'committed' });
    const again = answering({ code: 'CONNECTION_CLOSED' }, { code: 'ECONNREFUSED' }, found);
    expect(await commit(again)).toMatchObject({ status: 'committed' });
  });

  test('is COMMIT_UNKNOWN in the end', async () => {
    for (const answers of [[[]], [{ code: 'ECONNREFUSED' }]])
      await rejects(commit(answering({ code: 'CONNECTION_CLOSED' }, ...answers)), 'COMMIT_UNKNOWN');
  });

  test('because the server ended it was not committed when it is not found', async () => {
    expect((await rejects(commit(answering({ code: '57P01' }, [])), 'CATALOG_UNAVAILABLE')).retryable).toBe(true);
    await rejects(commit(answering({ code: '57P01' }, { code: 'ECONNREFUSED' })), 'COMMIT_UNKNOWN');
  });
});

describe('a race', () => {
  const raced: Answer[] = [[[null]], { code: '40001' }, { code: '40P01' }];
  test('that an append lost is run again', async () => {
    for (const answer of raced) {
      const client = answering(answer, [[snapshotRow]]);
      expect(await commit(client)).toMatchObject({ status: 'committed' });
      expect(client.sent.map((text) => text.startsWith('SELECT pg_advisory_xact_lock'))).toEqual([true, true]);
    }
  });

  test('that is lost on and on ends as superseded', async () => {
    const client = answering([[null]]);
    expect(await commit(client)).toEqual({ status: 'superseded' });
    expect(client.sent).toHaveLength(20);
  });

  test('that an exact batch lost supersedes it', async () => {
    for (const answer of raced) {
      const client = answering(answer, [[snapshotRow]]);
      expect(await commit(client, batchOn(base, {}))).toEqual({ status: 'superseded' });
      expect(client.sent).toHaveLength(1);
    }
  });
});

describe('prepared statements', () => {
  /** As far as `answering` goes; a DO in front is a result without rows. */
  function preparing(...answers: Answer[]): PostgresClient & { readonly sent: string[] } {
    const client = answering(...answers);
    const sent: string[] = [];
    const unsafe: PostgresClient['unsafe'] = (text) => {
      sent.push(text);
      const query = client.unsafe(text.replace(/^DO .*;\nSELECT pg_adv/s, 'SELECT pg_adv'));
      const values = async (): Promise<unknown> => {
        const results = (await query.values()) as unknown[];
        return text.startsWith('DO ') ? [[], ...results] : results;
      };
      // biome-ignore lint/suspicious/noThenProperty: a query is sent when it is awaited.
      return { values, then: (...args) => values().then(...args) };
    };
    return { ...client, sent, unsafe, options: { prepare: true } };
  }
  const kindOf = (text: string): string =>
    `${text.startsWith('DO ') ? 'prepares, ' : ''}${/\nEXECUTE edgemere_[0-9a-f]{32}\(/.test(text) ? 'executes' : 'plans'}`;

  test('are made with the second commit, and once', async () => {
    const client = preparing([[snapshotRow]]);
    const catalog = postgresCatalog({ sql: client });
    for (let round = 0; round < 4; round++)
      expect(await catalog.commit(appendUnless(base, 1))).toMatchObject({ status: 'committed' });
    expect(client.sent.map(kindOf)).toEqual(['plans', 'prepares, executes', 'executes', 'executes']);
  });

  test('are made again for a connection that does not know them, and no other error is taken for that', async () => {
    const done: Answer = [[snapshotRow]];
    const client = preparing(done, done, { code: '26000' }, done, { code: '53300' }, done);
    const catalog = postgresCatalog({ sql: client });
    for (let round = 0; round < 3; round++)
      expect(await catalog.commit(appendUnless(base, 1))).toMatchObject({ status: 'committed' });
    await rejects(catalog.commit(appendUnless(base, 1)), 'CATALOG_UNAVAILABLE');
    expect(await catalog.commit(appendUnless(base, 1))).toMatchObject({ status: 'committed' });
    expect(client.sent.map(kindOf)).toEqual([
      'plans',
      'prepares, executes',
      'executes',
      'prepares, executes',
      'executes',
      'executes',
    ]);
  });

  test('of very many shapes are not: those that come late are planned each time', async () => {
    const client = preparing([[snapshotRow]]);
    const catalog = postgresCatalog({ sql: client });
    const shaped = (n: number): CommitBatch => ({
      ...appendUnless(base, 1),
      ops: [{ kind: 'deleteInlined', name: `ducklake_inlined_data_${n}_1`, upTo: 1 }],
    });
    for (let n = 0; n < 35; n++) await catalog.commit(shaped(n));
    await catalog.commit(shaped(5));
    const kinds = client.sent.map(kindOf);
    expect(kinds.slice(32, 36)).toEqual(['prepares, executes', 'plans', 'plans', 'executes']);
  });
});

test('two who initialize at once: what DuckDB made meanwhile is there the second time', async () => {
  const client = answering({ code: '42P07' }, [[['']], [['false']], []]);
  // Not a commit's message, so that its results are given as they are.
  const plain: PostgresClient = { ...client, unsafe: (text) => client.unsafe(` ${text}`) };
  expect(await postgresCatalog({ sql: plain }).initialize(newLake())).toBe(false);
});

test('nothing is sent before the first call, and nothing after disposal', async () => {
  const client = answering([]);
  const catalog = postgresCatalog({ sql: client, schema: 'x' });
  expect(client.sent).toEqual([]);
  await catalog[Symbol.asyncDispose]();
  await rejects(catalog.commit(appendUnless(base, 1)), 'CLOSED');
  expect(client.sent).toEqual([]);
});
