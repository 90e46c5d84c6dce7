import { describe, expect, test } from 'bun:test';
import { type NestedShape, parseNested, type TextTree } from '../../src/spec/values/nested-text.ts';
import { nestedText } from '../../src/spec/values/nested-write.ts';
import { randomFrom, randomText } from '../support/random-rows.ts';

const leaf: NestedShape = { name: 'x', type: { name: 'varchar' }, children: [] };
const list = (element: NestedShape): NestedShape => ({ name: 'l', type: { name: 'list' }, children: [element] });
const map = (value: NestedShape): NestedShape => ({ name: 'm', type: { name: 'map' }, children: [leaf, value] });
const struct = (...names: string[]): NestedShape => ({
  name: 's',
  type: { name: 'struct' },
  children: names.map((name) => ({ ...leaf, name })),
});

describe('nested values as text', () => {
  test('is what DuckDB writes, where DuckDB reads that back', () => {
    const texts = ['a b', 'a,b', null, 'NULL', '', "q'x", '"', ' a', 'a:b', 'null', 'nullx'];
    expect(nestedText(texts, list(leaf))).toBe(
      String.raw`[a b, 'a,b', NULL, 'NULL', '', 'q\'x', '"', ' a', 'a:b', 'null', nullx]`,
    );
    expect(nestedText(['k', ['1'], 'a=b', null], map(list(leaf)))).toBe("{k=[1], 'a=b'=NULL}");
    expect(nestedText(['1', null], struct('a b', "c'd"))).toBe(String.raw`{'a b': 1, 'c\'d': NULL}`);
  });

  test('quotes what DuckDB would lose: backslashes, and parts with brackets in their values', () => {
    expect(nestedText(['b\\c'], list(leaf))).toBe(String.raw`['b\\c']`);
    expect(nestedText([['a]'], ['b']], list(list(leaf)))).toBe(String.raw`['[\'a]\']', [b]]`);
  });

  test('is read back as it was, whatever is in it', () => {
    const random = randomFrom(7);
    const text = (): string | null => (random() < 0.1 ? null : randomText(random));
    const some = <T>(make: () => T): T[] => Array.from({ length: Math.floor(random() * 4) }, make);
    const shapes: readonly [NestedShape, () => TextTree][] = [
      [list(leaf), () => some(text)],
      [list(list(leaf)), () => some(() => some(text))],
      [map(list(leaf)), () => some(() => [randomText(random), some(text)] as TextTree[]).flat()],
      [list(struct('a', "b'", '}')), () => some(() => [text(), text(), text()])],
      [list(map(map(leaf))), () => some(() => ['k', ['j', text()]])],
    ];
    for (const [shape, make] of shapes)
      for (let i = 0; i < 400; i++) {
        const tree = make();
        expect(parseNested(nestedText(tree, shape), shape)).toEqual(tree);
      }
  });
});
