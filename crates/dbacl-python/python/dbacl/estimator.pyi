from collections.abc import Iterable, Sequence
from typing import Any

from ._dbacl import Explanation, Model

class DbaclClassifier:
    classes_: Any
    preset: str | None
    tokenizer: str | None
    order: int | None
    case_sensitive: bool
    across_lines: bool
    kind: str
    regex: Sequence[str]
    reference: str
    choose: bool
    cost: float | None
    blend: float | None
    contrast: bool
    exact: bool
    keep: bool
    seconds: int | None
    n_jobs: int | None
    def __init__(
        self,
        *,
        preset: str | None = None,
        tokenizer: str | None = None,
        order: int | None = None,
        case_sensitive: bool = False,
        across_lines: bool = False,
        kind: str = "text",
        regex: Sequence[str] = (),
        reference: str = "uniform",
        choose: bool = False,
        cost: float | None = None,
        blend: float | None = None,
        contrast: bool = True,
        exact: bool = False,
        keep: bool = False,
        seconds: int | None = None,
        n_jobs: int | None = None,
    ) -> None: ...
    @property
    def model_(self) -> Model: ...
    def fit(self, X: Iterable[Any], y: Iterable[Any]) -> DbaclClassifier: ...
    def partial_fit(
        self, X: Iterable[Any], y: Iterable[Any], classes: Iterable[Any] | None = None
    ) -> DbaclClassifier: ...
    def predict(self, X: Iterable[Any]) -> Any: ...
    def predict_proba(self, X: Iterable[Any]) -> Any: ...
    def predict_log_proba(self, X: Iterable[Any]) -> Any: ...
    def decision_function(self, X: Iterable[Any]) -> Any: ...
    def explain(self, text: str | bytes) -> Explanation: ...
    def score(
        self, X: Iterable[Any], y: Iterable[Any], sample_weight: Any = None
    ) -> float: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> DbaclClassifier: ...
    def __sklearn_is_fitted__(self) -> bool: ...
    def __sklearn_tags__(self) -> Any: ...
