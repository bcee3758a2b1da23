#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: rspamd, its Bayes classifier with redis
# debian: rspamd
# debian: redis-server
# deterministic: yes
# setting: defaults - judges from 200 mails of each kind on; spam where it says BAYES_SPAM
# setting: at-once - the same, with min_learns 1
import http.client
import json
import pathlib
import socket

import driver


class Rspamd(driver.Driver):
    threshold = 0.0

    def start(self):
        program, redis = driver.program("rspamd"), driver.program("redis-server")
        root = program.removesuffix("/usr/bin/rspamd").removesuffix("/usr")
        text = pathlib.Path(__file__).with_suffix(".conf").read_text()
        text = text.replace("FOLDER", str(self.folder)).replace("ROOT", root)
        (self.folder / "conf").write_text(text)
        # Ten thousand suffixes of domains take 10 s to load; countries and the old ones will do.
        names = pathlib.Path(root, "usr/share/rspamd/effective_tld_names.dat").read_text()
        suffixes = [name for name in names.split("\n") if name.isalpha() and len(name) < 4]
        (self.folder / "suffixes").write_text("\n".join(suffixes))
        if self.setting == "at-once":
            (self.folder / "local.d").mkdir()
            (self.folder / "local.d/classifier-bayes.conf").write_text("min_learns = 1;\n")
        options = f"port 0\nunixsocket {self.folder}/redis\ndir {self.model}\nsave 86400 1\n"
        (self.folder / "redis.conf").write_text(options)
        self.serve(redis, self.folder / "redis.conf", socket_path=self.folder / "redis")
        places = {
            "LUALIBDIR": f"{root}/usr/share/rspamd/lualib",
            "CONFDIR": f"{root}/etc/rspamd",
            "LOCAL_CONFDIR": self.folder,
            "DBDIR": self.folder,
        }
        command = [program, "-i", "-f", "-c", self.folder / "conf"]
        command += [f"--var={name}={place}" for name, place in places.items()]
        self.serve(*command, socket_path=self.folder / "controller")
        self.program = program

    def version(self):
        return driver.first_line(self.program, "--version")

    def ask(self, worker, request, path):
        line = http.client.HTTPConnection("localhost")
        line.sock = socket.socket(socket.AF_UNIX)
        line.sock.connect(str(self.folder / worker))
        line.request("POST", request, pathlib.Path(path).read_bytes())
        answer = line.getresponse().read()
        line.close()
        return json.loads(answer or b"{}")

    def learn(self, mails):
        for label, path in mails:  # a refusal, such as of a mail that it knows, is no error
            self.ask("controller", f"/learn{label}", path)

    def judge(self, paths):
        for path in paths:
            said = self.ask("normal", "/checkv2", path)["symbols"]
            spam, ham = (
                said.get(name, {}).get("score", 0.0) for name in ("BAYES_SPAM", "BAYES_HAM")
            )
            yield spam + ham, "spam" if spam else "ham" if ham else "unsure", None


driver.main(Rspamd)
