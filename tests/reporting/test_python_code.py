"""User data as Python code: whatever they hold, they stay data."""

from __future__ import annotations

import ast
import math
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from datamorphic.reporting.python_code import (
    format_comment,
    format_data,
    format_imports,
    format_literal,
    format_module_folder,
    format_path,
    to_class_name,
    to_slug,
)

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


def test_data_are_read_as_they_were_written(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1,5;2\n2,5;3\n", encoding="utf-8")
    assert format_data(str(tmp_path / "a.csv"), tmp_path) == 'pd.read_csv(HERE / "a.csv", sep=";", decimal=",")'
    assert format_data(str(tmp_path / "missing.csv"), tmp_path) == 'pd.read_csv(HERE / "missing.csv")'
    assert format_data(str(tmp_path / "a.PQ"), tmp_path) == 'pd.read_parquet(HERE / "a.PQ")'
    assert format_data('data:"; import os', tmp_path) == "dm.data.load('\"; import os')"


def test_folders_of_modules_are_named_unless_they_are_installed(tmp_path):
    assert format_module_folder("json", tmp_path) == ""
    assert format_module_folder("no_such_module", tmp_path) == ""
    assert format_module_folder(__name__, Path(__file__).parent).startswith("str(HERE")


def test_imports_are_those_of_names_that_code_uses_and_does_not_define():
    modules = {"sys": "", "Any": "typing", "pandas as pd": "", "b": "x.y", "a": "x.y", "replace": "dataclasses"}
    code = "class Any: ...\ndef f(): return sys.path, b, a, pd.NA, 'replace'  # replace\nAny()\n"
    assert format_imports(code, modules) == ["import sys", "", "import pandas as pd", "from x.y import a, b"]


def test_class_names_are_valid_whatever_the_text():
    texts = ["credit-data", "2 cases", "class", "", "é", "HERE", "x" * 50]
    names = [to_class_name(text, "My", 20, ("HERE",)) for text in texts]
    assert names == ["CreditData", "My2Cases", "Class", "My", "My", "MyHERE", "X" + "x" * 19]
