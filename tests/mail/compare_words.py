#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the words that dbacl reads in messages with those that Python's package email reads.

    compare_words.py DBACL FILE-OR-FOLDER...

Prints the words of subjects and shown texts that only one of the two reads. Such files are part of
other projects' packages: Python's test.test_email (its folder data) and the crate mail-parser.
"""
import email
import email.policy
import html
import pathlib
import re
import subprocess
import sys
import tempfile
import unicodedata

WORD = re.compile(r"[^\W\d_]{3,}")
MATCH = re.compile(r"^match\s+\S+ \[\](.*)\[\]\((\d+)\)", re.M)
# The media of texts that a reader sees, and of subjects.
MEDIA = {"3": "text", "10": "subject"}


def words(text):
    return set(WORD.findall(unicodedata.normalize("NFKC", text.casefold())))


def shown(part):
    """The text of a part, without markup."""
    try:
        text = part.get_content()
    except (LookupError, KeyError, ValueError, AttributeError):
        text = (part.get_payload(decode=True) or b"").decode("utf-8", "replace")
    if not isinstance(text, str):
        return ""
    if part.get_content_subtype() == "html":
        text = re.sub(r"(?is)<(style|script|title)\b.*?</\1>|<!--.*?-->", " ", text)
        text = html.unescape(re.sub(r"(?s)<[^>]*>", " ", text))
    return text


def theirs(data):
    message = email.message_from_bytes(data, policy=email.policy.default)
    parts = [part for part in message.walk() if part.get_content_maintype() == "text"]
    texts = [shown(part) for part in parts if part.get_content_disposition() != "attachment"]
    try:
        subject = str(message["Subject"] or "")
    except Exception as error:  # whatever its parser fails with
        print(f"email fails: {error!r}")
        subject = ""
    return {"text": words(" ".join(texts)), "subject": words(subject)}


def ours(dbacl, path):
    with tempfile.TemporaryDirectory() as folder:
        options = ["-T", "email:unicode", "-e", "word", "-D", "-l", f"{folder}/category"]
        run = subprocess.run([dbacl, *options, path], capture_output=True)
    found = {"text": set(), "subject": set()}
    for word, medium in MATCH.findall(run.stdout.decode("utf-8", "replace")):
        if medium in MEDIA:
            found[MEDIA[medium]] |= words(word)
    # The name of the field is a word of its text.
    found["subject"].discard("subject")
    return found


def main():
    dbacl, *names = sys.argv[1:]
    paths = []
    for name in map(pathlib.Path, names):
        inside = name.rglob("*") if name.is_dir() else [name]
        paths += sorted(path for path in inside if path.suffix in (".txt", ".eml"))
    same = 0
    for path in paths:
        wanted, found = theirs(path.read_bytes()), ours(dbacl, path)
        rows = [
            f"{sign} {kind}: {' '.join(sorted(left))}"
            for kind in wanted
            for sign, left in [("-", wanted[kind] - found[kind]), ("+", found[kind] - wanted[kind])]
            if left
        ]
        same += not rows
        if rows:
            print(f"== {path.name}", *rows, sep="\n")
    print(f"{len(paths)} files, {same} read the same")


main()
