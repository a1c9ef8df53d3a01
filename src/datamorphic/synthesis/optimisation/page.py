"""An optimisation as a page: what was gained, the history as a picture, and the test set before and after."""

from __future__ import annotations

import numpy as np

from ..._text import format_percent, format_short, pluralise
from ...morphisms.cases import TestSet
from ...reporting.document import Axis, Line, Page, Scatter, Section, Table, Tile
from ...space.projection import Projection
from .result import Optimisation

MAX_CASES = 50  # rows of the table of cases
MAX_POINTS = 2_000  # of each set in the picture
REMOVED_GROUP = "removed case"


def build_page(result: Optimisation, brief: bool = False) -> Page:
    """Build the page of an optimisation; with `brief`, the short form for terminals."""
    sections = [] if brief else [_build_history(result, name) for name in result.metrics]
    if len(result.metrics) > 1:
        sections.append(_build_trade_offs(result))
    if not brief:
        sections += [_build_picture(result), _build_origins(result), _build_cases(result)]
    improved = any(gain > 0 for gain in result.gain.values())
    return Page(
        title=f"A better test set for {result.system}",
        subject=result.system,
        lead="New cases were made from old ones, and those that serve the metric were kept, cycle by cycle.",
        verdict="; ".join(result.describe_metric(name) for name in result.metrics),
        state="good" if improved else "note",
        facts=[
            ("Strategy", f"{result.strategy}, {pluralise(result.cycles[-1].cycle, 'cycle')}"),
            ("Test set", _format_cost(result)),
            ("End", _format_stop(result)),
            *(("Note", note) for note in result.notes),
        ],
        tiles=[
            *(Tile(label=name.replace("_", " "), value=f"{value:.4g}") for name, value in result.fitness.items()),
            Tile(label="cases", value=f"{len(result.tests):,}"),
            Tile(label="cycles", value=f"{result.cycles[-1].cycle:,}"),
            Tile(label="executions", value=f"{result.executions:,}"),
        ],
        sections=sections,
    )


def _format_cost(result: Optimisation) -> str:
    """Return the size of the set, and what the search cost."""
    cases = pluralise(len(result.tests), "case")
    executions = "nothing had to be executed"
    if result.executions:
        executions = f"{pluralise(result.executions, 'execution')}, {pluralise(result.calls, 'model call')}"
    return f"{cases}, {result.new_case_count:,} of them new; {executions}, {result.seconds:.2g} s"


def _format_stop(result: Optimisation) -> str:
    """Return why the search ended."""
    if result.stopped == "converged":
        rate, patience = format_percent(result.settings["change_rate"]), result.settings["patience"]
        return f"The search ended because no metric grew by {rate} within {pluralise(patience, 'cycle')}."
    if result.stopped == "budget":
        return "The budget ended the search. The best set found until then is kept."
    if result.stopped == "interrupted":
        return "The search was interrupted. The best set found until then is kept."
    return f"All {pluralise(result.settings['steps'], 'cycle')} were used. More might gain more."


def _format_choice(result: Optimisation) -> str:
    """Return how the best of several sets was chosen."""
    if len(result.sets) == 1:
        return "One set is best in every metric."
    return (
        f"{pluralise(len(result.sets), 'set')} were kept, none of which is as good as another in every metric; the one with "
        "the most even gains was chosen."
    )


def _build_history(result: Optimisation, name: str) -> Section:
    history = result.history
    notes = [f"cycle {row.cycle}, {pluralise(row.executions, 'execution')}" for row in history.itertuples()]
    picture = Line(
        title=f"{name} by cycle",
        x_label="cycle",
        y_label=name,
        values=history[name].tolist(),
        bands=(),
        notes=notes,
        steps=history["cycle"].tolist(),
    )
    several = " Each point is the best of the sets that were kept." if len(result.metrics) > 1 else ""
    return Section(
        heading=result.describe_metric(name),
        text=f"The best value so far after each cycle. It never falls: a worse set is discarded.{several}",
        picture=picture,
    )


def _build_trade_offs(result: Optimisation) -> Section:
    rows = [
        [number, *(f"{value:.4g}" for value in fitness), "yes" if number == result.best else ""]
        for number, fitness in enumerate(result.set_fitness.tolist())
    ]
    return Section(
        heading="Several metrics at once",
        text=f"{_format_choice(result)} The others are in .sets, by number.",
        table=Table(columns=["set", *result.metrics, "chosen"], rows=rows),
    )


def _build_picture(result: Optimisation) -> Section:
    tests, start = result.tests, result.start
    view = Projection(tests.space, start.inputs.codes)
    removed = _thin(start.take(~np.isin(start.ids, tests.ids)))
    cases = _thin(tests)
    is_new = ~np.isin(cases.ids, start.ids)
    groups = [*(REMOVED_GROUP for _ in range(len(removed))), *np.where(is_new, "new case", "case of the first set")]
    places = view(np.concatenate([removed.inputs.codes, cases.inputs.codes]))
    picture = Scatter(
        title="The test set",
        subtitle="",
        x_axis=Axis(view.axes[0]),
        y_axis=Axis(view.axes[1]),
        x=places[:, 0].tolist(),
        y=places[:, 1].tolist(),
        groups=list(map(str, groups)),
        notes=[*_describe_cases(removed), *_describe_cases(cases)],
        rest=REMOVED_GROUP,
    )
    share = "" if view.flat else f" The plane shows {format_percent(view.variance_share)} of the variance."
    return Section(
        heading="The test set in a picture",
        text=f"Coloured: the best set. Grey: cases of the set to start from that were removed.{share}",
        picture=picture,
    )


def _thin(tests: TestSet) -> TestSet:
    return tests.take(np.linspace(0, len(tests) - 1, min(len(tests), MAX_POINTS)).astype(np.intp))


def _describe_cases(tests: TestSet) -> list[str]:
    labels = [""] * len(tests)
    if tests.outputs is not None:
        labels = [f": {format_short(label)}" for label in tests.outputs.values.tolist()]
    cases = zip(tests.ids.tolist(), tests.made_by_names, labels, strict=True)
    return [f"case {case}, {maker}{label}" for case, maker, label in cases]


def _build_origins(result: Optimisation) -> Section:
    names, counts = np.unique(result.tests.made_by_names.astype(str), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rows = [[names[i], f"{counts[i]:,}", format_percent(counts[i] / len(result.tests))] for i in order]
    return Section(
        heading="Where the cases come from",
        text="The seed maker or datamorphism that made each case of the best set.",
        table=Table(columns=["made by", "cases", "share"], rows=rows),
    )


def _build_cases(result: Optimisation) -> Section:
    frame = result.tests.take(slice(0, MAX_CASES)).frame()
    columns = [name for name in frame.columns if name in ("id", "output", "morphism") or name.startswith("in.")]
    rows = [[format_short(value) for value in row] for row in frame[columns].itertuples(index=False)]
    heading = (
        f"The cases: the first {len(rows)} of {len(result.tests):,}" if len(result.tests) > MAX_CASES else "The cases"
    )
    return Section(
        heading=heading,
        text="",
        table=Table(columns=[name.removeprefix("in.") for name in columns], rows=rows),
        folding="closed",
    )
