"""In which direction each number moves the answer, before and now: new and lost constraints, and broken promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..core.result import ResultPart
from ..errors import OutOfBudget
from ..space.labels import to_label_key
from ..space.outputs import Outputs
from ..space.points import Points
from ..space.text_feature import Text
from .context import ComparisonContext, Version
from .groups import Floats

Direction = Literal["up", "down"]
MAX_ROWS = 120  # whose answers are followed along every number
GRID_SHARES = (0.02, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 0.98)  # quantiles of the number that rows are moved to
#: The part of the range of the scores, or of the spread of numbers, below which a step back is none.
STEP_TOLERANCE = 0.005
MAX_COLUMNS = 20


@dataclass(frozen=True, kw_only=True)
class DirectionChange(ResultPart):
    """How often a number moves the answer against a direction, all else equal, before and now."""

    column: str
    direction: Direction  # more of the column leads up to, or down from, the outcome
    outcome: str  # the class whose score is meant; empty for answers that are numbers
    old_share: float  # of the rows that are moved the other way somewhere
    new_share: float
    moved_share: float  # of the rows that the new model moves at all along the column
    rows: int
    values: tuple[float, ...] = ()  # of the column, along which the rows were moved
    old_curve: tuple[
        float, ...
    ] = ()  # the score of the outcome, or the answer, of the row with the largest step the wrong way
    new_curve: tuple[float, ...] = ()


def measure_directions(context: ComparisonContext, outcome: object = None) -> list[DirectionChange]:
    """Return how often each number moves each model against each direction; empty if there are no scores to follow."""
    space = context.space
    columns = [
        column
        for column in space.scalars
        if space.features[column].numeric and not isinstance(space.features[column], Text)
    ][:MAX_COLUMNS]
    rows = np.random.default_rng(context.seed).permutation(len(context.inputs))[:MAX_ROWS]
    codes = context.inputs.codes[rows]
    changes: list[DirectionChange] = []
    for column in columns:
        known = context.inputs.codes[:, column]
        known = known[np.isfinite(known)]
        if len(np.unique(known)) < 3:
            continue
        grid = np.unique(np.quantile(known, GRID_SHARES, method="nearest"))
        if len(grid) < 3:
            continue
        moved = np.repeat(codes, len(grid), axis=0)
        moved[:, column] = np.tile(grid, len(codes))
        name = ""
        falls: dict[Version, tuple[float, float]] = {}
        paths: dict[Version, Floats] = {}
        moves = 0.0
        try:
            for version in ("old", "new"):
                outputs = context.query_scores(version, Points(space, moved))
                followed = _read_outcome_scores(context, version, outputs, outcome)
                if followed is None:
                    return []
                values, name = followed
                paths[version] = values.reshape(len(codes), len(grid))
                steps = np.diff(paths[version], axis=1)
                tolerance = STEP_TOLERANCE * (1.0 if name else float(np.nanstd(values)) or 1.0)
                falls[version] = (
                    float((steps < -tolerance).any(axis=1).mean()),
                    float((steps > tolerance).any(axis=1).mean()),
                )
                moves = float((np.abs(steps) > tolerance).any(axis=1).mean())
        except OutOfBudget:
            if changes:
                return changes
            raise
        for place, direction in enumerate(("up", "down")):
            worst = _find_worst_row(paths, direction == "up")
            changes.append(
                DirectionChange(
                    column=space.names[column],
                    direction=direction,  # type: ignore[arg-type]  # one of the two
                    outcome=name,
                    old_share=falls["old"][place],
                    new_share=falls["new"][place],
                    moved_share=moves,
                    rows=len(codes),
                    values=tuple(grid.tolist()),
                    old_curve=tuple(np.nan_to_num(paths["old"][worst]).tolist()),
                    new_curve=tuple(np.nan_to_num(paths["new"][worst]).tolist()),
                )
            )
    return changes


def _find_worst_row(paths: dict[Version, Floats], rises: bool) -> int:
    """Return the row that one of the models moves farthest against a direction in one step."""
    steps = np.array([np.diff(path, axis=1) for path in paths.values()]) * (-1 if rises else 1)
    return int(np.nan_to_num(steps).max(axis=(0, 2)).argmax())


def _read_outcome_scores(
    context: ComparisonContext, version: Version, outputs: Outputs, outcome: object
) -> tuple[Floats, str] | None:
    """Return the score of the outcome for every row, and its name; numbers themselves, with an empty name."""
    if context.has_numeric_answers:
        try:
            return np.where(outputs.ok, outputs.values, np.nan).astype(np.float64), ""
        except (TypeError, ValueError):
            return None
    labels = [to_label_key(label) for label in context.labels[version]]
    if outputs.scores is None or outputs.scores.shape[1] != len(labels):
        return None
    if outcome is None and len(labels) != 2:
        return None
    name = labels[1] if outcome is None else to_label_key(outcome)
    if name not in labels:
        return None
    return np.asarray(outputs.scores[:, labels.index(name)], dtype=np.float64), name
