import { bundleReport } from './checks/bundle.ts';
import { exportsProblems } from './checks/exports.ts';
import { packageCheck } from './checks/package.ts';
import { bin, run } from './process.ts';

/** Something that holds for the sources as they are, without services. */
export interface Check {
  readonly name: string;
  /** Resolves with a line worth showing, or nothing; rejects with what is wrong. */
  run(): Promise<string | undefined>;
}

function command(name: string, ...args: readonly string[]): () => Promise<undefined> {
  return async () => {
    await run(bin(name), args);
    return undefined;
  };
}

function fail(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join('\n'));
}

export const CHECKS: readonly Check[] = [
  { name: 'types', run: command('tsc', '-p', 'tsconfig.json') },
  { name: 'types of the core, web standards only', run: command('tsc', '-p', 'tsconfig.core.json') },
  { name: 'lint and format', run: command('biome', 'ci', '--colors=off', '--error-on-warnings', '.') },
  {
    name: 'package.json, jsr.json and cli/package.json agree',
    async run() {
      fail(exportsProblems());
      return undefined;
    },
  },
  { name: 'nothing unused', run: command('knip') },
  { name: 'JSR takes it', run: command('deno', 'publish', '--dry-run', '--allow-dirty', '--node-modules-dir=manual') },
  {
    name: 'bundle sizes',
    async run() {
      const { lines, problems } = await bundleReport();
      fail(problems);
      return lines.map((line) => `\n      ${line}`).join('');
    },
  },
  { name: 'npm packages build, lint, install and run', run: packageCheck },
];
