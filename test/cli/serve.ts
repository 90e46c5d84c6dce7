/**
 * Runs the command line many times in one process of Node: starting one for each run costs more than the run. A line of
 * JSON in is a run, a line out its result.
 */
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { Output } from '../../cli/io.ts';
import { run } from '../../cli/run.ts';

export interface Request {
  readonly args: readonly string[];
  /** Base64. */
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Keeps what is written. */
class Sink extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

process.removeAllListeners('warning');
const { EDGEMERE_LAKE: _, EDGEMERE_DEBUG: __, ...inherited } = process.env;
for await (const line of createInterface({ input: process.stdin })) {
  const { args, stdin, env } = JSON.parse(line) as Request;
  const [out, log] = [new Sink(), new Sink()];
  const code = await run(args, {
    env: { ...inherited, ...env },
    stdin: () => Readable.from([Buffer.from(stdin, 'base64')]),
    stdout: new Output(out),
    stderr: log,
    signal: new AbortController().signal,
  });
  process.stdout.write(`${JSON.stringify({ code, out: out.text, log: log.text })}\n`);
}
