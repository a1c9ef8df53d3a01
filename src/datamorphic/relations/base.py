"""`Relation`: what a promise is, and what became of it on many cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError, TestSystemError
from ..outputs import Outputs
from ..space.points import Batch, Points, Rows, Take
from ..strategies.flow import Flow, Question
from ..sut.base import Executor

if TYPE_CHECKING:
    import pandas as pd

Mask = npt.NDArray[np.bool_]
Verdicts = npt.NDArray[np.int8]
HOLDS, VIOLATED, INAPPLICABLE, UNDEFINED = range(4)  # in the order of `cases.Verdict`
ROUNDING = (
    1e-6  # real answers may differ by so much of their size or spread: many models compute in single precision
)


@dataclass(frozen=True, eq=False)
class Groups:
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
    among: Batch | None = None

    def __len__(self) -> int:
        return len(self.verdicts)

    def count(self, verdict: int) -> int:
        """Return how many groups have a verdict."""
        return int((self.verdicts == verdict).sum())

    @property
    def judged(self) -> int:
        """How many groups the relation could be judged on."""
        return self.count(HOLDS) + self.count(VIOLATED)

    def take(self, rows: Take) -> Groups:
        """Return some of the groups."""
        return Groups(
            self.rows[rows],
            self.source.take(rows),
            self.follow_up.take(rows),
            self.before.take(rows),
            self.after.take(rows),
            self.verdicts[rows],
            self.among,
        )

    @property
    def violations(self) -> Groups:
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
            return np.abs(before - after) <= ROUNDING * size
        return Outputs.of(before).same(Outputs.of(after))

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[Groups]:
        """Ask for source and follow-up cases, and judge them."""
        frame = inputs.frame
        applies = true_or_false("applies", self.name, self.applies(frame), len(frame))
        made = self.follow_up(frame.copy(), rng)
        if len(made) != len(frame):
            raise TestSystemError(
                f"follow_up of the relation {self.name!r} gave {len(made):,} rows for {len(frame):,} source cases. "
                "It must return one row for each, in the same order."
            )
        follow = self._points(inputs, made)
        before = yield Question(inputs, note=self.name)
        after = yield Question(follow, note=self.name)
        return self.judge(np.arange(len(inputs)), inputs, follow, before, after, applies)

    def judge(
        self,
        rows: npt.NDArray[np.intp],
        source: Batch,
        follow_up: Batch,
        before: Outputs,
        after: Outputs,
        applies: Mask | None = None,
    ) -> Groups:
        """Return the groups with their verdicts."""
        verdicts = np.full(len(rows), UNDEFINED, dtype=np.int8)
        both = before.ok & after.ok
        if both.any():
            kept = self.expects(before.values[both], after.values[both])
            verdicts[both] = np.where(true_or_false("expects", self.name, kept, int(both.sum())), HOLDS, VIOLATED)
        if applies is not None:
            verdicts[~applies] = INAPPLICABLE
        return Groups(rows, source, follow_up, before, after, verdicts)

    def _points(self, inputs: Points, made: pd.DataFrame) -> Batch:
        """Return follow-up cases in the space of the source cases, or as they are where they leave it."""
        try:
            return inputs.space.points(made)
        except DataError:
            return Rows(made.reset_index(drop=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __str__(self) -> str:
        given = "the input is a case, the output what the system answers to it"
        return template("systems that answer cases", (given, *self.needs), self.name, self.says)


def true_or_false(what: str, name: str, given: Any, length: int, noun: str = "cases") -> Mask:
    """Return what a function of a relation told of each case, if that is True or False."""
    column = np.asarray(given)
    if column.shape != (length,) or column.dtype.kind not in "bO":
        raise TestSystemError(
            f"{what} of the relation {name!r} must give True or False for each of {length:,} {noun}. "
            f"Got {column.dtype} of shape {column.shape}."
        )
    return column.astype(bool)


def template(domain: str, given: Sequence[str], name: str, says: str) -> str:
    """Return a relation in the words of the usual template; a promise "change: what follows" as if and then."""
    change, colon, follows = says.partition(": ")
    promise = [f"  if {change},", f"  then {follows}."] if colon else [f"  {says}."]
    assumed = [f"- {each}" for each in given]
    return "\n".join(
        [f"In the domain of {domain}", "assuming that", *assumed,
         "the following metamorphic relation should hold", f"- {name}:", *promise]
    )  # fmt: skip


def by_name(relations: Sequence[Relation]) -> dict[str, Relation]:
    """Return relations by their names."""
    return {relation.name: relation for relation in relations}
