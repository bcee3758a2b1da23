#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: CRM114
# debian: crm114 crm
# deterministic: yes
# setting: defaults - osb unique microgroom; every mail is learned
# setting: documented - mails that are wrong or within 10 pR are learned (FAQ: thick threshold)
import re

import driver

KIND = "<osb unique microgroom>"
LEARN = "-{ learn %s (%s.css) /[[:graph:]]+/ }"
JUDGE = (
    "-{ isolate (:s:); { classify %s ( ham.css | spam.css ) (:s:) /[[:graph:]]+/ } "
    "output /:*:s:/ }" % KIND
)


class Crm114(driver.Driver):
    threshold = 0.0

    def start(self):
        self.program = driver.program("crm", "crm114")
        driver.os.chdir(self.model)  # names of files in a script are relative

    def version(self):
        return driver.first_line(self.program, "-v")

    def learn(self, mails):
        for label, path in mails:
            if self.setting == "documented" and len(self.known) == 2:
                score = self.judge([path])[0][0]
                if (score if label == "spam" else -score) > 10:
                    continue
            self.run(self.program, LEARN % (KIND, label), stdin=path)
            self.known.add(label)

    def judge(self, paths):
        if len(self.known) < 2:
            return [(0.0, "unsure", None) for _ in paths]
        opinions = []
        for path in paths:
            # A "classify" that finds the first file worse leaves its block; "output" comes behind.
            said = self.run(self.program, JUDGE, stdin=path)
            found = re.search(r"#1 \(spam.css\):.* pR: *(-?[0-9.]+)", said)
            score = float(found[1]) if found else 0.0
            sure = abs(score) > 10 or self.setting == "defaults"
            opinions.append((score, "unsure" if not sure else "spam" if score > 0 else "ham", None))
        return opinions


driver.main(Crm114)
