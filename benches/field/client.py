# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of a driver: a process that answers requests, a line each (see README.md)."""

import os
import pathlib
import selectors
import shutil
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent


class Skipped(Exception):
    """The tool cannot be run here; the text says why."""


class Failed(Exception):
    """The tool was started and did not do what it should."""


def venv(build, name):
    """The Python of a driver's own virtual environment."""
    return build / "python" / name / "bin" / "python3"


def found(names=()):
    """The drivers, or those of `names`: their paths in the order of their names."""
    drivers = sorted(
        path for path in (HERE / "drivers").iterdir() if os.access(path, os.X_OK) and path.is_file()
    )
    unknown = set(names) - {path.stem for path in drivers}
    if unknown:
        raise ValueError(f"no driver of the name {', '.join(sorted(unknown))}")
    return [path for path in drivers if not names or path.stem in names]


def remarks(driver):
    """The lines "# KEY: VALUE" of a driver: [(key, value)]."""
    lines = driver.read_text().splitlines()
    pairs = [line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line]
    return [
        (key, value)
        for key, value in pairs
        if key in ("tool", "setting", "debian", "pypi", "deterministic")
    ]


def settings(driver):
    """The settings of a driver: {name: what it is}."""
    values = [value.split(" - ", 1) for key, value in remarks(driver) if key == "setting"]
    return {name: meaning for name, meaning in values}


class Client:
    """A driver at work in a folder of its own, which vanishes with it."""

    def __init__(self, driver, setting, folder, build, environment=None, deadline=None):
        self.driver, self.folder = driver, pathlib.Path(folder)
        self.deadline = deadline
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "model").mkdir(parents=True)
        variables = dict(
            os.environ,
            LC_ALL="C.UTF-8",
            TZ="UTC",
            HOME=str(self.folder),
            FIELD_BUILD=str(build),
            PYTHONHASHSEED="0",
            OMP_NUM_THREADS="1",
            OPENBLAS_NUM_THREADS="1",
        )
        variables.update(environment or {})
        command = [str(driver), str(self.folder), setting]
        own = venv(build, driver.stem)
        if driver.suffix == ".py":
            command.insert(0, str(own) if own.exists() else "python3")
        self.said = open(self.folder / "stderr", "wb")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            env=variables,
            cwd=self.folder,
        )
        self.left, self.patience = b"", selectors.DefaultSelector()
        self.patience.register(self.process.stdout, selectors.EVENT_READ)
        try:
            words = self.answer().split("\t")
            if words[0] != "ready":
                self.close()
                raise Skipped(words[-1])
            self.threshold, self.version = float(words[1]), words[2]
        except Failed:
            self.close()
            raise

    def answer(self):
        """The next line that the driver prints."""
        while b"\n" not in self.left:
            rest = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
            if not self.patience.select(rest):
                raise Failed("took longer than it may")
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                said = (self.folder / "stderr").read_text("utf-8", "replace").strip().splitlines()
                raise Failed(f"ended without an answer: {said[-1] if said else 'no reason given'}")
            self.left += chunk
        line, self.left = self.left.split(b"\n", 1)
        text = line.decode("utf-8", "replace")
        if text.startswith("fail\t"):
            raise Failed(text[5:])
        return text

    def ask(self, *words):
        try:
            self.process.stdin.write("\t".join(words).encode("utf-8", "surrogateescape") + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the next answer of the driver says why
        return self.answer()

    def learn(self, mails):
        """Learns messages: [(label, path)]."""
        self.ask("learn", *(f"{label}={path}" for label, path in mails))

    def judge(self, paths):
        """Classifies messages: [(score, verdict, probability or None)]."""
        if not paths:
            return []
        opinions = []
        line = self.ask("judge", *paths)
        for at in range(len(paths)):
            score, verdict, probability = (line if at == 0 else self.answer()).split("\t")
            if verdict not in ("ham", "spam", "unsure"):
                raise Failed(f"a verdict {verdict!r}")
            opinions.append(
                (float(score), verdict, float(probability) if probability != "-" else None)
            )
        return opinions

    def correct(self, label, verdict, path):
        """Tells the truth about a message that got `verdict`."""
        self.ask("correct", label, verdict, path)

    def cost(self):
        """Seconds of processor time so far, and the peak of memory in kB, of the tool alone."""
        seconds, memory = self.ask("cost").split("\t")
        return float(seconds), int(memory)

    def close(self):
        """Ends the driver and returns the bytes of the model that it leaves."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.said.close()
        size = sum(
            file.stat().st_size
            for file in (self.folder / "model").rglob("*")
            if file.is_file() and not file.is_symlink()
        )
        shutil.rmtree(self.folder, ignore_errors=True)
        return size
