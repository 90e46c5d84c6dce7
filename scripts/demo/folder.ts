import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const marker = '.made-by-edgemere-demo';

/** An empty folder for the demo. Only what an earlier demo made is removed. Returns its absolute path. */
export function emptyFolder(path: string): string {
  const folder = resolve(path);
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    if (!existsSync(join(folder, marker))) {
      console.error(`${folder} is there and no demo made it: name another folder, npm run demo -- FOLDER`);
      process.exit(1);
    }
    rmSync(folder, { recursive: true });
  }
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, marker), 'npm run demo replaces this folder.\n');
  return folder;
}
