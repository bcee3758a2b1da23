# SPDX-License-Identifier: GPL-3.0-or-later
"""A hook of LiteLLM's proxy that asks `dbacl-text serve MODEL --keep 0.95` which model is to answer:
what the classifier is sure of goes to the small one, the rest to the large one.

In config.yaml:  litellm_settings: {callbacks: litellm_hook.router}
"""

import asyncio
import json
import os
import urllib.request

from litellm.integrations.custom_logger import CustomLogger

URL = os.environ.get("DBACL_TEXT", "http://127.0.0.1:8765") + "/predict"
LEAST = 0.5


def choose(messages):
    """The name of the model for a conversation, by its last message."""
    body = json.dumps({"text": str(messages[-1]["content"])}).encode()
    with urllib.request.urlopen(URL, body, timeout=1) as answer:
        found = json.load(answer)
    is_sure = found["label"] != "none" and found["probability"] >= LEAST
    return "small" if is_sure else "large"


class Router(CustomLogger):
    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        if data.get("messages"):
            data["model"] = await asyncio.to_thread(choose, data["messages"])
        return data


router = Router()
