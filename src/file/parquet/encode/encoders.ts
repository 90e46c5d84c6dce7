import type { Field } from '../../../schema/field.ts';
import type { Compressors } from '../../compressors.ts';
import type { FileOptions } from '../../format.ts';
import type { ColumnEncoder, Workbench } from './column.ts';
import { columnOf } from './column-of.ts';
import { type Codec, codecOf } from './compression.ts';
import { type FooterFrame, footerFrame } from './footer.ts';
import { fileSchema, isNested, leafOf } from './leaves.ts';
import { NestedColumn } from './nested-column.ts';
import { PageAssembler } from './page.ts';

/** Slots of all open pages together: columns have smaller pages where there are many. */
const allPageSlots: number = 1 << 20;

/** That of package.json: a test compares them. */
const packageVersion = '0.1.0';

export interface EncoderOptions {
  /** Those that the runtime lacks, or faster ones. */
  readonly compressors?: Compressors;
  /** A page ends after so many slots (levels), 32,768 by default and fewer where there are many columns; */
  readonly pageSlots?: number;
  /** or so many bytes before compression, 1 MiB by default. */
  readonly pageByteLength?: number;
  /** False leaves out the bounds of text and floats: only to measure what they cost. */
  readonly statistics?: boolean;
}

/** What encodes the columns of one file at a time. */
export interface Encoders {
  readonly codec: Codec;
  readonly assembler: PageAssembler;
  readonly columns: readonly (ColumnEncoder | NestedColumn)[];
  readonly leaves: readonly ColumnEncoder[];
  readonly frame: FooterFrame;
  /** Files that want the same can use them after another. */
  readonly use: string;
  readonly compressors: Compressors | undefined;
}

/** What was made for the columns of a table, as long as these are the same objects. */
interface Kept {
  readonly frame: FooterFrame;
  readonly leafCount: number;
  idle: Encoders | WeakRef<Encoders> | undefined;
}

/** Some isolates have none. */
const Weak: typeof WeakRef | undefined = globalThis.WeakRef;

const keptOf = new WeakMap<readonly Field[], Kept>();

/**
 * Encoders for a file of these columns: those of a file that was closed, when it was a small one. To make them, and the footer's
 * schema, would be a good part of a small file's work.
 */
export function takeEncoders(fields: readonly Field[], file: FileOptions, given: EncoderOptions): Encoders {
  let kept = keptOf.get(fields);
  if (kept === undefined) {
    const schema = fileSchema(fields);
    const leafCount = schema.filter(({ type }) => type !== undefined).length;
    kept = { frame: footerFrame(schema, `edgemere ${packageVersion}`), leafCount, idle: undefined };
    keptOf.set(fields, kept);
  }
  const { frame, leafCount } = kept;
  const idle = kept.idle !== undefined && 'deref' in kept.idle ? kept.idle.deref() : kept.idle;
  const { version = 2, compression, compressionLevel } = file;
  const { compressors, pageSlots = 32768, pageByteLength = 1 << 20, statistics = true } = given;
  const use = [compression, compressionLevel, version, pageSlots, pageByteLength, statistics].join();
  if (idle !== undefined && idle.use === use && idle.compressors === compressors) {
    kept.idle = undefined;
    for (const leaf of idle.leaves) leaf.renew();
    return idle;
  }
  const codec = codecOf(file, compressors ?? {});
  const assembler = new PageAssembler(codec, version);
  const sharedSlots = Math.max(4096, Math.floor(allPageSlots / Math.max(1, leafCount)));
  const bench: Workbench = {
    assembler,
    version,
    pageSlots: Math.min(pageSlots, sharedSlots),
    pageByteLength,
    statistics,
  };
  const columns = fields.map((field) =>
    isNested(field)
      ? new NestedColumn(field, bench)
      : columnOf(leafOf(field, { path: [field.name], repetition: 0, definition: 1 }), bench),
  );
  const leaves = columns.flatMap((column) => (column instanceof NestedColumn ? column.leaves : [column]));
  return { codec, assembler, columns, leaves, frame, use, compressors };
}

/** For the next file of these columns, after a file that is whole. Buffers grow with the file: after large ones, only until memory is needed. */
export function giveBack(fields: readonly Field[], encoders: Encoders, isSmall: boolean): void {
  const kept = keptOf.get(fields);
  if (kept !== undefined) kept.idle = isSmall ? encoders : Weak && new Weak(encoders);
}
