#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Train, test and use text classifiers on Apache Spark, with the Python module `dbacl`.

train:    lines of label, tab and text are dealt to blocks and the blocks to chains, which
          executors fit. The model is, byte for byte, the one that `dbacl-text train` with the
          same `--block` makes of the same lines, for any number of executors and after the
          loss of some.
test:     counts right and wrong labels of such lines.
predict:  labels texts, one a line.
"""

import argparse
import json
import sys
import tempfile

import dbacl
from pyspark import StorageLevel
from pyspark.sql import SparkSession


def labelled(line):
    """Label and text of a line."""
    label, tab, text = line.partition("\t")
    if not tab:
        raise ValueError(f"there is no tab between label and text: {line[:40]!r}")
    return label, text


def plan_of(settings):
    """The plan, in the driver and in each executor."""
    trainer = dbacl.Trainer(**settings["options"])
    sizes = {name: settings[name] for name in ("block", "features")}
    return dbacl.BlockPlan(trainer, settings["labels"], **sizes)


def tallier(settings):
    def tally(segments):
        plan = plan_of(settings)
        for number, rows in segments:
            yield number, plan.tally([text for _, text in sorted(rows)])

    return tally


def numberer(settings, frame):
    def number(chains):
        plan = plan_of(settings)
        for chain, rows in chains:
            numbers, labels, texts = zip(*sorted(rows))
            yield chain, (plan.numbered(frame.value, numbers, labels, texts), b"")

    return number


def worker(frame, task):
    def work(share):
        blocks, state = share
        answer, state = dbacl.BlockPlan.work(frame.value, task.value, blocks, state)
        return answer, blocks, state

    return work


def train(spark, args):
    context = spark.sparkContext
    settings = {
        "options": json.loads(args.options),
        "block": args.block,
        "features": args.features,
    }
    lines = context.textFile(args.input, args.partitions).filter(bool)
    rows = lines.map(labelled).zipWithIndex()
    rows.persist(StorageLevel.MEMORY_AND_DISK)
    counts = rows.map(lambda row: (row[0][0], 1)).reduceByKey(lambda a, b: a + b)
    labels = sorted(counts.collect())
    texts = sum(count for _, count in labels)
    if texts <= args.block:
        # One block: the model of all texts at once.
        trainer = dbacl.Trainer(**settings["options"])
        for (label, text), _ in rows.toLocalIterator():
            trainer.add([text], [label])
        trainer.train().save(args.model)
        return
    settings["labels"] = len(labels)
    numbers = {label: number for number, (label, _) in enumerate(labels)}
    block = args.block
    segments = rows.map(lambda row: (row[1] // block, (row[1], row[0][1]))).groupByKey()
    tallies = segments.mapPartitions(tallier(settings)).sortByKey()
    plan = plan_of(settings)
    frame = plan.frame(tally for _, tally in tallies.toLocalIterator())
    number = dbacl.BlockPlan.chains(frame)
    sent = context.broadcast(frame)

    def chained(part):
        plan = plan_of(settings)
        for (label, text), at in part:
            yield plan.chain(at, texts), (at, numbers[label], text)

    chains = rows.mapPartitions(chained).groupByKey(number)
    shares = chains.mapPartitions(numberer(settings, sent))
    shares.persist(StorageLevel.MEMORY_AND_DISK)
    now = [shares]

    def ask(task):
        task = context.broadcast(task)
        done = now[0].mapValues(worker(sent, task)).persist(StorageLevel.MEMORY_AND_DISK)
        answers = dict(done.mapValues(lambda share: share[0]).collect())
        # What was there before stays until the next state is there, and is made again from the
        # lines if an executor is lost.
        now[0] = done.mapValues(lambda share: (share[1], share[2]))
        return [answers[chain] for chain in range(number)]

    with tempfile.TemporaryDirectory() as folder:
        plan.train(frame, labels, ask, folder).save(args.model)


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
            pairs = [labelled(line) for line in batch["value"] if line]
            found = own.predict([text for _, text in pairs])
            yield pandas.DataFrame({"truth": [label for label, _ in pairs], "label": found})

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
