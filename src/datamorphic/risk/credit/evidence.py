"""Whether there are enough loans for a verdict on a model that was given, and how many more are needed.

A verdict compares the share of applicants that are treated wrongly with a threshold. It needs an interval of that share that lies on
one side of the threshold: one loan that is treated right says nothing about one loan of a hundred.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..._stats import count_cases_to_decide
from ...core.result import ResultPart
from .model_result import ModelResult, ViolationShare


@dataclass(frozen=True, kw_only=True)
class LoanShortage(ResultPart):
    """Too few loans for a verdict on a model: the relation that needs most, and how many it has and needs.

    `needed` is the least number for a verdict if the share of violations stays as it is; None if that share is the threshold
    itself, which no number of loans can tell from a slightly higher one.
    """

    model: str
    relation: str
    cases: int  # loans that the relation applies to
    violated: int  # of them
    needed: int | None

    @property
    def missing(self) -> int | None:
        """How many more loans the relation needs."""
        return None if self.needed is None else self.needed - self.cases


def is_share_undecided(share: ViolationShare, threshold: float) -> bool:
    """Return whether the interval of a share contains the threshold: the true share may lie on either side.

    No interval lies below a threshold of 0. With it, the verdict is about the given loans, and their number does not matter.
    """
    return threshold > 0 and share.strong.low <= threshold < share.strong.high


def find_shortages(models: Sequence[ModelResult], threshold: float) -> dict[str, LoanShortage]:
    """Return the models with too few loans, by name; a model is decided as soon as one relation surely rejects it."""
    shortages = {}
    for model in models:
        shares = {name: share for name, share in model.shares.items() if share.cases} or dict(model.shares)
        if any(share.strong.low > threshold for share in shares.values()):
            continue
        own_shortages = [
            LoanShortage(
                model=model.name,
                relation=name,
                cases=share.cases,
                violated=round(share.strong.value * share.cases) if share.cases else 0,
                needed=count_cases_to_decide(share.strong.value if share.cases else 0.0, threshold),
            )
            for name, share in shares.items()
            if is_share_undecided(share, threshold)
        ]
        if own_shortages:
            shortages[model.name] = max(
                own_shortages, key=lambda shortage: math.inf if shortage.missing is None else shortage.missing
            )
    return shortages
