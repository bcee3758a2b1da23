#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the time of a static dbacl with that of a dynamic one.

    linking.py STATIC DYNAMIC [ROUNDS]       programs, such as target/dist-build/.../dbacl

Each round runs both programs on each task, one after the other, so that other work of the machine
falls on both. A row has the milliseconds of processor time (user and system) of one run: the lowest
of all rounds, and the median of the rounds' quotients.
"""
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

DEMO = pathlib.Path(__file__).resolve().parent.parent / "testdata/demo"
REPEATS = 20


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    programs = [str(pathlib.Path(word).resolve()) for word in sys.argv[1:3]]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    text = sorted((DEMO / "learn/kingjames").iterdir())[0]
    short = DEMO / "unseen/lincoln-gettysburg.txt"
    tasks = {
        "start and end (--version)": ["--version"],
        "classify a page, two categories": ["-v", "-c", "./one", "-c", "./two", str(short)],
        "learn a book": ["-l", "./three", str(text)],
    }
    with tempfile.TemporaryDirectory() as folder:
        for name in ["one", "two"]:
            subprocess.run([programs[0], "-l", f"./{name}", str(short)], cwd=folder, check=True)
        print("task\tstatic, ms\tdynamic, ms\tstatic : dynamic")
        for task, options in tasks.items():
            times = [[], []]
            for _ in range(rounds):
                for program, of_program in zip(programs, times):
                    before = processor_time()
                    for _ in range(REPEATS):
                        subprocess.run([program, *options], cwd=folder, stdout=subprocess.DEVNULL)
                    of_program.append((processor_time() - before) / REPEATS * 1000)
            quotient = statistics.median(a / b for a, b in zip(*times))
            print(f"{task}\t{min(times[0]):.2f}\t{min(times[1]):.2f}\t{quotient:.2f}")


main()
