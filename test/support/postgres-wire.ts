import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What a client sends, by the message's type in the protocol: `Q` Query, `P` Parse, `B` Bind, `E` Execute, `S` Sync, `H` Flush … */
export type WireCounts = Readonly<Record<string, number>>;

/** A proxy between a client and Postgres (without TLS) that counts what is on the wire, slows it down and cuts it. */
export interface PostgresWire extends AsyncDisposable {
  /** The server's URL by way of the proxy. */
  readonly url: string;
  /** Delay added to each round trip, half of it each way. */
  delayMs: number;
  /**
   * Cuts the connection at the next statement: before the server gets it (`'request'`), or when the server has answered and
   * before the client hears of it (`'response'`). Then it goes back to `undefined`.
   */
  cutNext: 'request' | 'response' | undefined;
  /** Cuts the connection when so many further bytes have passed in that direction, those of logging in left out. Then it is `undefined` again. */
  cutAfter: { readonly direction: 'request' | 'response'; readonly byteCount: number } | undefined;
  /** Refuses connections, until `up`. Those that are open stay. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Messages since the last reset, without those of logging in. */
  counts(): WireCounts;
  /** The texts of the statements that clients sent since the last reset, once this is set. Those with a name are PREPARE statements. */
  statements: string[] | undefined;
  /** How often a client sent something after it had heard from the server, since the last reset. */
  roundTrips(): number;
  /** The same for logging in, of all connections since the last reset. */
  loginRoundTrips(): number;
  /** Bytes that clients sent since the last reset. */
  sentBytes(): number;
  /** Bytes that clients got since the last reset. */
  receivedBytes(): number;
  reset(): void;
}

/**
 * @example
 * await using wire = await postgresWire(await postgresUrl());
 * const sql = postgres(wire.url);
 * wire.reset();
 * await sql`select 1`;
 * wire.roundTrips(); // 1
 */
export async function postgresWire(target: string): Promise<PostgresWire> {
  const { hostname, port: serverPort } = new URL(target);
  let counts: Record<string, number> = {};
  let roundTrips = 0;
  let loginRoundTrips = 0;
  let sentBytes = 0;
  let receivedBytes = 0;
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    const upstream = connect(Number(serverPort), hostname);
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', end);
    }
    function end(): void {
      for (const socket of [client, upstream]) {
        sockets.delete(socket);
        socket.destroy();
      }
    }

    const requests = new MessageReader(true, (text) => wire.statements?.push(text));
    const answers = new MessageReader(false);
    const forward = line();
    const back = line();
    let isLoggedIn = false;
    let isWaiting = false;
    let isCutting = false;
    client.on('data', (chunk: Buffer) => {
      const types = requests.read(chunk);
      answers.bareBytes += types.filter((type) => type === NEGOTIATION).length;
      if (isLoggedIn) {
        sentBytes += chunk.length;
        if (!isWaiting) roundTrips++;
        for (const type of types) counts[type] = (counts[type] ?? 0) + 1;
        if (wire.cutNext !== undefined && types.some((type) => type === 'Q' || type === 'E')) {
          const isLost = wire.cutNext === 'request';
          wire.cutNext = undefined;
          if (isLost) return end();
          isCutting = true;
        }
        const left = bytesUntilCut('request', chunk.length);
        if (left !== undefined) return forward(() => upstream.write(chunk.subarray(0, left), end));
      } else if (!isWaiting) loginRoundTrips++;
      isWaiting = true;
      forward(() => upstream.write(chunk));
    });
    upstream.on('data', (chunk: Buffer) => {
      // ReadyForQuery ends the login, and later on each answer.
      const isDone = answers.read(chunk).includes('Z');
      if (isCutting) {
        if (isDone) end();
        return;
      }
      if (isLoggedIn) {
        receivedBytes += chunk.length;
        const left = bytesUntilCut('response', chunk.length);
        if (left !== undefined) return back(() => client.write(chunk.subarray(0, left), end));
      }
      if (isDone) isLoggedIn = true;
      back(() => {
        isWaiting = false;
        client.write(chunk);
      });
    });
  });

  /** How much of a chunk still passes when the cut is in it. */
  function bytesUntilCut(direction: 'request' | 'response', byteLength: number): number | undefined {
    const cut = wire.cutAfter;
    if (cut?.direction !== direction) return undefined;
    wire.cutAfter = cut.byteCount > byteLength ? { direction, byteCount: cut.byteCount - byteLength } : undefined;
    return wire.cutAfter === undefined ? cut.byteCount : undefined;
  }

  /** Does things in the order in which they come, each half a round trip's delay later. */
  function line(): (send: () => void) => void {
    return (send) => {
      if (wire.delayMs > 0) setTimeout(send, wire.delayMs / 2);
      else send();
    };
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(port);

  const wire: PostgresWire = {
    url: url.href,
    delayMs: 0,
    cutNext: undefined,
    cutAfter: undefined,
    statements: undefined,
    async down() {
      server.close();
      // Not its event: that comes when the last connection has ended.
      while (server.listening) await new Promise((resolve) => setTimeout(resolve, 1));
    },
    async up() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    counts: () => ({ ...counts }),
    roundTrips: () => roundTrips,
    loginRoundTrips: () => loginRoundTrips,
    sentBytes: () => sentBytes,
    receivedBytes: () => receivedBytes,
    reset() {
      counts = {};
      if (wire.statements) wire.statements = [];
      roundTrips = 0;
      loginRoundTrips = 0;
      sentBytes = 0;
      receivedBytes = 0;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      if (server.listening) server.close();
    },
  };
  return wire;
}

/** A request for encryption, which is answered by one byte. */
const NEGOTIATION = 'negotiation';
const ENCRYPTION_REQUESTS = [80877103, 80877104];

/** Finds the messages in a stream of bytes. A client's first messages have no type. */
class MessageReader {
  /** How many bytes come before the next message. */
  bareBytes = 0;
  #rest: Buffer = Buffer.alloc(0);
  #isStarting: boolean;

  readonly #onStatement: (text: string) => void;

  constructor(isStarting: boolean, onStatement: (text: string) => void = () => {}) {
    this.#isStarting = isStarting;
    this.#onStatement = onStatement;
  }

  /** The types of the messages that this chunk completes. */
  read(chunk: Buffer): string[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const types: string[] = [];
    const bare = Math.min(this.bareBytes, this.#rest.length);
    this.bareBytes -= bare;
    this.#rest = this.#rest.subarray(bare);
    for (;;) {
      const head = this.#isStarting ? 0 : 1;
      if (this.#rest.length < head + 4) return types;
      const length = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < length) return types;
      if (head === 1) {
        const type = String.fromCharCode(this.#rest[0]!);
        types.push(type);
        // Parse has the name before the text; both end in a zero byte.
        const parts = type === 'Q' || type === 'P' ? this.#rest.toString('utf8', 5, length).split('\0') : [];
        if (type === 'Q') this.#onStatement(parts[0]!);
        if (type === 'P') this.#onStatement(parts[0] === '' ? parts[1]! : `PREPARE ${parts[0]} AS ${parts[1]}`);
      } else if (ENCRYPTION_REQUESTS.includes(this.#rest.readInt32BE(4))) types.push(NEGOTIATION);
      else this.#isStarting = false;
      this.#rest = this.#rest.subarray(length);
    }
  }
}
