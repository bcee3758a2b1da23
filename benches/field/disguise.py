# SPDX-License-Identifier: GPL-3.0-or-later
"""Disguises of spam: good words where a reader sees them or not, words cut in two, unknown words.

The disguises are those of benches/quality/attacks.awk, byte for byte (test_field.py compares them),
but for random words, which are the same on every machine here.
"""

import pathlib
import random
import re

KINDS = (
    "none",
    "preamble",
    "epilogue",
    "alternative",
    "display",
    "class",
    "tiny",
    "white",
    "title",
    "comment",
    "attachment",
    "message",
    "tags",
    "comments",
    "zero-width",
    "random-1000",
    "random-5000",
    "repeated",
    "visible",
)
OWN_LINES = (b"content-type:", b"content-transfer-encoding:", b"mime-version:")


def good_words(mails, count=1000):
    """Words of good mail that spam has seldom: those that are in most good mails."""
    good, bad = {}, {}
    for mail in mails:
        counts = good if mail.label == "ham" else bad
        text = pathlib.Path(mail.path).read_bytes().lower()
        for word in set(re.findall(rb"[a-z]+", text)):
            if 3 < len(word) < 12:
                counts[word] = counts.get(word, 0) + 1
    best = [(-number, word) for word, number in good.items() if number > 12 * bad.get(word, 0)]
    return [word for _, word in sorted(best)[:count]]


def is_simple(path):
    """Whether a mail has one part and no transfer encoding."""
    head = re.split(rb"\n\r*\n", pathlib.Path(path).read_bytes(), maxsplit=1)[0].lower()
    return not re.search(rb"(?m)^content-transfer-encoding: *(base64|quoted)|multipart/", head)


def taken_apart(mail):
    """The header without lines about the content; these lines; the body; whether it is a page."""
    header, own, body, in_header, skips, page = b"", b"", b"", True, False, False
    lines = mail.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for line in lines:
        line = line.removesuffix(b"\r")
        if in_header and line == b"":
            in_header = False
        elif in_header:
            if not line.startswith((b" ", b"\t")):
                skips = line.lower().startswith(OWN_LINES)
            if skips:
                page = page or b"text/html" in line.lower()
                own += line + b"\n"
            else:
                header += line + b"\n"
        else:
            body += line + b"\n"
    return header, own, body, page


def split_words(text, between):
    """The text with `between` in each word of four letters or more that is in no tag."""

    def cut(found):
        piece = found.group()
        return piece if piece.startswith(b"<") else piece[:2] + between + piece[2:]

    return re.sub(rb"<[^>]*>|[A-Za-z]{4,}", cut, text)


def part(kind, text):
    return b"--=_b\nContent-Type: " + kind + b"\n\n" + text + b"\n"


def disguised(mail, kind, words):
    """A mail of one part in a disguise; `words` are good ones."""
    header, own, body, is_page = taken_apart(mail)
    start = len(body) % len(words)
    good = (
        b"".join(
            words[(at * 7 + start) % len(words)] + (b" " if at % 12 else b"\n")
            for at in range(1, len(words) + 1)
        )
        + b"\n"
    )
    form = b"text/html" if is_page else b"text/plain"
    bound = b'; boundary="=_b"\n\n'
    many = b"MIME-Version: 1.0\nContent-Type: multipart/mixed" + bound
    either = b"MIME-Version: 1.0\nContent-Type: multipart/alternative" + bound
    html = b"MIME-Version: 1.0\nContent-Type: text/html\n\n"
    plain = own + b"\n"
    end = b"--=_b--\n"

    def page(inside):
        if is_page:
            return inside + body
        escaped = body.replace(b"&", b"&amp;").replace(b"<", b"&lt;")
        return b"<html><body>" + inside + b"<p>" + escaped + b"</p></body></html>"

    def hidden(before, after):
        return html + page(before + good + after)

    def random_words(count):
        dice = random.Random(len(body))
        letters = [bytes(dice.choices(b"abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(count)]
        return (
            b"".join(word + (b" " if at % 12 else b"\n") for at, word in enumerate(letters, 1))
            + b"\n"
        )

    more = body + (b"<p>" if is_page else b"")
    attached = b"text/plain; name=a.txt\nContent-Disposition: attachment"
    contents = {
        "none": lambda: plain + body,
        "preamble": lambda: many + good + part(form, body) + end,
        "epilogue": lambda: many + part(form, body) + end + good,
        "alternative": lambda: (
            either + part(b"text/plain", good) + part(b"text/html", page(b"")) + end
        ),
        "display": lambda: hidden(b'<div style="display:none">', b"</div>"),
        "class": lambda: hidden(b"<style>.a{display:none}</style><div class=a>", b"</div>"),
        "tiny": lambda: hidden(b'<span style="font-size:1px">', b"</span>"),
        "white": lambda: hidden(b'<font color="#ffffff">', b"</font>"),
        "title": lambda: hidden(b"<title>", b"</title>"),
        "comment": lambda: hidden(b"<!-- ", b" -->"),
        "attachment": lambda: many + part(form, body) + part(attached, good) + end,
        "message": lambda: (
            many + part(form, body) + part(b"message/rfc822", b"Subject: meeting\n\n" + good) + end
        ),
        "tags": lambda: html + split_words(page(b""), b"<b></b>"),
        "comments": lambda: html + split_words(page(b""), b"<!-- x -->"),
        "zero-width": lambda: html + split_words(page(b""), b"&#8203;"),
        "random-1000": lambda: plain + more + random_words(1000),
        "random-5000": lambda: plain + more + random_words(5000),
        "repeated": lambda: (
            plain
            + more
            + b"".join(words[start] + (b" " if at % 12 else b"\n") for at in range(100000))
            + b"\n"
        ),
        "visible": lambda: plain + more + good,
    }
    return header + contents[kind]()
