import { LakeError } from '../errors.ts';

/** Names compare as DuckDB compares them: ASCII letters without case, everything else by its code points. */
export function foldName(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Whether two names are the same to DuckDB. */
export function sameName(a: string, b: string): boolean {
  return foldName(a) === foldName(b);
}

/** Refuses names that DuckDB or the catalog database can't hold. `what` is `schema`, `table` or `column`. */
export function checkName(what: string, name: string): void {
  const refuse = (reason: string): never => {
    throw new LakeError('INVALID_ARGUMENT', `${what} name ${JSON.stringify(name)} ${reason}`, {
      context: { [what]: name },
    });
  };
  if (typeof name !== 'string' || name === '') refuse('must be a non-empty string');
  if (name.includes('\0')) refuse('holds a NUL character');
  if (!name.isWellFormed()) refuse('holds a lone surrogate');
  if (foldName(name).startsWith('_ducklake_')) refuse('begins with _ducklake_, which the format reserves');
}
