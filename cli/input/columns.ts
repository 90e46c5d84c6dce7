import { InputError } from '../errors.ts';
import { quoteName } from '../names.ts';
import type { CellReaders } from './cells.ts';
import { columnReaders } from './nested.ts';
import type { TargetColumn } from './reader.ts';

/** A column of the table with how its values are read. */
export interface BoundColumn extends TargetColumn {
  readonly readers: CellReaders;
}

/** Finds the table's columns by the names that files use: exactly, else in another case, as SQL does. */
export class ColumnBinder {
  readonly columns: readonly BoundColumn[];
  readonly #byName: Map<string, BoundColumn>;
  readonly #byLowerName: Map<string, BoundColumn>;

  constructor(columns: readonly TargetColumn[]) {
    this.columns = columns.map((column) => ({ ...column, readers: columnReaders(column) }));
    this.#byName = new Map(this.columns.map((column) => [column.name, column]));
    this.#byLowerName = new Map(this.columns.map((column) => [column.name.toLowerCase(), column]));
  }

  /** `where` is the place of the name, for the error. */
  find(name: string, where: () => string): BoundColumn {
    const column = this.#byName.get(name) ?? this.#byLowerName.get(name.toLowerCase());
    if (column !== undefined) {
      // The next one of that spelling is found at once.
      this.#byName.set(name, column);
      return column;
    }
    throw new InputError(
      where(),
      `the table has no column ${quoteName(name)}; it has ${listNames(this.columns.map((known) => known.name))}`,
    );
  }
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 12).map(quoteName).join(', ');
  return names.length > 12 ? `${shown} and ${names.length - 12} more` : shown;
}
