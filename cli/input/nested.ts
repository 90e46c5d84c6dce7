import { CellError, type CellReaders, cellReaders } from './cells.ts';
import { elementSources, memberSources } from './json-text.ts';
import type { TargetColumn } from './reader.ts';

/** The readers of a column, nested or not. */
export function columnReaders(column: TargetColumn): CellReaders {
  const read = nestedReader(column);
  if (read === undefined) return cellReaders(column.type);
  return {
    needsSource: true,
    fromJson: (value, source) => read(source ?? JSON.stringify(value)),
    fromText(text) {
      try {
        JSON.parse(text);
      } catch {
        throw new CellError('nested values are written as JSON');
      }
      return read(text);
    },
  };
}

/** From a value's JSON text, which isn't null. */
type FromSource = (source: string) => unknown;

function nestedReader(column: TargetColumn): FromSource | undefined {
  const children = column.children ?? [];
  switch (column.type) {
    case 'list':
      return listReader(children[0]!);
    case 'struct':
      return structReader(children);
    case 'map':
      return mapReader(children[0]!, children[1]!);
    default:
      return undefined;
  }
}

/** Of a part: NULL as well, and an error says which part it was. */
function partReader(column: TargetColumn, label: string): FromSource {
  const { fromJson } = columnReaders(column);
  return (source) => {
    if (source === 'null') return null;
    try {
      return fromJson(JSON.parse(source), source);
    } catch (error) {
      if (!(error instanceof CellError)) throw error;
      throw new CellError(`${label}: ${error.message}`);
    }
  };
}

function listReader(element: TargetColumn): FromSource {
  const read = partReader(element, 'in the list');
  return (source) => {
    if (!source.startsWith('[')) throw new CellError(`expected an array, got ${short(source)}`);
    return elementSources(source).map(read);
  };
}

function structReader(members: readonly TargetColumn[]): FromSource {
  const readers = new Map(members.map((member) => [member.name, partReader(member, `member "${member.name}"`)]));
  return (source) => {
    if (!source.startsWith('{')) throw new CellError(`expected an object, got ${short(source)}`);
    const entries: [string, unknown][] = [];
    for (const [name, text] of memberSources(source)) {
      const read = readers.get(name);
      if (read === undefined)
        throw new CellError(`it has no member "${name}"; it has ${[...readers.keys()].join(', ')}`);
      entries.push([name, read(text)]);
    }
    return Object.fromEntries(entries);
  };
}

function mapReader(key: TargetColumn, value: TargetColumn): FromSource {
  const readKey = partReader(key, 'a key of the map');
  const readValue = partReader(value, 'a value of the map');
  return (source) => {
    if (source.startsWith('{'))
      return new Map(
        [...memberSources(source)].map(([name, text]) => [readKey(JSON.stringify(name)), readValue(text)]),
      );
    if (!source.startsWith('[')) throw new CellError(`expected an object or [key, value] pairs, got ${short(source)}`);
    return new Map(
      elementSources(source).map((pair) => {
        const parts = pair.startsWith('[') ? elementSources(pair) : [];
        if (parts.length !== 2) throw new CellError(`expected [key, value], got ${short(pair)}`);
        return [readKey(parts[0]!), readValue(parts[1]!)];
      }),
    );
  };
}

/** JSON text as a message shows it. */
export function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57).toWellFormed()}…` : text;
}
