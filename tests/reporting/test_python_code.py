"""User data as Python code: whatever they hold, they stay data."""

from __future__ import annotations

import ast
import math

from hypothesis import given
from hypothesis import strategies as st

from datamorphic.reporting.python_code import format_comment, format_literal, format_path, to_slug

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda items: st.lists(items, max_size=4) | st.dictionaries(st.text(), items, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_a_literal_is_read_back_as_the_value(value):
    assert ast.literal_eval(format_literal(value)) == value


@given(st.text())
def test_a_comment_has_no_line_that_is_code(text):
    code = format_comment(text, 0)
    assert not ast.parse(code.replace("\x00", "")).body  # a source cannot contain zero bytes at all
    assert all(line.startswith("#") for line in code.split("\n") if line)


def test_paths_are_relative_to_the_file(tmp_path):
    assert format_path(str(tmp_path / "data" / "a.csv"), tmp_path) == 'HERE / "data/a.csv"'


def test_slugs_are_parts_of_names():
    assert [to_slug(value) for value in ("Credit score", "%", 1.5, "a" * 99)] == ["credit_score", "it", "1_5", "a" * 40]
    assert format_literal(math.inf) == 'float("inf")'
