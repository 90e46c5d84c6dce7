/**
 * A string constant that reads the same under any `standard_conforming_strings`. Constants stand where a parameter would
 * cost a round trip: the client asks for a parameter's type before it binds it, unless the statement is prepared.
 */
export function literal(text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
