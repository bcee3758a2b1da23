from collections.abc import Iterable
from typing import Any

class Client:
    url: str
    timeout: float
    def __init__(
        self, url: str = "http://127.0.0.1:8765", model: str | None = None, timeout: float = 10
    ) -> None: ...
    def predict(self, texts: Iterable[str], k: int = 1) -> list[dict[str, Any]]: ...
