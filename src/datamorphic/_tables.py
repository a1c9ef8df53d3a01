"""Tables of facts: data files of the package, read and validated when they are first needed.

The schema of a file is a frozen dataclass: of one row of a CSV file, or of a whole TOML file. Fields have plain types: ``str``, ``int``,
``float``, ``bool``, a ``Literal``, ``Any``, a tuple or a mapping of these, or another such dataclass. In a cell of a CSV file the
items of a tuple have semicolons between them, and an empty cell is the default of its field.
"""

from __future__ import annotations

import csv
import dataclasses
import tomllib
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from .errors import DataError

Schema = TypeVar("Schema")

SEPARATOR = ";"  # between the items of a cell
_PARSERS: dict[type, Callable[[str], object]] = {int: int, float: float, bool: {"yes": True, "no": False}.__getitem__}
_NOUNS = {str: "a text", int: "a whole number", float: "a number", bool: "yes or no", tuple: "a list", dict: "a table"}


def read_rows(package: str | None, name: str, schema: type[Schema]) -> tuple[Schema, ...]:
    """Return the rows of a CSV file beside the modules of a package; `DataError` names the row and column that are wrong."""
    return parse_rows(_read_text(package, name), name, schema)


def read_document(package: str | None, name: str, schema: type[Schema]) -> Schema:
    """Return a TOML file beside the modules of a package; `DataError` names the row and key that are wrong."""
    return parse_document(_read_text(package, name), name, schema)


def parse_rows(text: str, name: str, schema: type[Schema]) -> tuple[Schema, ...]:
    """Return the rows of a CSV file.

    Examples
    --------
    >>> @dataclasses.dataclass(frozen=True)
    ... class Planet:
    ...     name: str
    ...     moons: tuple[str, ...] = ()
    >>> parse_rows("name,moons\\nMars,Phobos; Deimos\\n", "planets.csv", Planet)
    (Planet(name='Mars', moons=('Phobos', 'Deimos')),)
    """
    header, *lines = csv.reader(text.splitlines())
    rows = []
    for number, cells in enumerate(lines, start=1):
        place = f"{name}, row {number}"
        if len(cells) != len(header):
            raise DataError(f"{place} has {len(cells)} cells. Expected {len(header)}: {', '.join(header)}.")
        row = {column: cell for column, cell in zip(header, cells, strict=True) if cell}
        rows.append(_build(row, schema, place, in_cells=True))
    return tuple(rows)


def parse_document(text: str, name: str, schema: type[Schema]) -> Schema:
    """Return a TOML file as a record.

    Examples
    --------
    >>> @dataclasses.dataclass(frozen=True)
    ... class Moon:
    ...     name: str
    ...     radii: tuple[float, ...]
    >>> parse_document('name = "Io"\\nradii = [1821, "large"]', "io.toml", Moon)
    Traceback (most recent call last):
    datamorphic.errors.DataError: io.toml, radii, row 2: 'large' is not a number.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{name} is not valid TOML: {error}.") from error
    return _build(document, schema, name, in_cells=False)


def _read_text(package: str | None, name: str) -> str:
    return files(package or __package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _list_fields(schema: Any) -> dict[str, tuple[Any, bool]]:
    """Return the type of each field, and whether it is required."""
    hints = typing.get_type_hints(schema)
    missing = dataclasses.MISSING
    return {
        field.name: (hints[field.name], field.default is missing and field.default_factory is missing)
        for field in dataclasses.fields(schema)
    }


def _build(values: Mapping[str, Any], schema: type[Schema], place: str, in_cells: bool) -> Schema:
    fields = _list_fields(typing.cast(Any, schema))
    for key in values:
        if key not in fields:
            raise DataError(f"{place}: there is no key {key!r}. Expected {', '.join(fields)}.")
    for key, (_, required) in fields.items():
        if required and key not in values:
            raise DataError(f"{place}: the key {key!r} is missing.")
    values = {key: _convert(value, fields[key][0], f"{place}, {key}", in_cells) for key, value in values.items()}
    try:
        return schema(**values)
    except DataError as error:  # of the record's own checks
        raise DataError(f"{place}: {error}") from error


def _convert(value: Any, hint: Any, place: str, in_cells: bool) -> Any:
    """Return a value as the type of its field, with tuples instead of lists."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):  # of a type and None: TOML and CSV leave out what is None
        return _convert(value, arguments[0], place, in_cells)
    if origin is typing.Literal:
        if value not in arguments:
            raise DataError(f"{place}: {value!r} is not one of {', '.join(map(repr, arguments))}.")
        return value
    if origin is tuple:
        items = [item.strip() for item in value.split(SEPARATOR)] if in_cells else value
        _require(isinstance(items, list), value, tuple, place)
        hints = arguments[:1] * len(items) if arguments[-1] is ... else arguments
        if len(items) != len(hints):
            raise DataError(f"{place} has {len(items)} items. Expected {len(hints)}.")
        pairs = enumerate(zip(items, hints, strict=True), start=1)
        return tuple(_convert(item, hint, f"{place}, row {number}", in_cells) for number, (item, hint) in pairs)
    if hint is Any:
        return _freeze(value)
    if dataclasses.is_dataclass(hint) or origin is not None:
        _require(isinstance(value, dict), value, dict, place)
        if origin is None:
            return _build(value, typing.cast(type, hint), place, in_cells)
        return {key: _convert(item, arguments[1], f"{place}, {key}", in_cells) for key, item in value.items()}
    if in_cells and hint in _PARSERS:
        try:
            return _PARSERS[hint](value)
        except (ValueError, KeyError):
            _require(False, value, hint, place)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    _require(type(value) is hint, value, hint, place)
    return value


def _freeze(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _freeze(item) for key, item in value.items()}
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


def _require(condition: bool, value: object, kind: type, place: str) -> None:
    if not condition:
        raise DataError(f"{place}: {value!r} is not {_NOUNS[kind]}.")
