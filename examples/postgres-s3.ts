/**
 * A lake for many machines: the catalog in Postgres, the data on S3 (or R2, MinIO, …). Needs DATABASE_URL, S3_BUCKET and the
 * usual AWS_* variables; the packages postgres and @aws-sdk/client-s3 are yours to install.
 */
import { S3Client } from '@aws-sdk/client-s3';
import { openLake, t } from 'edgemere';
import { postgresCatalog } from 'edgemere/postgres';
import { s3Store } from 'edgemere/s3';
import postgres from 'postgres';

const { DATABASE_URL, S3_BUCKET } = process.env;
const sql = postgres(DATABASE_URL!, { onnotice: () => {} });
try {
  await using lake = await openLake({
    catalog: postgresCatalog({ sql, schema: 'lake' }),
    store: s3Store({ client: new S3Client({ forcePathStyle: true, requestChecksumCalculation: 'WHEN_REQUIRED' }) }),
    dataPath: `s3://${S3_BUCKET}/example/`,
  });
  const events = await lake.createTable('events', { id: t.uuid().notNull(), at: t.timestamptz().notNull() });

  // Appends never conflict with appends: each of these is a snapshot, whoever commits first.
  const rows = Array.from({ length: 4 }, () => ({ id: crypto.randomUUID(), at: new Date() }));
  await Promise.all(rows.map((row) => events.insert([row])));
  console.log((await events.scan().toArray()).length); // 4
} finally {
  await sql.end();
}
