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

ORDERS = ("lessThan", "lessOrEqual", "greaterThan", "greaterOrEqual")
NUMBERS = ("integer", "float", "double")


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
    replacement: str | None = None

    def value(self, text: str) -> Any:
        """Return the value that a text stands for."""
        return as_value(text, self.data_type)


def as_value(text: str, data_type: str) -> Any:
    """Return the value that a text stands for, by the type of its field.

    Examples
    --------
    >>> as_value("7", "integer"), as_value("7", "string"), as_value("0.5", "double"), as_value("true", "boolean")
    (7, '7', 0.5, True)
    """
    if data_type == "integer":
        number = as_number(text)
        return int(number) if number == int(number) else number
    if data_type in NUMBERS:
        return as_number(text)
    return text.strip().lower() in ("true", "1") if data_type == "boolean" else text


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
        )
    return found


def schema_of(model: Element, fields: dict[str, Field]) -> tuple[list[Field], Field | None]:
    """Return the fields a model looks at, in order, and the one it answers."""
    columns, target = [], None
    for each in (each for part in within(model, "MiningSchema") for each in within(part, "MiningField")):
        name, usage = each.get("name", ""), each.get("usageType", "active")
        if usage in ("target", "predicted"):
            target = target or fields.get(name)
        elif usage == "active":
            if name not in fields:
                raise ModelError(
                    f"The model looks at the field {name!r}, which is not in the DataDictionary. "
                    f"{did_you_mean(name, fields)}"
                )
            if each.get("outliers", "asIs") != "asIs":
                raise ModelError(
                    f"The field {name!r} treats outliers as {each.get('outliers')!r}, which is not read."
                )
            fields[name].replacement = each.get("missingValueReplacement")
            columns.append(fields[name])
    return columns, target


def casts_of(root: Element) -> dict[str, tuple[str, str]]:
    """Return derived fields that only change the type of another: which, and to what type."""
    found = {}
    for each in everywhere(root, "DerivedField"):
        refs = [part for part in each if kind(part) != "Extension"]
        if len(refs) == 1 and kind(refs[0]) == "FieldRef":
            found[each.get("name", "")] = (refs[0].get("field", ""), each.get("dataType", "double"))
    return found
