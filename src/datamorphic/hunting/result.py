"""`Hunt`: what came of hunting violations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._text import pluralize
from .._validation import validate_integer
from ..errors import ArgumentError
from ..relations.base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED, Mask
from ..relations.box import Floats
from ..relations.function import FunctionRelation
from .loop import HuntTrial, ViolatingGroup
from .measures import FMeasures, IntervalEstimate, e_measure, p_measure

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ExecutedSources:
    """The sources of one relation in the first trial, with the numbers of their groups, and whether these violate."""

    sources: Floats
    number: npt.NDArray[np.int64]
    violated: Mask
    group_count: int  # of all relations that are told


@dataclass(frozen=True, eq=False)
class Hunt:
    """What came of a hunt.

    Attributes
    ----------
    name, generator : str
        What was hunted, and who proposed groups.
    relations : tuple of FunctionRelation
        What was put to it.
    trials : list of Trial
        What became of each trial.
    kept : list of Violation
        The violating groups, the first 10,000.
    columns : tuple of str
        What the inputs are called.
    seconds : float
        How long it took.
    notes : tuple of str
        What a reader should know.
    """

    name: str
    generator: str
    relations: tuple[FunctionRelation, ...]
    trials: list[HuntTrial]
    kept: list[ViolatingGroup]
    columns: tuple[str, ...]
    budget: int
    seed: int
    seconds: float
    failed: int = 0
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def f_measures(self) -> npt.NDArray[np.int64]:
        """The groups until the first violation of each trial, that one included; all that were tried where there is none."""
        return self.measured.counts

    @property
    def measured(self) -> FMeasures:
        """The F-measures, with which of them were ended before a violation was found."""
        counts = [trial.violated[0] if trial.violated else trial.groups for trial in self.trials]
        return FMeasures(np.array(counts), np.array([not trial.violated for trial in self.trials]))

    @property
    def f2_measures(self) -> npt.NDArray[np.int64]:
        """The further groups until the second violation, of each trial that has two."""
        return np.array(
            [t.violated[1] - t.violated[0] for t in self.trials if len(t.violated) > 1], dtype=np.int64
        )

    @property
    def f_times(self) -> npt.NDArray[np.float64]:
        """The seconds until the first violation of each trial; NaN where there is none."""
        return np.array([trial.first_violation_seconds for trial in self.trials])

    @property
    def generation_seconds(self) -> float:
        """The seconds spent on choosing groups."""
        return sum(trial.generation_seconds for trial in self.trials)

    def p_measure(self, groups: int) -> IntervalEstimate:
        """Return the share of trials with a violation among the first `groups`."""
        return p_measure(self.measured, groups)

    def e_measure(self, groups: int) -> IntervalEstimate:
        """Return the mean number of violations among the first `groups`; needs trials that went on that long."""
        shortest = min(trial.groups for trial in self.trials)
        if validate_integer("groups", "e_measure", groups, 1) > shortest:
            raise ArgumentError(
                f"A trial was ended after {pluralize(shortest, 'group')}, so nobody knows what {groups:,} would have shown. "
                "Collect: hunt(..., stop_after=None)."
            )
        table = np.zeros((len(self.trials), groups), dtype=bool)
        for row, trial in enumerate(self.trials):
            table[row, [number - 1 for number in trial.violated if number <= groups]] = True
        return e_measure(table, groups)

    @property
    def groups(self) -> int:
        """How many groups were judged in all trials."""
        return sum(trial.groups for trial in self.trials)

    @property
    def calls(self) -> int:
        """How many inputs were put to the system."""
        return sum(trial.calls for trial in self.trials)

    @property
    def violated(self) -> int:
        """How many groups violate their relation."""
        return sum(len(trial.violated) for trial in self.trials)

    @property
    def found(self) -> bool:
        """Whether any group violates its relation."""
        return self.violated > 0

    @property
    def table(self) -> pd.DataFrame:
        """A row for each relation: how many groups hold, are violated, not applicable, undefined."""
        import pandas as pd

        counts = sum((trial.counts for trial in self.trials), np.zeros((len(self.relations), 4), dtype=np.int64))
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
        """The violating groups: trial, number, relation, each input (``x1.`` the first source ...) and each output."""
        import pandas as pd

        rows = []
        for violation in self.kept:
            row: dict[str, Any] = {
                "trial": violation.trial, "group": violation.number, "relation": self.relations[violation.relation].name,
            }  # fmt: skip
            for i, inputs in enumerate(violation.inputs, 1):
                names = self.columns if len(inputs) == len(self.columns) else [f"{j}" for j in range(len(inputs))]
                row |= {f"x{i}.{name}": value for name, value in zip(names, inputs.tolist(), strict=True)}
            for i, output in enumerate(violation.outputs, 1):
                values = np.atleast_1d(output)
                if len(values) == 1:
                    row[f"y{i}"] = values[0]
                else:
                    row |= {f"y{i}.{j}": value for j, value in enumerate(values.tolist())}
            rows.append(row)
        return pd.DataFrame(rows) if rows else pd.DataFrame(columns=["trial", "group", "relation"])

    def executed(self, relation: int) -> ExecutedSources:
        """Return the sources of a relation among the first groups of the first trial."""
        batches, group_count = self.trials[0].first_batches, self.trials[0].groups
        relation_numbers = np.concatenate([picks.relation for picks, _ in batches])[:group_count]
        sources = np.concatenate([picks.sources for picks, _ in batches])[:group_count]
        violated = np.concatenate([verdicts for _, verdicts in batches])[:group_count] == VIOLATED
        rows = np.flatnonzero(relation_numbers == relation)
        return ExecutedSources(
            sources[rows, : self.relations[relation].width], rows + 1, violated[rows], len(relation_numbers)
        )

    def __repr__(self) -> str:
        return f"Hunt({self.name}: {pluralize(self.violated, 'violation')} in {pluralize(self.groups, 'group')})"

    def describe(self) -> str:
        """Return what was found, in words."""
        from .text import format_hunt

        return format_hunt(self)

    def document(self) -> dict[str, Any]:
        """Return everything for JSON."""
        from .text import build_document

        return build_document(self)

    def to_html(self, path: Any, system: Any = None) -> None:
        """Write a page with figures and pictures; with the function that was hunted, also where it violates relations."""
        from .page import write_page

        write_page(self, path, system)
