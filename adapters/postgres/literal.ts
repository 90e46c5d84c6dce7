/**
 * A string constant that reads the same under any `standard_conforming_strings`. Constants stand where a parameter would
 * cost a round trip: the client asks for a parameter's type before it binds it, unless the statement is prepared.
 */
export function literal(text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** With a tag that the text doesn't hold. */
export function dollarQuoted(text: string): string {
  let tag = '$lake$';
  for (let n = 1; text.includes(tag); n++) tag = `$lake${n}$`;
  return `${tag}${text}${tag}`;
}
