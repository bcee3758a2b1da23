# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks `dbacl.spark` on the cluster that runs this: pipelines, searches, files, SQL, missing rows."""

import random
import sys
import warnings

from dbacl.spark import DbaclClassifier, DbaclModel, register
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import SQLTransformer
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from pyspark.sql import SparkSession

folder = sys.argv[1]
spark = SparkSession.builder.appName("frames").getOrCreate()
words = {"sea": ["whale", "ship", "sail"], "sky": ["star", "moon", "cloud"], "war": ["soldier", "gun", "army"]}
draw = random.Random(1)
rows = [(f"row {at}", topic, "the " + " ".join(draw.choices(words[topic], k=3)))
        for at, topic in enumerate([*words] * 40)]
rows += [("no label", None, "a ship"), ("no text", "sea", None)]
frame = spark.createDataFrame(rows, "id string, topic string, text string").repartition(3)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    fitted = DbaclClassifier(labelCol="topic").fit(frame)
assert any("2 rows without text or topic" in str(one.message) for one in caught), caught
assert fitted.labels == sorted(words) and isinstance(fitted, DbaclModel)
found = {row.id: row for row in fitted.transform(frame).collect()}
assert len(found) == 122 and found["no text"].prediction is found["no text"].probability is None
for row in found.values():
    if row.text and row.topic:
        assert row.prediction == row.topic and abs(sum(row.probability) - 1) < 1e-9, row
        assert row.probability[fitted.labels.index(row.topic)] > 0.8, row
assert fitted.copy().setParams(handleInvalid="skip").transform(frame).count() == 121
try:
    fitted.copy().setParams(handleInvalid="error").transform(frame).collect()
    raise SystemExit("FAILED: a missing text is no error")
except Exception as error:
    assert "text is null" in str(error), error
# The order and the parts of the rows do not matter.
again = DbaclClassifier(labelCol="topic").fit(frame.orderBy("text").repartition(7))
assert again.model.to_bytes() == fitted.model.to_bytes()
few = DbaclClassifier(labelCol="topic", maxRows=60, options={"preset": "words"}).fit(frame)
assert 40 < sum(few.model.documents.values()) < 80, few.model.documents
print("ok: an estimator of data frames")

lower = SQLTransformer(statement="SELECT *, lower(text) AS low FROM __THIS__")
pipeline = Pipeline(stages=[lower, DbaclClassifier(inputCol="low", labelCol="topic")])
pipeline.write().overwrite().save(f"{folder}/pipeline")
one = Pipeline.load(f"{folder}/pipeline").fit(frame)
one.write().overwrite().save(f"{folder}/fitted")
other = PipelineModel.load(f"{folder}/fitted")
answers = [model.transform(frame).orderBy("id").select("prediction", "probability").collect()
           for model in (one, other)]
assert answers[0] == answers[1]
print("ok: pipelines are saved and loaded")

numbers = frame.dropna().selectExpr("text", "CASE topic WHEN 'sea' THEN 0 WHEN 'sky' THEN 1 ELSE 2 END AS label")
estimator = DbaclClassifier()
search = CrossValidator(
    estimator=estimator,
    estimatorParamMaps=ParamGridBuilder().addGrid(estimator.options, [{"preset": "words"}, {"preset": "pairs"}]).build(),
    evaluator=MulticlassClassificationEvaluator(metricName="logLoss"), numFolds=2, seed=3)
best = search.fit(numbers)
assert len(best.avgMetrics) == 2 and max(best.avgMetrics) < 0.5, best.avgMetrics
right = MulticlassClassificationEvaluator(metricName="accuracy").evaluate(best.transform(numbers))
assert right == 1, right
print("ok: a search over options")

register(spark, fitted.model, "topic_of")
frame.createOrReplaceTempView("texts")
query = "SELECT id, topic, topic_of(text).label AS label, topic_of(text).probability AS p FROM texts"
for row in spark.sql(query).collect():
    expected = found[row.id]
    assert row.label == expected.prediction, row
    assert row.p == (expected.probability and max(expected.probability)), row
print("ok: a function of SQL")
spark.stop()
