#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: dbacl, ordinary categories
# deterministic: yes
# setting: defaults - the tutorial's -T email -H 20
# setting: documented - the best options of docs/lab/ordinary.md: more headers, pairs of words
import os

import driver

OPTIONS = {
    "defaults": "-T email -H 20",
    "documented": "-T email -T email:headers -T email:theaders -T html:links -T html:alt "
    "-H 22 -e adp -w 2",
}


class Ordinary(driver.Driver):
    threshold, asked = 0.0, "--version"

    def start(self):
        self.program = os.path.join(os.environ.get("FIELD_BIN", ""), "dbacl")
        if not os.access(self.program, os.X_OK):
            raise driver.Missing("FIELD_BIN names no folder with dbacl")

    def version(self):
        return driver.first_line(self.program, self.asked)

    def learn(self, mails):
        for wanted in ("ham", "spam"):
            paths = [path for label, path in mails if label == wanted]
            if paths:
                category = self.model / wanted
                options = OPTIONS[self.setting].split()
                # The file of -o keeps what was learned before. A mail without words is no error.
                self.run(
                    self.program,
                    *options,
                    "-l",
                    category,
                    "-o",
                    f"{category}.counts",
                    *paths,
                    good=(0, 1, 2),
                )
                self.known.add(wanted)

    def judge(self, paths):
        if len(self.known) < 2:
            return [(0.0, "unsure", 0.5) for _ in paths]
        # With one file the name is left out; asked twice, there are always names.
        lines = self.run(
            self.program,
            "-T",
            "email",
            "-c",
            self.model / "ham",
            "-c",
            self.model / "spam",
            "-nvF",
            *paths,
            paths[0],
            good=range(4),
        ).splitlines()[: len(paths)]
        opinions = []
        for line in lines:
            fields = line.split()
            # PATH ham BITS * WORDS spam BITS * WORDS: the bits of a word under each category
            margin = float(fields[-7]) - float(fields[-3])
            opinions.append((margin, "spam" if margin > 0 else "ham", None))
        return opinions


if __name__ == "__main__":
    driver.main(Ordinary)
