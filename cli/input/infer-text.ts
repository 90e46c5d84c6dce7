/** Which types a column of texts could have: those that every text seen is written like. */

const candidates: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text),
  time: (text) => /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?$/.test(text),
  timestamp: (text) => isTimestamp(text, false, 6),
  timestamptz: (text) => isTimestamp(text, true, 6),
  timestamp_ns: (text) => isTimestamp(text, false, 9) && /^(1[7-9]|2[01])/.test(text),
  uuid: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
};

export class TextCandidates {
  #count = 0;
  #left: string[] = Object.keys(candidates);

  get count(): number {
    return this.#count;
  }

  add(text: string): void {
    this.#count += 1;
    if (this.#left.length > 0) this.#left = this.#left.filter((type) => candidates[type]!(text));
  }

  /** `undefined` when it is just text. A date is a timestamp too: the plainest type comes first. */
  type(): string | undefined {
    return this.#count === 0 ? undefined : this.#left[0];
  }
}

const timestampPattern =
  /^\d{4}-\d\d-\d\d(?<clock>[ T]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.(?<fraction>\d{1,12}))?)?(?<offset>Z|[+-](0\d|1[0-5])(:?[0-5]\d)?)?)?$/;

function isTimestamp(text: string, zoned: boolean, digits: number): boolean {
  const found = timestampPattern.exec(text)?.groups;
  if (found === undefined || !isDay(text)) return false;
  // A bare date says no offset, so it is no instant.
  if ((found['offset'] !== undefined) !== zoned) return false;
  return /^0*$/.test((found['fraction'] ?? '').slice(digits));
}

/** Whether the first ten characters, `YYYY-MM-DD`, are a day of the calendar. */
function isDay(text: string): boolean {
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8, 10));
  // The day before the first of the next month.
  return (
    year > 0 &&
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    (day <= 28 || day <= new Date(Date.UTC(year, month, 0)).getUTCDate())
  );
}
