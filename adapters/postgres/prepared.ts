import { sha256 } from '../../src/util/digest.ts';
import type { PostgresClient } from './client.ts';
import { dollarQuoted } from './literal.ts';

/** One statement of a message. */
export interface Part {
  /** The statement for its parameter, if it has one. */
  text(parameter: string): string;
  /** The parameter, as a constant. */
  readonly value?: string;
  /** Tells statements apart that are worth a plan of their own. */
  readonly key?: string;
}

/** Statements name the tables of inlined rows: a lake may have very many, and each plan takes more than half a MiB of each connection. */
const MAX_PREPARED = 32;

interface Prepared {
  readonly name: string;
  readonly text: string;
}

/**
 * Statements that connections keep with their plans, by SQL's own PREPARE and EXECUTE: those go into one message with others, the first time as
 * well, and any connection of a pool, or behind a pooler, may get it. Planning a commit takes the server longer than carrying it out.
 */
export class PreparedStatements {
  readonly #client: PostgresClient;
  readonly #all = new Map<string, Prepared>();
  /** Names that some connection knows. */
  readonly #sent = new Set<string>();

  constructor(client: PostgresClient) {
    this.#client = client;
  }

  /** Sends one message of several parts that have rows. Those are the results. */
  async send(parts: readonly Part[]): Promise<unknown[][][]> {
    const prepared = await Promise.all(parts.map((part) => this.#find(part)));
    const used = prepared.filter((one) => one !== undefined);
    const texts = parts.map(({ text, value = '' }, n) => {
      const name = prepared[n]?.name;
      return name === undefined ? text(value) : `EXECUTE ${name}${value && `(${value})`}`;
    });
    if (used.every(({ name }) => this.#sent.has(name)))
      try {
        return (await this.#client.unsafe(texts.join(';\n')).values()) as unknown[][][];
      } catch (error) {
        // The connection knows no statement of that name: nothing of the message was carried out.
        if ((error as { readonly code?: unknown } | null)?.code !== '26000') throw error;
      }
    const results = await this.#client.unsafe([prepareMissing(used), ...texts].join(';\n')).values();
    for (const { name } of used) this.#sent.add(name);
    // What comes first is a result all the same, without rows.
    return (results as unknown[][][]).slice(1);
  }

  /** Named by its text: whoever shares the connection means the same by it. */
  async #find({ key, text }: Part): Promise<Prepared | undefined> {
    if (key === undefined) return undefined;
    const known = this.#all.get(key);
    if (known !== undefined || this.#all.size >= MAX_PREPARED) return known;
    const body = text('$1::text');
    const made = { name: `edgemere_${(await sha256(body)).slice(0, 32)}`, text: body };
    this.#all.set(key, made);
    return made;
  }
}

function prepareMissing(statements: readonly Prepared[]): string {
  const parts = statements.map(
    ({ name, text }) =>
      `IF NOT EXISTS (SELECT FROM pg_prepared_statements WHERE name = '${name}') THEN EXECUTE ${dollarQuoted(`PREPARE ${name} AS ${text}`)}; END IF;`,
  );
  return `DO ${dollarQuoted(`BEGIN ${parts.join('\n')} END`)}`;
}
