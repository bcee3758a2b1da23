# SPDX-License-Identifier: GPL-3.0-or-later
"""Labelled mail in a folder, an archive or a TREC index -> messages, always in the same order.

A corpus is one of
  a folder with ham/ and spam/, or with train/ and test/ that hold them, one message a file;
  a folder or archive (NAME.tar.xz) that holds one of these below one folder;
  a TREC index: lines "spam PATH" or "ham PATH" in the order of time, paths relative to the index.

Messages are put into the order of the SHA-256 of their name, which no machine changes; a TREC index
keeps its own. They are copied into a work folder under numbers, so that no path tells a filter the
truth, and without the line "From " that begins a message of a mailbox.
"""

import email.parser
import email.utils
import functools
import hashlib
import pathlib
import re
import tarfile
from dataclasses import dataclass


@dataclass
class Mail:
    """A labelled mail: `name` is the same everywhere, `path` is its copy."""

    name: str
    label: str
    path: str
    part: str  # "train", "test", or "" where the corpus is not divided
    source: str


def digest(text):
    """A number of 64 bits that looks random and is always the same."""
    return int.from_bytes(
        hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()[:8], "big"
    )


def folders(root):
    """The folders of mail below `root`: [(part, label, folder)]."""
    if (root / "ham").is_dir() and (root / "spam").is_dir():
        return [("", label, root / label) for label in ("ham", "spam")]
    parts = [part for part in ("train", "test") if (root / part / "ham").is_dir()]
    if parts:
        return [(part, label, root / part / label) for part in parts for label in ("ham", "spam")]
    inside = [folder for folder in sorted(root.iterdir()) if folder.is_dir()]
    if len(inside) == 1:
        return folders(inside[0])
    raise ValueError(f"{root}: neither ham/ and spam/ nor train/ and test/ with them")


def unpacked(path, work):
    """The folder that a corpus lies in; archives are unpacked below `work`."""
    archives = [path] if path.name.endswith(".tar.xz") else sorted(path.glob("*.tar.xz"))
    if len(archives) != 1:
        return path
    folder = work / "unpacked" / archives[0].name.removesuffix(".tar.xz")
    if not (folder / ".whole").exists():
        with tarfile.open(archives[0]) as archive:
            if hasattr(tarfile, "data_filter"):
                archive.extractall(folder, filter="data")
            else:
                archive.extractall(folder)
        (folder / ".whole").touch()
    return folder


def listed(path, work):
    """The messages of a corpus in their order: [(name, label, file, part)]."""
    if path.is_file() and not path.name.endswith(".tar.xz"):
        lines = [
            line.split(None, 1) for line in path.read_text("utf-8", "surrogateescape").splitlines()
        ]
        for number, line in enumerate(lines, 1):
            if len(line) != 2 or line[0].lower() not in ("ham", "spam"):
                raise ValueError(f"{path}, line {number}: not 'ham PATH' or 'spam PATH'")
        return [(name, label.lower(), path.parent / name, "") for label, name in lines]
    found = []
    for part, label, folder in folders(unpacked(path, work)):
        for file in sorted(folder.rglob("*")):
            if file.is_file() and not file.name.startswith("."):
                name = f"{part}/{label}/{file.relative_to(folder)}".lstrip("/")
                found.append((name, label, file, part))
    return sorted(found, key=lambda one: (digest(one[0]), one[0]))


class Corpus:
    """The messages of one source, in order; at most `limit` of them, if that is not None."""

    def __init__(self, name, path, work, limit=None):
        work = pathlib.Path(work)
        self.name, self.mails, state = name, [], hashlib.sha256()
        copies = work / "mails" / name
        copies.mkdir(parents=True, exist_ok=True)
        for number, (title, label, file, part) in enumerate(listed(pathlib.Path(path), work)):
            if limit is not None and number >= limit:
                break
            copy = copies / f"{number:06}"
            content = file.read_bytes()
            if content.startswith(b"From "):
                content = content[content.find(b"\n") + 1 :]
            if not copy.exists() or copy.read_bytes() != content:
                copy.write_bytes(content)
            self.mails.append(Mail(title, label, str(copy), part, name))
            state.update(label.encode() + hashlib.sha256(content).digest())
        # One number for the messages and their order.
        self.fingerprint = state.hexdigest()[:16]
        if {mail.label for mail in self.mails} != {"ham", "spam"}:
            raise ValueError(f"{path}: no ham or no spam in it")

    def divided(self):
        """The messages to learn and the messages to classify: as the corpus says, else three of four."""
        learn = [mail for mail in self.mails if mail.part == "train"]
        judge = [mail for mail in self.mails if mail.part == "test"]
        if learn and judge:
            return learn, judge
        count = len(self.mails) * 3 // 4
        return self.mails[:count], self.mails[count:]


@functools.cache
def header(path):
    """The header of the mail in a file, as the standard library reads it."""
    head = re.split(rb"\r?\n\r?\n", pathlib.Path(path).read_bytes(), maxsplit=1)[0]
    return email.parser.BytesHeaderParser().parsebytes(head)


def arrived(mail):
    """When a message came, in seconds, by its newest Received field, else by Date; None if unknown."""
    fields = header(mail.path)
    received = [str(value).rsplit(";", 1)[-1] for value in fields.get_all("Received", [])[:1]]
    for text in received + [str(value) for value in fields.get_all("Date", [])]:
        try:
            moment = email.utils.mktime_tz(email.utils.parsedate_tz(text))
        except (TypeError, ValueError, OverflowError):
            continue
        # Spam comes from the past and the future; what no mail can be is unknown.
        if 6e8 < moment < 4e9:
            return moment
    return None


def recipient(mail):
    """Whom a message is addressed to, in small letters; empty if nobody is named."""
    fields = header(mail.path)
    named = [str(value) for field in ("Delivered-To", "To") for value in fields.get_all(field, [])]
    found = [address for _, address in email.utils.getaddresses(named) if "@" in address]
    return found[-1].lower() if found else ""
