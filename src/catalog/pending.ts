import { checkOptions, LakeError, type OptionKinds, showValue } from '../errors.ts';
import type { ColumnStats } from '../file/format.ts';
import type { Field } from '../schema/field.ts';
import type { InlinedColumn } from '../spec/inlining.ts';
import { type MetadataRow, setting } from '../spec/settings.ts';
import type { ColumnStatsDelta } from '../stats/column-stats.ts';
import type { TableName } from './view.ts';

/** A data file that lies in the store and waits to be registered. */
export interface StagedFile {
  /** As the catalog stores it: relative to the table's folder. */
  readonly path: string;
  readonly location: string;
  readonly rowCount: number;
  readonly byteLength: number;
  readonly footerLength: number;
  readonly columns: readonly ColumnStats[];
}

/** Rows that the catalog itself is to keep. */
export interface StagedRows {
  /** A UUID: tells a commit of these rows from one of others that are alike. */
  readonly id: string;
  /** The catalog table that takes them; `undefined` when it has to be made. */
  readonly into: string | undefined;
  readonly columns: readonly InlinedColumn[];
  /** See `InlinedRow.cells`. */
  readonly rows: readonly (readonly (string | null)[])[];
  /** What they add to the table's statistics, for each leaf. */
  readonly stats: readonly ColumnStatsDelta[];
}

/**
 * A change that a user's call asks for. Objects made in the same transaction are named by the negative ids that it gave
 * them (unique in it); planning replaces those by relative ids.
 */
export type PendingChange =
  | {
      readonly kind: 'createSchema';
      readonly id: number;
      readonly name: string;
      readonly uuid: string;
      readonly path: string;
    }
  /** The UUID tells a drop from one by others of the same. */
  | { readonly kind: 'dropSchema'; readonly id: number; readonly name: string; readonly uuid: string }
  | {
      readonly kind: 'createTable';
      readonly id: number;
      readonly schema: { readonly id: number; readonly name: string };
      readonly name: string;
      readonly uuid: string;
      readonly path: string;
      readonly fields: readonly Field[];
      /** Whether a catalog table for inlined rows is made with it. */
      readonly inlines?: boolean | undefined;
    }
  | { readonly kind: 'dropTable'; readonly id: number; readonly uuid: string }
  | {
      readonly kind: 'append';
      readonly tableId: number;
      /** By which the table was found. */
      readonly name: TableName;
      readonly fields: readonly Field[];
      readonly files: readonly StagedFile[];
      /** After those of the files. */
      readonly inlined?: StagedRows | undefined;
    };

/** What is said about a commit. */
export interface CommitMessage {
  readonly author?: string | undefined;
  readonly message?: string | undefined;
  /**
   * Free text, by convention JSON. Where there is none, a commit of inlined rows or drops alone says here which it is: with a text of the
   * caller's own its outcome, when the connection is lost, may stay COMMIT_UNKNOWN without an idempotency key.
   */
  readonly extraInfo?: string | undefined;
}

export const messageOptions: OptionKinds<CommitMessage> = { author: 'any', message: 'any', extraInfo: 'any' };

/** Refuses what a catalog database can't hold, before anything is done for the commit, and options that are not among `kinds`. */
export function checkMessage<Options extends CommitMessage>(options: Options, kinds: OptionKinds<Options>): void {
  checkOptions(options, kinds);
  const { author, message, extraInfo } = options;
  for (const [name, text] of Object.entries({ author, message, extraInfo })) {
    if (text === undefined || (typeof text === 'string' && text.isWellFormed() && !text.includes('\0'))) continue;
    throw new LakeError(
      'INVALID_ARGUMENT',
      `the commit's ${name} is ${showValue(text)}; it must be a string without NUL characters and lone surrogates`,
      { context: { value: showValue(text) } },
    );
  }
}

/** Throws INVALID_ARGUMENT when the lake wants a message with each commit and there is none. */
export function requireMessage(metadata: readonly MetadataRow[], message: string | undefined): void {
  if (message === undefined && setting(metadata, 'require_commit_message') === 'true')
    throw new LakeError('INVALID_ARGUMENT', 'the lake requires a commit message: give the option message');
}
