/** `2024-01-15 12:30:00.123456+00`, as DuckDB writes instants: without the zeros that end a fraction. */
export function instantText(micros: number): string {
  const seconds = Math.floor(micros / 1e6);
  const fraction = String(micros - seconds * 1e6)
    .padStart(6, '0')
    .replace(/0+$/, '');
  const [date, time] = new Date(seconds * 1000).toISOString().split('T') as [string, string];
  return `${date} ${time.slice(0, 8)}${fraction && `.${fraction}`}+00`;
}

/** Microseconds since 1970 of such a text. */
export function instantMicros(text: string): number {
  const [, date, time, fraction = ''] = /^(\S+) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/.exec(text)!;
  return Date.parse(`${date}T${time}Z`) * 1000 + Number(fraction.padEnd(6, '0'));
}
