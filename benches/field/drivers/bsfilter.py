#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: bsfilter
# debian: bsfilter
# deterministic: yes
# setting: defaults - every mail is learned; spam above 0.95
# setting: documented - the same, with its recipe's folders: black from 0.8 on, gray from 0.6 on
import os

import driver


class Bsfilter(driver.Driver):
    threshold = 0.95

    def start(self):
        if self.setting == "documented":
            self.threshold = 0.8
        ruby, program = driver.program("ruby"), driver.program("bsfilter")
        # Ruby begins three times as fast if it need not look for its libraries in all gems.
        found = self.run(ruby, "-e", "require 'sdbm'; puts $\"", good=(0, 1)).split()
        places = {os.path.dirname(file) for file in found if os.path.basename(file) == "sdbm.so"}
        if not places:
            raise driver.Missing("Ruby's library sdbm is not installed (gem sdbm)")
        self.command = [ruby, "-W0", "--disable=gems", "-I", *places, program]
        self.command += ["--homedir", self.model]

    def version(self):
        said = self.run(*self.command, "--help", good=(0, 1)).splitlines()
        words = [line.strip() for line in said]
        return f"bsfilter {words[words.index('RELEASE') + 1]}" if "RELEASE" in words else "bsfilter"

    def learn(self, mails):
        for label, option in (("ham", "--add-clean"), ("spam", "--add-spam")):
            paths = [path for wanted, path in mails if wanted == label]
            if paths:
                update = (
                    ["--update"]
                    if label == mails[-1][0] or len({one for one, _ in mails}) == 1
                    else []
                )
                self.run(*self.command, option, *update, *paths, good=(0, 1))
                self.known.add(label)
        if len({label for label, _ in mails}) == 2:
            self.run(*self.command, "--update", good=(0, 1))

    def judge(self, paths):
        if len(self.known) < 2:
            return [(0.5, "unsure", None) for _ in paths]
        lines = self.run(*self.command, *paths, good=(0, 1)).splitlines()
        scores = [
            float(line.split()[-1]) for line in lines if line.startswith("combined probability")
        ]
        return [(score, self.verdict(score), score) for score in scores]

    def verdict(self, score):
        if self.setting == "documented":
            return "spam" if score >= 0.8 else "unsure" if score >= 0.6 else "ham"
        return "spam" if score > 0.95 else "ham"


driver.main(Bsfilter)
