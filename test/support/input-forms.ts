/** The forms in which an insert takes rows. */
export type InputForm = 'rows' | 'columns' | 'iterable' | 'async iterable' | 'stream';

export const INPUT_FORMS: readonly InputForm[] = ['rows', 'columns', 'iterable', 'async iterable', 'stream'];

/** The rows in one of the forms. All columns of any row are columns of the form. */
export function inForm(form: InputForm, rows: readonly Readonly<Record<string, unknown>>[]): never {
  switch (form) {
    case 'rows':
      return rows as never;
    case 'columns': {
      const names = new Set(rows.flatMap(Object.keys));
      return {
        columns: Object.fromEntries(
          [...names].map((name) => [name, rows.map((row) => (Object.hasOwn(row, name) ? row[name] : undefined))]),
        ),
      } as never;
    }
    case 'iterable':
      return new Set(rows) as never;
    case 'async iterable':
      return (async function* () {
        yield* rows;
      })() as never;
    case 'stream':
      return new ReadableStream({
        start(controller) {
          for (const row of rows) controller.enqueue(row);
          controller.close();
        },
      }) as never;
  }
}
