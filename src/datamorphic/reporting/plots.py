"""Draw pictures with plotly, and combine them with the SVG and the legend for a page."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._text import to_jsonable
from .document import Axis, Line, Picture, Scatter
from .svg import picture_to_svg, symbol_to_svg
from .text import cut
from .thinning import (
    assign_hues,
    choose_evenly,
    describe_picture,
    find_bands,
    group_points,
    locate_steps,
    wrap_text,
)

if TYPE_CHECKING:
    from markupsafe import Markup

MAX_AXIS_TICKS, MAX_TICK_CHARACTERS = 20, 18  # fits a phone
HOVER_LINE_CHARACTERS, AXIS_LINE_CHARACTERS = 48, 36


@dataclass(frozen=True, kw_only=True)
class Colours:
    """The colours of a picture."""

    hues: tuple[str, ...]
    rest: str
    real: str
    text: str
    grid: str
    zero: str
    line: str

    def get_colour(self, hue: int) -> str:
        """Return the colour of a hue; grey if it is negative."""
        return self.hues[hue] if hue >= 0 else self.rest


#: Distinguishable for colour-blind readers (the first are those of Okabe and Ito), on white and on black.
FIXED_COLOURS = Colours(
    hues=("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#8A7FD8"),
    rest="#999999",
    real="rgba(128,128,128,.3)",
    text="#767676",
    grid="rgba(128,128,128,.25)",
    zero="rgba(128,128,128,.4)",
    line="#888888",
)
#: Variables of the style sheet of a page, which the script replaces by their values, light or dark.
PAGE_COLOURS = Colours(
    hues=tuple(f"var(--c{i})" for i in range(6)),
    rest="var(--rest)",
    real="var(--real)",
    text="var(--soft)",
    grid="var(--grid)",
    zero="var(--rule)",
    line="var(--soft)",
)


def picture_to_html(picture: Picture) -> Markup:
    """Return a picture as HTML: the SVG, and the data from which the script of the page draws with plotly."""
    from markupsafe import Markup

    title = "; ".join(filter(None, (picture.title, picture.subtitle)))
    name = html.escape(picture.alt or describe_picture(picture), quote=True)
    spec = json.dumps(
        to_jsonable(_build_plotly_spec(picture)), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    spec = spec.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return Markup(
        f'<figure class="picture"><figcaption>{html.escape(title)}</figcaption>'
        f'<div class="drawing"><div class="static">{picture_to_svg(picture)}</div>'
        f'<div class="live" role="img" aria-label="{name}"></div></div>'
        f'{_format_legend(picture)}<script type="application/json">{spec}</script></figure>'
    )


def _format_legend(picture: Picture) -> str:
    """Return the legend; each item has the index of its trace in the figure."""
    items = []
    if isinstance(picture, Line):
        items = [(label, symbol_to_svg(hue, "square"), "") for label, hue in assign_hues(picture).items()]
    else:
        first = 1 if len(picture.behind[0]) else 0
        items = [
            (group.name, symbol_to_svg(group.hue, group.symbol), str(first + i))
            for i, group in enumerate(group_points(picture))
        ]
        grey = '<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path class="real" d="M8 8h0"/></svg>'
        items = ([("real inputs", grey, "0")] if first else []) + items
    entries = "".join(
        f"<li{f' data-trace={trace}' if trace else ''}>{icon}<span>{html.escape(name)}</span></li>"
        for name, icon, trace in items
    )
    return f'<ul class="legend">{entries}</ul>' if entries else ""


def _build_plotly_spec(picture: Picture) -> dict[str, Any]:
    """Return the data of a figure for the script of the page, without title and legend."""
    figure = picture_to_figure(picture, PAGE_COLOURS)
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        axis.title.text = _break_lines(axis.title.text, AXIS_LINE_CHARACTERS, 3)
        if axis.ticktext:
            tick_rows = choose_evenly(len(axis.ticktext), MAX_AXIS_TICKS)
            axis.tickvals = [axis.tickvals[i] for i in tick_rows]
            axis.ticktext = [
                html.escape(cut(html.unescape(axis.ticktext[i]), MAX_TICK_CHARACTERS)) for i in tick_rows
            ]
    for trace in figure.data:
        if trace.text is not None:
            trace.text = [
                "<br>".join(map(html.escape, wrap_text(html.unescape(note), HOVER_LINE_CHARACTERS, 8)))
                for note in trace.text
            ]
    figure.update_layout(title=None, showlegend=False, margin={"t": 20, "l": 50, "r": 12, "b": 40}, template=None)
    label = {"bgcolor": "var(--paper)", "bordercolor": "var(--rule)", "font": {"color": "var(--ink)", "size": 13}}
    figure.update_layout(hoverlabel={"align": "left", **label}, hovermode="closest")
    if isinstance(picture, Line):  # labels, since colours alone are not accessible
        for band in find_bands(picture):
            _label_band(figure, picture, *band)
    plain = figure.to_plotly_json()
    return {"data": plain["data"], "layout": plain["layout"]}


def _break_lines(text: str, width: int, max_lines: int) -> str:
    """Wrap an escaped text, since plotly does not."""
    return "<br>".join(map(html.escape, wrap_text(html.unescape(text), width, max_lines)))


def _label_band(figure: Any, line: Line, label: str, start: int, stop: int) -> None:
    steps = locate_steps(line)
    extent = (steps[-1] - steps[0]) or 1
    share = (steps[stop - 1] - steps[start]) / extent
    if share < 0.12 and len(line.values) > 1:
        return
    middle = (steps[stop - 1] + steps[start]) / 2
    text = html.escape(wrap_text(label, max(6, int(share * 50)), 1)[0])
    figure.add_annotation(x=middle, y=1, yref="paper", yanchor="bottom", text=text, showarrow=False)


def picture_to_figure(picture: Picture, colours: Colours = FIXED_COLOURS) -> Any:
    """Return a picture as a plotly figure."""
    return line_to_figure(picture, colours) if isinstance(picture, Line) else scatter_to_figure(picture, colours)


def _apply_style(figure: Any, colours: Colours, **layout: Any) -> Any:
    """Give a figure the style of all pictures, legible on white and on black."""
    clear = "rgba(0,0,0,0)"
    figure.update_layout(paper_bgcolor=clear, plot_bgcolor=clear, font={"color": colours.text}, **layout)
    figure.update_xaxes(gridcolor=colours.grid, zerolinecolor=colours.zero)
    figure.update_yaxes(gridcolor=colours.grid, zerolinecolor=colours.zero)
    return figure


def line_to_figure(line: Line, colours: Colours = FIXED_COLOURS) -> Any:
    """Return a line picture as a plotly figure."""
    import plotly.graph_objects as go

    # plotly reads some HTML in texts: text from users must be escaped
    hues = assign_hues(line)
    steps = list(locate_steps(line))
    figure = go.Figure()
    for label, hue in hues.items():  # empty traces make the legend
        figure.add_trace(
            go.Scatter(
                x=[None],
                y=[None],
                mode="markers",
                name=html.escape(str(label)),
                marker={"symbol": "square", "size": 12, "color": colours.get_colour(hue), "opacity": 0.5},
            )
        )
    for label, start, stop in find_bands(line):
        left = (steps[start - 1] + steps[start]) / 2 if start else steps[0] - _compute_half_step(steps)
        right = (steps[stop - 1] + steps[stop]) / 2 if stop < len(steps) else steps[-1] + _compute_half_step(steps)
        fill = colours.get_colour(hues[label])
        figure.add_shape(
            type="rect",
            xref="x",
            yref="paper",
            x0=left,
            x1=right,
            y0=0,
            y1=1,
            fillcolor=fill,
            opacity=0.18,
            line={"width": 0},
            layer="below",
        )
    marker_colours = [colours.get_colour(hues[label]) for label in line.bands] or colours.line
    hover_texts = [html.escape(note) for note in line.notes] or None
    hover_parts = ["%{text}<br>" if hover_texts else "", "%{y:.4g}"]
    hover_parts += [": %{customdata}" if line.bands else "", "<extra></extra>"]
    figure.add_trace(
        go.Scatter(
            x=steps,
            y=list(line.values),
            mode="lines+markers",
            showlegend=False,
            text=hover_texts,
            customdata=[html.escape(label) for label in line.bands] or None,
            hovertemplate="".join(hover_parts),
            line={"color": colours.line},
            marker={"size": 5, "color": marker_colours},
        )
    )
    return _apply_style(
        figure,
        colours,
        xaxis=_build_axis(Axis(line.x_label)),
        yaxis=_build_axis(Axis(line.y_label)),
        margin={"l": 60, "r": 20, "t": 20, "b": 60},
        height=360,
        legend={"orientation": "h", "y": 1.12},
    )


def _compute_half_step(steps: list[float]) -> float:
    return (steps[-1] - steps[0]) / (2 * (len(steps) - 1)) if len(steps) > 1 else 0.5


def scatter_to_figure(scatter: Scatter, colours: Colours = FIXED_COLOURS) -> Any:
    """Return a scatter picture as a plotly figure."""
    import plotly.graph_objects as go

    figure = go.Figure()
    if len(scatter.behind[0]):
        figure.add_trace(
            go.Scatter(
                x=scatter.behind[0],
                y=scatter.behind[1],
                mode="markers",
                name="real inputs",
                hoverinfo="skip",
                marker={"size": 4, "color": colours.real},
            )
        )
    for group in group_points(scatter):
        hover_texts = [html.escape(scatter.notes[row]) for row in group.rows] if len(scatter.notes) else None
        figure.add_trace(
            go.Scatter(
                x=[scatter.x[row] for row in group.rows],
                y=[scatter.y[row] for row in group.rows],
                mode="markers",
                name=html.escape(group.name),
                text=hover_texts,
                hovertemplate="%{text}<extra></extra>" if hover_texts else None,
                marker={"size": 7, "color": colours.get_colour(group.hue), "opacity": 0.8, "symbol": group.symbol},
            )
        )
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
    subtitle = (
        f'<br><span style="font-size:12px">{html.escape(scatter.subtitle)}</span>' if scatter.subtitle else ""
    )
    return _apply_style(
        figure,
        colours,
        title={"text": html.escape(scatter.title) + subtitle, "font": {"size": 16}, "x": 0, "xref": "paper"},
        xaxis=_build_axis(scatter.x_axis),
        yaxis=_build_axis(scatter.y_axis),
        margin={"l": 70, "r": 20, "t": 80, "b": 60},
        height=560,
        showlegend=True,
        legend={"orientation": "h", "y": -0.15, "yanchor": "top"},
    )


def _build_axis(axis: Axis) -> dict[str, Any]:
    settings: dict[str, Any] = {"title": {"text": html.escape(axis.label), "standoff": 8}, "automargin": True}
    if axis.names:
        places = list(range(len(axis.names)))
        settings |= {"tickvals": places, "ticktext": [html.escape(name) for name in axis.names]}
        settings |= {"range": [-0.6, len(places) - 0.4], "zeroline": False}
    return settings
