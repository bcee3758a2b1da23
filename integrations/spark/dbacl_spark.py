#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Learn and classify with dbacl on Apache Spark.

learn:     parts of the input are counted where they lie, the counts are merged in a
           tree, and the category is fitted once, on the driver. The category is, byte
           for byte, the one that `dbacl -l` makes of the same files in the same order.
classify:  NDJSON documents flow through one dbacl per partition; results come in order.

Executors may get lost: a part that is counted again gives the same bytes, and the place
of each part keeps it from being merged twice.
"""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile

from pyspark import SparkConf, SparkContext


def run(command, data=None):
    """Runs a command; returns its standard output, or fails with what it said."""
    done = subprocess.run(command, input=data, capture_output=True)
    if done.returncode != 0:
        what = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"{shlex.join(command)}: status {done.returncode}: {what}")
    return done.stdout


def parts_of(paths, cut):
    """The parts of the input in order: whole files, or ranges of `cut` bytes of text."""
    parts = []
    for path in paths:
        size = os.path.getsize(path)
        step = cut or max(size, 1)
        for start in range(0, max(size, 1), step):
            parts.append((len(parts), path, start, min(start + step, size)))
    return parts


def lines_in_range(path, start, end):
    """The lines that begin in a range of a file."""
    with open(path, "rb") as file:
        if start > 0:
            file.seek(start - 1)
            file.readline()
        begin = file.tell()
        if begin >= end:
            return b""
        data = file.read(end - begin)
        return data + (b"" if data.endswith(b"\n") else file.readline())


def counter(dbacl, options):
    """A function that counts the parts of a partition."""

    def count(parts):
        for place, path, start, end in parts:
            command = [dbacl, "--strict", *options, "--count", "-", "--place", str(place)]
            if (start, end) == (0, os.path.getsize(path)):
                yield run([*command, path])
            else:
                yield run(command, lines_in_range(path, start, end))

    return count


def merger(dbacl):
    """A function that merges two counts; the order does not matter."""

    def merge(left, right):
        with tempfile.TemporaryDirectory(prefix="dbacl-") as folder:
            names = [os.path.join(folder, name) for name in ("left", "right")]
            for name, data in zip(names, (left, right)):
                with open(name, "wb") as file:
                    file.write(data)
            return run([dbacl, "--strict", "--merge", "-", *names])

    return merge


def learn(context, args):
    parts = parts_of([os.path.abspath(path) for path in args.inputs], args.cut)
    options = shlex.split(args.count_options)
    rdd = context.parallelize(parts, len(parts)).mapPartitions(counter(args.dbacl, options))
    counts = rdd.treeReduce(merger(args.dbacl), depth=args.depth)
    run([args.dbacl, "--strict", "-l", os.path.abspath(args.category), "--fit", "-",
         *shlex.split(args.fit_options)], counts)


def classify(context, args):
    command = [args.dbacl, "--strict", "--input", "ndjson", "--threads", "1"]
    for category in args.categories:
        command += ["-c", os.path.abspath(category)]
    command += shlex.split(args.options)
    lines = context.textFile(args.input, args.partitions)
    lines.pipe(shlex.join(command), checkCode=True).saveAsTextFile(args.output)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--master", help="spark://HOST:PORT; default: that of spark-submit")
    parser.add_argument("--dbacl", default="dbacl", help="path of dbacl on all workers")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("learn", help="learn a category from files")
    one.add_argument("category")
    one.add_argument("inputs", nargs="+", help="files that all workers see under this name")
    one.add_argument("--count-options", default="", help="such as '-T email -w 2'")
    one.add_argument("--fit-options", default="", help="such as '-H 24'")
    one.add_argument("--cut", type=int, default=0,
                     help="cut texts into parts of so many bytes, between lines; not for mail, "
                          "markup and -S")
    one.add_argument("--depth", type=int, default=3, help="levels of the tree of merges")
    two = commands.add_parser("classify", help="classify NDJSON documents")
    two.add_argument("input", help='lines {"id": ..., "text": ...}; give each an id')
    two.add_argument("output", help="folder for the results, part-00000 and so on, in order")
    two.add_argument("-c", dest="categories", action="append", required=True)
    two.add_argument("--options", default="", help="more options of dbacl")
    two.add_argument("--partitions", type=int, default=None)
    args = parser.parse_args()
    conf = SparkConf().setAppName(f"dbacl {args.command}")
    if args.master:
        conf.setMaster(args.master)
    with SparkContext(conf=conf) as context:
        {"learn": learn, "classify": classify}[args.command](context, args)


if __name__ == "__main__":
    sys.exit(main())
