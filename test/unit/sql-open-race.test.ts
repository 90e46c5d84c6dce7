import { expect, test } from 'bun:test';
import type { PostgresClient } from '../../adapters/postgres/client.ts';
import { postgresCatalog } from '../../adapters/postgres.ts';
import { isLakeError } from '../../src/index.ts';

/** A client that answers with these, in turn: rows, or an error with a SQLSTATE. */
function clientOf(answers: readonly (string | unknown[][])[]): { client: PostgresClient; asked(): number } {
  let asked = 0;
  const unsafe = () => ({
    async values() {
      const answer = answers[asked++];
      if (typeof answer === 'string') throw Object.assign(new Error('no'), { code: answer });
      return answer ?? [];
    },
  });
  return { client: { unsafe } as unknown as PostgresClient, asked: () => asked };
}

const version = [['ducklake_metadata', '1.0']];

test('a lake that is made while somebody asks for it is found, not taken for a damaged one', async () => {
  const { client, asked } = clientOf(['42P01', version, []]);
  await postgresCatalog({ sql: client })
    .readCatalog()
    .catch((error) => expect(isLakeError(error, 'CORRUPT') && /lacks a table/.test(error.message)).toBe(false));
  expect(asked()).toBe(3);
});

test('… and one that lacks a table for good is damaged', async () => {
  const { client } = clientOf(['42P01', version, '42P01', version]);
  const error = await postgresCatalog({ sql: client })
    .readCatalog()
    .catch((reason) => reason);
  expect(isLakeError(error, 'CORRUPT')).toBe(true);
});
