"""`CaseTableView`: the test set as a table with pages, and a case with its ancestors, to edit and to execute again."""

from __future__ import annotations

from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

from ..._text import pluralise
from ...scripting.formatter import quote_text
from ...scripting.grammar import replace_control_characters
from ..case_table import OPERATORS
from ..pool_client import PoolClient, PoolFailure
from .elements import build_heading, clean_attribute, show_errors

PAGE_SIZES = [10, 25, 50, 100]
ID_CELL = """
<q-td :props="props">
  <button type="button" class="link-button" :aria-label="'Open case ' + props.row.id"
    @click="() => $parent.$emit('open-case', props.row.id)">{{ props.row.id }}</button>
</q-td>
"""
CELL = """
<q-td :props="props" :class="props.col.name.startsWith('v') ? 'verdict-' + props.value : ''">
  <span class="cell" :title="props.value">{{ props.value }}</span>
</q-td>
"""


class CaseTableView:
    """Shows pages of the test set; the process of the pool sorts and filters."""

    def __init__(self, pool: PoolClient) -> None:
        self._pool = pool
        self._page, self._page_size = 0, 25
        self._sort, self._descending = "", False
        self._conditions: list[tuple[str, str, str]] = []
        self._columns: list[dict[str, Any]] = []
        self._matching = 0
        self._dialog: CaseDialog | None = None
        self._build()

    def _build(self) -> None:
        with ui.element("div").classes("row table-tools"):
            self._column = ui.select({}, label="Column").classes("tool")
            self._operator = ui.select(list(OPERATORS), value="contains", label="Comparison")
            self._value = ui.input("Value").classes("tool").on("keydown.enter", self._add)
            ui.button("Filter", icon="filter_alt", on_click=self._add).props("outline")
            self._chips = ui.element("div").classes("row")
        self._table = (
            ui.table(rows=[], columns=[], row_key="id", pagination={"rowsPerPage": self._page_size, "rowsNumber": 0})
            .classes("case-table w-full")
            .props('dense flat bordered hide-bottom binary-state-sort role=region aria-label="Test set"')
        )
        self._table.add_slot("body-cell", CELL)
        self._table.add_slot("body-cell-id", ID_CELL)
        self._table.on("request", self._sort_by_header)
        self._table.on("open-case", self._open_case)
        with ui.element("div").classes("row table-pages"):
            for icon, label, step in (
                ("first_page", "First page", "first"),
                ("chevron_left", "Previous page", "previous"),
                ("chevron_right", "Next page", "next"),
                ("last_page", "Last page", "last"),
            ):
                ui.button(icon=icon, on_click=lambda step=step: self._turn(step)).props(
                    f'flat dense aria-label="{label}"'
                )
            self._place = ui.label("The cases are shown when the running command has ended.").props('role="status"')
            self._size = ui.select(PAGE_SIZES, value=self._page_size, label="Rows", on_change=self._resize)
            self._sort_select = ui.select({}, label="Sort by", on_change=self._sort_by_list).props("clearable")
            self._direction = ui.checkbox("Descending", on_change=self._sort_by_list)

    async def refresh(self) -> None:
        """Show the cases as they are now; while a command runs, the last ones stay."""
        if self._pool.running is not None:
            return
        try:
            reply = await self._pool.ask(
                "cases",
                offset=self._page * self._page_size,
                limit=self._page_size,
                sort=self._sort,
                descending=self._descending,
                conditions=self._conditions,
            )
        except PoolFailure as failure:
            self._conditions = []
            self._show_conditions()
            ui.notify(str(failure), type="negative", multi_line=True, close_button="Close")
            return
        self._matching = reply["matching"]
        if self._page and self._page * self._page_size >= self._matching:
            self._page = max(0, (self._matching - 1) // self._page_size)
            await self.refresh()
            return
        self._show(reply)

    def _show(self, reply: dict[str, Any]) -> None:
        if reply["columns"] != self._columns:
            self._columns = reply["columns"]
            labels = {column["key"]: column["label"] for column in self._columns}
            self._column.set_options(labels, value=self._column.value if self._column.value in labels else "output")
            self._sort_select.set_options(labels, value=self._sort or None)
            self._table.columns = [
                {
                    "name": column["key"],
                    "field": column["key"],
                    "label": column["label"],
                    "align": "right" if column["numeric"] else "left",
                    "sortable": True,
                }
                for column in self._columns
            ]
        self._table.rows = reply["rows"]
        self._table.pagination = {
            "page": self._page + 1,
            "rowsPerPage": self._page_size,
            "rowsNumber": self._matching,
            "sortBy": self._sort or None,
            "descending": self._descending,
        }
        self._table.update()
        first, last = self._page * self._page_size, self._page * self._page_size + len(reply["rows"])
        if not reply["total"]:
            text = "No cases yet. Make seed cases first."
        elif not self._matching:
            text = f"None of {pluralise(reply['total'], 'case')} matches the filter."
        else:
            text = f"{first + 1:,} to {last:,} of {pluralise(self._matching, 'case')}"
            if self._matching < reply["total"]:
                text += f" that match, of {reply['total']:,}"
        if reply["hidden_features"]:
            text += f" ({reply['hidden_features']:,} more inputs: open a case)"
        self._place.set_text(text)

    # -- what the person chooses ---------------------------------------------------------------------------------------

    async def _turn(self, step: str) -> None:
        last_page = max(0, (self._matching - 1) // self._page_size)
        pages = {"first": 0, "previous": self._page - 1, "next": self._page + 1, "last": last_page}
        self._page = min(max(0, pages[step]), last_page)
        await self.refresh()

    async def _resize(self) -> None:
        self._page, self._page_size = 0, int(self._size.value)
        await self.refresh()

    async def _sort_by_header(self, event: GenericEventArguments) -> None:
        pagination = event.args.get("pagination") or {}
        known_keys = [column["key"] for column in self._columns]
        key = str(pagination.get("sortBy") or "")
        self._sort = key if key in known_keys else ""
        self._descending = bool(pagination.get("descending"))
        self._page = 0
        self._sort_select.value = self._sort or None
        self._direction.value = self._descending
        await self.refresh()

    async def _sort_by_list(self) -> None:
        chosen = (self._sort_select.value or "", bool(self._direction.value))
        if chosen != (self._sort, self._descending):
            (self._sort, self._descending), self._page = chosen, 0
            await self.refresh()

    async def _add(self) -> None:
        if self._column.value is None:
            return
        self._conditions.append((self._column.value, self._operator.value, self._value.value or ""))
        self._value.value = ""
        self._page = 0
        self._show_conditions()
        await self.refresh()

    def _show_conditions(self) -> None:
        labels = {column["key"]: column["label"] for column in self._columns}
        self._chips.clear()
        with self._chips:
            for condition in self._conditions:
                key, operator, value = condition
                ui.button(
                    f"{labels.get(key, key)} {operator} {value or '(empty)'}",
                    icon="close",
                    on_click=lambda condition=condition: self._remove(condition),
                ).props(f'outline dense aria-label="Remove the filter on {clean_attribute(labels.get(key, key))}"')

    async def _remove(self, condition: tuple[str, str, str]) -> None:
        self._conditions.remove(condition)
        self._page = 0
        self._show_conditions()
        await self.refresh()

    async def _open_case(self, event: GenericEventArguments) -> None:
        if self._dialog is None:
            self._dialog = CaseDialog(self._pool)
        await self._dialog.open(int(event.args))


class CaseDialog:
    """One case: what it was made from, down to its seed cases, and its values to edit."""

    def __init__(self, pool: PoolClient) -> None:
        self._pool = pool
        self._inputs: dict[str, tuple[Any, str]] = {}
        self._dialog = ui.dialog().props('aria-label="Test case"')
        with self._dialog:
            self._card = ui.card().classes("case-dialog")

    async def open(self, case_id: int) -> None:
        """Show a case."""
        with show_errors():
            if self._pool.running is not None:
                raise PoolFailure("A command is running. Open the case when it has ended.")
            case = await self._pool.ask("case", id=case_id)
            self._card.clear()
            with self._card:
                self._build(case)
            self._dialog.open()

    def _build(self, case: dict[str, Any]) -> None:
        with ui.element("div").classes("row w-full"):
            build_heading(f"Case {int(case['id'])}")
            ui.space()
            ui.button(icon="close", on_click=self._dialog.close).props('flat dense aria-label="Close"')
        ui.label(
            f"{case['kind'].capitalize()} case, made by {case['morphism']}. Output: {case['output'] or 'none yet'}"
        )
        if case["message"]:
            ui.label(case["message"]).classes("error")
        for column in case["columns"]:
            if column["group"] == "verdict":
                ui.label(f"{column['label']}: {case[column['key']]}").classes(f"verdict-{case[column['key']]}")
        self._build_lineage(case)
        build_heading("Edit by hand", 3)
        self._inputs = {}
        with ui.element("div").classes("form-grid"):
            for item in case["inputs"]:
                element: Any
                if item["choices"] is not None:
                    choices = list(dict.fromkeys([*item["choices"], item["value"]]))
                    element = ui.select(choices, value=item["value"], label=item["name"])
                else:
                    element = ui.input(item["name"], value=item["value"])
                element.tooltip(item["text"])
                self._inputs[item["name"]] = element, item["value"]
        ui.label("An edited case keeps its number and becomes an original case without an output.").classes("muted")
        case_id = int(case["id"])
        with ui.element("div").classes("row"):
            ui.button("Save and execute", icon="play_arrow", on_click=lambda: self._save(case_id, execute=True))
            ui.button("Save only", on_click=lambda: self._save(case_id, execute=False)).props("outline")
            ui.button("Execute again", on_click=lambda: self._run([f"executeTestCases({case_id})"])).props("outline")

    def _build_lineage(self, case: dict[str, Any]) -> None:
        build_heading("Where it comes from", 3)
        if not case["ancestor_count"]:
            ui.label("It was made from no other case.")
            return
        names = {column["key"]: column["label"] for column in case["columns"] if column["group"] == "input"}
        with ui.element("ol").classes("lineage"):
            for ancestor in (case, *case["ancestors"]):
                values = ", ".join(f"{label} = {ancestor[key]}" for key, label in list(names.items())[:6])
                with ui.element("li"):
                    if ancestor is case:
                        ui.label(f"case {ancestor['id']}").classes("strong")
                    else:
                        ui.button(
                            f"case {ancestor['id']}", on_click=lambda number=ancestor["id"]: self.open(int(number))
                        ).props("flat dense")
                    made_from = f" from {ancestor['origins']}" if ancestor["origins"] else ", a seed case"
                    output = f" → {ancestor['output']}" if ancestor["output"] else ""
                    ui.label(f"{ancestor['morphism']}{made_from}: {values}{output}")
        hidden = case["ancestor_count"] - len(case["ancestors"])
        if hidden:
            ui.label(f"{pluralise(hidden, 'ancestor')} more, or no longer in the pool.").classes("muted")

    def _save(self, case_id: int, *, execute: bool) -> None:
        changes = [
            f"editTestCase({case_id};{quote_text(name)};{quote_text(_clean(element.value))})"
            for name, (element, old_value) in self._inputs.items()
            if _clean(element.value) != old_value
        ]
        if not changes:
            ui.notify("No value was changed.")
            return
        self._run([*changes, *([f"executeTestCases({case_id})"] if execute else [])])

    def _run(self, commands: list[str]) -> None:
        with show_errors():
            self._pool.start("\n".join(commands))
            self._dialog.close()


def _clean(value: Any) -> str:
    """Return a value as one line of text."""
    return replace_control_characters("" if value is None else str(value))
