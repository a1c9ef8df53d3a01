"""A result as a file of tests: what holds today must go on holding, what does not is told when it is mended.

Whatever comes from a user, names of columns, labels, paths, is written as a literal, and in comments without any sign that
could end a line. So it stays data: nothing in a result can become code.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._checks import redacted
from ..errors import DataError, UsageError
from .finding import Example, Finding
from .promises import read_promises
from .result import Result

WIDTH = 110  # of a line
OBJECT = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*(?:\.[^\W\d]\w*)*)")

MARK = "Written by result.to_pytest(...)."
LEAST = 300  # seconds that the tests may take at least: other machines are slower
UNSTEADY = ("repeats", "row order", "batches")  # where these find something, no border stays where it is

HEAD = f'''"""What dm.test found, pinned: what holds must go on holding, and what is broken is told when it is mended.

{MARK} It is yours: change it, or write it anew when the model is meant to be another.
"""
'''

FINDINGS = '''
def findings(result, check, about=None):
    """Return what a check found, in all or about one thing, in words; skip where there was no time to look."""
    found = [each for each in result.findings if each.check == check and about in (None, each.about)]
    (outcome,) = (each for each in result.outcomes if each.check == check)
    if not found and "the budget" in outcome.why:
        pytest.skip(f"{check}: {outcome.why}")
    return [f"{each.title}. {each.detail}" for each in found]


@pytest.mark.parametrize("check", PASSED)
def test_what_holds_goes_on_holding(result, check):
    assert not findings(result, check)
    (outcome,) = (each for each in result.outcomes if each.check == check)
    assert outcome.state == "passed", outcome.why


def test_nothing_new_is_found(result):
    pinned = (each for each in result.findings if each.check not in LEFT_OUT)
    new = [f"{each.title}. {each.detail}" for each in pinned if (each.check, each.about) not in FOUND]
    assert not new
'''

ASK = '''
def ask({model}, data, *cases):
    """Return what the model says to cases; None where it gives no answer."""
    rows = pd.DataFrame(list(cases))
    if hasattr(data, "dtypes"):
        rows = rows.astype({{name: data[name].dtype for name in rows if name in data}})
    told = dm.wrap({model}, guarded=True{how}).execute(rows)
    return [value if ok else None for value, ok in zip(told.values.tolist(), told.ok, strict=True)]
'''

FITTED = '''
@pytest.fixture(scope="module")
def fitted(model, data):
    """The learner, fitted as dm.test does it."""
    return clone(model).fit(data.drop(columns=[TARGET]), data[TARGET])
'''

FRONT = """
def test_the_border_is_where_it_was({model}):
    dm.assert_front_unchanged({model}, baseline=HERE / {file}{how})
"""

TO_FILL = """    # FILL IN: {how}
    pytest.fail({what})
"""


def write_tests(result: Result, path: Path) -> Path:
    """Write a file of tests that pins a result, and its border beside it; return where the file is.

    What was given as files is loaded again as it was; for objects in memory there are fixtures to be filled in, which
    fail until then. A file that is none of ours is left as it is.
    """
    if path.suffix != ".py":
        raise UsageError(
            f"Tests are written to a file of Python. Got {str(path)!r}: give a name like test_model.py."
        )
    try:
        if path.is_file() and MARK.encode() not in path.read_bytes()[: 2 * len(HEAD)]:
            raise UsageError(
                f"{str(path)!r} is there already, and was not written by to_pytest. Choose another name, or remove it."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        front = _saved_front(result, path)
        path.write_text(_Tests(result, path, front).text(), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"The tests cannot be written to {str(path)!r}: {error.strerror}. Choose another place."
        ) from None
    return path


def _saved_front(result: Result, path: Path) -> str | None:
    """Write the border beside the tests, and return the name of its file; None if there is none that a file can hold."""
    if result.front is None or not result.front.walks or any(each.check in UNSTEADY for each in result.findings):
        return None
    file = path.with_name(f"{path.stem}.front.parquet")
    try:
        result.front.save(file)
    except (DataError, UnicodeError):
        return None
    return file.name


class _Tests:
    """The parts of the file."""

    def __init__(self, result: Result, path: Path, front: str | None) -> None:
        self.result, self.front, self.words = result, front, result.words
        self.here = os.path.abspath(path.parent)
        self.learner = "fitted to these data" in result.kind and self.words.get("target") is not None
        self.trust = ", trust=True" if self.words.get("trust") else ""
        self.how = self.trust + (", scalar=True" if self.words.get("scalar") else "")
        self.left_out = self._left_out()
        # of two findings about the same thing one is enough: they are told apart by what they are about
        found = [each for each in reversed(result.findings) if each.check not in self.left_out]
        self.findings = list({(each.check, each.about): each for each in found}.values())[::-1]

    @property
    def model(self) -> str:
        """What answers: the model, or the learner once it is fitted."""
        return "fitted" if self.learner else "model"

    def _left_out(self) -> dict[str, str]:
        """Return what cannot be tested again as it was, and why."""
        own, left = [str(each) for each in self.words.get("relations") or ()], {}
        for each in self.result.outcomes:
            unmade = each.state == "not run" and ("the budget" in each.why or each.why == "interrupted")
            if unmade or each.state == "broke":
                left[each.check] = f"{each.state}: {each.why}"
            elif each.check == "invariant" and own:
                left[each.check] = f"relations that are objects in memory: {', '.join(own)}"
            elif each.check == "baseline" and each.state != "not run" and self.words.get("baseline") is None:
                left[each.check] = "the baseline was an object in memory"
            if each.check in UNSTEADY and each.findings and self.result.front is not None:
                left["the border"] = f"answers depend on how they are asked: {each.check}"
        return left

    def text(self) -> str:
        """Return the file."""
        broken = self._broken()
        asks = any("ask(" in each for each in broken)
        body = [
            self._settings(),
            self._model(),
            self._data(),
            FITTED if self.learner else "",
            self._result(),
            FINDINGS,
            ASK.format(model=self.model, how=self.how) if asks else "",
            *broken,
            FRONT.format(model=self.model, file=literal(self.front), how=self.how) if self.front else "",
        ]
        code = "\n".join(part for part in body if part)
        return f"{HEAD}\n{self._imports(code)}\n{code}"

    def _imports(self, code: str) -> str:
        """Return the imports that the code needs, and no others."""
        known = {
            "import_module(": "from importlib import import_module",
            "attrgetter(": "from operator import attrgetter",
        }
        lines = ["import sys"] if "sys." in code else []
        lines += [line for sign, line in known.items() if sign in code]
        lines += ["from pathlib import Path", ""]
        lines += ["import pandas as pd"] if "pd." in code else []
        lines += ["import pytest"] + (["from sklearn.base import clone"] if self.learner else [])
        lines += ["", "import datamorphic as dm"]
        lines += ["from datamorphic.sut.files import load_model"] if "load_model(" in code else []
        return "\n".join([*lines, ""])

    def _settings(self) -> str:
        result = self.result
        about = [f"Tested: {result.subject}, {result.kind}.", f"With: {result.data}.", f"Then: {result.headline}."]
        about += [f"Not pinned: {check} ({why})." for check, why in self.left_out.items()]
        held = [each.check for each in result.outcomes if each.state == "passed"]
        passed = [check for check in held if check not in self.left_out]
        found = [(each.check, each.about) for each in self.findings]
        target = self.words.get("target")
        lines = [*map(comment, about), "HERE = Path(__file__).parent"]
        lines += [f"TARGET = {literal(target)}"] if target is not None else []
        lines += [f"PASSED = {literal(passed)}", f"FOUND = {literal(found)}"]
        lines += [f"LEFT_OUT = {literal(list(self.left_out))}"]
        return "\n".join(lines) + "\n"

    def _model(self) -> str:
        words = self.words
        told, named = "The model that is tested.", OBJECT.fullmatch(str(words.get("model")))
        if words.get("from_files") and words.get("subject") is not None:
            body = f"    return dm.subjects[{literal(str(words['subject']))}]\n"
        elif words.get("from_files") and named and not os.path.exists(str(words["model"])):
            body = (
                f"    sys.path.insert(0, str({self._place(os.curdir)}))\n"
                f"    return attrgetter({literal(named[2])})(import_module({literal(named[1])}))\n"
            )
        elif words.get("from_files") and words.get("model") is not None:
            file = self._place(str(words["model"]))
            body, told = f"    return {file}\n", "The file of the model that is tested."
            if self.learner:  # to be fitted it must be at hand
                body, told = f"    return load_model({file}{self.trust})\n", "The learner that is tested."
        else:
            what = f"Fill in the fixture 'model' of this file: return {self.result.subject}, {self.result.kind}."
            how = 'return the model that was tested, as in joblib.load(HERE / "model.joblib")'
            body = TO_FILL.format(how=how, what=literal(what))
        return _fixture("model", "", told, body)

    def _data(self) -> str:
        words = self.words
        told, given = "The data it is tested with.", words.get("data")
        if not words.get("from_files"):
            what = f"Fill in the fixture 'data' of this file: return {self.result.data}."
            how = "return the data it was tested with, None if there were none"
            body = TO_FILL.format(how=how, what=literal(what))
        elif given is None:
            body, told = "    return None\n", "No data: the system makes its own."
        elif str(given).startswith("data:"):
            body = f"    return dm.data.load({literal(str(given).partition(':')[2])})\n"
        else:
            reader = "read_parquet" if str(given).lower().endswith(".parquet") else "read_csv"
            body = f"    return pd.{reader}({self._place(str(given))})\n"
        return _fixture("data", "", told, body)

    def _result(self) -> str:
        result, words = self.result, self.words
        options = ["target=TARGET"] if words.get("target") is not None else []
        options += [f"protected={literal(list(words['protected']))}"] if words.get("protected") else []
        options += self._expect()
        options += [f"baseline={self._place(str(words['baseline']))}"] if words.get("baseline") is not None else []
        options += [f"budget={literal(self._budget())}", f"seed={literal(result.seed)}"]
        options += [f"{name}={literal(words[name])}" for name in ("timeout", "batch") if words.get(name)]
        asked = [each.check for each in result.outcomes if each.why != "not asked for"]
        options += [f"only={literal(asked)}"] if len(asked) < len(result.outcomes) else []
        options += [self.how.lstrip(", ")] if self.how else []
        lines = "".join(f"        {each},\n" for each in (*options, "progress=False"))
        if not words.get("from_files"):
            lines += "        # add space=, scalar= and the like if dm.test was given them: they cannot be written down\n"
        body = f"    return dm.test(\n        model,\n        data,\n{lines}    )\n"
        return _fixture("result", "model, data", "Everything that was tested, tested again.", body)

    def _budget(self) -> str | None:
        """Return what the tests may cost: as much as it was, and a time that suffices on slower machines too."""
        time = re.fullmatch(r"(\d+(?:\.\d+)?(?:e[+-]\d+)?) s", self.result.budget)
        if time:
            return f"{max(LEAST, math.ceil(float(time[1])))} s"
        return None if self.result.budget == "no limit" else self.result.budget

    def _expect(self) -> list[str]:
        """Return what was declared: the file that says it, or the promises themselves."""
        words, file = self.words, self.words.get("expect")
        declared: dict[str, Any] = {}
        if words.get("monotone"):
            declared["monotone"] = {
                name: way for name, _, way in (str(e).rpartition("=") for e in words["monotone"])
            }
        if words.get("invariant"):
            declared["invariant"] = [str(each) for each in words["invariant"]]
        if words.get("towards") is not None:
            declared["towards"] = words["towards"]
        if file is not None and declared and words.get("from_files"):  # options of the command go before the file
            read = read_promises(file)
            declared["monotone"] = {**(read.get("monotone") or {}), **declared.get("monotone", {})}
            declared["invariant"] = [*(read.get("invariant") or ()), *declared.get("invariant", ())]
            declared = {**read, **declared}
        elif file is not None:
            return [f"expect={self._place(str(file))}"]
        return [f"expect={literal(declared, 8)}"] if declared else []

    def _broken(self) -> list[str]:
        """Return a test for each finding, which fails today."""
        tests: list[str] = []
        names: set[str] = set()
        for finding in self.findings:
            name = _name(finding)
            while name in names:
                name += "_"
            names.add(name)
            tests.append(self._test(finding, name))
        return tests

    def _test(self, finding: Finding, name: str) -> str:
        example = finding.examples[0] if finding.examples else None
        shown: list[str] = []
        if example is not None:
            shown = [f"    {comment(f'The smallest example: {example.words}')}", *self._example(finding, example)]
        needs = f"{self.model}, data, result" if any("ask(" in line for line in shown) else "result"
        lines = [
            "\n@pytest.mark.xfail(",
            "    strict=True,",
            "    raises=AssertionError,",
            f"    reason={literal(redacted(finding.title))},",
            ")",
            f"def test_{name}({needs}):",
            *shown,
        ]
        lines.append(f"    assert not findings(result, {literal(finding.check)}, {literal(finding.about)})")
        return "\n".join(lines) + "\n"

    def _example(self, finding: Finding, example: Example) -> list[str]:
        """Return lines with the example; those that show two answers, or none, ask it again."""
        if not example.case:
            return []
        lines = [f"    case = {literal(dict(example.case), 4)}"]
        if example.changed:
            lines.append(f"    changed = {literal(dict(example.changed), 4)}")
            today, cases = [example.answer, example.becomes], "case, case | changed"
        else:
            today, cases = [example.answer], "case"
        tells = len(today) == 2 and example.answer != example.becomes
        if tells or (finding.check == "answers" and example.answer is None and example.becomes is None):
            asked = f"ask({self.model}, data, {cases})"
            return [*lines, f"    assert {asked} != {literal(today)}  # as it is today"]
        return ["    # " + line.strip() for each in lines for line in each.splitlines()]

    def _place(self, path: str) -> str:
        """Return the code for a path, from where the tests are: the folder of both may be moved."""
        whole = os.path.abspath(path)
        try:
            beside = os.path.relpath(whole, self.here)
        except ValueError:  # another drive of Windows
            return f"Path({literal(whole)})"
        return f"HERE / {literal(Path(beside).as_posix())}"


def _fixture(name: str, needs: str, says: str, body: str) -> str:
    return f'\n@pytest.fixture(scope="module")\ndef {name}({needs}):\n    """{says}"""\n{body}'


def _name(finding: Finding) -> str:
    """Return a name for the test of a finding, of letters that Python takes for a name."""
    words = re.sub(r"[^a-z0-9]+", "_", f"{finding.check} {finding.about}".lower()).strip("_")
    return f"{words[:60] or 'finding'}_is_mended"


def comment(text: str) -> str:
    """Return a text as a comment of one line, whatever signs are in it."""
    printable = "".join(sign if sign.isprintable() else " " for sign in redacted(text))
    return f"# {' '.join(printable.split())}"


def literal(value: Any, indent: int = 0) -> str:
    """Return a value as Python code that is a literal, in several lines where one would be too long.

    Examples
    --------
    >>> literal({"income": [1.5, float("inf"), None]})
    '{"income": [1.5, float("inf"), None]}'
    """
    text = _on_one_line(value)
    if indent + len(text) <= WIDTH or not isinstance(value, dict | list) or not value:
        return text
    space = " " * (indent + 4)
    if isinstance(value, dict):
        parts = [f"{_on_one_line(key)}: {literal(each, indent + 4)}" for key, each in value.items()]
    else:
        parts = [literal(each, indent + 4) for each in value]
    ends = "{}" if isinstance(value, dict) else "[]"
    return f"{ends[0]}\n" + "".join(f"{space}{part},\n" for part in parts) + " " * indent + ends[1]


def _on_one_line(value: Any) -> str:
    if hasattr(value, "item") and not isinstance(value, str | bytes):  # NumPy's numbers
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{float(value)}")'
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, str):
        text = str.__repr__(value)
        return text if '"' in text or "\\" in text or text[0] == '"' else f'"{text[1:-1]}"'
    for kind in (int, float):  # not the words of a subclass, which may say anything
        if isinstance(value, kind):
            return kind.__repr__(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_on_one_line(k)}: {_on_one_line(v)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_on_one_line, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(_on_one_line, value))}]"
    return _on_one_line(str(value))
