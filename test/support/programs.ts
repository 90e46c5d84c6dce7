import type { Op, Program, Ref } from './interleaving.ts';

let id = 1;
const insert = (table: Ref): Op => ({ kind: 'insert', table, id: ++id });
const create = (table: Ref): Op => ({ kind: 'create', table });
const drop = (table: Ref): Op => ({ kind: 'drop', table });
const createSchema = (schema: string): Op => ({ kind: 'createSchema', schema });
const dropSchema = (schema: string): Op => ({ kind: 'dropSchema', schema });

const program = (name: string, ...ops: readonly Op[]): Program => ({ name, ops });
const call = (name: string, ...ops: readonly Op[]): Program => ({ name, ops, isCall: true });

/** Transactions and calls, each of which has something to do with some of the others. */
export const programs: readonly Program[] = [
  program('insert', insert('main.a')),
  program('insert twice', insert('main.a'), insert('main.a')),
  program('create and insert', create('main.b'), insert('main.b')),
  program('insert and create', insert('main.a'), create('main.b')),
  program('drop', drop('main.a')),
  program('replace', drop('main.a'), create('main.a')),
  program('create, insert, drop', create('main.b'), drop('main.b')),
  program('create a schema', createSchema('r')),
  program('create a schema and a table', createSchema('r'), create('r.b')),
  program('create in a schema', create('s.b')),
  program('drop a schema', dropSchema('s')),
  program('replace a schema', dropSchema('s'), createSchema('s')),
  call('calls: insert', insert('main.a')),
  call('calls: insert, insert', insert('main.a'), insert('main.b')),
  call('calls: drop, create', drop('main.a'), create('main.a')),
  call('calls: create in a schema', create('s.b')),
];
