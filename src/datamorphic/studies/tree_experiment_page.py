"""The page of the experiment of Silveira et al. (2025) with data of the user."""

from __future__ import annotations

import math

from .._text import format_percent
from ..data.sets import TARGET
from ..reporting.document import Page, Section, Table
from ..trees.coverage.draw import draw_tree
from ..trees.coverage.mutation import MutationScore
from ..trees.coverage.run import cover
from .figure_panels import ChartPoint, PanelLabels, assign_styles, draw_dot_panel
from .rows import format_number
from .tree_experiment_result import SIGNIFICANCE_LEVEL, TreeExperiment
from .tree_trials import SCORES, TEST_METHODS
from .trees import SEEDS_PER_STUDY, fit_tree

MAX_DRAWN_TREES = 4
MEANINGS = (
    ("DTC", "decision tree coverage: one row per leaf, drawn from the data"),
    ("BVA", "boundary values: each DTC row, moved to the limits of its leaf; its label is the answer of the tree"),
    ("DTMT", "mutation: for each mutant of the tree a row that kills it"),
    ("CV", "cross-validation of 3-NN, the usual random test"),
)


def build_page(result: TreeExperiment, *, brief: bool = False) -> Page:
    """Return the experiment as a page."""
    sections = [_build_score_section(result, grown_on) for grown_on in result.scores["trees"].unique()]
    sections += [_build_comparison_section(result), _build_tree_section(result)]
    if not brief:
        sections.insert(0, _build_chart_section(result))
        sections += [_build_normality_section(result), *_build_drawings(result)]
    return Page(
        title="Test sets that decision trees choose",
        lead="The experiment of Silveira et al. (2025) with your data. A tree chooses test rows, and 3-NN is trained on the other "
        "rows and tested on these. The lower its scores, the stronger the test set.",
        verdict=result.headline,
        sections=sections,
        facts=[
            *(() if brief else MEANINGS),
            ("Target", result.target),
            ("Amount", f"{result.amount}, scale {result.scale}"),
            ("Effort", f"{result.seconds:.0f} s"),
            ("Seed", f"{result.seed} (the same seed gives the same figures, apart from times)"),
            *result.list_missing_facts(),
        ],
        contents=True,
    )


def _build_score_section(result: TreeExperiment, grown_on: str) -> Section:
    rows = []
    scores = result.scores[result.scores["trees"] == grown_on]
    for (name, tests), part in scores.groupby(["data", "tests"], sort=False):
        values = part.set_index("score")
        cells = [_format_score(values["value"][score], values["margin"][score]) for score in SCORES]
        rows.append([str(name), str(tests), f"{values['size'].iloc[0]:,.4g}", *cells])
    if len(result.trees) > 1:
        means = scores.pivot_table(index="tests", columns="score", values="value", sort=False)
        rows += [["mean", str(tests), "", *(f"{means[score][tests]:.2f}" for score in SCORES)] for tests in means.index]
    texts = {
        "all rows": "Trees of all rows. CV is the cross-validation of 3-NN on all rows.",
        "all folds but one": "Inside cross-validation: each tree is grown on all folds but one, and CV is the fold that is left.",
    }
    return Section(
        heading=f"Scores of 3-NN: trees of {grown_on}",
        text=texts[grown_on],
        table=Table(columns=["data", "tests", "rows", *SCORES], rows=rows, main_rows=len(rows)),
        anchor="scores" if grown_on == "all rows" else "folds",
    )


def _format_score(value: float, margin: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if math.isnan(margin) else f"{value:.2f} ±{margin:.2f}"


def _build_comparison_section(result: TreeExperiment) -> Section:
    rows = [
        [
            row.score,
            f"{row.tests} against {row.against}",
            f"{row.difference:+.2f}" if math.isfinite(row.difference) else "-",
            row.test,
            format_number(row.statistic),
            f"{row.p:.2g}" if math.isfinite(row.p) else "-",
        ]
        for row in result.comparisons.itertuples(index=False)
    ]
    pairs = int(result.comparisons["pairs"].max())
    text = f"Two-sided tests of {pairs} pairs: {result.pairing}. A negative difference means that the first test set is stronger."
    if result.pairing == "folds":
        text += (
            " Folds of one data set share most of their rows, so p is too small: it says little about other data. With six or more "
            "data sets, these are paired."
        )
    columns = ["score", "test sets", "difference", "test", "statistic", "p"]
    marked = [(place, 5) for place, p in enumerate(result.comparisons["p"]) if p <= SIGNIFICANCE_LEVEL]
    table = Table(columns=columns, rows=rows, main_rows=len(rows), marked=marked)
    return Section(heading="Tests of differences", text=text, table=table, anchor="comparisons")


def _build_tree_section(result: TreeExperiment) -> Section:
    rows = []
    for row in result.trees.to_dict("records"):
        shares = [
            format_percent(row[name]) if math.isfinite(row[name]) else "-"
            for name in ("mutation score", "tree accuracy")
        ]
        counts = [f"{row[name]:,.4g}" for name in ("nodes", "leaves", "mutants", "killed")]
        rows.append([row["data"], f"{row['rows']:,}", row["inputs"], row["classes"], *counts, *shares])
    columns = [
        "data",
        "rows",
        "inputs",
        "classes",
        "nodes",
        "leaves",
        "mutants",
        "killed",
        "mutation score",
        "tree accuracy",
    ]
    return Section(
        heading="Trees and mutants",
        text="Trees of all rows, as means over repetitions; their accuracy is cross-validated. A mutant has one decision changed, and "
        "a row kills it if it gets another answer.",
        table=Table(columns=columns, rows=rows, main_rows=len(rows)),
        anchor="trees",
    )


def _build_normality_section(result: TreeExperiment) -> Section:
    rows = []
    for tests, part in result.normality.groupby("tests", sort=False):
        values = part.set_index("score")
        cells = [
            f"{values['W'][score]:.3f}, {values['p'][score]:.2g}" if math.isfinite(values["p"][score]) else "-"
            for score in SCORES
        ]
        rows.append([str(tests), *cells])
    text = (
        f"W and p of the test of Shapiro and Wilk, over {result.pairing}. A small p says that scores are not normal, which speaks "
        "against a t-test."
    )
    return Section(
        heading="Tests of normality", text=text, table=Table(columns=["tests", *SCORES], rows=rows), anchor="normality"
    )


def _build_chart_section(result: TreeExperiment) -> Section:
    whole = result.scores[(result.scores["trees"] == "all rows") & (result.scores["score"] == "accuracy")]
    points = [
        ChartPoint(row.tests, row.data, row.value, math.nan, row.margin)
        for row in whole.itertuples(index=False)
        if math.isfinite(row.value)
    ]
    labels = PanelLabels(title="Accuracy of 3-NN by test set", values="accuracy")
    styles = assign_styles(TEST_METHODS)
    drawing = draw_dot_panel(labels, points, styles) if points else None
    text = f"One lane per test set, from top to bottom: {', '.join(TEST_METHODS)}. Further left is stronger."
    return Section(heading="How strong the test sets are", text=text, drawing=drawing, anchor="chart")


def _build_drawings(result: TreeExperiment) -> list[Section]:
    """Return the trees of the first repetition with their live mutants."""
    sections: list[Section] = []
    for data in result.data_sets[:MAX_DRAWN_TREES]:
        tree = fit_tree(data.frame, SEEDS_PER_STUDY * result.seed)
        score = cover(tree, data.frame, criterion="DTMT", target=TARGET, progress=False)
        assert isinstance(score, MutationScore)
        sections.append(
            Section(
                heading=f"The tree of {data.name}",
                text=f"The tree of all rows in the first repetition. {score.headline('Its rows')}.",
                drawing=draw_tree(score.leaves, score),
                anchor=f"tree-{len(sections)}",
            )
        )
    return sections
