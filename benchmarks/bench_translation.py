"""How many sentences per second the open pipe of Apertium translates, against a new process per sentence."""

from __future__ import annotations

import subprocess

import datamorphic as dm
from benchmarks.timing import line, seconds
from datamorphic.data.sentences import load_sentences
from datamorphic.systems.translator import explain_missing_apertium


def main():
    if reason := explain_missing_apertium():
        line("skipped", "", reason)
        return
    texts = load_sentences()["text"].tolist()
    with dm.systems.ApertiumTranslator("eng-spa") as translator:
        line("start of the processes", f"{seconds(lambda: translator.translate(['a']), repeat=1):.2f} s")
        batch = seconds(lambda: translator.translate(texts * 5))
        line("570 texts in one batch", f"{5 * len(texts) / batch:,.0f} /s", "texts per second")
        single = seconds(lambda: [translator.translate([text]) for text in texts])
        line("one by one, the same processes", f"{len(texts) / single:,.0f} /s")
        relations = list(dm.relations.translation_relations().values())
        check = seconds(lambda: dm.check(translator, load_sentences(), relations, shrink=False), repeat=1)
        line("dm.check: 11 relations on 114 texts", f"{check:.1f} s")
    command = ["apertium", "eng-spa"]
    fresh = seconds(lambda: subprocess.run(command, input=texts[0].encode(), capture_output=True, check=True))
    line("the command apertium, a process per text", f"{1 / fresh:,.1f} /s")
