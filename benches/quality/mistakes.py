#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The effect of mistakes that people make on a filter of mail, and how many of them `--mail-review` finds.

    mistakes.py [--draws 3] [--shares 2,5,10] DBACL NAME=MAIL...

MAIL holds ham and spam, one file a message, or an index of lines `ham PATH` and `spam PATH`. Half
of it is learned, the other half classified: of a random division, or, with an index, the second
half. So large a share of what is learned lies in the wrong folder:

  campaign     all spam that has one subject or links to one host, as good mail
  sender       all good mail of one sender, as spam
  newsletter   all good mail of one sender of newsletters, as spam
  drawn        any messages, as often good mail as spam

If one group is too small, others follow; a group is cut where the share is reached. Written are, in
%: good mail lost, and of it what is not of a sender learned as spam; spam missed; unsure (two good
messages for each spam); errors at even odds; mistakes among the messages that `--mail-review` names
first, so many as there are mistakes, and twice as many; and mistakes in the first 20 groups that it
asks about. The last columns are numbers: groups, messages in them, and good answers' victims: those
that are where they belong, in groups that are mostly mistakes. Means over the draws.
"""

import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

KINDS = ("ham", "spam")


def messages(folder):
    """Kind and path of each message, and whether they are in order of arrival."""
    index = os.path.join(folder, "index")
    if os.path.exists(index):
        lines = (line.split() for line in open(index))
        return [(kind, os.path.join(folder, path)) for kind, path in lines], True
    found = []
    for kind in KINDS:
        own = os.path.join(folder, kind)
        found += [(kind, os.path.join(own, name)) for name in sorted(os.listdir(own))]
    return found, False


def groups_of(kind, path):
    """What campaign, sender and newsletter a message belongs to, by the names of mistakes."""
    text = open(path, "rb").read(1 << 18).decode("latin-1").replace("\r\n", "\n")
    header, _, body = text.partition("\n\n")

    def field(name):
        found = re.search(rf"(?im)^{name}:[ \t]*(.*)$", header)
        return found[1].lower() if found else ""

    sender = re.search(r"[\w.+-]+@[\w.-]+", field("from"))
    sender = sender[0] if sender else ""
    if kind == "spam":
        subject = " ".join(re.findall("[a-z]{2,}", field("subject")))
        host = re.search(r"(?i)https?://([\w.-]+)", body)
        host = ".".join(host[1].lower().split(".")[-2:]) if host else ""
        return {"campaign": host or subject}
    is_list = re.search(r"(?im)^(list-(id|post)|x-mailman-version|x-beenthere|mailing-list):", header)
    is_bulk = "unsubscribe" in body.lower() and not is_list
    return {"sender": sender, "newsletter": sender if is_bulk else ""}


def mistaken(learned, groups, name, share, number):
    """The messages that lie in the wrong folder."""
    chance = random.Random(f"{name} {share} {number}")
    wanted = round(share * len(learned) / 100)
    if name == "drawn":
        own = {kind: [path for its, path in learned if its == kind] for kind in KINDS}
        halves = [chance.sample(own[kind], min(wanted // 2, len(own[kind]))) for kind in KINDS]
        return set(sum(halves, []))
    by_group = collections.defaultdict(list)
    for _, path in learned:
        group = groups[path].get(name)
        if group:
            by_group[group].append(path)
    # Larger groups are likelier to be the one that somebody takes for what it is not.
    order = sorted(by_group, key=lambda group: chance.random() ** (1 / len(by_group[group])))
    chosen = []
    for group in reversed(order):
        chosen += by_group[group][: wanted - len(chosen)]
    return set(chosen)


def run(*command):
    done = subprocess.run(command, capture_output=True, encoding="latin-1")
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return done.stdout


def row(program, learned, tested, groups, name, wrong):
    """The columns of one draw."""
    with tempfile.TemporaryDirectory(prefix="mistakes.") as room:
        places, kinds = {}, {}
        for kind in KINDS:
            for folder in (kind, "tested"):
                os.makedirs(os.path.join(room, folder), exist_ok=True)
        for at, (kind, path) in enumerate(learned):
            folder = KINDS[(kind == "spam") != (path in wrong)]
            place = os.path.join(room, folder, f"{at:06}")
            os.symlink(path, place)
            places[place] = path
        for at, (kind, path) in enumerate(tested):
            place = os.path.join(room, "tested", f"{at:06}")
            os.symlink(path, place)
            kinds[place] = (kind, path)
        folder = os.path.join(room, "filter")
        run(program, "--quiet", "--mail-learn", folder, *(f"{kind}={os.path.join(room, kind)}" for kind in KINDS))
        said = run(program, "--mail-verdict", folder, "--format", "tsv", *kinds)
        listed, grouped = [], []
        before = None
        for line in run(program, "--quiet", "--mail-review", folder).split("\n")[:-1]:
            place, _, label, looks, *common = line.split("\t")
            listed.append(places[place])
            # A group's lines stand together.
            now = (label, looks, common) if common else None
            if now is None or now != before:
                grouped.append([])
            before = now
            grouped[-1].append(places[place])
    learned_as_spam = {groups[path].get(name) for path in wrong} - {None, ""}
    count = collections.Counter()
    for line in said.rstrip("\n").split("\n")[1:]:
        place, label, unsure = line.split("\t")[:3]
        kind, path = kinds[place]
        is_unsure, is_spam = unsure == "true", label == "spam"
        count[kind] += 1
        count["error", kind] += is_spam != (kind == "spam")
        count["unsure", kind] += is_unsure
        if not is_unsure and is_spam != (kind == "spam"):
            count["wrong", kind] += 1
            count["other", kind] += groups[path].get(name) not in learned_as_spam

    def percent(what, kind):
        return 100 * count[what, kind] / max(count[kind], 1)

    firsts = [listed[: times * len(wrong)] for times in (1, 2)] + [sum(grouped[:20], [])]
    found = [100 * len(wrong & set(first)) / max(len(wrong), 1) for first in firsts]
    mostly = [group for group in grouped if 2 * len(wrong & set(group)) > len(group)]
    victims = sum(len(set(group) - wrong) for group in mostly)
    return (
        100 * len(wrong) / len(learned),
        percent("wrong", "ham"),
        percent("other", "ham"),
        percent("wrong", "spam"),
        (2 * percent("unsure", "ham") + percent("unsure", "spam")) / 3,
        100 * (count["error", "ham"] + count["error", "spam"]) / len(tested),
        *found,
        len(grouped),
        len(listed),
        victims,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dbacl")
    parser.add_argument("mail", nargs="+")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--shares", default="2,5,10")
    wanted = parser.parse_args()
    program = os.path.abspath(wanted.dbacl)
    print("mail\tmistakes\tshare\tlost\tlost of others\tmissed\tunsure\terrors\tfound\tfound in twice as many\tin 20 groups\tgroups\tmessages\tvictims")
    for source in wanted.mail:
        source, _, folder = source.partition("=")
        all_mail, by_arrival = messages(os.path.abspath(folder))
        groups = {path: groups_of(kind, path) for kind, path in all_mail}
        rows = [("none", 0)]
        rows += [(name, int(share)) for name in ("campaign", "sender", "newsletter", "drawn") for share in wanted.shares.split(",")]
        for name, share in rows:
            columns = []
            for number in range(wanted.draws):
                mail = list(all_mail)
                if not by_arrival:
                    random.Random(number).shuffle(mail)
                learned, tested = mail[: len(mail) // 2], mail[len(mail) // 2 :]
                wrong = mistaken(learned, groups, name, share, number)
                columns.append(row(program, learned, tested, groups, name, wrong))
            means = [sum(column) / len(column) for column in zip(*columns)]
            cells = (f"{mean:.2f}" if at < 4 else f"{mean:.1f}" for at, mean in enumerate(means))
            print(source, name, *cells, sep="\t", flush=True)


if __name__ == "__main__":
    main()
