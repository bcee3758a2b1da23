# SPDX-License-Identifier: GPL-3.0-or-later
"""What mkdocs does besides: navigation from docs/README.md, formulas as MathML, links out of docs."""

import pathlib
import re

from latex2mathml.converter import convert

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)


def on_config(config):
    """The navigation is the tables of docs/README.md."""
    parts, rows = [], []
    for line in (ROOT / "docs/README.md").read_text().splitlines():
        heading = re.match(r"\| ([A-Z][^|]+) \| \|$", line)
        page = re.match(r"\| \[[^]]*\]\(([\w/-]+\.md)\)", line)
        if heading:
            rows = []
            parts.append({heading[1]: rows})
        elif page:
            rows.append(page[1])
    config["nav"] = [{"Home": "README.md"}, *parts]
    return config


def outside(match, page):
    """A link that leads out of docs has no page here: its text stays."""
    target = match[2].split("#")[0]
    if not target or "://" in target:
        return match[0]
    path = (ROOT / "docs" / page).parent.joinpath(target).resolve()
    inside = path.is_relative_to(ROOT / "docs") and path.is_file() and "man" not in path.parts
    return match[0] if inside else match[1]


def prose(text, act):
    """Text with `act` done to all that is not code."""
    end, pieces = 0, []
    for code in CODE.finditer(text):
        pieces += [act(text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*pieces, act(text[end:])])


def on_page_markdown(markdown, page, **_):
    def formulas(text):
        text = re.sub(r"\$\$(.+?)\$\$", lambda m: convert(m[1].strip(), display="block"), text, flags=re.S)
        return re.sub(r"\$([^$\n]+?)\$", lambda m: convert(m[1]), text)

    if page.file.src_uri == "model.md":
        markdown = prose(markdown, formulas)
    link = re.compile(r"(?<!!)\[([^]]*)\]\(([^)\s]+)\)")
    return link.sub(lambda match: outside(match, page.file.src_uri), markdown)
