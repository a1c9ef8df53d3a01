"""Judge changed answers: is it more than training again with another seed, and for whom?

Training again moves the scores of all rows a little, so answers change where the model is undecided: rows whose two best
scores differ by little. How far scores move is measured on the rows themselves: it is the spread at which as many answers
change as did. It moves them at random, so in no group of rows does it move them one way. A group is reported if its old
answers lose clearly more of their scores than those of all other rows do; where the scores of one model are not known, if more
of its answers change than the spread of all other rows explains. Both must hold on rows that were not used to find the group.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from .._stats import compute_wilson_interval
from ..core.result import Measure, ResultPart
from ..space.points import Points
from .groups import Floats, Mask, RowGroup, ValueFormats, build_row_conditions, find_group

ChangeVerdict = Literal["unchanged", "reseed", "group", "everywhere"]

#: The largest spread of the difference of two scores (from 0 to 1) that training again explains. On ten data sets, forests of 20
#: trees, boosters and networks had spreads up to 0.47, forests of 100 trees up to 0.2.
MAX_RESEED_SPREAD = 0.5
#: The share of changed answers beyond which it is not a reseed, whatever the scores say.
MAX_RESEED_SHARE = 0.25
MAX_RESEED_SHARE_OF_NUMBERS = 0.4  # that move by a quarter of their spread: boosters on 220 noisy rows reached 0.36
#: The same for systems without scores, whose rows all count as equally decided.
MAX_RESEED_SHARE_WITHOUT_SCORES = 0.02
#: How many times the expected share of changes, and how much more than it, the lower end of the interval in a group must be.
MIN_GROUP_RATIO, MIN_GROUP_EXCESS = 1.5, 0.03
CONFIRMATION_CONFIDENCE, CONFIRMATION_DEVIATIONS = (
    0.99,
    2.576,
)  # of the intervals on the rows that were not used to find a group
MAX_GROUPS = 3
MIN_EXPLAINED_SHARE = 0.3  # of many changes that groups must hold, or the changes are everywhere
MIN_CONFIRMING_ROWS = 15
MIN_NEW_SHARE = 0.7  # of the rows of a group must belong to no group before it
#: How much more of their scores (from 0 to 1) the old answers of a group must lose than those of other rows, and for numbers,
#: by how much of the spread of all answers those of the group must shift. Training again shifted groups by up to 0.06.
MIN_GROUP_LOSS = 0.1
SPREADS = np.geomspace(1e-3, MAX_RESEED_SPREAD, 40)


@dataclass(frozen=True, kw_only=True)
class ChanceLevel(ResultPart):
    """How much changed where the same learner was trained again with other seeds, as measured."""

    seeds: int  # how many models were trained
    shares: tuple[float, ...]  # of the answers that changed, per pair of models
    max_share: float  # more than this is not chance
    max_loss: float  # of the scores of a group: more than this is not chance


@dataclass(frozen=True, eq=False, kw_only=True)
class ChangedGroup(ResultPart):
    """A group of rows whose answers changed more than those of others."""

    text: str
    columns: tuple[str, ...]
    rows: int
    changed: int
    all_changed: int  # rows with changed answers, inside and outside
    share: Measure  # of the rows of the group that changed
    outside: Measure  # of all other rows
    expected: float  # the share of the rows of the group that training again would change; 0 for numbers
    loss: Measure | None = None  # what the old answers lost of their scores on average, or how far numbers shifted
    inside: Mask = field(repr=False)

    def document(self) -> dict[str, object]:
        """Return the group without the mask of its rows."""
        document = super().document()
        del document["inside"]
        return document


@dataclass(frozen=True, kw_only=True)
class ChangeJudgement(ResultPart):
    """Whether changed answers are more than training again explains."""

    verdict: ChangeVerdict
    rows: int
    changed: int
    spread: float | None  # of scores, at which as many answers change; None without scores
    expected: float  # the share of answers that training again changes at most
    groups: tuple[ChangedGroup, ...] = ()

    @property
    def is_more_than_chance(self) -> bool:
        """Whether more changed than training again with another seed explains."""
        return self.verdict in ("group", "everywhere")


def judge_changes(
    points: Points,
    changed: Mask,
    margins: Floats | None,
    *,
    losses: Floats | None = None,
    seed: int = 0,
    formats: ValueFormats | None = None,
    chance: ChanceLevel | None = None,
) -> ChangeJudgement:
    """Judge which rows changed.

    `margins` are the differences of the two best scores of one of the models, from 0 to 1 (NaN where unknown), `losses` what the
    margins of the old answers lost; for numbers, the changes in units of their spread. `chance` is what training again changed,
    if it was measured.
    """
    count, total = len(changed), int(changed.sum())
    spread = None if margins is None or not count else fit_spread(margins, changed)
    if chance is not None:
        limit = chance.max_share
    elif margins is not None and count:
        limit = min(MAX_RESEED_SHARE, float(expect_changes(margins, MAX_RESEED_SPREAD).mean()))
    else:
        limit = MAX_RESEED_SHARE_OF_NUMBERS if losses is not None else MAX_RESEED_SHARE_WITHOUT_SCORES
    verdict: ChangeVerdict = "unchanged"
    groups: list[ChangedGroup] = []
    if total:
        min_loss = max(MIN_GROUP_LOSS, 0.0 if chance is None else chance.max_loss)
        find = partial(find_changed_groups, points, changed, margins, seed=seed, formats=formats)
        if losses is None:
            groups = find()
        else:
            groups = find(losses=losses, min_loss=min_loss)
            if margins is None:  # numbers may rise or fall
                groups += find(losses=-losses, min_loss=min_loss)
        groups = groups[:MAX_GROUPS]
        low, _ = compute_wilson_interval(total, count)
        explained_count = sum(group.changed for group in groups)
        if low > limit and explained_count < MIN_EXPLAINED_SHARE * total:
            verdict = "everywhere"  # whatever groups there are
        else:
            verdict = "group" if groups else "reseed"
    return ChangeJudgement(
        verdict=verdict, rows=count, changed=total, spread=spread, expected=limit, groups=tuple(groups)
    )


def expect_changes(margins: Floats, spread: float) -> Floats:
    """Return the probability that the answer of each row changes if scores move by `spread`."""
    from scipy.special import ndtr

    return np.nan_to_num(ndtr(-np.abs(margins) / spread), nan=0.0)


def fit_spread(margins: Floats, changed: Mask) -> float:
    """Return the spread of scores at which as many answers change as did, at most `MAX_RESEED_SPREAD`."""
    target = changed.sum()
    expected = np.array([expect_changes(margins, spread).sum() for spread in SPREADS])
    return float(np.interp(target, expected, SPREADS))


def find_changed_groups(
    points: Points,
    changed: Mask,
    margins: Floats | None,
    *,
    losses: Floats | None = None,
    min_loss: float = MIN_GROUP_LOSS,
    seed: int = 0,
    formats: ValueFormats | None = None,
) -> list[ChangedGroup]:
    """Return groups in which answers changed more than the changes of all other rows explain, the clearest first."""
    conditions = build_row_conditions(points, formats)
    search, confirmation = split_halves(len(points), seed)
    groups: list[ChangedGroup] = []
    remaining = np.ones(len(points), dtype=bool)
    for _ in range(MAX_GROUPS):
        excess = changed - _expect(margins, changed, remaining) if losses is None else losses
        group = find_group(points, conditions, excess, search & remaining, formats)
        if group is None:
            break
        inside, outside = group.inside & remaining, remaining & ~group.inside
        expected = _expect(margins, changed, outside)
        if inside.sum() < MIN_NEW_SHARE * group.inside.sum():  # nearly the same as an earlier one
            remaining &= ~group.inside
            continue
        rows = inside & confirmation
        if rows.sum() < MIN_CONFIRMING_ROWS or not changed[inside].any():
            break
        loss = None
        if losses is not None:
            loss = compare_means(losses[rows], losses[outside & confirmation])
            if loss.low < min_loss:
                break
        elif not is_concentrated(int(changed[rows].sum()), int(rows.sum()), float(expected[rows].mean())):
            break
        groups.append(_describe_group(group, changed, float(expected[group.inside].mean()), loss))
        remaining &= ~group.inside
    return groups


def compare_means(inside: Floats, outside: Floats) -> Measure:
    """Return how much greater the mean inside is than that outside, with its interval."""
    inside, outside = inside[np.isfinite(inside)], outside[np.isfinite(outside)]
    if len(inside) < 2 or len(outside) < 2:
        return Measure(0.0, -np.inf, np.inf, len(inside), CONFIRMATION_CONFIDENCE)
    difference = float(inside.mean() - outside.mean())
    error = float(np.sqrt(inside.var(ddof=1) / len(inside) + outside.var(ddof=1) / len(outside)))
    width = CONFIRMATION_DEVIATIONS * error
    return Measure(difference, difference - width, difference + width, len(inside), CONFIRMATION_CONFIDENCE)


def _expect(margins: Floats | None, changed: Mask, outside: Mask) -> Floats:
    """Return the probability of each row to change, if all rows changed as those outside did."""
    if not outside.any():
        return np.ones(len(changed))
    if margins is None:
        return np.full(len(changed), changed[outside].mean())
    return expect_changes(margins, fit_spread(margins[outside], changed[outside]))


def is_concentrated(count: int, total: int, expected: float) -> bool:
    """Return whether clearly more of the rows of a group changed than expected."""
    low, _ = compute_wilson_interval(count, total, CONFIRMATION_CONFIDENCE)
    return low > MIN_GROUP_RATIO * expected and low > expected + MIN_GROUP_EXCESS


def _describe_group(group: RowGroup, changed: Mask, expected: float, loss: Measure | None = None) -> ChangedGroup:
    inside = group.inside
    return ChangedGroup(
        text=group.text,
        columns=group.columns,
        rows=int(inside.sum()),
        changed=int(changed[inside].sum()),
        all_changed=int(changed.sum()),
        share=Measure.from_counts(int(changed[inside].sum()), int(inside.sum())),
        outside=Measure.from_counts(int(changed[~inside].sum()), int((~inside).sum())),
        expected=expected,
        loss=loss,
        inside=inside,
    )


def split_halves(count: int, seed: int) -> tuple[Mask, Mask]:
    """Return two random halves of the rows: to look for groups, and to confirm them."""
    half = np.zeros(count, dtype=bool)
    half[np.random.default_rng(seed).permutation(count)[: count // 2]] = True
    return half, ~half
