#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: dbacl 1.14.1, the original
# deterministic: yes
# setting: defaults - the tutorial's -T email -H 20
# setting: documented - the same options as for the ordinary categories of today
import os

import dbacl_ordinary
import driver


class Original(dbacl_ordinary.Ordinary):
    asked = "-V"

    def start(self):
        self.program = os.environ.get("FIELD_DBACL_1141", "")
        if not os.access(self.program, os.X_OK):
            raise driver.Missing("FIELD_DBACL_1141 names no program")


driver.main(Original)
