"""Suggest what to declare: attributes that look protected, directions that data and model share, identifiers."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._text import pluralize
from ...errors import Interrupted, OutOfBudget
from ...relations.feature import Monotone
from ...relations.sweep import sweep
from ...reporting.document import Section, Table
from ...space.features import Categorical
from ..case_text import format_share
from ..check import Check, CheckBudget, CheckFindings, run_flow
from ..columns import find_identifiers, find_protected_columns
from ..context import CheckContext
from ..feature_shuffling import measure_influence
from ..finding import Finding
from ..influence import Influence

MAX_SWEPT_FEATURES = 6  # the most influential numbers
MAX_SWEPT_ROWS = 40
VALUES_PER_SWEEP = 9
MIN_SWEPT_ROWS = 10
MIN_ROWS_ONE_WAY = 0.95  # of the swept rows: a direction must hold for nearly all to be worth declaring
MIN_ROWS_MOVED = 0.5  # of the swept rows: otherwise a direction holds because nothing happens
SIGNIFICANCE = 0.001  # of the correlation between feature and label, divided by the number of features
RANDOM_STREAM = 174


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
    identifiers = find_identifiers(context.inputs)
    suggestions += [_suggest_invariant(name, role.role) for name, role in identifiers.items() if name not in declared]
    directions: dict[str, str] = {}
    try:
        directions = _find_directions(context, budget, influence, {*declared, *identifiers, *protected_roles})
    except Interrupted:
        raise
    except OutOfBudget:
        remarks.append("there was no time to look for directions")
    towards = _find_towards(context)
    if directions:
        findings.append(_build_direction_finding(context, directions, towards))
        suggestions += [_suggest_direction(name, direction) for name, direction in directions.items()]
    basis = f"{pluralize(len(suggestions), 'suggestion')} from {pluralize(len(context.space), 'feature')}"
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
        effect = f"{format_share(changed, tried, 'row')} get another answer if only it is that of another row"
        shares.append(f"{name} ({roles[name]}): {effect if changed else 'scores change with it, no answer did'}")
    noun = "a column that looks" if len(names) == 1 else "columns that look"
    strongest = names[0]
    return Finding(
        check="suggestions",
        about=", ".join(names),
        title=f"The model uses {noun} protected, and nothing is declared: {', '.join(names)}",
        level="advice",
        sure=0.7,
        detail=f"{'. '.join(shares)}.",
        remedy=f"Decide for each whether decisions may depend on it. If not, declare it, and the check “protected” counts the "
        f"decisions that do: {_join_options(_suggest_protected(name, '').option for name in names)} on the command line, "
        f"protected={_format_list(names)} in Python, protected = {_format_list(names)} in the file of expectations.",
        cases=influence.count_changed(strongest),
        of=influence.tried[strongest],
        counted_in_detail=True,
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


def _find_directions(
    context: CheckContext, budget: CheckBudget, influence: Influence, excluded: set[str]
) -> dict[str, str]:
    """Return the features along which the answer moves one way for nearly all rows, as the labels do."""
    level = _find_label_level(context, context.has_number_answers(influence.answers))
    if level is None:
        return {}
    candidates = []
    for name in influence.rank():
        feature = context.space[name]
        if isinstance(feature, Categorical) or name in excluded or not influence.is_used(name):
            continue
        relation = Monotone(name, "up").fitted_to(context.sut, context.inputs)
        if not relation.why_not(context.sut, context.inputs):
            sign = _find_label_direction(context, name, level)
            candidates += [(relation, sign)] if sign else []
    candidates = candidates[:MAX_SWEPT_FEATURES]
    if not candidates:
        return {}
    rows = context.count_affordable(
        budget.remaining(0.5),
        min(MAX_SWEPT_ROWS, len(context.inputs)),
        runs_per_case=2 * len(candidates) * (VALUES_PER_SWEEP + 1),
        calls=2 * len(candidates),
    )
    if rows < MIN_SWEPT_ROWS:
        raise OutOfBudget("The budget does not allow enough rows.")
    rng = np.random.default_rng([context.seed, RANDOM_STREAM])
    inputs = context.inputs.take(rng.permutation(len(context.inputs))[:rows])
    directions = {}
    for relation, sign in candidates:
        codes = context.inputs.codes[:, context.space.position(relation.feature)]
        values = np.unique(np.nanquantile(codes, np.linspace(0.02, 0.98, VALUES_PER_SWEEP), method="nearest"))
        swept = run_flow(context, budget, sweep(inputs, relation.feature, values, scores=True, note="directions"))
        heights = np.where(swept.answered, swept.grid(relation.compute_level(swept.outputs)), np.nan)
        if len(heights) and _moves_one_way(sign * heights):
            directions[relation.feature] = "up" if sign > 0 else "down"
    return directions


def _moves_one_way(heights: npt.NDArray[np.float64]) -> bool:
    """Tell whether nearly all rows of a matrix never fall, and enough of them rise."""
    spread = float(np.nanmax(heights) - np.nanmin(heights)) if np.isfinite(heights).any() else 0.0
    if not spread:
        return False
    steps = np.diff(heights, axis=1)
    never_falls = (np.nan_to_num(steps) >= -1e-6 * spread).all(axis=1)
    rises = (np.nan_to_num(steps) > 1e-6 * spread).any(axis=1)
    return bool(never_falls.mean() >= MIN_ROWS_ONE_WAY and rises.mean() >= MIN_ROWS_MOVED)


def _find_label_level(context: CheckContext, numbers: bool) -> npt.NDArray[np.float64] | None:
    """Return the labels as numbers that the answers should rise with; None if there are none."""
    import pandas as pd

    truth, labels = context.truth, context.sut.labels
    if truth is None:
        return None
    if numbers:
        level = pd.to_numeric(pd.Series(truth, dtype=object), errors="coerce").to_numpy(dtype=np.float64)
        return level if np.isfinite(level).sum() >= MIN_SWEPT_ROWS else None
    if labels is None or len(labels) != 2:
        return None
    return np.array([str(label) == str(labels[1]) for label in truth.tolist()], dtype=np.float64)


def _find_label_direction(context: CheckContext, name: str, level: npt.NDArray[np.float64]) -> int:
    """Return the sign of the correlation between a feature and the label; 0 if it is not significant."""
    from scipy.stats import spearmanr

    values = context.inputs.codes[:, context.space.position(name)]
    known = np.isfinite(values) & np.isfinite(level)
    if known.sum() < MIN_SWEPT_ROWS or np.ptp(values[known]) == 0 or np.ptp(level[known]) == 0:
        return 0
    result: Any = spearmanr(values[known], level[known])
    return int(np.sign(result.statistic)) if result.pvalue < SIGNIFICANCE / len(context.space) else 0


def _find_towards(context: CheckContext) -> Any:
    labels = context.sut.labels
    return labels[1] if labels is not None and len(labels) == 2 else None


def _build_direction_finding(context: CheckContext, directions: dict[str, str], towards: Any) -> Finding:
    effect = "raises the answer" if towards is None else f"makes {towards} more likely"
    opposite = "lowers the answer" if towards is None else f"makes {towards} less likely"
    sentences = [f"more {name} {effect if direction == 'up' else opposite}" for name, direction in directions.items()]
    options = _join_options(_suggest_direction(*item).option for item in directions.items())
    return Finding(
        check="suggestions",
        about=", ".join(directions),
        title=f"Directions that could be declared: {', '.join(f'{name} {way}' for name, way in directions.items())}",
        level="advice",
        sure=0.7,
        detail=f"In the data and in the model, {', '.join(sentences)}: for at least {MIN_ROWS_ONE_WAY:.0%} of the rows tried, "
        "whatever the other features.",
        remedy="If one of them must hold by law, physics or common sense, declare it, so that the next version of the model is "
        f'held to it: {options} on the command line, expect={{"monotone": {json.dumps(directions, ensure_ascii=False)}}} in '
        f"Python, monotone = {_format_toml_table(directions)} in the file of expectations.",
    )


def _suggest_direction(name: str, direction: str) -> _Suggestion:
    return _Suggestion(
        column=name,
        reason=f"the answer goes {direction} with it, in the data and in the model",
        option=f"--monotone {shlex.quote(f'{name}={direction}')}",
        python=f'expect={{"monotone": {json.dumps({name: direction}, ensure_ascii=False)}}}',
        toml=f"monotone = {_format_toml_table({name: direction})}",
    )


# -- lines -------------------------------------------------------------------------------------------------------------


def _join_options(options: Iterable[str]) -> str:
    return " ".join(options)


def _format_list(names: Sequence[str]) -> str:
    """Return names as a list, which Python and TOML read in the same way."""
    return json.dumps(list(names), ensure_ascii=False)


def _format_toml_table(values: dict[str, str]) -> str:
    pairs = (f"{json.dumps(name, ensure_ascii=False)} = {json.dumps(value)}" for name, value in values.items())
    return f"{{{', '.join(pairs)}}}"


def _find_skip_reason(context: CheckContext) -> str:
    if not context.has_data:
        return "no data are given"
    return "answers do not repeat, so that differences between queries mean nothing" if context.unstable else ""


SUGGESTIONS = Check(
    name="suggestions",
    question="What could be declared about this model and these data?",
    weight=1.5,
    find_skip_reason=_find_skip_reason,
    run=suggest_declarations,
)
