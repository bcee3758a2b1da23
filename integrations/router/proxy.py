# SPDX-License-Identifier: GPL-3.0-or-later
"""A proxy in front of a provider with OpenAI's interface, that asks `dbacl-text serve MODEL --keep
0.95` which model is to answer. Clients use http://127.0.0.1:8766/v1 as their base."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

URL = os.environ.get("DBACL_TEXT", "http://127.0.0.1:8765") + "/predict"
PROVIDER = os.environ.get("PROVIDER", "https://api.openai.com")
LEAST = 0.5


class Proxy(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"text": str(asked["messages"][-1]["content"])}).encode()
        found = json.load(urlopen(URL, body, timeout=1))
        is_sure = found["label"] != "none" and found["probability"] >= LEAST
        asked["model"] = "small" if is_sure else "large"
        heads = {name: self.headers[name] for name in ("Authorization",) if name in self.headers}
        heads["Content-Type"] = "application/json"
        with urlopen(Request(PROVIDER + self.path, json.dumps(asked).encode(), heads)) as answer:
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers.get_content_type())
            self.end_headers()
            self.wfile.write(answer.read())


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", 8766), Proxy).serve_forever()
