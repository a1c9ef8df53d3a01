"""`dm.explore`: find the borders of a system."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from .._estimates import LIMIT_TIME, WorkPace
from .._text import pluralise
from .._typing import SeedLike
from ..core.capability import capability
from ..core.execute import Execution
from ..errors import SystemFailed
from ..morphisms.stock import build_terrain
from ..morphisms.subject import SubjectUnderTest, find_system_name
from ..runs.driver import CallCounter, Driver, FlowDriver
from ..space.outputs import Status
from ..space.points import Points
from ..space.projection import Archive
from ..systems.base import Executor
from .borders import Border, InferredBorder
from .brackets import Brackets, ExplorationRecord, SeedPool
from .changes import Answers
from .explorers import EXPLORERS, AutoExplorer, Explorer, name_border_kinds
from .front import Front
from .options import ExploreOptions, WalkOptions
from .persistence import remember_failures, retry_failures
from .refinement import Refinement
from .score_guides import Guide, choose_guide


@capability(ExploreOptions)
def explore(options: ExploreOptions, execution: Execution[SubjectUnderTest]) -> Front:
    """Walk the input space of a system and return pairs of nearly equal inputs with different answers.

    Cases on which the system fails are kept in the run store, and tried first in the next run.

    Returns
    -------
    Front
        With ``.pairs``, ``.capability``, ``.cost``, ``.quality()``, ``.plot()``, ``.diff(other)``, ...

    Examples
    --------
    >>> import datamorphic as dm
    >>> front = dm.explore(dm.subjects["Box 1"], strategy="random_target", walks=100, seeds=50)
    >>> bool((front.pairs["a_output"] != front.pairs["b_output"]).all())
    True
    """
    subject, session = execution.subject, execution.session
    system = find_system_name(options.model, options.name, execution.request)
    failures = None
    if session is not None and not session.resumed:
        failures = retry_failures(session.store, system, subject, execution.engine, options)
    front = run_exploration(subject, execution.rng, options, execution.drive, seed=execution.seed)
    if session is not None:
        remember_failures(session, system, front)
        front.tally.retried_failures = failures
    return front


def run_exploration(
    subject: SubjectUnderTest,
    rng: np.random.Generator,
    options: WalkOptions,
    drive: FlowDriver | None = None,
    *,
    seed: SeedLike = None,
) -> Front:
    """Combine strategy, terrain and border, `drive` the flow, and return the front.

    `seed` is what `rng` was made from, for the settings of the front.
    """
    drive = drive or Driver().drive
    border = options.make_border() or InferredBorder(subject.sut.labels, numbers=subject.has_numeric_answers)
    terrain = build_terrain(subject.system, options.move_names)
    find_guide = partial(_find_guide, subject.sut)
    refinement = Refinement(terrain, options.halvings, options.delta, options.refine, find_guide)
    explorers = {
        name: explorer_class(
            terrain=terrain,
            border=border,
            refinement=refinement,
            walks=options.walks,
            walk_distance=options.walk_distance,
            growing=options.pool == "growing",
            budget=options.limits,
        )
        for name, explorer_class in EXPLORERS.items()
    }
    # if the user names moves, nothing else may change
    candidates = [explorer for explorer in explorers.values() if options.moves is None or explorer.uses_moves]
    chosen_explorer: Explorer | AutoExplorer = explorers.get(options.strategy) or AutoExplorer(
        candidates, Archive(terrain.space, subject.seeds.codes), options.walks
    )
    counter = CallCounter()
    record = drive(
        chosen_explorer.explore(SeedPool(subject.seeds), rng),
        subject.sut,
        tally=counter,
        limits=options.limits,
        pace=WorkPace(
            options.OWNER, options.walk_parameter, remedy=LIMIT_TIME, measure=lambda: chosen_explorer.share_begun
        ),
    )
    _raise_if_all_failed(subject, counter)
    explorer = explorers["random_walk"]
    border = explorer.current_border
    settings = options.to_settings() | {
        "moves": list(terrain.moves),
        "seed": int(seed) if isinstance(seed, Integral) else None,
        "border": border.description,
        "border_kind": border.name,
        "border_value": border.value,
    }
    return _build_front(record, explorer, subject, options.strategy, counter, settings)


def _raise_if_all_failed(subject: SubjectUnderTest, counter: CallCounter) -> None:
    status_counts = counter.health.status_counts
    failed_count = sum(count for status, count in status_counts.items() if status != Status.NEW_LABEL)
    if counter.calls and failed_count >= counter.calls:
        message = counter.incidents["message"].iloc[0]
        raise SystemFailed(f"{subject.name} gave no answer to any of {pluralise(counter.calls, 'row')}: {message}.")


def _find_guide(sut: Executor, border: Border) -> Guide | None:
    labels = sut.labels or ()
    # scores have one column per label: the codes of the border must number the labels the same way
    labels_match = list(labels) == border.codebook.labels[: len(labels)]
    return choose_guide(border, sut.score_kind if labels_match else None, len(labels))


def _build_front(
    record: ExplorationRecord,
    explorer: Explorer,
    subject: SubjectUnderTest,
    strategy: str,
    counter: CallCounter,
    settings: dict[str, Any],
) -> Front:
    border, terrain = explorer.current_border, explorer.terrain
    first_walk = 0
    for brackets, runs in zip(record.brackets, record.walk_runs, strict=True):
        if (np.diff(brackets.walk) < 0).any():  # pairs are recorded step by step: sort them by walk
            brackets.keep_rows(np.argsort(brackets.walk, kind="stable"))
        brackets.walk = brackets.walk + first_walk
        first_walk += len(runs)
    pairs = Brackets.concat(record.brackets, len(terrain.space))
    x, y = Points(terrain.space, pairs.x), Points(terrain.space, pairs.y)
    starts = np.concatenate([np.empty((0, 2), dtype=np.intp), *record.walk_starts])
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
        distance=terrain.distance(x, y) if len(x) else np.empty(0),
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
        walk_starts=np.where(starts < len(subject.seeds), starts, -1),
    )


def _simplify_dtype(labels: Answers) -> Answers:
    """Return labels of one numeric type as an array of that type, and others unchanged."""
    if labels.dtype == object and len(labels):
        kinds = {type(label) for label in labels.tolist()}
        if len(kinds) == 1 and kinds <= {int, float, bool}:
            return np.array(labels.tolist())
    return labels
