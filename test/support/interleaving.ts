import { firstConflict, type OwnChange } from '../../src/catalog/conflicts.ts';
import type { Change } from '../../src/spec/changes.ts';

/** `schema.name`. */
export type Ref = `${string}.${string}`;

/** One step of a transaction. */
export type Op =
  | { readonly kind: 'insert'; readonly table: Ref; readonly id: number }
  | { readonly kind: 'create' | 'drop'; readonly table: Ref }
  | { readonly kind: 'createSchema' | 'dropSchema'; readonly schema: string };

export interface Program {
  readonly name: string;
  readonly ops: readonly Op[];
  /** Whether it is one call on the lake, outside any transaction. */
  readonly isCall?: boolean;
}

/** What somebody sees: rows by table, and schemas. */
export interface Seen {
  readonly schemas: readonly string[];
  readonly tables: Readonly<Record<string, readonly number[]>>;
}

/** Somebody who runs a program step by step. An operation that can't be done rejects. */
export interface Participant {
  begin(): Promise<void>;
  run(op: Op): Promise<void>;
  see(): Promise<Seen>;
  /** False: the commit conflicted. */
  commit(): Promise<boolean>;
  abort(): Promise<void>;
  /** One operation as a call of its own. */
  call(op: Op): Promise<void>;
}

export const parts = (ref: Ref): { readonly schema: string; readonly name: string } => {
  const [schema, name] = ref.split('.') as [string, string];
  return { schema, name };
};

interface Table {
  readonly id: number;
  rows: readonly number[];
}

class World {
  readonly schemas: Map<string, number>;
  readonly tables: Map<Ref, Table>;

  constructor(from?: World) {
    this.schemas = new Map(from?.schemas);
    this.tables = new Map([...(from?.tables ?? [])].map(([ref, table]) => [ref, { ...table }]));
  }

  seen(): Seen {
    const refs = [...this.tables.keys()].sort();
    return {
      schemas: [...this.schemas.keys()].sort(),
      tables: Object.fromEntries(refs.map((ref) => [ref, this.tables.get(ref)!.rows.toSorted((a, b) => a - b)])),
    };
  }
}

/** A lake as it ought to be: transactions see what was committed when they began; who commits last is judged by the matrix. */
export class ModelLake {
  head: World = new World();
  readonly log: Change[][] = [];
  #lastId = 0;

  constructor() {
    this.head.schemas.set('main', this.newId());
  }

  newId(): number {
    return ++this.#lastId;
  }

  begin(): ModelTransaction {
    return new ModelTransaction(this);
  }
}

/** A change to something that is impossible: it doesn't exist, or exists already. */
export class Impossible extends Error {}

export class ModelTransaction {
  readonly #lake: ModelLake;
  readonly #base: number;
  readonly #own: World;
  readonly #droppedTables: { readonly ref: Ref; readonly id: number }[] = [];
  readonly #droppedSchemas: { readonly name: string; readonly id: number }[] = [];
  #createdTables: { readonly ref: Ref; readonly table: Table }[] = [];
  #createdSchemas: { readonly name: string; readonly id: number }[] = [];
  #inserts: { readonly tableId: number; readonly id: number }[] = [];

  constructor(lake: ModelLake) {
    this.#lake = lake;
    this.#base = lake.log.length;
    this.#own = new World(lake.head);
  }

  seen(): Seen {
    return this.#own.seen();
  }

  run(op: Op): void {
    const { schemas, tables } = this.#own;
    switch (op.kind) {
      case 'createSchema': {
        if (schemas.has(op.schema)) throw new Impossible(`schema ${op.schema} exists`);
        const created = { name: op.schema, id: this.#lake.newId() };
        schemas.set(created.name, created.id);
        this.#createdSchemas.push(created);
        return;
      }
      case 'dropSchema': {
        const id = schemas.get(op.schema);
        const isEmpty = ![...tables.keys()].some((ref) => parts(ref).schema === op.schema);
        if (id === undefined || !isEmpty) throw new Impossible(`schema ${op.schema} is not there, or not empty`);
        schemas.delete(op.schema);
        const isOwn = this.#createdSchemas.some((created) => created.id === id);
        if (isOwn) this.#createdSchemas = this.#createdSchemas.filter((created) => created.id !== id);
        else this.#droppedSchemas.push({ name: op.schema, id });
        return;
      }
      case 'create': {
        if (tables.has(op.table) || !schemas.has(parts(op.table).schema))
          throw new Impossible(`can't create ${op.table}`);
        const created = { ref: op.table, table: { id: this.#lake.newId(), rows: [] } };
        tables.set(created.ref, created.table);
        this.#createdTables.push(created);
        return;
      }
    }
    const table = tables.get(op.table);
    if (!table) throw new Impossible(`table ${op.table} is not there`);
    if (op.kind === 'insert') {
      table.rows = [...table.rows, op.id];
      if (!this.#createdTables.some((created) => created.table === table))
        this.#inserts.push({ tableId: table.id, id: op.id });
      return;
    }
    tables.delete(op.table);
    this.#inserts = this.#inserts.filter(({ tableId }) => tableId !== table.id);
    const isOwn = this.#createdTables.some((created) => created.table === table);
    if (isOwn) this.#createdTables = this.#createdTables.filter((created) => created.table !== table);
    else this.#droppedTables.push({ ref: op.table, id: table.id });
  }

  /** Whether the matrix lets it. */
  commit(): boolean {
    const own = this.#changes();
    if (own.length === 0) return true;
    if (firstConflict(own, { changes: this.#lake.log.slice(this.#base).flat() })) return false;
    const { schemas, tables } = this.#lake.head;
    for (const { ref } of this.#droppedTables) tables.delete(ref);
    for (const { name } of this.#droppedSchemas) schemas.delete(name);
    for (const { name, id } of this.#createdSchemas) schemas.set(name, id);
    for (const { ref, table } of this.#createdTables) tables.set(ref, table);
    for (const { tableId, id } of this.#inserts) {
      const table = [...tables.values()].find((one) => one.id === tableId)!;
      table.rows = [...table.rows, id];
    }
    this.#lake.log.push(own as Change[]);
    return true;
  }

  #changes(): OwnChange[] {
    const schemaIdOf = (ref: Ref): number => this.#own.schemas.get(parts(ref).schema)!;
    return [
      ...this.#droppedSchemas.map(({ name, id }): OwnChange => ({ kind: 'dropped_schema', id, name })),
      ...this.#droppedTables.map(({ id }): OwnChange => ({ kind: 'dropped_table', id })),
      ...this.#createdSchemas.map(({ name }): OwnChange => ({ kind: 'created_schema', name })),
      ...this.#createdTables.map(
        ({ ref }): OwnChange => ({ kind: 'created_table', ...parts(ref), schemaId: schemaIdOf(ref) }),
      ),
      ...new Set(this.#inserts.map(({ tableId }) => tableId)),
    ].map((change) => (typeof change === 'number' ? { kind: 'inserted_into_table', id: change } : change));
  }
}

/** What is there before the programs start: schemas `main` and `s`, table `main.a` with row 1. */
export const start: readonly Op[] = [
  { kind: 'createSchema', schema: 's' },
  { kind: 'create', table: 'main.a' },
  { kind: 'insert', table: 'main.a', id: 1 },
];

/** All orders in which steps can follow each other: each number names whose step is next. */
export function* orders(stepCounts: readonly number[]): Generator<readonly number[]> {
  if (stepCounts.every((count) => count === 0)) yield [];
  for (const [who, count] of stepCounts.entries())
    if (count > 0)
      for (const rest of orders(stepCounts.map((left, i) => (i === who ? left - 1 : left)))) yield [who, ...rest];
}

export const stepCount = ({ ops, isCall }: Program): number => (isCall ? ops.length : ops.length + 2);

export interface Interleaved {
  readonly programs: readonly Program[];
  readonly participants: readonly Participant[];
  readonly order: readonly number[];
  /** The lake after `start`. */
  readonly model: ModelLake;
}

/** The start of a lake, as the model has it. */
export function startedModel(): ModelLake {
  const model = new ModelLake();
  for (const op of start) {
    const tx = model.begin();
    tx.run(op);
    tx.commit();
  }
  return model;
}

/** Runs programs in an order, on a lake and in the model. Throws when somebody sees or gets something else than in the model. */
export async function interleave({ programs, participants, order, model }: Interleaved): Promise<void> {
  const told: string[] = [];
  const transactions: (ModelTransaction | 'over' | undefined)[] = programs.map(() => undefined);
  const done = programs.map(() => 0);
  const check = (what: string, actual: unknown, expected: unknown): void => {
    const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (found !== wanted) throw new Error(`${what}\nis        ${found}\nshould be ${wanted}\nafter ${told.join('; ')}`);
  };
  for (const who of order) {
    const { ops, isCall } = programs[who]!;
    const participant = participants[who]!;
    const step = done[who]!++;
    const tx = transactions[who];
    if (tx === 'over') continue;
    if (isCall) {
      const op = ops[step]!;
      told.push(`${who} calls ${JSON.stringify(op)}`);
      const call = model.begin();
      const expected = isPossible(() => call.run(op)) && call.commit();
      check('the call succeeds', await succeeds(participant.call(op)), expected);
    } else if (tx === undefined) {
      told.push(`${who} begins`);
      transactions[who] = model.begin();
      await participant.begin();
    } else if (step <= ops.length) {
      const op = ops[step - 1]!;
      told.push(`${who} does ${JSON.stringify(op)}`);
      const isDone = isPossible(() => tx.run(op));
      check('the operation succeeds', await succeeds(participant.run(op)), isDone);
      if (isDone) check(`what ${who} sees`, await participant.see(), tx.seen());
      else {
        await participant.abort();
        transactions[who] = 'over';
      }
    } else {
      told.push(`${who} commits`);
      check('the commit succeeds', await participant.commit(), tx.commit());
      transactions[who] = 'over';
    }
  }
}

function isPossible(run: () => void): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if (error instanceof Impossible) return false;
    throw error;
  }
}

const refusals: readonly unknown[] = ['NOT_FOUND', 'ALREADY_EXISTS', 'INVALID_ARGUMENT', 'CONFLICT'];

/** False when it was refused; other errors are thrown on. */
async function succeeds(call: Promise<void>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (refusals.includes((error as { readonly code?: unknown }).code)) return false;
    throw error;
  }
}
