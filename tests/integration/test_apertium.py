"""Apertium itself: no sentence influences another one, and the relations of translation run on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.data.sentences import load_sentences
from datamorphic.relations.check.result import CheckReport
from datamorphic.systems.translator import explain_missing_apertium

WHY = explain_missing_apertium()
pytestmark = [pytest.mark.skipif(bool(WHY), reason=WHY), pytest.mark.slow]
#: texts that end within a phrase, so that a pipe which remembers them would translate the next one differently
UNFINISHED = [
    "He called Mr",
    "as soon as",
    "The dog of",
    "I saw the man who",
    "one of the most",
    "Do you",
    "John's",
    "New",
]
SPECIAL = [
    *(
        "",
        " ",
        "\n",
        "a\n\nb",
        "tab\there",
        "^x$ @ # * ~ / {a} [b] <c> \\ d\\",
        "[[t:b:1]]hi[[/]]",
        "<STREAMCMD:FLUSH>",
    ),
    *("😀 hi", "שלום world", "\u200bhi", "\x01 a", ".[]", "...", "e\u0301"),
]


@pytest.fixture(scope="module")
def translator() -> Iterator[dm.systems.ApertiumTranslator]:
    with dm.systems.ApertiumTranslator("eng-spa") as translator:
        yield translator


@pytest.fixture(scope="module")
def report(translator: dm.systems.ApertiumTranslator) -> CheckReport:
    relations = list(dm.relations.translation_relations().values())
    return dm.check(translator, load_sentences(), relations, seed=0)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_any_batch_equals_one_by_one(translator: dm.systems.ApertiumTranslator) -> None:
    texts = [*UNFINISHED, *SPECIAL, *load_sentences()["text"][::8]]
    with dm.systems.ApertiumTranslator("eng-spa") as other:
        single = {text: other.translate([text])[0] for text in texts}
    rng = np.random.default_rng(0)
    for size in (1, 3, 20, 60, 100):
        batch = [str(text) for text in rng.choice(np.array(texts, dtype=object), size)]
        assert translator.translate(batch) == [single[text] for text in batch]


def test_fresh_processes_give_the_same_translations(translator: dm.systems.ApertiumTranslator) -> None:
    for text in [
        "The cat drinks milk.",
        "He called Mr. Smith",
        "^x$ @ # * ~ / {a} [b] <c> \\ d\\",
        "one.\n\ntwo",
        "a\tb  c",
    ]:
        command = subprocess.run(["apertium", "eng-spa"], input=text.encode(), capture_output=True, check=True)
        translator.translate(["as soon as", "I saw the man who"])
        assert translator.translate([text]) == [command.stdout.decode()]


def test_what_is_known_of_this_pair(translator: dm.systems.ApertiumTranslator) -> None:
    assert translator.translate(["Mary likes water.", "mary likes water."]) == [
        "A Mary le gusta el agua.",
        "*mary Gusta agua.",
    ]
    with dm.systems.ApertiumTranslator("eng-spa", mark_unknown=False) as unmarked:
        assert unmarked.translate(["mary likes water."]) == ["mary Gusta agua."]


def test_stopped_and_killed_processes_are_replaced(translator: dm.systems.ApertiumTranslator) -> None:
    with dm.systems.ApertiumTranslator("eng-spa", timeout=1.0) as hasty:
        answer = hasty.translate(["The dog eats."])
        old = hasty.processes
        os.kill(old[3], signal.SIGSTOP)
        assert hasty.translate(["The dog eats."]) == answer
        os.kill(hasty.processes[-1], signal.SIGKILL)
        assert hasty.translate(["The dog eats."]) == answer
        assert not any(is_running(pid) for pid in old)


def test_no_process_outlives_python() -> None:
    code = (
        "import datamorphic as dm, os, sys; t = dm.systems.ApertiumTranslator(); t.translate(['a']); print(*t.processes, flush=True)\n"
        "if len(sys.argv) > 1: os.kill(os.getpid(), 9)"
    )
    for arguments in ([], ["killed"]):
        run = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)
        pids = [int(word) for word in run.stdout.split()]
        assert len(pids) == 11, run.stderr
        deadline = time.monotonic() + 20
        while any(is_running(pid) for pid in pids) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(is_running(pid) for pid in pids)


def test_every_relation_is_judged_on_fifty_groups(report: CheckReport) -> None:
    table = report.table.set_index("relation")
    assert (table["holds"] + table["violated"] >= 50).all()
    assert table["undefined"].sum() == 0
    assert table.loc["translation.MR3", "violated"] == 0
    violated = set(table.index[table["violated"] > 0])
    assert {
        "translation.HMR5",
        "translation.MRR2",
        "translation.MRR3",
        "translation.MRR4",
        "translation.MRR7",
    } <= violated
    for entry in report.entries:
        assert sum(entry.types.values()) == (0 if entry.relation == "translation.MR3" else entry.violated)


def test_the_page_shows_types_and_differences(report: CheckReport) -> None:
    page = report.to_html()
    assert "part of one of the two texts is not translated" in page
    assert "<ins>*ASAP.</ins>" in page


def test_pytest_assertions_and_the_store(translator: dm.systems.ApertiumTranslator, tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["Mary likes water.", "The dog eats."], "direction": "eng-spa"})
    relations = dm.relations.translation_relations()
    dm.assert_holds(translator, frame, relations["translation.MR3"])
    with pytest.raises(AssertionError, match=r"\*mary Gusta agua"):
        dm.assert_holds(translator, frame, relations["translation.MRR7"])
    store = tmp_path / "runs.db"
    dm.check(translator, frame, [relations["translation.MRR7"]], store=store)
    with dm.Store.open(store) as opened:
        assert [run.verb for run in opened.runs()] == ["check"]
