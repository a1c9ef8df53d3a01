"""`ScriptResult`: what a script did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .._text import pluralise
from ..core.result import FileWriter, Result, make_writer
from ..morphisms.cases import CaseKind, Correctness, TestSet
from ..reporting.junit import JUnitCase
from ..synthesis.stored_tests import TESTS_FILE
from .pool import TestPool


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ScriptResult(Result):
    """What a script did: its figures, its files, and the pool as the script left it.

    Attributes
    ----------
    script : str
        The name of the script.
    commands : int
        The number of commands that were run, with all repetitions.
    pool : TestPool
        The test pool after the last command, with its statistics, measures, judgements, messages and files.
    seed : int
        The random seed.
    seconds : float
        The time it took.
    interrupted : bool
        Whether the user ended the script.
    unfinished : list of str
        The commands that the budget did not suffice for.
    """

    _SUMMARY = ("commands", "runs", "calls", "cases", "mutants", "violations", "files")
    _PAGE = "scripting.page:build_page"

    script: str
    commands: int
    pool: TestPool
    seed: int
    seconds: float
    interrupted: bool = False
    total_commands: int = 0
    unfinished: Sequence[str] = field(default_factory=list)
    notes: Sequence[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"ScriptResult({self.script}: {pluralise(self.commands, 'command')}, {self.pool!r})"

    @property
    def headline(self) -> str:
        """The outcome in one line."""
        if self.interrupted:
            return f"{self.script}: interrupted after {self.commands:,} of {pluralise(self.total_commands, 'command')}"
        if self.unfinished:
            return f"{self.script}: the budget was spent after {self.commands:,} of {pluralise(self.total_commands, 'command')}"
        verdict = f", {pluralise(self.violations, 'violation')}" if self.pool.judgements else ""
        return f"{self.script}: {pluralise(self.commands, 'command')} run{verdict}"

    @property
    def tests(self) -> TestSet | None:
        """The test cases after the last command; None if no test system was loaded."""
        return self.pool.tests if self.pool.spec else None

    @property
    def violations(self) -> int:
        """The number of violations of metamorphisms."""
        return sum(judgement["violated"] for judgement in self.pool.judgements)

    @property
    def passed(self) -> bool | None:
        """Whether no metamorphism is violated; None if none was checked."""
        return not self.violations if self.pool.judgements else None

    @property
    def complete(self) -> bool:
        """Whether all commands were run."""
        return not (self.interrupted or self.unfinished)

    @property
    def files(self) -> list[str]:
        """The files that were written, relative to the folder of the script."""
        return [self.pool.folder.to_text(path) for path in self.pool.files]

    def document(self) -> dict[str, Any]:
        """Return the figures of the script as a JSON-serialisable dict, without the cases."""
        pool, tests = self.pool, self.tests
        names = ("runs", "calls", "explorations", "statistics", "measures", "judgements", "times", "messages")
        return self._collect(
            *("script", "seed", "commands", "total_commands", "interrupted", "violations", "files", "notes", "seconds"),
            *("complete", "unfinished"),
            **{name: getattr(pool, name) for name in names},
            subject=pool.spec or None,
            cases=0 if tests is None else len(tests),
            original=0 if tests is None else (tests.kinds == CaseKind.ORIGINAL).sum(),
            mutants=0 if tests is None else (tests.kinds == CaseKind.MUTANT).sum(),
            incorrect=0 if tests is None else (tests.correctness == Correctness.INCORRECT).sum(),
        )

    def stored_verdicts(self) -> list[dict[str, Any]]:
        """Return how often every metamorphism was violated."""
        return [
            {
                "relation": judgement["metamorphism"],
                "says": judgement["message"] or judgement["metamorphism"],
                "verdict": "VIOLATED" if judgement["violated"] else "HOLDS",
                "cases": judgement["violated"],
            }
            for judgement in self.pool.judgements
        ]

    def stored_files(self) -> dict[str, FileWriter]:
        """Return the test cases as a file, if there are any."""
        tests = self.tests
        return {} if tests is None else {TESTS_FILE: make_writer(tests.to_parquet, len(tests))}

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return one test case for each check of a metamorphism, and one for the script itself."""
        cases = [
            JUnitCase(
                name=f"{judgement['metamorphism']} ({number})",
                outcome="failed" if judgement["violated"] else "passed",
                kind="metamorphism",
                message=f"{pluralise(judgement['violated'], 'violation')}. {judgement['message']}".strip()
                if judgement["violated"]
                else "",
            )
            for number, judgement in enumerate(self.pool.judgements, start=1)
        ]
        whole = JUnitCase(
            name="all commands were run",
            outcome="passed" if self.complete else "failed",
            kind="script",
            message="" if self.complete else self.headline.removeprefix(f"{self.script}: "),
        )
        return [whole, *cases]

    def _export_name(self) -> str:
        return self.script
