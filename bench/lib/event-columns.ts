import { type TableSchema, t } from '../../src/index.ts';

/** A table that takes the rows of the data set `events`. */
export const eventColumns: TableSchema = {
  id: t.int64(),
  ts: t.timestamp(),
  user: t.varchar(),
  event: t.varchar(),
  url: t.varchar(),
  amount: t.float64(),
  qty: t.int32(),
  ok: t.boolean(),
};
