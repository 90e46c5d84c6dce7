import type { Io } from '../io.ts';
import { makeLake } from '../open.ts';
import { renderJson } from '../output/render.ts';
import { showTarget } from '../target.ts';
import { type LakeOptions, lakeArguments } from './context.ts';

export async function init(args: readonly string[], options: LakeOptions, io: Io): Promise<void> {
  const { target } = lakeArguments(args, { names: [] }, options, io.env);
  const { dataPath, overrideDataPath } = options;
  const { opened, isNew } = await makeLake(target, { env: io.env, dataPath, overrideDataPath });
  await using lake = opened;
  const stored = lake.lake.dataPath;
  if (options.json) return io.stdout.line(renderJson({ created: isNew, lake: showTarget(target), dataPath: stored }));
  const what = isNew ? 'made a lake in' : 'there is a lake already in';
  await io.stdout.line(`${what} ${showTarget(target)}, its data files in ${stored}`);
}
