/** What TypeScript takes as a filter. Nothing here runs. */
import { type InsertRow, type Row, t, type Where } from '../../src/index.ts';

function takes<T>(_value: T): void {}

const events = {
  id: t.int64().notNull(),
  small: t.int8(),
  kind: t.varchar(),
  price: t.decimal(12, 2),
  at: t.timestamptz(),
  day: t.date(),
  raw: t.blob(),
  span: t.interval(),
  tags: t.list(t.varchar()),
  place: t.struct({ x: t.float64() }),
  doc: t.json(),
  ok: t.boolean(),
};
type In = InsertRow<typeof events>;
type Out = Row<typeof events>;

const filter: Where<In> & Where<Out> = {
  id: 5,
  small: { in: [1, 2, null] },
  kind: { like: 'a%', startsWith: 'b', not: 'c' },
  price: { gt: '1.50' },
  at: { gte: new Date(), lt: '2026-01-01T00:00:00Z' },
  day: '2026-01-01',
  raw: new Uint8Array(),
  span: { lt: { months: 1, days: 0, micros: 0n } },
  tags: { isNull: true },
  place: { isNull: false },
  doc: { eq: { a: 1 } },
  ok: true,
  or: [{ id: 1n }, { not: { id: { not: { gt: 3 } } } }, { not: [{ ok: false }] }],
};

takes<Where<In>>(filter);
takes<Where<Out>>(filter);
takes<Where>(filter);
takes<Where<In>>({ price: { in: [1.5, 2n, '3'] } });
takes<Where>({ x: 5, y: { gte: 'a', like: '%' }, and: [{ z: new Date() }], or: [] });
takes<Where<{ and: number; or: string; not: boolean }>>({
  and: 5,
  or: { like: 'a%' },
  not: [{ not: true }, { and: [{ and: { gt: 1 } }] }],
});

// @ts-expect-error no such column
takes<Where<Out>>({ idd: 5 });
// @ts-expect-error no such operator
takes<Where<Out>>({ id: { equals: 5 } });
// @ts-expect-error text for a number
takes<Where<Out>>({ id: '5' });
// @ts-expect-error NULL is asked for with isNull
takes<Where<Out>>({ kind: null });
// @ts-expect-error numbers are not text
takes<Where<Out>>({ id: { like: '5%' } });
// @ts-expect-error nested columns have only isNull
takes<Where<Out>>({ tags: { eq: ['a'] } });
// @ts-expect-error an interval goes into { eq: … }
takes<Where<Out>>({ span: { months: 1, days: 0, micros: 0n } });
// @ts-expect-error an array
takes<Where<Out>>({ or: { id: 5 } });
