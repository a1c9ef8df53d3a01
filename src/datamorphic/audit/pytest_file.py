"""Write a result as a pytest file: passing checks must go on passing, fixed findings are reported."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from .._files import prepare_file, write_file
from .._text import redact
from ..core.result import Example, Finding
from ..errors import DataError, UsageError
from ..reporting.python_code import format_comment, format_data, format_literal, format_path, render_module
from ..runs.flow import Budget
from ..systems.files import is_python_name, is_weka_name
from .expectations import merge_expectations
from .result import NO_LIMIT, AuditResult, format_space_code

TITLE = "The result of dm.test, pinned: checks that pass must go on passing, and fixed findings are reported."
SIGNATURE = "Written by result.to_pytest(...)."
MAX_HEADER_BYTES = 1_000  # in which the signature is sought
MIN_BUDGET_SECONDS = 300  # of the tests, since other machines may be slower
MAX_TEST_NAME_CHARACTERS = 60
QUERYING_CHECKS = ("repeats", "row order", "batches")  # if they find anything, the border is not reproducible
_OBJECT = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*(?:\.[^\W\d]\w*)*)")  # module:object


def write_test_file(result: AuditResult, path: Path) -> Path:
    """Write a pytest file that pins a result, and the border beside it; return the path of the file.

    Models and data given as files are loaded from them. For objects in memory the file has fixtures to fill in, which fail
    until then. A file that was not written by this function is not overwritten.
    """
    if path.suffix != ".py":
        raise UsageError(f"Tests are written to a Python file. Got {str(path)!r}: give a name such as test_model.py.")
    prepare_file(path, "tests")
    try:
        if path.is_file() and SIGNATURE.encode() not in path.read_bytes()[:MAX_HEADER_BYTES]:
            raise UsageError(
                f"{str(path)!r} exists, and was not written by to_pytest. Choose another name, or remove it."
            )
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error.strerror}. Choose another name.") from None
    front_file = _save_front(result, path)
    write_file(path, _TestFile(result, path, front_file).to_text(), "tests")
    return path


def format_test_file(result: AuditResult, folder: Path) -> str:
    """Return the text of a pytest file that pins a result, to be put into a folder; without the border.

    Examples
    --------
    >>> import datamorphic as dm
    >>> text = format_test_file(dm.test(dm.subjects["Box 1"], only="answers"), Path("tests"))
    >>> "def test_" in text
    True
    """
    return _TestFile(result, folder / "test_model.py", None).to_text()


def _save_front(result: AuditResult, path: Path) -> str | None:
    """Write the border beside the tests and return the name of its file; None if it cannot be pinned."""
    if result.front is None or not result.front.walks:
        return None
    if any(finding.check in QUERYING_CHECKS for finding in result.single_findings):
        return None
    file = path.with_name(f"{path.stem}.front.parquet")
    try:
        result.front.save(file)
    except (DataError, UnicodeError):  # labels that no file can hold
        return None
    return file.name


class _Fixture(NamedTuple):
    """The docstring and the body of a fixture."""

    docstring: str
    body: str


class _TestFile:
    """The values of the template."""

    def __init__(self, result: AuditResult, path: Path, front_file: str | None) -> None:
        self.result, self.front_file, self.request = result, front_file, result.words
        self.folder = os.path.abspath(path.parent)
        self.from_files = bool(self.request.get("from_files"))
        self.is_learner = result.fitted_on_given_data and self.request.get("target") is not None
        self.answering = "fitted" if self.is_learner else "model"
        self.trust_option = ", trust=True" if self.request.get("trust") else ""
        self.wrap_options = self.trust_option + (", scalar=True" if self.request.get("scalar") else "")
        if self.request.get("classes"):
            self.wrap_options += f", classes={format_literal(self.request['classes'])}"
        self.omissions = self._find_omissions()
        # Of several findings with the same check and subject, only the first can be pinned.
        ranked = sorted(result.single_findings, key=lambda finding: finding.rank)
        findings = [finding for finding in reversed(ranked) if finding.check not in self.omissions]
        self.findings = list({(finding.check, finding.about): finding for finding in findings}.values())[::-1]

    def _find_omissions(self) -> dict[str, str]:
        """Return what cannot be tested again in the same way, with the reason."""
        relations, omissions = [str(relation) for relation in self.request.get("relations") or ()], {}
        for outcome in self.result.outcomes:
            not_run = outcome.state == "not run"
            if outcome.state == "broke" or (not_run and outcome.unfinished):
                omissions[outcome.check] = f"{outcome.state}: {outcome.why}"
            elif outcome.check == "invariant" and relations:
                omissions[outcome.check] = f"relations that are objects in memory: {', '.join(relations)}"
            elif outcome.check == "baseline" and not not_run and self.request.get("baseline") is None:
                omissions[outcome.check] = "the baseline was an object in memory"
            elif outcome.check == "duplicates" and not not_run and self._find_reference_file() is None:
                omissions[outcome.check] = "the reference data were an object in memory"
            elif outcome.check == "suggestions" and not not_run:
                omissions[outcome.check] = "it says what could be declared, not what is wrong"
            if outcome.check in QUERYING_CHECKS and outcome.findings and self.result.front is not None:
                omissions["the border"] = f"answers depend on how the model is queried: {outcome.check}"
        return omissions

    def _find_reference_file(self) -> str | None:
        """Return the path of the reference data; None without one, or for a data set by name."""
        reference = self.request.get("reference")
        return None if reference is None or str(reference).startswith("data:") else str(reference)

    def to_text(self) -> str:
        """Return the text of the file."""
        tests = self._build_tests()
        passed = [outcome.check for outcome in self.result.outcomes if outcome.state == "passed"]
        target = self.request.get("target")
        return render_module(
            "pytest_file",
            TITLE,
            [f"{SIGNATURE} Change it as you like, or write it again when the model is meant to change."],
            about=[
                _format_line(f"Tested: {self.result.subject}, {self.result.kind}."),
                _format_line(f"Data: {self.result.data}."),
                _format_line(f"Result: {self.result.headline}."),
                *(_format_line(f"Not pinned: {check} ({reason}).") for check, reason in self.omissions.items()),
            ],
            target=None if target is None else format_literal(target),
            passed=format_literal([check for check in passed if check not in self.omissions]),
            found=format_literal([(finding.check, finding.about) for finding in self.findings]),
            omitted=format_literal(list(self.omissions)),
            model=self._build_model(),
            data=self._build_data(),
            options=self._format_options(),
            from_files=self.from_files,
            is_learner=self.is_learner,
            answering=self.answering,
            wrap_options=self.wrap_options,
            tests=tests,
            front_file=format_literal(self.front_file) if self.front_file else "",
            uses_ask=any(test["uses_ask"] for test in tests),
        )

    def _build_model(self) -> _Fixture:
        request, docstring = self.request, "The model under test."
        if not self.from_files or (request.get("model") is None and request.get("subject") is None):
            return self._build_unfilled(
                "model",
                f"{self.result.subject}, {self.result.kind}",
                'return the model that was tested, as in joblib.load(HERE / "model.joblib")',
                docstring,
            )
        if request.get("subject") is not None:
            subject = format_literal(str(request["subject"]))
            return _Fixture(docstring, f"return dm.subjects[{subject}]")
        if is_weka_name(request["model"]) or is_python_name(request["model"]):
            return _Fixture("The learner under test.", f"return load_model({format_literal(request['model'])})")
        match = _OBJECT.fullmatch(str(request["model"]))
        if match and not os.path.exists(str(request["model"])):
            folder = format_path(os.curdir, self.folder)
            code = f"attrgetter({format_literal(match[2])})(import_module({format_literal(match[1])}))"
            return _Fixture(docstring, f"sys.path.insert(0, str({folder}))\n    return {code}")
        file = format_path(str(request["model"]), self.folder)
        if self.is_learner:
            return _Fixture("The learner under test.", f"return load_model({file}{self.trust_option})")
        return _Fixture("The file of the model under test.", f"return {file}")

    def _build_data(self) -> _Fixture:
        docstring, data = "The data of the test.", self.request.get("data")
        if not self.from_files:
            instruction = "return the data of the test, None if there were none"
            return self._build_unfilled("data", self.result.data, instruction, docstring)
        if data is None:
            return _Fixture("No data: the system generates its own.", "return None")
        return _Fixture(docstring, f"return {format_data(str(data), self.folder)}")

    def _build_unfilled(self, name: str, expected: str, instruction: str, docstring: str) -> _Fixture:
        message = format_literal(f"Fill in the fixture {name!r} of this file: return {expected}.")
        return _Fixture(docstring, f"# FILL IN: {instruction}\n    pytest.fail({message})")

    def _format_options(self) -> list[str]:
        request = self.request
        options = {"target": "TARGET"} if request.get("target") is not None else {}
        if request.get("protected"):
            options["protected"] = format_literal(list(request["protected"]))
        options |= self._format_expectations()
        if request.get("promises") is not None:
            options["promises"] = format_path(str(request["promises"]), self.folder)
        if request.get("baseline") is not None:
            options["baseline"] = format_path(str(request["baseline"]), self.folder)
        reference = self._find_reference_file()
        if reference is not None:
            options["reference"] = format_path(reference, self.folder)
        options["budget"] = format_literal(self._choose_budget())
        options["seed"] = format_literal(self.result.seed)
        if request.get("space") is not None:
            options["space"] = format_space_code(request, format_path(str(request["space"]), self.folder))
        for name in ("timeout", "batch", "tolerance", "classes", "name", "kinds", "steps", "bounds", "orders"):
            if request.get(name):
                options["column_steps" if name == "steps" else name] = format_literal(request[name])
        outcomes = self.result.outcomes
        requested_checks = [outcome.check for outcome in outcomes if outcome.skip_reason != "not requested"]
        if len(requested_checks) < len(outcomes):
            options["only"] = format_literal(requested_checks)
        for name in ("trust", "scalar"):
            if request.get(name):
                options[name] = "True"
        return [f"{name}={value}" for name, value in (options | {"progress": "False"}).items()]

    def _choose_budget(self) -> str | None:
        """Return the budget of the tests: that of the result, and at least the minimal time."""
        if self.result.budget == NO_LIMIT:
            return None
        seconds = Budget.parse(self.result.budget).seconds
        return self.result.budget if seconds is None else f"{max(MIN_BUDGET_SECONDS, math.ceil(seconds))} s"

    def _format_expectations(self) -> dict[str, str]:
        """Return the file of expectations, or the expectations themselves."""
        file, declared = self.request.get("expect"), merge_expectations(self.request)
        if file is not None and not (declared and self.from_files):
            return {"expect": format_path(str(file), self.folder)}
        if file is not None:
            declared = merge_expectations(self.request, file)
        return {"expect": format_literal(declared, 8)} if declared else {}

    def _build_tests(self) -> list[dict[str, Any]]:
        """Return a test for each finding, which fails until the finding is fixed."""
        tests: dict[str, dict[str, Any]] = {}
        for finding in self.findings:
            slug = re.sub(r"[^a-z0-9]+", "_", f"{finding.check} {finding.about}".lower()).strip("_")
            name = f"{slug[:MAX_TEST_NAME_CHARACTERS] or 'finding'}_is_fixed"
            while name in tests:
                name += "_"
            tests[name] = self._build_test(finding, name)
        return list(tests.values())

    def _build_test(self, finding: Finding, name: str) -> dict[str, Any]:
        lines, uses_ask = [], False
        for example in finding.examples[:1]:
            unanswered = finding.check == "answers" and example.answer is None and example.new_answer is None
            has_two_answers = bool(example.changed) and example.answer != example.new_answer
            uses_ask = bool(example.case) and (has_two_answers or unanswered)
            lines = [_format_line(f"The smallest example: {example.text}")]
            lines += self._format_example(example, uses_ask)
        return {
            "name": name,
            "parameters": f"{self.answering}, data, result" if uses_ask else "result",
            "reason": format_literal(redact(finding.title)),
            "lines": lines,
            "check": format_literal(finding.check),
            "about": format_literal(finding.about),
            "uses_ask": uses_ask,
        }

    def _format_example(self, example: Example, uses_ask: bool) -> list[str]:
        """Return the lines that show an example: code that queries it, or comments."""
        if not example.case:
            return []
        code = [f"case = {format_literal(dict(example.case), 4)}"]
        if example.changed:
            code.append(f"changed = {format_literal(dict(example.changed), 4)}")
            today, cases = [example.answer, example.new_answer], "case, case | changed"
        else:
            today, cases = [example.answer], "case"
        if not uses_ask:
            return [f"# {line.strip()}" for statement in code for line in statement.splitlines()]
        query = f"ask({self.answering}, data, {cases})"
        return [*code, f"assert {query} != {format_literal(today)}  # the answers today"]


def _format_line(text: str) -> str:
    """Return a text as a comment of one line."""
    return format_comment(text, 0, width=None)
