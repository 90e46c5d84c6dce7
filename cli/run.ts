import { CommanderError } from 'commander';
import { errorLine, exitCodeOf, exitCodes } from './errors.ts';
import { type Io, OutputClosed } from './io.ts';
import packageInfo from './package.json' with { type: 'json' };
import { buildProgram } from './program.ts';

/** Runs the command line on `args`, without the program's name, and resolves to its exit code. Errors are printed, as one line. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    await buildProgram(io, packageInfo.version).parseAsync(args, { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof OutputClosed) return exitCodes.ok;
    if (error instanceof CommanderError) {
      // Help and version that were asked for.
      if (error.exitCode === 0) return exitCodes.ok;
      // Otherwise help has been printed.
      if (error.code !== 'commander.help') io.stderr.write(`edgemere: ${usageLine(error)}\n`);
      return exitCodes.usage;
    }
    io.stderr.write(`edgemere: ${errorLine(error)}\n`);
    if (io.env['EDGEMERE_DEBUG'] && error instanceof Error) io.stderr.write(`${describeError(error)}\n`);
    return exitCodeOf(error);
  }
}

function usageLine(error: CommanderError): string {
  return `${errorLine(error).replace(/^error: /, '')} (\`edgemere help\` tells more)`;
}

/** With all causes. */
function describeError(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${describeError(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
}
