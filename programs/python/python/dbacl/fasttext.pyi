from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, overload

from ._dbacl import Model

class FastText:
    model: Model
    def __init__(self, model: Model) -> None: ...
    # Probabilities are an array of numpy if that is installed, else a list.
    @overload
    def predict(
        self, text: str, k: int = 1, threshold: float = 0.0, on_unicode_error: str = "strict"
    ) -> tuple[tuple[str, ...], Any]: ...
    @overload
    def predict(
        self, text: list[str], k: int = 1, threshold: float = 0.0, on_unicode_error: str = "strict"
    ) -> tuple[list[list[str]], list[Any]]: ...
    def test(
        self, path: str | PathLike[str], k: int = 1, threshold: float = 0.0
    ) -> tuple[int, float, float]: ...
    @overload
    def get_labels(
        self, include_freq: Literal[False] = False, on_unicode_error: str = "strict"
    ) -> list[str]: ...
    @overload
    def get_labels(
        self, include_freq: Literal[True], on_unicode_error: str = "strict"
    ) -> tuple[list[str], Sequence[int]]: ...
    @property
    def labels(self) -> list[str]: ...
    def quantize(self, input: str | None = None, **others: object) -> None: ...
    def save_model(self, path: str | PathLike[str]) -> None: ...

def load_model(path: str | PathLike[str]) -> FastText: ...
def train_supervised(
    input: str | PathLike[str],
    *,
    wordNgrams: int | None = None,
    minn: int = 0,
    maxn: int = 0,
    loss: Literal["softmax", "ova", "hs", "ns"] = "softmax",
    label: str = "__label__",
    autotuneValidationFile: str = "",
    autotuneDuration: int = 300,
    autotuneModelSize: str = "",
    **others: object,
) -> FastText: ...
