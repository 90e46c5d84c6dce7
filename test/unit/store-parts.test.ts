import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { equal, rejects, rejectsWith } from '../../src/conformance/case.ts';
import { pattern } from '../../src/conformance/storage/target.ts';
import { untilAborted } from '../../src/storage/abort.ts';
import { concatenate, PartBuffer } from '../../src/storage/bytes.ts';
import { concurrently } from '../../src/storage/concurrently.ts';
import { type ObjectSink, sinkWriter } from '../../src/storage/sink.ts';

describe('PartBuffer', () => {
  test('gives back the bytes in parts of one length, and a rest that is empty only when everything is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.integer({ min: 0, max: 45 })), (partLength, sizes) => {
        const buffer = new PartBuffer(partLength);
        const chunks = sizes.map((size, i) => pattern(size, i + 1));
        const parts: Uint8Array[] = [];
        for (const chunk of chunks) {
          buffer.push(chunk);
          for (let part = buffer.takePart(); part; part = buffer.takePart()) parts.push(part);
          expect(buffer.byteLength).toBeLessThanOrEqual(partLength);
        }
        expect(parts.every((part) => part.length === partLength)).toBe(true);
        const rest = buffer.takeRest();
        expect(rest.length).toBeLessThanOrEqual(partLength);
        if (parts.length > 0) expect(rest.length).toBeGreaterThan(0);
        expect(buffer.byteLength).toBe(0);
        equal(concatenate([...parts, rest]), concatenate(chunks));
      }),
    );
  });
});

describe('concurrently', () => {
  test('keeps to the limit, tries everything, and throws the first failure at the end', async () => {
    let running = 0;
    let most = 0;
    const done: number[] = [];
    const run = concurrently([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      most = Math.max(most, ++running);
      await Bun.sleep(item % 2);
      running -= 1;
      if (item === 2 || item === 5) throw new Error(`failed ${item}`);
      done.push(item);
    });
    await expect(run).rejects.toThrow('failed 2');
    equal(done.sort(), [1, 3, 4, 6, 7]);
    equal([most, running], [3, 0]);
  });

  test('an abort begins no more, and its reason wins over failures', async () => {
    const controller = new AbortController();
    const begun: number[] = [];
    const run = concurrently(
      [1, 2, 3, 4, 5],
      2,
      async (item) => {
        begun.push(item);
        await Bun.sleep(1);
        controller.abort('enough');
        throw new Error('failed');
      },
      controller.signal,
    );
    await rejectsWith(run, 'enough');
    equal(begun, [1, 2]);
    await rejectsWith(() => concurrently([], 2, async () => {}, controller.signal), 'enough');
  });
});

describe('untilAborted', () => {
  test('settles as the promise does, or with the reason, and leaves no listener', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = ((...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    }) as typeof add;
    signal.removeEventListener = ((...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    }) as typeof remove;
    equal(await untilAborted(Promise.resolve(1), signal), 1);
    await expect(untilAborted(Promise.reject(new Error('own')), signal)).rejects.toThrow('own');
    equal(listeners, 0);
    const hanging = untilAborted(new Promise(() => {}), signal);
    controller.abort(0);
    await rejectsWith(hanging, 0);
    await rejectsWith(
      () =>
        untilAborted(
          Promise.resolve(1).then(() => Bun.sleep(5)),
          signal,
        ),
      0,
    );
    equal(await untilAborted(Promise.resolve(2), undefined), 2);
  });
});

describe('sinkWriter', () => {
  function recorded(override: Partial<ObjectSink> = {}) {
    const calls: string[] = [];
    const note = (name: string, run?: (bytes: Uint8Array) => Promise<void>) => async (bytes: Uint8Array) => {
      calls.push(`${name} begins`);
      await Bun.sleep(1);
      await run?.(bytes);
      calls.push(`${name} ends`);
    };
    const sink: ObjectSink = {
      write: note('write', override.write),
      finish: note('finish', override.finish) as () => Promise<void>,
      discard: note('discard', override.discard) as () => Promise<void>,
    };
    return { calls, sink };
  }

  test('never lets two calls overlap', async () => {
    const { calls, sink } = recorded();
    const writer = sinkWriter('x', undefined, () => sink);
    await Promise.all([writer.write(pattern(1)), writer.write(pattern(1)), writer.close()]);
    equal(calls, ['write begins', 'write ends', 'write begins', 'write ends', 'finish begins', 'finish ends']);
  });

  test('after a failed write nothing more is written, close rejects with the same, and discard runs once', async () => {
    const failure = new Error('disk full');
    const { calls, sink } = recorded({ write: () => Promise.reject(failure) });
    const writer = sinkWriter('x', undefined, () => sink);
    const [first, second] = await Promise.allSettled([writer.write(pattern(1)), writer.write(pattern(1))]);
    equal([(first as PromiseRejectedResult).reason, (second as PromiseRejectedResult).reason], [failure, failure]);
    await rejectsWith(() => writer.close(), failure);
    await Promise.all([writer.abort(), writer.abort()]);
    equal(calls, ['write begins', 'discard begins', 'discard ends']);
  });

  test('abort while closing: the sink’s signal fires; a close that got through stands', async () => {
    const through = recorded();
    const kept = sinkWriter('x', undefined, () => through.sink);
    const closing = kept.close();
    await kept.abort();
    // It had not begun: the abort came first.
    await rejects(closing, 'CLOSED');
    equal(through.calls, ['discard begins', 'discard ends']);

    const late = recorded();
    const closed = sinkWriter('x', undefined, () => late.sink);
    const lateClosing = closed.close();
    await Bun.sleep(0);
    await closed.abort();
    await lateClosing;
    equal(late.calls, ['finish begins', 'finish ends']);

    let signal: AbortSignal | undefined;
    const cut = recorded({ finish: () => untilAborted(new Promise<void>(() => {}), signal) });
    const cutWriter = sinkWriter('x', undefined, (ended) => {
      signal = ended;
      return cut.sink;
    });
    const cutClosing = cutWriter.close();
    cutClosing.catch(() => {});
    await Bun.sleep(5);
    await cutWriter.abort();
    await rejects(cutClosing, 'CLOSED');
    equal(cut.calls, ['finish begins', 'discard begins', 'discard ends']);
  });

  test('abort never rejects', async () => {
    const { sink } = recorded({ discard: () => Promise.reject(new Error('no')) });
    const writer = sinkWriter('x', undefined, () => sink);
    equal(await writer.abort(), undefined);
  });
});
