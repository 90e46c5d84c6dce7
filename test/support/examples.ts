import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Glob } from 'bun';
import ts from 'typescript';

const ROOT = join(import.meta.dir, '../..');

/** A block of code in the documentation. */
export interface Example {
  /** `README.md:42` */
  readonly place: string;
  readonly language: string;
  readonly code: string;
  /** The source file whose docstring it is in, if it is in one. */
  readonly source?: string;
}

/** The fenced blocks of a Markdown file. */
export function markdownExamples(path: string): Example[] {
  return fencedBlocks(readFileSync(join(ROOT, path), 'utf8'), path);
}

/** The fenced blocks of docstrings. */
export function docstringExamples(): Example[] {
  return [...new Glob('{src,adapters}/**/*.ts').scanSync({ cwd: ROOT })].sort().flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    // Lines stay where they are, so that places are true.
    const comments = text.replace(/^(?![ \t]*\*).*$/gm, '').replace(/^[ \t]*\* ?\/?/gm, '');
    return fencedBlocks(comments, path).map((example) => ({ ...example, source: path }));
  });
}

function fencedBlocks(text: string, path: string): Example[] {
  const found: Example[] = [];
  for (const match of text.matchAll(/^```(\w+)[^\n]*\n([\s\S]*?)^```/gm)) {
    const line = text.slice(0, match.index).split('\n').length;
    found.push({ place: `${path}:${line}`, language: match[1]!, code: match[2]! });
  }
  return found;
}

/**
 * Makes a program of an example: `console.log(x); // text` also asserts that it prints that text (give or take spaces, and
 * the kind of quotes), and an example without an import may use what its source file exports.
 */
function program({ code, source }: Example): string {
  const checked = code.replace(
    /^([ \t]*(?:[^\n]*\) )?)console\.log\((.*)\);[ \t]*\/\/ (.*)$/gm,
    (_line, before: string, args: string, expected: string) =>
      `${before}__prints(${JSON.stringify(expected)}, ${args});`,
  );
  const implied =
    source && !/^import /m.test(code)
      ? `import { ${exportedNames(source).join(', ')} } from '${join(ROOT, source)}';\n`
      : '';
  return `${implied}import { inspect as __inspect } from 'node:util';
function __prints(expected: string, ...values: readonly unknown[]): void {
  const plain = (text: string): string => text.replace(/\\s+/g, '').replaceAll('"', "'");
  const printed = values.map((value) => (typeof value === 'string' ? value : __inspect(value, { depth: null }))).join(' ');
  if (plain(printed) !== plain(expected)) throw new Error(\`prints \${printed}\\nbut says \${expected}\`);
}
${checked}`;
}

function exportedNames(path: string): string[] {
  const file = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest);
  return file.statements.flatMap((statement) => {
    if (
      !ts.canHaveModifiers(statement) ||
      !statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    ) {
      return [];
    }
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText(file));
    const named = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement);
    return named && statement.name ? [statement.name.text] : [];
  });
}

/** Puts what a user would fill in where an example has a placeholder. Folders of /tmp become the project's own. */
function located(code: string, project: string, env: Readonly<Record<string, string>>): string {
  return code
    .replaceAll("'/tmp/", `'${project}/`)
    .replaceAll('https://ACCOUNT.r2.cloudflarestorage.com', env['AWS_ENDPOINT_URL_S3'] ?? '')
    .replaceAll("accessKeyId: '…'", `accessKeyId: '${env['AWS_ACCESS_KEY_ID']}'`)
    .replaceAll("secretAccessKey: '…'", `secretAccessKey: '${env['AWS_SECRET_ACCESS_KEY']}'`);
}

/**
 * Runs an example as a user's file, in an empty project that has edgemere installed; under `bun test` when it defines tests.
 * Rejects with all that it printed when it fails.
 */
export async function runExample(example: Example, env: Record<string, string>): Promise<void> {
  const project = mkdtempSync(join(tmpdir(), 'edgemere-example-'));
  try {
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(ROOT, join(project, 'node_modules/edgemere'));
    for (const name of ['postgres', '@aws-sdk', 'memfs', 'apache-arrow']) {
      symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
    }
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    const underBun = example.code.includes("'bun:test'");
    const file = join(project, underBun ? 'example.test.ts' : 'example.ts');
    writeFileSync(file, program({ ...example, code: located(example.code, project, env) }));
    const command = underBun ? [process.execPath, 'test', file] : [join(ROOT, 'node_modules/node/bin/node'), file];
    const child = Bun.spawn(command, { cwd: project, env: { ...process.env, ...env }, stdout: 'pipe', stderr: 'pipe' });
    const [out, log, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(`${example.place} fails:\n${out}${log}`);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}
