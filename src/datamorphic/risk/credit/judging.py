"""Changed applicants, the query made of them, and how often the answers violate each relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._lazy import pd
from ...core.result import ResultPart
from ...relations.algebra.base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED
from ...relations.algebra.change import STRONG_THRESHOLD, ChangedRows, ChangeRelation, is_strong
from .measures import Floats

MAX_WORST_CASES = 3  # per relation, model and repetition
#: edges of the histogram of wrongness, one bin per decade
WRONGNESS_EDGES = (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class ApplicantQuery:
    """Applicants as they are, and after the change of each relation.

    A model answers all of them in one query. The applicants as they are occur once, whatever the number of relations.
    """

    applicants: pd.DataFrame
    relations: tuple[ChangeRelation, ...]
    changed: tuple[ChangedRows, ...]

    @classmethod
    def build(cls, applicants: pd.DataFrame, relations: Sequence[ChangeRelation]) -> ApplicantQuery:
        """Change all applicants as each relation says."""
        frame = applicants.reset_index(drop=True)
        return cls(
            applicants=frame,
            relations=tuple(relations),
            changed=tuple(relation.change(frame) for relation in relations),
        )

    def __len__(self) -> int:
        return len(self.applicants) * (len(self.relations) + 1)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """All rows to be answered: the applicants, then the changed applicants of each relation."""
        return pd.concat([self.applicants, *(rows.frame for rows in self.changed)], ignore_index=True)

    def split(self, levels: Floats) -> list[Floats]:
        """Return the answers to the applicants, then those of each relation."""
        return np.split(levels, len(self.changed) + 1)

    def judge(self, levels: Floats, strong_threshold: float = STRONG_THRESHOLD) -> tuple[RelationTally, ...]:
        """Count violations per relation; `levels` are the probabilities of default for all rows of `frame`."""
        before, *afters = self.split(levels)
        return tuple(
            _tally_relation(relation, rows, self.applicants, before, after, strong_threshold)
            for relation, rows, after in zip(self.relations, self.changed, afters, strict=True)
        )


@dataclass(frozen=True, kw_only=True)
class WorstCase(ResultPart):
    """An applicant whose probability of default moves furthest in the wrong direction."""

    relation: str
    applicant: Mapping[str, Any]  # all values before the change
    changes: Mapping[str, tuple[Any, Any]]  # changed columns with their values before and after
    before: float
    after: float

    @property
    def wrongness(self) -> float:
        """The size of the wrong movement."""
        return abs(self.after - self.before)


@dataclass(frozen=True, kw_only=True)
class RelationTally:
    """How often one model broke one relation on one test set."""

    relation: str
    cases: int  # applicants that the relation applies to, with both answers
    strong: int
    weak: int
    clipped: int  # of the cases: the change ended at the limit of a range
    inapplicable: int  # a changed value is missing or stands for "unavailable"
    undefined: int  # an answer is missing
    histogram: tuple[int, ...]  # violations by size, see `WRONGNESS_EDGES`
    worst_cases: tuple[WorstCase, ...] = ()

    @property
    def violations(self) -> int:
        """The number of violations, strong and weak."""
        return self.strong + self.weak


def _tally_relation(
    relation: ChangeRelation,
    rows: ChangedRows,
    applicants: pd.DataFrame,
    before: Floats,
    after: Floats,
    strong_threshold: float,
) -> RelationTally:
    verdicts, wrongness = relation.judge_levels(before, after, rows.inapplicable)
    strong = is_strong(verdicts, wrongness, strong_threshold)
    violated = verdicts == VIOLATED
    judged = violated | (verdicts == HOLDS)
    sizes = wrongness[violated]
    # differences of numbers above 1 are in the last bin
    bins = np.searchsorted(WRONGNESS_EDGES[1:-1], sizes * (1 + 1e-9), side="right")
    order = np.flatnonzero(violated)[np.argsort(-sizes, kind="stable")[:MAX_WORST_CASES]]
    return RelationTally(
        relation=relation.name,
        cases=int(judged.sum()),
        strong=int(strong.sum()),
        weak=int((violated & ~strong).sum()),
        clipped=int((rows.clipped & judged).sum()),
        inapplicable=int((verdicts == INAPPLICABLE).sum()),
        undefined=int((verdicts == UNDEFINED).sum()),
        histogram=tuple(np.bincount(bins, minlength=len(WRONGNESS_EDGES) - 1).tolist()),
        worst_cases=tuple(
            WorstCase(
                relation=relation.name,
                applicant=applicants.iloc[row].to_dict(),
                changes={name: (applicants[name].iloc[row], rows.frame[name].iloc[row]) for name in relation.about},
                before=float(before[row]),
                after=float(after[row]),
            )
            for row in order
        ),
    )


def find_directions(relations: Sequence[ChangeRelation]) -> dict[str, int]:
    """Return the direction that the relations expect of each column.

    It is 1 if more of the column may only raise the risk, and -1 if it may only lower it. Relations that change one column
    decide; compositions follow from them. Columns with contradictory directions are left out.

    Examples
    --------
    >>> from datamorphic.relations.catalogue.credit import credit_relations
    >>> find_directions(list(credit_relations().values()))
    {'credit_score': -1, 'dti': 1, 'ltv': 1}
    """
    directions: dict[str, set[int]] = {}
    for relation in relations:
        if len(relation.changes) == 1 and relation.direction != "same":
            change = relation.changes[0]
            step = (change.factor or 1.0) - 1 if change.factor is not None else change.amount or 0.0
            if step:
                sign = (1 if step > 0 else -1) * (1 if relation.direction == "up" else -1)
                directions.setdefault(change.column, set()).add(sign)
    return {column: signs.pop() for column, signs in directions.items() if len(signs) == 1}
