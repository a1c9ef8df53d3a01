"""The program that another Python runs: its grammar, its imports and its messages."""

from __future__ import annotations

import ast
import io
import json
import struct
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from datamorphic.systems import other_python_worker as worker

SOURCE = Path(worker.__file__).read_text(encoding="utf-8")


def send(value):
    stream = io.BytesIO()
    worker.write_message(stream, value)
    stream.seek(0)
    return worker.read_message(stream)


def test_the_worker_is_written_for_python_3_6():
    tree = ast.parse(SOURCE, feature_version=(3, 6))
    later_syntax = (ast.NamedExpr, ast.Match)
    assert not [node for node in ast.walk(tree) if isinstance(node, later_syntax)]
    annotations = [node.annotation for node in ast.walk(tree) if isinstance(node, ast.arg | ast.AnnAssign)]
    returned = [node.returns for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = [node for node in [*annotations, *returned] if node is not None]
    assert all(isinstance(node, ast.Name | ast.Constant) for node in names)  # list[str] needs 3.9, unless it is quoted


def test_the_worker_imports_only_the_standard_library_and_numpy():
    tree = ast.parse(SOURCE)
    modules = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [])
        + ([node.module] if isinstance(node, ast.ImportFrom) else [])
    }
    assert modules - sys.stdlib_module_names == {"numpy", "pandas", "scipy", "sklearn"}
    at_once = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    assert at_once - sys.stdlib_module_names == {"numpy"}


@pytest.mark.parametrize(
    "value", [None, True, 3, 2.5, "text", [1, "a", None], (1, (2, 3)), {"a": [1], 2: "b"}, float("inf"), 10**30]
)
def test_plain_values_arrive_as_they_are(value):
    assert send(value) == value


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.array([1, 2], dtype=np.int8),
        np.array([True, False]),
        np.array(["one", "zwölf"]),
        np.array(["a", 1, None], dtype=object),
        np.array(["2020-01-01", "NaT"], dtype="datetime64[ns]"),
        np.empty((0, 4)),
        np.array(3.0),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6.0)[::2],
    ],
)
def test_arrays_arrive_as_they_are(array):
    result = send({"x": array})["x"]
    assert result.dtype == array.dtype
    assert result.shape == array.shape
    np.testing.assert_array_equal(result, array)
    assert result.flags.writeable


def test_nan_and_numbers_of_numpy_arrive():
    assert np.isnan(send(np.float64("nan")))
    assert send(np.int64(3)) == 3
    assert np.isnan(send(np.array([np.nan]))).all()


def test_sparse_matrices_and_frames_arrive():
    matrix = send(csr_array(np.array([[0.0, 1.0], [2.0, 0.0]])))
    assert matrix.toarray().tolist() == [[0.0, 1.0], [2.0, 0.0]]
    frame = pd.DataFrame({"a": [1, 2], 7: pd.Categorical(["x", "y"])})
    pd.testing.assert_frame_equal(send(frame), frame)
    assert send(frame["a"]).tolist() == [1, 2]


def test_objects_cannot_be_sent():
    with pytest.raises(TypeError, match="a value of type object cannot be sent"):
        send([object()])


def test_an_array_of_objects_or_a_huge_header_is_no_message():
    header = json.dumps([{"array": 0}, [["|O", [1]]]]).encode()
    with pytest.raises(ValueError, match="array of type object"):
        worker.read_message(io.BytesIO(struct.pack(">Q", len(header)) + header + bytes(8)))
    with pytest.raises(ValueError, match="header of"):
        worker.read_message(io.BytesIO(struct.pack(">Q", 1 << 60)))
    with pytest.raises(EOFError):
        worker.read_message(io.BytesIO(b"123"))
