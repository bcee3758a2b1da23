from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

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
    choose: bool
    cost: float | None
    contrast: bool
    start: float | None
    balance: float | None
    aim: str
    keep: bool
    seconds: int | None
    class_weight: Any
    n_jobs: int | None
    text_columns: str | Sequence[str] | None
    def __init__(
        self,
        *,
        preset: Literal["words", "pairs", "chars", "both"] | None = None,
        tokenizer: str | None = None,
        order: int | None = None,
        case_sensitive: bool = False,
        across_lines: bool = False,
        kind: Literal["text", "html", "xml"] = "text",
        regex: Sequence[str] = (),
        choose: bool = False,
        cost: float | None = None,
        contrast: bool = True,
        start: float | None = None,
        balance: float | None = None,
        aim: Literal["accuracy", "macro-f1"] = "accuracy",
        keep: bool = False,
        seconds: int | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        n_jobs: int | None = None,
        text_columns: str | Sequence[str] | None = None,
    ) -> None: ...
    @property
    def model_(self) -> Model: ...
    def fit(
        self, X: Iterable[Any], y: Iterable[Any], sample_weight: Iterable[float] | None = None
    ) -> DbaclClassifier: ...
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
