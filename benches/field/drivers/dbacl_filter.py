#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: dbacl, the mail filter
# deterministic: yes
# setting: defaults - the two commands of the README, and --mail-correct for every mail
# setting: documented - the same; --mail-correct for mails that were wrong or unsure only
import os

import driver


class Filter(driver.Driver):
    threshold = 0.0

    def start(self):
        self.program = os.path.join(os.environ.get("FIELD_BIN", ""), "dbacl")
        if not os.access(self.program, os.X_OK):
            raise driver.Missing("FIELD_BIN names no folder with dbacl")
        self.made = False

    def version(self):
        return driver.first_line(self.program, "--version")

    def learn(self, mails):
        self.mails += mails
        if self.both_kinds():
            place = self.sorted_mail()
            self.run(
                self.program,
                "--mail-learn",
                self.model / "filter",
                f"ham={place}/ham",
                f"spam={place}/spam",
            )
            self.made = True

    def correct(self, label, verdict, path):
        if not self.made:
            self.learn(
                [(label, path)]
            )  # the first mails are sorted by hand, until there are both kinds
        elif self.setting == "defaults" or verdict != label:
            self.run(self.program, "--mail-correct", self.model / "filter", label, stdin=path)

    def judge(self, paths):
        if not self.made:
            return [(0.0, "unsure", 0.5) for _ in paths]
        filter = self.model / "filter"
        # The verdict of --mail-filter, with all digits.
        lines = self.run(
            self.program,
            "--strict",
            "--verdict",
            "--format",
            "tsv",
            "-F",
            "-c",
            filter / "ham",
            "-c",
            filter / "spam",
            *paths,
        ).splitlines()[1:]
        rows = [line.split("\t") for line in lines]
        return [
            (float(row[7]), "unsure" if row[2] == "true" else row[1], float(row[6])) for row in rows
        ]


driver.main(Filter)
