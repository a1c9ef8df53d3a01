"""Draw a front: on two features, or on the two principal directions of the inputs."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._text import format_short, pluralise
from ..errors import ArgumentError
from ..reporting.document import Axis, Scatter
from ..reporting.thinning import group_points
from ..space.features import Categorical, Codes
from ..space.projection import Projection
from ..space.text_feature import Text
from ..space.token_edits import count_tokens
from .changes import Rows, format_answers, format_changes, thin_rows
from .front_data import FrontData

MAX_DRAWN_PAIRS = 5_000  # more pairs hide each other and make the page slow
MAX_DRAWN_SEEDS = 2_000
CATEGORY_JITTER = 0.3  # categories are at 0, 1, ...: points are moved by at most this, to be seen side by side
MISSING_VALUE_MARGIN = 0.06  # missing numbers are drawn this share of the range below the smallest number
MAX_CHANGES_PER_PAIR = 6  # features in the note of a pair
MAX_COLOURED_BORDERS = 12  # borders with a colour of their own
#: Distinguishable for colour-blind readers (the first are those of Okabe and Ito), on white and on black.
HUE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#8A7FD8")
REST_COLOUR, TEXT_COLOUR, CLEAR_COLOUR = "#999999", "#767676", "rgba(0,0,0,0)"
REAL_COLOUR, GRID_COLOUR, ZERO_COLOUR = "rgba(128,128,128,.3)", "rgba(128,128,128,.25)", "rgba(128,128,128,.4)"


def build_scatter(
    front: FrontData,
    x: str | None = None,
    y: str | None = None,
    partners: Sequence[str] = (),
    *,
    directions: bool = False,
) -> Scatter:
    """Build a scatter picture of the pairs of a front.

    It shows two features. If only one of `x` and `y` is given, the other is the first different feature of `partners`.
    Without any, or with `directions`, a space of more than two features is shown on its two principal directions. A space of
    one feature gets one line per border.
    """
    space = front.space
    rows, seeds = thin_rows(len(front), MAX_DRAWN_PAIRS), thin_rows(len(front.seeds), MAX_DRAWN_SEEDS)
    codes, real_codes = front.a.codes[rows], front.seeds.codes[seeds]
    kinds, rest_name = merge_rare_borders([front.borders[row] for row in rows])
    remarks = []
    if len(space) == 1:
        for name in (x, y):
            if name is not None:
                space.position(name)
        lines = list(dict.fromkeys(kinds))
        across, pair_places, seed_places = build_axis(front, 0, codes, real_codes)
        axes = (across, Axis("", [*lines, "real inputs"]))
        line_of_kind = {kind: i for i, kind in enumerate(lines)}
        flat = np.column_stack([pair_places, [line_of_kind[kind] for kind in kinds]])
        flat_real = np.column_stack([seed_places, _jitter(np.full(len(real_codes), len(lines)), 1)])
    elif len(space) == 2 or ((x is not None or y is not None) and not directions):
        axis_data = [build_axis(front, j, codes, real_codes) for j in _choose_features(front, x, y, partners)]
        axes = (axis_data[0][0], axis_data[1][0])
        flat = np.column_stack([places for _, places, _ in axis_data])
        flat_real = np.column_stack([places for _, _, places in axis_data])
        if any(axis.names for axis in axes):
            remarks.append("points are moved a little around their category")
    else:
        view = Projection(space, front.seeds.codes)
        axes = (Axis(view.axes[0]), Axis(view.axes[1]))
        flat, flat_real = view(codes), view(real_codes)
        remarks.append(f"the two directions keep {view.variance_share:.0%} of the variance of the inputs")
    if len(rows) < len(front):
        remarks.append(f"{pluralise(len(rows), 'pair')} of {len(front):,} drawn, evenly chosen")
    x_axis, y_axis = axes
    return Scatter(
        title=f"Where answers of {front.subject} change: {pluralise(len(front), 'pair')}",
        subtitle="; ".join(remarks),
        x_axis=x_axis,
        y_axis=y_axis,
        x=flat[:, 0].tolist(),
        y=flat[:, 1].tolist(),
        groups=kinds,
        notes=format_notes(front, rows),
        behind=(flat_real[:, 0].tolist(), flat_real[:, 1].tolist()),
        rest=rest_name,
    )


def _choose_features(front: FrontData, x: str | None, y: str | None, partners: Sequence[str]) -> tuple[int, int]:
    """Return the positions of the two features to show."""
    position = front.space.position
    if x is not None and x == y:
        raise ArgumentError(
            f"A plot needs two different features. Got {format_short(x)!r} twice. Leave one of them out."
        )
    if x is None and y is None:
        return 0, 1
    partner = next((name for name in partners if name not in (x, y)), "")
    return position(partner if x is None else x), position(partner if y is None else y)


def build_axis(front: FrontData, position: int, codes: Codes, real_codes: Codes) -> tuple[Axis, Codes, Codes]:
    """Return a feature as an axis, and the positions of pairs and real inputs on it."""
    feature = front.space.features[position]
    column, seed_column = codes[:, position], real_codes[:, position]
    all_values = np.concatenate([column, seed_column])
    missing = bool(np.isnan(all_values).any())
    if isinstance(feature, Text):
        column, seed_column = (
            count_tokens([text or "" for text in feature.decode_texts(values)]).astype(np.float64)
            for values in (column, seed_column)
        )
        return Axis(f"{feature.name} (tokens)"), _jitter(column, position), _jitter(seed_column, position + 1)
    if isinstance(feature, Categorical):
        names = [*map(format_short, feature.values), *(["missing"] if missing else [])]
        column, seed_column = (
            np.where(np.isnan(values), len(feature.values), values) for values in (column, seed_column)
        )
        return Axis(feature.name, names), _jitter(column, position), _jitter(seed_column, position + 1)
    if not missing:
        return Axis(feature.name), column, seed_column
    low, high = (np.nanmin(all_values), np.nanmax(all_values)) if not np.isnan(all_values).all() else (0.0, 0.0)
    edge = low - MISSING_VALUE_MARGIN * ((high - low) or 1.0)
    column, seed_column = (np.where(np.isnan(values), edge, values) for values in (column, seed_column))
    return Axis(f"{feature.name} (missing: at {edge:.4g})"), column, seed_column


def merge_rare_borders(kinds: list[str]) -> tuple[list[str], str]:
    """Return the borders with rare ones merged into one if there are many, and the name of that one.

    A long legend would leave no room for the picture.
    """
    counts = Counter(kinds)
    if len(counts) <= MAX_COLOURED_BORDERS + 1:
        return kinds, ""
    common = {kind for kind, _ in counts.most_common(MAX_COLOURED_BORDERS)}
    rest_name = f"{len(counts) - MAX_COLOURED_BORDERS} other borders"
    return [kind if kind in common else rest_name for kind in kinds], rest_name


def _jitter(column: Codes, seed: int) -> Codes:
    return column + np.random.default_rng(seed).uniform(-CATEGORY_JITTER, CATEGORY_JITTER, len(column))


def format_notes(front: FrontData, rows: Rows) -> list[str]:
    """Return the changes of each pair as text."""
    descriptions = format_changes(front.a.take(rows), front.b.take(rows), MAX_CHANGES_PER_PAIR)
    ends = zip(format_answers(front.a_output[rows]), format_answers(front.b_output[rows]), descriptions, strict=True)
    return [f"{a} becomes {b}: {change}" for a, b, change in ends]


def build_figure(scatter: Scatter) -> Any:
    """Return a scatter picture as a plotly figure; plotly reads some HTML in texts, so all texts are escaped."""
    import plotly.graph_objects as go

    figure = go.Figure()
    if len(scatter.behind[0]):
        x, y = scatter.behind
        marker = {"size": 4, "color": REAL_COLOUR}
        figure.add_scatter(x=x, y=y, mode="markers", name="real inputs", hoverinfo="skip", marker=marker)
    for group in group_points(scatter):
        colour = HUE_COLOURS[group.hue] if group.hue >= 0 else REST_COLOUR
        figure.add_scatter(
            x=[scatter.x[row] for row in group.rows],
            y=[scatter.y[row] for row in group.rows],
            mode="markers",
            name=html.escape(group.name),
            text=[html.escape(scatter.notes[row]) for row in group.rows],
            hovertemplate="%{text}<extra></extra>",
            marker={"size": 7, "color": colour, "opacity": 0.8, "symbol": group.symbol},
        )
    if not len(scatter.groups):
        figure.add_annotation(
            text="no border was found", showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper", font={"size": 18}
        )
    title = html.escape(scatter.title)
    if scatter.subtitle:
        title += f'<br><span style="font-size:12px">{html.escape(scatter.subtitle)}</span>'
    figure.update_layout(
        title={"text": title, "font": {"size": 16}, "x": 0, "xref": "paper"},
        xaxis=_axis_to_layout(scatter.x_axis),
        yaxis=_axis_to_layout(scatter.y_axis),
        paper_bgcolor=CLEAR_COLOUR,
        plot_bgcolor=CLEAR_COLOUR,
        font={"color": TEXT_COLOUR},
        margin={"l": 70, "r": 20, "t": 80, "b": 60},
        height=560,
        showlegend=True,
        legend={"orientation": "h", "y": -0.15, "yanchor": "top"},
    )
    return figure


def _axis_to_layout(axis: Axis) -> dict[str, Any]:
    layout: dict[str, Any] = {
        "title": {"text": html.escape(axis.label), "standoff": 8},
        "automargin": True,
        "gridcolor": GRID_COLOUR,
        "zerolinecolor": ZERO_COLOUR,
    }
    if axis.names:
        layout |= {
            "tickvals": list(range(len(axis.names))),
            "ticktext": [html.escape(name) for name in axis.names],
            "range": [-0.6, len(axis.names) - 0.4],
            "zeroline": False,
        }
    return layout
