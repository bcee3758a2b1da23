# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes text and mail of two languages: FOLDER. Words are drawn from a list of each; the messages are in
several character sets, so that all have the same words only if they are decoded."""

import base64
import json
import os
import random
import sys

folder = sys.argv[1]
draw = random.Random(11)
LANGUAGES = {
    "russian": ("utf-8", "koi8-r", "windows-1251"),
    "japanese": ("utf-8", "shift_jis", "iso-2022-jp"),
}
WORDS = {
    "russian": "лодка гавань ветер море утро город улица письмо слово ёлка зима друг".split(),
    "japanese": "東京タワー 京都 海 朝 手紙 言葉 冬の日 友達 カメラ ひらがな".split(),
}


def text(language):
    return " ".join(draw.choices(WORDS[language], k=9)) + "\n"


def mail(language):
    charset = draw.choice(LANGUAGES[language])
    body = base64.encodebytes(text(language).encode(charset)).decode()
    return (f"From: a@b.org\nMIME-Version: 1.0\nContent-Type: text/plain; charset={charset}\n"
            f"Content-Transfer-Encoding: base64\n\n{body}\n")


for language in LANGUAGES:
    for part in range(4):
        name = os.path.join(folder, f"{language}.{part}")
        with open(name + ".txt", "w", encoding="utf-8") as file:
            file.write("".join(text(language) for _ in range(200)))
        with open(name + ".mbox", "w", encoding="utf-8") as file:
            for _ in range(100):
                file.write("From a@b.org Mon Jan  1 00:00:00 2024\n" + mail(language))
for kind, make in (("text", text), ("mail", mail)):
    with open(os.path.join(folder, f"languages.{kind}.ndjson"), "w", encoding="utf-8") as file:
        for number in range(40):
            language = list(LANGUAGES)[number % 2]
            file.write(json.dumps({"id": f"{language} {number}", "text": make(language)}) + "\n")
