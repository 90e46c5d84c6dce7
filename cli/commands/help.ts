import { renderTable } from '../output/render.ts';
import { typeTable } from '../sql-types.ts';

/** What `edgemere help TOPIC` prints besides the commands. */
export const topics: Readonly<Record<string, () => string>> = { values, types, lake, where };

function lake(): string {
  return `LAKE says where a lake's catalog is. It may be left out when EDGEMERE_LAKE holds it.

  DIR                     a folder: the catalog is DIR/catalog.sqlite, the data goes to DIR/data/
  FILE.sqlite             a SQLite file (also .sqlite3, .db, .ducklake, and any path that is a file);
                          the data goes to FILE.sqlite.files/, as DuckDB has it
  sqlite:FILE             the same for a file of any name
  postgres://USER:PASSWORD@HOST:PORT/DATABASE
                          a Postgres database; --schema NAME keeps several lakes in one; --data-path is needed
                          to make one

Where the data lies the catalog knows, once the lake is made: --data-path is for \`edgemere init\`. It takes a folder,
which is stored as an absolute path, or s3://BUCKET/PREFIX/. For a lake whose data was moved, any command takes
--data-path with --override-data-path.

S3 takes the settings of AWS tools from the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
AWS_PROFILE, AWS_REGION; another endpoint from S3_ENDPOINT or AWS_ENDPOINT_URL_S3.`;
}

function types(): string {
  return `Types of columns, in any case, as SQL and DuckDB write them. int8 is refused: it has 8 bytes in SQL and 8 bits in
DuckLake. A length, as in varchar(20), is taken and not enforced, as in DuckDB.

${renderTable(['DuckLake', 'written as'], typeTable(), [])}`;
}

function where(): string {
  return `--where takes a filter as JSON: an object of columns and what they have to be, all of which has to hold.

  '{"id": 5}'                                    equal
  '{"at": {"gte": "2024-01-15", "lt": "2024-01-16"}}'
                                                 eq, ne, lt, lte, gt, gte
  '{"kind": {"in": ["click", "view"]}}'          one of several
  '{"note": {"like": "a%"}}'                     also {"startsWith": "a"}
  '{"note": {"isNull": true}}'                   NULL; false: not NULL
  '{"not": {"id": 5}}', '{"id": {"not": {"in": [1, 2]}}}'
  '{"or": [{"id": 5}, {"kind": "click"}]}'       and: all of several

Values are written as \`edgemere help values\` says for JSON; those of json and interval columns stand behind an operator
({"eq": …}). Logic is SQL's: a comparison with NULL is neither true nor false, and only rows for which the whole is true are
kept.`;
}

function values(): string {
  return `Every value that \`edgemere scan\` writes, as NDJSON, JSON or CSV, \`edgemere append\` reads back to the same value.

  column                     JSON and NDJSON                          CSV
  integers, decimals         a number with all its digits             the same
  floats                     the shortest number that reads back;     the same, without quotes
                             "NaN", "Infinity", "-Infinity"
  boolean                    true, false                              the same
  varchar                    a string                                 the text
  json                       the JSON value itself                    its JSON text
  blob                       base64 in a string                       base64
  uuid                       a string                                 the same
  date                       "2024-01-15"                             the same, and below, without quotes
  timestamp, _s, _ms, _ns    "2024-01-15T12:30:00.123456"
  timestamptz                "2024-01-15T12:30:00.123456Z"
  time, timetz               "12:30:00.123456", "12:30:00+00"
  interval                   ISO 8601: "P1Y2M3DT4H5M6.5S"
  list, struct               an array, an object                      their JSON text
  map                        an object where keys are text, else      its JSON text
                             an array of [key, value]
  NULL                       null                                     nothing between two commas

Numbers have all their digits on purpose: int64, decimal(38,10) and so on are written 1:1, never rounded. A reader that
makes doubles of them (JSON.parse, jq before 1.7) rounds beyond 15 digits; this one doesn't.

Read as well: a string of digits for an integer or a decimal; 1e3 and 1.0 for an integer; {"months", "days", "micros"} for
an interval; "2024-01-15 12:30:00", with an offset where the column is a timestamptz; true, t, 1, false, f, 0 in CSV.
Anything else that isn't of the column's type is refused, with its place in the file. A key that a record lacks
gets the column's default, null is NULL. JSON's own null in a json column can't be told from NULL, and is read as NULL.

CSV has a header. A cell with nothing in it is NULL, a cell of two quotes is the empty text (NULL where the column isn't
text), the word NULL is that word. Spaces around numbers and times are passed over. Quotes inside quotes are doubled.

--create takes the types from all of the input: int64, uint64 or decimal for integers, by their size; float64 for
fractions that a double keeps, else a decimal; boolean; date, time, timestamp, timestamptz, uuid where every text is
one; varchar; json for anything nested or mixed. Numbers with leading zeros are text. Nothing is rounded to fit.`;
}
