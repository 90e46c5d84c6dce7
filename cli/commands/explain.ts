import type { Io } from '../io.ts';
import { renderJson } from '../output/render.ts';
import { type ScanOptions, scanOf } from '../scan-options.ts';
import { type LakeOptions, openTable } from './context.ts';

export async function explain(args: readonly string[], options: LakeOptions & ScanOptions, io: Io): Promise<void> {
  const { opened, table } = await openTable(args, { ...options, jsonAsText: true }, io);
  await using _ = opened;
  const { scan } = await scanOf(opened, table, options, io.signal);
  const explanation = await scan.explain();
  await io.stdout.line(options.json ? renderJson(explanation) : String(explanation));
}
