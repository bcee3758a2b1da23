from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, Literal

from ._dbacl import BlockPlan as BlockPlan
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

def train(
    texts: Iterable[Any],
    labels: Iterable[str],
    *,
    unlabelled: Iterable[Any] | None = None,
    log: Callable[[str], object] | None = None,
    **options: Any,
) -> Model: ...
def train_file(
    path: str | PathLike[str],
    *,
    format: Literal["tsv", "fasttext", "ndjson", "csv", "folder"] | None = None,
    label_column: str = "label",
    text_column: str | Sequence[str] = ("text",),
    log: Callable[[str], object] | None = None,
    **options: Any,
) -> Model: ...
def load(path: str | PathLike[str]) -> Model: ...
def explain(model: Model | CategorySet, text: str | bytes) -> Explanation: ...
def __dir__() -> list[str]: ...
