"""`CombinationResult`: the cases that were combined, the verdicts on them, and the chains that lead to violations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._text import format_short, pluralise
from ..._validation import check_types
from ...core.result import FileWriter, Result, make_writer
from ...errors import DataError
from ...morphisms.cases import NO_ORIGIN, TestSet, Verdict
from ...reporting.junit import JUnitCase
from ...runs.driver import CallCounter
from ...space.features import Mask
from ..stored_tests import TESTS_FILE
from .chains import Integers
from .generation import Chain, GeneratedCases
from .shortening import ShortenedChain

MAX_VIOLATIONS_IN_DOCUMENT = 100
MAX_FEATURES_IN_EXAMPLE = 6
CHAIN_ARROW = " > "
VIOLATION_COLUMNS = ("metamorphism", "case", "seed_case", "chain", "shortest", "origin", "origin_output", "output")

Verdicts = npt.NDArray[np.object_]


@dataclass(frozen=True, eq=False, kw_only=True)
class Derivations:
    """Ways in which cases were made: first one per case, then further ways to make the same cases."""

    states: Integers  # the numbers of the states among all that were made
    steps: Integers  # the datamorphism applied last
    rows: Integers  # the case, as a row of the test set
    origin_rows: Integers  # its origins, as rows of the test set; -1 for none


@dataclass(frozen=True, kw_only=True)
class ViolationGroup:
    """The violations of a metamorphism with the same shortest chain."""

    metamorphism: str
    chain: str  # the shortest chain, without other arguments; empty if the seed case itself violates the metamorphism
    count: int
    is_searched: bool  # False for violations whose shortest chain was not searched
    words: str  # an example as a sentence
    example: tuple[int, Chain]  # its seed row and its chain


@dataclass(frozen=True, slots=True)
class ViolationTrace:
    """A violation, traced to its seed case."""

    number: int  # of the derivation
    seed: int  # the row of the seed case
    chain: Chain
    shortest: Chain | None  # None if it was not searched
    answers: tuple[Any, Any]  # to the origin and to the case


@dataclass(frozen=True, eq=False, kw_only=True)
class CombinationResult(Result):
    """The result of `dm.combine`.

    Attributes
    ----------
    subject, strategy : str
        The names of the test system and of the strategy.
    order : int or None
        The maximal length of chains, for ``kOrderComplete``.
    datamorphisms : list of str
        The datamorphisms that were combined.
    tests : TestSet
        The seed cases and the new cases, with outputs if the test system has an executor.
    estimate : int
        The number of new cases if all chains gave different ones and no filter ended one.
    is_sampled : bool
        Whether chains were drawn at random, because there are more than the budget.
    ancestors : ndarray of bool
        Which cases are in the test set only because others were made from them: on the way to a chain that was drawn,
        or removed by a filter.
    verdicts : dict
        The verdicts of every metamorphism, one per case. A case that was made in several ways is checked for each of them.
    seed : int
        The seed of the random numbers.
    seconds : float
        The time it took.
    notes : list of str
        Remarks on the combination.
    """

    subject: str
    strategy: str
    order: int | None
    datamorphisms: Sequence[str]
    tests: TestSet
    estimate: int
    is_sampled: bool
    ancestors: Mask
    verdicts: Mapping[str, Verdicts]
    messages: Mapping[str, str]  # of the metamorphisms
    cases: GeneratedCases = field(repr=False)
    rows: Integers = field(repr=False)  # of `tests` among all cases that were made
    derivations: Derivations = field(repr=False)
    checks: Mapping[str, Verdicts] = field(repr=False)  # the verdicts of every metamorphism, one per derivation
    shortened: Mapping[tuple[str, int], ShortenedChain] = field(repr=False)  # by metamorphism and derivation
    seed: int
    seconds: float
    notes: Sequence[str]
    tally: CallCounter
    recurring: Sequence[str] = ()  # violations of earlier runs that still occur, in words
    unfinished: tuple[
        str, ...
    ] = ()  # the cases that were not executed: the budget was spent, or the user ended the run

    _SUMMARY = ("strategy", "seeds", "cases", "runs", "calls", "violation_count")
    _PAGE = "synthesis.combination.page:build_combination_page"

    # -- figures ---------------------------------------------------------------------------------------------------

    @property
    def seed_count(self) -> int:
        """The number of seed cases."""
        return int((self.rows < self.cases.seed_count).sum())

    @property
    def case_count(self) -> int:
        """The number of new cases, without those that are only on the way to others."""
        return int((~self.ancestors & (self.rows >= self.cases.seed_count)).sum())

    @property
    def duplicates(self) -> int:
        """The number of cases that were made but had the input of an earlier case."""
        return self.cases.made_count - (len(self.cases.tests) - self.cases.seed_count)

    @property
    def runs(self) -> int:
        """The number of cases that were executed, those of the search for shortest chains included."""
        return self.tally.runs

    @property
    def calls(self) -> int:
        """The number of rows that the system computed; answers from the cache do not count."""
        return self.tally.calls

    @property
    def interrupted(self) -> bool:
        """Whether the user ended the run before it was complete."""
        return self.tally.interrupted

    @property
    def violated(self) -> list[str]:
        """The names of the violated metamorphisms."""
        return [name for name, verdicts in self.verdicts.items() if (verdicts == Verdict.VIOLATED).any()]

    @property
    def holds(self) -> bool:
        """Whether no metamorphism was violated, neither by the cases nor by violations of earlier runs that still occur."""
        return not self.violated and not self.recurring

    @property
    def passed(self) -> bool:
        """The same as `holds`."""
        return self.holds

    @property
    def complete(self) -> bool:
        """Whether all cases were executed."""
        return not self.unfinished

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per metamorphism: how often it holds, is violated, inapplicable and undefined.

        A case that was made in several ways counts once for each of them.
        """
        rows = []
        for name, verdicts in self.checks.items():
            counts = {str(verdict.value): int((verdicts == verdict).sum()) for verdict in Verdict}
            rows.append({"metamorphism": name, **counts, "message": self.messages[name]})
        return pd.DataFrame(rows, columns=["metamorphism", *(str(verdict.value) for verdict in Verdict), "message"])

    # -- chains ----------------------------------------------------------------------------------------------------

    @check_types
    def chain(self, case_id: int) -> list[str]:
        """Return the datamorphisms that made a case from its seed case, in the order of application.

        A datamorphism of several inputs also has the ids of the cases that are its other arguments: ``"mid(3)"``.
        """
        (row,) = self.tests.rows_of(np.array([case_id])).tolist()
        if row < 0:
            raise DataError(
                f"There is no test case with id {case_id} in this set of {pluralise(len(self.tests), 'case')}."
            )
        ((_, chain),) = self.cases.read_chains(self.derivations.states[[row]])
        return self._name_steps(chain)

    def _name_steps(self, chain: Chain) -> list[str]:
        """Return a chain as names; a datamorphism of several inputs also has the ids of its other arguments."""
        ids, names = self.cases.tests.ids, self.datamorphisms
        others = [", ".join(str(ids[row]) for row in partners) for _, partners in chain]
        return [
            f"{names[step]}({text})" if text else names[step] for (step, _), text in zip(chain, others, strict=True)
        ]

    @cached_property
    def _traces(self) -> dict[str, list[ViolationTrace]]:
        """The violations by metamorphism, in the order of the derivations."""
        traces = {}
        for name in self.violated:
            numbers = np.flatnonzero(self.checks[name] == Verdict.VIOLATED)
            outputs, origin_rows = self.tests.output, self.derivations.origin_rows[numbers, 0]
            before = outputs[origin_rows].astype(object)
            before[origin_rows < 0] = None
            after = outputs[self.derivations.rows[numbers]].astype(object)
            chains = self.cases.read_chains(self.derivations.states[numbers])
            traces[name] = [
                ViolationTrace(number, seed, chain, self._find_shortest(name, number, chain), answers)
                for number, (seed, chain), answers in zip(
                    numbers.tolist(), chains, zip(before.tolist(), after.tolist(), strict=True), strict=True
                )
            ]
        return traces

    def _find_shortest(self, metamorphism: str, number: int, chain: Chain) -> Chain | None:
        shortest = self.shortened.get((metamorphism, number))
        if shortest is None or not shortest.is_searched:
            return chain if len(chain) <= 1 else None
        return shortest.chain

    @cached_property
    def violations(self) -> pd.DataFrame:
        """One row per violation.

        ``metamorphism``, ``case`` and ``seed_case`` (ids), ``chain`` and ``shortest`` (datamorphisms from the seed case to
        the case; the shortest chain that still violates the metamorphism, None where it was not searched), ``origin`` (id),
        ``origin_output``, ``output``, and the inputs: ``seed.<feature>`` and ``in.<feature>``.
        """
        parts = []
        for name, traces in self._traces.items():
            numbers = np.array([trace.number for trace in traces])
            seeds = np.array([trace.seed for trace in traces])
            rows, origin_rows = self.derivations.rows[numbers], self.derivations.origin_rows[numbers, 0]
            columns = {
                "metamorphism": name,
                "case": self.tests.ids[rows],
                "seed_case": self.cases.tests.ids[seeds],
                "chain": [self._format_chain(trace.chain) for trace in traces],
                "shortest": [
                    None if trace.shortest is None else self._format_chain(trace.shortest) for trace in traces
                ],
                "origin": np.where(origin_rows >= 0, self.tests.ids[origin_rows], NO_ORIGIN),
                "origin_output": pd.Series([trace.answers[0] for trace in traces], dtype=object),
                "output": pd.Series([trace.answers[1] for trace in traces], dtype=object),
            }
            inputs = [
                self.cases.tests.inputs.take(seeds).frame.add_prefix("seed."),
                self.tests.inputs.take(rows).frame.add_prefix("in."),
            ]
            parts.append(pd.concat([pd.DataFrame(columns), *inputs], axis=1))
        if parts:
            return pd.concat(parts, ignore_index=True)
        inputs = [f"{prefix}.{name}" for prefix in ("seed", "in") for name in self.tests.space.names]
        return pd.DataFrame(columns=[*VIOLATION_COLUMNS, *inputs])

    def _format_chain(self, chain: Chain) -> str:
        return CHAIN_ARROW.join(self._name_steps(chain))

    @cached_property
    def groups(self) -> list[ViolationGroup]:
        """The violations by metamorphism and shortest chain, the shortest and most frequent first."""
        groups: list[ViolationGroup] = []
        for name, traces in self._traces.items():
            members: dict[tuple[int, ...] | None, list[ViolationTrace]] = {}
            for trace in traces:  # other arguments do not count
                key = None if trace.shortest is None else tuple(step for step, _ in trace.shortest)
                members.setdefault(key, []).append(trace)
            named_groups = []
            for steps, group_traces in members.items():
                example = next((trace for trace in group_traces if trace.chain == trace.shortest), group_traces[0])
                chain = example.chain if example.shortest is None else example.shortest
                group = ViolationGroup(
                    metamorphism=name,
                    chain="" if steps is None else CHAIN_ARROW.join(self.datamorphisms[step] for step in steps),
                    count=len(group_traces),
                    is_searched=steps is not None,
                    words=self._format_example(name, example, chain),
                    example=(example.seed, chain),
                )
                named_groups.append(group)
            groups += sorted(
                named_groups, key=lambda group: (not group.is_searched, len(group.example[1]), -group.count)
            )
        return groups

    def _format_example(self, metamorphism: str, trace: ViolationTrace, chain: Chain) -> str:
        """Return a violation as a sentence, with the answers at the end of the chain."""
        names = self.tests.space.names
        seed_frame = self.cases.tests.inputs.take(slice(trace.seed, trace.seed + 1)).frame
        values = [f"{name} {_format_value(seed_frame[name].iloc[0])}" for name in names[:MAX_FEATURES_IN_EXAMPLE]]
        seed_values = ", ".join([*values, *(["..."] if len(names) > MAX_FEATURES_IN_EXAMPLE else [])])
        seed_case = f"seed case {self.cases.tests.ids[trace.seed]} ({seed_values})"
        before, after = trace.answers
        if chain != trace.chain:
            before, after = self.shortened[metamorphism, trace.number].answers or trace.answers
        if not chain:
            return f"{seed_case}: the answer is {format_short(after)}"
        start = f"{seed_case}, {self._format_chain(chain)}"
        if before is None:
            return f"{start}: the answer is {format_short(after)}"
        return f"{start}: {format_short(before)} becomes {format_short(after)}"

    @property
    def headline(self) -> str:
        """The outcome in one sentence."""
        cases = f"{pluralise(self.case_count, 'new case')} from {pluralise(self.seed_count, 'seed case')}"
        count = len(self.verdicts)
        if not count:
            return f"{self.subject}: {cases}"
        if not self.violated and self.recurring:
            earlier = pluralise(len(self.recurring), "violation")
            return f"{self.subject}: {cases}; none violates a metamorphism, but {earlier} of earlier runs still occur"
        if self.holds:
            if not self.table["holds"].sum():
                return f"{self.subject}: {cases}; no metamorphism could be checked"
            return f"{self.subject}: {cases}; no metamorphism is violated"
        metamorphisms = f"{len(self.violated)} of {pluralise(count, 'metamorphism')} violated"
        return f"{self.subject}: {cases}; {metamorphisms}, {pluralise(len(self.violations), 'violation')}"

    def __repr__(self) -> str:
        figures = (
            f"{self.case_count:,} new cases, {len(self.violated)} of {pluralise(len(self.verdicts), 'metamorphism')}"
        )
        return f"CombinationResult({self.subject}, {self.strategy}: {figures} violated)"

    # -- exports ---------------------------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """Return the figures, the table of metamorphisms and the first violations as a JSON-serialisable dict."""
        return self._collect(
            *("subject", "strategy", "order", "datamorphisms", "estimate", "duplicates", "runs", "calls", "seconds"),
            *("seed", "holds", "recurring", "notes", "interrupted", "complete", "unfinished"),
            seeds=self.seed_count,
            sampled=self.is_sampled,
            cases=self.case_count,
            ancestors=self.ancestors.sum(),
            rejected=self.cases.rejected_count,
            metamorphisms=self.table,
            violations=self.violations.head(MAX_VIOLATIONS_IN_DOCUMENT),
            violation_count=len(self.violations),
        )

    def stored_verdicts(self) -> list[dict[str, Any]]:
        """Return how often every metamorphism is violated, with an example in words."""
        words: dict[str, str] = {}
        for group in self.groups:
            words.setdefault(group.metamorphism, group.words)
        return [
            {
                "relation": row.metamorphism,
                "says": row.message or row.metamorphism,
                "verdict": "VIOLATED" if row.violated else "HOLDS" if row.holds else "NOT CHECKED",
                "cases": row.violated,
                "words": words.get(row.metamorphism, ""),
            }
            for row in self.table.itertuples()
        ]

    def stored_files(self) -> dict[str, FileWriter]:
        """Return the test set as a file."""
        return {TESTS_FILE: make_writer(self.tests.to_parquet, len(self.tests))}

    def test_cases(self) -> list[JUnitCase]:
        """Return one test case per metamorphism."""
        cases = []
        for row in self.table.itertuples():
            check_count = row.holds + row.violated
            message = "" if check_count else "It applies to no case with an answer."
            if row.violated:
                message = f"{row.violated:,} of {pluralise(check_count, 'check')} violate it"
            cases.append(
                JUnitCase(
                    name=row.metamorphism,
                    outcome="failed" if row.violated else "passed" if check_count else "skipped",
                    kind="violated" if row.violated else "",
                    message=message,
                    detail="\n".join(group.words for group in self.groups if group.metamorphism == row.metamorphism),
                )
            )
        if self.recurring:
            message = f"{pluralise(len(self.recurring), 'violation')} still occur"
            detail = "\n".join(self.recurring)
            cases.append(JUnitCase(name="violations of earlier runs", outcome="failed", message=message, detail=detail))
        return cases

    def _export_name(self) -> str:
        return f"{self.subject}: {self.strategy}"

    def _export_properties(self) -> dict[str, str]:
        return {"strategy": self.strategy, "seed": str(self.seed), "cases": str(self.case_count)}


def _format_value(value: object) -> str:
    return "missing" if pd.api.types.is_scalar(value) and pd.isna(value) else format_short(value)
