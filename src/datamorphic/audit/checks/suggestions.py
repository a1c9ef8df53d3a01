"""Suggest what to declare: attributes that look protected, directions that data and model share, identifiers."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._text import join_names, pluralise
from ...core.result import Finding, count_rows, format_share
from ...errors import BudgetSpent
from ...reporting.document import Section, Table
from ..check import CheckBudget, CheckFindings, get_facts, make_check
from ..columns import find_protected_columns
from ..context import CheckContext
from ..feature_shuffling import measure_influence
from ..influence import Influence
from ..responses import Direction, measure_responses

MAX_DIRECTIONS = 6
MIN_LABELLED_ROWS = 10
SIGNIFICANCE = 0.001  # of the correlation between feature and label, divided by the number of features


@dataclass(frozen=True, kw_only=True)
class _Suggestion:
    """Something to declare, and the lines that declare it."""

    column: str
    reason: str
    option: str  # of the command line
    python: str  # of dm.test
    toml: str  # of the file of expectations


def suggest_declarations(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Look for columns that look protected, directions, and identifiers, and offer lines that declare them."""
    influence = measure_influence(context, budget)
    declared = {*context.expectations.protected, *context.expectations.invariant, *context.expectations.monotone}
    findings, suggestions, remarks = [], [], []
    protected_roles = {name: role.role for name, role in find_protected_columns(context.inputs).items()}
    undeclared = [name for name in influence.rank() if name in protected_roles and name not in declared]
    used = [name for name in undeclared if influence.is_used(name)]
    unused = [name for name in undeclared if name not in used]
    if unused:
        remarks.append(f"no answer changed with {', '.join(unused)}, which may be protected")
    if used:
        findings.append(_build_protected_finding(used, protected_roles, influence))
        suggestions += [_suggest_protected(name, protected_roles[name]) for name in used]
    identifiers = context.identifiers
    suggestions += [_suggest_invariant(name, role.role) for name, role in identifiers.items() if name not in declared]
    directions: list[Direction] = []
    try:
        excluded = {*declared, *identifiers, *protected_roles, *context.suspected_columns}
        directions = _find_directions(context, budget, excluded)
    except BudgetSpent:
        remarks.append("there was no time to look for directions")
    if directions:
        findings.append(_build_direction_finding(directions))
        suggestions += [_suggest_direction(direction) for direction in directions]
    basis = f"{pluralise(len(suggestions), 'suggestion')} from {pluralise(len(context.columns), 'feature')}"
    section = Section(
        heading="What to declare",
        text="Declarations make checks possible that need to know what is intended. Take the lines that fit.",
        table=Table(
            columns=["column", "why", "command line", "Python", "file (TOML)"],
            rows=[[item.column, item.reason, item.option, item.python, item.toml] for item in suggestions],
        ),
    )
    return CheckFindings(
        basis="; ".join([basis, *remarks]), findings=findings, sections=[section] if suggestions else []
    )


# -- protected attributes ----------------------------------------------------------------------------------------------


def _build_protected_finding(names: Sequence[str], roles: dict[str, str], influence: Influence) -> Finding:
    shares = []
    for name in names:
        changed, tried = influence.count_changed(name), influence.tried[name]
        count, what = (changed, "answer") if changed else (int(influence.score_changed[name].sum()), "score")
        share = format_share(count, tried, "row")
        shares.append(
            f"{name} ({roles[name]}): {share} get another {what} if {name} alone is replaced by that of another row"
        )
    noun = "a column that looks" if len(names) == 1 else "columns that look"
    strongest = names[0]
    return Finding(
        **get_facts("suggestions.protected"),
        about=", ".join(names),
        title=f"The model uses {noun} protected, and nothing is declared: {', '.join(names)}",
        detail=f"{'. '.join(shares)}.",
        remedy=f"Decide for each whether decisions may depend on it. If not, declare it, and the check “protected” counts the "
        f"decisions that do: {' '.join(_suggest_protected(name, '').option for name in names)}. "
        f"In Python: protected={_format_list(names)}.",
        declarations=tuple(("protected", name) for name in names),
        **influence.describe_impact(strongest),
    )


def _suggest_protected(name: str, attribute: str) -> _Suggestion:
    return _Suggestion(
        column=name,
        reason=f"looks like {attribute}; the model uses it",
        option=f"--protected {shlex.quote(name)}",
        python=f"protected={_format_list([name])}",
        toml=f"protected = {_format_list([name])}",
    )


def _suggest_invariant(name: str, role: str) -> _Suggestion:
    return _Suggestion(
        column=name,
        reason=f"looks like an identifier: {role}",
        option=f"--invariant {shlex.quote(name)}",
        python=f'expect={{"invariant": {_format_list([name])}}}',
        toml=f"invariant = {_format_list([name])}",
    )


# -- directions --------------------------------------------------------------------------------------------------------


def _find_directions(context: CheckContext, budget: CheckBudget, excluded: set[str]) -> list[Direction]:
    """Return the directions in which the answer moves for nearly all rows, as the labels do, the strongest first."""
    level = _find_label_level(context)
    if level is None:
        return []
    directions = [
        direction
        for direction in measure_responses(context, budget).find_directions()
        if direction.feature not in excluded
        and direction.sign == _find_label_direction(context, direction.feature, level)
    ]
    return directions[:MAX_DIRECTIONS]


def _find_label_level(context: CheckContext) -> npt.NDArray[np.float64] | None:
    """Return the labels as numbers that the answers should rise with; None if there are none."""
    truth, labels = context.truth, context.sut.labels
    if truth is None:
        return None
    if context.has_numeric_answers:
        level = pd.to_numeric(pd.Series(truth, dtype=object), errors="coerce").to_numpy(dtype=np.float64)
        return level if np.isfinite(level).sum() >= MIN_LABELLED_ROWS else None
    if labels is None or len(labels) != 2:
        return None
    return np.array([str(label) == str(labels[1]) for label in truth.tolist()], dtype=np.float64)


def _find_label_direction(context: CheckContext, name: str, level: npt.NDArray[np.float64]) -> int:
    """Return the sign of the correlation between a feature and the label; 0 if it is not significant."""
    from scipy.stats import spearmanr

    values = context.inputs.codes[:, context.space.position(name)]
    known = np.isfinite(values) & np.isfinite(level)
    if known.sum() < MIN_LABELLED_ROWS or np.ptp(values[known]) == 0 or np.ptp(level[known]) == 0:
        return 0
    result: Any = spearmanr(values[known], level[known])
    return int(np.sign(result.statistic)) if result.pvalue < SIGNIFICANCE / len(context.columns) else 0


def _build_direction_finding(directions: Sequence[Direction]) -> Finding:
    ways = {direction.feature: direction.way for direction in directions}
    features_by_effect: dict[str, list[str]] = {}
    for direction in directions:
        features_by_effect.setdefault(_format_effect(direction), []).append(direction.feature)
    effects = [f"a higher value of {join_names(names, 'or')} {effect}" for effect, names in features_by_effect.items()]
    options = " ".join(_suggest_direction(direction).option for direction in directions)
    weakest = min(directions, key=lambda direction: direction.rows / direction.of)
    least = f"{weakest.rows:,}" if len(ways) == 1 else f"at least {weakest.rows:,}"
    if weakest.rows == weakest.of:
        least = "all"
    return Finding(
        **get_facts("suggestions.direction"),
        about=", ".join(ways),
        title=f"Directions that could be declared: {', '.join(f'{name} {way}' for name, way in ways.items())}",
        detail=f"In the data and in the model, {', and '.join(effects)}. {'Each' if len(ways) > 1 else 'This'} holds for "
        f"{least} of {pluralise(weakest.of, 'real row')} that it affects, whatever their other values.",
        remedy="If one of them must hold by law, physics or common sense, declare it, so that the next version of the model is "
        f'held to it: {options}. In Python: expect={{"monotone": {json.dumps(ways, ensure_ascii=False)}}}.',
        **count_rows(weakest.rows, weakest.of),
        effect=weakest.size if weakest.towards is None else None,
        declarations=tuple(("monotone", f"{name}={way}") for name, way in ways.items()),
    )


def _format_effect(direction: Direction) -> str:
    if direction.towards is None:
        return "raises the answer" if direction.sign > 0 else "lowers the answer"
    return f"makes the answer {direction.towards} {'more' if direction.sign > 0 else 'less'} likely"


def _suggest_direction(direction: Direction) -> _Suggestion:
    name, way = direction.feature, direction.way
    return _Suggestion(
        column=name,
        reason=f"a higher value {_format_effect(direction)}, in the data and in the model",
        option=f"--monotone {shlex.quote(f'{name}={way}')}",
        python=f'expect={{"monotone": {json.dumps({name: way}, ensure_ascii=False)}}}',
        toml=f"monotone = {{{json.dumps(name, ensure_ascii=False)} = {json.dumps(way)}}}",
    )


# -- lines -------------------------------------------------------------------------------------------------------------


def _format_list(names: Sequence[str]) -> str:
    """Return names as a list, which Python and TOML read in the same way."""
    return json.dumps(list(names), ensure_ascii=False)


def _find_skip_reason(context: CheckContext) -> str:
    if not context.has_data:
        return "no data are given"
    return "answers do not repeat, so that differences between queries mean nothing" if context.unstable else ""


SUGGESTIONS = make_check("suggestions", suggest_declarations, _find_skip_reason)
