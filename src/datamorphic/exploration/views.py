"""Views of fronts in spaces of many features: parallel coordinates, and maps that keep neighbours together."""

from __future__ import annotations

import html
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import format_short, pluralise
from .._validation import validate_choice, validate_seed
from ..errors import ArgumentError, MissingExtra
from ..reporting.document import Axis, Chart, Drawing, Picture, Scatter, Section, Shape, TextLabel
from ..reporting.panel import PanelItem, choose_line_style
from ..reporting.text import cut
from ..space.features import Codes
from ..space.projection import Projection
from .changes import Rows, measure_changes, thin_rows
from .front_data import FrontData
from .options import VIEWS
from .plot import CLEAR_COLOUR, HUE_COLOURS, TEXT_COLOUR, build_axis, build_scatter, format_notes, merge_rare_borders

EMBEDDING_NAMES = {"tsne": "t-SNE", "umap": "UMAP"}
MIN_EMBEDDED_CASES = 5
MAX_EMBEDDED_PAIRS, MAX_EMBEDDED_SEEDS = 1_000, 300  # the time grows faster than their number
PERPLEXITY = 30.0  # of t-SNE, or less for few cases
MAX_PARALLEL_FEATURES = 12
MAX_PARALLEL_PAIRS = 200
MAX_TICKS_PER_AXIS, MAX_TICK_CHARACTERS, MAX_AXIS_CHARACTERS = 8, 10, 16
DRAWING_HEIGHT_PX, AXIS_GAP_PX, MARGIN_PX = 330.0, 92.0, 74.0


def build_view(front: FrontData, view: str, seed: int = 0) -> Scatter:
    """Build a scatter picture of a front: by features or principal directions, or by t-SNE or UMAP."""
    if view not in EMBEDDING_NAMES:
        return build_scatter(front, directions=view == "pca")
    rows, seeds = thin_rows(len(front), MAX_EMBEDDED_PAIRS), thin_rows(len(front.seeds), MAX_EMBEDDED_SEEDS)
    places = embed_cases(front, rows, seeds, view, seed)
    name = EMBEDDING_NAMES[view]
    kinds, rest = merge_rare_borders([front.borders[row] for row in rows])
    remarks = [f"{name} keeps neighbours together: distances between groups mean little", f"seed {seed}"]
    if len(rows) < len(front):
        remarks.append(f"{pluralise(len(rows), 'pair')} of {len(front):,} drawn, evenly chosen")
    pair_places, seed_places = places[: len(rows)], places[len(rows) :]
    return Scatter(
        title=f"Where answers of {front.subject} change: {pluralise(len(front), 'pair')}",
        subtitle="; ".join(remarks),
        x_axis=Axis(f"{name} 1"),
        y_axis=Axis(f"{name} 2"),
        x=pair_places[:, 0].tolist(),
        y=pair_places[:, 1].tolist(),
        groups=kinds,
        notes=format_notes(front, rows),
        behind=(seed_places[:, 0].tolist(), seed_places[:, 1].tolist()),
        rest=rest,
    )


def embed_cases(front: FrontData, rows: Rows, seeds: Rows, view: str, seed: int = 0) -> npt.NDArray[np.float64]:
    """Return two coordinates for the first cases of pairs and for seed cases, by t-SNE or UMAP.

    Features are scaled as for the principal directions, so that the distances are those of the space.
    """
    codes = np.concatenate([front.a.codes[rows], front.seeds.codes[seeds]])
    name = EMBEDDING_NAMES[view]
    if len(front.space) < 3 and not front.space.kinds["text"]:
        raise ArgumentError(
            f"{name} needs more than two features, and the front has {len(front.space)}. Leave view out: it is drawn as it is."
        )
    if len(codes) < MIN_EMBEDDED_CASES:
        raise ArgumentError(
            f"{name} needs {MIN_EMBEDDED_CASES} cases or more, and the front has {len(codes)}. Leave view out."
        )
    matrix = Projection(front.space, codes).to_deviations(codes)
    if view == "tsne":
        from sklearn.manifold import TSNE

        perplexity = min(PERPLEXITY, (len(matrix) - 1) / 3)
        reducer: Any = TSNE(2, perplexity=perplexity, init="random", random_state=seed)
    else:
        try:
            umap = importlib.import_module("umap")
        except ImportError:
            raise MissingExtra(
                "view='umap' needs the package umap-learn. Install it (pip install umap-learn), or use view='tsne'."
            ) from None
        # one job, because results with several depend on the machine
        reducer = umap.UMAP(n_neighbors=min(15, len(matrix) - 1), random_state=seed, n_jobs=1)
    places: npt.NDArray[np.float64] = np.asarray(reducer.fit_transform(matrix), dtype=np.float64)
    return places


# -- parallel coordinates --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ParallelAxes:
    """The pairs of a front on parallel axes, one per feature."""

    axes: Sequence[Axis]
    limits: Sequence[tuple[float, float]]
    places: Codes  # a row per pair, a column per axis
    kinds: Sequence[str]
    notes: Sequence[str]
    remarks: Sequence[str]
    title: str

    @property
    def borders(self) -> list[str]:
        """The borders, the most frequent first."""
        return sorted(set(self.kinds), key=lambda kind: (-self.kinds.count(kind), kind))


def build_parallel_axes(front: FrontData, limit: int = MAX_PARALLEL_PAIRS) -> ParallelAxes:
    """Return the pairs on the features in which the two cases of pairs differ most, in the order of the space."""
    rows = thin_rows(len(front), limit)
    changes = measure_changes(front.space, front.a.codes[rows], front.b.codes[rows]).sum(axis=0)
    features = sorted(np.argsort(-changes, kind="stable")[:MAX_PARALLEL_FEATURES].tolist())
    columns = [build_axis(front, j, front.a.codes[rows], front.seeds.codes) for j in features]
    kinds, _ = merge_rare_borders([front.borders[row] for row in rows])
    remarks = []
    if len(features) < len(front.space):
        remarks.append(f"the {len(features)} of {len(front.space)} features that differ most")
    if len(rows) < len(front):
        remarks.append(f"{pluralise(len(rows), 'pair')} of {len(front):,} drawn, evenly chosen")
    return ParallelAxes(
        axes=[axis for axis, _, _ in columns],
        limits=[_find_limits(axis, places, seed_places) for axis, places, seed_places in columns],
        places=np.column_stack([places for _, places, _ in columns]),
        kinds=kinds,
        notes=format_notes(front, rows),
        remarks=remarks,
        title=f"Where answers of {front.subject} change: {pluralise(len(front), 'pair')}",
    )


def _find_limits(axis: Axis, *columns: Codes) -> tuple[float, float]:
    """Return the ends of an axis, which lie apart."""
    if axis.names:
        return -0.5, len(axis.names) - 0.5
    values = np.concatenate(columns)
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def draw_parallel_axes(front: FrontData) -> Chart:
    """Draw the pairs as lines over parallel axes, with a colour per border."""
    parallel = build_parallel_axes(front)
    borders = parallel.borders
    styles = {kind: choose_line_style(number) for number, kind in enumerate(borders)}
    top, bottom = 44.0, DRAWING_HEIGHT_PX - 20
    items: list[PanelItem] = []
    heights = np.empty_like(parallel.places)
    for number, (axis, (low, high)) in enumerate(zip(parallel.axes, parallel.limits, strict=True)):
        x = MARGIN_PX + number * AXIS_GAP_PX
        heights[:, number] = bottom - (parallel.places[:, number] - low) / (high - low) * (bottom - top)
        items.append(Shape(f"M{x:.1f} {top:.1f}V{bottom:.1f}", "axis"))
        items.append(TextLabel(x, 16 if number % 2 else 32, cut(axis.label, MAX_AXIS_CHARACTERS), "mid small"))
        stride = -(-len(axis.names) // MAX_TICKS_PER_AXIS) if axis.names else 1
        ticks = [(float(i), axis.names[i]) for i in range(0, len(axis.names), stride)] or [
            (value, format_short(round(value, 6))) for value in (low, (low + high) / 2, high)
        ]
        for value, label in ticks:
            y = bottom - (value - low) / (high - low) * (bottom - top)
            items.append(TextLabel(x - 5, y + 4, cut(label, MAX_TICK_CHARACTERS), "end side"))
    xs = [MARGIN_PX + number * AXIS_GAP_PX for number in range(len(parallel.axes))]
    lines = [
        Shape("M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in zip(xs, row, strict=True)), f"{styles[kind]} faint", note)
        for row, kind, note in zip(heights.tolist(), parallel.kinds, parallel.notes, strict=True)
    ]
    width = xs[-1] + MARGIN_PX / 2
    names = ", ".join(axis.label for axis in parallel.axes)
    alt = f"{parallel.title}, as lines over parallel axes: {names}. Borders: {', '.join(borders) or 'none'}."
    drawing = Drawing(width=width, height=DRAWING_HEIGHT_PX, shapes=[*lines, *items], alt=alt)
    legend = [
        (Drawing(width=24, height=16, shapes=[Shape("M0 8h24", style)], alt=""), kind) for kind, style in styles.items()
    ]
    return Chart(panels=[drawing], legend=legend, caption="; ".join(parallel.remarks))


def build_parallel_figure(front: FrontData) -> Any:
    """Return the pairs on parallel axes as a plotly figure, whose axes can be moved and narrowed; the last is the border."""
    import plotly.graph_objects as go

    parallel = build_parallel_axes(front, MAX_EMBEDDED_PAIRS)
    borders = parallel.borders
    numbers = [borders.index(kind) for kind in parallel.kinds]
    axes = [*parallel.axes, Axis("border", borders)]
    limits = [*parallel.limits, (-0.5, max(1, len(borders)) - 0.5)]
    columns = [*parallel.places.T, np.array(numbers, dtype=np.float64)]
    dimensions = [
        {
            "label": html.escape(axis.label),
            "range": list(range_limits),
            "values": column,
            **(
                {"tickvals": [*range(len(axis.names))], "ticktext": [html.escape(name) for name in axis.names]}
                if axis.names
                else {}
            ),
        }
        for axis, range_limits, column in zip(axes, limits, columns, strict=True)
    ]
    last = max(1, len(borders) - 1)
    colours = [[number / last, HUE_COLOURS[number % len(HUE_COLOURS)]] for number in range(last + 1)]
    line = {"color": numbers, "colorscale": colours, "cmin": 0, "cmax": last}
    figure = go.Figure(go.Parcoords(dimensions=dimensions, line=line, labelangle=-20))
    title = html.escape("; ".join([parallel.title, *parallel.remarks]))
    margin = {"l": 70, "r": 90, "t": 120, "b": 40}
    figure.update_layout(
        title={"text": title, "font": {"size": 16}},
        paper_bgcolor=CLEAR_COLOUR,
        font={"color": TEXT_COLOUR},
        margin=margin,
    )
    return figure


# -- sections of pages -----------------------------------------------------------------------------------------------------


def build_view_sections(front: FrontData, view: str, seed: int = 0) -> list[Section]:
    """Build the sections with the pictures of a view: by itself, a scatter picture and, for many features, parallel axes."""
    validate_choice("view", "explore", view, VIEWS)
    validate_seed("seed", "explore", seed)
    explanation = "There are no pairs to draw: the picture shows the inputs that the walks started from."
    if len(front):
        explanation = "Each coloured point is a pair. Its colour shows which two answers meet there. Grey: real inputs."
    sections = []
    if view != "parallel":
        picture: Picture = build_view(front, view, seed)
        sections.append(Section(heading="The border in a picture", text=explanation, picture=picture))
    if view == "parallel" or (
        view == "auto" and len(front) and len(front.space.scalars) > 2 and not front.space.blocks
    ):
        text = (
            "A line is a pair. Where lines of one colour meet, their border lies at nearly one value of that feature."
        )
        sections.append(Section(heading="The pairs over all features", text=text, chart=draw_parallel_axes(front)))
    return sections
