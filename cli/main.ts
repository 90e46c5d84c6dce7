#!/usr/bin/env node
import nodeModule from 'node:module';

// Before anything else is loaded: the second start takes half the time.
nodeModule.enableCompileCache?.();
const { exitCodes, Interrupted } = await import('./errors.ts');
const { Output } = await import('./io.ts');
const { run } = await import('./run.ts');

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

silenceExperimentalWarnings();
const signal = abortOnInterrupt();
// Nobody is there to read messages either, when they can't be written.
process.stderr.on('error', () => {});
const { env, stderr, argv } = process;
const io = { env, stdin: () => process.stdin, stdout: new Output(process.stdout), stderr, signal };
// Set, without ending the process: what was written to a pipe still has to reach it.
process.exitCode = await run(argv.slice(2), io);
