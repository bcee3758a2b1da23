#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Language identifiers on the same sentences: a model of dbacl-text, and those that can be imported.

    languages.py DBACL-TEXT TRAIN.tsv TEST.tsv [MODEL...]

A model of TRAIN.tsv is made; other models, such as models/languages.model, get a line each, too.

Lines are a language's code, a tab and a sentence. A Markdown table: size of what the tool needs, right
answers on whole sentences and on their first three words, sentences a second on one thread, and how much
noise (random letters) gets no language or one with a probability below 0.5. Detectors that can be told the
possible languages are. Peers: pip install heliport langdetect langid lingua-language-detector py3langid pycld2.
"""

import os
import random
import subprocess
import sys
import tempfile
import time

# Other names of the same languages.
SAME = {
    "ara": "ar", "arb": "ar", "azj": "az", "cmn": "zh", "ekk": "et", "khk": "mn", "lvs": "lv", "als": "sq",
    "pes": "fa", "swh": "sw", "zsm": "ms", "iw": "he", "no": "nb", "zh-cn": "zh", "zh-tw": "zh", "zh-Hant": "zh",
}


def ours(program, train, folder):
    model = os.path.join(folder, "model")
    start = time.perf_counter()
    subprocess.run([program, "train", "-q", "-o", model, train], check=True)
    print(f"dbacl-text learned in {time.perf_counter() - start:.1f} s", file=sys.stderr)
    return asking(program, model)


def asking(program, model):
    def detect(sentences):
        text = "".join(sentence + "\n" for sentence in sentences)
        run = subprocess.run([program, "predict", model], input=text, capture_output=True, text=True, check=True)
        rows = [line.split("\t") for line in run.stdout.splitlines()]
        return [(label, float(probability)) for label, probability in rows]

    return detect, os.path.getsize(model)


def each(one):
    return lambda sentences: [one(sentence) for sentence in sentences]


def peers(known):
    def py3langid():
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        model.set_languages([code for code in known if code in set(model.labels)])

        def one(text):
            code, probability = model.classify(text)
            return code, float(probability)

        return each(one)

    def langid():
        from langid.langid import LanguageIdentifier, model

        found = LanguageIdentifier.from_modelstring(model, norm_probs=True)
        found.set_languages([code for code in known if code in found.nb_classes])
        return each(found.classify)

    def lingua():
        from lingua import LanguageDetectorBuilder

        model = LanguageDetectorBuilder.from_all_languages().with_preloaded_language_models().build()

        def one(text):
            best = model.compute_language_confidence_values(text)[0]
            return best.language.iso_code_639_1.name.lower(), best.value

        return each(one)

    def heliport():
        from heliport import Identifier
        from lingua import Language

        two = {}
        for language in Language.all():
            two[language.iso_code_639_3.name.lower()] = language.iso_code_639_1.name.lower()
        model = Identifier()

        def one(text):
            code = str(model.identify(text))
            return two.get(code, code), 0.0 if code == "und" else 1.0

        return each(one)

    def pycld2():
        import pycld2

        def one(text):
            clean = "".join(c for c in text if c.isprintable())
            is_reliable, _, details = pycld2.detect(clean)
            return details[0][1], 1.0 if is_reliable else 0.0

        return each(one)

    def langdetect():
        import langdetect

        langdetect.DetectorFactory.seed = 0

        def one(text):
            try:
                best = langdetect.detect_langs(text)[0]
            except langdetect.LangDetectException:
                return "und", 0.0
            return best.lang, best.prob

        return each(one)

    return [(make.__name__, make) for make in (heliport, langdetect, langid, lingua, py3langid, pycld2)]


def size_of(name):
    import importlib

    module = importlib.import_module(name)
    folder = os.path.dirname(module.__file__)
    return sum(os.path.getsize(os.path.join(at, file)) for at, _, files in os.walk(folder) for file in files if not file.endswith(".pyc"))


def noise(number):
    draw = random.Random(1)
    word = lambda: "".join(draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(draw.randint(3, 9)))
    return [" ".join(word() for _ in range(8)) for _ in range(number)]


def main():
    program, train, test, *models = sys.argv[1:]
    rows = [line.rstrip("\n").split("\t", 1) for line in open(test, encoding="utf-8")]
    truths, texts = [row[0] for row in rows], [row[1] for row in rows]
    known = sorted(set(truths))
    # Languages without blanks have no words to count: the first ten characters.
    short = [" ".join(text.split()[:3]) if " " in text else text[:10] for text in texts]
    print("| tool | MB | whole sentences % | three words % | sentences/s | noise refused % |")
    print("|---|---|---|---|---|---|")
    room = tempfile.TemporaryDirectory()
    tools = [("dbacl-text", lambda: ours(program, train, room.name))]
    tools += [(os.path.basename(model), lambda model=model: asking(program, model)) for model in models]
    tools += [(name, lambda make=make, name=name: (make(), size_of(name))) for name, make in peers(known)]
    for name, make in tools:
        try:
            detect, size = make()
        except ImportError as error:
            print(f"SKIPPED {name}: {error}", file=sys.stderr)
            continue
        right = lambda found: sum(SAME.get(one, one) == truth for (one, _), truth in zip(found, truths))
        detect(texts[:100])
        start = time.process_time() + sum(os.times()[2:4])
        found = detect(texts)
        seconds = time.process_time() + sum(os.times()[2:4]) - start
        shares = [100 * right(answers) / len(texts) for answers in (found, detect(short))]
        refused = detect(noise(500))
        refused = 100 * sum(one == "und" or probability < 0.5 for one, probability in refused) / 500
        cells = [f"{size / 1e6:.1f}", *(f"{share:.2f}" for share in shares), f"{len(texts) / seconds:.0f}", f"{refused:.0f}"]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
