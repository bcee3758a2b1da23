#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: scikit-learn, logistic regression
# pypi: scikit-learn==1.9.1
# deterministic: yes
# setting: defaults - TfidfVectorizer and LogisticRegression as they are
# setting: documented - the guide's advice for text: pairs of words, logarithms of counts, C 10
import pickle

import driver
import words

try:
    import sklearn
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
except ImportError:
    sklearn = None


class Scikit(driver.Retrained):
    inside, children = True, False

    def start(self):
        if sklearn is None:
            raise driver.Missing("scikit-learn is not installed (field.py install)")
        self.texts = {}

    def version(self):
        return f"scikit-learn {sklearn.__version__}"

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = words.plain(path)
        return self.texts[path]

    def fit(self, mails):
        if self.setting == "defaults":
            vectors, model = TfidfVectorizer(), LogisticRegression()
        else:
            vectors = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
            model = LogisticRegression(C=10, max_iter=1000)
        self.pipeline = make_pipeline(vectors, model)
        self.pipeline.fit(
            [self.text(path) for _, path in mails], [label == "spam" for label, _ in mails]
        )

    def predict(self, paths):
        sure = self.pipeline.predict_proba([words.plain(path) for path in paths])[:, 1]
        # The last digits depend on the library's sums; nine are the same everywhere.
        sure = [round(float(one), 9) for one in sure]
        return [(spam, "spam" if spam > 0.5 else "ham", spam) for spam in sure]

    def stop(self):
        if self.fitted:
            (self.model / "pipeline.pickle").write_bytes(pickle.dumps(self.pipeline))


driver.main(Scikit)
