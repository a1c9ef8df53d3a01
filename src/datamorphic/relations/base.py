"""`Relation`: what a promise is, and what became of it on many cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError, TestSystemError
from ..runs.flow import Flow, Query
from ..space.outputs import Outputs
from ..space.points import Batch, Points, Rows, RowSelection
from ..systems.base import Executor

if TYPE_CHECKING:
    import pandas as pd

Mask = npt.NDArray[np.bool_]
Verdicts = npt.NDArray[np.int8]
HOLDS, VIOLATED, INAPPLICABLE, UNDEFINED = range(4)  # in the order of `cases.Verdict`
ROUNDING_TOLERANCE = (
    1e-6  # real answers may differ by so much of their size or spread: many models compute in single precision
)


@dataclass(frozen=True, eq=False)
class JudgedGroups:
    """Source cases and their follow-ups, side by side, with a verdict each.

    Attributes
    ----------
    rows : ndarray of int
        Which of the inputs each group is made of.
    source, follow_up : Points or Rows
        The two cases of each group.
    before, after : Outputs
        What the system answered to them.
    verdicts : ndarray of int8
        HOLDS, VIOLATED, INAPPLICABLE (the relation says nothing of this case) or UNDEFINED (one has no answer).
    among : Points or Rows, optional
        The batch in which the follow-up cases were asked, where that is what the relation is about.
    """

    rows: npt.NDArray[np.intp]
    source: Batch
    follow_up: Batch
    before: Outputs
    after: Outputs
    verdicts: Verdicts
    batch: Batch | None = None

    def __len__(self) -> int:
        return len(self.verdicts)

    def count(self, verdict: int) -> int:
        """Return how many groups have a verdict."""
        return int((self.verdicts == verdict).sum())

    @property
    def judged_count(self) -> int:
        """How many groups the relation could be judged on."""
        return self.count(HOLDS) + self.count(VIOLATED)

    def take(self, rows: RowSelection) -> JudgedGroups:
        """Return some of the groups."""
        return JudgedGroups(
            self.rows[rows],
            self.source.take(rows),
            self.follow_up.take(rows),
            self.before.take(rows),
            self.after.take(rows),
            self.verdicts[rows],
            self.batch,
        )

    @property
    def violations(self) -> JudgedGroups:
        """The groups that violate the relation."""
        return self.take(np.flatnonzero(self.verdicts == VIOLATED))


class Relation:
    """A promise about a system: change a case in a known way, and the answer must change in a known way.

    To make one of your own, say how the follow-up case is made from the source case and what is expected of the two
    answers; without `expects` they must be the same. `follow_up` and `expects` get whole columns, all cases at once.

    Attributes
    ----------
    name : str
        What it is called in reports and commands.
    says : str
        The promise in a sentence.
    necessary : bool
        Whether every right system keeps it: a violation is a fault. Otherwise it is a hypothesis, and a violation
        teaches something.

    Examples
    --------
    >>> import datamorphic as dm
    >>> class Richer(dm.Relation):
    ...     name = "richer"
    ...     says = "twice the income never turns a yes into a no"
    ...
    ...     def follow_up(self, frame, rng):
    ...         return frame.assign(income=frame.income * 2)
    ...
    ...     def expects(self, before, after):
    ...         return ~((before == "yes") & (after == "no"))
    """

    name: str = ""
    says: str = ""
    necessary: bool = True
    needs: tuple[str, ...] = ()  # what is assumed, in words
    whole: bool = False  # about batches as a whole, not about cases
    about: tuple[str, ...] = ()  # the features that an example must show

    def why_not(self, sut: Executor, inputs: Points) -> str:
        """Return why the relation says nothing about a system; an empty text where it does."""
        return ""

    def fitted_to(self, sut: Executor, inputs: Points) -> Relation:
        """Return the relation with what it has to know of a system and its inputs, the same for all cases to come."""
        return self

    def system(self, sut: Executor) -> Executor:
        """Return the system as this relation asks it; most ask it as everybody does."""
        return sut

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Tell which source cases the relation says something of: all, unless a subclass knows better."""
        return np.ones(len(frame), dtype=bool)

    def follow_up(self, frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        """Return the follow-up case of each source case, as rows in the same order."""
        raise NotImplementedError(f"{type(self).__name__} does not say how follow-up cases are made: follow_up()")

    def expects(self, before: npt.NDArray[Any], after: npt.NDArray[Any]) -> Any:
        """Tell group by group whether the two answers are as promised; by default they must be the same."""
        if before.dtype.kind == after.dtype.kind == "f":
            size = np.maximum(np.maximum(np.abs(before), np.abs(after)), np.ptp(before))
            return np.abs(before - after) <= ROUNDING_TOLERANCE * size
        return Outputs.of(before).same(Outputs.of(after))

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        """Ask for source and follow-up cases, and judge them."""
        frame = inputs.frame
        applies = validate_booleans("applies", self.name, self.applies(frame), len(frame))
        follow_up_frame = self.follow_up(frame.copy(), rng)
        if len(follow_up_frame) != len(frame):
            raise TestSystemError(
                f"follow_up of the relation {self.name!r} gave {len(follow_up_frame):,} rows for {len(frame):,} source cases. "
                "It must return one row for each, in the same order."
            )
        follow_up = self._points(inputs, follow_up_frame)
        before = yield Query(inputs, note=self.name)
        after = yield Query(follow_up, note=self.name)
        return self.judge(np.arange(len(inputs)), inputs, follow_up, before, after, applies)

    def judge(
        self,
        rows: npt.NDArray[np.intp],
        source: Batch,
        follow_up: Batch,
        before: Outputs,
        after: Outputs,
        applies: Mask | None = None,
    ) -> JudgedGroups:
        """Return the groups with their verdicts."""
        verdicts = np.full(len(rows), UNDEFINED, dtype=np.int8)
        both = before.ok & after.ok
        if both.any():
            as_expected = self.expects(before.values[both], after.values[both])
            verdicts[both] = np.where(
                validate_booleans("expects", self.name, as_expected, int(both.sum())), HOLDS, VIOLATED
            )
        if applies is not None:
            verdicts[~applies] = INAPPLICABLE
        return JudgedGroups(rows, source, follow_up, before, after, verdicts)

    def _points(self, inputs: Points, frame: pd.DataFrame) -> Batch:
        """Return follow-up cases in the space of the source cases, or as they are where they leave it."""
        try:
            return inputs.space.points(frame)
        except DataError:
            return Rows(frame.reset_index(drop=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __str__(self) -> str:
        assumption = "the input is a case, the output what the system answers to it"
        return format_relation("systems that answer cases", (assumption, *self.needs), self.name, self.says)


def validate_booleans(function: str, name: str, values: Any, length: int, noun: str = "cases") -> Mask:
    """Return what a function of a relation told of each case, if that is True or False."""
    column = np.asarray(values)
    if column.shape != (length,) or column.dtype.kind not in "bO":
        raise TestSystemError(
            f"{function} of the relation {name!r} must give True or False for each of {length:,} {noun}. "
            f"Got {column.dtype} of shape {column.shape}."
        )
    return column.astype(bool)


def format_relation(domain: str, assumptions: Sequence[str], name: str, says: str) -> str:
    """Return a relation in the words of the usual template; a promise "change: what follows" as if and then."""
    change, colon, follows = says.partition(": ")
    promise = [f"  if {change},", f"  then {follows}."] if colon else [f"  {says}."]
    assumption_lines = [f"- {assumption}" for assumption in assumptions]
    return "\n".join(
        [f"In the domain of {domain}", "assuming that", *assumption_lines,
         "the following metamorphic relation should hold", f"- {name}:", *promise]
    )  # fmt: skip


def split_statement(says: str) -> tuple[str, str]:
    """Split the statement "change: consequence" of a relation; without a colon all of it is the change."""
    change, _, consequence = says.partition(": ")
    return change, consequence


def get_relation_name(relation: Relation) -> str:
    """Return the name of a relation, or that of its class if it has none."""
    return relation.name or type(relation).__name__


def index_by_name(relations: Sequence[Relation]) -> dict[str, Relation]:
    """Return relations by their names."""
    return {relation.name: relation for relation in relations}
