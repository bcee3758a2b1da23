# SPDX-License-Identifier: GPL-3.0-or-later
"""The module beside other libraries; its stubs beside mypy."""

import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings

import dbacl
import dbacl.tables
import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import validate_data

TEXTS = ["the whale and the ship", "sailors of the whale ship", "the nation and the war",
         "soldiers of the war", "stars in the sky", "the sky and its planets"] * 10
LABELS = ["sea", "sea", "a war", "a war", "sky", "sky"] * 10


class Columns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = dbacl.train(TEXTS, LABELS)
        cls.expected = cls.model.predict_proba(TEXTS)

    def check(self, column):
        numpy.testing.assert_array_equal(self.model.predict_proba(column), self.expected)
        again = dbacl.train(column, LABELS)
        self.assertEqual(again.to_bytes(), self.model.to_bytes())

    def test_probabilities_are_an_array(self):
        self.assertEqual(self.expected.shape, (60, 3))
        self.assertEqual(self.expected.dtype, numpy.float64)
        self.expected[0, 0] = self.expected[0, 0]
        numpy.testing.assert_allclose(self.expected.sum(axis=1), 1)
        self.assertEqual(self.model.predict_proba([]).shape, (0, 3))

    def test_columns_of_numpy_and_pandas(self):
        self.check(numpy.array(TEXTS))
        self.check(numpy.array(TEXTS, dtype=object))
        self.check(numpy.array([text.encode() for text in TEXTS]))
        for kind in [object, "str", "string", pandas.ArrowDtype(pyarrow.string()), "category"]:
            self.check(pandas.Series(TEXTS, dtype=kind))
        frame = pandas.DataFrame({"text": TEXTS, "label": LABELS})
        self.check(frame["text"])
        shuffled = frame.iloc[::-1]
        numpy.testing.assert_array_equal(
            self.model.predict_proba(shuffled["text"]), self.expected[::-1]
        )
        self.check(frame[["text"]])
        self.check(frame[["text"]].to_numpy())
        self.check(polars.DataFrame({"text": TEXTS}))
        self.check(pyarrow.table({"text": TEXTS}))
        for two in [frame, polars.DataFrame(frame), pyarrow.table(frame), frame.to_numpy()]:
            with self.assertRaisesRegex(ValueError, "2-dimensional.*text_columns"):
                self.model.predict(two)
        with self.assertRaisesRegex(ValueError, "text 1 is missing"):
            self.model.predict(pandas.Series(["a", None], dtype="str"))

    def test_columns_of_arrow(self):
        for kind in [pyarrow.string(), pyarrow.large_string(), pyarrow.binary(),
                     pyarrow.large_binary(), pyarrow.string_view(),
                     pyarrow.dictionary(pyarrow.int32(), pyarrow.string())]:
            with self.subTest(kind=kind):
                self.check(pyarrow.array(TEXTS).cast(kind))
        self.check(pyarrow.chunked_array([TEXTS[:7], [], TEXTS[7:]]))
        self.check(pyarrow.array(["before", *TEXTS, "after"])[1:-1])
        self.check(pyarrow.table({"text": TEXTS})["text"])
        many = pyarrow.array(TEXTS * 1000)
        found = self.model.predict_proba(many[3:], threads=2)
        numpy.testing.assert_array_equal(found, numpy.tile(self.expected, (1000, 1))[3:])
        self.assertEqual(self.model.predict(pyarrow.array([], pyarrow.string())), [])
        with self.assertRaisesRegex(ValueError, "text 3 is missing: it is null"):
            self.model.predict(pyarrow.chunked_array([["a", "b"], ["c", None]]))
        with self.assertRaisesRegex(TypeError, "of the type int64"):
            self.model.predict(pyarrow.array([1, 2]))


class RowsAsTexts(dbacl.DbaclClassifier):
    """The estimator for rows of numbers, which the checks of scikit-learn are made of: each number
    becomes a word that says where it stands and between which thresholds it lies."""

    def _texts(self, X, reset):
        if reset:
            X = validate_data(self, X, reset=True)
            self.thresholds_ = numpy.quantile(X, numpy.linspace(0.05, 0.95, 15), axis=0)
        else:
            if not self.__sklearn_is_fitted__():
                self._trained()
            X = validate_data(self, X, reset=False)
        places = (X[:, None, :] >= self.thresholds_[None]).sum(axis=1)
        # One word says that the row is there.
        return ["row " + " ".join(
            f"c{at}x{step}" for at, place in enumerate(row) for step in range(place)
        ) for row in places]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = False
        tags.input_tags.two_d_array = True
        tags.input_tags.one_d_array = False
        return tags


class Tables(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.model = dbacl.train(TEXTS, LABELS)
        self.texts = [None if at % 7 == 3 else TEXTS[at % 60] for at in range(9000)]
        self.best = {text: self.model.top([text])[0][0] for text in TEXTS}

    def expect(self, answers):
        self.assertEqual(len(answers), len(self.texts))
        for text, answer in zip(self.texts, answers):
            found = answer and (answer["label"], answer["probability"])
            self.assertEqual(found, text and self.best[text])

    def test_duckdb_judges_a_column(self):
        path = f"{self.folder.name}/texts.parquet"
        rows = {"id": range(len(self.texts)), "text": self.texts}
        pyarrow.parquet.write_table(pyarrow.table(rows), path, row_group_size=1000)
        saved = f"{self.folder.name}/model"
        self.model.save(saved)
        with duckdb.connect() as connection:
            dbacl.tables.register(connection, saved, "topic")
            query = f"SELECT topic(text) FROM '{path}' ORDER BY id"
            self.expect([row[0] for row in connection.sql(query).fetchall()])
            query = f"SELECT DISTINCT topic(text).label FROM '{path}' WHERE text IS NOT NULL"
            labels = sorted(row[0] for row in connection.sql(query).fetchall())
            self.assertEqual(labels, self.model.labels)
            self.assertEqual(connection.sql("SELECT topic(NULL)").fetchall(), [(None,)])

    def test_polars_judges_a_column(self):
        frame = polars.DataFrame({"text": self.texts})
        answer = dbacl.tables.classify("text", self.model).alias("topic")
        self.expect(frame.select(answer)["topic"].to_list())
        self.expect(frame.lazy().select(answer).collect(engine="streaming")["topic"].to_list())
        self.assertEqual(frame.head(0).select(answer).schema["topic"], polars.Struct(
            {"label": polars.String, "probability": polars.Float64}))

    def test_models_of_several_labels_answer_with_lists(self):
        labels = [["sea"], ["sea", "war"], []] * 20
        model = dbacl.train(["whale", "whale gun", "nothing"] * 20, labels, several=True)
        frame = polars.DataFrame({"text": ["whale", None, "gun whale", "nothing"]})
        found = frame.select(dbacl.tables.classify(polars.col("text"), model))["text"].to_list()
        self.assertEqual(found, [["sea"], None, ["sea", "war"], []])
        with duckdb.connect() as connection:
            dbacl.tables.register(connection, model)
            self.assertEqual(connection.sql("SELECT dbacl('whale')").fetchall(), [(["sea"],)])


# Checks that do not apply, and why.
WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data": "a weight is the cost of a text in the fit; how "
    "many texts a feature is in, and cross-validation, count each text once",
}
KEPT = WEIGHTS | {
    f"check_classifiers_multilabel_{which}": "texts of several labels cannot be kept"
    for which in ["output_format_decision_function", "output_format_predict",
                  "output_format_predict_proba", "representation_invariance"]
}
EXCEPT = WEIGHTS | {
    "check_fit_score_takes_y": "it calls partial_fit after fit, which needs keep=True",
}


class Scikit(unittest.TestCase):
    def setUp(self):
        # Some parts have few documents.
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("ignore")

    def test_the_checks_of_scikit_learn_pass(self):
        self.check(RowsAsTexts(), EXCEPT)
        self.check(RowsAsTexts(keep=True), KEPT)

    def check(self, estimator, exceptions):
        found = check_estimator(
            estimator, expected_failed_checks=exceptions, on_skip=None, on_fail=None
        )
        failed = {one["check_name"]: one["exception"] for one in found if one["status"] == "failed"}
        self.assertEqual(failed, {})
        passed = [one for one in found if one["status"] == "passed"]
        self.assertGreater(len(passed), 40)
        expected = {one["check_name"] for one in found if one["status"] == "xfail"}
        self.assertEqual(expected, set(exceptions), "a check that passes needs no reason")

    def test_frames_are_read_by_their_columns(self):
        title = [text.split()[0] for text in TEXTS]
        body = [text.split(" ", 1)[1] for text in TEXTS]
        data = {"title": title, "body": body, "label": LABELS}
        both = [f"{a}\n{b}" for a, b in zip(title, body)]
        expected = dbacl.DbaclClassifier().fit(both, LABELS).predict_proba(both)
        for frame in [pandas.DataFrame(data), polars.DataFrame(data), pyarrow.table(data)]:
            estimator = dbacl.DbaclClassifier(text_columns=["title", "body"])
            found = pickle.loads(pickle.dumps(estimator.fit(frame, LABELS))).predict_proba(frame)
            numpy.testing.assert_array_equal(found, expected)
        frame = pandas.DataFrame({"text": ["a", None, float("nan")]})
        self.assertEqual(dbacl.DbaclClassifier(text_columns="text")._texts(frame, True), ["a", "", ""])
        one = dbacl.DbaclClassifier().fit(pandas.DataFrame({"text": TEXTS}), LABELS)
        self.assertEqual(list(one.predict(numpy.array(TEXTS).reshape(-1, 1))), list(one.predict(TEXTS)))

    def test_what_does_not_fit_together_is_said(self):
        with self.assertRaisesRegex(ValueError, "^there are 2 texts and 1 labels$"):
            dbacl.DbaclClassifier().fit(["a", "b"], ["x"])
        with self.assertRaisesRegex(ValueError, "^there is one class, 'x': two"):
            dbacl.DbaclClassifier().fit(["a", "b"], ["x", "x"])

    def test_it_is_an_estimator_of_texts(self):
        estimator = dbacl.DbaclClassifier(order=1)
        tags = estimator.__sklearn_tags__()
        self.assertTrue(tags.input_tags.string)
        self.assertEqual(clone(estimator).get_params(), estimator.get_params())
        estimator.fit(numpy.array(TEXTS), numpy.array(LABELS))
        self.assertEqual(estimator.predict(TEXTS).tolist(), LABELS)
        logs = estimator.decision_function(TEXTS)
        self.assertEqual(logs.shape, (60, 3))
        numpy.testing.assert_allclose(
            numpy.exp(logs), estimator.predict_proba(TEXTS), atol=1e-299
        )
        numpy.testing.assert_array_equal(
            estimator.classes_[logs.argmax(axis=1)], estimator.predict(TEXTS)
        )

    def test_labels_may_be_numbers(self):
        for labels in [[7, -3, 10] * 20, [True, False] * 30, [0.0, 1.0] * 30]:
            texts = [f"the text of {label}" for label in labels]
            estimator = dbacl.DbaclClassifier().fit(texts, labels)
            self.assertEqual(estimator.classes_.tolist(), sorted(set(labels)))
            self.assertEqual(estimator.predict(texts).tolist(), labels)
            again = pickle.loads(pickle.dumps(estimator))
            self.assertEqual(again.classes_.dtype, estimator.classes_.dtype)
            numpy.testing.assert_array_equal(
                again.predict_proba(texts), estimator.predict_proba(texts)
            )
            if len(estimator.classes_) == 2:
                self.assertEqual(estimator.decision_function(texts).shape, (60,))

    def test_texts_may_have_several_labels(self):
        words = ["sea", "war", "sky"]
        rows = [[at >> bit & 1 for bit in range(3)] for at in range(8)] * 10
        texts = [" ".join(w for w, one in zip(words, row) if one) or "nothing" for row in rows]
        matrix = numpy.array(rows)
        estimator = dbacl.DbaclClassifier(preset="words").fit(texts, matrix)
        self.assertEqual(estimator.classes_.tolist(), [0, 1, 2])
        numpy.testing.assert_array_equal(estimator.predict(texts), matrix)
        self.assertEqual(estimator.score(texts, matrix), 1)
        found = estimator.predict_proba(["the sea and the war"])
        self.assertEqual(found.shape, (1, 3))
        self.assertGreater(found[0][:2].min(), 0.6)
        self.assertLess(found[0][2], 0.4)
        numpy.testing.assert_array_equal(estimator.decision_function(texts) > 0,
                                         estimator.predict_proba(texts) > 0.5)
        again = pickle.loads(pickle.dumps(estimator))
        numpy.testing.assert_array_equal(again.predict_proba(texts), estimator.predict_proba(texts))
        # A label that no text has, rows as lists, and matrices of SciPy.
        more = [[*row, 0] for row in rows]
        estimator.fit(texts, more)
        self.assertEqual(estimator.predict_proba(texts)[:, 3].tolist(), [0.0] * 80)
        numpy.testing.assert_array_equal(estimator.predict(texts), more)
        numpy.testing.assert_array_equal(
            estimator.fit(texts, scipy.sparse.csr_array(matrix)).predict(texts), matrix
        )
        with self.assertRaisesRegex(ValueError, "class_weight"):
            dbacl.DbaclClassifier(class_weight="balanced").fit(texts, matrix)

    def test_pipelines_and_searches(self):
        lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
        pipeline = make_pipeline(lower, dbacl.DbaclClassifier())
        scores = cross_val_score(pipeline, numpy.array(TEXTS), LABELS, cv=3)
        self.assertEqual(scores.tolist(), [1, 1, 1])
        search = GridSearchCV(dbacl.DbaclClassifier(), {"order": [1, 2]}, cv=2)
        search.fit(numpy.array(TEXTS), LABELS)
        self.assertEqual(search.best_score_, 1)
        self.assertEqual(search.predict(["a ship"]).tolist(), ["sea"])


class Stubs(unittest.TestCase):
    def test_the_stubs_are_those_of_the_module(self):
        # The last one needs pyspark; tests/spark looks at it.
        allowed = "dbacl.estimator.DbaclClassifier\\.(__setstate__|__getstate__)\ndbacl.spark.*\n"
        with tempfile.TemporaryDirectory() as folder:
            names = pathlib.Path(folder, "allowed")
            names.write_text(allowed)
            settings = pathlib.Path(folder, "mypy.ini")
            settings.write_text("[mypy]\nignore_missing_imports = True\n")
            done = subprocess.run(
                [sys.executable, "-m", "mypy.stubtest", "dbacl", "--ignore-missing-stub",
                 "--mypy-config-file", str(settings), "--allowlist", str(names),
                 "--ignore-unused-allowlist"],
                capture_output=True, text=True, cwd=folder,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            source = pathlib.Path(folder, "use.py")
            source.write_text(
                "import dbacl\n"
                "model = dbacl.train(['a'], ['b'], order=2)\n"
                "labels: list[str] = model.predict(['c'])\n"
                "verdict: float = dbacl.MailFilter('f').judge(b'm').probability\n"
                "import dbacl.fasttext\n"
                "found: tuple[str, ...] = dbacl.fasttext.load_model('m').predict('c')[0]\n"
                "dbacl.DbaclClassifier(order=1).fit(['a'], [1]).predict(['a'])\n"
            )
            done = subprocess.run(
                [sys.executable, "-m", "mypy", "--strict", str(source)],
                capture_output=True, text=True, cwd=folder,
            )
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
