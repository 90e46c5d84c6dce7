import type { Contender } from './measure.ts';

export interface Setting {
  /** Rows of the largest data set; the others are as large as their share of it. */
  readonly rowCount: number;
  /** A file of that name to write to. */
  readonly path: (name: string) => string;
  /** The only data set to ask about. */
  readonly only: string | undefined;
}

/** Something to find out, for one data set after the other. The first contender is the one that the others are compared with. */
export interface Question {
  readonly name: string;
  ask(setting: Setting): AsyncIterable<{ readonly of: string; readonly contenders: readonly Contender[] }>;
}
