"""`FrontPlot`: border pairs as a plot to zoom and click, with a table of the same pairs, and one pair in detail."""

from __future__ import annotations

import asyncio
import base64
import html
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
from nicegui import ui
from nicegui.element import Element
from nicegui.events import GenericEventArguments, ValueChangeEventArguments

from ..front_view import FRONT_VIEWS, FrontView, PairDetails
from ..workspaces import Workspace
from .elements import build_heading, show_errors

ROWS_PER_PAGE = 10
ALL_BORDERS = "all answers"
ROW_ORDERS = ["number", "smallest distance first", "largest distance first"]
COLUMNS = [
    {"name": name, "label": label, "field": name, "align": "left"}
    for name, label in (
        ("pair", "pair"),
        ("answer", "answer"),
        ("becomes", "becomes"),
        ("when", "when"),
        ("distance", "distance"),
        ("walk", "walk"),
    )
]


class FrontCanvas(Element, component="front_plot.js"):
    """The drawing; its data are fetched as binary files from `address`."""


class FrontPlot:
    """Shows the border pairs of a file that `Front.save` wrote.

    It must be built inside a page; the file is read in a thread. `on_pair` is called with the number of a pair that is opened.
    """

    def __init__(self, workspace: Workspace, path: Path, on_pair: Callable[[int], None] | None = None) -> None:
        self._workspace, self._path, self._on_pair = workspace, path, on_pair
        self._view: FrontView | None = None
        self._canvas: FrontCanvas | None = None
        self._page, self._rows = 0, np.empty(0, dtype=np.intp)
        self._root = ui.element("div").classes("front-view w-full")
        with self._root, ui.element("div").classes("row"):
            ui.spinner()
            ui.label("Reading the border pairs").props('role="status"')
        with self._root:
            ui.timer(0.01, self._load, once=True)

    async def _load(self) -> None:
        with show_errors():
            key, view = await asyncio.to_thread(FRONT_VIEWS.open, self._workspace.folder, self._path)
            names = await asyncio.to_thread(view.choose_axes)
            axes = [(await asyncio.to_thread(view.get_axis, name)).to_json() for name in names]
            self._view = view
            self._root.clear()
            with self._root:
                self._build(key, view, names, axes)

    def _build(self, key: str, view: FrontView, names: tuple[str, str], axes: list[dict[str, Any]]) -> None:
        if not len(view):
            ui.label("No border pair was found.")
            return
        x_name, y_name = names
        with ui.element("div").classes("row"):
            x_select = ui.select(
                view.axes, value=x_name, label="Across", on_change=lambda event: self._choose("x", event)
            )
            y_select = ui.select(
                view.axes, value=y_name, label="Upwards", on_change=lambda event: self._choose("y", event)
            )
            for select in (x_select, y_select):
                select.props("options-dense").classes("axis-select")
        self._canvas = FrontCanvas()
        self._canvas.props.update(
            address=f"/fronts/{key}",
            count=len(view),
            seed_count=view.seed_count,
            borders=[border.to_json() for border in view.borders],
            x_axis=axes[0] | {"number": view.axes.index(x_name)},
            y_axis=axes[1] | {"number": view.axes.index(y_name)},
            selected=-1,
        )
        self._canvas.on("pair", self._open_clicked)
        self._details = ui.element("section").classes("pair-details w-full").props('aria-label="The chosen pair"')
        with self._details:
            ui.label("No pair is open. Click one in the plot, or press its number in the table.").classes("muted")
        with ui.expansion(f"Table of the {len(view):,} pairs").classes("w-full") as expansion:
            self._table = ui.element("div").classes("w-full")
        expansion.on_value_change(self._open_table)

    async def _choose(self, side: str, event: ValueChangeEventArguments[Any]) -> None:
        view, canvas = self._view, self._canvas
        if view is None or canvas is None:
            return
        with show_errors():
            axis = await asyncio.to_thread(view.get_axis, str(event.value))
            canvas.props[f"{side}_axis"] = axis.to_json() | {"number": view.axes.index(str(event.value))}
            canvas.update()

    # -- one pair ------------------------------------------------------------------------------------------------------

    async def _open_clicked(self, event: GenericEventArguments) -> None:
        number = event.args.get("number") if isinstance(event.args, dict) else None
        if isinstance(number, int):
            await self.open_pair(number)

    async def open_pair(self, number: int) -> None:
        """Show one pair below the plot, and mark it in the plot."""
        view, canvas = self._view, self._canvas
        if view is None or canvas is None:
            return
        with show_errors():
            details = await asyncio.to_thread(view.describe_pair, number)
            canvas.props["selected"] = number
            canvas.update()
            self._details.clear()
            with self._details:
                build_pair_details(details)
            if self._on_pair is not None:
                self._on_pair(number)

    # -- the table -----------------------------------------------------------------------------------------------------

    async def _open_table(self, event: ValueChangeEventArguments[Any]) -> None:
        if not event.value or self._table.default_slot.children or self._view is None:
            return
        view = self._view
        names = list(dict.fromkeys(view.front.border_counts.index))
        with self._table:
            with ui.element("div").classes("row"):
                border = ui.select([ALL_BORDERS, *names], value=ALL_BORDERS, label="Answers that meet")
                order = ui.select(ROW_ORDERS, value=ROW_ORDERS[0], label="Order")
                for select in (border, order):
                    select.classes("axis-select")
            self._pages = ui.element("div").classes("w-full")

        async def choose_rows() -> None:
            chosen_border = None if border.value == ALL_BORDERS else str(border.value)
            self._rows = await asyncio.to_thread(view.select_rows, chosen_border, str(order.value))
            await self._show_page(0)

        border.on_value_change(choose_rows)
        order.on_value_change(choose_rows)
        await choose_rows()

    async def _show_page(self, page: int) -> None:
        view = self._view
        assert view is not None
        last = max(0, (len(self._rows) - 1) // ROWS_PER_PAGE)
        self._page = min(max(0, page), last)
        rows = self._rows[self._page * ROWS_PER_PAGE : (self._page + 1) * ROWS_PER_PAGE]
        pairs = await asyncio.to_thread(view.list_pairs, rows)
        self._pages.clear()
        with self._pages:
            table = (
                ui.table(columns=COLUMNS, rows=pairs, row_key="pair").classes("w-full").props("flat dense wrap-cells")
            )
            table.add_slot(
                "body-cell-pair",
                '<q-td :props="props"><q-btn flat dense no-caps color="primary" :label="String(props.value)" '
                ":aria-label=\"'Open pair ' + props.value\" @click=\"$parent.$emit('open', props.value)\" /></q-td>",
            )
            table.on("open", self._open_row)
            first = self._page * ROWS_PER_PAGE
            with ui.element("div").classes("row"):
                self._add_button("Previous", self._page > 0, lambda: self._show_page(self._page - 1))
                ui.label(f"{min(first + 1, len(self._rows)):,} to {first + len(rows):,} of {len(self._rows):,}")
                self._add_button("Next", self._page < last, lambda: self._show_page(self._page + 1))

    def _add_button(self, label: str, enabled: bool, action: Callable[[], Awaitable[None]]) -> None:
        button = ui.button(label, on_click=action).props("outline dense")
        button.set_enabled(enabled)

    async def _open_row(self, event: GenericEventArguments) -> None:
        if isinstance(event.args, int):
            await self.open_pair(event.args)


def build_pair_details(details: PairDetails) -> None:
    """Build what is known about one pair: both cases, what differs, the distance, the history."""
    first, second = details.answers
    build_heading(f"Pair {details.number}: {first} becomes {second}", 3)
    differing = sum(feature.differs for feature in details.features)
    count = f"{differing} of {len(details.features) + details.omitted_features} features differ. " if differing else ""
    ui.label(f"{count}Distance of the two cases: {details.distance:.4g}").classes("muted")
    for svg, alt in details.pictures:
        source = base64.b64encode(svg.encode()).decode()
        ui.html(
            f'<img class="pair-picture" src="data:image/svg+xml;base64,{source}" alt="{html.escape(alt, quote=True)}">',
            sanitize=False,
        )
    if details.changes:
        ui.html(f'<p class="marked">{details.changes}</p>', sanitize=False)
    if details.features:
        rows = "".join(
            f"<tr{' class=differs' if feature.differs else ''}><th scope=row>{html.escape(feature.feature)}</th>"
            f"<td>{html.escape(feature.first)}</td><td>{html.escape(feature.second)}</td>"
            f"<td>{'differs' if feature.differs else 'equal'}</td></tr>"
            for feature in details.features
        )
        ui.html(
            '<div class="fact-scroll" tabindex="0" role="region" aria-label="The two cases"><table class="pair-table"><thead><tr>'
            f"<th scope=col>feature</th><th scope=col>first case: {html.escape(first)}</th>"
            f"<th scope=col>second case: {html.escape(second)}</th><th scope=col>comparison</th></tr></thead>"
            f"<tbody>{rows}</tbody></table></div>",
            sanitize=False,
        )
    if details.omitted_features:
        ui.label(f"{details.omitted_features} more features are equal.").classes("muted")
    build_heading("How it was found", 4)
    with ui.element("ul").classes("history"):
        for line in details.history:
            with ui.element("li"):
                ui.label(line)
