"""An exploration carried out: a strategy, a terrain and a border put together, driven, and what it found as a front."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import pluralize
from .._validation import validate_choice
from ..errors import ArgumentError, SystemFailed
from ..morphisms.stock import build_terrain
from ..morphisms.subject import SubjectUnderTest
from ..runs.driver import CallCounter, drive
from ..runs.flow import Budget
from ..space.outputs import Status
from ..space.points import Points
from ..systems.base import Executor
from .archive import Archive
from .auto import AutoExplorer, name_border_kinds
from .borders import Border, Hierarchy, InferredBorder, Jump, MultiLabel, Threshold
from .brackets import Brackets, ExplorationRecord, SeedPool
from .explorers import EXPLORERS, Explorer
from .front import Front
from .refinement import Refinement
from .score_guides import Guide, choose_guide

if TYPE_CHECKING:
    from ..runs.session import Session


def run_exploration(
    subject: SubjectUnderTest,
    rng: np.random.Generator,
    *,
    strategy: str,
    walks: int,
    steps: int = 20,
    walk_distance: int = 20,
    delta: float | None = None,
    moves: Iterable[str] | None = None,
    refine: str = "auto",
    pool: str = "fixed",
    border: Border | None = None,
    budget: Budget | str | float | None = None,
    timeout: float | None = None,
    progress: bool | None = None,
    seed: Any = None,
    engine: Any = None,
    batch: int | None = None,
    session: Session | None = None,
) -> Front:
    """Explore what is prepared already; the parameters are `explore`'s."""
    border = border or InferredBorder(subject.sut.labels, numbers=subject.has_numeric_answers)
    ground = build_terrain(subject.system, moves)
    refinement = Refinement(ground, steps, delta, refine, _make_guide_factory(subject.sut))
    explorers = {
        name: kind(ground, border, refinement, walks, walk_distance, pool == "growing", Budget.parse(budget))
        for name, kind in EXPLORERS.items()
    }
    flow: Any
    if strategy == "auto":
        archive = Archive(ground.space, subject.seeds.codes)
        flow = AutoExplorer(list(explorers.values()), archive, walks).explore(SeedPool(subject.seeds), rng)
    else:
        flow = explorers[strategy].explore(SeedPool(subject.seeds), rng)
    counter = CallCounter()
    record = drive(
        flow, subject.sut, budget=budget, tally=counter, progress=progress, timeout=timeout, engine=engine, batch=batch,
        journal=session.journal if session is not None else None,
    )  # fmt: skip
    failed_count = sum(
        count for status, count in counter.health.status_counts.items() if status != Status.NEW_LABEL
    )
    if counter.calls and failed_count >= counter.calls:
        message = counter.incidents["message"].iloc[0]
        raise SystemFailed(
            f"{subject.name} gave no answer to any of {pluralize(counter.calls, 'row')}: {message}."
        )
    border = explorers["random_walk"].current_border
    settings = {
        "walks": walks, "steps": steps, "walk_distance": walk_distance, "delta": delta, "moves": list(ground.moves),
        "refine": refine, "pool": pool, "seed": int(seed) if isinstance(seed, Integral) else None,
        "border": border.describe(), "border_kind": border.name, "border_value": border.value,
    }  # fmt: skip
    return build_front(record, explorers["random_walk"], subject, strategy, counter, settings)


def choose_border(threshold: float | None, jump: float | None, labels: str) -> Border | None:
    """Return the border that was asked for; None leaves it to the answers."""
    validate_choice("labels", "explore", labels, ("auto", "plain", "hierarchy", "multi"))
    if (threshold is not None) + (jump is not None) + (labels != "auto") > 1:
        raise ArgumentError("A border is one thing: give threshold=, jump= or labels=, not several of them.")
    if threshold is not None:
        return Threshold(threshold)
    if jump is not None:
        return Jump(jump)
    return {"plain": Border, "hierarchy": Hierarchy, "multi": MultiLabel}.get(labels, lambda: None)()


def _make_guide_factory(sut: Executor) -> Any:
    def find_guide(border: Border) -> Guide | None:
        labels = sut.labels or ()
        labels_known = list(labels) == border.codebook.labels[: len(labels)]  # codes are the columns of the scores
        return choose_guide(border, sut.score_kind if labels_known else None, len(labels))

    return find_guide


def build_front(
    record: ExplorationRecord,
    explorer: Explorer,
    subject: SubjectUnderTest,
    strategy: str,
    counter: CallCounter,
    settings: dict[str, Any],
) -> Front:
    """Return what an exploration found as a front."""
    border, ground = explorer.current_border, explorer.ground
    first_walk = 0
    for brackets, runs in zip(record.brackets, record.walk_runs, strict=True):
        if (np.diff(brackets.walk) < 0).any():  # found step by step: put in the order of the walks
            brackets.keep_rows(np.argsort(brackets.walk, kind="stable"))
        brackets.walk = brackets.walk + first_walk
        first_walk += len(runs)
    pairs = Brackets.concat(record.brackets, len(ground.space))
    x, y = Points(ground.space, pairs.x), Points(ground.space, pairs.y)
    notes = [*subject.notes, *record.notes]
    if isinstance(explorer.border, InferredBorder) and explorer.border.remark:
        notes.append(explorer.border.remark)
    return Front(
        subject=subject.name,
        strategy=strategy,
        a=x,
        b=y,
        a_output=_simplify_dtype(border.to_answers(pairs.x_state)),
        b_output=_simplify_dtype(border.to_answers(pairs.y_state)),
        kinds=name_border_kinds(border, pairs),
        distance=ground.distance(x, y) if len(x) else np.empty(0),
        part=pairs.part,
        walk=pairs.walk,
        pair_runs=pairs.runs,
        walked_by=np.repeat(np.array(record.strategies, dtype=object), [len(wave) for wave in record.brackets]),
        walk_runs=np.concatenate([np.empty(0, dtype=np.intp), *record.walk_runs]),
        seeds=subject.seeds,
        seeds_used=record.seeds_used,
        calls=counter.calls,
        seconds=counter.seconds,
        lost=record.lost,
        slopes=record.slopes,
        unfinished=record.unfinished,
        exhausted=record.exhausted or counter.exhausted,
        choices=record.choices,
        notes=notes,
        settings=settings,
        tally=counter,
        sut=subject.sut,
    )


def _simplify_dtype(labels: np.ndarray) -> np.ndarray:
    """Return labels as plain an array as they allow: ints as ints, the rest as they are."""
    if labels.dtype == object and len(labels):
        kinds = {type(label) for label in labels.tolist()}
        if len(kinds) == 1 and kinds <= {int, float, bool}:
            return np.array(labels.tolist())
    return labels
