"""ONNX models: one matrix, or one input a column; pickled by their file."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import datamorphic as dm
from datamorphic.systems.isolation import IsolatedSystem
from datamorphic.testing.conformance import check_executor

pytest.importorskip("onnxruntime", reason="pip install 'datamorphic[onnx]'")
skl2onnx = pytest.importorskip("skl2onnx", reason="pip install skl2onnx")
from skl2onnx.common.data_types import FloatTensorType, StringTensorType  # noqa: E402

SPACE = dm.Space([dm.Continuous("x", 0, 1), dm.Continuous("y", 0, 1)])


def saved(model, types, path, **options):
    options = {id(model): options} if options else None
    onnx = skl2onnx.convert_sklearn(model, initial_types=types, options=options)
    path.write_bytes(onnx.SerializeToString())
    return path


@pytest.fixture
def training():
    frame = SPACE.sample(300, seed=0)
    return frame, np.where(frame["x"] > frame["y"], "right", "left")


@pytest.mark.parametrize("zipmap", [True, False])
def test_a_model_of_one_matrix(tmp_path, training, zipmap):
    frame, labels = training
    model = LogisticRegression().fit(frame.to_numpy(), labels)
    options = {} if zipmap else {"zipmap": False}
    path = saved(model, [("input", FloatTensorType([None, 2]))], tmp_path / "m.onnx", **options)
    sut = dm.wrap(path, space=SPACE)
    check_executor(sut, SPACE.sample(50, seed=1, points=True))
    outputs = sut.execute(frame, scores=True)
    assert (outputs.values == model.predict(frame.to_numpy())).mean() > 0.99  # 32-bit floats may differ at the border
    np.testing.assert_allclose(outputs.scores, model.predict_proba(frame.to_numpy()), atol=1e-5)
    with pytest.raises(dm.errors.ModelError, match="takes 2 columns, but the data have 3"):
        dm.wrap(path).execute(frame.assign(z=1.0))


def test_a_model_of_one_input_a_column(tmp_path, training):
    frame, labels = training
    frame = frame.assign(c=np.where(frame["x"] > 0.5, "a", "b"))
    encode = make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough")
    model = make_pipeline(encode, LogisticRegression()).fit(frame, labels)
    types = [("x", FloatTensorType([None, 1])), ("y", FloatTensorType([None, 1])), ("c", StringTensorType([None, 1]))]
    sut = dm.wrap(saved(model, types, tmp_path / "columns.onnx"), space=dm.Space.from_frame(frame))
    assert (sut.execute(frame).values == model.predict(frame)).mean() > 0.99
    with pytest.raises(dm.errors.ModelError, match="needs the column 'c'"):
        dm.wrap(tmp_path / "columns.onnx").execute(frame[["x", "y"]])


@pytest.mark.slow
def test_it_can_be_isolated(tmp_path, training):
    frame, labels = training
    model = LogisticRegression().fit(frame.to_numpy(), labels)
    sut = dm.wrap(saved(model, [("input", FloatTensorType([None, 2]))], tmp_path / "m.onnx"), space=SPACE, name="mine")
    again = pickle.loads(pickle.dumps(sut))
    assert again.name == "mine"
    assert again.space == SPACE
    isolated = IsolatedSystem(sut, timeout=60)
    assert isolated.execute(frame).same(sut.execute(frame)).all()
    isolated.close()


def test_the_border_is_found_at_32_bits_and_no_finer(tmp_path, training):
    frame, labels = training
    model = LogisticRegression().fit(frame.to_numpy(), labels)
    sut = dm.wrap(saved(model, [("input", FloatTensorType([None, 2]))], tmp_path / "m.onnx"), space=SPACE)
    near = pd.DataFrame({"x": [0.5, 0.5 + 1e-10], "y": [0.25, 0.25]})
    assert sut.execute(near, scores=True).scores[0].tolist() == sut.execute(near, scores=True).scores[1].tolist()
