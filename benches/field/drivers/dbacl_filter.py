#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: dbacl, the mail filter
# deterministic: yes
# setting: defaults - the two commands of the README, and --mail-correct for every mail
# setting: documented - --mail-learn anew when mails grew by a tenth, --mail-correct for errors
import math
import os
import sys

import driver


class Filter(driver.Driver):
    threshold = 0.0

    def start(self):
        self.program = os.path.join(os.environ.get("FIELD_BIN", ""), "dbacl")
        if not os.access(self.program, os.X_OK):
            raise driver.Missing("FIELD_BIN names no folder with dbacl")
        self.made, self.filter = 0, self.model / "filter"

    def version(self):
        return driver.first_line(self.program, "--version")

    def learn(self, mails):
        self.mails += mails
        if self.both_kinds():
            place = self.sorted_mail()
            folders = [f"ham={place}/ham", f"spam={place}/spam"]
            self.run(self.program, "--mail-learn", self.filter, *folders)
            self.made = len(self.mails)

    def correct(self, label, verdict, path):
        enough = max(self.made * driver.LEARNED_ENOUGH, self.made + 5)
        anew = self.setting == "documented" and len(self.mails) + 1 >= enough
        if anew or not self.made:  # the first mails are sorted by hand, until there are both kinds
            self.learn([(label, path)])
            return
        self.mails.append((label, path))
        if self.setting == "defaults" or verdict != label:
            self.run(self.program, "--mail-correct", self.filter, label, stdin=path)

    def judge(self, paths):
        if not self.made:
            return [(0.0, "unsure", 0.5) for _ in paths]
        command = [self.program, "--strict", "--mail-verdict", self.filter, "--format", "tsv"]
        rows = [line.split("\t") for line in self.run(*command, *paths).splitlines()[1:]]
        verdicts = ["unsure" if row[2] == "true" else row[1] for row in rows]
        # A probability close to 1 has lost the digits that the other one has.
        odds = [log_odds(spam=float(row[5]), ham=float(row[4])) for row in rows]
        return [(score, said, float(row[5])) for score, said, row in zip(odds, verdicts, rows)]


def log_odds(spam, ham):
    smallest = sys.float_info.min
    return math.log(max(spam, smallest)) - math.log(max(ham, smallest))


driver.main(Filter)
