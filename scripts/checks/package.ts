import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bin, ROOT, run } from '../process.ts';

/** A careful user's settings, who also checks the declarations of what they install. */
const STRICT = {
  compilerOptions: {
    target: 'esnext',
    module: 'nodenext',
    lib: ['esnext', 'dom', 'dom.iterable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  },
  files: ['consumer.ts'],
};

/** Builds both npm packages, lints them, installs their tarballs in an empty project and uses them there. */
export async function packageCheck(): Promise<string> {
  await run(bin('node'), ['scripts/build.ts']);
  for (const folder of ['dist/edgemere', 'dist/cli']) await run(bin('publint'), [folder, '--strict']);
  await run(bin('attw'), ['--pack', 'dist/edgemere', '--profile', 'esm-only']);

  const scratch = mkdtempSync(join(tmpdir(), 'edgemere-package-'));
  try {
    const packed = join(scratch, 'packed');
    mkdirSync(packed);
    for (const folder of ['dist/edgemere', 'dist/cli']) {
      await run('npm', ['pack', '--silent', '--pack-destination', packed], { cwd: join(ROOT, folder) });
    }
    writeFileSync(join(scratch, 'package.json'), '{ "type": "module", "private": true }\n');
    const tarballs = readdirSync(packed).map((name) => join(packed, name));
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...tarballs], { cwd: scratch });

    cpSync(join(ROOT, 'scripts/checks/consumer.ts'), join(scratch, 'consumer.ts'));
    writeFileSync(join(scratch, 'tsconfig.json'), JSON.stringify(STRICT));
    await run(bin('tsc'), ['-p', 'tsconfig.json'], { cwd: scratch });
    await run(bin('node'), ['consumer.ts'], { cwd: scratch });
    const seen = await run(bin('node'), ['node_modules/.bin/edgemere', 'ls', 'lake.sqlite', '--json'], {
      cwd: scratch,
    });
    if (!seen.includes('events')) throw new Error(`the installed command line does not see the table:\n${seen}`);
    return readdirSync(packed).join(', ');
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
