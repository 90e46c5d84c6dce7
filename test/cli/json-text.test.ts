import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { JsonSplitter } from '../../cli/input/json-splitter.ts';
import { compactJson, elementSources, mayLoseDigits, memberSources } from '../../cli/input/json-text.ts';

/** All records of a text that arrives in pieces of these lengths, over and over. */
function split(text: string, lengths: readonly number[]): string[] {
  const splitter = new JsonSplitter();
  const records: string[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const length = lengths[i % lengths.length]!;
    records.push(...splitter.push(text.slice(at, at + length)));
    at += length;
  }
  const last = splitter.end();
  return last === undefined ? records : [...records, last];
}

const pieces = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
const space = fc.stringMatching(/^[ \t\n\r]{0,3}$/);
/** JSON text that isn't as JSON.stringify would have it: white space, both ways to escape. */
const jsonText = fc.tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t')).map(([value, indent]) => {
  const text = JSON.stringify(value, null, indent);
  return text.replaceAll('é', '\\u00e9');
});

describe('records', () => {
  test('of an array, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(space, jsonText, space)), space, pieces, (items, around, lengths) => {
        const text = `${around}[${items.map((item) => item.join('')).join(',') || ' '}]${around}`;
        expect(split(text, lengths)).toEqual(items.map(([, json]) => json));
      }),
    );
  });

  test('of objects after one another', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(fc.array(fc.tuple(space, object)), pieces, (items, lengths) => {
        expect(split(items.map((item) => item.join('')).join(''), lengths)).toEqual(items.map(([, json]) => json));
      }),
    );
  });

  test('a number at the end has nothing behind it', () => {
    expect(split('1 -2.5e3 true', [1])).toEqual(['1', '-2.5e3', 'true']);
  });

  for (const text of ['[{} {}]', '[{},', '[', '[1', '[1] 2', '[]]'])
    test(`${text} is no JSON`, () => {
      expect(() => split(text, [2])).toThrow(SyntaxError);
    });

  test('what else is no JSON, is left to JSON.parse', () => {
    for (const text of ['[,{}]', '[{},]', '{"a":1}}', '{]}'])
      expect(() => {
        for (const record of split(text, [3])) JSON.parse(record);
      }).toThrow(SyntaxError);
  });
});

describe('members', () => {
  test('are the pieces of the text that JSON.parse reads', () => {
    const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', 'a"b', '\\', '}'));
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(key, jsonText, space), { selector: ([name]) => name }), (members) => {
        const text = `{${members.map(([name, json, s]) => `${s}${JSON.stringify(name)}${s}:${s}${json}${s}`).join(',')}}`;
        expect([...memberSources(text)]).toEqual(members.map(([name, json]) => [name, json]));
      }),
    );
  });

  test('elements too', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(space, jsonText)), space, (elements, around) => {
        const text = `${around}[${elements.map((element) => element.join('')).join(',')}${around}]`;
        expect(elementSources(text)).toEqual(elements.map(([, json]) => json));
      }),
    );
  });

  test('of 10 MB, full of quotes', () => {
    const long = JSON.stringify('x"\\'.repeat(2_500_000));
    expect(memberSources(`{"a":${long},"b":[${long}]}`).get('b')).toHaveLength(long.length + 2);
    expect(compactJson(`[ ${long} ]`)).toHaveLength(long.length + 2);
  });

  test('keep every digit, the last of the same name counts', () => {
    expect(memberSources('{"a":1,"n":-12345678901234567890.10,"a":[1, {"]":"}"}]}')).toEqual(
      new Map([
        ['a', '[1, {"]":"}"}]'],
        ['n', '-12345678901234567890.10'],
      ]),
    );
  });
});

test('compact text has no white space between tokens and the same value', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      const compact = compactJson(text);
      expect(JSON.parse(compact)).toEqual(JSON.parse(text));
      expect(compact).toBe(JSON.stringify(JSON.parse(text)).replaceAll('é', '\\u00e9'));
    }),
  );
  expect(compactJson('{"a b" : [NaN, -Infinity, "nan", 1.50 ]}')).toBe('{"a b":["NaN","-Infinity","nan",1.50]}');
});

test('where JSON.parse may lose digits, it is said', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
      fc.integer({ min: 0, max: 30 }),
      (digits, scale) => {
        const text = `${String(digits)}${scale === 0 ? '' : `.${'5'.repeat(scale)}`}`;
        const kept = String(JSON.parse(text) as number);
        if (!mayLoseDigits(text)) expect(kept).toBe(text === '-0' ? '0' : text);
      },
    ),
  );
  expect(mayLoseDigits('{"a":1e400}')).toBe(true);
});
