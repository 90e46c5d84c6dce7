import { memorySuites } from './memory.ts';
import { runSuites } from './suite.ts';

/** Runs inside workerd: see workerd.ts. */
const worker: { fetch(): Promise<Response> } = {
  async fetch() {
    const lines: string[] = [];
    const counts = await runSuites(memorySuites(), (line) => lines.push(line));
    return Response.json({ lines, counts });
  },
};

export default worker;
