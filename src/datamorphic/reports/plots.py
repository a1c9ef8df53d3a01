"""Pictures for pages, by plotly; the library itself is put into a page once, by the page."""

from __future__ import annotations

import html
import zlib
from itertools import groupby
from typing import TYPE_CHECKING, Any

from .summary import Axis, Line, Picture, Scatter

if TYPE_CHECKING:
    from markupsafe import Markup

#: told apart by colour-blind readers too (Okabe and Ito), and readable on white and on black
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")


SYMBOLS = ("circle", "diamond", "square", "cross")  # told apart where there are more groups than colours
GRID = {"gridcolor": "rgba(128,128,128,.25)", "zerolinecolor": "rgba(128,128,128,.4)"}


def picture_html(picture: Picture) -> Markup:
    """Return a picture as a piece of HTML."""
    from markupsafe import Markup

    name = html.escape(picture.title, quote=True)
    figure, caption = picture_figure(picture), ""
    if isinstance(picture, Scatter):  # a page breaks lines where it is narrow, plotly does not
        figure.update_layout(title=None, margin={"t": 20})
        caption = (
            f"<figcaption>{html.escape('; '.join(filter(None, (picture.title, picture.subtitle))))}</figcaption>"
        )
    div = figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=f"picture-{zlib.crc32(repr(picture).encode()):08x}",  # the same report is the same file
        config={"displayModeBar": False, "responsive": True},
    )
    return Markup(f'<figure role="img" aria-label="{name}">{caption}{div}</figure>')


def picture_figure(picture: Picture) -> Any:
    """Return a picture as a plotly figure."""
    return line_figure(picture) if isinstance(picture, Line) else scatter_figure(picture)


def _lay_out(figure: Any, **more: Any) -> Any:
    """Give a figure the look of all pictures: legible on white and on black."""
    figure.update_layout(
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", font={"color": "#808080"}, **more
    )
    figure.update_xaxes(**GRID)
    figure.update_yaxes(**GRID)
    return figure


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
    return _lay_out(
        figure,
        xaxis={"title": html.escape(line.x_label)},
        yaxis={"title": html.escape(line.y_label)},
        margin={"l": 60, "r": 20, "t": 20, "b": 60},
        height=360,
        legend={"orientation": "h", "y": 1.12},
    )


def scatter_figure(scatter: Scatter) -> Any:
    """Return a scatter picture as a plotly figure."""
    import plotly.graph_objects as go

    colours = COLOURS[:-1]  # the last is grey, as real inputs are
    figure = go.Figure()
    if len(scatter.behind[0]):
        figure.add_trace(
            go.Scatter(
                x=scatter.behind[0], y=scatter.behind[1], mode="markers", name="real inputs", hoverinfo="skip",
                marker={"size": 4, "color": "rgba(128,128,128,.3)"},
            )
        )  # fmt: skip
    rows: dict[str, list[int]] = {}
    for row, group in enumerate(scatter.groups):
        rows.setdefault(group, []).append(row)
    ordered = sorted(rows.items(), key=lambda item: (item[0] != scatter.rest, -len(item[1])))
    for i, (group, some) in enumerate(ordered, start=-1 if scatter.rest else 0):
        symbol = SYMBOLS[max(i, 0) // len(colours) % len(SYMBOLS)]
        colour = COLOURS[-1] if group == scatter.rest else colours[i % len(colours)]
        figure.add_trace(
            go.Scatter(
                x=[scatter.x[row] for row in some], y=[scatter.y[row] for row in some], mode="markers",
                name=html.escape(group), text=[html.escape(scatter.notes[row]) for row in some],
                hovertemplate="%{text}<extra></extra>",
                marker={"size": 7, "color": colour, "opacity": 0.8, "symbol": symbol},
            )
        )  # fmt: skip
    if not len(scatter.groups):
        figure.add_annotation(
            text="no border was found",
            showarrow=False,
            x=0.5,
            y=0.5,
            xref="paper",
            yref="paper",
            font={"size": 18},
        )
    under = f'<br><span style="font-size:12px">{html.escape(scatter.subtitle)}</span>' if scatter.subtitle else ""
    return _lay_out(
        figure,
        title={"text": html.escape(scatter.title) + under, "font": {"size": 16}, "x": 0, "xref": "paper"},
        xaxis=_axis(scatter.x_axis),
        yaxis=_axis(scatter.y_axis),
        margin={"l": 70, "r": 20, "t": 80, "b": 60},
        height=560,
        showlegend=True,
        legend={"orientation": "h", "y": -0.15, "yanchor": "top"},
    )


def _axis(axis: Axis) -> dict[str, Any]:
    about: dict[str, Any] = {"title": html.escape(axis.label), "automargin": True}
    if axis.names:
        places = list(range(len(axis.names)))
        about |= {"tickvals": places, "ticktext": [html.escape(name) for name in axis.names]}
        about |= {"range": [-0.6, len(places) - 0.4], "zeroline": False}
    return about
