# SPDX-License-Identifier: GPL-3.0-or-later
"""Models as functions of DuckDB and expressions of Polars, over columns of Arrow.

    dbacl.tables.register(connection, model, "topic")
    connection.sql("SELECT id, topic(text).label FROM 'texts.parquet'")

    frame.with_columns(dbacl.tables.classify("text", model).alias("topic"))

A text gets its label and the label's probability, or, from a model of several labels, the list of
those that it has. A missing text gets a missing answer. Rows keep their order.
"""

from ._dbacl import Model


def model_of(model):
    """A model, or the one in the file of that name."""
    return model if isinstance(model, Model) else Model.load(model)


def arrow_type(model):
    """The type of the answers of a model."""
    import pyarrow

    if model.several:
        return pyarrow.list_(pyarrow.string())
    return pyarrow.struct([("label", pyarrow.string()), ("probability", pyarrow.float64())])


def answers(model, texts, *, threads=1):
    """What a model says of an Arrow column of texts: an Arrow array of as many rows."""
    import pyarrow
    from pyarrow import compute

    known = texts.drop_null()
    if model.several:
        found = pyarrow.array(model.predict_labels(known, threads=threads), arrow_type(model))
    else:
        kind = arrow_type(model)
        best = [row[0] for row in model.top(known, 1, threads=threads)]
        parts = [
            pyarrow.array([pair[at] for pair in best], field.type) for at, field in enumerate(kind)
        ]
        found = pyarrow.StructArray.from_arrays(parts, fields=list(kind))
    if len(known) == len(texts):
        return found
    is_known = texts.is_valid()
    places = compute.subtract(compute.cumulative_sum(is_known.cast(pyarrow.int64())), 1)
    return found.take(compute.if_else(is_known, places, None))


def register(connection, model, name="dbacl", *, threads=1):
    """Makes a model, or the file of one, the SQL function `name` of a connection to DuckDB.

    DuckDB calls the function from several threads at once; `threads` is how many each call uses.
    """
    model = model_of(model)
    returns = "VARCHAR[]" if model.several else "STRUCT(label VARCHAR, probability DOUBLE)"
    connection.create_function(
        name,
        lambda texts: answers(model, texts, threads=threads),
        ["VARCHAR"],
        returns,
        type="arrow",
        null_handling="special",
    )


def classify(column, model, *, threads=0):
    """An expression of Polars: what a model, or the file of one, says of a column of texts.

    `column` is a name or an expression, and `threads` how many classify a batch, 0 for all.
    """
    import polars

    model = model_of(model)
    kind = polars.Struct({"label": polars.String, "probability": polars.Float64})

    def answer(texts):
        return polars.Series(texts.name, answers(model, texts.to_arrow(), threads=threads))

    expression = polars.col(column) if isinstance(column, str) else column
    returns = polars.List(polars.String) if model.several else kind
    return expression.map_batches(answer, return_dtype=returns, is_elementwise=True)
