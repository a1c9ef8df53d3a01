"""What a system may answer, and how it may be called: recognised by trying it on a few rows."""

from __future__ import annotations

import sys
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import datamorphic as dm
from datamorphic import Status
from datamorphic.errors import ArgumentError, ModelError, SystemFailed
from datamorphic.morphisms.subject import build_subject
from datamorphic.systems.base import Function
from datamorphic.systems.estimator import Estimator
from datamorphic.systems.recognition import recognise
from datamorphic.systems.score_rows import find_reading, find_score_kind
from datamorphic.systems.torch_module import TorchFunction, is_torch_module
from support.cases import in_one_test

WEIGHTS = np.array([[1.0, -1.0, 0.2], [0.5, 0.1, -1.0]], dtype=np.float32)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=60), "n": rng.normal(size=60)})


def compute_logits(array):
    return np.asarray(array, dtype=np.float32) @ WEIGHTS


def compute_probabilities(frame):
    logits = np.exp(compute_logits(frame[["x", "n"]].to_numpy()))
    return logits / logits.sum(axis=1, keepdims=True)


def build(model, data, **options):
    return build_subject(model, data, rng=np.random.default_rng(0), **options)


# -- rows of numbers -------------------------------------------------------------------------------------


def test_rows_of_probabilities_are_scores_and_their_largest_the_label(rows):
    sut = build(compute_probabilities, rows).sut
    assert (sut.labels, sut.score_kind) == ((0, 1, 2), "probability")
    outputs = sut.execute(rows, scores=True)
    np.testing.assert_array_equal(outputs.values, compute_logits(rows).argmax(axis=1))
    np.testing.assert_allclose(outputs.scores, compute_probabilities(rows))
    assert sut.execute(rows).scores is None


def test_rows_of_logits_are_scores(rows):
    sut = build(lambda frame: compute_logits(frame), rows).sut
    assert (sut.labels, sut.score_kind) == ((0, 1, 2), "decision")


def test_classes_name_the_columns(rows):
    sut = build(compute_probabilities, rows, classes=("a", "b", "c")).sut
    assert sut.labels == ("a", "b", "c")
    assert sut.execute(rows).values.tolist() == [("a", "b", "c")[i] for i in compute_logits(rows).argmax(axis=1)]
    wrapped = dm.wrap(compute_probabilities, classes=["a", "b", "c"])  # without any rows to try it on
    assert wrapped.execute(rows).same(sut.execute(rows)).all()
    assert wrapped.execute(rows, scores=True).scores.shape == (60, 3)


def test_as_many_classes_as_columns(rows):
    with pytest.raises(ModelError, match="rows of 3 numbers, but 2 classes are named"):
        build(compute_probabilities, rows, classes=("a", "b"))
    with pytest.raises(ArgumentError, match="at least two different labels"):
        dm.wrap(compute_probabilities, classes=["a", "a"])
    with pytest.raises(ArgumentError, match="must be a list or None"):
        dm.test(compute_probabilities, rows, classes="ab")


def test_a_row_with_nan_is_missing(rows):
    def model(frame):
        answer = compute_probabilities(frame)
        answer[(frame["x"] > 1).to_numpy(), 1] = np.nan
        return answer

    outputs = build(model, rows).sut.execute(rows)
    assert ((outputs.status == Status.MISSING) == (rows["x"] > 1)).all()


@pytest.mark.parametrize("shape", [(60,), (60, 1)])
def test_one_number_between_0_and_1_is_a_probability_if_the_labels_are_0_and_1(rows, shape):
    def model(frame):
        return (1 / (1 + np.exp(-frame["x"].to_numpy(dtype=np.float32)))).reshape(-1, *shape[1:])

    data = rows.assign(label=(rows["x"] > 0).astype(int))
    subject = build(model, data, target="label")
    assert (subject.sut.labels, subject.sut.score_kind) == ((0, 1), "probability")
    assert (subject.sut.execute(rows).values == data["label"]).all()
    assert "probability of 1" in subject.notes[0]
    named = build(model, data.assign(label=np.where(data["label"], "yes", "no")), target="label", classes=("no", "yes"))
    assert set(named.sut.execute(rows).values) == {"no", "yes"}
    numbers = build(model, rows).sut  # nothing says that they are probabilities
    assert numbers.labels is None
    assert numbers.execute(rows).values.dtype.kind == "f"


def test_one_score_for_two_named_classes(rows):
    sut = build(lambda frame: 3 * frame["x"], rows, classes=("low", "high")).sut
    assert sut.score_kind == "decision"
    assert (sut.execute(rows).values == np.where(rows["x"] > 0, "high", "low")).all()


def test_codes_get_the_names_of_classes(rows):
    sut = build(lambda frame: (frame["x"] > 0).astype(int), rows, classes=("low", "high")).sut
    assert (sut.execute(rows).values == np.where(rows["x"] > 0, "high", "low")).all()
    assert sut.score_kind is None


def test_several_labels_at_once_and_several_numbers_stay_as_they_are(rows):
    indicators = build(lambda frame: np.column_stack([frame["x"] > 0, frame["n"] > -9]).astype(float), rows).sut
    assert isinstance(indicators.execute(rows).values[0], tuple)
    integers = build(lambda frame: np.column_stack([np.arange(len(frame))] * 2), rows).sut
    assert isinstance(integers.execute(rows).values[0], tuple)
    regressor = LinearRegression().fit(rows, np.column_stack([rows["x"], rows["n"]]))
    assert build(regressor, rows).sut.labels is None


def test_labels_stay_labels(rows):
    sut = build(lambda frame: np.where(frame["x"] > 0, "high", "low"), rows, classes=("low", "high")).sut
    assert sut.labels == ("low", "high")
    assert sut.execute(rows).status.max() == 0


def test_a_model_fitted_on_codes_gets_names(rows):
    model = LogisticRegression().fit(rows, (rows["x"] > 0).astype(int))
    sut = dm.wrap(model, classes=["low", "high"])
    assert sut.labels == ("low", "high")
    outputs = sut.execute(rows, scores=True)
    assert (outputs.values == np.where(model.predict(rows), "high", "low")).all()
    assert sut.bare.execute(rows).same(outputs).all()
    assert (sut.execute(rows, scores="only").values == outputs.values).all()
    assert dm.wrap(model, classes=[1, 0]).labels == (0, 1)  # its own classes, in its own order
    with pytest.raises(ModelError, match="has 2 classes"):
        dm.wrap(model, classes=["a", "b", "c"])


@pytest.mark.parametrize(
    ("scores", "kind"),
    [
        ([[0.25, 0.75], [1, 0]], "probability"),
        ([[0.25, 0.7], [1, 0]], "decision"),
        ([[-0.5, 1.5]], "decision"),
        ([[np.nan, 1.0], [0.5, 0.5]], "probability"),
    ],
)
def test_kinds_of_scores(scores, kind):
    assert find_score_kind(np.array(scores, dtype=np.float16)) == kind


def test_no_reading_of_text_and_nothing():
    assert find_reading(["a", "b"], ("a", "b")) is None
    assert find_reading(np.empty(0)) is None
    assert find_reading(np.array([0.5, 2.0]), None, np.array([0, 1])) is None


# -- ways to call ------------------------------------------------------------------------------------------


@in_one_test(
    ("function", "style"),
    [
        (lambda frame: (frame["x"] > 0).to_numpy(), "frame"),
        (lambda array: array[:, 0] > 0, "array"),
        (lambda case: bool(case["x"] > 0), "case"),
        (lambda x: x > 0 if isinstance(x, float) else 1 / 0, "case"),
        (lambda row: bool(row[0] > 0) if row.ndim == 1 else 1 / 0, "row"),
        (lambda row: bool(row.x > 0) if row.ndim == 1 else 1 / 0, "series"),
    ],
)
def test_functions_are_called_as_they_want(rows, function, style):
    sut = build(function, rows).sut
    assert isinstance(sut, Function)
    assert sut.style == style
    assert (sut.execute(rows).values == (rows["x"] > 0)).all()


def test_a_function_that_works_is_tried_once(rows):
    calls = []

    def model(frame):
        calls.append(len(frame))
        return np.zeros(len(frame))

    build(model, rows)
    assert calls == [5]


def test_as_many_columns_as_rows_to_try_are_not_confused():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 5)), columns=list("abcde"))
    sut = build(lambda row: 2 * row[0] if isinstance(row, np.ndarray) else 1 / 0, frame).sut
    assert sut.style == "row"


def test_a_function_that_fails_on_batches_only_is_left_alone(rows):
    def model(frame):
        if len(frame) > 1:
            raise ValueError("one at a time")
        return [1]

    assert build(model, rows).sut.style == "frame"


def test_a_function_that_answers_nothing_says_how_to_wrap_it(rows):
    def model(anything):
        raise TypeError("I want a Foo")

    with pytest.raises(SystemFailed, match=r"I want a Foo.*Wrap it in a function of a frame"):
        dm.test(model, rows, budget="60s")
    with pytest.raises(SystemFailed, match=r"I want a Foo.*Wrap it in a function of a frame"):
        dm.explore(model, rows, walks=10)


def test_a_missing_package_in_a_call_is_named(rows):
    def model(frame):
        import package_that_nobody_has  # noqa: F401

    with pytest.raises(ModelError, match="needs the module 'package_that_nobody_has', which was not found"):
        build(model, rows)


def test_no_rows_and_other_systems_are_left_alone(rows):
    sut = dm.wrap(compute_probabilities)
    assert recognise(sut, sut.batch(rows.head(0)))[0] is sut
    estimator = dm.wrap(LogisticRegression().fit(rows, rows["x"] > 0))
    assert recognise(estimator, estimator.batch(rows))[0] is estimator


def test_one_row_is_enough(rows):
    assert build(compute_probabilities, rows.head(1)).sut.labels == (0, 1, 2)


def test_wrap_tries_a_function_on_data(rows):
    sut = dm.wrap(lambda array: array[:, 0] > 0, data=rows)
    assert (sut.execute(rows).values == (rows["x"] > 0)).all()


def hang(frame):
    import time

    time.sleep(60)


@pytest.mark.slow
def test_a_function_that_hangs_is_tried_in_a_process(rows):
    sut, notes = recognise(dm.wrap(hang), dm.wrap(hang).batch(rows), timeout=0.5)
    assert isinstance(sut, Function)
    assert notes == []


# -- models of other libraries ---------------------------------------------------------------------------------


class KerasLike:
    """Takes arrays only, prints unless it is told not to, and answers rows of probabilities."""

    def predict(self, x, batch_size=None, verbose="auto"):
        assert isinstance(x, np.ndarray)
        assert verbose == 0
        return compute_probabilities(pd.DataFrame(x, columns=["x", "n"]))


def test_a_model_like_those_of_keras(rows):
    subject = build(KerasLike(), rows)
    assert subject.sut.labels == (0, 1, 2)
    assert subject.sut.style == "array"
    assert subject.name == "KerasLike"
    assert "takes an array" in subject.notes[0]
    named = build(KerasLike(), rows, classes=("a", "b", "c")).sut
    assert set(named.execute(rows).values) <= {"a", "b", "c"}


def test_a_model_with_predict_that_answers_labels_stays_an_estimator(rows):
    class Model:
        def predict(self, frame):
            return np.where(frame["x"] > 0, "a", "b")

    assert isinstance(build(Model(), rows).sut, Estimator)


class Tensor:
    """What is used of a tensor of torch."""

    def __init__(self, array):
        self.array, self.dtype = np.asarray(array), str(np.asarray(array).dtype)

    def to(self, device, dtype):
        return Tensor(self.array.astype(dtype))

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.array


@pytest.fixture
def torch(monkeypatch):
    """A stand-in for torch with ``nn.Module``, ``no_grad`` and ``as_tensor``."""
    module = types.ModuleType("torch")
    module.gradients = True

    class NoGrad:
        def __enter__(self):
            module.gradients = False

        def __exit__(self, *error):
            module.gradients = True

    class Module:
        training = True

        def parameters(self):
            return iter([types.SimpleNamespace(device="cpu", dtype=np.float32)])

        def train(self, mode=True):
            self.training = mode
            return self

        def eval(self):
            return self.train(False)

        def __call__(self, tensor):
            assert not self.training
            assert not module.gradients
            return self.forward(tensor)

    Module.__module__ = "torch.nn.modules.module"
    module.no_grad, module.as_tensor, module.Module = NoGrad, Tensor, Module
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("wrapping", [lambda t: t, lambda t: (t, "state"), lambda t: {"logits": t}])
def test_a_module_of_torch(torch, rows, wrapping):
    class Net(torch.Module):
        def forward(self, tensor):
            return wrapping(Tensor(compute_logits(tensor.array)))

    net = Net()
    assert is_torch_module(net)
    sut = build(net, rows).sut
    assert (sut.labels, sut.score_kind, sut.name) == ((0, 1, 2), "decision", "Net")
    assert (sut.execute(rows).values == compute_logits(rows).argmax(axis=1)).all()
    assert net.training  # as before
    result = dm.test(net, rows.assign(label=compute_logits(rows).argmax(axis=1)), target="label", budget="5s")
    assert not result.at_least("concern")
    assert "module of torch" in result.kind


def test_a_module_of_torch_takes_numbers(torch, rows):
    class Net(torch.Module):
        def forward(self, tensor):
            return tensor

    with pytest.raises(ModelError, match=r"takes numbers.*Wrap it"):
        build(Net(), rows.assign(c="a"))
    with pytest.raises(ModelError, match="takes numbers"):
        TorchFunction(Net())(np.array([["a"]], dtype=object))
    assert not is_torch_module(rows)


# -- texts -------------------------------------------------------------------------------------------------------------

TEXTS = [f"text number {row} of them is {'good' if row % 2 else 'bad'}" for row in range(40)]


class ModelOfTexts:
    """A model of another library that takes a list of texts."""

    classes_ = np.array(["bad", "good"])

    def predict(self, texts):
        assert isinstance(texts[0], str)
        return np.array(["good" if "good" in text else "bad" for text in texts])


@pytest.mark.parametrize(
    ("model", "note"),
    [
        (ModelOfTexts(), "takes a list of texts"),
        (lambda texts: [len(text.split()) for text in texts], "takes a list of texts"),
        (lambda text: "good" in text, "takes one text at a time"),
        (lambda case: case["text"].endswith("good"), "takes one case at a time"),
    ],
)
def test_models_of_texts_are_called_as_they_want(model, note):
    system = dm.wrap(model, data=TEXTS)
    assert len(system.execute(TEXTS).values) == 40
    subject = build_subject(model, TEXTS, rng=np.random.default_rng(0))
    assert note in " ".join(subject.notes)


def test_models_of_one_column_of_texts_get_frames_if_they_want_them():
    class ModelOfFrames:
        classes_ = np.array(["bad", "good"])

        def predict(self, frame):
            return np.where(frame["text"].str.contains("good"), "good", "bad")

    subject = build_subject(ModelOfFrames(), TEXTS, rng=np.random.default_rng(0))
    assert not subject.notes
    assert subject.sut.execute(subject.seeds).values.tolist()[:2] == ["bad", "good"]
