"""`CommandForm`: a form made from the options of a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from ..commands import FormField, build_arguments, list_fields

MAX_CHOICES_LISTED = 12  # longer lists can be searched


class CommandForm:
    """Inputs for options of a command: the `main` ones, and `more` in a part that is folded away.

    Choices and labels are those that the capability declares. `choices` gives the values of options whose list depends on the
    page, such as columns, `labels` other labels, and `values` other values to begin with, by the names of options.
    """

    def __init__(
        self,
        command: str,
        main: Sequence[str],
        more: Sequence[str] = (),
        *,
        choices: Mapping[str, Sequence[str]] | None = None,
        values: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self.command = command
        self._allowed = (*main, *more)
        self._inputs: dict[str, Any] = {}
        self._choices, self._values = dict(choices or {}), dict(values or {})
        self._labels = dict(labels or {})
        fields = list_fields(command)
        with ui.element("div").classes("form-grid"):
            for name in main:
                self._build_input(fields[name])
        if more:
            with ui.expansion("More options").classes("w-full"), ui.element("div").classes("form-grid"):
                for name in more:
                    self._build_input(fields[name])

    def _build_input(self, field: FormField) -> None:
        value = self._values.get(field.name, field.default)
        choices = self._choices.get(field.name) or field.choices or None
        label = self._labels.get(field.name, field.label)
        element: Any
        if field.kind == "flag":
            element = ui.checkbox(label, value=bool(value))
        elif choices is not None:
            several = field.kind == "list"
            known_values: Any = [item for item in value or () if item in choices] if several else value
            element = ui.select(
                list(choices),
                label=label,
                value=known_values if several or value in choices else None,
                multiple=several,
                clearable=True,
                with_input=len(choices) > MAX_CHOICES_LISTED,
            )
            if several:
                element.props("use-chips")
        elif field.kind in ("integer", "number"):
            element = ui.number(
                label, value=value, min=field.low, max=field.high, format="%d" if field.kind == "integer" else None
            )
        elif field.kind == "list":
            element = ui.input_chips(label, value=list(value or []))
        else:
            element = ui.input(label, value="" if value is None else str(value))
        element.props(f'data-option="{field.name}"').tooltip(field.help)
        self._inputs[field.name] = element

    def add_value(self, name: str, value: str) -> bool:
        """Choose a further value of a list; return False if the form has no such option or value."""
        element = self._inputs.get(name)
        if element is None or value not in self._choices.get(name, ()):
            return False
        if value not in (element.value or []):
            element.set_value([*(element.value or []), value])
        return True

    @property
    def arguments(self) -> list[str]:
        """The arguments of the command, as the form is filled in."""
        values = {name: element.value for name, element in self._inputs.items()}
        return build_arguments(self.command, values, self._allowed, self._choices)
