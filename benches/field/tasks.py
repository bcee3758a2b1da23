# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks after TREC's spam track: mails and a tool -> judged mails.

A task is a function of the mails and sizes (`World`) and of `start`, which starts the tool with
nothing learned. It yields parts: dictionaries with the part's name and the judged mails as
measures.py knows them, or what else the task counts. Every choice is made by digests of names or by
seeded random numbers, so that the same mails and tools give the same scores everywhere.
"""

import pathlib
import random
import time
from dataclasses import asdict, dataclass

import corpus
import disguise
import measures


@dataclass
class Plan:
    """How large a run is."""

    name: str
    stream: int  # mails of the tasks that learn from a stream
    late: int  # mails of the stream of delayed feedback
    delay: int  # how many mails later the truth is told there
    asked: int  # mails of the stream of active learning
    labels: int  # labels that active learning may ask for
    batch: int  # mails of the tasks that learn a part and judge the rest
    sizes: tuple  # mails of each kind that are learned from a cold start
    draws: int  # how often each
    each: int  # mails of each kind that are judged in each draw
    noise: tuple  # percentages of wrong labels
    disguised: int  # spams that are disguised
    rounds: int  # resamplings of the bootstrap

    def record(self):
        return asdict(self)


SIZES = (5, 10, 20, 50, 100, 200)
PLANS = {
    "full": Plan("full", 2000, 2000, 1000, 2000, 400, 5000, SIZES, 20, 25, (2, 5, 10), 50, 500),
    "half": Plan("half", 1000, 1500, 1000, 2000, 400, 2500, SIZES, 20, 10, (2, 5, 10), 30, 200),
    "small": Plan("small", 500, 1400, 1000, 800, 200, 1600, SIZES, 20, 8, (2, 5, 10), 20, 200),
    "quick": Plan("quick", 160, 160, 40, 160, 30, 240, (5, 20), 3, 10, (5,), 5, 200),
}


class World:
    """The corpora of a run; the first is that of most tasks."""

    def __init__(self, corpora, plan):
        self.corpora, self.plan = corpora, plan
        self.main, self.words = corpora[0], None

    def stream(self, length=None):
        return self.main.mails[: length or self.plan.stream]

    def good_words(self, mails):
        """The words of good mail among the first part, which are looked for once."""
        if self.words is None:
            self.words = disguise.good_words(mails)
        return self.words

    def divided(self, source=None):
        """The mails to learn and to judge, each cut in the same proportion to the plan's size."""
        source = source or self.main
        learn, judge = source.divided()
        share = min(1.0, self.plan.batch / len(source.mails))
        return learn[: round(len(learn) * share)], judge[: round(len(judge) * share)]


def judged(mails, opinions):
    return [(mail.name, mail.label, *opinion) for mail, opinion in zip(mails, opinions)]


def labelled(mails):
    return [(mail.label, mail.path) for mail in mails]


def paths(mails):
    return [mail.path for mail in mails]


def online(mails, start, wants, delay=0):
    """Judges each mail; tells the truth `delay` mails later, if `wants` says so.

    Mails that come before the first truth could be told say nothing of the tool and are left out.
    """
    tool, found, waiting = start(), [], []
    began = time.monotonic()
    used = tool.cost()[0]
    taught = 0

    def teach(until):
        nonlocal taught
        while waiting and waiting[0][0] <= until:
            _, mail, verdict = waiting.pop(0)
            tool.correct(mail.label, verdict, mail.path)
            taught += 1

    for number, mail in enumerate(mails):
        teach(number)
        opinion = tool.judge([mail.path])[0]
        found.append((mail.name, mail.label, *opinion))
        if wants(number, mail, opinion, tool):
            waiting.append((number + 1 + delay, mail, opinion[1]))
    seconds, memory = tool.cost()
    passed = time.monotonic() - began
    part = {
        "part": "",
        "judged": found[delay:],
        "taught": taught,
        "cost": {
            "cpu_ms": 1000 * (seconds - used) / len(found),
            "wall_ms": 1000 * passed / len(found),
        },
    }
    part["cost"]["model_bytes"] = tool.close()
    yield part


def immediate(world, start):
    """Every message is learned as soon as it has been classified."""
    yield from online(world.stream(), start, lambda *_: True)


def delayed(world, start):
    """The truth about a message comes 1,000 messages later."""
    yield from online(world.stream(world.plan.late), start, lambda *_: True, world.plan.delay)


def answering(mails):
    """Recipients who tell the truth: in the order of their digests, until they have a quarter."""
    counts = {}
    for mail in mails:
        name = corpus.recipient(mail)
        counts[name] = counts.get(name, 0) + 1
    chosen, sum_of = set(), 0
    for name in sorted(counts, key=lambda name: (corpus.digest(name), name)):
        # Nobody may get more than half of it: else a single mailing list could be all that is told.
        if sum_of < len(mails) / 4 and counts[name] <= len(mails) / 8:
            chosen.add(name)
            sum_of += counts[name]
    return chosen


def partial(world, start):
    """Some recipients correct verdicts; they get a quarter of the messages."""
    mails = world.stream()
    chosen = answering(mails)
    yield from online(mails, start, lambda _, mail, *__: corpus.recipient(mail) in chosen)


def active(world, start):
    """At most 400 labels are asked for: the first ones, then those of doubtful messages."""
    asked, margins = 0, []

    def wants(number, mail, opinion, tool):
        nonlocal asked
        margin = abs(opinion[0] - tool.threshold)
        recent = sorted(margins[-200:])
        margins.append(margin)
        doubtful = opinion[1] == "unsure" or margin <= recent[len(recent) // 5] if recent else True
        if asked >= world.plan.labels or not (asked < world.plan.labels // 8 or doubtful):
            return False
        asked += 1
        return True

    yield from online(world.stream(world.plan.asked), start, wants)


def learn_and_judge(tool, learn, judge):
    tool.learn(labelled(learn))
    return judged(judge, tool.judge(paths(judge)))


def batch(world, start):
    """A part is learned, another is classified."""
    learn, judge = world.divided()
    tool = start()
    at = [(tool.cost()[0], time.monotonic())]
    tool.learn(labelled(learn))
    at.append((tool.cost()[0], time.monotonic()))
    found = judged(judge, tool.judge(paths(judge)))
    at.append((tool.cost()[0], time.monotonic()))
    # Memory is taken from single mails, the largest ones among them.
    tool.ask("measure")
    by_size = sorted(judge, key=lambda mail: (-pathlib.Path(mail.path).stat().st_size, mail.name))
    for mail in by_size[:5] + judge[:5]:
        tool.judge([mail.path])
    memory = tool.cost()[1]
    (c0, w0), (c1, w1), (c2, w2) = at
    yield {
        "part": "",
        "judged": found,
        "cost": {
            "learn_cpu_ms": 1000 * (c1 - c0) / len(learn),
            "learn_wall_ms": 1000 * (w1 - w0) / len(learn),
            "judge_cpu_ms": 1000 * (c2 - c1) / len(judge),
            "judge_wall_ms": 1000 * (w2 - w1) / len(judge),
            "memory_kb": memory,
            "model_bytes": tool.close(),
        },
    }


def cold(world, start):
    """A few messages of each kind are learned, drawn 20 times; others are classified."""
    kinds = {
        label: [mail for mail in world.main.mails if mail.label == label]
        for label in ("ham", "spam")
    }
    plan = world.plan
    room = min(map(len, kinds.values())) - plan.each
    sizes = [size for size in plan.sizes if size <= room]
    found = {size: [] for size in sizes}
    for draw in range(plan.draws):
        dice = random.Random(f"cold start {draw}")
        mixed = {label: dice.sample(mails, len(mails)) for label, mails in sorted(kinds.items())}
        judge = [mail for mails in mixed.values() for mail in mails[: plan.each]]
        known, tool = 0, start()
        for size in sizes:
            more = [
                mail
                for mails in mixed.values()
                for mail in mails[plan.each + known : plan.each + size]
            ]
            dice.shuffle(more)
            known = size
            found[size].append(learn_and_judge(tool, more, judge))
        tool.close()
    for size, draws in found.items():
        areas = [measures.measure(one)["area"] for one in draws]
        # Scores of two draws cannot be ranked together, so the areas are averaged.
        yield {
            "part": str(size),
            "judged": [one for draw in draws for one in draw],
            "area": sum(areas) / len(areas),
            "areas": areas,
        }


def source(world, start):
    """One corpus is learned, another is classified."""
    for one in world.corpora:
        for other in world.corpora:
            if one is not other:
                tool = start()
                found = learn_and_judge(tool, world.divided(one)[0], world.divided(other)[1])
                tool.close()
                yield {"part": f"{one.name} to {other.name}", "judged": found}


def change(world, start):
    """The older three fifths are learned, newer messages are classified."""
    dated = [(corpus.arrived(mail), mail) for mail in world.main.mails]
    mails = sorted(
        ((moment, mail) for moment, mail in dated if moment), key=lambda one: (one[0], one[1].name)
    )
    share = min(1.0, world.plan.batch / len(mails))
    cut = len(mails) * 3 // 5
    older = [
        mail for at, (_, mail) in enumerate(mails[:cut]) if int(at * share) != int((at + 1) * share)
    ]
    newer = [
        mail for at, (_, mail) in enumerate(mails[cut:]) if int(at * share) != int((at + 1) * share)
    ]
    tool = start()
    found = learn_and_judge(tool, older, newer)
    tool.close()
    yield {"part": "", "judged": found}


def mislabelled(mail, percent):
    """The label of a mail, which is wrong for this share of all mails."""
    if corpus.digest(f"noise {mail.name}") % 1000 >= 10 * percent:
        return mail.label
    return "ham" if mail.label == "spam" else "spam"


def noise(world, start):
    """Some labels of what is learned are wrong."""
    learn, judge = world.divided()
    for percent in world.plan.noise:
        tool = start()
        tool.learn([(mislabelled(mail, percent), mail.path) for mail in learn])
        found = judged(judge, tool.judge(paths(judge)))
        tool.close()
        yield {"part": f"{percent} %", "judged": found}


def attack(world, start):
    """Spam that the tool found is disguised and classified again."""
    learn, judge = world.divided()
    tool = start()
    tool.learn(labelled(learn))
    words = world.good_words(learn)
    simple = [mail for mail in judge if mail.label == "spam" and disguise.is_simple(mail.path)]
    opinions = tool.judge(paths(simple))
    caught = [mail for mail, opinion in zip(simple, opinions) if opinion[1] == "spam"]
    caught = caught[: world.plan.disguised]
    counts = {}
    for kind in disguise.KINDS:
        files = []
        for number, mail in enumerate(caught):
            file = tool.folder / f"disguised-{number}"
            file.write_bytes(disguise.disguised(pathlib.Path(mail.path).read_bytes(), kind, words))
            files.append(str(file))
        verdicts = [verdict for _, verdict, _ in tool.judge(files)]
        counts[kind] = {verdict: verdicts.count(verdict) for verdict in ("spam", "unsure", "ham")}
    tool.close()
    yield {"part": "", "disguises": counts, "caught": len(caught), "tried": len(simple)}


TASKS = {
    "immediate": (immediate, "Immediate feedback"),
    "delayed": (delayed, "Delayed feedback"),
    "partial": (partial, "Partial feedback"),
    "active": (active, "Active learning"),
    "batch": (batch, "Batch"),
    "cold": (cold, "Cold start"),
    "source": (source, "Change of source"),
    "change": (change, "Change of time"),
    "noise": (noise, "Wrong labels"),
    "attack": (attack, "Disguised spam"),
}
QUICK = ("immediate", "batch", "cold", "attack")


def impossible(name, world):
    """Why a task cannot be had with these mails; None if it can."""
    if name == "source" and len(world.corpora) < 2:
        return "it needs two corpora"
    if name == "change":
        dated = sum(corpus.arrived(mail) is not None for mail in world.main.mails)
        if dated < len(world.main.mails) / 2:
            return "most mails have no date"
    if name == "delayed" and len(world.main.mails) <= world.plan.delay:
        return "there are no mails after the delay"
    if name == "partial" and len({corpus.recipient(mail) for mail in world.stream()}) < 4:
        return "the mails have fewer than four recipients"
    return None
