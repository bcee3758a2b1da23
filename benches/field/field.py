#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mail filters on the same messages: runs them, and makes pages of what was found.

    field.py install [TOOL...]           unpacks Debian's packages, fills virtual environments
    field.py tools [TOOL...]             which tools and settings there are, and which can be run
    field.py run [OPTION...]             runs tools on tasks and writes one file of raw results
    field.py page RESULTS [OPTION...]    makes pages and the table of a document from results
    field.py same RESULTS RESULTS        compares the scores of two runs, to the digit

README.md says more.
"""

import argparse
import concurrent.futures
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import client
import corpus
import measures
import page
import tasks

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FORM = 2  # of the file of results
REFERENCE = ("dbacl_filter", "defaults")  # whom the paired tests compare with


def build_folder():
    """Where tools are unpacked and results are kept: below cargo's folder."""
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "field"


def install(options):
    """Installs the packages that the drivers name, and prints which cannot be had."""
    build = build_folder()
    if not shutil.which("time"):  # drivers measure memory with it
        subprocess.run([ROOT / ".ci" / "unpack", "time"], check=False)
    for driver in client.found(options.tools):
        for key, value in client.remarks(driver):
            if key == "debian":
                package, *programs = value.split()
                if not any(map(shutil.which, programs or [package])):
                    subprocess.run([ROOT / ".ci" / "unpack", package], check=False)
            if key == "pypi":
                own = client.venv(build, driver.stem)
                if own.exists():
                    continue
                folder = own.parent.parent
                try:
                    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
                    subprocess.run([own, "-m", "pip", "-q", "install", *value.split()], check=True)
                except (OSError, subprocess.CalledProcessError) as error:
                    shutil.rmtree(folder, ignore_errors=True)
                    print(f"SKIPPED: {driver.stem}: {value} could not be installed: {error}")
    return tools(options)


def chosen(options):
    """The drivers and settings of a run; a quick run takes one setting of each tool."""
    few = 1 if getattr(options, "plan", "") == "quick" and not options.settings else None
    return [
        (driver, setting)
        for driver in client.found(options.tools)
        for setting in list(client.settings(driver))[:few]
        if not options.settings or setting in options.settings
    ]


def meet(driver, setting, environment, kept=None):
    """What there is to say about a tool; starts it once, if nothing of it is in `kept`."""
    told = dict((key, value) for key, value in client.remarks(driver) if key != "setting")
    found = {
        "tool": driver.stem,
        "setting": setting,
        "title": told.get("tool", driver.stem),
        "meaning": client.settings(driver)[setting],
        "deterministic": told.get("deterministic") == "yes",
    }
    if kept and not driver.stem.startswith("dbacl"):
        for file in sorted(kept.glob(f"{driver.stem}.{setting}.*.json"))[:1]:
            return dict(found, version=json.loads(file.read_text())["version"])
    with tempfile.TemporaryDirectory(prefix="field-") as folder:
        try:
            one = client.Client(
                driver, setting, pathlib.Path(folder) / "tool", build_folder(), environment
            )
            found["version"] = one.version
            one.close()
        except (client.Skipped, client.Failed, OSError) as reason:
            found["skipped"] = str(reason)
    return found


def tools(options):
    for driver, setting in chosen(options):
        found = meet(driver, setting, {})
        print(f"{driver.stem} {setting}: {found['meaning']}")
        print(f"    {found.get('version') or 'SKIPPED: ' + found['skipped']}")
    return 0


def fingerprint(scored):
    """One number for the scores and verdicts of messages, to compare two machines."""
    text = "\n".join(f"{one[0]} {one[2]!r} {one[3]}" for one in scored)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def fingerprint_of(*paths):
    """A checksum of the contents of files."""
    state = hashlib.sha256()
    for path in paths:
        state.update(path.read_bytes())
    return state.hexdigest()[:12]


def version_of(told, environment):
    """What tells one state of a tool from another: its version, and for ours the program itself."""
    names = {"dbacl_1141": [], "dbacl_server": ["dbacl", "dbacl-server"]}
    used = names.get(told["tool"], ["dbacl"] if told["tool"].startswith("dbacl") else [])
    if not used:
        return told["version"]
    folder = pathlib.Path(environment["FIELD_BIN"])
    return f"{told['version']} {fingerprint_of(*(folder / name for name in used))}"


def helpers(driver):
    """The files that a driver needs beside its own."""
    imported = re.findall(r"^(?:import|use) (\w+)", driver.read_text(), re.M)
    end = ".pm" if driver.suffix == ".pl" else driver.suffix
    names = [f"{driver.stem}.conf", *(one + end for one in imported)]
    return [driver.parent / name for name in names if (driver.parent / name).exists()]


def perform(job, world, options, environment):
    """One task with one tool; the result is kept, and a kept result is taken."""
    driver, setting, name, version = job
    keep = options.out.parent / "jobs" / f"{driver.stem}.{setting}.{name}.json"
    identity = hashlib.sha256(
        json.dumps(
            [
                FORM,
                world.plan.record(),
                [one.fingerprint for one in world.corpora],
                driver.read_text(),
                *(path.read_text() for path in helpers(driver)),
                (HERE / "tasks.py").read_text(),
                (HERE / "disguise.py").read_text(),
            ]
        ).encode()
    ).hexdigest()
    if keep.exists() and not options.fresh:
        kept = json.loads(keep.read_text())
        if kept["identity"] == identity and kept.get("version") == version:
            if measure(kept, world):
                keep_result(kept, keep)
            return kept
    if options.kept:
        return None
    found = {
        "identity": identity,
        "version": version,
        "tool": driver.stem,
        "setting": setting,
        "task": name,
        "parts": [],
    }
    folder = pathlib.Path(tempfile.mkdtemp(prefix="field-"))
    deadline = time.monotonic() + options.limit
    started = []

    def start():
        one = client.Client(driver, setting, folder / "tool", build_folder(), environment, deadline)
        started.append(one)
        return one

    began, load = time.monotonic(), os.getloadavg()[0]
    try:
        for part in tasks.TASKS[name][0](world, start):
            found["parts"].append(part)
    except (client.Skipped, client.Failed) as reason:
        found["parts"], found["failed"] = [], str(reason)
    finally:
        if started and started[-1].process.poll() is None:
            started[-1].close()
        shutil.rmtree(folder, ignore_errors=True)
    found["seconds"] = time.monotonic() - began
    # How many processes wanted a processor, this one among them, on average.
    found["load"] = (load + os.getloadavg()[0]) / 2
    measure(found, world)
    if "failed" not in found:
        keep_result(found, keep)
    return found


def measure(found, world):
    """Adds its measures to a result, unless it has those of today."""
    state = fingerprint_of(HERE / "measures.py")
    if found.get("measured") == state:
        return False
    for part in found["parts"]:
        if "judged" in part:
            part["scores"] = fingerprint(part["judged"])
            part["measures"] = measures.measure(part["judged"], world.plan.rounds)
            if "area" in part:
                part["measures"]["area"] = part["area"]
                part["measures"]["intervals"]["area"] = spread(part["areas"])
            if found["task"] in page.STREAMS:
                part["curve"] = measures.curve(part["judged"])
    found["measured"] = state
    return True


def keep_result(found, place):
    """Writes a result whole or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.with_suffix(".new").write_text(json.dumps(found))
    place.with_suffix(".new").rename(place)


def spread(values):
    """The interval of a mean, from the scatter of the draws."""
    count = len(values)
    mean = sum(values) / count
    deviation = (sum((value - mean) ** 2 for value in values) / max(count - 1, 1)) ** 0.5
    half = measures.Z * deviation / count**0.5
    return max(mean - half, 0.0), mean + half


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(": ", 1)[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def compared(results):
    """Adds the paired tests against the reference to each part."""
    basis = {
        (one["task"], part["part"]): part
        for one in results
        for part in one["parts"]
        if (one["tool"], one["setting"]) == REFERENCE and "judged" in part
    }
    for one in results:
        for part in one["parts"]:
            against = basis.get((one["task"], part["part"]))
            if against and "areas" in part:
                part["paired"] = measures.paired_draws(part, against)
            elif against and "judged" in part:
                part["paired"] = measures.paired(part["judged"], against["judged"])


def run(options):
    work = build_folder()
    plan = tasks.PLANS[options.plan]
    named = [
        text.split("=", 1) if "=" in text else (pathlib.Path(text).name, text)
        for text in options.corpus or [ROOT / "testdata/golden/inputs/email"]
        for text in [str(text)]
    ]
    world = tasks.World([corpus.Corpus(name, path, work) for name, path in named], plan)
    programs = pathlib.Path(os.environ.get("FIELD_BIN", work.parent / "release")).resolve()
    environment = {"FIELD_BIN": str(programs)}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    kept = options.out.parent / "jobs" if options.kept else None
    met = [
        (driver, setting, meet(driver, setting, environment, kept))
        for driver, setting in chosen(options)
    ]
    names = options.tasks or (tasks.QUICK if plan.name == "quick" else list(tasks.TASKS))
    gaps = {name: reason for name in names if (reason := tasks.impossible(name, world))}
    for name, reason in gaps.items():
        print(f"SKIPPED {name}: {reason}")
    for driver, setting, told in met:
        if "skipped" in told:
            print(f"SKIPPED {driver.stem} {setting}: {told['skipped']}")
    jobs = [
        (driver, setting, name, version_of(told, environment))
        for name in names
        if name not in gaps
        for driver, setting, told in met
        if "skipped" not in told
    ]
    lock, results = threading.Lock(), []
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(lambda job: perform(job, world, options, environment), jobs):
            if found is None:
                continue
            with lock:
                results.append(found)
                print(
                    f"{len(results)} of {len(jobs)}, {time.monotonic() - began:.0f} s: "
                    f"{found['task']}, "
                    f"{found['tool']}, {found['setting']}: {brief(found)}",
                    flush=True,
                )
    compared(results)
    record = {
        "form": FORM,
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "processors": os.cpu_count(),
        "load": statistics.median([one.get("load") or 0.0 for one in results] or [0.0]),
        "system": platform.platform(),
        "python": platform.python_version(),
        "plan": plan.record(),
        "gaps": gaps,
        "tools": [told for _, _, told in met],
        "corpora": [
            {
                "name": one.name,
                "mails": len(one.mails),
                "fingerprint": one.fingerprint,
                "ham": sum(mail.label == "ham" for mail in one.mails),
            }
            for one in world.corpora
        ],
        "results": results,
    }
    options.out.write_text(json.dumps(record))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    minutes = (used.ru_utime + used.ru_stime) / 60
    print(f"{options.out}: {len(results)} results, {minutes:.0f} minutes of processor time")
    failed = [one for one in results if "failed" in one and one["tool"].startswith("dbacl")]
    return 1 if failed and options.strict else 0


def brief(found):
    if "failed" in found:
        return f"FAILED: {found['failed']}"
    part = found["parts"][0]
    if "disguises" in part:
        verdicts = [
            sum(one[kind] for one in part["disguises"].values())
            for kind in ("spam", "unsure", "ham")
        ]
        return "disguised spam found, unsure, let through: " + ", ".join(map(str, verdicts))
    found = part["measures"]
    return (
        f"(1-AUC) {100 * found['area']:.4f} %, errors {100 * found['error'][0]:.2f} %, "
        f"lost {100 * found['lost'][0]:.2f} %"
    )


def pages(options):
    # A page made from the summary alone is the same: numbers are rounded once, before.
    record = json.loads(page.summary(json.loads(options.results.read_text())))
    if options.html:
        options.html.write_text(page.html(record))
    if options.markdown:
        options.markdown.write_text(page.document(record, options.markdown.read_text()))
    if options.picture:
        options.picture.write_text(page.matrix(record))
    if options.data:
        options.data.write_text(page.data(record))
    if options.summary:
        options.summary.write_text(page.summary(record))
    return 0


def same(options):
    """Compares all scores of two runs; status 1 if those of a deterministic tool differ."""
    one, other = (json.loads(path.read_text()) for path in options.results)
    for what in ("plan", "corpora"):
        if page.rounded(one[what]) != page.rounded(other[what]):
            raise ValueError(f"these runs have different {what}")

    def scores(record):
        return {
            (result["tool"], result["setting"], result["task"], part["part"]): part["scores"]
            for result in record["results"]
            for part in result["parts"]
            if "scores" in part
        }

    def versions(record):
        return {(told["tool"], told["setting"]): told.get("version") for told in record["tools"]}

    mine, theirs = scores(one), scores(other)
    here, there = versions(one), versions(other)
    fixed = {told["tool"] for told in one["tools"] if told["deterministic"]}
    both = sorted(mine.keys() & theirs.keys())
    differ = [key for key in both if mine[key] != theirs[key]]
    for tool, setting, task, part in differ:
        name = f"{task} {part}".strip()
        reason = f"{here[tool, setting]} and {there[tool, setting]}"
        print(f"differs: {name}, {page.name_of(tool, setting)}: {reason}")
    print(f"{len(both) - len(differ)} of {len(both)} have the same scores to the digit")
    return 1 if any(key[0] in fixed for key in differ) or not both else 0


def words(text):
    return [word for word in text.replace(",", " ").split() if word]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    for name, act in (("install", install), ("tools", tools)):
        command = commands.add_parser(name)
        command.add_argument("tools", nargs="*")
        command.set_defaults(act=act, settings=[])
    command = commands.add_parser("run")
    command.add_argument("--corpus", action="append", metavar="[NAME=]PATH")
    command.add_argument("--plan", choices=tasks.PLANS, default="full")
    command.add_argument("--tools", type=words, default=[])
    command.add_argument("--settings", type=words, default=[])
    command.add_argument("--tasks", type=words, default=[])
    command.add_argument("--jobs", type=int, default=2)
    command.add_argument("--limit", type=float, default=900, help="seconds for a task with a tool")
    command.add_argument("--out", type=pathlib.Path, default=build_folder() / "results.json")
    command.add_argument(
        "--fresh", action="store_true", help="do not take results of an earlier run"
    )
    command.add_argument("--kept", action="store_true", help="run nothing, take what was kept")
    command.add_argument("--strict", action="store_true", help="status 1 if one of ours failed")
    command.set_defaults(act=run)
    command = commands.add_parser("page")
    command.add_argument("results", type=pathlib.Path)
    command.add_argument("--html", type=pathlib.Path)
    command.add_argument("--markdown", type=pathlib.Path)
    command.add_argument("--picture", type=pathlib.Path)
    command.add_argument("--data", type=pathlib.Path)
    command.add_argument("--summary", type=pathlib.Path)
    command.set_defaults(act=pages)
    command = commands.add_parser("same")
    command.add_argument("results", type=pathlib.Path, nargs=2)
    command.set_defaults(act=same)
    options = parser.parse_args()
    try:
        return options.act(options)
    except (OSError, ValueError) as error:
        print(f"field: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
