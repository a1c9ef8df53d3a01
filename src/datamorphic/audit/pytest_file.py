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

from .._text import redact
from ..errors import DataError, UsageError
from .expectations import read_expectations
from .finding import Example, Finding
from .result import AuditResult

MAX_LINE_CHARACTERS = 110  # of a line
OBJECT_PATTERN = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*(?:\.[^\W\d]\w*)*)")

SIGNATURE = "Written by result.to_pytest(...)."
MIN_BUDGET_SECONDS = 300  # seconds that the tests may take at least: other machines are slower
QUERYING_CHECKS = ("repeats", "row order", "batches")  # where these find something, no border stays where it is

HEADER = f'''"""What dm.test found, pinned: what holds must go on holding, and what is broken is told when it is mended.

{SIGNATURE} It is yours: change it, or write it anew when the model is meant to be another.
"""
'''

FINDINGS_CODE = '''
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

ASK_CODE = '''
def ask({model}, data, *cases):
    """Return what the model says to cases; None where it gives no answer."""
    rows = pd.DataFrame(list(cases))
    if hasattr(data, "dtypes"):
        rows = rows.astype({{name: data[name].dtype for name in rows if name in data}})
    told = dm.wrap({model}, guarded=True{how}).execute(rows)
    return [value if ok else None for value, ok in zip(told.values.tolist(), told.ok, strict=True)]
'''

FITTED_CODE = '''
@pytest.fixture(scope="module")
def fitted(model, data):
    """The learner, fitted as dm.test does it."""
    return clone(model).fit(data.drop(columns=[TARGET]), data[TARGET])
'''

FRONT_CODE = """
def test_the_border_is_where_it_was({model}):
    dm.assert_front_unchanged({model}, baseline=HERE / {file}{how})
"""

FILL_IN_CODE = """    # FILL IN: {how}
    pytest.fail({what})
"""


def write_test_file(result: AuditResult, path: Path) -> Path:
    """Write a file of tests that pins a result, and its border beside it; return where the file is.

    What was given as files is loaded again as it was; for objects in memory there are fixtures to be filled in, which
    fail until then. A file that is none of ours is left as it is.
    """
    if path.suffix != ".py":
        raise UsageError(
            f"Tests are written to a file of Python. Got {str(path)!r}: give a name like test_model.py."
        )
    try:
        if path.is_file() and SIGNATURE.encode() not in path.read_bytes()[: 2 * len(HEADER)]:
            raise UsageError(
                f"{str(path)!r} is there already, and was not written by to_pytest. Choose another name, or remove it."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        front_file = _save_front(result, path)
        path.write_text(_TestFile(result, path, front_file).to_text(), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"The tests cannot be written to {str(path)!r}: {error.strerror}. Choose another place."
        ) from None
    return path


def _save_front(result: AuditResult, path: Path) -> str | None:
    """Write the border beside the tests, and return the name of its file; None if there is none that a file can hold."""
    if (
        result.front is None
        or not result.front.walks
        or any(finding.check in QUERYING_CHECKS for finding in result.findings)
    ):
        return None
    file = path.with_name(f"{path.stem}.front.parquet")
    try:
        result.front.save(file)
    except (DataError, UnicodeError):
        return None
    return file.name


class _TestFile:
    """The parts of the file."""

    def __init__(self, result: AuditResult, path: Path, front_file: str | None) -> None:
        self.result, self.front_file, self.request = result, front_file, result.words
        self.folder = os.path.abspath(path.parent)
        self.is_learner = "fitted to these data" in result.kind and self.request.get("target") is not None
        self.trust_option = ", trust=True" if self.request.get("trust") else ""
        self.wrap_options = self.trust_option + (", scalar=True" if self.request.get("scalar") else "")
        self.omissions = self._find_omissions()
        # of two findings about the same thing one is enough: they are told apart by what they are about
        findings = [finding for finding in reversed(result.findings) if finding.check not in self.omissions]
        self.findings = list({(finding.check, finding.about): finding for finding in findings}.values())[::-1]

    @property
    def model_fixture(self) -> str:
        """What answers: the model, or the learner once it is fitted."""
        return "fitted" if self.is_learner else "model"

    def _find_omissions(self) -> dict[str, str]:
        """Return what cannot be tested again as it was, and why."""
        relations, omissions = [str(relation) for relation in self.request.get("relations") or ()], {}
        for outcome in self.result.outcomes:
            unfinished = outcome.state == "not run" and (
                "the budget" in outcome.why or outcome.why == "interrupted"
            )
            if unfinished or outcome.state == "broke":
                omissions[outcome.check] = f"{outcome.state}: {outcome.why}"
            elif outcome.check == "invariant" and relations:
                omissions[outcome.check] = f"relations that are objects in memory: {', '.join(relations)}"
            elif (
                outcome.check == "baseline" and outcome.state != "not run" and self.request.get("baseline") is None
            ):
                omissions[outcome.check] = "the baseline was an object in memory"
            if outcome.check in QUERYING_CHECKS and outcome.findings and self.result.front is not None:
                omissions["the border"] = f"answers depend on how they are asked: {outcome.check}"
        return omissions

    def to_text(self) -> str:
        """Return the file."""
        xfail_tests = self._format_xfail_tests()
        has_queries = any("ask(" in test for test in xfail_tests)
        body = [
            self._format_settings(),
            self._format_model(),
            self._format_data(),
            FITTED_CODE if self.is_learner else "",
            self._format_result(),
            FINDINGS_CODE,
            ASK_CODE.format(model=self.model_fixture, how=self.wrap_options) if has_queries else "",
            *xfail_tests,
            FRONT_CODE.format(
                model=self.model_fixture, file=format_literal(self.front_file), how=self.wrap_options
            )
            if self.front_file
            else "",
        ]
        code = "\n".join(part for part in body if part)
        return f"{HEADER}\n{self._format_imports(code)}\n{code}"

    def _format_imports(self, code: str) -> str:
        """Return the imports that the code needs, and no others."""
        imports = {
            "import_module(": "from importlib import import_module",
            "attrgetter(": "from operator import attrgetter",
        }
        lines = ["import sys"] if "sys." in code else []
        lines += [line for sign, line in imports.items() if sign in code]
        lines += ["from pathlib import Path", ""]
        lines += ["import pandas as pd"] if "pd." in code else []
        lines += ["import pytest"] + (["from sklearn.base import clone"] if self.is_learner else [])
        lines += ["", "import datamorphic as dm"]
        lines += ["from datamorphic.systems.files import load_model"] if "load_model(" in code else []
        return "\n".join([*lines, ""])

    def _format_settings(self) -> str:
        result = self.result
        about = [f"Tested: {result.subject}, {result.kind}.", f"With: {result.data}.", f"Then: {result.headline}."]
        about += [f"Not pinned: {check} ({reason})." for check, reason in self.omissions.items()]
        passed_checks = [outcome.check for outcome in result.outcomes if outcome.state == "passed"]
        pinned_checks = [check for check in passed_checks if check not in self.omissions]
        finding_keys = [(finding.check, finding.about) for finding in self.findings]
        target = self.request.get("target")
        lines = [*map(format_comment, about), "HERE = Path(__file__).parent"]
        lines += [f"TARGET = {format_literal(target)}"] if target is not None else []
        lines += [f"PASSED = {format_literal(pinned_checks)}", f"FOUND = {format_literal(finding_keys)}"]
        lines += [f"LEFT_OUT = {format_literal(list(self.omissions))}"]
        return "\n".join(lines) + "\n"

    def _format_model(self) -> str:
        request = self.request
        docstring, match = "The model that is tested.", OBJECT_PATTERN.fullmatch(str(request.get("model")))
        if request.get("from_files") and request.get("subject") is not None:
            body = f"    return dm.subjects[{format_literal(str(request['subject']))}]\n"
        elif request.get("from_files") and match and not os.path.exists(str(request["model"])):
            body = (
                f"    sys.path.insert(0, str({self._format_path(os.curdir)}))\n"
                f"    return attrgetter({format_literal(match[2])})(import_module({format_literal(match[1])}))\n"
            )
        elif request.get("from_files") and request.get("model") is not None:
            file = self._format_path(str(request["model"]))
            body, docstring = f"    return {file}\n", "The file of the model that is tested."
            if self.is_learner:  # to be fitted it must be at hand
                body, docstring = (
                    f"    return load_model({file}{self.trust_option})\n",
                    "The learner that is tested.",
                )
        else:
            message = (
                f"Fill in the fixture 'model' of this file: return {self.result.subject}, {self.result.kind}."
            )
            instruction = 'return the model that was tested, as in joblib.load(HERE / "model.joblib")'
            body = FILL_IN_CODE.format(how=instruction, what=format_literal(message))
        return _format_fixture("model", "", docstring, body)

    def _format_data(self) -> str:
        request = self.request
        docstring, data = "The data it is tested with.", request.get("data")
        if not request.get("from_files"):
            message = f"Fill in the fixture 'data' of this file: return {self.result.data}."
            instruction = "return the data it was tested with, None if there were none"
            body = FILL_IN_CODE.format(how=instruction, what=format_literal(message))
        elif data is None:
            body, docstring = "    return None\n", "No data: the system makes its own."
        elif str(data).startswith("data:"):
            body = f"    return dm.data.load({format_literal(str(data).partition(':')[2])})\n"
        else:
            reader = "read_parquet" if str(data).lower().endswith(".parquet") else "read_csv"
            body = f"    return pd.{reader}({self._format_path(str(data))})\n"
        return _format_fixture("data", "", docstring, body)

    def _format_result(self) -> str:
        result, request = self.result, self.request
        options = ["target=TARGET"] if request.get("target") is not None else []
        options += [f"protected={format_literal(list(request['protected']))}"] if request.get("protected") else []
        options += self._format_expectations()
        options += (
            [f"baseline={self._format_path(str(request['baseline']))}"]
            if request.get("baseline") is not None
            else []
        )
        options += [f"budget={format_literal(self._format_budget())}", f"seed={format_literal(result.seed)}"]
        options += [
            f"{name}={format_literal(request[name])}" for name in ("timeout", "batch") if request.get(name)
        ]
        requested_checks = [outcome.check for outcome in result.outcomes if outcome.why != "not asked for"]
        options += (
            [f"only={format_literal(requested_checks)}"] if len(requested_checks) < len(result.outcomes) else []
        )
        options += [self.wrap_options.lstrip(", ")] if self.wrap_options else []
        lines = "".join(f"        {option},\n" for option in (*options, "progress=False"))
        if not request.get("from_files"):
            lines += "        # add space=, scalar= and the like if dm.test was given them: they cannot be written down\n"
        body = f"    return dm.test(\n        model,\n        data,\n{lines}    )\n"
        return _format_fixture("result", "model, data", "Everything that was tested, tested again.", body)

    def _format_budget(self) -> str | None:
        """Return what the tests may cost: as much as it was, and a time that suffices on slower machines too."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?(?:e[+-]\d+)?) s", self.result.budget)
        if match:
            return f"{max(MIN_BUDGET_SECONDS, math.ceil(float(match[1])))} s"
        return None if self.result.budget == "no limit" else self.result.budget

    def _format_expectations(self) -> list[str]:
        """Return what was declared: the file that says it, or the promises themselves."""
        request, file = self.request, self.request.get("expect")
        declared: dict[str, Any] = {}
        if request.get("monotone"):
            declared["monotone"] = {
                name: direction
                for name, _, direction in (str(item).rpartition("=") for item in request["monotone"])
            }
        if request.get("invariant"):
            declared["invariant"] = [str(name) for name in request["invariant"]]
        if request.get("towards") is not None:
            declared["towards"] = request["towards"]
        if (
            file is not None and declared and request.get("from_files")
        ):  # options of the command go before the file
            expectations = read_expectations(file)
            declared["monotone"] = {**(expectations.get("monotone") or {}), **declared.get("monotone", {})}
            declared["invariant"] = [*(expectations.get("invariant") or ()), *declared.get("invariant", ())]
            declared = {**expectations, **declared}
        elif file is not None:
            return [f"expect={self._format_path(str(file))}"]
        return [f"expect={format_literal(declared, 8)}"] if declared else []

    def _format_xfail_tests(self) -> list[str]:
        """Return a test for each finding, which fails today."""
        tests: list[str] = []
        names: set[str] = set()
        for finding in self.findings:
            name = _choose_test_name(finding)
            while name in names:
                name += "_"
            names.add(name)
            tests.append(self._format_xfail_test(finding, name))
        return tests

    def _format_xfail_test(self, finding: Finding, name: str) -> str:
        example = finding.examples[0] if finding.examples else None
        example_lines: list[str] = []
        if example is not None:
            example_lines = [
                f"    {format_comment(f'The smallest example: {example.words}')}",
                *self._format_example(finding, example),
            ]
        needs = (
            f"{self.model_fixture}, data, result" if any("ask(" in line for line in example_lines) else "result"
        )
        lines = [
            "\n@pytest.mark.xfail(",
            "    strict=True,",
            "    raises=AssertionError,",
            f"    reason={format_literal(redact(finding.title))},",
            ")",
            f"def test_{name}({needs}):",
            *example_lines,
        ]
        lines.append(
            f"    assert not findings(result, {format_literal(finding.check)}, {format_literal(finding.about)})"
        )
        return "\n".join(lines) + "\n"

    def _format_example(self, finding: Finding, example: Example) -> list[str]:
        """Return lines with the example; those that show two answers, or none, ask it again."""
        if not example.case:
            return []
        lines = [f"    case = {format_literal(dict(example.case), 4)}"]
        if example.changed:
            lines.append(f"    changed = {format_literal(dict(example.changed), 4)}")
            today, cases = [example.answer, example.becomes], "case, case | changed"
        else:
            today, cases = [example.answer], "case"
        differs = len(today) == 2 and example.answer != example.becomes
        if differs or (finding.check == "answers" and example.answer is None and example.becomes is None):
            query = f"ask({self.model_fixture}, data, {cases})"
            return [*lines, f"    assert {query} != {format_literal(today)}  # as it is today"]
        return ["    # " + line.strip() for statement in lines for line in statement.splitlines()]

    def _format_path(self, path: str) -> str:
        """Return the code for a path, from where the tests are: the folder of both may be moved."""
        absolute = os.path.abspath(path)
        try:
            relative = os.path.relpath(absolute, self.folder)
        except ValueError:  # another drive of Windows
            return f"Path({format_literal(absolute)})"
        return f"HERE / {format_literal(Path(relative).as_posix())}"


def _format_fixture(name: str, parameters: str, docstring: str, body: str) -> str:
    return f'\n@pytest.fixture(scope="module")\ndef {name}({parameters}):\n    """{docstring}"""\n{body}'


def _choose_test_name(finding: Finding) -> str:
    """Return a name for the test of a finding, of letters that Python takes for a name."""
    name = re.sub(r"[^a-z0-9]+", "_", f"{finding.check} {finding.about}".lower()).strip("_")
    return f"{name[:60] or 'finding'}_is_mended"


def format_comment(text: str) -> str:
    """Return a text as a comment of one line, whatever signs are in it."""
    printable = "".join(character if character.isprintable() else " " for character in redact(text))
    return f"# {' '.join(printable.split())}"


def format_literal(value: Any, indent: int = 0) -> str:
    """Return a value as Python code that is a literal, in several lines where one would be too long.

    Examples
    --------
    >>> format_literal({"income": [1.5, float("inf"), None]})
    '{"income": [1.5, float("inf"), None]}'
    """
    text = _format_inline(value)
    if indent + len(text) <= MAX_LINE_CHARACTERS or not isinstance(value, dict | list) or not value:
        return text
    space = " " * (indent + 4)
    if isinstance(value, dict):
        parts = [f"{_format_inline(key)}: {format_literal(item, indent + 4)}" for key, item in value.items()]
    else:
        parts = [format_literal(item, indent + 4) for item in value]
    ends = "{}" if isinstance(value, dict) else "[]"
    return f"{ends[0]}\n" + "".join(f"{space}{part},\n" for part in parts) + " " * indent + ends[1]


def _format_inline(value: Any) -> str:
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
        return "{" + ", ".join(f"{_format_inline(k)}: {_format_inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_format_inline, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(_format_inline, value))}]"
    return _format_inline(str(value))
