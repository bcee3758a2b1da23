from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

from typing_extensions import Unpack

from ._dbacl import BlockPlan as BlockPlan
from ._dbacl import BlockWork as BlockWork
from ._dbacl import Category as Category
from ._dbacl import CategorySet as CategorySet
from ._dbacl import Error as Error
from ._dbacl import Explanation as Explanation
from ._dbacl import MailFilter as MailFilter
from ._dbacl import MailReport as MailReport
from ._dbacl import Model as Model
from ._dbacl import Trainer as Trainer
from ._dbacl import Verdict as Verdict
from .estimator import DbaclClassifier as DbaclClassifier

__version__: str
__all__ = [
    "BlockPlan",
    "BlockWork",
    "Category",
    "CategorySet",
    "DbaclClassifier",
    "Error",
    "Explanation",
    "MailFilter",
    "MailReport",
    "Model",
    "Trainer",
    "Verdict",
    "explain",
    "load",
    "train",
    "train_file",
]

class _Options(TypedDict, total=False):
    preset: Literal["words", "pairs", "chars", "both"] | None
    tokenizer: str | None
    order: int | None
    case_sensitive: bool
    across_lines: bool
    kind: Literal["text", "html", "xml"]
    regex: Sequence[str]
    choose: bool
    cost: float | None
    contrast: bool
    start: float | None
    balance: float | None
    aim: Literal["accuracy", "macro-f1"]
    several: bool
    label_names: bool
    keep: bool
    seconds: int | None

def train(
    texts: Iterable[Any],
    labels: Iterable[str | list[str] | tuple[str, ...]],
    *,
    weights: Sequence[float] | None = None,
    unlabelled: Iterable[Any] | None = None,
    log: Callable[[str], object] | None = None,
    **options: Unpack[_Options],
) -> Model: ...
def train_file(
    path: str | PathLike[str],
    *,
    format: Literal["tsv", "fasttext", "ndjson", "csv", "folder"] | None = None,
    label_column: str | None = None,
    text_column: str | Sequence[str] | None = None,
    log: Callable[[str], object] | None = None,
    **options: Unpack[_Options],
) -> Model: ...
def load(path: str | PathLike[str]) -> Model: ...
def explain(model: Model | CategorySet, text: str | bytes) -> Explanation: ...
def __dir__() -> list[str]: ...
