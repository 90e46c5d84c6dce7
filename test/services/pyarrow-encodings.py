"""Parquet files in encodings that DuckDB does not write: `pyarrow-encodings.py FOLDER` makes them there and prints their names."""

import decimal
import os
import sys
import uuid

import pyarrow as pa
import pyarrow.parquet as pq

folder = sys.argv[1]
rows = 5000


def some(values, share):
    """Every `share`-th value missing; all of them there when it is 0."""
    return [None if share and i % share == 0 else value for i, value in enumerate(values)]


def text(i):
    if i % 50 == 0:
        return "prefix/" + str(i)
    return ["", "é" * (i % 40), "prefix/" + str(i // 7) + "/x" * (i % 5), "🦆" + str(i % 11)][i // 5 % 4]


def columns(share):
    return {
        "i": pa.array(some([(i * 7919) % 100003 - 50000 for i in range(rows)], share), pa.int32()),
        "l": pa.array(some([(i * 7919 << 33) - (1 << 45) for i in range(rows)], share), pa.int64()),
        "f": pa.array(some([i / 8 for i in range(rows)], share), pa.float32()),
        "d": pa.array(some([i / 3 for i in range(rows)], share), pa.float64()),
        "s": pa.array(some([text(i) for i in range(rows)], share), pa.string()),
        "b": pa.array(some([bytes([i % 256]) * (i % 9) for i in range(rows)], share), pa.binary()),
        "m": pa.array(some([decimal.Decimal(i * 7919 - 1000).scaleb(-5) for i in range(rows)], share), pa.decimal128(30, 5)),
        "u": pa.array(some([uuid.UUID(int=i * 7919 << 64 | i).bytes for i in range(rows)], share), pa.uuid()),
        "k": pa.array(some([i % 3 == 0 for i in range(rows)], share), pa.bool_()),
        "n": pa.nulls(rows),
    }


split = dict(i="BYTE_STREAM_SPLIT", l="BYTE_STREAM_SPLIT", f="BYTE_STREAM_SPLIT", d="BYTE_STREAM_SPLIT",
             m="BYTE_STREAM_SPLIT", u="BYTE_STREAM_SPLIT", s="DELTA_LENGTH_BYTE_ARRAY", b="DELTA_LENGTH_BYTE_ARRAY", k="RLE")
delta = dict(i="DELTA_BINARY_PACKED", l="DELTA_BINARY_PACKED", f="PLAIN", d="PLAIN",
             m="DELTA_BYTE_ARRAY", u="DELTA_BYTE_ARRAY", s="DELTA_BYTE_ARRAY", b="DELTA_BYTE_ARRAY", k="PLAIN")
shapes = {
    "split": dict(use_dictionary=False, column_encoding=split, compression="snappy"),
    "split-zstd": dict(use_dictionary=False, column_encoding=split, compression="zstd", data_page_version="2.0"),
    "delta": dict(use_dictionary=False, column_encoding=delta, compression="none"),
    "delta-gzip": dict(use_dictionary=False, column_encoding=delta, compression="gzip", data_page_version="2.0"),
    # Dictionaries that grow too long are given up amid a chunk.
    "fallback": dict(use_dictionary=True, dictionary_pagesize_limit=2000, write_batch_size=64, compression="snappy"),
    "fallback-v2": dict(use_dictionary=True, dictionary_pagesize_limit=2000, write_batch_size=64, data_page_version="2.0", compression="gzip"),
}
for name, options in shapes.items():
    for share in (0, 3):
        table = pa.table(columns(share))
        fields = [f.with_metadata({"PARQUET:field_id": str(n + 1)}) for n, f in enumerate(table.schema)]
        path = os.path.join(folder, f"{name}-{share}.parquet")
        pq.write_table(table.cast(pa.schema(fields)), path, data_page_size=4096, row_group_size=2000, **options)
        print(os.path.basename(path))
