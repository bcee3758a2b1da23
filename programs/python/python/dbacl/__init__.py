# SPDX-License-Identifier: GPL-3.0-or-later
"""Text classifiers and mail filters with calibrated, explainable verdicts.

    import dbacl

    model = dbacl.train(texts, labels)
    model.predict(["a text", "another one"])
    model.save("my.model")
"""

from . import _dbacl
from ._dbacl import (
    BlockPlan,
    BlockWork,
    Category,
    CategorySet,
    Error,
    Explanation,
    MailFilter,
    MailReport,
    Model,
    Trainer,
    Verdict,
)

__version__ = _dbacl.__version__
__all__ = [
    "BlockPlan",
    "BlockWork",
    "Category",
    "CategorySet",
    "DbaclClassifier",
    "Error",
    "Explanation",
    "MailFilter",
    "MailReport",
    "Model",
    "Trainer",
    "Verdict",
    "explain",
    "load",
    "train",
    "train_file",
]


def train(texts, labels, *, weights=None, unlabelled=None, log=None, **options):
    """Trains a model on texts with their labels.

    `texts` is a list or column of `str` or `bytes`, and `labels` has a `str` for each text, or with
    `several=True` a list. Twenty texts a label are a beginning; use texts like those that will come.

        model = dbacl.train(texts, labels)
        model.predict(["a text"])                # ["a label"]
        model.top(["a text"], 3)                 # the three best labels with probabilities
        model.predict(others, at_least=0.9)      # "unsure" where the label is less probable
        model.predict(others, none=True)         # "none" where a text seems to have no label
        model.test(held_out, their_labels)       # how often it is right

    Options, all of which have good defaults:

    preset          "words", "pairs", "chars" or "both": what is learned of a text
    order           longest run of words, 1 to 7
    tokenizer       what a word is: "word", "glyph", "alpha", ...
    case_sensitive  distinguish upper and lower case
    across_lines    let runs of words cross line ends
    kind            "text", "html" or "xml"
    regex           expressions whose matches are learned instead of words
    cost, start, contrast, choose    the fit; choose=True tries all settings
    balance         0 to 1: rare labels cost more
    aim             "accuracy", or "macro-f1" for the mean F1 of all labels
    several         a text may have any number of labels
    label_names     learn the words of each label's name, which helps with few texts
    keep            keep the texts in the model, for `update` and `forget`
    seconds         try ways to read texts for so long; `log` is called with each try

    `weights` say how often each text counts. `unlabelled` are texts without labels, which are
    learned as well where that leaves fewer errors. Ctrl-C ends the training.
    """
    trainer = Trainer(**options)
    trainer.add(texts, labels, weights)
    return trainer.train(log=log, unlabelled=unlabelled)


def train_file(path, *, format=None, label_column=None, text_column=None, log=None, **options):
    """Trains a model on a file or folder of labelled documents, as `dbacl-text train` does. Columns
    that are not named are found."""
    trainer = Trainer(**options)
    columns = [text_column] if isinstance(text_column, str) else text_column and list(text_column)
    trainer.add_file(path, format=format, label_column=label_column, text_column=columns)
    return trainer.train(log=log)


def load(path):
    """Opens a model that `Model.save` or `dbacl-text train` has written."""
    return Model.load(path)


def explain(model, text):
    """Which words of a text speak for the label that a model or a set of categories gives it."""
    return model.explain(text)


def __getattr__(name):
    # The estimator looks for scikit-learn, which takes a second to import.
    if name == "DbaclClassifier":
        from .estimator import DbaclClassifier

        return DbaclClassifier
    raise AttributeError(f"module 'dbacl' has no attribute {name!r}")


def __dir__():
    return sorted(set(globals()) | set(__all__))
