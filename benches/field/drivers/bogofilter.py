#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: bogofilter
# debian: bogofilter
# deterministic: yes
# setting: defaults - every mail is learned; spam above 0.99, ham below 0.45
# setting: documented - mails that are not judged surely are learned (FAQ: bogominitrain)
import driver


class Bogofilter(driver.Driver):
    threshold = 0.99

    def start(self):
        self.program = driver.program("bogofilter")
        self.cautious = self.setting == "documented"
        self.options = ["-d", self.model]
        if self.cautious:
            # The FAQ's example: spam_cutoff is 0.6; spam is learned up to 0.9 and ham down to 0.3.
            self.threshold, self.options = 0.6, self.options + ["-o", "0.6,0.45"]

    def version(self):
        return driver.first_line(self.program, "-V")

    def register(self, label, paths):
        self.known.add(label)
        flag = "-s" if label == "spam" else "-n"
        self.run(self.program, *self.options, flag, "-B", *paths)

    def learn(self, mails):
        if not self.cautious:
            for wanted in ("ham", "spam"):
                paths = [path for label, path in mails if label == wanted]
                if paths:
                    self.register(wanted, paths)
            return
        for _ in range(3):  # bogominitrain repeats until all are right; three rounds come close
            learned = False
            for label, path in mails:
                score = next(iter(self.judge([path])))[0]
                if not (score > 0.9 if label == "spam" else score < 0.3):
                    self.register(label, [path])
                    learned = True
            if not learned:
                break

    def judge(self, paths):
        if not self.known:
            return [(0.5, "unsure", None) for _ in paths]
        lines = self.run(
            self.program, *self.options, "-TT", "-B", *paths, good=(0, 1, 2)
        ).splitlines()
        scores = [float(line.split()[-1]) for line in lines]
        high = self.threshold
        return [
            (score, "spam" if score >= high else "ham" if score <= 0.45 else "unsure", score)
            for score in scores
        ]


driver.main(Bogofilter)
