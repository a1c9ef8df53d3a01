"""Values as text in files: inputs of a space, and labels."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import suggest_name
from ..errors import DataError
from ..space.encoding import find_fault
from ..space.features import Categorical, Codes, Feature, Integer, Mask
from ..space.space import Space
from ..space.text_feature import Text

MISSING_TEXTS = ("", "null", "nan", "none")  # in lower case; a category of that name is not missing
_WHOLE_NUMBER = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")
_UNKNOWN_CODE = -1.0


def to_text(value: object) -> str:
    """Return a value as text that `encode_texts` and `parse_labels` read; "" if it is missing.

    Examples
    --------
    >>> to_text(0.1), to_text(7), to_text(True), to_text("red"), to_text(None)
    ('0.1', '7', 'true', 'red', '')
    """
    if value is None:
        return ""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(value)
    return str(value)


def decode_texts(space: Space, codes: Codes) -> list[list[str]]:
    """Return the inputs as text, one list per feature."""
    columns = []
    for feature, column in zip(space.features, codes.T, strict=True):
        if isinstance(feature, Text):
            columns.append(["" if text is None else text for text in feature.decode_texts(column)])
        elif isinstance(feature, Categorical):
            names = [to_text(value) for value in feature.values]
            missing = next((text for text in MISSING_TEXTS if text not in names), "")
            columns.append([missing if code != code else names[int(code)] for code in column.tolist()])
        elif isinstance(feature, Integer):
            columns.append(["" if code != code else str(int(code)) for code in column.tolist()])
        else:
            columns.append(["" if code != code else repr(code) for code in column.tolist()])
    return columns


def encode_texts(
    space: Space, columns: Sequence[Sequence[str]], locate: Callable[[int], str], *, category_codes: bool = False
) -> Codes:
    """Return inputs that are given as text, one column per feature, as codes.

    An error says where the first invalid value is, with the text that `locate` returns for its row. With
    `category_codes`, a category may be given by its number in the order of the feature, counted from 0.
    """
    codes = np.empty((len(columns[0]) if columns else 0, len(space)), order="F")
    for j, (feature, texts) in enumerate(zip(space.features, columns, strict=True)):
        column, problem = _encode_column(feature, texts, category_codes)
        fault = find_fault(feature, column, open_ends=True)
        if fault is not None:
            row = int(np.argmax(fault.rows))
            hint = "Give a number." if problem else fault.remedy
            if isinstance(feature, Categorical):
                hint = suggest_name(texts[row], feature.values)
            reason = f"{problem or fault.problem}. {hint}"
            raise DataError(f"{locate(row)}: {texts[row][:60]!r}, the value of {feature.name!r}, {reason}")
        codes[:, j] = column
    return codes


def _encode_column(feature: Feature, texts: Sequence[str], category_codes: bool) -> tuple[Codes, str]:
    """Return the codes of a column, and what is wrong with values that cannot be read at all."""
    if isinstance(feature, Text):
        codes = feature.encode_texts(texts)
        return np.where([feature.nullable and not text for text in texts], np.nan, codes), ""
    if isinstance(feature, Categorical):
        return _encode_categories(feature, texts, category_codes), ""
    try:
        column = np.array(list(map(float, texts)), dtype=np.float64)
    except ValueError:
        numbers = list(map(_read_number, texts))
        column = np.array([math.inf if number is None else number for number in numbers], dtype=np.float64)
        if None in numbers:
            return np.where([number is None for number in numbers], math.inf, np.zeros(len(texts))), "is not a number"
    return (np.rint(column) if isinstance(feature, Integer) and feature.rounds else column), ""


def _read_number(text: str) -> float | None:
    if text.strip().lower() in MISSING_TEXTS:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return None


def _encode_categories(feature: Categorical, texts: Sequence[str], category_codes: bool) -> Codes:
    table: dict[str, float] = {}
    for position, value in enumerate(feature.values):
        code = float(position)
        table.setdefault(to_text(value), code)
        if isinstance(value, int | float) and not isinstance(value, bool) and value == int(value):
            for spelling in (str(int(value)), repr(float(value))):
                table.setdefault(spelling, code)
    if category_codes and not any(_WHOLE_NUMBER.fullmatch(text) for text in table):
        table |= {str(code): float(code) for code in range(len(feature.values))}
    different = {text: table.get(text, _UNKNOWN_CODE) for text in set(texts)}
    for text, code in different.items():
        if code == _UNKNOWN_CODE and text.lower() in MISSING_TEXTS:
            different[text] = math.nan
    return np.array([different[text] for text in texts], dtype=np.float64)


def parse_labels(texts: Sequence[str]) -> tuple[npt.NDArray[Any], Mask]:
    """Return labels that are given as text, and which of them are present.

    If all are whole numbers, numbers, or true and false, they are read as such.
    """
    present = np.array([text != "" for text in texts], dtype=bool)
    different = set(texts) - {""}
    readings: list[tuple[Callable[[str], object], npt.DTypeLike, object]] = [
        (_read_whole_number, np.int64, 0),
        (_read_plain_number, np.float64, math.nan),
        ({"true": True, "false": False}.get, np.bool_, False),
    ]
    for read, dtype, filler in readings:
        values = {text: read(text) for text in different}
        if different and None not in values.values():
            return np.array([values.get(text, filler) for text in texts], dtype=dtype), present
    return np.array(texts, dtype=np.str_), present


def _read_whole_number(text: str) -> int | None:
    return int(text) if _WHOLE_NUMBER.fullmatch(text) else None


def _read_plain_number(text: str) -> float | None:
    """Return a number that is written as Python or Java writes it."""
    return float(text) if _NUMBER.fullmatch(text) else None


def guess_column(texts: Sequence[str]) -> list[Any]:
    """Return a column of inputs as numbers if all are numbers, else as text; None where missing."""
    different = set(texts)
    missing = {text for text in different if text.strip().lower() in MISSING_TEXTS}
    values: dict[str, object] = {}
    for read in (_read_whole_number, _read_plain_number):
        values = {text: read(text) for text in different - missing}
        if None not in values.values():
            return [values.get(text) for text in texts]
    return [None if text in missing else text for text in texts]


def parse_input_values(space: Space, values: Mapping[str, str], source: str) -> dict[str, object]:
    """Return values of features that are given as text; `source` says where, for the message."""
    inputs: dict[str, object] = {}
    for name, text in values.items():
        if name not in space.names:
            raise DataError(f"There is no feature {name!r}. {suggest_name(name, space.names)}")
        single = Space([space.features[space.position(name)]])
        inputs[name] = single.decode(encode_texts(single, [[text]], lambda _: source))[name].tolist()[0]
    return inputs
