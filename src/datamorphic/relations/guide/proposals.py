"""What the other side did: counts of how the answers changed, and patterns that fit.

Given a change of the inputs, `propose_outputs` finds output patterns that the answers keep. Given an output pattern,
`propose_inputs` finds changes after which the answers keep it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._text import format_percent
from ..._validation import is_number
from ...errors import DatamorphicError, OutOfBudget
from ...space.answers import is_collection
from ..patterns import inputs as changes
from ..patterns.catalogue import PatternCatalogue
from ..patterns.outputs import is_same, list_items
from ..patterns.pattern import Pattern
from ..patterns.relation import Answers, InputPattern, OutputPattern
from .parameters import read_parameters
from .systems import GuidedSystem, InputParameter, TriedChange, find_answer_kind, list_parts
from .tables import read_guide

MIN_PROPOSED_SHARE = 0.5  # of the groups that keep a proposed pattern
MAX_PROPOSALS = 8
INPUT_TRIAL_CASES = 25  # per candidate
MAX_INPUT_CANDIDATES = 40
MAX_COLUMNS_TRIED = 8  # of each kind


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """The other side of a relation, with the number of groups that keep the relation."""

    pattern: str
    side: InputPattern | OutputPattern
    met_count: int
    judged: int

    @property
    def share(self) -> float:
        """The share of the groups that keep the relation."""
        return self.met_count / self.judged if self.judged else 0.0

    def describe(self) -> str:
        """Return the side, and how often the relation is kept."""
        return f"{self.side.describe()} ({format_count(self.met_count, self.judged)})"


def format_count(met_count: int, judged: int) -> str:
    """Return how many groups keep a pattern.

    Examples
    --------
    >>> format_count(100, 100), format_count(97, 100)
    ('in all 100 cases', 'in 97 of 100 cases, 97%')
    """
    if met_count == judged:
        return f"in all {judged:,} cases" if judged > 1 else "in the only case"
    return f"in {met_count:,} of {judged:,} cases, {format_percent(met_count / judged)}"


# -- what the answers did ----------------------------------------------------------------------------------------------


def count_effects(tried: TriedChange) -> dict[str, int]:
    """Return how often the answers to the first follow-ups did what.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from datamorphic.relations.guide.systems import open_system, read_space
    >>> system = open_system(
    ...     model_name="f", model=lambda frame: frame.x**2, data_name="none", data=read_space("x = -9 to 9"), target=None,
    ...     trust=False, seed=0
    ... )
    >>> count_effects(system.try_input(dm.patterns["Symmetric"].input(columns=("x",))))["stayed the same"]
    100
    """
    counts = dict.fromkeys(
        (
            "stayed the same",
            "grew",
            "shrank",
            "came in another order",
            "lost items only",
            "gained items only",
            "share no item",
            "changed otherwise",
        ),
        0,
    )
    for before, after in zip(tried.before, tried.afters[0], strict=True):
        counts[_name_effect(before, after)] += 1
    return {effect: count for effect, count in counts.items() if count}


def _name_effect(before: Any, after: Any) -> str:
    if is_same(before, after):
        return "stayed the same"
    if is_number(before) and is_number(after):
        return "grew" if after > before else "shrank"
    if is_collection(before) and is_collection(after) and not isinstance(before, Mapping):
        first, second = set(list_items(before)), set(list_items(after))
        if first == second:
            return "came in another order"
        if second < first:
            return "lost items only"
        if second > first:
            return "gained items only"
        if not first & second:
            return "share no item"
    return "changed otherwise"


# -- output patterns that fit ------------------------------------------------------------------------------------------


def propose_outputs(catalogue: PatternCatalogue, tried: TriedChange) -> list[Proposal]:
    """Return output patterns to choose from: what the change's own pattern expects, then those that most groups keep.

    The expectation of the own pattern is proposed however few groups keep it: what a faulty system does is no guide.
    """
    answers = tried.before
    proposals: list[Proposal] = []
    makers_seen: set[tuple[str, str]] = set()
    for pattern in _order_patterns(catalogue, tried.input):
        for output in _list_outputs(pattern, tried, answers):
            key = (type(output).__name__, repr(sorted(read_parameters(output).items())))
            met_count = count_kept(output, tried) if key not in makers_seen else None
            makers_seen.add(key)
            if met_count is not None:
                proposals.append(Proposal(pattern=pattern.name, side=output, met_count=met_count, judged=len(answers)))
    own_proposals = [proposal for proposal in proposals if proposal.pattern == tried.input.pattern]
    expected = max(own_proposals, key=lambda proposal: proposal.met_count, default=None)
    likely = [item for item in proposals if item is expected or item.share >= MIN_PROPOSED_SHARE]
    return _arrange(likely, tried.input.pattern)[:MAX_PROPOSALS]


def count_kept(output: OutputPattern, tried: TriedChange) -> int | None:
    """Return how many groups keep an output pattern; None if it does not fit the answers."""
    try:
        with np.errstate(all="ignore"):
            return int(np.sum(output.judge(tried.frame, tried.before, tried.afters)))
    except OutOfBudget:
        raise
    except (DatamorphicError, TypeError, ArithmeticError, LookupError):
        return None


def _order_patterns(catalogue: PatternCatalogue, change: InputPattern) -> list[Pattern]:
    """Return the patterns with an output side: that of the change and its partners first, pure output patterns next."""
    first: list[str] = []
    if change.pattern in catalogue:
        first = [change.pattern, *catalogue[change.pattern].partners]

    def rank(pattern: Pattern) -> tuple[int, int]:
        place = first.index(pattern.name) if pattern.name in first else len(first)
        return (place, 0 if pattern.kind == "MROP" else 1)

    return sorted((pattern for pattern in catalogue.values() if pattern.outputs is not None), key=rank)


def _list_outputs(pattern: Pattern, tried: TriedChange, answers: Answers) -> Iterator[OutputPattern]:
    """Yield the outputs of a pattern that may fit the kind of the answers, with parameters from the answers."""
    assert pattern.outputs is not None
    table, name, kind = read_guide().proposals, pattern.outputs.__name__, find_answer_kind(answers)
    is_plain = kind in ("number", "label")
    if (name in table.about_sets and kind not in ("list", "set")) or (name in table.about_numbers and kind != "number"):
        return
    if name == "FullyEqual" and is_plain:
        return  # the same as Equality
    if (name in table.about_several and len(tried.afters) < 2) or (name in ("Alike", "NearlySame") and kind == "label"):
        return
    candidates: list[dict[str, Any]] = [{}]
    if name == "Ordered":
        candidates = [] if kind not in ("number", "list", "set") else [{"direction": "up"}, {"direction": "down"}]
    elif name == "EvenOrOdd":
        candidates = [{"odd": False}, {"odd": True}] if pattern.name == tried.input.pattern else [{"odd": True}]
    elif name in table.about_numbers:
        candidates = list(_fit_numbers(name, answers, tried.afters[0]))
    elif name == "SetRelation":
        candidates = []
    elif name == "PartlyEqual":
        candidates = _fit_parts(tried, answers, kind)
    elif name in ("Returned", "InverseReturned"):
        candidates = [{"column": tried.input.column}] if isinstance(tried.input, changes.FeedBack) else []
    for parameters in candidates:
        try:
            yield pattern.output(**parameters)
        except DatamorphicError:
            continue


def _fit_numbers(name: str, before: Answers, after: Answers) -> Iterator[dict[str, Any]]:
    """Yield the amount or factor that most answers changed by."""
    before, after = before.astype(float), after.astype(float)
    if after.dtype.kind != "f" or not len(before):
        return
    with np.errstate(all="ignore"):
        if name == "AddedAnswer":
            amount = _tidy(float(np.nanmedian(after - before)))
            if amount:
                yield {"amount": amount}
        elif name == "MultipliedAnswer":
            factor = _tidy(float(np.nanmedian((after / before)[before != 0]))) if (before != 0).any() else 1.0
            if factor not in (0, 1, -1) and np.isfinite(factor):
                yield {"factor": factor}


def _tidy(number: float) -> float:
    """Return a number without the digits that rounding errors add."""
    return float(f"{number:.9g}")


def _fit_parts(tried: TriedChange, answers: Answers, kind: str) -> list[dict[str, Any]]:
    if kind == "dict":
        parts = [
            part
            for part in list_parts(answers)
            if all(
                is_same(before[part], after.get(part))
                for after_column in tried.afters
                for before, after in zip(answers, after_column, strict=True)
                if isinstance(after, Mapping)
            )
        ]
        return [{"parts": tuple(parts)}] if parts else []
    return []


def _arrange(proposals: list[Proposal], own_pattern: str) -> list[Proposal]:
    """Return proposals in order, without those that follow from another one that all groups keep."""
    implied: set[str] = set()
    table = read_guide().proposals
    for proposal in proposals:
        if proposal.met_count == proposal.judged:
            implied |= set(table.implied.get(type(proposal.side).__name__, ()))
    remaining = [item for item in proposals if item.pattern == own_pattern or type(item.side).__name__ not in implied]

    def rank(proposal: Proposal) -> tuple[bool, float, int]:
        name = type(proposal.side).__name__
        strength = table.strength.index(name) if name in table.strength else len(table.strength)
        return (proposal.pattern != own_pattern, -proposal.share, strength)

    return sorted(remaining, key=rank)


# -- changes that fit --------------------------------------------------------------------------------------------------


def propose_inputs(system: GuidedSystem, output: OutputPattern) -> list[Proposal]:
    """Return changes of the inputs after which most groups keep an output pattern, the most frequent first."""
    proposals = []
    for _, change in zip(range(MAX_INPUT_CANDIDATES), _list_changes(system, output), strict=False):
        try:
            tried = system.try_input(change, INPUT_TRIAL_CASES)
        except OutOfBudget:
            raise
        except DatamorphicError:
            continue
        met_count, judged = count_kept(output, tried), len(tried.before)
        if met_count is not None and judged and met_count >= MIN_PROPOSED_SHARE * judged:
            proposals.append(Proposal(pattern=change.pattern, side=change, met_count=met_count, judged=judged))
    return sorted(proposals, key=lambda proposal: -proposal.share)[: 2 * MAX_PROPOSALS]


def _list_changes(system: GuidedSystem, output: OutputPattern) -> Iterator[InputPattern]:
    """Yield changes that the columns allow."""
    numbers = [item for item in system.inputs if item.is_number][:MAX_COLUMNS_TRIED]
    others = [item for item in system.inputs if not item.is_number][:MAX_COLUMNS_TRIED]
    yield changes.Condition()
    for item in numbers:
        amount = _choose_amount(item)
        yield changes.Increase(columns=(item.name,), amount=amount)
        yield changes.Increase(columns=(item.name,), amount=-amount)
        if item.low < 0 < item.high:
            yield changes.Negate(columns=(item.name,))
    if any(item.kind == "number" for item in numbers):
        yield changes.Perturb()
    if 2 <= len(numbers) <= 4:
        yield changes.Permute(columns=tuple(item.name for item in numbers))
    for item in others:
        yield from _list_other_changes(item)
    if len(others) == 2:
        yield changes.Swap(columns=(others[0].name, others[1].name))


def _list_other_changes(item: InputParameter) -> Iterator[InputPattern]:
    values = item.values
    unset = next((value for value in values if value in ("any", "all")), None)
    others = tuple(value for value in values if value != unset)[:3]
    if item.kind == "category" and unset is not None and others:
        yield changes.Restrict(column=item.name, values=others, unset=unset)
        if len(others) > 1:
            yield changes.OtherParts(column=item.name, values=others)
    elif item.kind == "category" and len(values) > 1:
        yield changes.Redirect(column=item.name, directions={values[0]: values[1]})
        yield changes.Condition(column=item.name, values=values[:2])
    if any(isinstance(value, str) and " " in value for value in values):
        yield changes.Perturb(columns=(item.name,))
        for way in ("order", "number", "linking words"):
            yield changes.SameMeaning(column=item.name, way=way)


def _choose_amount(item: InputParameter) -> float:
    width = item.high - item.low
    amount = float(f"{width / 20:.0e}") if np.isfinite(width) and width > 0 else 1.0
    return max(1, round(amount)) if item.kind == "whole number" else amount
