#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures `dbacl-text serve`: times of requests with one text, and texts a second in lists.

    serve.py DBACL_TEXT MODEL TEXTS [--seconds S] [--number N]

TEXTS holds lines `LABEL<tab>TEXT`. One client sends one text at a time over one connection; two
clients, each with one connection, send lists of N texts. Clients and server share the processors.
Prints a row of JSON.
"""

import argparse
import http.client
import json
import multiprocessing
import socket
import subprocess
import time


def texts_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return [line.rstrip("\n").partition("\t")[2] for line in file]


def ask(connection, body):
    connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    data = answer.read()
    assert answer.status == 200, data
    return data


def connect(address):
    connection = http.client.HTTPConnection(address)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def lists(address, bodies, seconds, results):
    """Sends lists for some seconds; says how many it sent."""
    connection, end, sent = connect(address), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        ask(connection, bodies[sent % len(bodies)])
        sent += 1
    results.put(sent)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("texts")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--number", type=int, default=100)
    given = parser.parse_args()
    words = [given.program, "serve", given.model, "--listen", "127.0.0.1:0"]
    server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    address = server.stderr.readline().split()[-1]
    texts = texts_of(given.texts)
    connection, times, end = connect(address), [], time.monotonic() + given.seconds
    while time.monotonic() < end:
        body = json.dumps({"text": texts[len(times) % len(texts)]})
        start = time.perf_counter()
        ask(connection, body)
        times.append(time.perf_counter() - start)
    times.sort()
    starts = range(0, len(texts) - given.number + 1, given.number)
    bodies = [json.dumps(texts[at : at + given.number]) for at in starts]
    results = multiprocessing.Queue()
    arguments = (address, bodies, given.seconds, results)
    clients = [multiprocessing.Process(target=lists, args=arguments) for _ in range(2)]
    for client in clients:
        client.start()
    sent = sum(results.get() for _ in clients)
    server.terminate()
    row = {"requests": len(times), "requests_a_second": round(len(times) / given.seconds)}
    for percent in (50, 99):
        row[f"p{percent}_ms"] = round(1000 * times[len(times) * percent // 100], 3)
    row["texts_a_second"] = round(sent * given.number / given.seconds)
    print(json.dumps(row))


if __name__ == "__main__":
    main()
