#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: SpamProbe
# debian: spamprobe
# deterministic: yes
# setting: defaults - every mail is learned (commands good and spam)
# setting: documented - mails that are wrong or unsure are learned (train-good, train-spam)
import driver


class SpamProbe(driver.Driver):
    threshold = 0.6

    def start(self):
        self.command = [driver.program("spamprobe"), "-M", "-d", self.model]

    def version(self):
        return driver.first_line(self.command[0], "-V")

    def learn(self, mails):
        prefix = "train-" if self.setting == "documented" else ""
        names = {"ham": prefix + "good", "spam": prefix + "spam"}
        start = 0
        if not prefix:
            mails = sorted(mails)
        while start < len(mails):  # runs of one label; the order is kept for "train"
            label = mails[start][0]
            end = start
            while end < len(mails) and mails[end][0] == label:
                end += 1
            self.run(*self.command, names[label], *[path for _, path in mails[start:end]])
            start = end
            self.known.add(label)

    def judge(self, paths):
        if not self.known:
            return [(0.5, "unsure", None) for _ in paths]
        lines = self.run(*self.command, "-l", "0.6", "score", *paths).splitlines()
        rows = [line.split() for line in lines if line.startswith(("SPAM", "GOOD"))]
        scores = [float(row[1]) for row in rows]
        return [(score, "spam" if score >= 0.6 else "ham", score) for score in scores]


driver.main(SpamProbe)
