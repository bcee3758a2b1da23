# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of the field benchmark. FIELD_BIN names the folder of dbacl's programs."""

import json
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import client  # noqa: E402
import corpus  # noqa: E402
import disguise  # noqa: E402
import field  # noqa: E402
import measures  # noqa: E402
import page  # noqa: E402
import tasks  # noqa: E402

# Scores of six messages and what follows from them, by hand.
TINY = [
    ("a", "spam", 0.9, "spam", 0.9),
    ("b", "spam", 0.6, "unsure", 0.6),
    ("c", "spam", 0.2, "ham", 0.2),
    ("d", "ham", 0.7, "spam", 0.7),
    ("e", "ham", 0.2, "ham", 0.2),
    ("f", "ham", 0.1, "ham", 0.1),
]


def made_mail(kind, number, score=None):
    """A message of words that its kind has more often."""
    dice = random.Random(f"{kind} {number}")
    words = [
        dice.choice(("the", "and", "you", "for", "with", "today", "please", "now"))
        if dice.random() < 0.8
        else f"{kind}{dice.randrange(12)}"
        for _ in range(60)
    ]
    head = f"From: a{number}@example.org\nTo: b{number % 8}@example.net\nSubject: {words[0]}\n"
    head += f"Date: Mon, 1 Jan 2024 10:{number % 60:02}:00 +0000\n"
    head += "" if score is None else f"X-Score: {score}\n"
    return head + "\n" + "\n".join(" ".join(words[at : at + 10]) for at in range(0, 60, 10)) + "\n"


def made_corpus(place, counts=(("", 40),)):
    """Folders ham and spam of made-up mail; with other `counts`, below folders of these names."""
    for part, count in counts:
        for kind in ("ham", "spam"):
            folder = pathlib.Path(place) / part / kind
            folder.mkdir(parents=True)
            for number in range(count):
                (folder / f"{number:03}").write_text(made_mail(kind, number))
    return pathlib.Path(place)


# A tool that answers by the letters of a message, fails, stays silent or is not there.
FAKE = """#!/usr/bin/env python3
# tool: a stand-in
# setting: defaults - counts letters
import sys
how = sys.argv[2]
if how == "missing":
    print("skip\\tnot installed")
    sys.exit()
print("ready\\t0.5\\tstand-in 1", flush=True)
for line in sys.stdin:
    request, *words = line.rstrip("\\n").split("\\t")
    if request == "judge":
        for path in words:
            if how == "crash":
                sys.exit("no memory left")
            if how == "silent":
                import time
                time.sleep(60)
            text = open(path).read()
            score = text.count("spam") / len(text) * 20
            print(score, "spam" if score > 0.5 else "ham", "-", sep="\\t", flush=True)
    else:
        print("0\\t1" if request == "cost" else "ok", flush=True)
"""


# A driver with a server, whose version is the server's number.
SERVED = """
import subprocess, sys
sys.path.insert(0, "{drivers}")
import driver
class Served(driver.Driver):
    def start(self):
        self.servers.append(subprocess.Popen(["sleep", "1000"], stderr=subprocess.DEVNULL))
    def version(self):
        return self.servers[0].pid
driver.main(Served)
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="field-test-"))
        self.addCleanup(shutil.rmtree, self.place)

    def stand_in(self, setting, deadline=None):
        driver = self.place / "fake.py"
        driver.write_text(FAKE)
        driver.chmod(0o755)
        build = self.place / "build"
        return client.Client(driver, setting, self.place / "tool", build, deadline=deadline)


class Measures(Case):
    def test_a_tiny_result_has_the_measures_that_follow_by_hand(self):
        found = measures.measure(TINY)
        # Of nine pairs b, c are below d, and c and e are tied.
        self.assertEqual(found["area"], 2.5 / 9)
        self.assertEqual(found["error"][0], 3 / 6)  # b is delivered, c too, d is lost
        self.assertEqual((found["lost"][0], found["missed"][0]), (1 / 3, 2 / 3))
        self.assertEqual((found["through"][0], found["unsure"][0]), (1 / 3, 1 / 6))
        self.assertEqual(found["wrong"][0], 2 / 6)  # c and d; b has no sure verdict
        self.assertEqual(found["fewest"][0], 2 / 6)  # spam from 0.6 or 0.9 on
        self.assertAlmostEqual(found["lam"], 0.5)
        self.assertEqual(found["recall_0.01"][0], 1 / 3)
        # Claims .1, .2 and .2, .6, .7, .9 in bins of one tenth.
        distances = 0.1 + abs(0.4 - 1) + 0.4 + 0.7 + 0.1
        self.assertAlmostEqual(found["calibration"], distances / 6)

    def test_without_ham_there_is_no_area_and_without_errors_lam_is_zero(self):
        found = measures.measure(TINY[:3])
        self.assertTrue(math.isnan(found["area"]))
        self.assertEqual(measures.lam(0, 0.4), 0)
        self.assertAlmostEqual(measures.lam(0.01, 0.01), 0.01)

    def test_intervals_hold_the_value_and_do_not_change_from_run_to_run(self):
        dice = random.Random(7)
        judged = []
        for at in range(300):
            kind = "spam" if at % 3 == 0 else "ham"
            score = dice.gauss(1.0 if kind == "spam" else -1.0, 1.0)
            judged.append((str(at), kind, score, "spam" if score > 0 else "ham", None))
        one, other = (measures.measure(judged, 200) for _ in range(2))
        self.assertEqual(one, other)
        self.assertNotIn("calibration", one)
        for name in ("area", "lam"):
            low, high = one["intervals"][name]
            self.assertTrue(low < one[name] < high, (name, low, one[name], high))
        low, high = measures.wilson(0, 100)[1:]
        self.assertEqual(low, 0)
        self.assertAlmostEqual(high, 0.0369935, 6)

    def test_paired_tests_know_the_better_tool(self):
        # McNemar's exact test: one wrong against eight is 2 * (1 + 9) / 2^9.
        self.assertAlmostEqual(measures.sign_test(1, 8), 20 / 512)
        self.assertEqual(measures.sign_test(0, 0), 1)
        self.assertAlmostEqual(measures.sign_test(4, 4), 1.0)
        truth = ["spam" if at % 2 else "ham" for at in range(200)]
        dice = random.Random(3)
        good = [
            (str(at), kind, (kind == "spam") + dice.gauss(0, 0.4), kind, None)
            for at, kind in enumerate(truth)
        ]
        bad = [(*one[:2], dice.gauss(0, 1), "ham", None) for one in good]
        found = measures.paired(bad, good)
        self.assertEqual((found["only_here"], found["only_there"]), (100, 0))
        self.assertLess(found["ranking"], 1e-6)
        self.assertEqual(found["lost"], 1.0)  # who calls nothing spam loses no ham
        self.assertEqual(measures.paired(good, good)["ranking"], 1.0)

    def test_draws_are_pairs_where_mails_come_more_than_once(self):
        def part(shift):
            # In each draw a ham and two spams, of which `shift` are missed.
            draw = [("a", "ham", 0.1, "ham", None)]
            draw += [(name, "spam", 0.9, "spam", None) for name in "bc"[shift:]]
            draw += [(name, "spam", 0.0, "ham", None) for name in "bc"[:shift]]
            return {"judged": draw * 8, "areas": [shift / 2] * 8}

        found = measures.paired_draws(part(1), part(0))
        self.assertAlmostEqual(found["ranking"], 2 / 256)
        self.assertAlmostEqual(found["errors"], 2 / 256)
        self.assertAlmostEqual(found["wrong"], 2 / 256)
        self.assertEqual(found["lost"], 1.0)
        self.assertEqual(measures.paired_draws(part(1), part(1))["errors"], 1.0)

    def test_measures_are_those_of_dbacl_eval(self):
        programs = os.environ.get("FIELD_BIN")
        if not programs or not os.access(f"{programs}/dbacl-eval", os.X_OK):
            self.skipTest("FIELD_BIN names no folder with dbacl-eval")
        judged = []
        for part, count in (("train", 2), ("test", 60)):
            for kind in ("ham", "spam"):
                folder = self.place / part / kind
                folder.mkdir(parents=True)
                dice = random.Random(kind)
                for number in range(count):
                    # Few different scores, so that many are tied.
                    score = round(dice.gauss(0.6 if kind == "spam" else 0.3, 0.2), 1)
                    (folder / f"{number:03}").write_text(made_mail(kind, number, score))
                    if part == "test":
                        verdict = "spam" if score > 0.5 else "ham"
                        judged.append((f"{kind}{number}", kind, score, verdict, None))
        wrapper = self.place / "wrapper"
        wrapper.write_text(
            '#!/bin/sh\ncase $1 in describe) echo scores;; learn) cat >/dev/null; : >"$2";;\n'
            'score) awk \'/^X-Score:/ { print ($2 > 0.5 ? "spam" : "ham"), $2; exit }\';; esac\n'
        )
        wrapper.chmod(0o755)
        command = [f"{programs}/dbacl-eval", "train", "--test", "test", "--filter", "./wrapper"]
        command += ["-s", "x: -T email", "--json"]
        done = subprocess.run(command, cwd=self.place, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        theirs = next(one for one in report["sets"] if one["name"] != "x")
        mine = measures.measure(judged)
        binary = theirs["binary"]

        def same(rate, share):
            for key, value in zip(("rate", "low", "high"), share):
                self.assertAlmostEqual(rate[key], value, 12)

        same(theirs["error"], mine["error"])
        same(binary["false_positives"], mine["lost"])
        same(binary["misses"], mine["missed"])
        self.assertAlmostEqual(binary["lam"], mine["lam"], 12)
        self.assertAlmostEqual(binary["one_minus_auc"]["rate"], mine["area"], 12)
        recalls = {one["false_positive_rate"]: one["recall"] for one in binary["recall_at"]}
        for rate in measures.RATES:
            same(recalls[rate], mine[f"recall_{rate:g}"])
        self.assertGreater(mine["lam"], 0)


class Mails(Case):
    def test_the_order_is_that_of_digests_of_names_and_paths_tell_nothing(self):
        made_corpus(self.place / "mails", (("train", 4), ("test", 2)))
        one = corpus.Corpus("made", self.place / "mails", self.place / "work")
        names = [mail.name for mail in one.mails]
        self.assertEqual(names[:3], ["train/spam/001", "train/ham/001", "train/spam/002"])
        self.assertEqual(names, sorted(names, key=corpus.digest))
        learn, judge = one.divided()
        self.assertEqual((len(learn), len(judge)), (8, 4))
        self.assertFalse(
            [mail.path for mail in one.mails if re.search("ham|spam", mail.path[-12:])]
        )
        again = corpus.Corpus("made", self.place / "mails", self.place / "other")
        self.assertEqual(one.fingerprint, again.fingerprint)

    def test_a_trec_index_keeps_its_order_and_its_faults_are_told(self):
        made_corpus(self.place / "data")
        index = self.place / "index"
        index.write_text("spam data/spam/003\nHAM data/ham/001\nspam data/spam/001\n")
        one = corpus.Corpus("trec", index, self.place / "work")
        self.assertEqual([mail.label for mail in one.mails], ["spam", "ham", "spam"])
        index.write_text("spam data/spam/003\nmaybe data/ham/001\n")
        with self.assertRaisesRegex(ValueError, "line 2"):
            corpus.Corpus("trec", index, self.place / "work")
        with self.assertRaisesRegex(ValueError, "neither ham/ and spam/"):
            corpus.Corpus("none", self.place / "work" / "mails", self.place / "work")

    def test_the_line_from_of_a_mailbox_is_left_out(self):
        made_corpus(self.place / "mails", (("", 1),))
        mail = self.place / "mails" / "ham" / "000"
        mail.write_bytes(b"From a Mon Jan  1 10:00:00 2024\n" + mail.read_bytes())
        one = corpus.Corpus("made", self.place / "mails", self.place / "work")
        self.assertTrue(
            all(pathlib.Path(two.path).read_text().startswith("From: ") for two in one.mails)
        )

    def test_dates_and_recipients_come_from_the_header(self):
        made_corpus(self.place / "mails", (("", 2),))
        one = corpus.Corpus("made", self.place / "mails", self.place / "work")
        by_name = {mail.name: mail for mail in one.mails}
        self.assertEqual(corpus.recipient(by_name["ham/001"]), "b1@example.net")
        self.assertEqual(corpus.arrived(by_name["ham/001"]), 1704103260)
        pathlib.Path(by_name["ham/000"].path).write_text("Date: soon\n\ntext\n")
        corpus.header.cache_clear()
        self.assertIsNone(corpus.arrived(by_name["ham/000"]))

    def test_disguises_are_those_of_the_attack_script(self):
        if not shutil.which("awk"):
            self.skipTest("awk is not installed")
        words = [f"good{number}".encode() for number in range(50)]
        (self.place / "words").write_bytes(b"\n".join(words) + b"\n")
        mails = {
            "plain": b"From: a@b.c\nContent-Type: text/plain;\n charset=x\nSubject: you\n\n"
            b"Buy <now> & win\r\nlonger words here\n",
            "page": b"Subject: x\nMIME-Version: 1.0\nContent-Type: text/html\n\n"
            b"<html><b class=wide>pills</b> cheap &amp; good\n</html>\n",
            "bare": b"Subject: none\n\nno type at all, certainly\n",
        }
        for name, mail in mails.items():
            (self.place / name).write_bytes(mail)
            for kind in disguise.KINDS:
                command = ["awk", "-v", f"kind={kind}", "-v", f"words={self.place}/words", "-f"]
                command += [HERE.parent / "quality" / "attacks.awk", self.place / name]
                theirs = subprocess.run(
                    command, capture_output=True, env=dict(os.environ, LC_ALL="C"), check=True
                ).stdout
                ours = disguise.disguised(mail, kind, words)
                if kind.startswith("random"):
                    self.assertEqual(len(ours), len(theirs), (name, kind))
                else:
                    self.assertEqual(ours, theirs, (name, kind))


class Drivers(Case):
    def test_each_driver_is_short_and_says_what_it_is(self):
        drivers = client.found()
        self.assertGreaterEqual(len(drivers), 14)
        for driver in drivers:
            lines = [line.strip() for line in driver.read_text().splitlines()]
            code = [line for line in lines if line and not line.startswith("#")]
            self.assertLess(len(code), 60, driver.name)
            told = dict(client.remarks(driver))
            self.assertIn("tool", told, driver.name)
            self.assertTrue(client.settings(driver), driver.name)

    def test_what_is_not_installed_is_skipped_with_a_reason(self):
        with self.assertRaisesRegex(client.Skipped, "not installed"):
            self.stand_in("missing")

    def test_a_tool_that_crashes_fails_with_its_last_words(self):
        made_corpus(self.place / "mails", (("", 1),))
        one = self.stand_in("crash")
        with self.assertRaisesRegex(client.Failed, "no memory left"):
            one.judge([str(self.place / "mails/ham/000")])
        one.close()

    def test_a_driver_that_is_stopped_ends_its_servers(self):
        (self.place / "tool/model").mkdir(parents=True)
        program = self.place / "served.py"
        program.write_text(SERVED.format(drivers=HERE / "drivers"))
        process = subprocess.Popen(
            [sys.executable, program, self.place / "tool", "defaults"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        server = int(process.stdout.readline().split("\t")[2])
        process.terminate()
        process.wait()
        process.stdin.close()
        process.stdout.close()
        self.assertRaises(ProcessLookupError, os.kill, server, 0)

    def test_a_tool_that_is_silent_is_given_up(self):
        made_corpus(self.place / "mails", (("", 1),))
        one = self.stand_in("silent")
        one.deadline = time.monotonic() + 0.2
        with self.assertRaisesRegex(client.Failed, "took longer"):
            one.judge([str(self.place / "mails/ham/000")])
        one.process.kill()
        one.close()


class Tasks(Case):
    def world(self, **sizes):
        made_corpus(self.place / "mails")
        plan = tasks.Plan(**dict(tasks.PLANS["quick"].record(), **sizes))
        return tasks.World([corpus.Corpus("made", self.place / "mails", self.place / "work")], plan)

    def told(self, task, **sizes):
        """What a task asks a tool and tells it, one after the other."""
        events = []

        class Recorder:
            threshold = 0.5

            def cost(self):
                return 0.0, 0

            def close(self):
                return 0

            def judge(self, paths):
                events.append(("judge", paths[0]))
                return [(0.5 if len(events) % 2 else 0.9, "unsure", None)]

            def correct(self, label, verdict, path):
                events.append(("correct", path))

        world = self.world(**sizes)
        parts = list(tasks.TASKS[task][0](world, Recorder))
        return world, events, parts[0]

    def test_delayed_feedback_comes_so_many_mails_later(self):
        world, events, part = self.told("delayed", late=30, delay=7)
        order = [path for what, path in events if what == "judge"]
        self.assertEqual(order, [mail.path for mail in world.stream(30)])
        for at, (what, path) in enumerate(events):
            if what == "correct":
                seen = sum(kind == "judge" for kind, _ in events[:at])
                self.assertEqual(order[seen - 8], path)
        self.assertEqual(part["taught"], 22)
        # What was classified before any truth could be told is left out.
        names = [mail.name for mail in world.stream(30)]
        self.assertEqual([judged[0] for judged in part["judged"]], names[7:])

    def test_partial_feedback_comes_from_some_recipients_only(self):
        world, events, part = self.told("partial", stream=80)
        chosen = tasks.answering(world.stream())
        told = [path for what, path in events if what == "correct"]
        by_path = {mail.path: mail for mail in world.main.mails}
        self.assertTrue(told)
        self.assertTrue(all(corpus.recipient(by_path[path]) in chosen for path in told))
        self.assertTrue(18 <= len(told) < 40, len(told))

    def test_active_learning_keeps_to_its_labels(self):
        _, events, part = self.told("active", asked=60, labels=16)
        self.assertEqual(part["taught"], 16)
        self.assertEqual(sum(what == "correct" for what, _ in events), 16)

    def test_wrong_labels_are_as_many_as_asked_for(self):
        world = self.world()
        many = [tasks.mislabelled(mail, 10) != mail.label for mail in world.main.mails]
        few = [tasks.mislabelled(mail, 2) != mail.label for mail in world.main.mails]
        self.assertTrue(2 <= sum(many) <= 16, sum(many))
        self.assertTrue(all(more for more, less in zip(many, few) if less))

    def test_tasks_that_the_mails_do_not_allow_are_gaps(self):
        world = self.world()
        self.assertEqual(tasks.impossible("source", world), "it needs two corpora")
        self.assertIsNone(tasks.impossible("change", world))
        for mail in world.main.mails:
            pathlib.Path(mail.path).write_text("Subject: x\n\ntext\n")
        corpus.header.cache_clear()
        self.assertEqual(tasks.impossible("change", world), "most mails have no date")


class Runs(Case):
    def run_field(self, *options):
        environment = dict(os.environ, CARGO_TARGET_DIR=str(self.place / "target"))
        environment.pop("FIELD_DBACL_1141", None)
        command = [sys.executable, str(HERE / "field.py"), *map(str, options)]
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    def test_a_quick_run_repeats_to_the_digit_and_makes_its_pages(self):
        programs = os.environ.get("FIELD_BIN")
        if not programs or not os.access(f"{programs}/dbacl", os.X_OK):
            self.skipTest("FIELD_BIN names no folder with dbacl")
        made_corpus(self.place / "mails")
        records = []
        for name in ("one", "two"):
            out = self.place / name / "results.json"
            done = self.run_field(
                "run",
                "--plan",
                "quick",
                "--corpus",
                f"made={self.place}/mails",
                "--out",
                out,
                "--tools",
                "dbacl_filter,dbacl_1141",
                "--settings",
                "defaults",
                "--tasks",
                "immediate,batch,cold,source",
                "--strict",
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("SKIPPED source: it needs two corpora", done.stdout)
            self.assertIn("SKIPPED dbacl_1141 defaults: FIELD_DBACL_1141 names no", done.stdout)
            records.append(json.loads(out.read_text()))
        # What is finished is taken as it is; --kept runs nothing.
        out = self.place / "one" / "kept.json"
        command = ["run", "--plan", "quick", "--corpus", f"made={self.place}/mails", "--out", out]
        done = self.run_field(*command, "--kept", "--tools", "dbacl_filter")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        records.append(json.loads(out.read_text()))
        prints = [
            [
                (one["task"], part["part"], part["scores"])
                for one in record["results"]
                for part in one["parts"]
            ]
            for record in records
        ]
        self.assertEqual(prints[0], prints[1])
        two_runs = [self.place / name / "results.json" for name in ("one", "two")]
        done = self.run_field("same", *two_runs)
        said = "4 of 4 have the same scores to the digit\n"
        self.assertEqual((done.returncode, done.stdout), (0, said))
        records[1]["results"][0]["parts"][0]["scores"] = "other"
        two_runs[1].write_text(json.dumps(records[1]))
        done = self.run_field("same", *two_runs)
        self.assertEqual(done.returncode, 1)
        self.assertIn("differs: immediate, dbacl filter, defaults: dbacl 2", done.stdout)
        self.assertEqual(sorted(prints[0]), sorted(prints[2]))
        self.assertEqual(len(prints[0]), 4)  # two tasks and two sizes of the cold start
        batch = next(one for one in records[0]["results"] if one["task"] == "batch")["parts"][0]
        self.assertLess(batch["measures"]["area"], 0.05)
        self.assertGreater(batch["cost"]["model_bytes"], 1000)
        pages = [self.place / name for name in ("page.html", "summary.json", "page.md")]
        pages[2].write_text("# A page\n<!-- field: batch -->\nold\n<!-- field: end -->\nRest\n")
        done = self.run_field(
            "page",
            self.place / "one/results.json",
            "--html",
            pages[0],
            "--summary",
            pages[1],
            "--markdown",
            pages[2],
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        text = pages[0].read_text()
        self.assertNotIn("<script", text)
        self.assertNotIn("http", text)
        self.assertIn("<polyline", text)
        self.assertIn("dbacl filter, defaults", pages[2].read_text())
        self.assertNotIn("old", pages[2].read_text())
        made = pages[2].read_text()
        self.run_field("page", pages[1], "--markdown", pages[2])
        self.assertEqual(pages[2].read_text(), made)
        self.assertNotIn("judged", json.loads(pages[1].read_text())["results"][0]["parts"][0])

    def test_a_wrong_command_is_told_in_one_line(self):
        done = self.run_field("run", "--corpus", self.place / "nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("field: "), done.stderr)
        done = self.run_field("run", "--tools", "no_such_tool")
        self.assertEqual((done.returncode, "no_such_tool" in done.stderr), (1, True))


class Pages(Case):
    def test_weak_rows_of_ours_are_listed_first(self):
        def result(tool, area, chances):
            found = dict(measures.measure(TINY), area=area)
            part = {"part": "", "measures": found, "paired": chances}
            return {"tool": tool, "setting": "defaults", "task": "batch", "parts": [part]}

        even = {"ranking": 1.0, "errors": 1.0, "lost": 1.0}
        sure = {"ranking": 0.001, "errors": 0.2, "lost": 0.2}
        record = {
            "results": [
                result("dbacl_filter", 0.02, even),
                result("other", 0.01, sure),
                result("third", 0.05, sure),
            ],
            "gaps": {},
            "tools": [],
        }
        better, worse = page.standing(record)
        self.assertEqual(better, [("batch", "ranking", ["other, defaults"])])
        self.assertEqual(worse, [("batch", "ranking", ["third, defaults"])])
        whole = page.sections(record, whole=True)["batch"][0][1]
        self.assertIn("chance: ranking", whole.head)
        self.assertEqual([len(cells) for _, cells in whole.rows], [len(whole.head)] * 3)
        rows = page.sections(record)["batch"][0][1].rows
        self.assertEqual(
            [cells[0] for _, cells in rows],
            ["other, defaults", "dbacl filter, defaults", "third, defaults"],
        )

    def test_the_overview_tells_the_place_of_the_filter_and_tables_who_is_missing(self):
        def result(tool, area):
            part = {"part": "", "measures": dict(measures.measure(TINY), area=area), "paired": {}}
            return {"tool": tool, "setting": "defaults", "task": "batch", "parts": [part]}

        names = ("dbacl_filter", "good", "bad", "late", "absent")
        same = {"setting": "defaults", "meaning": "", "version": "1"}
        tools = [dict(same, tool=name) for name in names]
        tools[-1] = dict(tools[-1], skipped="not installed")
        record = {
            "results": [result("dbacl_filter", 0.02), result("good", 0.01), result("bad", 0.5)],
            "gaps": {},
            "tools": tools,
        }
        (_, cells), *others = page.overview(record).rows
        self.assertEqual(others, [])
        # Of six, one is unsure, and two are confidently wrong.
        self.assertEqual(cells[:4], ["Batch", "83.33 (1)", "2.000 (2)", "33.33 (1)"])
        self.assertEqual(cells[-1], "good, defaults: 1.000")
        found = page.sections(record)["batch"]
        self.assertEqual(found[-1], ("", "Not run: late, defaults.\n"))

    def test_a_learning_curve_has_a_column_for_each_sixth_of_the_mails(self):
        judged = [(str(at), "ham", 0.0, "spam" if at < 40 else "ham", None) for at in range(120)]
        one = {"tool": "other", "setting": "defaults"}
        table = page.learning([(one, {"curve": measures.curve(judged)})])
        self.assertEqual(table.head, ["tool", *(f"to {at}" for at in range(20, 121, 20))])
        shares = ["100.0", "100.0", "0.0", "0.0", "0.0", "0.0"]
        self.assertEqual(table.rows, [(False, ["other, defaults", *shares])])

    def test_a_driver_names_the_files_that_its_results_depend_on(self):
        drivers = {driver.stem: driver for driver in client.found()}
        for name, expected in (
            ("ftrl", ["driver.py", "words.py"]),
            ("dbacl_1141", ["dbacl_ordinary.py", "driver.py"]),
            ("rspamd", ["driver.py", "rspamd.conf"]),
            ("spamassassin", ["driver.pm"]),
        ):
            found = sorted(path.name for path in field.helpers(drivers[name]))
            self.assertEqual(found, expected)

    def test_the_document_is_made_from_the_results_beside_it(self):
        summary = HERE / "results.json"
        docs = HERE.parents[1] / "docs"
        record = json.loads(summary.read_text())
        text = (docs / "lab/field.md").read_text()
        advice = "run: make field-pages"
        self.assertEqual(text, page.document(record, text), advice)
        self.assertEqual((docs / "lab/field.html").read_text(), page.html(record), advice)
        self.assertEqual((docs / "pictures/field.svg").read_text(), page.matrix(record), advice)
        data = HERE.parent / "results/field.tsv"
        self.assertEqual(data.read_text(), page.data(record), advice)
        self.assertEqual(page.summary(record), summary.read_text())


if __name__ == "__main__":
    unittest.main()
