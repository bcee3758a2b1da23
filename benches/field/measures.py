# SPDX-License-Identifier: GPL-3.0-or-later
"""Classified messages -> how good the verdicts are, with intervals and paired tests.

A classified message is a tuple (name, truth, score, verdict, probability): the truth is "spam" or "ham",
the score is larger the more the mail looks like spam, the verdict is "spam", "ham" or "unsure", and
the probability that the mail is spam is None where the tool gives none. Spam is the positive class.
An unsure mail is delivered, so it counts as ham wherever only two verdicts are known. The
definitions are those of dbacl-eval; test_field.py compares the two programs.
"""

import math
import random

# Deviations of a 95 % interval, as dbacl::measures has them.
Z = 1.959963984540054
BINS = 10
RATES = (0.001, 0.01)


def wilson(part, whole):
    """A share with its 95 % interval: (value, low, high)."""
    if whole == 0:
        return (math.nan, 0.0, 1.0)
    share = part / whole
    centre = share + Z * Z / (2 * whole)
    half = Z * math.sqrt(share * (1 - share) / whole + Z * Z / (4 * whole * whole))
    scale = 1 + Z * Z / whole
    low, high = (centre - half) / scale, (centre + half) / scale
    return (share, 0.0 if part == 0 else max(low, 0.0), 1.0 if part == whole else min(high, 1.0))


def lam(one, other):
    """The logistic average of two error rates; 0 when one of them is 0, as TREC defined it."""
    if one == 0 or other == 0:
        return 0.0
    if one == 1 or other == 1:
        return 1.0
    average = (math.log(one / (1 - one)) + math.log(other / (1 - other))) / 2
    return 1 / (1 + math.exp(-average))


def tied(scored):
    """Groups (hams, spams) of equal scores, the highest score first."""
    groups = {}
    for score, is_spam in scored:
        group = groups.setdefault(score, [0, 0])
        group[is_spam] += 1
    return [groups[score] for score in sorted(groups, reverse=True)]


def area_above(groups):
    """1 - AUC: how often a ham scores above a spam, ties counted half; NaN without both."""
    above = wrong = caught = 0
    for ham, spam in groups:
        wrong += spam * (above + ham / 2)
        above += ham
        caught += spam
    return wrong / (above * caught) if above and caught else math.nan


def recall(groups, rate):
    """Most spam caught at a threshold that at most the share `rate` of the ham exceeds, and all."""
    allowed = rate * sum(ham for ham, _ in groups)
    above = caught = best = 0
    for ham, spam in groups:
        above += ham
        caught += spam
        if above <= allowed:
            best = caught
    return best, caught


def fewest_errors(groups):
    """The fewest errors that one threshold for all messages could have made."""
    fewest = errors = sum(spam for _, spam in groups)
    for ham, spam in groups:
        errors += ham - spam
        fewest = min(fewest, errors)
    return fewest


def calibration_error(claims):
    """The average distance of claimed probabilities and the shares that came true, in ten bins."""
    bins = [[0.0, 0, 0] for _ in range(BINS)]
    for claim, is_spam in claims:
        found = bins[min(int(claim * BINS), BINS - 1)]
        found[0] += claim
        found[1] += is_spam
        found[2] += 1
    return sum(abs(claim - hits) for claim, hits, count in bins if count) / len(claims)


def sign_test(one, other):
    """Two-sided probability that a fair coin falls at least as unevenly (McNemar's exact test)."""
    few, total = min(one, other), one + other
    term = -total * math.log(2)
    tail = math.exp(term)
    for k in range(1, few + 1):
        term += math.log((total - k + 1) / k)
        tail += math.exp(term)
    return min(2 * tail, 1.0)


def wrong(judged):
    return (judged[3] == "spam") != (judged[1] == "spam")


def surely_wrong(judged):
    """Whether the verdict is wrong and not "unsure"."""
    return judged[3] not in ("unsure", judged[1])


def placements(judged):
    """The share of the other kind that each message is ranked on the right side of, by kind."""
    spams = sorted((one[2], at) for at, one in enumerate(judged) if one[1] == "spam")
    hams = sorted((one[2], at) for at, one in enumerate(judged) if one[1] != "spam")

    def below(mine, others):
        """How many of `others` lie below each of `mine`, ties counted half."""
        found, low, high = {}, 0, 0
        for score, at in mine:
            while low < len(others) and others[low][0] < score:
                low += 1
            high = max(high, low)
            while high < len(others) and others[high][0] <= score:
                high += 1
            found[at] = (low + high) / 2 / len(others)
        return found

    return below(spams, hams), {at: 1 - share for at, share in below(hams, spams).items()}


def ranking_test(one, other):
    """The probability of so different areas under the ROC curve, were both tools equally good.

    The test of DeLong, DeLong and Clarke-Pearson (1988) for two rankings of the same messages.
    """
    mine, theirs = placements(one), placements(other)
    if any(len(side) < 2 for side in mine):
        return math.nan
    variance, distance = 0.0, 0.0
    for here, there in zip(mine, theirs):
        differences = [here[at] - there[at] for at in here]
        count = len(differences)
        distance = sum(differences) / count
        spread = sum((value - distance) ** 2 for value in differences) / (count - 1)
        variance += spread / count
    if variance == 0:
        return 1.0
    return math.erfc(abs(distance) / math.sqrt(2 * variance))


def paired(one, other):
    """Two tools on the same messages: who alone was wrong how often, and how likely that is by chance.

    "errors", "wrong" and "lost" are McNemar's tests of all errors, of sure verdicts that are wrong,
    and of ham called spam; "ranking" is DeLong's test.
    """
    others = {judged[0]: judged for judged in other}
    pairs = [(judged, others[judged[0]]) for judged in one if judged[0] in others]

    def alone(mails, fails=wrong):
        here = sum(fails(a) and not fails(b) for a, b in mails)
        return here, sum(fails(b) and not fails(a) for a, b in mails)

    here, there = alone(pairs)
    lost = alone([pair for pair in pairs if pair[0][1] == "ham"])
    ranking = ranking_test([a for a, _ in pairs], [b for _, b in pairs]) if pairs else math.nan
    return {
        "only_here": here,
        "only_there": there,
        "errors": sign_test(here, there),
        "wrong": sign_test(*alone(pairs, surely_wrong)),
        "lost": sign_test(*lost),
        "ranking": ranking,
    }


def paired_draws(one, other):
    """The same for parts with draws, in which a message may come more than once: a draw is a pair.

    Counts in how many draws each tool alone was better; which may be chance if they are even.
    """
    count = len(one["areas"])

    def each(part, fails, *kinds):
        size = len(part["judged"]) // count
        rows = [part["judged"][at : at + size] for at in range(0, size * count, size)]
        return [sum(fails(mail) for mail in row if mail[1] in kinds) for row in rows]

    def test(mine, theirs):
        worse = sum(a > b for a, b in zip(mine, theirs))
        return sign_test(worse, sum(a < b for a, b in zip(mine, theirs)))

    both = ("ham", "spam")
    return {
        "draws": count,
        "errors": test(each(one, wrong, *both), each(other, wrong, *both)),
        "wrong": test(each(one, surely_wrong, *both), each(other, surely_wrong, *both)),
        "lost": test(each(one, wrong, "ham"), each(other, wrong, "ham")),
        "ranking": test(one["areas"], other["areas"]),
    }


def bootstrap(judged, rounds, seed=1):
    """95 % intervals of (1-AUC) and lam over resamplings of the messages: {name: (low, high)}."""
    ordered = sorted(judged, key=lambda one: -one[2])
    ranks, last = [], None
    for one in ordered:
        if last is None or one[2] != last:
            ranks.append(0)
            last = one[2]
        ranks[-1] += 1
    group_of = [group for group, count in enumerate(ranks) for _ in range(count)]
    spam = [int(one[1] == "spam") for one in ordered]
    taken = [int(one[3] == "spam") for one in ordered]
    # One number for each message says its group, its truth and its verdict.
    codes = [
        4 * group + 2 * truth + verdict for group, truth, verdict in zip(group_of, spam, taken)
    ]
    dice = random.Random(seed)
    areas, lams = [], []
    for _ in range(rounds):
        counts = [0] * (4 * len(ranks))
        for code in dice.choices(codes, k=len(codes)):
            counts[code] += 1
        above = caught = wrongly = 0
        lost, missed = sum(counts[1::4]), sum(counts[2::4])
        for at in range(0, len(counts), 4):
            ham, here = counts[at] + counts[at + 1], counts[at + 2] + counts[at + 3]
            if here:
                wrongly += here * (above + ham / 2)
                caught += here
            above += ham
        if above and caught:
            areas.append(wrongly / above / caught)
            lams.append(lam(lost / above, missed / caught))

    def interval(values):
        values.sort()
        cut = int(len(values) * 0.025)
        return (values[cut], values[-1 - cut]) if values else (math.nan, math.nan)

    return {"area": interval(areas), "lam": interval(lams)}


def measure(judged, rounds=0):
    """All measures of classified messages as a dictionary; shares are between 0 and 1."""
    ham = [one for one in judged if one[1] == "ham"]
    spam = [one for one in judged if one[1] == "spam"]

    def share(mails, *verdicts):
        return wilson(sum(one[3] in verdicts for one in mails), len(mails))

    groups = tied([(one[2], int(one[1] == "spam")) for one in judged])
    lost, missed = share(ham, "spam"), share(spam, "ham", "unsure")
    found = {
        "mails": len(judged),
        "ham": len(ham),
        "spam": len(spam),
        "error": wilson(sum(map(wrong, judged)), len(judged)),
        "lost": lost,
        "missed": missed,
        "through": share(spam, "ham"),
        "unsure": share(judged, "unsure"),
        "wrong": wilson(sum(map(surely_wrong, judged)), len(judged)),
        "fewest": wilson(fewest_errors(groups), len(judged)),
        "lam": lam(lost[0], missed[0]),
        "area": area_above(groups),
    }
    for rate in RATES:
        found[f"recall_{rate:g}"] = wilson(*recall(groups, rate))
    claims = [(one[4], one[1] == "spam") for one in judged if one[4] is not None]
    if claims and len(claims) == len(judged):
        found["calibration"] = calibration_error(claims)
    if rounds:
        found["intervals"] = bootstrap(judged, rounds)
    return found


def curve(judged, points=12):
    """A learning curve of a stream: [(messages so far, share of errors among the last ones)]."""
    cuts = [len(judged) * (at + 1) // points for at in range(points)]
    found, start = [], 0
    for cut in cuts:
        if cut > start:
            found.append((cut, sum(map(wrong, judged[start:cut])) / (cut - start)))
            start = cut
    return found
