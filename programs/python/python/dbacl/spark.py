# SPDX-License-Identifier: GPL-3.0-or-later
"""Text classifiers on Apache Spark: an estimator for pipelines, and a function for SQL.

    from dbacl.spark import DbaclClassifier, register

    fitted = DbaclClassifier(inputCol="text", labelCol="topic").fit(frame)
    fitted.transform(more).select("id", "prediction", "probability")

    register(spark, "my.model", "topic")
    spark.sql("SELECT id, topic(text).label FROM texts")

pandas and Arrow must be installed where Spark runs Python.
"""

import itertools
import pathlib
import tempfile
import warnings

from pyspark import StorageLevel, keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasHandleInvalid,
    HasInputCol,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
)
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql import functions
from pyspark.sql.types import NumericType

from . import _dbacl
from .tables import model_of


class _Columns(HasInputCol, HasPredictionCol, HasProbabilityCol, HasHandleInvalid):
    """The columns of texts and answers."""

    def _set_columns(self):
        self._setDefault(inputCol="text", handleInvalid="keep")

    def setParams(self, **params):
        """Sets parameters by their names."""
        return self._set(**{name: value for name, value in params.items() if value is not None})

    def _rows(self, dataset, columns):
        """The rows that have these columns, or all, as `handleInvalid` says."""
        how = self.getOrDefault("handleInvalid")
        if how not in ("keep", "skip", "error"):
            raise ValueError(f"handleInvalid is 'keep', 'skip' or 'error', not {how!r}")
        if how == "error":
            missing = [functions.col(column).isNull() for column in columns]
            row = functions.concat(*[
                functions.when(one, f"{column} is null; ").otherwise("")
                for one, column in zip(missing, columns)
            ])
            bad = functions.length(row) > 0
            checked = functions.when(bad, functions.raise_error(row).cast("string"))
            text = functions.col(columns[0]).cast("string")
            return dataset.withColumn(columns[0], functions.coalesce(checked, text))
        return dataset.dropna(subset=columns) if how == "skip" else dataset


class DbaclClassifier(
    _Columns, Estimator, HasLabelCol, DefaultParamsReadable, DefaultParamsWritable
):
    """Learns labels of texts by words and characters, fitted together, with probabilities.

    Labels are strings or numbers; predictions are of the same kind. Up to `maxRows` rows are
    learned on the driver; of more, as many are drawn by a hash of their contents. With a `block`,
    all rows are learned on the executors, so many at a time, and the model is the one that
    `dbacl-text train --block` makes. Rows without text or label are left out, or end the fit with
    `handleInvalid="error"`. `options` are those of `dbacl.Trainer`.
    """

    options = Param(Params._dummy(), "options", "options of dbacl.Trainer", TypeConverters.identity)
    maxRows = Param(
        Params._dummy(), "maxRows", "rows that are learned without a block", TypeConverters.toInt
    )
    block = Param(Params._dummy(), "block", "rows of a block; 0 for none", TypeConverters.toInt)
    features = Param(
        Params._dummy(), "features", "features of a fit in blocks, at most", TypeConverters.toInt
    )

    @keyword_only
    def __init__(
        self, *, inputCol=None, labelCol=None, predictionCol=None, probabilityCol=None,
        handleInvalid=None, options=None, maxRows=None, block=None, features=None,
    ):
        super().__init__()
        self._set_columns()
        self._setDefault(options={}, maxRows=200000, block=0, features=1 << 19)
        self.setParams(**self._input_kwargs)

    def _fit(self, dataset):
        text, label = self.getInputCol(), self.getLabelCol()
        is_number = isinstance(dataset.schema[label].dataType, NumericType)
        rows = self._rows(dataset, [text, label])
        is_whole = functions.col(text).isNotNull() & functions.col(label).isNotNull()
        missing, whole = rows.agg(functions.count_if(~is_whole), functions.count_if(is_whole)).first()
        if missing:
            warnings.warn(f"{missing} rows without {text} or {label} are left out", stacklevel=3)
        name = functions.col(label)
        name = name.cast("double").cast("string") if is_number else name.cast("string")
        rows = rows.where(is_whole).select(
            name.alias("label"), functions.col(text).cast("string").alias("text")
        )
        options, block = self.getOrDefault("options"), self.getOrDefault("block")
        if block:
            pairs = rows.rdd.map(tuple)
            spark, features = dataset.sparkSession, self.getOrDefault("features")
            model = train_in_blocks(spark, pairs, block, features, options)
        else:
            drawn = _drawn(rows, whole, self.getOrDefault("maxRows"))
            model = _train_here(drawn.toLocalIterator(), options)
        fitted = DbaclModel(model, is_number)
        fitted._resetUid(self.uid)
        return self._copyValues(fitted)


class DbaclModel(_Columns, Model, MLWritable, MLReadable):
    """Labels texts: a column of predictions and one of the probabilities of all labels.

    A row without text gets neither; `handleInvalid` may be "skip" or "error" instead of "keep".
    `model` is the `dbacl.Model`, whose `labels` are in the order of the probabilities.
    """

    def __init__(self, model=None, is_number=False):
        super().__init__()
        self._set_columns()
        self.model = model
        self.is_number = is_number

    @property
    def labels(self):
        """The labels in the order of the probabilities."""
        return [float(label) if self.is_number else label for label in self.model.labels]

    def _transform(self, dataset):
        text = self.getInputCol()
        classify = _classify(dataset.sparkSession, self.model, True)
        found = classify(functions.col(text).cast("string"))
        rows = self._rows(dataset, [text]).withColumn("_dbacl", found)
        label = functions.col("_dbacl.label")
        every = functions.col("_dbacl.probabilities")
        columns = {
            self.getPredictionCol(): label.cast("double") if self.is_number else label,
            # A row without text has no vector.
            self.getProbabilityCol(): functions.when(every.isNotNull(), array_to_vector(
                functions.coalesce(every, functions.array().cast("array<double>"))
            )),
        }
        return rows.withColumns(columns).drop("_dbacl")

    def write(self):
        """What saves the model."""
        return _Writer(self)

    @classmethod
    def read(cls):
        """What loads a model."""
        return _Reader()


class _Writer(MLWriter):
    def __init__(self, instance):
        super().__init__()
        self.instance = instance

    def saveImpl(self, path):
        spark, own = self.sparkSession, self.instance
        DefaultParamsWriter.saveMetadata(own, path, spark, {"isNumber": own.is_number})
        row = spark.createDataFrame([(own.model.to_bytes(),)], "model binary")
        row.coalesce(1).write.parquet(f"{path}/data")


class _Reader(MLReader):
    def load(self, path):
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        data = self.sparkSession.read.parquet(f"{path}/data").first().model
        found = DbaclModel(_dbacl.Model.from_bytes(bytes(data)), metadata["isNumber"])
        found._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(found, metadata)
        return found


def register(spark, model, name="dbacl"):
    """Makes a model, or the file of one, the SQL function `name` of a session.

    Its argument is a text, and its answer has the fields `label` and `probability`, both null for a
    missing text. The model is sent to each executor once. The function is returned, too.
    """
    return spark.udf.register(name, _classify(spark, model_of(model), False))


def _classify(spark, model, with_all):
    """A function of a column of texts: the label with its probability or those of all labels."""
    if model.several:
        raise ValueError("texts may have several labels in this model; one is needed here")
    sent = spark.sparkContext.broadcast(model.to_bytes())
    second, kind = ("probabilities", "array<double>") if with_all else ("probability", "double")

    def classify(batches):
        import pandas
        import pyarrow

        own = _dbacl.Model.from_bytes(sent.value)
        labels = own.labels
        for batch in batches:
            texts = pyarrow.array(batch, pyarrow.string(), from_pandas=True)
            best = iter(own.top(texts.drop_null(), len(labels) if with_all else 1))
            rows = []
            for known in texts.is_valid().to_pylist():
                # A missing answer has missing fields.
                pairs = next(best) if known else [(None, None)]
                label, probability = pairs[0]
                if with_all and known:
                    every = dict(pairs)
                    probability = [every[name] for name in labels]
                rows.append((label, probability))
            yield pandas.DataFrame(rows, columns=["label", second], dtype=object)

    # Spark tells by the types that the function takes batches; pandas is not imported with this
    # module.
    classify.__annotations__ = _types_of_batches()
    return functions.pandas_udf(classify, f"label string, {second} {kind}")


def _types_of_batches():
    import typing

    import pandas

    return {
        "batches": typing.Iterator[pandas.Series],
        "return": typing.Iterator[pandas.DataFrame],
    }


def _drawn(rows, count, most):
    """About `most` of `count` rows at most, in an order that does not depend on where they lie."""
    if count > most:
        place = functions.pmod(functions.xxhash64("label", "text"), functions.lit(count))
        rows = rows.where(place < most)
    return rows.orderBy("label", "text")


def _train_here(rows, options):
    """Trains a model of labels and texts in this process, some thousand rows at a time."""
    trainer, rows = _dbacl.Trainer(**options), iter(rows)
    while own := list(itertools.islice(rows, 4096)):
        labels, texts = zip(*own)
        trainer.add(texts, labels)
    return trainer.train()


def _plan_of(settings):
    """The plan, in the driver and in each executor."""
    trainer = _dbacl.Trainer(**settings["options"])
    sizes = {name: settings[name] for name in ("block", "features")}
    return _dbacl.BlockPlan(trainer, settings["labels"], **sizes)


def train_in_blocks(spark, rows, block, features, options):
    """Trains a model of an RDD of labels and texts on the executors, a block of rows at a time.

    The rows are dealt to blocks and the blocks to at most eight chains. A chain is the work of one
    executor at a time, so at most eight are busy with it. No record holds more than the texts of
    one block; an executor goes through its chain block by block. The model is, byte for byte, the
    one that `dbacl-text train` with the same `--block` makes of the same rows, for any number of
    executors and after the loss of some.
    """
    context = spark.sparkContext
    settings = {"options": options, "block": block, "features": features}
    rows = rows.zipWithIndex()
    rows.persist(StorageLevel.MEMORY_AND_DISK)
    counts = rows.map(lambda row: (row[0][0], 1)).reduceByKey(lambda a, b: a + b)
    labels = sorted(counts.collect())
    texts = sum(count for _, count in labels)
    if texts <= block:
        # One block: the model of all texts at once.
        return _train_here((row for row, _ in rows.toLocalIterator()), options)
    settings["labels"] = len(labels)
    numbers = {label: number for number, (label, _) in enumerate(labels)}
    segments = rows.map(lambda row: (row[1] // block, (row[1], row[0][1]))).groupByKey()
    tallies = segments.mapPartitions(_tallier(settings)).sortByKey()
    plan = _plan_of(settings)
    frame = plan.frame(tally for _, tally in tallies.toLocalIterator())
    number = _dbacl.BlockPlan.chains(frame)
    sent = context.broadcast(frame)

    def dealt(part):
        plan = _plan_of(settings)
        for (label, text), at in part:
            yield plan.place(at, texts), (at, numbers[label], text)

    blocks = rows.mapPartitions(dealt).groupByKey().mapPartitions(_numberer(settings, sent))
    # A part for each chain, with its blocks in their order.
    shares = blocks.repartitionAndSortWithinPartitions(number, lambda place: place[0])
    shares.persist(StorageLevel.MEMORY_AND_DISK)
    now = [shares]

    def ask(task):
        task = context.broadcast(task)
        done = now[0].mapPartitions(_worker(sent, task), preservesPartitioning=True)
        done.persist(StorageLevel.MEMORY_AND_DISK)
        answers = done.filter(lambda record: record[0][1] == ANSWER)
        found = {chain: answer for (chain, _), answer in answers.collect()}
        # What was there before stays until the next state is there, and is made again from the
        # lines if an executor is lost.
        now[0] = done.filter(lambda record: record[0][1] != ANSWER)
        return [found[chain] for chain in range(number)]

    with tempfile.TemporaryDirectory() as folder:
        return plan.train(frame, labels, ask, pathlib.Path(folder))


def _tallier(settings):
    def tally(segments):
        plan = _plan_of(settings)
        for number, rows in segments:
            yield number, plan.tally([text for _, text in sorted(rows)])

    return tally


def _numberer(settings, frame):
    def number(blocks):
        plan = _plan_of(settings)
        for place, rows in blocks:
            numbers, labels, texts = zip(*sorted(rows))
            yield place, (plan.numbered(frame.value, numbers, labels, texts), b"")

    return number


# In place of a block's number: the record is the answer of a chain.
ANSWER = -1


def _worker(frame, task):
    def work(records):
        own = None
        for (chain, number), (block, state) in records:
            own = own or _dbacl.BlockWork(frame.value, task.value)
            yield (chain, number), (block, own.add(block, state))
        if own:
            yield (chain, ANSWER), own.answer()

    return work
