#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/pictures/library.svg and docs/pictures/message.svg: boxes and arrows."""

import pathlib
from xml.sax.saxutils import escape

FOLDER = pathlib.Path(__file__).resolve().parent
STYLE = (
    "<style>text{fill:#1f2328;font:13px sans-serif;text-anchor:middle}.small{font-size:11px}"
    "rect{fill:#ddf4ff;stroke:#54aeff;rx:6}.end{fill:#dafbe1;stroke:#4ac26b}"
    ".doubt{fill:#fff8c5;stroke:#d4a72c}.bad{fill:#ffebe9;stroke:#ff8182}"
    "path{stroke:#57606a;fill:none;marker-end:url(#tip)}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}rect{fill:#12283f;stroke:#388bfd}"
    ".end{fill:#12361f;stroke:#3fb950}.doubt{fill:#3b2e0a;stroke:#d29922}"
    ".bad{fill:#3d1518;stroke:#f85149}path{stroke:#9198a1}}</style>"
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#808890;stroke:none;marker-end:none"/></marker>'
)
WIDE, HIGH = 118, 46


def draw(name, title, boxes, arrows, width, height):
    """Boxes {key: (x, y, first line, second line, class)} and arrows (from, to) between them."""
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title>{STYLE}",
    ]
    for start, end in arrows:
        (x, y, *_), (a, b, *_) = boxes[start], boxes[end]
        if a > x:
            begin, stop = (x + WIDE, y + HIGH / 2), (a, b + HIGH / 2)
        else:
            begin, stop = (x + WIDE / 2, y + (HIGH if b > y else 0)), (a + WIDE / 2, b + (0 if b > y else HIGH))
        out.append(f'<path d="M{begin[0]:g} {begin[1]:g}L{stop[0]:g} {stop[1]:g}"/>')
    for x, y, first, second, kind in boxes.values():
        out.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{WIDE}" height="{HIGH}"/>')
        out.append(f'<text x="{x + WIDE / 2:g}" y="{y + 20}">{escape(first)}</text>')
        out.append(f'<text class="small" x="{x + WIDE / 2:g}" y="{y + 36}">{escape(second)}</text>')
    (FOLDER / f"{name}.svg").write_text("\n".join(out) + "\n</svg>\n")


def column(index):
    return 10 + index * (WIDE + 26)


draw(
    "library",
    "Bytes become lines, text, words and features; features are counted and fitted into a "
    "category, or scored against categories into a verdict.",
    {
        "input": (column(0), 60, "lines", "input", ""),
        "filter": (column(1), 60, "text", "filter: mail, HTML", ""),
        "words": (column(2), 60, "words", "tokens", ""),
        "features": (column(3), 60, "features", "document", ""),
        "counts": (column(4), 10, "counts", "learn", ""),
        "fit": (column(5), 10, "weights", "fit", ""),
        "file": (column(6), 10, "category", "file", "end"),
        "scores": (column(4), 110, "scores", "score", ""),
        "verdict": (column(5), 110, "verdict", "classify", ""),
        "report": (column(6), 110, "text, status", "report", "end"),
    },
    [("input", "filter"), ("filter", "words"), ("words", "features"), ("features", "counts"),
     ("counts", "fit"), ("fit", "file"), ("features", "scores"), ("scores", "verdict"),
     ("verdict", "report"), ("file", "scores")],
    column(7) - 6, 166,
)
draw(
    "message",
    "A message is decoded, hidden text is dropped, known features are weighed; the score gives ham, "
    "unsure or spam.",
    {
        "mail": (column(0), 70, "message", "as delivered", ""),
        "read": (column(1), 70, "decode", "MIME, character sets", ""),
        "seen": (column(2), 70, "what is seen", "hidden text dropped", ""),
        "features": (column(3), 70, "features", "text, sender, links", ""),
        "score": (column(4), 70, "score", "sum of weights", ""),
        "ham": (column(5), 10, "ham", "below both limits", "end"),
        "unsure": (column(5), 70, "unsure", "between the limits", "doubt"),
        "spam": (column(5), 130, "spam", "above both limits", "bad"),
    },
    [("mail", "read"), ("read", "seen"), ("seen", "features"), ("features", "score"),
     ("score", "ham"), ("score", "unsure"), ("score", "spam")],
    column(6) - 6, 186,
)
