# SPDX-License-Identifier: GPL-3.0-or-later
"""A classifier of texts for scikit-learn, which works without it, too."""

from ._columns import joined
from ._dbacl import Model, Trainer

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
except ImportError:  # scikit-learn is not needed

    def column_or_1d(y, warn=False):
        """The labels as they are."""
        return y

    def check_classification_targets(y):
        """Whatever labels there are will do."""

    def type_of_target(y):
        """Whether `y` has a column for each label."""
        columns = getattr(y, "shape", ())[1:]
        return "multilabel-indicator" if columns and columns[0] > 1 else "multiclass"

    class NotFittedError(ValueError, AttributeError):
        """The classifier has learned nothing yet."""

    class ClassifierMixin:
        """What scikit-learn gives to classifiers."""

        _estimator_type = "classifier"

        def score(self, X, y, sample_weight=None):
            """The share of texts that get their label."""
            weights = [1.0] * len(y) if sample_weight is None else list(sample_weight)
            hits = (found == truth for found, truth in zip(self.predict(X), y))
            return sum(w for w, hit in zip(weights, hits) if hit) / sum(weights)

    class BaseEstimator:
        """What scikit-learn gives to estimators."""

        def get_params(self, deep=True):
            """The parameters with their values."""
            return {name: getattr(self, name) for name in self._parameters}

        def set_params(self, **params):
            """Changes parameters."""
            for name, value in params.items():
                if name not in self._parameters:
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self}.")
                setattr(self, name, value)
            return self

        def __repr__(self):
            named = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
            return f"{type(self).__name__}({named})"


# Parameters that are not options of `Trainer`.
_OWN = ("n_jobs", "class_weight", "text_columns")
# What training sets.
_FITTED = ("classes_", "model_")


class DbaclClassifier(ClassifierMixin, BaseEstimator):
    """Learns labels of texts by words and characters, fitted together, with probabilities.

    `X` is a list or column of texts, each `str` or `bytes`, or a frame or array of one column. Of a
    frame of more, `text_columns` names those with the text. `class_weight` is "balanced" or a dict
    from classes to weights, and `n_jobs` the number of threads that classify texts; the other
    parameters are those of `dbacl.Trainer`.

    If `y` is a matrix with a column for each label and 1 where a text has it, a text may have any
    number of labels: `classes_` are the numbers of the columns, `predict` returns such a matrix,
    and each column of `predict_proba` is the probability of a label of its own.
    """

    _parameters = (
        "preset", "tokenizer", "order", "case_sensitive", "across_lines", "kind", "regex",
        "choose", "cost", "contrast", "start", "balance", "aim", "keep", "seconds",
        "class_weight", "n_jobs", "text_columns",
    )

    def __init__(
        self,
        *,
        preset=None,
        tokenizer=None,
        order=None,
        case_sensitive=False,
        across_lines=False,
        kind="text",
        regex=(),
        choose=False,
        cost=None,
        contrast=True,
        start=None,
        balance=None,
        aim="accuracy",
        keep=False,
        seconds=None,
        class_weight=None,
        n_jobs=None,
        text_columns=None,
    ):
        self.preset = preset
        self.tokenizer = tokenizer
        self.order = order
        self.case_sensitive = case_sensitive
        self.across_lines = across_lines
        self.kind = kind
        self.regex = regex
        self.choose = choose
        self.cost = cost
        self.contrast = contrast
        self.start = start
        self.balance = balance
        self.aim = aim
        self.keep = keep
        self.seconds = seconds
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.text_columns = text_columns

    def _trainer(self, **more):
        options = {name: getattr(self, name) for name in self._parameters if name not in _OWN}
        return Trainer(**{**options, "regex": list(self.regex), **more})

    def _texts(self, X, reset):
        """The texts of `X`; for subclasses that make texts of something else."""
        if self.text_columns is None:
            return X
        names = self.text_columns
        return joined(X, [names] if isinstance(names, str) else list(names))

    def _weights(self, names, sample_weight):
        """What each text weighs, or None where all weigh the same."""
        if self.class_weight is None and sample_weight is None:
            return None
        weights = [1.0] * len(names)
        if sample_weight is not None:
            if hasattr(sample_weight, "__array__"):
                sample_weight = sample_weight.__array__()
            if getattr(sample_weight, "ndim", 1) != 1:
                raise ValueError("sample_weight needs one weight a text, in one dimension")
            weights = [float(weight) for weight in sample_weight]
            if len(weights) != len(names):
                raise ValueError("sample_weight does not have as many weights as there are texts")
            if not any(weights):
                raise ValueError("every weight in sample_weight is zero")
        if self.class_weight == "balanced":
            counts = {name: names.count(name) for name in set(names)}
            of = {name: len(names) / (len(counts) * count) for name, count in counts.items()}
        elif self.class_weight is not None:
            of = {_name(one): weight for one, weight in self.class_weight.items()}
        else:
            of = {}
        return [weight * of.get(name, 1.0) for weight, name in zip(weights, names)]

    def fit(self, X, y, sample_weight=None):
        """Learns texts with their labels; what was learned before is forgotten."""
        texts = self._texts(X, reset=True)
        several = type_of_target(y) == "multilabel-indicator" if y is not None else False
        classes, names = _matrix(y) if several else _labels(y)
        if several and self.class_weight is not None:
            raise ValueError("class_weight is for texts that have one label each")
        is_counted = hasattr(texts, "__len__") and not isinstance(texts, (str, bytes))
        if is_counted and len(texts) != len(names):
            raise ValueError(f"there are {len(texts)} texts and {len(names)} labels")
        if len(classes) == 1:
            only = getattr(classes[0], "item", lambda: classes[0])()
            raise ValueError(f"there is one class, {only!r}: two classes or more are needed")
        weights = self._weights(names, sample_weight)
        if weights and not several and len({name for name, weight in zip(names, weights) if weight}) == 1:
            raise ValueError("one class alone has weights: two classes or more are needed")
        trainer = self._trainer(several=several)
        trainer.add(texts, names, weights)
        self._forget()
        self._model = trainer.train()
        self._waiting = None
        self.classes_ = classes
        return self

    def partial_fit(self, X, y, classes=None):
        """Learns more texts with their labels.

        All texts are kept, and the model is trained again when it is asked next. The first call
        must name all `classes` that there will be. After `fit`, the classifier must have been made
        with `keep=True`.
        """
        begins = not hasattr(self, "classes_")
        texts = self._texts(X, reset=begins)
        if begins:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            trainer, known = self._trainer(keep=True), _labels(classes)[0]
        else:
            known = self.classes_
            if classes is not None and list(_labels(classes)[0]) != list(known):
                raise ValueError(
                    f"`classes={classes!r}` is not the same as on last call to partial_fit, "
                    f"was: {known!r}"
                )
            trainer = self._kept()
        names = _labels(y)[1]
        others = sorted(set(names) - {_name(one) for one in known})
        if others:
            raise ValueError(f"labels that are not among the classes: {others}")
        trainer.add(texts, names)
        self.classes_ = known
        self._waiting = trainer
        self._model = None
        return self

    def _kept(self):
        """A trainer with all texts that were learned."""
        if self._waiting is not None:
            return self._waiting
        trainer = self._trainer(keep=True)
        kept = self._model.kept()
        if kept is None:
            raise ValueError("fit keeps no texts: partial_fit after fit needs keep=True")
        trainer.add(*kept)
        return trainer

    def _forget(self):
        for name in (*_FITTED, "_model", "_waiting"):
            self.__dict__.pop(name, None)

    def _trained(self):
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        if self._model is None:
            self._model = self._waiting.train()
        return self._model

    def __sklearn_is_fitted__(self):
        return hasattr(self, "classes_")

    @property
    def model_(self):
        """The `dbacl.Model`."""
        return self._trained()

    def _threads(self):
        return {None: 1, -1: 0}.get(self.n_jobs, self.n_jobs)

    def _probabilities(self, X):
        """Rows of probabilities, in the order of `classes_`."""
        model = self._trained()
        rows = model.predict_proba(self._texts(X, reset=False), threads=self._threads())
        # Classes without texts so far have no column.
        places = {label: at for at, label in enumerate(model.labels)}
        order = [places.get(_name(one)) for one in self.classes_]
        if order == list(range(len(places))):
            return rows
        if isinstance(rows, list):
            return [[0.0 if at is None else row[at] for at in order] for row in rows]
        import numpy

        found = numpy.zeros((len(rows), len(order)))
        for to, at in enumerate(order):
            if at is not None:
                found[:, to] = rows[:, at]
        return found

    def predict_proba(self, X):
        """The probability of each class for each text; of several labels, of each by itself."""
        return self._probabilities(X)

    def predict_log_proba(self, X):
        """The logarithms of the probabilities."""
        import numpy

        with numpy.errstate(divide="ignore"):
            return numpy.log(self._probabilities(X))

    def decision_function(self, X):
        """With two classes the log-odds of the second one, with several labels those of each; else
        the logarithms of probabilities."""
        import numpy

        rows = self._probabilities(X)
        logs = numpy.log(numpy.maximum(rows, 1e-300))
        if self._model.several:
            return logs - numpy.log(numpy.maximum(1 - rows, 1e-300))
        return logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs

    def predict(self, X):
        """The most probable class of each text, or which of several labels it has."""
        if self._trained().several:
            return self._indicator(X)
        rows = self._probabilities(X)
        if isinstance(rows, list):
            return [self.classes_[row.index(max(row))] for row in rows]
        # Of equally probable classes the first one.
        return self.classes_[rows.argmax(axis=1)]

    def _indicator(self, X):
        """A column for each label, with 1 where a text has it."""
        found = self._model.predict_labels(self._texts(X, reset=False), threads=self._threads())
        names = [_name(one) for one in self.classes_]
        rows = [[int(name in labels) for name in names] for labels in map(set, found)]
        try:
            import numpy
        except ImportError:
            return rows
        return numpy.array(rows, dtype=int).reshape(len(rows), len(names))

    def explain(self, text):
        """Which words of a text speak for its class, and which against it."""
        return self._trained().explain(text)

    def __getstate__(self):
        """Parameters, classes, and the model's bytes: nothing that could be run."""
        state = {name: getattr(self, name) for name in self._parameters}
        others = set(vars(self)) - {*state, *_FITTED, "_model", "_waiting"}
        state.update((name, vars(self)[name]) for name in sorted(others))
        if self.__sklearn_is_fitted__():
            classes, kind = self.classes_, None
            if not isinstance(classes, list):
                classes, kind = classes.tolist(), classes.dtype.str
            state["classes_"] = (classes, kind)
            if self._model is not None:
                state["model_"] = self._model.to_bytes()
            else:
                state["_texts_"] = self._waiting.documents()
        return state

    def __setstate__(self, state):
        state = dict(state)
        classes, model = state.pop("classes_", None), state.pop("model_", None)
        texts = state.pop("_texts_", None)
        self.__dict__.update(state)
        if classes is None:
            return
        self.classes_ = _array(*classes)
        self._model = model and Model.from_bytes(model)
        self._waiting = None
        if texts is not None:
            self._waiting = self._trainer(keep=True)
            self._waiting.add(*texts)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.classifier_tags.multi_label = True
        return tags


def _name(label):
    """What a class is called in the model."""
    if isinstance(label, bytes):
        raise TypeError("labels must be str or numbers, not bytes")
    if isinstance(label, str):
        return str(label)
    return repr(getattr(label, "item", lambda: label)())


def _array(classes, kind):
    if kind is None:
        return classes
    import numpy

    return numpy.array(classes, dtype=object if kind == "|O" else kind)


def _matrix(y):
    """The numbers of the columns of a matrix of labels, and the names of each text's labels."""
    rows = y.toarray() if hasattr(y, "toarray") else getattr(y, "values", y)
    names = [[str(at) for at, one in enumerate(row) if one] for row in rows]
    classes = range(max(map(len, rows), default=0))
    try:
        import numpy
    except ImportError:
        return list(classes), names
    return numpy.array(classes), names


def _labels(y):
    """The classes in their order, and the names of the labels."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    check_classification_targets(y)
    try:
        import numpy
    except ImportError:
        return sorted(set(y)), [_name(label) for label in y]
    classes, places = numpy.unique(numpy.asarray(y), return_inverse=True)
    names = [_name(label) for label in classes]
    return classes, [names[at] for at in places.ravel()]
