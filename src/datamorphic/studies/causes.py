"""Causes of differences as switches: each changes a job of a study so that it is measured with the cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from .explorations import Exploration
from .published import find_errata
from .published_systems import Reenactment
from .rows import OurFigure
from .workload import Workbench

Change = Callable[[Any], Any]  # of a job

#: rows that are exchanged in print
EXCHANGED_SUBJECTS = {"Sin 1": "Sin 2", "Sin 2": "Sin 1"}


@dataclass(frozen=True)
class Switch:
    """What a cause changes in a job."""

    title: str
    change: Change


class Estimates(TypedDict):
    """Our figure with all causes switched off, and with each cause that is known for the published one."""

    ours: OurFigure
    with_cause: dict[str, OurFigure]


def _change_strategy(job: Exploration) -> Exploration:
    return replace(job, strategy="random_target", seeds=200, first=False)


def _exchange_subject(job: Exploration) -> Exploration:
    return replace(job, subject=EXCHANGED_SUBJECTS.get(job.subject, job.subject))


#: by the name that errata.csv and `datamorphic study --cause` give it
SWITCHES = {
    "first_step": Switch(
        "Directed walks can succeed at their first step only, and count all steps if they fail.",
        lambda job: replace(job, first=True),
    ),
    "random_target": Switch("Figures of random target are printed as those of the directed walk.", _change_strategy),
    "growing_pool": Switch(
        "The pool grows: later walks start from the mutants of earlier ones.", lambda job: replace(job, pool="growing")
    ),
    "swapped_rows": Switch("The rows of Sin 1 and Sin 2 are exchanged.", _exchange_subject),
    "kept_direction": Switch(
        "One draw in five keeps the direction of the step before: Morphy draws from five numbers for four directions.",
        lambda job: replace(job, keeps_direction=True),
    ),
    "swapped_and_kept": Switch(
        "The rows of Sin 1 and Sin 2 are exchanged, and one draw in five keeps the direction.",
        lambda job: replace(_exchange_subject(job), keeps_direction=True),
    ),
    "published_system": Switch(
        "The case study as originally run: seed cases, limits of moves, midpoints, what counts as a mutant, and models of the last round.",
        lambda job: Reenactment(job.strategy, job.subject, job.data, job.walks),
    ),
    "wide_points": Switch(
        "10,000 groups of points with coordinates between 0 and 100 instead of 1,000 between 0 and 33.33.",
        lambda job: replace(job, groups=10_000, limits=(0.0, 100.0), trials=max(1, job.trials // 10)),
    ),
}


def leave_unchanged(job: Any) -> Any:
    """Return a job as it is: all causes are switched off."""
    return job


def estimate_both(figure: Any, table: str, bench: Workbench, estimate: Callable[[Change], OurFigure]) -> Estimates:
    """Return our figure as the publication describes it, and with the causes that are known for the published one.

    `estimate` returns our figure of jobs to which a change is applied.
    """
    known = find_errata(table, figure.strategy, figure.subject, figure.measure.partition(" ")[0], data=figure.data)
    causes = dict.fromkeys(entry.cause for entry in known if entry.cause in SWITCHES)
    return {
        "ours": estimate(leave_unchanged),
        "with_cause": {cause: estimate(SWITCHES[cause].change) for cause in causes if bench.causes in ("all", cause)},
    }
