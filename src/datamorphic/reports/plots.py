"""Pictures for pages, by plotly; the library itself is put into a page once, by the page."""

from __future__ import annotations

import html
import zlib
from itertools import groupby
from typing import TYPE_CHECKING, Any

from .summary import Line

if TYPE_CHECKING:
    from markupsafe import Markup

#: told apart by colour-blind readers too (Okabe and Ito), and readable on white and on black
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")


def line_html(line: Line) -> Markup:
    """Return a line picture as a piece of HTML."""
    from markupsafe import Markup

    name = html.escape(line.title, quote=True)
    div = line_figure(line).to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=f"picture-{zlib.crc32(repr(line).encode()):08x}",  # the same report is the same file
        config={"displayModeBar": False, "responsive": True},
    )
    return Markup(f'<figure role="img" aria-label="{name}">{div}</figure>')


def line_figure(line: Line) -> Any:
    """Return a line picture as a plotly figure."""
    import plotly.graph_objects as go

    # plotly reads a little HTML in texts: what the user wrote must arrive as text
    labels = list(dict.fromkeys(line.bands))
    colour = {label: COLOURS[i % len(COLOURS)] for i, label in enumerate(labels)}
    figure = go.Figure()
    for label in labels:  # an empty trace a label makes the legend
        figure.add_trace(
            go.Scatter(
                x=[None], y=[None], mode="markers", name=html.escape(str(label)),
                marker={"symbol": "square", "size": 12, "color": colour[label], "opacity": 0.5},
            )
        )  # fmt: skip
    start = 0
    for label, run in groupby(line.bands):
        stop = start + len(list(run))
        figure.add_vrect(x0=start - 0.5, x1=stop - 0.5, fillcolor=colour[label], opacity=0.18, line_width=0)
        start = stop
    figure.add_trace(
        go.Scatter(
            x=list(range(len(line.values))), y=list(line.values), mode="lines+markers", showlegend=False,
            text=[html.escape(note) for note in line.notes], hovertemplate="%{text}<br>%{y:.3f}<extra></extra>",
            line={"color": "#888888"}, marker={"size": 5, "color": [colour[label] for label in line.bands]},
        )
    )  # fmt: skip
    grid = {"gridcolor": "rgba(128,128,128,.25)", "zerolinecolor": "rgba(128,128,128,.4)"}
    figure.update_layout(
        xaxis={"title": html.escape(line.x_label), **grid},
        yaxis={"title": html.escape(line.y_label), **grid},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": "#808080"},
        margin={"l": 60, "r": 20, "t": 20, "b": 60},
        height=360,
        legend={"orientation": "h", "y": 1.12},
    )
    return figure
