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
  readonly idle: (Encoders | WeakRef<Encoders>)[];
}

/** Files that are often written at the same time. */
const idleCount = 64;

/** Some isolates have none. */
const Weak: typeof WeakRef | undefined = globalThis.WeakRef;

const keptOf = new WeakMap<readonly Field[], Kept>();

/**
 * Encoders for a file of these columns: those of an earlier file, where they are still there. To make them, and the footer's
 * schema, would be a good part of a small file's work.
 */
export function takeEncoders(fields: readonly Field[], file: FileOptions, given: EncoderOptions): Encoders {
  let kept = keptOf.get(fields);
  if (kept === undefined) {
    const schema = fileSchema(fields);
    const leafCount = schema.filter(({ type }) => type !== undefined).length;
    kept = { frame: footerFrame(schema, `edgemere ${packageVersion}`), leafCount, idle: [] };
    keptOf.set(fields, kept);
  }
  const { frame, leafCount } = kept;
  const { version = 2, compression, compressionLevel } = file;
  const { compressors, pageSlots = 32768, pageByteLength = 1 << 20, statistics = true } = given;
  const use = [compression, compressionLevel, version, pageSlots, pageByteLength, statistics].join();
  while (kept.idle.length > 0) {
    const one = kept.idle.pop()!;
    const idle = 'deref' in one ? one.deref() : one;
    if (idle === undefined || idle.use !== use || idle.compressors !== compressors) continue;
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

/**
 * For the next file of these columns, once all of a file is encoded. Buffers grow with the file: those of one small file are kept, others
 * only until memory is needed.
 */
export function giveBack(fields: readonly Field[], encoders: Encoders, isSmall: boolean): void {
  const idle = keptOf.get(fields)?.idle;
  if (idle === undefined || idle.length >= idleCount) return;
  if (isSmall && idle.length === 0) idle.push(encoders);
  else if (Weak) idle.push(new Weak(encoders));
}
