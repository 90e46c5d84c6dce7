"""What pyarrow finds in Parquet files: `pyarrow-read.py FILE...` prints a JSON array with an object for each file. Of Arrow's
own files, whose names end in `.arrow`, only the columns and their types.

Values are text that loses nothing: integers and instants as integers in their units, floats as the hex of a big-endian
double, decimals in full, bytes as hex; null, and lists and objects of these for nested values (a map is a list of pairs).
Bounds are of leaves, by row group: `min` and `max` as the footer has them, `least` and `greatest` of the values read.
"""

import decimal
import json
import math
import struct
import sys

import pyarrow as pa
import pyarrow.parquet as pq

# Python rounds decimals to 28 digits by itself.
WIDE = decimal.Context(prec=76)


def storage(array):
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def integers(array):
    width = pa.int32() if array.type.bit_width == 32 else pa.int64()
    return array.view(width)


def is_instant(kind):
    return pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind)


def double(value):
    return "nan" if math.isnan(value) else struct.pack(">d", value).hex()


def values(array):
    array = storage(array)
    kind = array.type
    if pa.types.is_map(kind):
        entries = list(zip(values(array.keys), values(array.items)))
        return runs(array, entries)
    if pa.types.is_list(kind):
        return runs(array, values(array.values))
    if pa.types.is_struct(kind):
        names = [kind.field(i).name for i in range(kind.num_fields)]
        members = [values(array.field(i)) for i in range(kind.num_fields)]
        valid = array.is_valid().to_pylist()
        return [dict(zip(names, row)) if ok else None for ok, row in zip(valid, zip(*members))]
    if is_instant(kind):
        array = integers(array)
    return [None if value is None else text(kind, value) for value in array.to_pylist()]


def runs(array, entries):
    offsets = array.offsets.to_pylist()
    valid = array.is_valid().to_pylist()
    return [entries[offsets[i] : offsets[i + 1]] if ok else None for i, ok in enumerate(valid)]


def text(kind, value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return double(value)
    if isinstance(value, bytes):
        return value.hex()
    if pa.types.is_decimal(kind):
        return format(value, "f")
    return str(value)


def leaves(array):
    """The arrays of leaves, in the file's order, without what is missing further up."""
    array = storage(array)
    kind = array.type
    if pa.types.is_map(kind):
        return leaves(array.keys) + leaves(array.items)
    if pa.types.is_list(kind):
        return leaves(array.flatten())
    if pa.types.is_struct(kind):
        return [leaf for part in array.flatten() for leaf in leaves(part)]
    return [array]


def comparable(array):
    """Values as what their bounds in the footer are, so that Python orders both."""
    kind = array.type
    array = array.drop_null()
    if is_instant(kind):
        array = integers(array)
    found = array.to_pylist()
    if pa.types.is_decimal(kind):
        return [int(value.scaleb(kind.scale, WIDE)) for value in found]
    if pa.types.is_string(kind):
        return [value.encode() for value in found]
    return found


def bound(kind, raw):
    if raw is None:
        return None
    if pa.types.is_decimal(kind) and isinstance(raw, bytes):
        return int.from_bytes(raw, "big", signed=True)
    if pa.types.is_unsigned_integer(kind):
        return raw & ((1 << (64 if kind.bit_width == 64 else 32)) - 1)
    return raw


def shown(value):
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.hex()
    return double(value) if isinstance(value, float) else str(value)


def zero(value, sign):
    """Bounds that are zero have the sign that contains both zeros."""
    return math.copysign(0.0, sign) if isinstance(value, float) and value == 0 else value


def chunk(meta, array):
    stats = meta.statistics
    found = comparable(array)
    has_nan = any(isinstance(value, float) and math.isnan(value) for value in found)
    has_bounds = stats is not None and stats.has_min_max
    return {
        "path": meta.path_in_schema,
        "encodings": sorted(set(meta.encodings)),
        "compression": meta.compression,
        "valueCount": len(found),
        "slots": meta.num_values,
        "nullCount": stats.null_count if stats is not None and stats.has_null_count else None,
        "hasNan": has_nan,
        "min": shown(bound(array.type, stats.min_raw)) if has_bounds else None,
        "max": shown(bound(array.type, stats.max_raw)) if has_bounds else None,
        "least": shown(zero(min(found), -1)) if found and not has_nan else None,
        "greatest": shown(zero(max(found), 1)) if found and not has_nan else None,
    }


def read_arrow(path):
    table = pa.ipc.open_file(path).read_all()
    # Not in full: DuckDB's 24:00:00 is none of Arrow's times.
    table.validate()
    columns = {name: values(table.column(name).combine_chunks()) for name in table.column_names}
    return {"columns": columns, "types": [str(field.type) for field in table.schema]}


def read(path):
    if path.endswith(".arrow"):
        return read_arrow(path)
    file = pq.ParquetFile(path)
    table = file.read()
    columns = {name: values(table.column(name).combine_chunks()) for name in table.column_names}
    groups = []
    for g in range(file.metadata.num_row_groups):
        meta = file.metadata.row_group(g)
        part = file.read_row_group(g)
        arrays = [leaf for column in part.columns for leaf in leaves(column.combine_chunks())]
        groups.append({"rowCount": meta.num_rows, "chunks": [chunk(meta.column(i), a) for i, a in enumerate(arrays)]})
    return {"columns": columns, "types": [str(field.type) for field in table.schema], "rowGroups": groups}


json.dump([read(path) for path in sys.argv[1:]], sys.stdout)
