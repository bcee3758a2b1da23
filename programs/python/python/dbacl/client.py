# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks a server of `dbacl-text serve`."""

import json
from urllib.request import Request, urlopen


class Client:
    """The server at `url`, and one of its models: the first one if `model` names none."""

    def __init__(self, url="http://127.0.0.1:8765", model=None, timeout=10):
        self.url = f"{url}/predict" + (f"/{model}" if model else "")
        self.timeout = timeout

    def predict(self, texts, k=1):
        """A dict for each text, with `label`, `probability`, and for `k` above 1 `labels`."""
        body = json.dumps(list(texts)).encode()
        request = Request(f"{self.url}?k={k}", body, {"Content-Type": "application/json"})
        with urlopen(request, timeout=self.timeout) as answer:
            return json.load(answer)["results"]
