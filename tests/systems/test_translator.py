"""The open pipe of Apertium's programs, with a stand-in for the programs; tests/integration/test_apertium.py has the real ones."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import datamorphic as dm
from datamorphic.errors import ArgumentError, ModelError
from datamorphic.space.outputs import Status
from datamorphic.systems.missing_packages import MissingPackage
from datamorphic.systems.translator import (
    explain_missing_apertium,
    from_block,
    list_pairs,
    read_pipe_commands,
    to_block,
)
from support.cases import in_one_test

#: answers each block in upper case; some words make it end, hang, or complain
STAND_IN = f"""#!{sys.executable} -S
import os, sys, time
log = open(os.environ["STAND_IN_LOG"], "a")
log.write("start "); log.flush()
rest = b""
while chunk := os.read(0, 65536):
    *blocks, rest = (rest + chunk).split(b"\\0")
    for block in blocks:
        if b"die" in block or (b"once" in block and open(os.environ["STAND_IN_LOG"]).read().count("start") < 3):
            sys.exit("no more")
        if b"hang" in block:
            time.sleep(60)
        os.write(1, block.upper() + b"\\0")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "modes").mkdir()
    (tmp_path / "modes" / "aaa-bbb.mode").write_text("lt-proc 'x.bin' | lt-proc $1 'y.bin'")
    (tmp_path / "modes" / "bbb-aaa.mode").write_text("lt-proc 'x.bin' | apertium-tagger -g $2 'z.prob'")
    (tmp_path / "modes" / "odd.mode").write_text("lt-proc 'x.bin' | rm -rf /")
    for name in ("lt-proc", "apertium-tagger"):
        (tmp_path / name).write_text(STAND_IN)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("APERTIUM_DATADIR", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("STAND_IN_LOG", str(tmp_path / "log"))
    return tmp_path


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@given(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_any_text_survives_the_stream_format(text: str) -> None:
    assert from_block(to_block(text)) == text


def test_commands_come_from_the_mode_file(folder: Path) -> None:
    assert list_pairs() == ["aaa-bbb", "bbb-aaa", "odd"]
    program, tagger = str(folder / "lt-proc"), str(folder / "apertium-tagger")
    marked = read_pipe_commands("aaa-bbb", mark_unknown=True)
    assert marked == [[program, "-z", "x.bin"], [program, "-z", "-g", "y.bin"]]
    assert read_pipe_commands("aaa-bbb", mark_unknown=False)[1] == [program, "-z", "-n", "y.bin"]
    assert read_pipe_commands("bbb-aaa", mark_unknown=True)[1] == [tagger, "-z", "-g", "z.prob"]


def test_what_is_missing_is_said_in_one_line(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match=r"no translation direction 'eng-xyz' here. Installed: aaa-bbb, bbb-aaa, odd"):
        dm.systems.ApertiumTranslator("eng-xyz").translate(["a"])
    with pytest.raises(ModelError, match="uses the program 'rm', which is not known to work in an open pipe"):
        dm.systems.ApertiumTranslator("odd").translate(["a"])
    (folder / "apertium-tagger").unlink()
    with pytest.raises(MissingPackage, match="'apertium-tagger' of Apertium is not installed"):
        dm.systems.ApertiumTranslator("bbb-aaa").translate(["a"])
    monkeypatch.setenv("APERTIUM_DATADIR", str(tmp_path / "nothing"))
    assert explain_missing_apertium() == (
        "Apertium is not installed. Install it (Debian, Ubuntu): apt install apertium apertium-eng-spa"
    )


def test_texts_are_translated_in_order_and_per_direction(folder: Path) -> None:
    frame = pd.DataFrame(
        {"text": ["one", "two", "", "3 $ @"], "direction": ["aaa-bbb", "bbb-aaa", "aaa-bbb", "aaa-bbb"]}
    )
    with dm.systems.ApertiumTranslator("aaa-bbb") as translator:
        assert translator.processes == ()
        assert translator.execute(frame).values.tolist() == ["ONE", "TWO", "", "3 $ @"]
        pids = translator.processes
        assert len(pids) == 4
        assert all(map(is_running, pids))
        assert translator.translate(["again"]) == ["AGAIN"]
        assert translator.processes == pids
        copied = pickle.loads(pickle.dumps(translator))
        assert copied.processes == ()
        assert copied.translate(["copy"]) == ["COPY"]
        copied_pids = copied.processes
        del copied
    assert not any(map(is_running, (*pids, *copied_pids)))
    assert translator.translate(["reopened"]) == ["REOPENED"]
    translator.close()


def test_shallow_copies_share_the_processes(folder: Path) -> None:
    translator = dm.systems.ApertiumTranslator("aaa-bbb")
    translator.translate(["a"])
    twin = copy.copy(translator)
    pids = translator.processes
    del translator
    assert twin.translate(["b"]) == ["B"]
    assert twin.processes == pids
    del twin
    assert not any(map(is_running, pids))


@pytest.mark.slow
def test_a_batch_is_asked_again_once_then_a_row_has_an_error(folder: Path) -> None:
    texts = ["first", "die", "between", "hang", "last"]
    with dm.systems.ApertiumTranslator("aaa-bbb", timeout=5) as translator:
        outputs = translator.execute(pd.DataFrame({"text": texts}))
    assert outputs.status.tolist() == [Status.OK, Status.DIED, Status.OK, Status.TIMEOUT, Status.OK]
    assert outputs.values[[0, 2, 4]].tolist() == ["FIRST", "BETWEEN", "LAST"]
    assert outputs.messages == {
        1: "Apertium exited at this text, in two attempts: no more",
        3: "Apertium gave no translation within 5 s, in two attempts",
    }


def test_a_pipe_that_ends_once_is_started_again(folder: Path) -> None:
    with dm.systems.ApertiumTranslator("aaa-bbb") as translator:
        assert translator.translate(["a", "once", "b"]) == ["A", "ONCE", "B"]


def test_a_direction_that_does_not_work_is_an_error_at_the_start(folder: Path) -> None:
    (folder / "lt-proc").write_text(f"#!{sys.executable} -S\nimport sys; sys.exit('cannot open x.bin')\n")
    with pytest.raises(ModelError, match=r"Apertium aaa-bbb does not work \(cannot open x.bin\)"):
        dm.systems.ApertiumTranslator("aaa-bbb").translate(["a"])


def test_texts_that_cannot_be_sent_have_an_error_each(folder: Path) -> None:
    texts = pd.Series(["fine", "a\0b", None, 3, "\ud800", "x " * 100, "y" * 1001], dtype=object)
    with dm.systems.ApertiumTranslator("aaa-bbb", max_characters=150) as translator:
        outputs = translator.execute(pd.DataFrame({"text": texts}))
        longer = dm.systems.ApertiumTranslator("aaa-bbb").execute(pd.DataFrame({"text": texts[6:]}))
        directions = translator.execute(pd.DataFrame({"text": ["a"], "direction": [np.nan]}))
    assert outputs.ok.tolist() == [True, *[False] * 6]
    assert outputs.messages[1].startswith("the text has a NUL character")
    assert outputs.messages[3] == "a text is needed, not int"
    assert outputs.messages[4].startswith("the text has half of a surrogate pair")
    assert outputs.messages[5] == "the text has 200 characters, and at most 150 are translated (max_characters=)"
    assert longer.messages[0].startswith("the text has a word of more than 1,000 characters")
    assert directions.messages[0] == "the direction must be a text like 'aaa-bbb', not nan"


@in_one_test(
    ("arguments", "message"),
    [
        ({"pair": "../../etc"}, "pair"),
        ({"pair": 3}, "pair"),
        ({"column": ""}, "column"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": "soon"}, "timeout"),
        ({"max_characters": 0}, "max_characters"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        dm.systems.ApertiumTranslator(**arguments)  # type: ignore[arg-type]


def test_bad_queries(folder: Path) -> None:
    translator = dm.systems.ApertiumTranslator("aaa-bbb")
    with pytest.raises(ArgumentError, match="needs a column 'text' with the texts"):
        translator.execute(pd.DataFrame({"texts": ["a"]}))
    with pytest.raises(ArgumentError, match="a list of texts"):
        translator.translate("a")
    with pytest.raises(ModelError, match="Text 2 of 2 was not translated: the text has a NUL"):
        translator.translate(["a", "\0"])
    translator.close()
