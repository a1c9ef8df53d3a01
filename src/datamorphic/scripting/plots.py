"""The plots that a script makes of its test pool: `visualiseAll` and `visualiseMutants`, as sections of one page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._text import format_percent, format_short, pluralise
from ..morphisms.case_columns import CaseKind
from ..morphisms.cases import TestSet
from ..reporting.document import Axis, Page, Scatter, Section
from ..space.projection import Projection

PLOTS_FILE = "Plots.html"
MAX_PLOTS = 40  # on one page; later ones are left out
MAX_POINTS = 1_000  # per plot, evenly chosen
MAX_GROUPS = 8  # labels with a colour of their own
REST = "other answers"


def build_plot(tests: TestSet, number: int, analyser: str) -> Section:
    """Return the picture of a test set: its cases in the plane, coloured by their answers, or else by their kind."""
    heading = f"{number}. {analyser}: {pluralise(len(tests), 'case')}"
    if not len(tests):
        return Section(heading=heading, text="The pool has no cases to draw.")
    view = Projection(tests.space, tests.inputs.codes)
    cases = tests.take(np.linspace(0, len(tests) - 1, min(len(tests), MAX_POINTS)).astype(np.intp))
    places, groups = view(cases.inputs.codes), _name_groups(cases)
    picture = Scatter(
        title=f"Test cases ({number})",
        subtitle="",
        x_axis=Axis(view.axes[0]),
        y_axis=Axis(view.axes[1]),
        x=places[:, 0].tolist(),
        y=places[:, 1].tolist(),
        groups=groups,
        notes=[
            f"case {case}, {maker}: {group}"
            for case, maker, group in zip(cases.ids.tolist(), cases.made_by_names, groups, strict=True)
        ],
        rest=REST,
    )
    drawn = "" if len(cases) == len(tests) else f" {len(cases):,} of them are drawn."
    share = "" if view.flat else f" The plane shows {format_percent(view.variance_share)} of the variance."
    return Section(heading=heading, text=f"Coloured by {_describe_groups(cases)}.{drawn}{share}", picture=picture)


def build_plots_page(spec: str, plots: Sequence[Section]) -> Page:
    """Return the page with all plots that a script has made so far."""
    return Page(
        title=f"Test cases of {spec}",
        lead="The test pool at the places of the script that show it, in order.",
        verdict=pluralise(len(plots), "plot"),
        sections=list(plots),
    )


def _describe_groups(tests: TestSet) -> str:
    return "kind, since nothing is executed" if tests.outputs is None else "answer"


def _name_groups(tests: TestSet) -> list[str]:
    """Return the answer to each case, rare ones as `REST`; if nothing is executed, whether it is original or a mutant."""
    if tests.outputs is None:
        return [CaseKind(kind).name.lower() for kind in tests.kinds.tolist()]
    labels = [
        format_short(label) if ok else "no answer"
        for label, ok in zip(tests.outputs.to_objects().tolist(), tests.outputs.ok.tolist(), strict=True)
    ]
    names, counts = np.unique(labels, return_counts=True)
    frequent = set(names[np.argsort(-counts, kind="stable")[:MAX_GROUPS]].tolist())
    return [label if label in frequent else REST for label in labels]
