#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: SylFilter
# debian: sylfilter
# deterministic: yes
# setting: defaults - every mail is learned; its documentation has no other advice
import re

import driver


class SylFilter(driver.Driver):
    threshold = 0.5

    def start(self):
        self.command = [driver.program("sylfilter"), "-p", self.model]

    def version(self):
        return driver.first_line(self.command[0], "-V")

    def learn(self, mails):
        for label, option in (("ham", "-c"), ("spam", "-j")):
            paths = [path for wanted, path in mails if wanted == label]
            if paths:
                self.run(*self.command, option, *paths, good=(0, 1, 2))
                self.known.add(label)

    def judge(self, paths):
        if len(self.known) < 2:
            return [(0.5, "unsure", None) for _ in paths]
        said = self.run(*self.command, "-v", *paths, good=(0, 1, 2, 127))
        opinions = []
        for text in said.split("testing message file: ")[1:]:
            found = re.search(r"status = (\d+), probability = ([0-9.]+)", text)
            verdict = (
                "spam"
                if "is a junk mail" in text
                else "ham"
                if "is a clean mail" in text
                else "unsure"
            )
            # Without a word that it knows it says "uncertain" or reports an error.
            score = float(found[2]) if found else 0.5
            opinions.append((score, verdict, score))
        return opinions


driver.main(SylFilter)
