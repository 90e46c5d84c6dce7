import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type TableSchema, t } from 'edgemere';
import type { ReadContext } from '../../cli/input/bytes.ts';
import { inputFile } from '../../cli/input/file.ts';
import { openInput } from '../../cli/input/open.ts';

type Row = Record<string, unknown>;

/** A table of the demo, and where its rows come from. */
export interface DemoTable {
  readonly name: string;
  readonly columns: TableSchema;
  /** Of its source, for the progress bar. */
  readonly byteLength: number;
  readonly rows: (context: ReadContext) => AsyncIterable<Row> | Iterable<Row>;
  /** Columns of integers that the comparison adds up. */
  readonly sums: readonly string[];
  /** Columns whose different values it counts. */
  readonly distinct: readonly string[];
  /** Columns whose bounds it compares. */
  readonly bounds: readonly string[];
}

/** A data set that the npm package vega-datasets ships. */
const source = (name: string): string =>
  fileURLToPath(new URL(`../data/${name}`, import.meta.resolve('vega-datasets')));

/** flights, airports, zipcodes, movies, earthquakes. */
export function demoTables(): [DemoTable, DemoTable, DemoTable, DemoTable, DemoTable] {
  return [
    fileTable(
      'flights-3m.parquet',
      {
        date: t.timestamp().notNull(),
        delay: t.int32(),
        distance: t.int32(),
        origin: t.varchar(),
        destination: t.varchar(),
      },
      { name: 'flights', sums: ['delay', 'distance'], distinct: ['origin'], bounds: ['date', 'delay', 'destination'] },
    ),
    fileTable(
      'airports.csv',
      {
        iata: t.varchar().notNull(),
        name: t.varchar(),
        city: t.varchar(),
        state: t.varchar(),
        country: t.varchar(),
        latitude: t.float64(),
        longitude: t.float64(),
      },
      { name: 'airports', sums: [], distinct: ['iata', 'state'], bounds: ['latitude', 'name'] },
    ),
    fileTable(
      'zipcodes.csv',
      {
        zip_code: t.varchar().notNull(),
        latitude: t.float64(),
        longitude: t.float64(),
        city: t.varchar(),
        state: t.varchar(),
        county: t.varchar(),
      },
      { name: 'zipcodes', sums: [], distinct: ['zip_code', 'county'], bounds: ['zip_code', 'longitude'] },
    ),
    movies(),
    earthquakes(),
  ];
}

/** A file that the command line's readers read as the table is: Parquet, or CSV with a header. */
function fileTable(
  file: string,
  columns: TableSchema,
  rest: Pick<DemoTable, 'name' | 'sums' | 'distinct' | 'bounds'>,
): DemoTable {
  const path = source(file);
  const targets = Object.entries(columns).map(([name, { definition }]) => ({ name, type: definition.type.name }));
  return {
    ...rest,
    columns,
    byteLength: statSync(path).size,
    async *rows(context) {
      for await (const block of openInput(inputFile(path, {})).rows(targets, context)) yield* block;
    },
  };
}

/** A messy file: titles such as 1776 are numbers, dates are written in words, names of columns have spaces. */
function movies(): DemoTable {
  const path = source('movies.json');
  return {
    name: 'movies',
    columns: {
      title: t.varchar(),
      release_date: t.date(),
      us_gross: t.int64(),
      worldwide_gross: t.int64(),
      production_budget: t.int64(),
      running_minutes: t.int16(),
      mpaa_rating: t.varchar(),
      genre: t.varchar(),
      director: t.varchar(),
      imdb_rating: t.decimal(3, 1),
      imdb_votes: t.int32(),
    },
    byteLength: statSync(path).size,
    *rows() {
      for (const movie of JSON.parse(readFileSync(path, 'utf8')) as Row[])
        yield {
          title: movie['Title'] === null ? null : String(movie['Title']),
          // Jun 12 1998
          release_date: new Date(`${movie['Release Date']} UTC`),
          us_gross: movie['US Gross'],
          worldwide_gross: movie['Worldwide Gross'],
          production_budget: movie['Production Budget'],
          running_minutes: movie['Running Time min'],
          mpaa_rating: movie['MPAA Rating'],
          genre: movie['Major Genre'],
          director: movie['Director'],
          imdb_rating: movie['IMDB Rating'],
          imdb_votes: movie['IMDB Votes'],
        };
    },
    sums: ['us_gross', 'worldwide_gross', 'imdb_votes'],
    distinct: ['title', 'genre'],
    bounds: ['release_date', 'imdb_rating', 'title'],
  };
}

interface Earthquake {
  readonly id: string;
  readonly geometry: { readonly coordinates: readonly [longitude: number, latitude: number, depth: number] };
  readonly properties: Row & { readonly time: number };
}

/** GeoJSON: what is asked for often becomes columns, the rest stays JSON. */
function earthquakes(): DemoTable {
  const path = source('earthquakes.json');
  return {
    name: 'earthquakes',
    columns: {
      id: t.varchar().notNull(),
      time: t.timestamptz().notNull(),
      magnitude: t.float64(),
      place: t.varchar(),
      longitude: t.float64(),
      latitude: t.float64(),
      depth_km: t.float64(),
      significance: t.int32(),
      tsunami: t.boolean(),
      details: t.json(),
    },
    byteLength: statSync(path).size,
    *rows() {
      const { features } = JSON.parse(readFileSync(path, 'utf8')) as { features: Earthquake[] };
      for (const { id, geometry, properties } of features) {
        const [longitude, latitude, depth] = geometry.coordinates;
        const { mag, place, time, sig, tsunami, ...details } = properties;
        yield {
          id,
          time: new Date(time),
          magnitude: mag,
          place,
          longitude,
          latitude,
          depth_km: depth,
          significance: sig,
          tsunami: tsunami === 1,
          details,
        };
      }
    },
    sums: ['significance'],
    distinct: ['id', 'place'],
    bounds: ['time', 'magnitude', 'depth_km'],
  };
}
