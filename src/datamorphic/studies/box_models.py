"""Figure 19 of Zhu & Bayley (2022): where models that learned the coded classifier Box 2 draw its borders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from ..data.learners import ignore_convergence_warnings, make_reference_estimator
from ..data.subjects import PLANE, RULES, Labels
from ..exploration.changes import thin_rows
from ..exploration.run import explore
from ..reporting.document import Chart, Drawing, Shape, TextLabel
from ..reporting.panel import HUE_COUNT, Panel, PanelItem
from .explorations import CodedExecutor
from .intervals import estimate_mean, estimate_share, label_figure
from .rows import Row
from .workload import Job, Scale, Workbench

if TYPE_CHECKING:
    from ..exploration.front import Front

SUBJECT = "Box 2"
MODELS = ("LR", "KNN", "DT", "NB", "SVM", "HV", "Stack1")
TRAINING_POINTS, TEST_POINTS = 5_000, 10_000
WALKS, REFERENCE_WALKS = 1_200, 6_000
MEASURES = ("accuracy, %", "distance to the border of Box 2", "distance of that border to the model's")
NOTE = (
    "The paper shows the borders in an image only, and does not name the models; ours are models of its case studies."
)
MAX_SQUARES = 500  # of one colour in a panel: pages have a limit
PANEL_WIDTH_PX, PANEL_HEIGHT_PX, DOT_PX = 300.0, 215.0, 2.4

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class BoxModel(Job):
    """A model that learned Box 2: its accuracy, and how far its border is from that of Box 2."""

    model: str

    def repetitions(self, scale: Scale) -> int:
        """Return the number of repetitions, each with other training points."""
        return scale.slow

    def _derive_seed(self, seed: int, repetition: int) -> int:
        return seed + repetition  # the page draws the models of the first repetition again

    def _compute_figures(self, seed: int) -> dict[str, float]:
        from scipy.spatial import KDTree

        points = PLANE.sample(TEST_POINTS, seed=seed + 2)
        right = np.asarray(train_model(self.model, seed).predict(points)) == label_points(points)
        ours, true = (find_middles(explore_model(name, seed)) for name in (self.model, SUBJECT))
        figures = label_figure(MEASURES[0], estimate_share(int(right.sum()), TEST_POINTS))
        for measure, places, others in ((MEASURES[1], ours, true), (MEASURES[2], true, ours)):
            distances = KDTree(others).query(places)[0] if len(others) and len(places) else [np.nan]
            figures |= label_figure(measure, estimate_mean(distances))
        return figures


@cache
def train_model(model: str, seed: int) -> Any:
    """Return a model of the case studies, fitted on random points of Box 2."""
    points = PLANE.sample(TRAINING_POINTS, seed=seed)
    with ignore_convergence_warnings():
        return make_reference_estimator(model).fit(points, label_points(points))


def label_points(points: pd.DataFrame) -> Labels:
    """Return the answers of Box 2."""
    return RULES[SUBJECT](points["x"].to_numpy(), points["y"].to_numpy())


@cache
def explore_model(model: str, seed: int) -> Front:
    """Return the front of a model, or of Box 2 itself, by random target."""
    is_coded = model == SUBJECT
    subject: Any = CodedExecutor(SUBJECT) if is_coded else train_model(model, seed)
    return explore(
        subject,
        space=PLANE,
        seeds=PLANE.sample(400, seed=seed + 1),
        strategy="random_target",
        walks=REFERENCE_WALKS if is_coded else WALKS,
        seed=seed,
        progress=False,
    )


def find_middles(front: Front) -> Floats:
    """Return the middle of each pair."""
    middles: Floats = (front.a.codes + front.b.codes) / 2
    return middles


def build_table(bench: Workbench) -> list[Row]:
    """Build the table of the models: a row each."""
    return [
        bench.estimate(BoxModel(model), measure).to_row(model, measure, NOTE)
        for model in MODELS
        for measure in MEASURES
    ]


# -- the figure ----------------------------------------------------------------------------------------------------


def draw_fronts(seed: int) -> Chart:
    """Draw the fronts of Box 2 and of the models, a panel each, with the border of Box 2 behind those of the models."""
    fronts = {name: explore_model(name, seed) for name in (SUBJECT, *MODELS)}
    borders = list(dict.fromkeys(border for front in fronts.values() for border in sorted(set(front.borders))))
    styles = {border: f"c{number % HUE_COUNT}" for number, border in enumerate(borders)}
    symbol = "M8 5h6v6h-6z"
    legend = [
        (Drawing(width=24, height=16, shapes=[Shape(symbol, f"ours {style}")], alt=""), border)
        for border, style in styles.items()
    ]
    legend.append((Drawing(width=24, height=16, shapes=[Shape(symbol, "tone5")], alt=""), f"the border of {SUBJECT}"))
    true_places = find_middles(fronts[SUBJECT])
    panels = [
        _draw_front(name, front, styles, true_places if name != SUBJECT else true_places[:0])
        for name, front in fronts.items()
    ]
    return Chart(panels=panels, legend=legend)


def _draw_front(name: str, front: Front, styles: Mapping[str, str], true_places: Floats) -> Drawing:
    bounds = [(float(feature.low), float(feature.high)) for feature in PLANE.features]
    width, height = PANEL_WIDTH_PX - 60, PANEL_HEIGHT_PX - 76
    panel = Panel(left=42, top=28, width=width, height=height, x=bounds[0], y=bounds[1])
    places, borders = find_middles(front), np.array(front.borders, dtype=object)
    title = name if name == SUBJECT else f"{name}, fitted on {TRAINING_POINTS:,} points"
    items: list[PanelItem] = [TextLabel(4, 16, title, "strong"), *panel.draw_frame("x", "")]
    items += _draw_squares(panel, true_places, "tone5")
    for border, style in styles.items():
        items += _draw_squares(panel, places[borders == border], f"ours {style}", border)
    counts = ", ".join(f"{border} {count:,}" for border, count in front.border_counts.items())
    alt = f"Where {name} changes its answer, in the plane of x and y: {counts or 'nowhere'} pairs."
    return Drawing(width=PANEL_WIDTH_PX, height=PANEL_HEIGHT_PX, shapes=items, alt=alt, caption=title)


def _draw_squares(panel: Panel, places: Floats, kind: str, note: str = "") -> Sequence[PanelItem]:
    """Return places within the panel as one path of small squares; if there are too many, evenly chosen ones."""
    inside = ((places >= (panel.x[0], panel.y[0])) & (places <= (panel.x[1], panel.y[1]))).all(axis=1)
    if not inside.any():
        return []
    rows = np.flatnonzero(inside)[thin_rows(int(inside.sum()), MAX_SQUARES)]
    x, y = panel.to_x(places[rows, 0]), panel.to_y(places[rows, 1])
    side = f"h{DOT_PX}v{DOT_PX}h-{DOT_PX}z"
    corners = zip((x - DOT_PX / 2).tolist(), (y - DOT_PX / 2).tolist(), strict=True)
    return [Shape("".join(f"M{left:.1f} {top:.1f}{side}" for left, top in corners), kind, note)]
