"""`Hunt`, the result of hunting violations, and the records it consists of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from .._deprecation import rename_attribute
from .._lazy import pd
from .._text import format_short, pluralise
from .._validation import validate_integer
from ..core.result import Measure, Result
from ..errors import ArgumentError
from ..relations.algebra.base import (
    HOLDS,
    INAPPLICABLE,
    UNDEFINED,
    VIOLATED,
    JudgedGroups,
    Mask,
    MetamorphicRelation,
    Verdicts,
)
from ..relations.algebra.box import Floats
from ..relations.algebra.function import FunctionRelation
from ..reporting.junit import JUnitCase
from ..space.points import Batch, Points
from ..space.space import Space
from .measures import FMeasures, e_measure, p_measure
from .selector_base import Picks
from .violation_regions import ViolationRegion

MAX_EXAMPLES_PER_RELATION = 3
MAX_VIOLATIONS_IN_DOCUMENT = 100


class ViolatingGroup(NamedTuple):
    """A group that violates its relation, with its inputs and outputs.

    `trial` counts from 0, `number` is the number of the group in its trial and counts from 1, `relation` is the number
    of the relation.
    """

    trial: int
    number: int
    relation: int
    inputs: tuple[Floats, ...]
    outputs: tuple[Any, ...]

    def format_calls(self, space: Space | None = None) -> str:
        """Return the calls with their answers, such as ``f(1) = 2, f(2) = 5``, with the values of the space if given."""
        return ", ".join(
            f"f({', '.join(format_short(value) for value in decode_inputs(inputs, space))}) = {_format_output(output)}"
            for inputs, output in zip(self.inputs, self.outputs, strict=True)
        )


def decode_inputs(inputs: Floats, space: Space | None) -> list[Any]:
    """Return the inputs as the user's values: categories by name, whole numbers as such."""
    if space is None or len(inputs) != len(space):
        return inputs.tolist()
    frame = space.decode(inputs[None])
    return [frame.iloc[:, column].tolist()[0] for column in range(frame.shape[1])]


def _format_output(output: object) -> str:
    values = output.tolist() if hasattr(output, "tolist") else output
    if isinstance(values, list):
        return "(" + ", ".join(format_short(value) for value in values) + ")"
    return format_short(values)


@dataclass(kw_only=True)
class HuntTrial:
    """The record of one trial."""

    groups: int = 0  # that count
    violated: list[int] = field(default_factory=list)  # the numbers of the violating groups, from 1
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((1, 4), dtype=np.int64))  # by relation
    generation_seconds: float = 0.0  # spent on choosing groups
    seconds: float = 0.0
    first_violation_seconds: float = float("nan")
    calls: int = 0  # the number of inputs that the system answered
    exhausted: bool = False  # whether the budget ended the trial
    #: the first groups of the first trial with their verdicts, for the plot of sources
    first_batches: list[tuple[Picks, Verdicts]] = field(default_factory=list, repr=False)
    #: the same if sources are rows of data: the relation, the numbers of the groups, and the groups
    first_rows: list[tuple[int, npt.NDArray[np.int64], JudgedGroups]] = field(default_factory=list, repr=False)


@dataclass(frozen=True, eq=False)
class ExecutedSources:
    """Executed sources of one relation, with the numbers and verdicts of groups.

    `group_count` is the number of groups of all relations among which the sources were found. `inputs` are those of the
    function, one array per source and per follow-up; there are no follow-ups if they depend on the outputs of the sources.
    """

    sources: Floats  # the numbers that were drawn
    number: npt.NDArray[np.int64]
    violated: Mask
    group_count: int
    inputs: tuple[Floats, ...] = ()
    follow_ups: tuple[Floats, ...] = ()
    space: Space | None = None  # of the inputs, for models and systems


def _get_plottable(batch: Batch) -> Points | None:
    """Return cases that are points with numbers and categories only; None for others."""
    if not isinstance(batch, Points) or batch.space.blocks:
        return None
    return None if any(feature.kind == "text" for feature in batch.space.features) else batch


@dataclass(frozen=True, eq=False, kw_only=True)
class Hunt(Result):
    """The result of a hunt.

    Attributes
    ----------
    name, generator : str
        The names of the system, and of the generator or selector.
    relations : tuple of FunctionRelation or Relation
        The relations that were checked.
    trials : list of HuntTrial
        The record of each trial.
    examples : list of ViolatingGroup
        The first 10,000 violating groups.
    columns : tuple of str
        The names of the inputs.
    budget, seed : int
        The maximal number of groups per trial, and the seed.
    seconds : float
        The duration of the hunt.
    failed : int
        The number of inputs to which a function gave no answer.
    failure_message : str
        The most frequent error of the function; empty if it never failed.
    interrupted : bool
        Whether the hunt was interrupted. It then holds everything up to the interruption.
    timed_out : bool
        Whether the hunt ended because its time was over.
    time_limit : float or None
        The seconds that the hunt could take; None if its budget is a number of groups.
    unfinished : tuple of str
        What a budget of time did not reach.
    space : Space or None
        The space of the inputs, for models and systems.
    function : callable or None
        What was hunted, if it is a function: reports show where it violates relations.
    regions : tuple of ViolationRegion
        The violation regions of the violated relations, if they were measured.
    """

    _SUMMARY = ("generator", "trials", "groups", "calls", "violated")
    _PAGE: ClassVar[str] = "hunting.page:build_page"

    name: str
    generator: str
    relations: tuple[MetamorphicRelation, ...]
    trials: list[HuntTrial]
    examples: list[ViolatingGroup]
    columns: tuple[str, ...]
    budget: int
    seed: int
    seconds: float
    failed: int = 0
    failure_message: str = ""
    interrupted: bool = False
    timed_out: bool = False
    time_limit: float | None = None
    unfinished: tuple[str, ...] = ()
    space: Space | None = field(default=None, repr=False)
    function: Callable[..., Any] | None = field(default=None, repr=False)
    regions: tuple[ViolationRegion, ...] = field(default=(), repr=False)

    kept = rename_attribute("Hunt.kept", "examples")

    @property
    def f_measures(self) -> npt.NDArray[np.int64]:
        """The number of groups up to and including the first violation, per trial.

        For a trial without a violation it is the number of all its groups.
        """
        return self.measured.counts

    @property
    def measured(self) -> FMeasures:
        """The F-measures; trials without a violation are censored."""
        counts = [trial.violated[0] if trial.violated else trial.groups for trial in self.trials]
        return FMeasures(np.array(counts), np.array([not trial.violated for trial in self.trials]))

    @property
    def f2_measures(self) -> npt.NDArray[np.int64]:
        """The number of further groups until the second violation, per trial that has two."""
        return np.array([t.violated[1] - t.violated[0] for t in self.trials if len(t.violated) > 1], dtype=np.int64)

    @property
    def f_times(self) -> npt.NDArray[np.float64]:
        """The seconds until the first violation, per trial; NaN if there is none."""
        return np.array([trial.first_violation_seconds for trial in self.trials])

    @property
    def generation_seconds(self) -> float:
        """The seconds spent on choosing groups."""
        return sum(trial.generation_seconds for trial in self.trials)

    def p_measure(self, groups: int) -> Measure:
        """Return the share of trials with a violation among the first `groups`."""
        return p_measure(self.measured, groups)

    def e_measure(self, groups: int) -> Measure:
        """Return the mean number of violations among the first `groups`.

        Every trial must have executed as many groups.
        """
        shortest = min(trial.groups for trial in self.trials)
        if validate_integer("groups", "e_measure", groups, 1) > shortest:
            raise ArgumentError(
                f"e_measure() needs {groups:,} groups per trial, but a trial ended after "
                f"{pluralise(shortest, 'group')}. Collect all violations: hunt(..., stop_after=None)."
            )
        table = np.zeros((len(self.trials), groups), dtype=bool)
        for row, trial in enumerate(self.trials):
            table[row, [number - 1 for number in trial.violated if number <= groups]] = True
        return e_measure(table, groups)

    @property
    def groups(self) -> int:
        """The number of groups in all trials."""
        return sum(trial.groups for trial in self.trials)

    @property
    def judged_groups(self) -> int:
        """The number of groups with the verdict holds or violated."""
        return int(sum(trial.counts[:, [HOLDS, VIOLATED]].sum() for trial in self.trials))

    @property
    def calls(self) -> int:
        """The number of inputs that the system answered."""
        return sum(trial.calls for trial in self.trials)

    @property
    def violated(self) -> int:
        """The number of violating groups."""
        return sum(len(trial.violated) for trial in self.trials)

    @property
    def found(self) -> bool:
        """Whether any group violates its relation."""
        return self.violated > 0

    @property
    def passed(self) -> bool:
        """Whether no group violates its relation."""
        return not self.found

    @property
    def complete(self) -> bool:
        """Whether everything was tried that the hunt was to try."""
        return not self.unfinished and not self.interrupted

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks that matter for reading the result."""
        notes = []
        if self.groups and not self.judged_groups:
            counts = self._count_verdicts().sum(axis=0)
            notes.append(
                f"No group could be judged: {pluralise(int(counts[UNDEFINED]), 'group')} without a numeric answer, "
                f"{int(counts[INAPPLICABLE]):,} to which the relation does not apply or whose follow-ups leave their "
                "declared domain."
            )
        elif (
            self.passed and self.function is not None and (undefined := int(self._count_verdicts()[:, UNDEFINED].sum()))
        ):
            notes.append(
                f"{pluralise(undefined, 'group')} could not be judged, for want of an answer that is a number. dm.check(function, "
                "relations=relation) reports inputs inside the domain that have none."
            )
        if self.failed:
            inputs = pluralise(self.failed, "input")
            notes.append(f"{inputs} had no answer. The most frequent error: {self.failure_message}")
        if self.interrupted:
            notes.append("The hunt was interrupted. The result holds everything up to then.")
        if self.timed_out:
            limit = "its budget" if self.unfinished else "the limit without a budget"
            notes.append(
                f"The hunt ended after {self.time_limit:g} s, {limit}, in trial {len(self.trials):,}, "
                f"with {pluralise(self.trials[-1].groups, 'group')} of at most {self.budget:,}. Give a budget of groups to go "
                "on: budget=..."
            )
        return tuple(notes)

    def _count_verdicts(self) -> npt.NDArray[np.int64]:
        """Return the number of groups per relation and verdict."""
        return sum((trial.counts for trial in self.trials), np.zeros((len(self.relations), 4), dtype=np.int64))

    @property
    def table(self) -> pd.DataFrame:
        """One row per relation: the number of groups in all and per verdict."""
        counts = self._count_verdicts()
        return pd.DataFrame(
            {
                "relation": [relation.name for relation in self.relations],
                "groups": counts.sum(axis=1),
                "holds": counts[:, HOLDS],
                "violated": counts[:, VIOLATED],
                "inapplicable": counts[:, INAPPLICABLE],
                "undefined": counts[:, UNDEFINED],
            }
        )

    @property
    def violations(self) -> pd.DataFrame:
        """One row per violating group: trial, group, relation, inputs and outputs.

        ``x1.`` begins the columns of the first source, ``y1`` those of its output, and so on.
        """
        rows = [self._to_row(violation) for violation in self.examples]
        return pd.DataFrame(rows) if rows else pd.DataFrame(columns=["trial", "group", "relation"])

    def _to_row(self, violation: ViolatingGroup) -> dict[str, Any]:
        row: dict[str, Any] = {
            "trial": violation.trial,
            "group": violation.number,
            "relation": self.relations[violation.relation].name,
        }
        for i, inputs in enumerate(violation.inputs, 1):
            names = self.columns if len(inputs) == len(self.columns) else [f"{j}" for j in range(len(inputs))]
            row |= {f"x{i}.{name}": value for name, value in zip(names, decode_inputs(inputs, self.space), strict=True)}
        for i, output in enumerate(violation.outputs, 1):
            values = np.atleast_1d(output)
            if len(values) == 1:
                row[f"y{i}"] = values[0]
            else:
                row |= {f"y{i}.{j}": value for j, value in enumerate(values.tolist())}
        return row

    def executed(self, relation: int) -> ExecutedSources:
        """Return the sources of a relation among the first groups of the first trial; none if they are texts or images."""
        function = self.relations[relation]
        batches, group_count = self.trials[0].first_batches, self.trials[0].groups
        if self.trials[0].first_rows:
            return self._read_executed_rows(relation)
        if not isinstance(function, FunctionRelation) or not batches:
            return ExecutedSources(np.zeros((0, 0)), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool), 0)
        relation_numbers = np.concatenate([picks.relation for picks, _ in batches])[:group_count]
        sources = np.concatenate([picks.sources for picks, _ in batches])[:group_count]
        violated = np.concatenate([verdicts for _, verdicts in batches])[:group_count] == VIOLATED
        rows = np.flatnonzero(relation_numbers == relation)
        draws = sources[rows, : function.width]
        return ExecutedSources(
            draws,
            rows + 1,
            violated[rows],
            len(relation_numbers),
            inputs=tuple(function.source_inputs(draws)) if len(rows) else (),
            follow_ups=tuple(function.follow_inputs(function.follow(draws)))
            if len(rows) and not function.uses_outputs
            else (),
            space=self.space,
        )

    def _read_executed_rows(self, relation: int) -> ExecutedSources:
        """Return the rows that were sources of a relation, with their follow-ups; none if they are texts or images."""
        group_count = self.trials[0].groups
        numbers, sources, follow_ups, violated = [], [], [], []
        space = None
        for position, group_numbers, judged in self.trials[0].first_rows:
            source, follow_up = _get_plottable(judged.source), _get_plottable(judged.follow_up)
            if position == relation and source is not None and follow_up is not None:
                counted = group_numbers <= group_count
                numbers.append(group_numbers[counted])
                sources.append(source.codes[counted])
                follow_ups.append(follow_up.codes[counted])
                violated.append(judged.verdicts[counted] == VIOLATED)
                space = source.space
        if space is None:
            return ExecutedSources(np.zeros((0, 0)), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool), 0)
        source_codes = np.concatenate(sources)
        return ExecutedSources(
            source_codes,
            np.concatenate(numbers),
            np.concatenate(violated),
            min(group_count, max(int(part[1][-1]) for part in self.trials[0].first_rows)),
            inputs=(source_codes,),
            follow_ups=(np.concatenate(follow_ups),),
            space=space,
        )

    @property
    def headline(self) -> str:
        """The outcome in one line."""
        return f"{pluralise(self.violated, 'violation')} in {pluralise(self.groups, 'group')}"

    def __repr__(self) -> str:
        return f"Hunt({self.name}: {self.headline})"

    def document(self) -> dict[str, Any]:
        """Return the result as a JSON-serialisable dict, with at most 100 violations."""
        return self._collect(
            *("generator", "budget", "seed", "groups", "calls", "violated", "f_measures", "f2_measures", "f_times"),
            *("seconds", "generation_seconds", "table", "notes", "complete", "unfinished"),
            subject=self.name,
            relations=[relation.name for relation in self.relations],
            trials=len(self.trials),
            censored=self.measured.censored_share,
            violations=self.violations.head(MAX_VIOLATIONS_IN_DOCUMENT),
            **({"regions": [region.document() for region in self.regions]} if self.regions else {}),
        )

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return one test case per relation; it is skipped if no group could be judged."""
        cases = []
        for number, row in enumerate(self.table.itertuples()):
            groups = pluralise(row.groups, "group")
            if row.violated:
                violations = [violation for violation in self.examples if violation.relation == number]
                case = JUnitCase(
                    name=row.relation,
                    outcome="failed",
                    kind="violated",
                    message=f"{row.violated:,} of {groups} violate the relation",
                    detail="\n".join(
                        violation.format_calls(self.space) for violation in violations[:MAX_EXAMPLES_PER_RELATION]
                    ),
                )
            elif row.holds:
                case = JUnitCase(name=row.relation)
            else:
                case = JUnitCase(name=row.relation, outcome="skipped", message=f"none of {groups} could be judged")
            cases.append(case)
        return cases

    def _export_name(self) -> str:
        return self.name
