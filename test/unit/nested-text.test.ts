import { describe, expect, test } from 'bun:test';
import { type NestedShape, parseNested } from '../../src/spec/values/nested-text.ts';

const leaf = (type: 'varchar' | 'json' | 'int32', name = 'x'): NestedShape => ({
  name,
  type: { name: type },
  children: [],
});
const list = (element: NestedShape): NestedShape => ({ name: 'l', type: { name: 'list' }, children: [element] });
const map = (key: NestedShape, value: NestedShape): NestedShape => ({
  name: 'm',
  type: { name: 'map' },
  children: [key, value],
});
const struct = (...members: NestedShape[]): NestedShape => ({ name: 's', type: { name: 'struct' }, children: members });

// Left: what DuckDB 1.5.5 wrote for these values.
describe('the text of nested values', () => {
  test('quotes texts only when they need it', () => {
    const text = String.raw`[a b, 'a,b', NULL, 'NULL', '', 'q\'x', b\c, '"', 'a"b', '(x)', ' a', 'a:b', 'null', nULLx, NULLs]`;
    expect(parseNested(text, list(leaf('varchar')))).toEqual([
      ...['a b', 'a,b', null, 'NULL', '', "q'x", 'b\\c', '"', 'a"b', '(x)', ' a', 'a:b', 'null', 'nULLx', 'NULLs'],
    ]);
  });

  test('has structs in lists in maps', () => {
    const shape = map(leaf('varchar'), map(leaf('varchar'), leaf('varchar')));
    expect(parseNested("{'a=b'={k=v}, ''=NULL, x y={}, 'NULL'={k=NULL}}", shape)).toEqual([
      ...['a=b', ['k', 'v'], '', null, 'x y', [], 'NULL', ['k', null]],
    ]);
    const key = struct(leaf('int32', 'a'));
    expect(parseNested("{{'a': 1}=[1], {'a': NULL}=NULL}", map(key, list(leaf('int32'))))).toEqual([
      ['1'],
      ['1'],
      [null],
      null,
    ]);
  });

  test('ends JSON where its grammar does', () => {
    const text = String.raw`[{"a": [1,"x, ]\""]}, NULL, "it's, ]", 1e3, null, [ ]]`;
    const values = [String.raw`{"a": [1,"x, ]\""]}`, null, `"it's, ]"`, '1e3', 'null', '[ ]'];
    expect(parseNested(text, list(leaf('json')))).toEqual(values);
  });

  test('of a member of a struct has doubled quotes, which DuckDB drops', () => {
    const shape = struct(leaf('varchar', 'a'), leaf('json', 'j'));
    expect(parseNested(`{'a': 'a, b''c', 'j': '"s"'}`, shape)).toEqual(['a, bc', '"s"']);
    expect(parseNested(`{'a': '''x''', 'j': NULL}`, shape)).toEqual(['x', null]);
  });

  test('is refused when it is none', () => {
    for (const text of ['[a', 'a]', '[a]]', '[a,b]', "['a]", "{'b': 1}", '', "[CAST('x' AS VARCHAR)]"])
      expect(() => parseNested(text, list(leaf('varchar'))), text).toThrow();
  });
});
