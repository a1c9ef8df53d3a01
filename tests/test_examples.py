"""Every example script and notebook runs on its own."""

from __future__ import annotations

import ast
import functools
import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.systems.translator import explain_missing_apertium
from support.cases import LONG
from support.run_code import run_program

EXAMPLES = Path(__file__).parents[1] / "examples"
ELSEWHERE = ("test_", "conftest", "mistakes")  # test_docs.py runs the mistakes, one by one
SCRIPTS = sorted(file for file in EXAMPLES.glob("*.py") if not file.name.startswith(ELSEWHERE))
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def cells(notebook):
    document = json.loads(notebook.read_text(encoding="utf-8"))
    assert document["nbformat"] == 4
    return document["cells"]


@pytest.fixture(autouse=True)
def _in_empty_folder(monkeypatch, tmp_path):
    """Run everything in an empty folder, with the examples where Python looks for them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setenv("DATAMORPHIC_STORE", "none")
    if not LONG:  # the tutorial, in test_docs.py, has all checks
        monkeypatch.setattr(
            dm, "test", functools.partial(dm.test, only=["monotone", "invariant", "protected", "borders"])
        )


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_runs(script, tmp_path):
    if script.stem == "translator" and (reason := explain_missing_apertium()):
        pytest.skip(reason)
    if script.stem == "speech_detector" and importlib.util.find_spec("silero_vad") is None:
        pytest.skip("silero-vad is not installed: pip install --no-deps silero-vad")
    _, printed = run_program("python", str(script))
    assert printed or script.stem == "applicants"
    assert {file.name for file in tmp_path.iterdir()} <= {
        ".hypothesis"
    }  # nothing else is written to the current folder


@pytest.mark.slow
def test_example_suite_passes():
    suite = EXAMPLES / "test_loans.py"
    few = ("-o", "datamorphic_profiles=few: cases=1, seed=0", "--datamorphic-profile", "few")
    learners = () if LONG else ("-k", "not GaussianNB")
    code, printed = run_program("pytest", "-q", "-p", "no:cacheprovider", *few, *learners, str(suite))
    assert code == 0, printed
    assert re.search(r"^\d+ passed", printed, flags=re.MULTILINE), printed


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebook_runs(notebook):
    names = {"__name__": "notebook"}
    for number, cell in enumerate(cells(notebook)):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{notebook.name}, cell {number}", "exec"), names)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebook_is_small_and_has_an_introduction(notebook):
    first, *rest = cells(notebook)
    assert first["cell_type"] == "markdown"
    assert len("".join(first["source"])) > 40
    code = [cell for cell in rest if cell["cell_type"] == "code"]
    assert code
    for cell in code:  # stored outputs would be those of somebody's machine
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
    assert notebook.stat().st_size < 20_000


def test_the_speech_detector_hears_speech_that_lasts_and_pauses_that_last(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    import speech_detector

    speech, pause, between = [0.9], [0.1], [0.4]
    assert not speech_detector.has_speech(pause * 34)
    assert not speech_detector.has_speech(pause * 10 + speech * 7 + pause * 10)  # 224 ms
    assert speech_detector.has_speech(pause * 10 + speech * 8 + pause * 10)
    assert speech_detector.has_speech(speech * 4 + pause * 2 + speech * 4 + pause * 10)  # a short pause
    assert not speech_detector.has_speech(speech * 4 + pause * 5 + speech * 4 + pause * 10)
    assert speech_detector.has_speech(speech + between * 10)
    sounds, labels = speech_detector.make_sounds()
    assert sounds.shape == (27, speech_detector.LENGTH)
    assert (labels == "speech").sum() == 18
    assert np.array_equal(sounds, speech_detector.make_sounds()[0])
    assert np.abs(sounds).max() <= 1


def test_every_example_is_listed():
    listed = set(re.findall(r"\(([\w.]+\.\w+)\)", (EXAMPLES / "README.md").read_text(encoding="utf-8")))
    files = {file.name for file in EXAMPLES.iterdir() if file.suffix in (".py", ".ipynb")}
    assert files - listed == {"applicants.py", "conftest.py"}
    assert listed <= files


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_has_a_docstring(script):
    assert ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
