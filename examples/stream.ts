/** A web stream of NDJSON, such as the body of a response, into a table: in memory is never more than a row group. */
import { t } from 'edgemere';
import { memoryLake } from 'edgemere/memory';

const response = new Response('{"id":1,"kind":"view"}\n{"id":2,"kind":"click"}\n');

/** Cuts text into lines and parses each. */
function ndjson(): TransformStream<string, { id: number; kind: string }> {
  let rest = '';
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') controller.enqueue(JSON.parse(line));
    },
    flush(controller) {
      if (rest !== '') controller.enqueue(JSON.parse(rest));
    },
  });
}

await using lake = await memoryLake();
const events = await lake.createTable('events', { id: t.int64(), kind: t.varchar() });
const rows = response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(ndjson());
const { rowCount } = await events.insert(rows, { signal: AbortSignal.timeout(60_000) });
console.log(rowCount); // 2
