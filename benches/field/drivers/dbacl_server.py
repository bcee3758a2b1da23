#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: dbacl-server, asked as spamc asks
# deterministic: yes
# setting: defaults - one filter for all, learned by --mail-learn, taught by spamc's TELL
import os
import pathlib
import socket

import driver


class Server(driver.Driver):
    threshold = 2.5  # points; below 0 is ham, from 5 on spam

    def start(self):
        folder = os.environ.get("FIELD_BIN", "")
        self.learner, self.server = (
            os.path.join(folder, name) for name in ("dbacl", "dbacl-server")
        )
        if not os.access(self.server, os.X_OK):
            raise driver.Missing("FIELD_BIN names no folder with dbacl-server")
        self.filter, self.socket = self.model / "filter", self.folder / "spamc"

    def version(self):
        return driver.first_line(self.server, "--version")

    def learn(self, mails):
        self.mails += mails
        if not self.both_kinds():
            return
        place = self.sorted_mail()
        self.run(
            self.learner, "--mail-learn", self.filter, f"ham={place}/ham", f"spam={place}/spam"
        )
        if not self.servers:  # it takes up a new filter by itself
            config = self.folder / "server.toml"
            config.write_text("learn-default = true\n")  # corrections name no user
            options = ("--config", config, "--default", self.filter, "--spamc", self.socket)
            self.serve(self.server, *options, socket_path=self.socket)

    def ask(self, request, path):
        mail = pathlib.Path(path).read_bytes()
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(self.socket))
            line.sendall(request.encode() + b"Content-length: %d\r\n\r\n" % len(mail) + mail)
            line.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: line.recv(1 << 16), b"")).decode("utf-8", "replace")
        if " 0 EX_OK" not in answer:
            raise RuntimeError(answer.splitlines()[0] if answer else "no answer")
        return answer

    def correct(self, label, verdict, path):
        if not self.servers:
            self.learn([(label, path)])
        else:
            self.ask(f"TELL SPAMC/1.5\r\nMessage-class: {label}\r\nSet: local\r\n", path)

    def judge(self, paths):
        for path in paths:
            points = 2.5
            if self.servers:
                said = self.ask("CHECK SPAMC/1.5\r\n", path).split("Spam: ")[1]
                points = float(said.split(";")[1].split("/")[0])
            yield points, "spam" if points >= 5 else "unsure" if points > 0 else "ham", None


driver.main(Server)
