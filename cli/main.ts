#!/usr/bin/env node
import { CommanderError } from 'commander';
import { errorLine, exitCodeOf, exitCodes, Interrupted } from './errors.ts';
import { Output, OutputClosed } from './io.ts';
import packageInfo from './package.json' with { type: 'json' };
import { buildProgram } from './program.ts';

/** node:sqlite warns that it is experimental: nothing that a user of this could do about it. */
function silenceExperimentalWarnings(): void {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (rest[0] === 'ExperimentalWarning') return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
}

/** The first Ctrl-C aborts what is running, which then cleans up after itself; the second ends it at once. */
function abortOnInterrupt(): AbortSignal {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    controller.abort(new Interrupted());
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return controller.signal;
}

async function main(): Promise<number> {
  silenceExperimentalWarnings();
  const signal = abortOnInterrupt();
  const io = { env: process.env, stdout: new Output(process.stdout), stderr: process.stderr, signal };
  // Nobody there to read messages either.
  process.stderr.on('error', () => {});
  try {
    await buildProgram(io, packageInfo.version).parseAsync(process.argv);
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof OutputClosed) return exitCodes.ok;
    if (error instanceof CommanderError) {
      // Help and version that were asked for.
      if (error.exitCode === 0) return exitCodes.ok;
      if (error.code !== 'commander.help') process.stderr.write(`${usageLine(error)}\n`);
      return exitCodes.usage;
    }
    process.stderr.write(`edgemere: ${errorLine(error)}\n`);
    if (process.env['EDGEMERE_DEBUG'] && error instanceof Error) process.stderr.write(`${describeError(error)}\n`);
    return exitCodeOf(error);
  }
}

function usageLine(error: CommanderError): string {
  const message = errorLine(error).replace(/^error: /, '');
  return `edgemere: ${message} (\`edgemere help\` tells more)`;
}

/** With all causes. */
function describeError(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${describeError(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
}

// Set and not called: what was written to a pipe still has to reach it.
process.exitCode = await main();
