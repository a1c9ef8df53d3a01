"""A real translator, Apertium, and small mistakes that users make: a missing space, a small letter, a lost plural.

It needs Apertium (Debian, Ubuntu: apt install apertium apertium-eng-spa). Run it with: python examples/translator.py
"""

from __future__ import annotations

import pandas as pd

import datamorphic as dm
from datamorphic.systems.translator import explain_missing_apertium

if reason := explain_missing_apertium():
    raise SystemExit(reason)

texts = pd.DataFrame(
    {
        "text": [
            "Mary likes water. She drinks it at home.",
            "The farmer keeps horses. He lives near the river.",
            "My brother is at home. He reads books.",
        ],
        "direction": "eng-spa",
    }
)

with dm.systems.ApertiumTranslator("eng-spa") as translator:
    for text, translation in zip(texts["text"], translator.translate(texts["text"].tolist()), strict=True):
        print(f"{text}\n  {translation}")
    report = dm.check(translator, texts, list(dm.relations.translation_relations().values()))

print()
print(report.describe())
assert report.passed  # the same text is translated in the same way every time
