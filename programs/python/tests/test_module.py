# SPDX-License-Identifier: GPL-3.0-or-later
"""The module alone: nothing else need be installed. Programs to compare with are in the folder that
DBACL_PROGRAMS names."""

import gzip
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import dbacl

PROGRAMS = os.environ.get("DBACL_PROGRAMS")
TEXTS = ["the whale and the ship", "sailors of the whale ship", "the nation and the war",
         "soldiers of the war"] * 10
LABELS = ["sea", "sea", "a war", "a war"] * 10
MAIL = {
    "ham": "From: a@example.org\nSubject: minutes\n\nminutes of the meeting {}\n",
    "spam": "From: b@example.org\nSubject: pills\n\ncheap pills for you {}\n",
}


def run(name, *arguments, stdin=None):
    """What a program of dbacl prints."""
    path = pathlib.Path(PROGRAMS, name)
    done = subprocess.run([path, *map(str, arguments)], input=stdin, capture_output=True)
    if done.returncode >= 64:
        raise AssertionError(done.stderr.decode())
    return done.stdout


def rows(matrix):
    return [list(map(float, row)) for row in matrix]


def pickled(thing):
    """A thing that went through a pickle which may name nothing but `dbacl`."""

    class Careful(pickle.Unpickler):
        def find_class(self, module, name):
            plain = (module, name) in {("builtins", "getattr"), ("copyreg", "_reconstructor")}
            if module.split(".")[0] != "dbacl" and not plain:
                raise AssertionError(f"the pickle names {module}.{name}")
            return super().find_class(module, name)

    import io

    return Careful(io.BytesIO(pickle.dumps(thing))).load()


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dbacl-python-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Models(Scratch):
    @classmethod
    def setUpClass(cls):
        cls.model = dbacl.train(TEXTS, LABELS)

    def test_texts_are_labelled(self):
        self.assertEqual(self.model.labels, ["a war", "sea"])
        self.assertEqual(self.model.documents, {"a war": 20, "sea": 20})
        self.assertEqual(self.model.predict(["a ship", b"of soldiers"]), ["sea", "a war"])
        probabilities = rows(self.model.predict_proba(["a ship", "soldiers", ""]))
        for row in probabilities:
            self.assertAlmostEqual(sum(row), 1)
        self.assertEqual(probabilities[2], [0.5, 0.5])
        first, second = self.model.top(["a ship"], 2)[0]
        self.assertEqual((first[0], second[0]), ("sea", "a war"))
        self.assertEqual([second[1], first[1]], probabilities[0])

    def test_texts_come_from_anything(self):
        expected = self.model.predict(TEXTS)
        self.assertEqual(self.model.predict(iter(TEXTS)), expected)
        self.assertEqual(self.model.predict(text for text in TEXTS), expected)
        self.assertEqual(self.model.predict(tuple(t.encode() for t in TEXTS)), expected)
        self.assertEqual(self.model.predict(bytearray(t.encode()) for t in TEXTS), expected)
        self.assertEqual(self.model.predict(dict.fromkeys(TEXTS[:4])), expected[:4])
        self.assertEqual(self.model.predict([]), [])
        many = TEXTS * 300
        for threads in (0, 1, 3):
            self.assertEqual(self.model.predict(many, threads=threads), expected * 300)

    def test_bytes_that_are_no_utf8_are_what_they_were(self):
        text = b"caf\xe9 whale"
        found = rows(self.model.predict_proba([text, text.decode("utf-8", "surrogateescape")]))
        self.assertEqual(found[0], found[1])
        with self.assertRaisesRegex(ValueError, "text 1 holds surrogates"):
            self.model.predict(["a", "\ud800"])

    def test_what_is_no_list_of_texts_is_refused(self):
        for texts, error, message in [
            ("a ship", TypeError, "this is one text: put it in brackets"),
            (b"a ship", TypeError, "this is one text"),
            (["a", None], ValueError, "text 1 is missing: it is None"),
            ([float("nan")], ValueError, "text 0 is missing: it is nan"),
            (["a", 7], TypeError, "text 1 is of the type int, not str or bytes"),
            (7, TypeError, "not iterable"),
        ]:
            with self.assertRaisesRegex(error, message):
                self.model.predict(texts)

    def test_what_cannot_be_trained_is_told(self):
        for texts, labels, error, message in [
            ([], [], ValueError, "there are no documents"),
            (["a", "b"], ["x", "x"], ValueError, "all documents have the label x"),
            (["a"], ["x", "y"], ValueError, "more labels than texts"),
            (["a", "b"], ["x"], ValueError, "more texts than labels"),
            (["a", "b"], ["x", 1], TypeError, "label 1 is of the type int, not str"),
            (["a", "b"], ["x", ""], ValueError, "label 1: the label is empty"),
            (["a", "b"], "xy", TypeError, "this is one label"),
            ([" ", "b"], ["x", "y"], ValueError, "label x have no words"),
        ]:
            with self.assertRaisesRegex(error, message):
                dbacl.train(texts, labels)
        for options, message in [
            ({"order": 8}, "order is 8, not 1 to 7"),
            ({"tokenizer": "letters"}, 'tokenizer is "letters", not one of alpha'),
            ({"preset": "all"}, "preset"),
            ({"kind": "mail"}, "kind"),
            ({"cost": 0.0}, "cost is not above 0"),
            ({"balance": 2.0}, "balance is not between 0 and 1"),
            ({"aim": "x"}, "aim is"),
            ({"regex": ["("]}, "could not compile regular expression"),
        ]:
            with self.assertRaisesRegex(ValueError, message):
                dbacl.train(TEXTS, LABELS, **options)

    def test_texts_may_have_several_labels(self):
        texts = ["the whale ship", "soldiers of the nation", "soldiers on the whale ship", "bread"]
        labels = [["sea"], "war", ("sea", "war"), []]
        model = dbacl.train(texts * 30, labels * 30, several=True)
        self.assertTrue(model.several)
        found = [["sea"], ["war"], ["sea", "war"], []]
        self.assertEqual(model.predict_labels(texts), found)
        small = model.quantized(bits=8)
        self.assertEqual(small.predict_labels(texts), found)
        self.assertLess(len(small.to_bytes()), len(model.to_bytes()))
        names = [name for name, weight in model.features(texts, 9)["sea"]]
        self.assertIn("whale", names)

    def test_texts_of_none_of_the_labels_are_refused(self):
        texts = [f"{text} {at}" for at in range(8) for text in TEXTS]
        model = dbacl.train(texts, LABELS * 8)
        others = ["the ship of the whale", "quantum zebra"]
        self.assertEqual(model.predict(others, none=True), ["sea", "none"])
        self.assertEqual(model.predict(others, none=False)[0], "sea")
        self.assertEqual(model.predict_none(others, keep=0.9), [False, True])
        self.assertEqual(model.predict(["the"], at_least=0.99), ["unsure"])
        self.assertEqual(model.predict(others, at_least=0.0), model.predict(others))
        info = model.info()
        self.assertEqual(info["labels"]["sea"]["documents"], model.documents["sea"])
        self.assertGreater(info["labels"]["sea"]["features"], 3)
        self.assertEqual(info["about"], model.about)
        with self.assertRaisesRegex(ValueError, "0.8 to 0.99"):
            model.predict(others, none=0.5)
        with self.assertRaisesRegex(ValueError, "does not know which texts have none"):
            dbacl.train(TEXTS, LABELS, several=False).predict_none(["a"])

    @unittest.skipUnless(PROGRAMS, "no programs")
    def test_a_server_is_asked(self):
        from dbacl.client import Client

        model = dbacl.train(TEXTS, LABELS)
        model.save(self.folder / "m.model")
        words = [pathlib.Path(PROGRAMS, "dbacl-text"), "serve", self.folder / "m.model"]
        server = subprocess.Popen([*words, "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE)
        try:
            address = server.stderr.readline().decode().split()[-1]
            for client in [Client(f"http://{address}"), Client(f"http://{address}", "m")]:
                found = client.predict(TEXTS[:4], k=2)
                expected = model.top(TEXTS[:4], 2)
                self.assertEqual([one["label"] for one in found], [row[0][0] for row in expected])
                self.assertEqual(found[0]["labels"][1]["probability"], expected[0][1][1])
        finally:
            server.terminate()
            server.communicate()

    def test_the_module_imports_little(self):
        heavy = "numpy pandas pyarrow sklearn urllib json ssl http"
        code = f"import dbacl, sys; print([n for n in {heavy.split()} if n in sys.modules])"
        # Without the folders of other packages, some of which import them at the start.
        done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), "[]", done.stderr)

    def test_fasttext_is_taken(self):
        import dbacl.fasttext as fasttext

        path = self.folder / "train.txt"
        names = {"sea": "sea", "a war": "war"}
        lines = [f"__label__{names[label]} {text}\n" for text, label in zip(TEXTS, LABELS)]
        path.write_text("".join(lines) + "no label\n")
        model = fasttext.train_supervised(input=path, lr=0.5, epoch=25)
        self.assertEqual(model.labels, ["__label__sea", "__label__war"])
        self.assertEqual(list(model.get_labels(include_freq=True)[1]), [20, 20])
        labels, probabilities = model.predict("a ship", k=2)
        self.assertEqual(labels, ("__label__sea", "__label__war"))
        self.assertAlmostEqual(sum(probabilities), 1)
        labels, probabilities = model.predict(["soldiers", ""], threshold=0.6)
        self.assertEqual((labels, len(probabilities[1])), ([["__label__war"], []], 0))
        self.assertEqual(model.test(path), (40, 1.0, 1.0))
        self.assertEqual(model.test(path, k=2), (40, 0.5, 1.0))
        packed = self.folder / "packed"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        self.assertEqual(model.test(packed), (40, 1.0, 1.0))
        packed.write_bytes(packed.read_bytes()[:-9])
        with self.assertRaisesRegex(ValueError, "packed: it is compressed by gzip, and damaged"):
            model.test(packed)
        with self.assertRaisesRegex(ValueError, "one line at a time"):
            model.predict("a\nb")
        with self.assertRaisesRegex(TypeError, "'speed'"):
            fasttext.train_supervised(input=path, speed=1)
        model.quantize()
        model.save_model(self.folder / "model.bin")
        again = fasttext.load_model(self.folder / "model.bin")
        self.assertEqual(again.predict("a ship")[0], ("__label__sea",))
        path.write_text("".join(lines) + "__label__sea __label__war ships of war\n")
        self.assertTrue(fasttext.train_supervised(path, minn=2, maxn=4).model.several)

    def test_weights_count_texts(self):
        texts = [text for text in TEXTS for _ in range(2)]
        labels = [label for label in LABELS for _ in range(2)]
        some = [1.0, 0.0] * len(TEXTS)
        model = dbacl.train(texts, labels, weights=some)
        self.assertEqual(model.to_bytes(), dbacl.train(TEXTS, LABELS).to_bytes())
        with self.assertRaisesRegex(ValueError, "not as many weights"):
            dbacl.train(texts, labels, weights=[1.0])

    def test_few_documents_are_a_warning(self):
        with self.assertWarnsRegex(UserWarning, "results may be poor"):
            dbacl.train(TEXTS[:4], LABELS[:4])

    def test_a_full_table_is_a_warning(self):
        digits = str.maketrans("0123456789", "abcdefghij")
        text = " ".join(str(number) for number in range(100_000, 140_000)).translate(digits)
        self.assertGreater(dbacl.Category.learn([text]).features, 39_900)
        with self.assertWarnsRegex(UserWarning, "table full"):
            self.assertLess(dbacl.Category.learn([text], max_table_bits=15).features, 33_000)

    def test_a_model_is_saved_and_loaded(self):
        path = self.folder / "model"
        self.model.save(path)
        self.assertEqual(path.read_bytes(), self.model.to_bytes())
        for again in [dbacl.load(path), dbacl.load(str(path)),
                      dbacl.Model.from_bytes(path.read_bytes()), pickled(self.model)]:
            self.assertEqual(again.to_bytes(), self.model.to_bytes())
            self.assertEqual(again.about, self.model.about)
        with self.assertRaises(FileNotFoundError) as raised:
            dbacl.load(self.folder / "none")
        self.assertEqual(raised.exception.filename, str(self.folder / "none"))
        other = self.folder / "other"
        other.write_text("precious")
        with self.assertRaisesRegex(dbacl.Error, "already used for something"):
            self.model.save(other)
        with self.assertRaisesRegex(dbacl.Error, "not a dbacl-text model"):
            dbacl.load(other)
        self.assertEqual(other.read_text(), "precious")
        damaged = bytearray(path.read_bytes())
        damaged[-1] ^= 1
        with self.assertRaisesRegex(dbacl.Error, "checksum"):
            dbacl.Model.from_bytes(bytes(damaged))

    def test_verdicts_are_explained(self):
        why = dbacl.explain(self.model, "a ship of soldiers and the whale ship")
        self.assertEqual((why.category, why.other), ("sea", "a war"))
        bits = {text: bits for text, bits, _ in why.tokens}
        self.assertGreater(bits["ship"], 0)
        self.assertLess(bits["soldiers"], 0)
        self.assertAlmostEqual(why.total, why.prior + sum(bits for _, bits, _ in why.tokens))
        self.assertIn("sea with probability", why.heading)
        self.assertIn("evidence for a war", str(why))
        self.assertIn("<iframe sandbox", why._repr_html_())
        words = [text.strip() for text, bits in why.lines[0] if bits is not None]
        self.assertEqual(words, ["ship", "soldiers", "whale", "ship"])
        whole = "".join(text for text, _ in why.lines[0])
        self.assertEqual(whole, "a ship of soldiers and the whale ship")

    def test_a_model_can_be_measured(self):
        found = self.model.test(["a ship", "the war", "a whale"], ["sea", "a war", "a war"])
        self.assertEqual(found["documents"], 3)
        self.assertAlmostEqual(found["accuracy"], 2 / 3)
        self.assertEqual(found["labels"]["sea"]["recall"], 1)

    def test_kept_documents_can_be_changed(self):
        kept = dbacl.train(TEXTS, LABELS, keep=True)
        self.assertEqual(len(kept.kept()[0]), 40)
        more = kept.update(["a harbour"], ["sea"])
        whole = dbacl.train([*TEXTS, "a harbour"], [*LABELS, "sea"], keep=True)
        self.assertEqual(more.to_bytes(), whole.to_bytes())
        self.assertEqual(more.forget(["a harbour"], ["sea"]).to_bytes(), kept.to_bytes())
        with self.assertRaisesRegex(ValueError, "no such text of the label sea"):
            kept.forget(["a harbour"], ["sea"])
        with self.assertRaisesRegex(dbacl.Error, "keeps no documents.*keep=True"):
            self.model.update(["a"], ["sea"])

    def test_texts_without_labels_are_learned_where_they_help(self):
        texts = [f"{text} {number}" for number in range(8) for text in TEXTS[:4]]
        labels = LABELS[:4] * 8
        more = [f"{text} again {number}" for number in range(50) for text in TEXTS[:4]]
        model = dbacl.train(texts, labels, unlabelled=iter(more))
        self.assertIn("200 ", model.about["texts without labels"])
        bare = dbacl.train(texts, labels)
        self.assertEqual(dbacl.train(texts, labels, unlabelled=[]).to_bytes(), bare.to_bytes())
        for options in ({"keep": True}, {"seconds": 1}):
            with self.assertRaisesRegex(ValueError, "cannot be used with seconds or keep"):
                dbacl.train(texts, labels, unlabelled=more, **options)

    def test_a_search_tells_what_it_tries(self):
        lines = []
        model = dbacl.train(TEXTS, LABELS, seconds=0, log=lines.append)
        self.assertEqual(len(lines), 1)
        self.assertIn("errors in", lines[0])
        self.assertIn("the best so far", lines[0])

        def refuse(line):
            raise KeyError(line)

        with self.assertRaises(KeyError):
            dbacl.train(TEXTS, LABELS, seconds=0, log=refuse)

    def test_others_run_meanwhile(self):
        counted = [0]
        done = threading.Event()

        def count():
            while not done.is_set():
                counted[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        try:
            before = counted[0]
            dbacl.train([text + f" {n}" for n in range(200) for text in TEXTS], LABELS * 200)
            self.model.predict(TEXTS * 1000)
            self.assertGreater(counted[0], before + 5)
        finally:
            done.set()
            thread.join()

    def test_a_signal_ends_training(self):
        texts = [f"{text} {n} {n * 7}" for n in range(2000) for text in TEXTS]
        labels = LABELS * 2000

        def stop(*_):
            raise KeyboardInterrupt

        old = signal.signal(signal.SIGALRM, stop)
        try:
            for work in [lambda: dbacl.train(texts, labels, choose=True),
                         lambda: self.model.predict(texts * 100)]:
                signal.setitimer(signal.ITIMER_REAL, 0.3)
                begin = time.monotonic()
                with self.assertRaises(KeyboardInterrupt):
                    work()
                self.assertLess(time.monotonic() - begin, 20)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)


@unittest.skipUnless(PROGRAMS, "DBACL_PROGRAMS names no folder of programs")
class Programs(Scratch):
    """Same bytes and digits as the programs."""

    def setUp(self):
        super().setUp()
        self.data = self.folder / "data.tsv"
        lines = (f"{label}\t{text}\n" for label, text in zip(LABELS, TEXTS))
        self.data.write_text("".join(lines))

    def test_blocks_make_the_same_model(self):
        known = sorted(set(LABELS))
        counts = [(label, LABELS.count(label)) for label in known]
        for spelled, options in [([], {}), (["--both"], {"preset": "both"})]:
            with self.subTest(options=options):
                path = self.folder / "model"
                path.unlink(missing_ok=True)
                run("dbacl-text", "train", self.data, "-o", path, "--block", 5, "-q", *spelled)
                plan = dbacl.BlockPlan(dbacl.Trainer(**options), 2, block=5)
                segments = (TEXTS[at:at + 5] for at in range(0, len(TEXTS), 5))
                frame = plan.frame(plan.tally(texts) for texts in segments)
                dealt = [{} for _ in range(plan.chains(frame))]
                for at, (label, text) in enumerate(zip(LABELS, TEXTS)):
                    chain, block = plan.place(at, len(TEXTS))
                    rows = dealt[chain].setdefault(block, [])
                    rows.append((at, known.index(label), text))
                shares = [
                    [[plan.numbered(frame, *zip(*rows)), b""] for rows in chain.values()]
                    for chain in dealt
                ]

                def ask(task):
                    for blocks in shares:
                        work = dbacl.BlockWork(frame, task)
                        for block in blocks:
                            block[1] = work.add(*block)
                        yield work.answer()

                model = plan.train(frame, counts, ask, self.folder)
                self.assertEqual(model.to_bytes(), path.read_bytes())
        with self.assertRaisesRegex(ValueError, "damaged"):
            dbacl.BlockWork(frame, b"x")
        with self.assertRaises(ZeroDivisionError):
            plan.train(frame, counts, lambda task: 1 / 0, self.folder)

    def test_models_have_the_same_bytes(self):
        for spelled, options in [
            ([], {}),
            (["--words", "-j", "--keep"], {"preset": "words", "case_sensitive": True, "keep": True}),
            (["-e", "cef", "-w", "3", "-S", "--choose"],
             {"tokenizer": "cef", "order": 3, "across_lines": True, "choose": True}),
            (["--cost", "0.05", "--start", "0.05", "--balance=0.5", "--no-contrast"],
             {"cost": 0.05, "start": 0.05, "balance": 0.5, "contrast": False}),
            (["-g", "([a-z])[a-z]*"], {"regex": ["([a-z])[a-z]*"]}),
        ]:
            with self.subTest(options=options):
                path = self.folder / "model"
                path.unlink(missing_ok=True)
                run("dbacl-text", "train", self.data, "-o", path, "-q", *spelled)
                theirs = path.read_bytes()
                self.assertEqual(dbacl.train(TEXTS, LABELS, **options).to_bytes(), theirs)
                self.assertEqual(dbacl.train_file(self.data, **options).to_bytes(), theirs)

    def test_columns_of_a_file_are_found(self):
        path, table = self.folder / "model", self.folder / "found.csv"
        rows = zip(LABELS, TEXTS)
        table.write_text("review,intent\n" + "".join(f'"{text}",{label}\n' for label, text in rows))
        run("dbacl-text", "train", table, "-o", path, "-q", "--label-names")
        model = dbacl.train_file(table, label_names=True)
        self.assertEqual(model.to_bytes(), path.read_bytes())
        with self.assertRaisesRegex(ValueError, "kind"):
            dbacl.train_file(table, label_column="kind")

    def test_texts_without_labels_make_the_same_bytes(self):
        path, texts = self.folder / "model", self.folder / "texts"
        more = [f"{text} {number}" for number in range(9) for text in TEXTS[:4]]
        texts.write_text("".join(text + "\n" for text in more))
        run("dbacl-text", "train", self.data, "-o", path, "-q", "--unlabelled", texts)
        ours = dbacl.train(TEXTS, LABELS, unlabelled=more)
        self.assertEqual(ours.to_bytes(), path.read_bytes())

    def test_predictions_have_the_same_digits(self):
        path = self.folder / "model"
        model = dbacl.train(TEXTS, LABELS)
        model.save(path)
        texts = ["a ship", "of the war", "whale soldiers", "unknown", ""]
        stdin = "".join(text + "\n" for text in texts).encode()
        printed = run("dbacl-text", "predict", path, "--format", "ndjson", "-k", "2", stdin=stdin)
        for line, text in zip(printed.decode().splitlines(), texts):
            said = json.loads(line)
            own = model.top([text], 2)[0]
            self.assertEqual([(one["label"], one["probability"]) for one in said["labels"]], own)

    def test_categories_have_the_same_bytes(self):
        sea = [text for text, label in zip(TEXTS, LABELS) if label == "sea"]
        paths = []
        for number, text in enumerate(sea):
            paths.append(self.folder / f"{number:03}.txt")
            paths[-1].write_text(text)
        for spelled, options in [
            ([], {}),
            (["-w", "2", "-e", "alnum", "-L", "uniform"],
             {"order": 2, "tokenizer": "alnum", "reference": "uniform"}),
            (["-j", "-S", "-w", "2", "-z", "1"],
             {"case_sensitive": True, "across_lines": True, "order": 2, "min_count": 1}),
        ]:
            theirs, ours = self.folder / "sea", self.folder / "own"
            run("dbacl", "-H", "22", "-l", theirs, *spelled, *paths)
            category = dbacl.Category.learn(sea, **options)
            expected = theirs.read_bytes()
            theirs.unlink()
            category.save(theirs)
            self.assertEqual(theirs.read_bytes(), expected)
            self.assertEqual(pickled(category).to_bytes(), category.to_bytes())
            self.assertEqual(dbacl.Category.load(theirs).features, category.features)
            ours.unlink(missing_ok=True)

    def test_sets_have_the_same_digits(self):
        paths = []
        for label in ("sea", "war"):
            own = [t for t, known in zip(TEXTS, LABELS) if known.endswith(label)]
            paths.append(self.folder / label)
            dbacl.Category.learn(own).save(paths[-1])
        paths_spelled = [word for path in paths for word in ("-c", path)]
        categories = dbacl.CategorySet.load(paths)
        self.assertEqual(categories.names, ["sea", "war"])
        for text in ["a ship", "soldiers and whales"]:
            printed = run("dbacl", *paths_spelled, "-n", stdin=text.encode()).decode().split()
            scores = [-score / 0.6931471805599453 for score in categories.classify(text).scores]
            self.assertEqual([f"{score:.2f}" for score in scores], printed[1::2])
            self.assertEqual(rows(categories.scores([text]))[0], categories.classify(text).scores)


class Sets(Scratch):
    def setUp(self):
        super().setUp()
        of = lambda own: [text for text, label in zip(TEXTS, LABELS) if label == own]
        self.sea, self.war = dbacl.Category.learn(of("sea")), dbacl.Category.learn(of("a war"))
        self.set = dbacl.CategorySet({"sea": self.sea, "a war": self.war})

    def test_categories_are_compared(self):
        verdict = self.set.classify("a whale of a ship")
        self.assertEqual((verdict.category, verdict.is_unsure), ("sea", False))
        self.assertEqual(str(verdict), f"sea {100 * verdict.probability:.2f}%")
        self.assertEqual(self.set.predict(["soldiers", "a ship"]), ["a war", "sea"])
        self.assertEqual(len(self.set), 2)
        self.assertEqual(self.set["sea"].to_bytes(), self.sea.to_bytes())
        with self.assertRaises(KeyError):
            self.set["lake"]
        self.assertIn("ahead of", self.set.explain("a ship").heading)
        again = pickled(self.set)
        self.assertEqual(again.classify("a ship").scores, self.set.classify("a ship").scores)

    def test_what_cannot_be_learned_or_compared_is_told(self):
        with self.assertRaisesRegex(ValueError, "no token"):
            dbacl.Category.learn(["...", ""])
        with self.assertRaises(dbacl.Error):
            dbacl.CategorySet({})
        letters = dbacl.Category.learn(["a"], tokenizer="char")
        with self.assertRaises(dbacl.Error):
            dbacl.CategorySet({"sea": self.sea, "letters": letters})
        with self.assertRaisesRegex(dbacl.Error, "not a category, or damaged"):
            dbacl.Category.from_bytes(b"precious")


class Mail(Scratch):
    def setUp(self):
        super().setUp()
        for label, mail in MAIL.items():
            folder = self.folder / label
            folder.mkdir()
            for number in range(25):
                (folder / str(number)).write_text(mail.format(number))
        self.place = self.folder / "filter"
        self.sources = {"ham": self.folder / "ham", "spam": [str(self.folder / "spam")]}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.filter = dbacl.MailFilter.create(self.place, self.sources)

    def test_too_few_mails_are_told(self):
        for number in range(19, 25):
            (self.folder / "ham" / str(number)).unlink()
        with self.assertWarnsRegex(UserWarning, "only 19 messages of ham"):
            dbacl.MailFilter.create(self.folder / "few", self.sources)

    def test_mail_is_judged_and_learned(self):
        self.assertEqual((self.filter.labels, self.filter.documents), (["ham", "spam"], 50))
        other = dbacl.MailFilter(self.place)
        mail = MAIL["spam"].format("today").encode()
        verdict = self.filter.judge(mail)
        self.assertEqual(verdict.category, "spam")
        self.assertTrue(self.filter.filter(mail).startswith(f"X-DBACL: {verdict}\n".encode()))
        order = b"From: shop@example.org\nSubject: your order\n\nParcels and pills.\n"
        report = self.filter.correct("ham", order)
        self.assertEqual((report.outcomes, report.is_changed), (["learned"], True))
        self.assertEqual(self.filter.correct("ham", order.decode()).outcomes, ["already known"])
        self.assertEqual(self.filter.correct("spam", [order]).outcomes, ["moved from ham"])
        self.assertEqual(self.filter.learn("spam", [order, b""]).outcomes,
                         ["learned once more", "without features"])
        report = self.filter.forget("spam", order)
        self.assertEqual(report.outcomes, ["forgotten from spam"])
        self.assertTrue(other.reload())
        self.assertFalse(other.reload())
        self.assertEqual(str(other.judge(order)), str(self.filter.judge(order)))

    def test_errors_name_what_is_wrong(self):
        with self.assertRaises(FileNotFoundError):
            dbacl.MailFilter(self.folder / "none")
        with self.assertRaisesRegex(ValueError, "has ham and spam, but no lake"):
            self.filter.learn("lake", b"From: a\n\nb\n")
        with self.assertRaisesRegex(ValueError, "two mail folders"):
            dbacl.MailFilter.create(self.place, {"ham": self.folder / "ham"})

    @unittest.skipUnless(PROGRAMS, "DBACL_PROGRAMS names no folder of programs")
    def test_the_program_says_the_same(self):
        mail = MAIL["ham"].format("pills").encode()
        self.assertEqual(run("dbacl", "--mail-filter", self.place, stdin=mail),
                         self.filter.filter(mail))


class Estimators(unittest.TestCase):
    """The estimator where there is no scikit-learn; with it, test_libraries.py."""

    def test_it_learns_and_is_pickled(self):
        estimator = dbacl.DbaclClassifier(order=1).fit(TEXTS, LABELS)
        self.assertEqual(list(estimator.predict(["a ship", "soldiers"])), ["sea", "a war"])
        self.assertEqual(list(estimator.classes_), ["a war", "sea"])
        self.assertEqual(estimator.score(TEXTS, LABELS), 1)
        again = pickle.loads(pickle.dumps(estimator))
        self.assertEqual(again.get_params(), estimator.get_params())
        self.assertEqual(rows(again.predict_proba(TEXTS)), rows(estimator.predict_proba(TEXTS)))
        with self.assertRaisesRegex(ValueError, "not fitted"):
            dbacl.DbaclClassifier().predict(["a"])
        with self.assertRaisesRegex(ValueError, "nvalid parameter 'odd'"):
            dbacl.DbaclClassifier().set_params(odd=1)

    def test_it_learns_in_parts(self):
        whole = dbacl.DbaclClassifier(keep=True).fit(TEXTS, LABELS)
        parts = dbacl.DbaclClassifier()
        parts.partial_fit(TEXTS[:7], LABELS[:7], classes=["sea", "a war"])
        parts = pickle.loads(pickle.dumps(parts)).partial_fit(TEXTS[7:], LABELS[7:])
        self.assertEqual(parts.model_.to_bytes(), whole.model_.to_bytes())
        more = whole.partial_fit(["a harbour"], ["sea"])
        self.assertEqual(more.model_.documents, {"a war": 20, "sea": 21})
        with self.assertRaisesRegex(ValueError, "classes must be passed on the first call"):
            dbacl.DbaclClassifier().partial_fit(TEXTS, LABELS)
        with self.assertRaisesRegex(ValueError, "needs keep=True"):
            dbacl.DbaclClassifier().fit(TEXTS, LABELS).partial_fit(["a"], ["sea"])
        with self.assertRaisesRegex(ValueError, "not among the classes"):
            parts.partial_fit(["a"], ["lake"])

    def test_importing_the_module_imports_nothing_large(self):
        code = "import dbacl, sys; print({'numpy', 'sklearn', 'pandas'} & set(sys.modules))"
        printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        self.assertEqual(printed.stdout.strip(), b"set()")


if __name__ == "__main__":
    unittest.main()
