from os import PathLike
from typing import Any

from ._dbacl import Model

# Columns, types and expressions are those of pyarrow, DuckDB and Polars.
def arrow_type(model: Model) -> Any: ...
def answers(model: Model, texts: Any, *, threads: int = 1) -> Any: ...
def register(
    connection: Any, model: Model | str | PathLike[str], name: str = "dbacl", *, threads: int = 1
) -> None: ...
def classify(
    column: Any, model: Model | str | PathLike[str], *, threads: int = 0
) -> Any: ...
