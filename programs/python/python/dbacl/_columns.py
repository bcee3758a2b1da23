# SPDX-License-Identifier: GPL-3.0-or-later
"""Columns of pandas and Arrow as texts, a block of rows at a time."""

# Rows of a block of an Arrow column.
_ROWS = 16384


def items(texts):
    """What the compiled part takes: an iterable of texts, or of blocks of an Arrow column."""
    shape = getattr(texts, "shape", ())
    if len(shape) == 2 and shape[1] == 1:
        texts = _only(texts)
    elif len(shape) > 1 or getattr(texts, "ndim", 1) == 0:
        raise ValueError(
            f"texts must be one list or column of str or bytes, not {len(shape)}-dimensional data; "
            "of a frame, choose a column, or give DbaclClassifier text_columns"
        )
    column = _arrow(texts)
    return texts if column is None else _blocks(column)


def _only(frame):
    """The column of a frame or an array that has one."""
    if hasattr(frame, "iloc"):
        return frame.iloc[:, 0]
    for name in ("to_series", "column"):
        if hasattr(frame, name):
            return getattr(frame, name)(0)
    return frame[:, 0]


def joined(frame, names):
    """Texts whose lines are what columns of a frame have; missing values are empty."""

    def values(name):
        column = frame[name]
        return column.to_pylist() if hasattr(column, "to_pylist") else column

    def plain(value):
        return "" if value is None or value != value else str(value)

    return ["\n".join(map(plain, row)) for row in zip(*map(values, names))]


def _arrow(texts):
    """The Arrow array or chunked array of a column, or None."""
    # A column of pandas keeps its array in `array`.
    convert = getattr(getattr(texts, "array", texts), "__arrow_array__", None)
    try:
        import pyarrow
    except ImportError:
        return None
    if isinstance(texts, (pyarrow.Array, pyarrow.ChunkedArray)):
        return texts
    if convert is not None:
        return convert()
    if hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__"):
        # A whole table has such a stream, too, and is refused as what it is.
        return pyarrow.chunked_array(texts)
    return None


def _blocks(column):
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_null(column.type) and len(column) == 0:
        return
    narrow = types.is_string(column.type) or types.is_binary(column.type)
    wide = types.is_large_string(column.type) or types.is_large_binary(column.type)
    if not (narrow or wide):
        view = getattr(types, "is_string_view", lambda _: False)(column.type)
        if not view:
            raise TypeError(f"the column is of the type {column.type}, not of strings or binary")
        column, wide = column.cast(pyarrow.large_string()), True
    width = 8 if wide else 4
    row = 0
    for chunk in getattr(column, "chunks", [column]):
        if chunk.null_count:
            missing = chunk.is_null().index(True).as_py()
            raise ValueError(f"text {row + missing} is missing: it is null")
        _, offsets, data = chunk.buffers()
        for start in range(0, len(chunk), _ROWS):
            rows = min(_ROWS, len(chunk) - start)
            places = offsets.slice((chunk.offset + start) * width, (rows + 1) * width)
            places = places.to_pybytes()
            ends = memoryview(places).cast("q" if wide else "i")
            first, last = ends[0], ends[rows]
            texts = data.slice(first, last - first).to_pybytes() if last > first else b""
            yield places, texts, width
        row += len(chunk)
