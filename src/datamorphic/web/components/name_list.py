"""`NameList`: the morphisms of a kind as check boxes, some with a number of cases."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from nicegui import ui

from ...errors import UsageError

MAX_CHECK_BOXES = 24  # more names become a list to search
DEFAULT_NUMBER = 200
NUMBER_MARK = "<N>"
#: what provided names do, where the name does not say it
EXPLANATIONS = {
    "RandomValue<N>": "N random cases",
    "Select<N>RandomTestCases": "keep N cases of the pool, drawn at random",
    "ResetTestSuite": "empty the pool",
    "DataRows": "the rows of the data",
    "saveStatistics": "append the figures of the pool to a file",
    "viewStatistics": "show the figures of the pool",
    "saveMessageHead": "append the names of the figures to the file",
    "saveMessageNL": "append a line for averages to the file",
    "AvgDistance": "mean distance to the nearest case",
    "StdDistance": "standard deviation of these distances",
    "LabelBalance": "how evenly the outputs are distributed",
    "sparse": "no two cases nearer than 0.05",
    "dropDuplicates": "each input once",
    "TooClose": "drop cases with another one nearer than 0.02",
}


class NameList:
    """Check boxes for names; `selected` are the names as a command takes them."""

    def __init__(
        self, title: str, names: Mapping[str, Any], *, checked: Collection[str] = (), noun: str = "name"
    ) -> None:
        self._noun = noun
        self._boxes: dict[str, Any] = {}
        self._numbers: dict[str, Any] = {}
        self._select: Any = None
        plain_names = [*names["declared"], *names["provided"]]
        with ui.element("div").classes("name-list").props(f'role="group" aria-label="{title}"'):
            for name in names["numbered"]:
                self._add_numbered(name, name in checked)
            if len(plain_names) > MAX_CHECK_BOXES:
                self._select = ui.select(
                    plain_names,
                    multiple=True,
                    with_input=True,
                    clearable=True,
                    label=f"{title} ({len(plain_names)})",
                    value=[name for name in plain_names if name in checked],
                ).props("use-chips")
                ui.button("Select all", on_click=lambda: self._select.set_value(plain_names)).props("flat dense")
            else:
                for name in plain_names:
                    self._boxes[name] = ui.checkbox(name, value=name in checked).props("dense")
                    if name in EXPLANATIONS:
                        self._boxes[name].tooltip(EXPLANATIONS[name])
                if len(plain_names) > 3:
                    with ui.element("div").classes("row"):
                        ui.button("All", on_click=lambda: self._set_all(True)).props(
                            f'flat dense aria-label="Select all of {title}"'
                        )
                        ui.button("None", on_click=lambda: self._set_all(False)).props(
                            f'flat dense aria-label="Select none of {title}"'
                        )
            if not plain_names and not names["numbered"]:
                ui.label("The test system declares none.").classes("muted")

    def _add_numbered(self, name: str, checked: bool) -> None:
        before, _, after = name.partition(NUMBER_MARK)
        with ui.element("div").classes("row numbered-name"):
            self._boxes[name] = ui.checkbox(before, value=checked).props(
                f'dense aria-label="{name.replace(NUMBER_MARK, " N ")}"'
            )
            self._numbers[name] = (
                ui.number(value=DEFAULT_NUMBER, min=1, max=1_000_000, precision=0)
                .props(f'aria-label="Number of cases of {before}"')
                .classes("short-number")
            )
            if after:
                ui.label(after)
            self._boxes[name].tooltip(EXPLANATIONS.get(name, ""))

    def _set_all(self, checked: bool) -> None:
        for name, box in self._boxes.items():
            if name not in self._numbers:
                box.set_value(checked)

    @property
    def selected(self) -> list[str]:
        """The names that are checked; raises if there are none."""
        names = []
        for name, box in self._boxes.items():
            if box.value:
                number = self._numbers.get(name)
                names.append(name if number is None else name.replace(NUMBER_MARK, str(_to_count(number.value))))
        if self._select is not None:
            names += list(self._select.value or [])
        if not names:
            raise UsageError(f"Select at least one {self._noun}.")
        return names


def _to_count(value: Any) -> int:
    try:
        count = int(value)
    except (TypeError, ValueError):
        raise UsageError("The number of cases is missing. Enter a whole number of at least 1.") from None
    if count < 1:
        raise UsageError(f"The number of cases must be at least 1. Got {count}.")
    return count
