# SPDX-License-Identifier: GPL-3.0-or-later
"""What mkdocs does besides: README as home, navigation from docs/README.md, pages of other folders,
manual pages, formulas as MathML, links out of docs."""

import html
import pathlib
import re

from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
# Documents that stand outside of docs, and their pages.
OUTSIDE = {"CHANGELOG.md": "changes.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
LINK = re.compile(r"(!?)\[([^]]*)\]\(([^)\s]+)\)")


def manuals():
    return sorted((ROOT / "docs/man").glob("*.1"))


def on_config(config):
    """The navigation is the lists of docs/README.md, with the titles that they give."""
    parts, rows = [], []
    for line in (ROOT / "docs/README.md").read_text().splitlines():
        heading = re.match(r"## (.+)$", line)
        page = re.match(r"- \[([^]]*)\]\(([\w./-]+\.md)\)", line)
        if heading:
            rows = []
            parts.append({heading[1]: rows})
        elif page:
            target = (ROOT / "docs" / page[2]).resolve().relative_to(ROOT)
            if target.parts[0] == "docs":
                rows.append({page[1]: page[2]})
            elif str(target) in OUTSIDE:
                rows.append({page[1]: OUTSIDE[str(target)]})
    parts.append({"Manual pages": [{path.stem: f"manual/{path.stem}.md"} for path in manuals()]})
    config["nav"] = [{"Home": "README.md"}, *parts]
    return config


def on_files(files, config):
    for name, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text()))
    for path in manuals():
        content = manual(path.read_text())
        files.append(File.generated(config, f"manual/{path.stem}.md", content=content))
    return files


def manual(text):
    """A manual page as HTML in Markdown: headings, options with their meanings, examples."""

    def inline(line):
        line = html.escape(re.sub(r"\\(?=[- ])|\\&", "", line.replace("\\(aq", "'").replace("\\e", "\\")))
        for letter, tag in (("B", "b"), ("I", "i")):
            line = re.sub(rf"\\f{letter}(.*?)\\f[RP]", rf"<{tag}>\1</{tag}>", line)
        return re.sub(r"\\f[BIRP]", "", line)

    out, is_term, is_code = [], False, False
    for line in text.splitlines():
        macro, _, rest = line.partition(" ")
        if macro in (".nf", ".EX"):
            out.append("<pre>")
            is_code = True
        elif macro in (".fi", ".EE"):
            out.append("</pre>")
            is_code = False
        elif macro == ".TH":
            out.append(f"<h1>{rest.split(' ')[0].lower()}</h1>")
        elif macro in (".SH", ".SS"):
            level = "h2" if macro == ".SH" else "h3"
            out.append(f"<{level}>{inline(rest.strip(chr(34))).capitalize()}</{level}>")
        elif macro in (".TP", ".IP"):
            is_term = True
            out.append("<p>")
        elif macro == ".PP":
            out.append("<p>")
        elif macro == ".br":
            out.append("<br>")
        elif not line.startswith("."):
            out.append(inline(line) + ("<br>" if is_term and not is_code else ""))
            is_term = False
    return "\n".join(line for line in out if line) + "\n"


def resolved(match, page):
    """A link as the site has it; the text alone if it leads to what is no page."""
    image, text, link = match.groups()
    target, hash_mark, place = link.partition("#")
    if not target or "://" in target:
        return match[0]
    path = ROOT.joinpath(page, "..", target).resolve()
    try:
        name = str(path.relative_to(ROOT))
    except ValueError:
        return text
    up = "../" * (len(pathlib.PurePath(page).parts) - 2 if page.startswith("docs/") else 0)
    if name in OUTSIDE:
        found = OUTSIDE[name]
    elif name == "README.md":
        found = "README.md"
    elif re.match(r"docs/man/.*\.1$", name):
        found = f"manual/{path.stem}.md"
    elif name.startswith("docs/") and path.is_file():
        found = name.removeprefix("docs/")
    else:
        return text
    return f"{image}[{text}]({up}{found}{hash_mark}{place})"


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
        # In a span, so that a formula at the beginning of a line does not begin a paragraph.
        return re.sub(r"\$([^$\n]+?)\$", lambda m: f"<span>{convert(m[1])}</span>", text)

    source = page.file.src_uri
    if source.startswith("manual/"):
        return markdown
    if source == "model.md":
        markdown = prose(markdown, formulas)
    origin = {page: name for name, page in OUTSIDE.items()}.get(source, f"docs/{source}")
    if source == "README.md":
        markdown, origin = (ROOT / "README.md").read_text(), "README.md"
    return LINK.sub(lambda match: resolved(match, origin), markdown)
