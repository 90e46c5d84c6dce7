import { LakeError } from '../errors.ts';
import { type MetadataRow, setting } from './settings.ts';

/** The catalog versions that this library reads and writes, by exact text. */
export const supportedVersions: readonly string[] = ['1.0'];

/** Refuses a catalog of a version that isn't known: later ones rename columns, and guessing would corrupt the lake. */
export function checkVersion(metadata: readonly MetadataRow[], catalog: string): void {
  const version = setting(metadata, 'version');
  if (version !== undefined && supportedVersions.includes(version)) return;
  throw new LakeError(
    'VERSION',
    `catalog ${catalog} is of DuckLake version ${version ?? '(none)'}; this library supports ${supportedVersions.join(', ')}` +
      ` (DuckDB upgrades older catalogs: ATTACH … (AUTOMATIC_MIGRATION true))`,
    { context: { location: catalog, version } },
  );
}
