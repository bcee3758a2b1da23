# SPDX-License-Identifier: GPL-3.0-or-later
"""A mail -> its text, for tools that do not read mail themselves."""

import email.parser
import email.policy
import html
import pathlib
import re


def decoded(part):
    """The text of a part in whatever character set it says, or nothing."""
    try:
        content = part.get_payload(decode=True) or b""
        return content.decode(part.get_content_charset() or "utf-8", "replace")
    except (LookupError, ValueError, AssertionError):
        return (part.get_payload(decode=True) or b"").decode("latin-1")


def read(path):
    """The header fields that people see, and the text of a mail without markup: (fields, text)."""
    mail = email.parser.BytesParser(policy=email.policy.compat32).parsebytes(
        pathlib.Path(path).read_bytes()
    )
    fields = {}
    for name in (
        "From",
        "To",
        "Subject",
        "Reply-To",
        "Return-Path",
        "Received",
        "X-Mailer",
        "Content-Type",
    ):
        fields[name] = " ".join(str(value) for value in mail.get_all(name, []))
    texts = []
    for part in mail.walk():
        if part.get_content_maintype() == "text":
            text = decoded(part)
            if part.get_content_subtype() == "html":
                links = " ".join(re.findall(r"(?i)(?:href|src)\s*=\s*[\"']?([^\s\"'>]+)", text))
                text = html.unescape(re.sub(r"(?s)<!--.*?-->|<[^>]*>", " ", text)) + " " + links
            texts.append(text)
    return fields, "\n".join(texts)


def plain(path):
    """Sender, subject and text, one string."""
    fields, text = read(path)
    return "\n".join([fields["From"], fields["Subject"], text])


def tokens(path, rich):
    """The different words of a mail: of its text and subject, or pairs and all fields as well."""
    fields, text = read(path)
    found = re.findall(r"\w{2,40}", text.lower())
    tokens = set(found)
    if rich:
        tokens |= {f"{one} {other}" for one, other in zip(found, found[1:])}
    for name, value in fields.items():
        if rich or name == "Subject":
            tokens |= {f"{name}:{word}" for word in re.findall(r"[\w.-]{2,40}", value.lower())}
    return tokens
