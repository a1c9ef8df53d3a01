"""PMML documents: parsed with care, and what they say of columns and labels."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from ..._checks import did_you_mean, short
from ...errors import DataError, ModelError
from ..domains import Domain

ORDERS = ("lessThan", "lessOrEqual", "greaterThan", "greaterOrEqual")
NUMBERS = ("integer", "float", "double")
TREATMENTS = {"returnInvalid": "refused", "asIs": "kept", "asMissing": "missing"}


def kind(element: Element) -> str:
    """Return the name of an element."""
    return element.tag


def within(element: Element, *names: str) -> list[Element]:
    """Return the children of an element that have one of some names."""
    return [each for each in element if each.tag in names]


def everywhere(element: Element, *names: str) -> Iterator[Element]:
    """Return all elements below one, and itself, that have one of some names."""
    return (each for each in element.iter() if each.tag in names)


class _Careful(TreeBuilder):
    """A builder that takes no declarations: they may make a small file expand to fill the memory."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise DataError(
            "The file has a DOCTYPE, which PMML needs none of and which may hide entities that expand without end. "
            "Take it out if you trust the file."
        )


def parsed(path: str | os.PathLike[str]) -> Element:
    """Return the root of a PMML file.

    Raises
    ------
    DataError
        If it is no PMML; the message says what was found.
    """
    parser = XMLParser(target=_Careful())
    try:
        with Path(path).open("rb") as file:
            start = file.read(80)
            if not start.strip():
                raise DataError(f"The file {short(path)!r} is empty: there is no PMML in it.")
            parser.feed(start)
            while block := file.read(1 << 20):
                parser.feed(block)
        root = parser.close()
    except OSError as error:
        raise DataError(f"The file {short(path)!r} cannot be read: {error.strerror or error}.") from None
    except (ParseError, ValueError, LookupError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"The file {short(path)!r} is no PMML: it is not well-formed XML ({error}).") from None
    for each in root.iter():  # namespaces tell the version, which is told anyway
        each.tag = each.tag.rpartition("}")[2]
    if kind(root) != "PMML":
        raise DataError(f"The file {short(path)!r} is XML, but no PMML: its root is {kind(root)!r}.")
    version = root.get("version", "none")
    if not version.startswith("4."):
        raise ModelError(f"PMML of version {version} is not read, but of versions 4.0 to 4.4. Convert it.")
    return root


@dataclass
class Field:
    """What a document says of a column, or of what is answered."""

    name: str
    data_type: str
    optype: str = "continuous"
    values: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    intervals: list[tuple[float, bool, float, bool]] = field(default_factory=list)
    replacement: str | None = None
    treatment: str = "returnInvalid"

    def value(self, text: str) -> Any:
        """Return the value that a text stands for."""
        try:
            return as_value(text, self.data_type)
        except ModelError as error:
            raise ModelError(f"The field {self.name!r} of the PMML file: {error}") from None

    @property
    def others(self) -> str:
        """What becomes of values that are not valid; where none are listed all are."""
        if (self.values or self.intervals or self.invalid) and self.treatment not in TREATMENTS:
            raise ModelError(
                f"The field {self.name!r} treats invalid values as {self.treatment!r}, which is not read. Read are: "
                f"{', '.join(TREATMENTS)}."
            )
        others = TREATMENTS.get(self.treatment, "kept")
        if self.data_type == "boolean":  # there are no others that could be kept
            return "missing" if others == "missing" else "refused"
        if self.invalid and others != "kept":
            raise ModelError(
                f"The field {self.name!r} lists values that are invalid, such as {self.invalid[0]!r}, which is not read. "
                "List those that are valid."
            )
        return others if self.values or self.intervals else "kept"

    def gone(self) -> list[Any]:
        """Return the values that stand for a missing one: numbers, or texts where they are none."""
        found: list[Any] = []
        for text in self.missing:
            try:
                found.append(as_value(text, self.data_type))
            except ModelError:
                found.append(text)
        return found

    def domain(self, grouped: bool) -> Domain:
        """Return what the column may hold; `grouped` where it holds categories."""
        gone, others = self.gone(), self.others
        if grouped:
            return Domain(tuple(dict.fromkeys([*gone, *self.missing])), (), others)
        first = next((each for each in gone if not isinstance(each, str)), None)
        rest = tuple(each for each in gone if each is not first)
        points = [(self.value(text), True, self.value(text), True) for text in self.values]
        valid = (*self.intervals, *points)
        return Domain(rest, valid if others != "kept" else (), others)


def as_value(text: str, data_type: str) -> Any:
    """Return the value that a text stands for, by the type of its field.

    Examples
    --------
    >>> as_value("7", "integer"), as_value("7", "string"), as_value("0.5", "double"), as_value("true", "boolean")
    (7, '7', 0.5, True)
    """
    if data_type == "integer":
        try:
            return int(text)  # a number of many digits is no float
        except ValueError:
            number = as_number(text)
            return int(number) if number == int(number) else number
    if data_type in NUMBERS:
        return as_number(text)
    if data_type != "boolean":
        return text
    if text.strip().lower() not in ("true", "1", "false", "0"):
        raise ModelError(f"'true' or 'false' was expected in the PMML file. Got {text!r}.")
    return text.strip().lower() in ("true", "1")


def as_number(text: str | None) -> float:
    """Return the number that a text stands for."""
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ModelError(f"A finite number was expected in the PMML file. Got {text!r}.")
    return number


def fields_of(root: Element) -> dict[str, Field]:
    """Return what a document says of its fields, by name."""
    found: dict[str, Field] = {}
    for each in (each for part in within(root, "DataDictionary") for each in within(part, "DataField")):
        listed = [(value.get("value", ""), value.get("property", "valid")) for value in within(each, "Value")]
        name = each.get("name", "")
        found[name] = Field(
            name,
            each.get("dataType", "double"),
            each.get("optype", "continuous"),
            [value for value, how in listed if how == "valid"],
            [value for value, how in listed if how == "missing"],
            [value for value, how in listed if how == "invalid"],
            [_interval(part) for part in within(each, "Interval")],
        )
        ordered = found[name]
        if ordered.optype == "ordinal" and ordered.data_type in NUMBERS:
            ranks = [as_number(value) for value in ordered.values]
            if ranks != sorted(ranks):
                raise ModelError(
                    f"The field {name!r} is ordinal and its numbers are listed in an order of their own, which is not read."
                )
    return found


def _interval(element: Element) -> tuple[float, bool, float, bool]:
    """Return where an interval begins and ends, and whether it does so with the ends."""
    left, right = (element.get(f"{side}Margin") for side in ("left", "right"))
    closure = element.get("closure", "closedClosed")
    return (
        -math.inf if left is None else as_number(left),
        closure.startswith("closed"),
        math.inf if right is None else as_number(right),
        closure.endswith("Closed"),
    )


def schema_of(model: Element, fields: dict[str, Field]) -> tuple[list[Field], Field | None]:
    """Return the fields a model looks at, in order, and the one it answers."""
    columns: list[Field] = []
    target = None
    for each in (each for part in within(model, "MiningSchema") for each in within(part, "MiningField")):
        name, usage = each.get("name", ""), each.get("usageType", "active")
        if usage in ("target", "predicted"):
            if target is not None and target.name != name:
                raise ModelError(
                    f"The model answers several fields at once, {target.name!r} and {name!r}, which is not read."
                )
            target = fields.get(name)
        elif usage == "active":
            if name not in fields:
                raise ModelError(
                    f"The model looks at the field {name!r}, which is not in the DataDictionary. "
                    f"{did_you_mean(name, fields)}"
                )
            fields[name].replacement = each.get("missingValueReplacement")
            fields[name].treatment = each.get("invalidValueTreatment", "returnInvalid")
            columns.append(fields[name])
    return columns, target


def casts_of(root: Element) -> dict[str, tuple[str, str]]:
    """Return derived fields that only change the type of another: which, and to what type."""
    found: dict[str, set[tuple[str, str]]] = {}
    for each in everywhere(root, "DerivedField"):
        refs = [part for part in each if kind(part) not in ("Extension", "Value", "Interval")]
        plain = len(refs) == 1 and kind(refs[0]) == "FieldRef" and refs[0].get("mapMissingTo") is None
        # one of that name may be derived otherwise in another part of the document
        cast = (refs[0].get("field", ""), each.get("dataType", "double")) if plain else ("", "")
        found.setdefault(each.get("name", ""), set()).add(cast)
    return {name: casts.pop() for name, casts in found.items() if len(casts) == 1}
