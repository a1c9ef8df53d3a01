"""An exploration carried out: a strategy, a terrain and a border put together, driven, and what it found as a front."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import one_of, plural
from ..errors import ArgumentError, SystemFailed
from ..morphisms.derived import terrain
from ..morphisms.subject import Subject
from ..outputs import Status
from ..runs.drive import Tally, drive
from ..space.points import Points
from ..strategies.archive import Archive
from ..strategies.borders import Border, Hierarchy, Jump, MultiLabel, Threshold, Undecided
from ..strategies.brackets import Brackets, Found, Pool
from ..strategies.exploration import EXPLORERS, Explorer
from ..strategies.flow import Budget
from ..strategies.guides import Guide, guide_for
from ..strategies.mixing import Mixed, kinds_of
from ..strategies.refine import Refinement
from ..sut.base import Executor
from .front import Front

if TYPE_CHECKING:
    from ..runs.session import Session


def run(
    subject: Subject,
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
    border = border or Undecided(subject.sut.labels, numbers=subject.numbers)
    ground = terrain(subject.system, moves)
    refinement = Refinement(ground, steps, delta, refine, _guide(subject.sut))
    explorers = {
        name: kind(ground, border, refinement, walks, walk_distance, pool == "growing", Budget.parse(budget))
        for name, kind in EXPLORERS.items()
    }
    flow: Any
    if strategy == "auto":
        archive = Archive(ground.space, subject.seeds.codes)
        flow = Mixed(list(explorers.values()), archive, walks).explore(Pool(subject.seeds), rng)
    else:
        flow = explorers[strategy].explore(Pool(subject.seeds), rng)
    tally = Tally()
    found = drive(
        flow, subject.sut, budget=budget, tally=tally, progress=progress, timeout=timeout, engine=engine, batch=batch,
        journal=session.journal if session is not None else None,
    )  # fmt: skip
    failed = sum(count for status, count in tally.health.failed.items() if status != Status.NEW_LABEL)
    if tally.calls and failed >= tally.calls:
        why = tally.incidents["message"].iloc[0]
        raise SystemFailed(f"{subject.name} gave no answer to any of {plural(tally.calls, 'row')}: {why}.")
    border = explorers["random_walk"].border_now
    settings = {
        "walks": walks, "steps": steps, "walk_distance": walk_distance, "delta": delta, "moves": list(ground.moves),
        "refine": refine, "pool": pool, "seed": int(seed) if isinstance(seed, Integral) else None,
        "border": border.describe(), "border_kind": border.name, "border_value": border.value,
    }  # fmt: skip
    return front_of(found, explorers["random_walk"], subject, strategy, tally, settings)


def border_of(threshold: float | None, jump: float | None, labels: str) -> Border | None:
    """Return the border that was asked for; None leaves it to the answers."""
    one_of("labels", "explore", labels, ("auto", "plain", "hierarchy", "multi"))
    if (threshold is not None) + (jump is not None) + (labels != "auto") > 1:
        raise ArgumentError("A border is one thing: give threshold=, jump= or labels=, not several of them.")
    if threshold is not None:
        return Threshold(threshold)
    if jump is not None:
        return Jump(jump)
    return {"plain": Border, "hierarchy": Hierarchy, "multi": MultiLabel}.get(labels, lambda: None)()


def _guide(sut: Executor) -> Any:
    def guide(border: Border) -> Guide | None:
        labels = sut.labels or ()
        known = list(labels) == border.book.labels[: len(labels)]  # codes are the columns of the scores
        return guide_for(border, sut.score_kind if known else None, len(labels))

    return guide


def front_of(
    found: Found, explorer: Explorer, subject: Subject, strategy: str, tally: Tally, settings: dict[str, Any]
) -> Front:
    """Return what an exploration found as a front."""
    border, ground = explorer.border_now, explorer.ground
    first = 0
    for brackets, runs in zip(found.brackets, found.walk_runs, strict=True):
        if (np.diff(brackets.walk) < 0).any():  # found step by step: put in the order of the walks
            brackets.keep(np.argsort(brackets.walk, kind="stable"))
        brackets.walk = brackets.walk + first
        first += len(runs)
    pairs = Brackets.concat(found.brackets, len(ground.space))
    x, y = Points(ground.space, pairs.x), Points(ground.space, pairs.y)
    notes = [*subject.notes, *found.notes]
    if isinstance(explorer.border, Undecided) and explorer.border.remark:
        notes.append(explorer.border.remark)
    return Front(
        subject=subject.name,
        strategy=strategy,
        a=x,
        b=y,
        a_output=_typed(border.answer(pairs.x_state)),
        b_output=_typed(border.answer(pairs.y_state)),
        kinds=kinds_of(border, pairs),
        distance=ground.distance(x, y) if len(x) else np.empty(0),
        part=pairs.part,
        walk=pairs.walk,
        pair_runs=pairs.runs,
        walked_by=np.repeat(np.array(found.strategy, dtype=object), [len(each) for each in found.brackets]),
        walk_runs=np.concatenate([np.empty(0, dtype=np.intp), *found.walk_runs]),
        seeds=subject.seeds,
        seeds_used=found.seeds_used,
        calls=tally.calls,
        seconds=tally.seconds,
        lost=found.lost,
        slopes=found.slopes,
        unfinished=found.unfinished,
        exhausted=found.exhausted or tally.exhausted,
        choices=found.choices,
        notes=notes,
        settings=settings,
        tally=tally,
        sut=subject.sut,
    )


def _typed(labels: np.ndarray) -> np.ndarray:
    """Return labels as plain an array as they allow: ints as ints, the rest as they are."""
    if labels.dtype == object and len(labels):
        kinds = {type(label) for label in labels.tolist()}
        if len(kinds) == 1 and kinds <= {int, float, bool}:
            return np.array(labels.tolist())
    return labels
