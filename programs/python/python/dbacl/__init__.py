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
    """Trains a model on texts with their labels, and on others without where these help.

    `weights` say how often each text counts. `options` are those of `Trainer`. `log` is told what
    a search (`seconds`) has tried.
    """
    trainer = Trainer(**options)
    trainer.add(texts, labels, weights)
    return trainer.train(log=log, unlabelled=unlabelled)


def train_file(
    path, *, format=None, label_column="label", text_column=("text",), log=None, **options
):
    """Trains a model on a file or folder of labelled documents, as `dbacl-text train` does."""
    trainer = Trainer(**options)
    columns = [text_column] if isinstance(text_column, str) else list(text_column)
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
