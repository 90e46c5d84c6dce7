import cliProgress from 'cli-progress';
import type { Io } from './io.ts';
import { showBytes, showCount } from './output/render.ts';

/** How far an append is. */
export interface Progress {
  /** Bytes of the input read just now. */
  read(byteLength: number): void;
  /** Rows written so far. */
  rows(rowCount: number): void;
  stop(): void;
}

const silent: Progress = { read() {}, rows() {}, stop() {} };

/** A bar on a terminal, nothing anywhere else. `byteLength` is the input's, `undefined` when that isn't known. */
export function startProgress(stream: Io['stderr'], label: string, byteLength: number | undefined): Progress {
  if (!stream.isTTY) return silent;
  let rowCount = 0;
  let bytesRead = 0;
  const bar = new cliProgress.SingleBar({
    stream: stream as NodeJS.WriteStream,
    clearOnComplete: true,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    fps: 8,
    barsize: 24,
    format: (options, params) => {
      const amount =
        byteLength === undefined
          ? showBytes(bytesRead)
          : `${cliProgress.Format.BarFormat(params.progress, options)} ${Math.floor(params.progress * 100)} % of ${showBytes(byteLength)}`;
      return `${label}  ${amount}  ${showCount(rowCount)} rows`;
    },
  });
  const stop = (): void => bar.stop();
  // Also when a second Ctrl-C ends everything: the bar has turned off the wrapping of lines.
  process.once('exit', stop);
  bar.start(Math.max(1, byteLength ?? 1), 0);
  return {
    read(count) {
      bytesRead += count;
      if (byteLength !== undefined) bar.update(Math.min(bytesRead, byteLength));
    },
    rows(count) {
      rowCount = count;
    },
    stop() {
      process.removeListener('exit', stop);
      stop();
    },
  };
}
