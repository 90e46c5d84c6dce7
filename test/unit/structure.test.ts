import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Glob } from 'bun';
import ts from 'typescript';

const ROOT = join(import.meta.dir, '../..');
const MAX_LINES = 450;

/** The layers of src, lowest first: a file imports from its own layer and those before it. */
const LAYERS: readonly (readonly RegExp[])[] = [
  [/^errors\.ts$/, /^util\//],
  [/^spec\//],
  [/^schema\//, /^stats\//],
  // The three interfaces, then what implements them.
  [/^catalog\/(store|table-files|table-history)\.ts$/, /^storage\/object-store\.ts$/, /^file\/format\.ts$/],
  [/^catalog\//, /^storage\//, /^file\//],
  [/^session\.ts$/, /^opening\.ts$/],
  [/^write\//, /^scan\//, /^maintenance\//],
  [/^table\.ts$/],
  [/^transaction\.ts$/],
  [/^lake\.ts$/],
  [/^index\.ts$/],
  [/^conformance\//],
];

/** Names that only one kind of runtime has, or that tell runtimes apart. */
const RUNTIME_NAMES: ReadonlySet<string> = new Set([
  ...['process', 'Buffer', 'Bun', 'Deno', 'require', '__dirname', '__filename', 'window', 'navigator', 'importScripts'],
  ...['EdgeRuntime', 'WebSocketPair', 'caches'],
]);

interface Source {
  /** Relative to the root. */
  readonly path: string;
  readonly imports: readonly string[];
  /** Those of them that are there at run time. */
  readonly loads: readonly string[];
  readonly identifiers: ReadonlySet<string>;
  readonly lineCount: number;
}

function read(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const imports: string[] = [];
  const loads: string[] = [];
  const identifiers = new Set<string>();
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) {
      const specifier = (node.moduleSpecifier as ts.StringLiteral).text;
      imports.push(specifier);
      const isTypeOnly = ts.isExportDeclaration(node) ? node.isTypeOnly : node.importClause?.isTypeOnly;
      if (!isTypeOnly) loads.push(specifier);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const target = node.arguments[0];
      imports.push(target && ts.isStringLiteral(target) ? target.text : '(computed)');
    } else if (ts.isImportTypeNode(node)) {
      imports.push(node.argument.getText().slice(1, -1));
    } else if (ts.isIdentifier(node) && !isPropertyName(node)) {
      identifiers.add(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { path, imports, loads, identifiers, lineCount: text.split('\n').length - 1 };
}

/** `x.process` and `{ process: 1 }` name nothing global. */
function isPropertyName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent))
    return parent.name === node && parent.expression.getText() !== 'globalThis';
  return (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent)) && parent.name === node;
}

function sources(pattern: string): Source[] {
  return [...new Glob(pattern).scanSync({ cwd: ROOT })]
    .filter((path) => !path.includes('node_modules'))
    .sort()
    .map(read);
}

const core = sources('src/**/*.ts');
const adapters = sources('adapters/**/*.ts');
const cli = sources('cli/**/*.ts');
const rest = sources('{test,scripts,bench,examples}/**/*.ts');

function isRelative(specifier: string): boolean {
  return specifier.startsWith('.');
}

function resolve(from: string, specifier: string): string {
  return join(dirname(from), specifier);
}

function layerOf(path: string): number {
  return LAYERS.findIndex((patterns) => patterns.some((pattern) => pattern.test(path.slice('src/'.length))));
}

function violations(files: readonly Source[], allowed: (file: Source, specifier: string) => boolean): string[] {
  return files.flatMap((file) =>
    file.imports
      .filter((specifier) => !allowed(file, specifier))
      .map((specifier) => `${file.path} imports ${specifier}`),
  );
}

describe('structure', () => {
  test('there are sources to look at', () => {
    expect(core.length).toBeGreaterThan(20);
    expect(adapters.length).toBeGreaterThan(0);
  });

  test('every file of src has a layer', () => {
    expect(core.filter(({ path }) => layerOf(path) < 0).map(({ path }) => path)).toEqual([]);
  });

  test('imports within src point one way', () => {
    const against = violations(
      core,
      ({ path }, specifier) => !isRelative(specifier) || layerOf(resolve(path, specifier)) <= layerOf(path),
    );
    expect(against).toEqual([]);
  });

  test('no modules load each other in a circle', () => {
    const imports = new Map(
      [...core, ...adapters, ...cli].map(({ path, loads }) => [
        path,
        loads.filter(isRelative).map((specifier) => resolve(path, specifier)),
      ]),
    );
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      if (done.has(path) || trail.includes(path)) return;
      for (const next of imports.get(path) ?? []) walk(next, [...trail, path]);
      done.add(path);
    };
    for (const path of imports.keys()) walk(path, []);
    expect(circles).toEqual([]);
  });

  test('the core imports itself and the Parquet libraries, nothing else', () => {
    const foreign = violations(core, ({ path }, specifier) =>
      isRelative(specifier)
        ? resolve(path, specifier).startsWith('src/')
        : /^hyparquet(\/|$)/.test(specifier) && path.startsWith('src/file/parquet/'),
    );
    expect(foreign).toEqual([]);
  });

  test('the core neither uses nor detects a runtime', () => {
    const uses = core.flatMap(({ path, identifiers }) =>
      [...identifiers].filter((name) => RUNTIME_NAMES.has(name)).map((name) => `${path} names ${name}`),
    );
    expect(uses).toEqual([]);
  });

  test('adapters import from src, from each other and from their runtime', () => {
    const foreign = violations(adapters, ({ path }, specifier) =>
      isRelative(specifier)
        ? /^(src|adapters)\//.test(resolve(path, specifier))
        : /^(node:|bun:)/.test(specifier) || ['postgres', '@aws-sdk/client-s3'].includes(specifier),
    );
    expect(foreign).toEqual([]);
  });

  test('the command line uses the package by its name, as users do', () => {
    const inside = violations(
      cli,
      ({ path }, specifier) => !isRelative(specifier) || resolve(path, specifier).startsWith('cli/'),
    );
    expect(inside).toEqual([]);
  });

  test(`no file is longer than ${MAX_LINES} lines`, () => {
    const long = [...core, ...adapters, ...cli, ...rest].filter(({ lineCount }) => lineCount > MAX_LINES);
    expect(long.map(({ path, lineCount }) => `${path}: ${lineCount}`)).toEqual([]);
  });
});
