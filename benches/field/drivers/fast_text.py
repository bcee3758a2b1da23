#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# tool: fastText
# pypi: fasttext-wheel==0.9.2 numpy<2
# deterministic: yes
# setting: defaults - train_supervised as it is
# setting: documented - as its tutorial ends: rate 1.0, 25 passes, pairs, 200000 buckets, 50 numbers
import re

import driver
import words

try:
    import fasttext
except ImportError:
    fasttext = None

TUTORIAL = {"lr": 1.0, "epoch": 25, "wordNgrams": 2, "bucket": 200000, "dim": 50}


def line(path):
    """A mail as the tutorial prepares text: small letters, punctuation apart."""
    text = re.sub(r"([.!?,'/()\"<>:;])", r" \1 ", words.plain(path)).lower()
    return " ".join(text.replace("__label__", "").split())


class FastText(driver.Retrained):
    inside, children = True, False

    def start(self):
        if fasttext is None:
            raise driver.Missing("fasttext is not installed (field.py install)")
        self.file = str(self.folder / "train.txt")

    def version(self):
        return "fastText, fasttext-wheel 0.9.2"

    def fit(self, mails):
        with open(self.file, "w", encoding="utf-8") as out:
            out.writelines(f"__label__{label} {line(path)}\n" for label, path in mails)
        options = TUTORIAL if self.setting == "documented" else {}
        self.trained = fasttext.train_supervised(self.file, thread=1, seed=1, verbose=0, **options)

    def predict(self, paths):
        for path in paths:
            pairs = self.trained.f.predict(line(path) + "\n", 2, 0.0, "strict")
            sure = {label: probability for probability, label in pairs}
            spam = min(max(float(sure.get("__label__spam", 0.0)), 0.0), 1.0)
            yield spam, "spam" if spam > 0.5 else "ham", spam

    def stop(self):
        if self.fitted:
            self.trained.save_model(str(self.model / "model.bin"))


driver.main(FastText)
