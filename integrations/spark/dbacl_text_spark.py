#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Train, test and use text classifiers on Apache Spark, with the Python module `dbacl`.

train:    learns lines of label, tab and text in blocks on the executors. The model is, byte for
          byte, the one that `dbacl-text train` with the same `--block` makes of the same lines.
test:     counts right and wrong labels of such lines.
predict:  labels texts, one a line.

Lines without a tab are left out, and counted. For data frames see `dbacl.spark`.
"""

import argparse
import json
import sys

import dbacl
from dbacl.spark import train_in_blocks
from pyspark.sql import SparkSession


def labelled(line):
    """Label and text of a line."""
    label, _, text = line.partition("\t")
    return label, text


def report_others(spark, path, lines):
    """Says how many lines have no tab between label and text, and where the first of them are."""
    others = lines.filter(lambda line: line and "\t" not in line).count()
    if not others:
        return
    print(f"warning: lines without a tab between label and text are left out: {others}, such as",
          file=sys.stderr)
    rows = spark.read.text(path).where("value != '' and not contains(value, '\t')")
    for row in rows.select("_metadata.file_path", "value").head(5):
        print(f"  {row.file_path}: {row.value[:60]!r}", file=sys.stderr)


def train(spark, args):
    lines = spark.sparkContext.textFile(args.input, args.partitions)
    report_others(spark, args.input, lines)
    rows = lines.filter(lambda line: "\t" in line).map(labelled)
    options = json.loads(args.options)
    train_in_blocks(spark, rows, args.block, args.features, options).save(args.model)


def judge(model, count, column):
    """A function that labels the texts of a column, a batch of pandas at a time."""

    def each(batches):
        import pandas

        own = dbacl.Model.from_bytes(model.value)
        for batch in batches:
            top = own.top(batch[column], count)
            lines = ["\t".join(f"{label}\t{p:.6f}" for label, p in found) for found in top]
            yield pandas.DataFrame({"value": lines})

    return each


def predict(spark, args):
    with open(args.model, "rb") as file:
        model = spark.sparkContext.broadcast(file.read())
    texts = spark.read.text(args.input)
    labels = texts.mapInPandas(judge(model, args.labels, "value"), "value string")
    labels.write.text(args.output)


def test(spark, args):
    with open(args.model, "rb") as file:
        bytes_of_model = file.read()
    known = dbacl.Model.from_bytes(bytes_of_model).labels
    model = spark.sparkContext.broadcast(bytes_of_model)

    def each(batches):
        import pandas

        own = dbacl.Model.from_bytes(model.value)
        for batch in batches:
            pairs = [labelled(line) for line in batch["value"] if "\t" in line]
            found = own.predict([text for _, text in pairs])
            yield pandas.DataFrame({"truth": [label for label, _ in pairs], "label": found})

    report_others(spark, args.input, spark.sparkContext.textFile(args.input))
    lines = spark.read.text(args.input)
    judged = lines.mapInPandas(each, "truth string, label string")
    cells = {(row.truth, row.label): row["count"]
             for row in judged.groupBy("truth", "label").count().collect()}
    report(cells, known)


def report(cells, known):
    """Prints accuracy and macro-averaged F1 from the numbers of texts by truth and label."""
    all_texts = sum(cells.values())
    right = sum(count for (truth, label), count in cells.items() if truth == label)
    scores = []
    for label in known:
        own = sum(count for (truth, _), count in cells.items() if truth == label)
        called = sum(count for (_, found), count in cells.items() if found == label)
        if own:
            scores.append(2 * cells.get((label, label), 0) / (own + called))
    print(json.dumps({
        "documents": all_texts,
        "accuracy": right / all_texts if all_texts else None,
        "macro_f1": sum(scores) / len(scores) if scores else None,
    }))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--master", help="spark://HOST:PORT; default: that of spark-submit")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("train", help="train a model on labelled lines")
    one.add_argument("input", help="lines of label, tab and text that all workers can read")
    one.add_argument("model", help="the model's file, on the driver")
    one.add_argument("--block", type=int, default=20000, help="texts of a block")
    one.add_argument("--features", type=int, default=1 << 19,
                     help="words or runs of words that take part, at most")
    one.add_argument("--options", default="{}",
                     help="options of dbacl.Trainer as JSON, such as '{\"preset\": \"chars\"}'")
    one.add_argument("--partitions", type=int, default=None, help="parts of the input")
    two = commands.add_parser("test", help="count right and wrong labels of labelled lines")
    two.add_argument("model")
    two.add_argument("input")
    three = commands.add_parser("predict", help="label texts, one a line")
    three.add_argument("model")
    three.add_argument("input")
    three.add_argument("output", help="folder for the results, part-00000 and so on, in order")
    three.add_argument("-k", dest="labels", type=int, default=1, help="labels for each text")
    args = parser.parse_args()
    builder = SparkSession.builder.appName(f"dbacl-text {args.command}")
    if args.master:
        builder = builder.master(args.master)
    spark = builder.getOrCreate()
    try:
        {"train": train, "test": test, "predict": predict}[args.command](spark, args)
    finally:
        spark.stop()


if __name__ == "__main__":
    sys.exit(main())
