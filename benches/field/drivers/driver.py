# SPDX-License-Identifier: GPL-3.0-or-later
"""What drivers in Python share: the protocol, running tools, what they cost, retraining."""

import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time

BUILD = pathlib.Path(os.environ.get("FIELD_BUILD", "target/field"))
LEARNED_ENOUGH = 1.1  # a tool that learns all mails at once does so when they grew by a tenth


class Missing(Exception):
    """The tool is not here; the text says what is missing."""


def program(name, package=None):
    """The path of a program: unpacked by `field install`, or of this system."""
    root = BUILD.parent / "unpacked" / (package or name)
    # Of a package whose program is one of several alternatives only the long name is unpacked.
    files = [file for folder in ("usr/bin", "usr/sbin") for file in (root / folder).glob(f"{name}*")]
    for file in sorted(files, key=lambda file: len(file.name)):
        if file.name == name or file.name.startswith(f"{name}-"):
            libraries = {str(file.parent) for file in (root / "usr/lib").rglob("lib*.so*")}
            known = os.environ.get("LD_LIBRARY_PATH", "").split(":")
            os.environ["LD_LIBRARY_PATH"] = ":".join(sorted(libraries.union(known) - {""}))
            return str(file)
    found = shutil.which(name)
    if not found:
        raise Missing(f"{name} is not installed (Debian package {package or name})")
    return found


def first_line(*command):
    """The first line that a command prints, on either stream."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return (done.stdout.splitlines() or ["?"])[0].strip()


class Driver:
    """A tool. Overrides `judge` and `learn`; scores are larger the more a mail looks like spam."""

    threshold = 0.5  # the score where the tool's own verdict changes
    inside = False  # whether the tool runs in this process
    children = True  # whether the tool is run as processes

    def __init__(self, folder, setting):
        self.folder, self.model, self.setting = folder, folder / "model", setting
        self.servers, self.measuring, self.known, self.mails = [], False, set(), []

    def start(self):
        """Finds the tool; raises Missing."""

    def version(self):
        return "?"

    def learn(self, mails):
        """Learns [(label, path)] in this order, beside what is known already."""
        raise NotImplementedError

    def judge(self, paths):
        """Yields (score, verdict, probability or None) for each path."""
        raise NotImplementedError

    def correct(self, label, verdict, path):
        """Is told the truth about a mail that got `verdict` before."""
        self.learn([(label, path)])

    def stop(self):
        """Ends servers, and leaves what was learned as files below `self.model`."""

    def sorted_mail(self):
        """Folders ham and spam with all mails of `self.mails`, for tools that learn folders."""
        place = self.folder / "sorted"
        shutil.rmtree(place, ignore_errors=True)
        for number, (label, path) in enumerate(self.mails):
            (place / label).mkdir(parents=True, exist_ok=True)
            (place / label / f"{number:06}").symlink_to(path)
        return place

    def both_kinds(self):
        """Whether mails of both kinds are among `self.mails`."""
        return len({label for label, _ in self.mails}) == 2

    def run(self, *command, stdin=None, good=(0,)):
        """What a command prints on standard output."""
        command = [str(word) for word in command]
        if self.measuring:
            command = [TIME, "-q", "-a", "-o", str(self.folder / "memory"), "-f", "%M"] + command
        with open(stdin or os.devnull, "rb") as source:
            done = subprocess.run(
                command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        if done.returncode not in good:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise RuntimeError(f"{' '.join(command)[:200]}: status {done.returncode}, {said[-1:]}")
        return done.stdout.decode("utf-8", "replace")

    def serve(self, *command, socket_path=None, port=None):
        """Starts a server and waits until it answers at a socket or a port of this machine."""
        log = open(self.folder / "server.log", "ab")
        server = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self.servers.append(server)
        deadline = time.monotonic() + 60
        while True:
            try:
                if socket_path:
                    with socket.socket(socket.AF_UNIX) as trial:
                        trial.connect(str(socket_path))
                else:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                if server.poll() is not None or time.monotonic() > deadline:
                    lines = (self.folder / "server.log").read_text("utf-8", "replace").splitlines()
                    raise Missing(f"the server does not start: {' '.join(lines[-1:])}") from None
                time.sleep(0.05)

    def cost(self):
        """Seconds of processor time, and the peak of memory in kB."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds, memory = (used.ru_utime + used.ru_stime, 0) if self.children else (0.0, 0)
        if (self.folder / "memory").exists():
            memory = max(map(int, (self.folder / "memory").read_text().split()))
        if self.inside:
            own = resource.getrusage(resource.RUSAGE_SELF)
            seconds, memory = seconds + own.ru_utime + own.ru_stime, max(memory, own.ru_maxrss)
        # A server's own children too, such as the workers of rspamd.
        waiting, peak = [server.pid for server in self.servers], 0
        while waiting:
            one = pathlib.Path(f"/proc/{waiting.pop()}")
            try:
                fields = (one / "stat").read_text().rsplit(")", 1)[1].split()
                seconds += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
                lines = (one / "status").read_text().splitlines()
                peak += next(
                    (int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0
                )
                for task in (one / "task").iterdir():
                    waiting += map(int, (task / "children").read_text().split())
            except OSError:
                continue
        return seconds, max(memory, peak)

    def close(self):
        for server in reversed(self.servers):
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)
                server.wait()
        self.stop()


class Retrained(Driver):
    """A tool that learns all mails at once: `fit(mails)` learns [(label, path)] from nothing."""

    fitted = 0

    def learn(self, mails):
        self.mails = self.mails + list(mails)
        self.renew()

    def correct(self, label, verdict, path):
        self.mails = self.mails + [(label, path)]
        if len(self.mails) >= max(self.fitted * LEARNED_ENOUGH, self.fitted + 5):
            self.renew()

    def renew(self):
        if self.both_kinds():
            self.fit(self.mails)
            self.fitted = len(self.mails)

    def judge(self, paths):
        return self.predict(paths) if self.fitted else ((0.5, "unsure", 0.5) for _ in paths)


TIME = shutil.which("time", path=f"{BUILD.parent}/unpacked/time/usr/bin:{os.environ['PATH']}")


def main(kind):
    """Answers requests on standard input until it ends."""
    folder = pathlib.Path(sys.argv[1])
    out = sys.stdout
    sys.stdout = sys.stderr  # what libraries print is no answer

    def say(*words):
        out.write("\t".join(str(word) for word in words) + "\n")
        out.flush()

    driver = kind(folder, sys.argv[2])
    # A run that is stopped ends its servers, too: an exit is cleaned up behind, a signal is not.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        driver.start()
        say("ready", driver.threshold, driver.version())
        for line in sys.stdin:
            request, *words = line.rstrip("\n").split("\t")
            if request == "learn":
                driver.learn([tuple(word.split("=", 1)) for word in words])
                say("ok")
            elif request == "judge":
                answers = [
                    (score, verdict, "-" if probability is None else probability)
                    for score, verdict, probability in driver.judge(words)
                ]
                if len(answers) != len(words):
                    raise RuntimeError(f"{len(answers)} answers for {len(words)} mails")
                out.write(
                    "".join(f"{score!r}\t{verdict}\t{sure}\n" for score, verdict, sure in answers)
                )
                out.flush()
            elif request == "correct":
                driver.correct(*words)
                say("ok")
            elif request == "measure":
                driver.measuring = bool(TIME)
                say("ok")
            elif request == "cost":
                say(*driver.cost())
            else:
                raise RuntimeError(f"no such request: {request}")
    except Missing as reason:
        say("skip", reason)
    except Exception as error:  # the runner writes it down and goes on with the next tool
        say("fail", " ".join(str(error).split()) or type(error).__name__)
    finally:
        driver.close()
