import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../process.ts';

interface Manifest {
  readonly version: string;
  readonly exports: Record<string, string>;
  readonly dependencies: Record<string, string>;
}
interface JsrManifest {
  readonly version: string;
  readonly exports: Record<string, string>;
  readonly imports: Record<string, string>;
}

function read<T>(path: string): T {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}

/** npm's and JSR's manifests name the same entries, files that exist, one version, and pinned dependencies. */
export function exportsProblems(): string[] {
  const npm = read<Manifest>('package.json');
  const jsr = read<JsrManifest>('jsr.json');
  const cli = read<Manifest>('cli/package.json');
  const problems: string[] = [];
  const { './package.json': _, ...entries } = npm.exports;
  for (const path of new Set([...Object.keys(entries), ...Object.keys(jsr.exports)])) {
    if (entries[path] !== jsr.exports[path]) {
      problems.push(`export ${path}: package.json has ${entries[path]}, jsr.json has ${jsr.exports[path]}`);
    }
    for (const target of [entries[path], jsr.exports[path]]) {
      if (target !== undefined && !existsSync(join(ROOT, target)))
        problems.push(`export ${path}: there is no ${target}`);
    }
  }
  if (npm.version !== jsr.version) problems.push(`versions: package.json ${npm.version}, jsr.json ${jsr.version}`);
  if (npm.version !== cli.version)
    problems.push(`versions: package.json ${npm.version}, cli/package.json ${cli.version}`);
  for (const [name, version] of Object.entries(npm.dependencies)) {
    if (!/^\d+\.\d+\.\d+$/.test(version)) problems.push(`dependency ${name}@${version} is not pinned exactly`);
    if (jsr.imports[name] !== `npm:${name}@${version}`) {
      problems.push(`dependency ${name}: package.json has ${version}, jsr.json has ${jsr.imports[name]}`);
    }
    const theirs = cli.dependencies[name];
    if (theirs !== undefined && theirs !== version) {
      problems.push(`dependency ${name}: package.json has ${version}, cli/package.json has ${theirs}`);
    }
  }
  return problems;
}
