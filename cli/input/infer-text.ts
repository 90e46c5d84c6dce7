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

/** Whether the first ten characters are a day of the calendar. */
function isDay(text: string): boolean {
  const day = text.slice(0, 10);
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day) && day >= '0001';
}
