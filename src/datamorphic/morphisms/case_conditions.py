"""Conditions on test cases as text, such as ``output=red`` or ``income>=50``: parsed, never evaluated."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import suggest_name
from ..errors import DataError
from ..space.features import Categorical, Mask
from ..space.outputs import Status
from ..space.space import Space
from ..space.text_feature import Text
from .case_columns import NO_ORIGIN, CaseKind, Correctness
from .case_files import INPUT_PREFIX
from .cases import TestSet
from .text_values import encode_texts, to_text

#: the longer ones first, because the shorter ones are parts of them
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
EQUALITIES = ("=", "!=")
CASE_COLUMNS = ("id", "output", "status", "kind", "morphism", "correctness", "origin")
#: columns that hold one of a few words
_WORDS: dict[str, dict[str, int]] = {
    "kind": {kind.name.lower(): kind for kind in CaseKind},
    "correctness": {value.text: value for value in Correctness},
    "status": {status.name.lower().replace("_", " "): status for status in Status},
}


def select_cases(tests: TestSet, conditions: Iterable[str]) -> Mask:
    """Return which cases satisfy all conditions.

    A condition is a name, one of ``= != < <= > >=``, and a value. The name is that of a feature, with ``in.`` before it if
    it is also one of "id", "output", "status", "kind", "morphism", "correctness" and "origin". Categories are compared by
    their order. A condition without a value is about missing values: ``age=``.
    """
    keep = np.ones(len(tests), dtype=bool)
    for condition in conditions:
        keep &= _evaluate(tests, *split_condition(condition, tests))
    return keep


def split_condition(text: str, tests: TestSet) -> tuple[str, str, str]:
    """Return the name, the operator and the value of a condition."""
    names = [*CASE_COLUMNS, *(f"{INPUT_PREFIX}{name}" for name in tests.space.names), *map(str, tests.space.names)]
    for name in sorted(names, key=len, reverse=True):  # a name may contain an operator
        if text.strip().startswith(name):
            rest = text.strip()[len(name) :].lstrip()
            for sign in OPERATORS:
                if rest.startswith(sign):
                    return name, sign, rest[len(sign) :].strip()
    signs = " ".join(OPERATORS)
    position = min((place for sign in OPERATORS if (place := text.find(sign)) > 0), default=-1)
    if position < 0:
        raise DataError(
            f"The condition {text!r} is not a name, one of {signs}, and a value. Write it as in 'output=red'."
        )
    unknown = text[:position].strip()
    raise DataError(
        f"The condition {text!r} is about {unknown!r}, which is unknown. {suggest_name(unknown, [*tests.space.names, *CASE_COLUMNS])}"
    )


def _evaluate(tests: TestSet, name: str, sign: str, value: str) -> Mask:
    if name == "id":
        return _to_mask(OPERATORS[sign](tests.ids, _read_id(name, value)))
    if name == "origin":
        return _compare_origins(tests, sign, value)
    if name in _WORDS:
        return _compare_words(tests, name, sign, value)
    if name == "morphism":
        _require_equality(name, sign)
        return _to_mask(OPERATORS[sign](tests.made_by_names.astype(str), value))
    if name == "output":
        return _compare_outputs(tests, sign, value)
    return _compare_inputs(tests, name, sign, value)


def _compare_origins(tests: TestSet, sign: str, value: str) -> Mask:
    _require_equality("origin", sign)
    number = _read_id("origin", value)
    is_origin = tests.origins == number
    has_origin = is_origin.all(axis=1) if number == NO_ORIGIN else is_origin.any(axis=1)
    return _to_mask(has_origin if sign == "=" else ~has_origin)


def _compare_words(tests: TestSet, name: str, sign: str, value: str) -> Mask:
    _require_equality(name, sign)
    words, word = _WORDS[name], value.lower().replace("_", " ")
    if word not in words:
        raise DataError(f"{value!r} is unknown as {name}. {suggest_name(word, words)}")
    columns: dict[str, npt.NDArray[Any]] = {"kind": tests.kinds, "correctness": tests.correctness}
    if name == "status":
        columns["status"] = np.full(len(tests), Status.MISSING) if tests.outputs is None else tests.outputs.status
    return _to_mask(OPERATORS[sign](columns[name], words[word]))


def _compare_inputs(tests: TestSet, name: str, sign: str, value: str) -> Mask:
    feature_name = name if name in tests.space.names else name.removeprefix(INPUT_PREFIX)
    feature = tests.space.features[tests.space.position(feature_name)]
    codes = tests.inputs.column(feature_name)
    if isinstance(feature, Text):
        _require_equality(name, sign)
        is_equal = np.isnan(codes) if value == "" and feature.nullable else codes == feature.encode_texts([value])[0]
        return _to_mask(is_equal if sign == "=" else ~is_equal)
    if value == "" and not (isinstance(feature, Categorical) and "" in feature.values):
        _require_equality(name, sign)
        return _to_mask(np.isnan(codes) if sign == "=" else ~np.isnan(codes))
    if isinstance(feature, Categorical):
        category = encode_texts(Space([feature]), [[value]], lambda _: f"the condition {name}{sign}{value}")[0, 0]
        return _to_mask(OPERATORS[sign](codes, category))
    try:
        return _to_mask(OPERATORS[sign](codes, float(value)))
    except ValueError:
        raise DataError(
            f"{feature_name!r} is a number, but the condition compares it with {value!r}. Give a number."
        ) from None


def _compare_outputs(tests: TestSet, sign: str, value: str) -> Mask:
    if tests.outputs is None:
        raise DataError("These test cases have no outputs to compare. Execute them first.")
    values, ok = tests.outputs.values, tests.outputs.ok
    if value == "":
        _require_equality("output", sign)
        return ~ok if sign == "=" else ok
    if values.dtype.kind in "iuf":
        try:
            return _to_mask(OPERATORS[sign](values, float(value))) & ok
        except ValueError:
            raise DataError(
                f"The outputs are numbers, but the condition compares them with {value!r}. Give a number."
            ) from None
    _require_equality("output", sign)
    texts = np.array([to_text(label) for label in values.tolist()], dtype=np.str_)
    return _to_mask(OPERATORS[sign](texts, value)) & ok


def _read_id(name: str, value: str) -> int:
    if value == "" and name == "origin":
        return NO_ORIGIN
    if not (value.isascii() and value.isdigit()):
        raise DataError(f"{value!r} is not an id of a test case. Ids are whole numbers.")
    return int(value)


def _require_equality(name: str, sign: str) -> None:
    if sign not in EQUALITIES:
        raise DataError(f"{name!r} has no order. Compare it with = or !=, not with {sign}.")


def _to_mask(answer: object) -> Mask:
    return np.asarray(answer, dtype=bool)
