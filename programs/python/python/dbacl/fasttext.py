# SPDX-License-Identifier: GPL-3.0-or-later
"""The functions of fastText's module that classify texts, over models of dbacl.

    import dbacl.fasttext as fasttext

    model = fasttext.train_supervised(input="train.txt")
    model.predict("a text", k=3)

What chooses features is obeyed; what only fastText's way to learn needs, such as `lr` and `epoch`,
is accepted and changes nothing.
"""

from ._dbacl import Model, Trainer, lines

_LABEL = "__label__"
_UNUSED = frozenset(
    "lr dim ws epoch minCount minCountLabel neg bucket thread lrUpdateRate t verbose "
    "pretrainedVectors seed autotuneMetric autotunePredictions".split()
)


def _lines(path):
    """Labels and text of each line."""
    mark = _LABEL.encode()
    for line in lines(path):
        words = line.split()
        labels = [word[len(mark):].decode() for word in words if word.startswith(mark)]
        yield labels, b" ".join(word for word in words if not word.startswith(mark))


def _array(numbers):
    try:
        import numpy
    except ImportError:
        return list(numbers)
    return numpy.array(numbers)


class FastText:
    """A model with the methods of fastText's; `model` is the `dbacl.Model`."""

    def __init__(self, model):
        self.model = model

    def predict(self, text, k=1, threshold=0.0, on_unicode_error="strict"):
        """The `k` most probable labels of a text, and their probabilities; of a list, lists."""
        if not isinstance(text, list):
            (labels,), (probabilities,) = self.predict([text], k, threshold)
            return tuple(labels), probabilities
        if any("\n" in one for one in text):
            raise ValueError("predict processes one line at a time (remove '\\n')")
        found = self._top(text, k, threshold)
        labels = [[_LABEL + label for label, _ in row] for row in found]
        return labels, [_array([p for _, p in row]) for row in found]

    def _top(self, texts, k, threshold):
        found = self.model.top(texts, len(self.model.labels) if k == -1 else k)
        return [[(label, p) for label, p in row if p >= threshold] for row in found]

    def test(self, path, k=1, threshold=0.0):
        """The number of texts with known labels, precision and recall of the `k` best labels."""
        known = set(self.model.labels)
        rows = [(known.intersection(labels), text) for labels, text in _lines(path)]
        rows = [(labels, text) for labels, text in rows if labels]
        found = self._top([text for _, text in rows], k, threshold)
        hits = sum(label in own for (own, _), row in zip(rows, found) for label, _ in row)
        called, own = sum(map(len, found)), sum(len(labels) for labels, _ in rows)
        nan = float("nan")
        return len(rows), hits / called if called else nan, hits / own if own else nan

    def get_labels(self, include_freq=False, on_unicode_error="strict"):
        """The labels, the most frequent ones first, and if asked for their numbers of texts."""
        counts = sorted(self.model.documents.items(), key=lambda one: -one[1])
        labels = [_LABEL + label for label, _ in counts]
        return (labels, _array([count for _, count in counts])) if include_freq else labels

    @property
    def labels(self):
        """The labels, the most frequent ones first."""
        return self.get_labels()

    def quantize(self, input=None, **others):
        """Makes the model smaller; the options of fastText's way to do so change nothing."""
        self.model = self.model.quantized()

    def save_model(self, path):
        """Saves the model, for `load_model`, `dbacl.load` and `dbacl-text`."""
        self.model.save(path)


def load_model(path):
    """Opens a model that dbacl has saved; models of fastText itself cannot be read."""
    return FastText(Model.load(path))


def train_supervised(
    input,
    *,
    wordNgrams=None,
    minn=0,
    maxn=0,
    loss="softmax",
    label=_LABEL,
    autotuneValidationFile="",
    autotuneDuration=300,
    autotuneModelSize="",
    **others,
):
    """Trains a model on a file whose lines hold a text and its labels, words with `__label__`.

    Lines without a label are passed over. With `loss="ova"`, or where a line has several labels,
    each label has a probability of its own. `autotuneValidationFile` begins a search for as many
    seconds as `autotuneDuration` says, by cross-validation.
    """
    unknown = sorted(set(others) - _UNUSED)
    if unknown:
        raise TypeError(f"train_supervised has no parameter {unknown[0]!r}")
    if label != _LABEL:
        raise ValueError(f"labels begin with {_LABEL!r}")
    if loss not in ("softmax", "ova", "hs", "ns"):
        raise ValueError(f"loss {loss!r} is none of softmax, ova, hs, ns")
    rows = [(labels, text) for labels, text in _lines(input) if labels]
    several = loss == "ova" or any(len(labels) > 1 for labels, _ in rows)
    order = wordNgrams if wordNgrams is not None and wordNgrams > 2 else None
    if minn or maxn:
        preset = "both" if wordNgrams is not None and wordNgrams > 1 else "chars"
    else:
        preset = "words" if wordNgrams == 1 else None
    seconds = autotuneDuration if autotuneValidationFile else None
    trainer = Trainer(preset=preset, order=order, several=several, seconds=seconds)
    trainer.add(
        [text for _, text in rows], [labels if several else labels[0] for labels, _ in rows]
    )
    model = trainer.train()
    if autotuneModelSize:
        shifts = {"K": 10, "M": 20, "G": 30}
        number = autotuneModelSize.rstrip("kKmMgG")
        size = int(number) << shifts.get(autotuneModelSize[len(number):].upper(), 0)
        model = model.quantized(size=size)
    return FastText(model)
