import type { Random } from './random.ts';
import { randomScalar, type SqlType, scalar } from './types.ts';

const wider: Readonly<Record<string, readonly string[]>> = {
  TINYINT: ['SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'FLOAT', 'DOUBLE', 'DECIMAL(5,2)', 'DECIMAL(18,4)'],
  SMALLINT: ['INTEGER', 'BIGINT', 'HUGEINT', 'FLOAT', 'DOUBLE', 'DECIMAL(9,2)'],
  INTEGER: ['BIGINT', 'HUGEINT', 'FLOAT', 'DOUBLE', 'DECIMAL(18,2)'],
  BIGINT: ['HUGEINT', 'FLOAT', 'DOUBLE', 'DECIMAL(38,6)'],
  HUGEINT: ['FLOAT', 'DOUBLE'],
  UTINYINT: ['USMALLINT', 'UINTEGER', 'UBIGINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'DOUBLE', 'UHUGEINT'],
  USMALLINT: ['UINTEGER', 'UBIGINT', 'INTEGER', 'BIGINT', 'FLOAT'],
  UINTEGER: ['UBIGINT', 'BIGINT', 'DOUBLE'],
  UBIGINT: ['HUGEINT', 'UHUGEINT', 'DOUBLE'],
  UHUGEINT: ['DOUBLE'],
  FLOAT: ['DOUBLE'],
  DATE: ['TIMESTAMP', 'TIMESTAMPTZ', 'TIMESTAMP_NS', 'TIMESTAMP_S'],
  TIMESTAMP: ['TIMESTAMPTZ', 'TIMESTAMP_NS'],
  TIMESTAMP_S: ['TIMESTAMP', 'TIMESTAMP_MS', 'TIMESTAMP_NS', 'TIMESTAMPTZ'],
  TIMESTAMP_MS: ['TIMESTAMP', 'TIMESTAMP_NS'],
  TIME: ['TIMETZ'],
  VARCHAR: ['JSON'],
  JSON: ['VARCHAR'],
  BOOLEAN: ['INTEGER'],
};

/** What DuckLake may let a column of the type become; it refuses some, which is fine. */
export function promoted(random: Random, type: SqlType): SqlType | undefined {
  if (type.kind === 'scalar') {
    const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(type.sql);
    if (decimal) {
      const [precision, scale] = [Number(decimal[1]), Number(decimal[2])];
      const more = random.int(0, Math.min(3, 38 - precision));
      const total = Math.min(38, precision + more + random.pick([0, 5, 10]));
      return random.chance(0.2) ? scalar('DOUBLE') : scalar(`DECIMAL(${total},${Math.min(scale + more, total)})`);
    }
    const targets = wider[type.sql];
    return targets ? scalar(random.pick(targets)) : undefined;
  }
  if (type.kind === 'list') {
    const item = promoted(random, type.item);
    return item && { kind: 'list', item };
  }
  if (type.kind === 'map') {
    const inner = promoted(random, type.value);
    return inner && { ...type, value: inner };
  }
  // ALTER … TYPE of a struct may also drop, add and reorder its members.
  let members = type.members.map((member) => ({
    ...member,
    type: random.chance(0.5) ? (promoted(random, member.type) ?? member.type) : member.type,
  }));
  if (random.chance(0.3)) members = random.shuffled(members);
  if (random.chance(0.3) && members.length > 1) members = members.slice(1);
  if (random.chance(0.3)) members.push({ name: `n${random.int(0, 99)}`, type: randomScalar(random) });
  return { kind: 'struct', members };
}

const narrower: Readonly<Record<string, readonly string[]>> = {
  SMALLINT: ['TINYINT', 'UTINYINT'],
  INTEGER: ['SMALLINT', 'TINYINT', 'USMALLINT'],
  BIGINT: ['INTEGER', 'SMALLINT', 'UINTEGER'],
  USMALLINT: ['UTINYINT'],
  UINTEGER: ['USMALLINT'],
  UBIGINT: ['UINTEGER'],
  DOUBLE: ['FLOAT'],
  TIMESTAMP: ['TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS', 'DATE'],
  TIMESTAMP_NS: ['TIMESTAMP', 'TIMESTAMP_MS'],
  TIMESTAMP_S: ['TIMESTAMP', 'TIMESTAMP_MS'],
  TIMESTAMP_MS: ['TIMESTAMP'],
  JSON: ['VARCHAR'],
  VARCHAR: ['JSON'],
};

/** The type that a foreign file may have for a column: narrower, and with a struct's members in another order or missing. */
export function foreign(random: Random, type: SqlType): SqlType {
  switch (type.kind) {
    case 'scalar': {
      const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(type.sql);
      if (decimal) {
        const [precision, scale] = [Number(decimal[1]), Number(decimal[2])];
        if (random.chance(0.7) || precision - scale < 2) return type;
        return scalar(`DECIMAL(${precision - 1},${scale})`);
      }
      const targets = narrower[type.sql];
      return targets && random.chance(0.3) ? scalar(random.pick(targets)) : type;
    }
    case 'list':
      return { kind: 'list', item: foreign(random, type.item) };
    case 'map':
      return { kind: 'map', key: type.key, value: foreign(random, type.value) };
    case 'struct': {
      let members = type.members.map((member) => ({ name: member.name, type: foreign(random, member.type) }));
      if (random.chance(0.4)) members = random.shuffled(members);
      if (random.chance(0.2) && members.length > 1) members = members.slice(1);
      if (random.chance(0.1)) members.push({ name: 'extra member', type: randomScalar(random) });
      return { kind: 'struct', members };
    }
  }
}
