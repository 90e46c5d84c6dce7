import type { SchemaElement } from 'hyparquet';
import { isLakeError, LakeError } from '../../errors.ts';
import type { Field } from '../../schema/field.ts';
import { typeText } from '../../spec/types.ts';
import { type Physical, ValueError } from '../../spec/values/value-codec.ts';
import { RefusedValue } from '../refused-value.ts';
import { castOf } from './casts.ts';
import { corrupt } from './footer.ts';
import { type Raw, sourceOf } from './source.ts';

/**
 * From raw Parquet values to the physical values of a column's type; `undefined` where they are the same. The file may be anyone's,
 * and written before the column's type was widened. UNSUPPORTED where DuckDB's answer isn't known; CORRUPT for a value that the
 * column can't hold.
 */
export function loadedForm(element: SchemaElement, field: Field): ((raw: Raw) => Physical) | undefined {
  const source = sourceOf(element);
  const cast = source && castOf(source.type, field.type);
  if (!source || !cast) throw unsupported(element, field);
  const { load, type } = source;
  if (cast === 'same') return load;
  return (raw) => {
    try {
      return cast(load ? load(raw) : (raw as Physical));
    } catch (error) {
      if (!(error instanceof ValueError || error instanceof SyntaxError)) throw error;
      const shown = typeof raw === 'object' ? 'bytes' : String(raw).slice(0, 50);
      throw corrupt(`column "${field.name}" holds the ${typeText(type)} ${shown}: ${error.message}`, error);
    }
  };
}

/** The same, with {@link RefusedValue} in place of what the column can't hold. */
export function lenientForm(
  element: SchemaElement,
  field: Field,
): { readonly load: ((raw: Raw) => Physical) | undefined; readonly isCast: boolean } {
  const load = loadedForm(element, field);
  const source = sourceOf(element);
  if (!load || !source || castOf(source.type, field.type) === 'same') return { load, isCast: false };
  const lenient = (raw: Raw): unknown => {
    try {
      return load(raw);
    } catch (error) {
      if (isLakeError(error, 'CORRUPT')) return new RefusedValue(error);
      throw error;
    }
  };
  return { load: lenient as (raw: Raw) => Physical, isCast: true };
}

function unsupported(element: SchemaElement, { name, type }: Field): LakeError {
  const annotation = element.converted_type ?? element.logical_type?.type;
  const stored = `${element.type ?? 'a nested column'}${annotation ? ` (${annotation})` : ''}`;
  return new LakeError('UNSUPPORTED', `column "${name}": ${stored} in Parquet can't be read as ${typeText(type)}`, {
    context: { column: name },
  });
}
