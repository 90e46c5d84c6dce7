// Version 14: 15 imports node:process as a module, which opens standard input, whoever may be reading it.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { LakeOptions } from './commands/context.ts';
import { inputFormats } from './input/file.ts';
import type { Io } from './io.ts';
import { rowFormats } from './output/rows.ts';

const description = `Lakes for DuckLake, from a terminal: make them, fill them, look into them.

LAKE is a folder, a SQLite file (sqlite:FILE) or postgres://…; EDGEMERE_LAKE stands in for it. TABLE is NAME or SCHEMA.NAME.`;

const epilogue = `
More: edgemere help COMMAND, edgemere help lake | types | values | where

Exit codes: 0 done, 1 failed, 2 used wrongly, 130 interrupted. EDGEMERE_DEBUG=1 shows where an error comes from.

  edgemere init mylake
  edgemere append mylake movies movies.csv --create
  edgemere scan mylake movies --limit 10`;

type Action = (args: readonly string[], options: LakeOptions, io: Io) => Promise<void>;
/** Loads a command: none costs anything before it is used. */
type Loader = () => Promise<Action>;

/** The command line. Running it rejects with a CommanderError when it was used wrongly. */
export function buildProgram(io: Io, version: string): Command {
  const program = new Command('edgemere')
    .description(description)
    .version(version)
    .addHelpText('after', epilogue)
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${command.usage().replace(' [options]', '')}` })
    .exitOverride()
    // One line, which main writes.
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text).catch(() => {}),
      writeErr: (text) => io.stderr.write(text),
      outputError: () => {},
    });

  const command = (name: string, usage: string, summary: string, load: Loader): Command => {
    const made = program
      .command(name)
      .summary(summary)
      .description(`${summary[0]!.toUpperCase()}${summary.slice(1)}.`)
      .usage(`${usage} [options]`)
      .argument('[arguments...]')
      .option('--json', 'print the result as JSON')
      .option('--schema <name>', "the Postgres schema of the lake's catalog (default: public)")
      .option('--data-path <path>', 'where data files lie: a folder or s3://BUCKET/PREFIX/')
      .option('--override-data-path', 'use --data-path although the catalog names another');
    // What follows the name is in the usage line already.
    made.configureHelp({ visibleArguments: () => [] });
    return made.action(async (args: string[], options: LakeOptions) => (await load())(args, options, io));
  };

  const look = (name: 'ls' | 'describe' | 'snapshots' | 'files' | 'stats') => async (): Promise<Action> =>
    (await import('./commands/look.ts'))[name];

  command('init', 'LAKE', 'make a lake', async () => (await import('./commands/init.ts')).init);
  withMessage(
    command(
      'create',
      "LAKE TABLE 'COLUMN TYPE, …'",
      'make a table',
      async () => (await import('./commands/create.ts')).create,
    ),
  ).option('--if-not-exists', 'leave a table of that name as it is');
  withMessage(
    command(
      'append',
      'LAKE TABLE FILE…',
      'add the rows of files to a table, as one snapshot',
      async () => (await import('./commands/append.ts')).append,
    ),
  )
    .option('--create', 'make the table when it is missing, with the columns of the input')
    .addOption(
      new Option('--format <format>', "the files' format, unless their names say it (- is NDJSON)").choices(
        inputFormats,
      ),
    )
    .option('--delimiter <text>', 'between the cells of CSV (default: a comma, in .tsv a tab)', delimiter);
  command(
    'scan',
    'LAKE TABLE',
    'print the rows of a table, or write them to a file',
    async () => (await import('./commands/scan.ts')).scan,
  )
    .option('--columns <names>', 'which columns, with commas between them')
    .option('--where <json>', 'which rows: see `edgemere help where`')
    .option('--limit <count>', 'at most so many rows', count)
    .option('--as-of <version>', "a snapshot's id, or a time such as 2024-01-15T12:30:00Z")
    .option('--output <file>', 'a file or s3://BUCKET/KEY to write instead, as a whole or not at all')
    .addOption(
      new Option('--format <format>', "the output file's, else table on a terminal and ndjson elsewhere").choices([
        ...rowFormats,
        'parquet',
      ]),
    );
  command(
    'count',
    'LAKE TABLE',
    'print how many rows there are',
    async () => (await import('./commands/count.ts')).count,
  )
    .option('--where <json>', 'which rows: see `edgemere help where`')
    .option('--as-of <version>', "a snapshot's id, or a time such as 2024-01-15T12:30:00Z");
  command(
    'changes',
    'LAKE TABLE --from VERSION',
    'print what was inserted, updated and deleted',
    async () => (await import('./commands/changes.ts')).changes,
  )
    .option('--from <version>', 'the first snapshot, included: its id, or a time such as 2024-01-15T12:30:00Z')
    .option('--to <version>', 'the last snapshot, included (default: the newest)')
    .option('--columns <names>', 'which columns, with commas between them')
    .option('--where <json>', 'which rows: see `edgemere help where`')
    .option('--limit <count>', 'at most so many changes', count)
    .addOption(new Option('--format <format>', 'table on a terminal, else ndjson, unless given').choices(rowFormats));
  command(
    'explain',
    'LAKE TABLE',
    'tell what a scan reads and what it leaves out, and why',
    async () => (await import('./commands/explain.ts')).explain,
  )
    .option('--columns <names>', 'which columns, with commas between them')
    .option('--where <json>', 'which rows: see `edgemere help where`')
    .option('--limit <count>', 'at most so many rows', count)
    .option('--as-of <version>', "a snapshot's id, or a time such as 2024-01-15T12:30:00Z");
  command(
    'flush',
    'LAKE',
    'write rows and deletes that are kept in the catalog into files',
    async () => (await import('./commands/flush.ts')).flush,
  ).option('--table <name>', 'only those of this table');
  command('ls', 'LAKE', 'list the tables', look('ls'));
  command('describe', 'LAKE TABLE', 'list the columns of a table', look('describe'));
  command('snapshots', 'LAKE', 'list the versions of the lake', look('snapshots'));
  command('files', 'LAKE TABLE', 'list the data files of a table', look('files'));
  command('stats', 'LAKE TABLE', 'print the statistics of a table', look('stats'));
  program
    .command('help')
    .usage('[COMMAND | lake | types | values | where]')
    .argument('[topic]')
    .summary('tell more of a command or a topic')
    .action(async (topic: string | undefined) => {
      await io.stdout.line(await helpText(program, topic));
    });
  return program;
}

async function helpText(program: Command, topic: string | undefined): Promise<string> {
  const { topics } = await import('./commands/help.ts');
  if (topic === undefined) return `${program.helpInformation().trimEnd()}\n${epilogue}`;
  if (Object.hasOwn(topics, topic)) return topics[topic]!();
  const found = program.commands.find((command) => command.name() === topic);
  if (found !== undefined) return found.helpInformation().trimEnd();
  throw program.error(`there is no help on "${topic}": try ${Object.keys(topics).join(', ')} or the name of a command`);
}

function withMessage(command: Command): Command {
  return command
    .option('--author <name>', "the snapshot's author")
    .option('--message <text>', "the snapshot's message");
}

function count(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw new InvalidArgumentError('It must be a whole number.');
  return value;
}

function delimiter(text: string): string {
  const found = text === '\\t' ? '\t' : text;
  if (found.length !== 1 || /["\r\n]/.test(found)) throw new InvalidArgumentError('It must be one character.');
  return found;
}
