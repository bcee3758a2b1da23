#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: FTRL logistic regression, written for this page from McMahan et al. 2013
# deterministic: yes
# setting: defaults - single words, one pass
# setting: documented - words, pairs, words of header fields; three passes over a batch
import math
import pickle
import random
import zlib

import driver
import words

SLOTS, ALPHA, BETA, L1, L2 = 1 << 20, 0.1, 1.0, 0.1, 0.1  # the paper's symbols; rates of its order


class Ftrl(driver.Driver):
    inside, children, threshold = True, False, 0.0

    def start(self):
        self.z, self.n, self.rich = {}, {}, self.setting == "documented"

    def version(self):
        return "FTRL-Proximal, McMahan et al. 2013, algorithm 1"

    def slots(self, path):
        return sorted(
            {
                zlib.crc32(token.encode("utf-8", "replace")) % SLOTS
                for token in words.tokens(path, self.rich)
            }
            | {SLOTS}
        )

    def weight(self, slot):
        z = self.z.get(slot, 0.0)
        if abs(z) <= L1:
            return 0.0
        return -(z - math.copysign(L1, z)) / ((BETA + math.sqrt(self.n[slot])) / ALPHA + L2)

    def learn(self, mails):
        passes = 3 if self.rich and len(mails) > 1 else 1
        for turn in range(passes):
            for label, path in random.Random(turn).sample(mails, len(mails)):
                slots = self.slots(path)
                weights = [self.weight(slot) for slot in slots]
                odds = max(-35.0, min(35.0, sum(weights)))
                gradient = 1 / (1 + math.exp(-odds)) - (label == "spam")
                for slot, weight in zip(slots, weights):
                    n = self.n.get(slot, 0.0)
                    sigma = (math.sqrt(n + gradient * gradient) - math.sqrt(n)) / ALPHA
                    self.z[slot] = self.z.get(slot, 0.0) + gradient - sigma * weight
                    self.n[slot] = n + gradient * gradient

    def judge(self, paths):
        for path in paths:
            odds = sum(self.weight(slot) for slot in self.slots(path))
            yield (
                odds,
                "spam" if odds > 0 else "ham",
                1 / (1 + math.exp(-max(-700.0, min(700.0, odds)))),
            )

    def stop(self):
        (self.model / "weights").write_bytes(pickle.dumps((self.z, self.n)))


driver.main(Ftrl)
