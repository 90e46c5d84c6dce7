import type { OptionKinds } from '../errors.ts';

export interface IfNotExists {
  /** Does nothing when there is one of that name already. A table's columns are not compared. */
  readonly ifNotExists?: boolean | undefined;
}

export const ifNotExists: OptionKinds<IfNotExists> = { ifNotExists: 'boolean' };

export interface IfExists {
  /** Does nothing when there is none of that name. */
  readonly ifExists?: boolean | undefined;
}

export const ifExists: OptionKinds<IfExists> = { ifExists: 'boolean' };

export interface DropSchemaOptions extends IfExists {
  /** Drops the schema's tables with it. */
  readonly cascade?: boolean | undefined;
}

export const dropSchemaOptions: OptionKinds<DropSchemaOptions> = { ...ifExists, cascade: 'boolean' };

export const versionOptions: OptionKinds<{ readonly asOf?: unknown }> = { asOf: 'any' };

export const countOptions: OptionKinds<{ readonly asOf?: unknown; readonly signal?: unknown }> = {
  ...versionOptions,
  signal: 'any',
};
