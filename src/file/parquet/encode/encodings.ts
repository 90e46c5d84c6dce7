/** Numbers of the Parquet format (parquet.thrift), as far as they are written here. */

export const encodings = {
  plain: 0,
  rle: 3,
  deltaBinaryPacked: 5,
  deltaLengthByteArray: 6,
  rleDictionary: 8,
} as const;

export type Encoding = (typeof encodings)[keyof typeof encodings];

export const pageTypes = { data: 0, dictionary: 2, dataV2: 3 } as const;

export type PageType = (typeof pageTypes)[keyof typeof pageTypes];
