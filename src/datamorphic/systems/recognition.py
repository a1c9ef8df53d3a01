"""Recognise how a function or a model of another library is called, and what its answers mean.

The system is tried on a few rows: with a frame first, then with an array, then case by case. What works is kept. Rows of numbers in
its answers are read as scores of classes.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from ..errors import BadAnswer, ModelError, SystemDied, SystemHung
from ..space.blocks import is_single_block
from ..space.frames import is_text_list
from ..space.outputs import Outputs
from ..space.points import Batch, Points
from .base import CASE_STYLES, AnswerOrError, CallStyle, Executor, Function, ScoreRequest, build_case_caller
from .coerce import Labels, to_outputs, to_plain_array
from .estimator import Estimator
from .isolation import IsolatedSystem
from .missing_packages import build_missing_package_error
from .onnx import OnnxModel
from .score_rows import find_reading

PROBE_ROWS = 5  # few, because they may be slow; enough to tell probabilities, whose rows sum to 1, from other scores
FUNCTION_STYLES: tuple[CallStyle, ...] = ("frame", "array", "case", "row", "series")
TEXT_STYLES: tuple[CallStyle, ...] = ("frame", "texts", "text", "case")
PREDICT_STYLES: tuple[CallStyle, ...] = ("frame", "array")
#: for a space that is images, or sequences, and nothing else
IMAGE_STYLES: tuple[CallStyle, ...] = ("images", "channels", "array", "frame", "image", "row", "case")
TORCH_IMAGE_STYLES: tuple[CallStyle, ...] = ("channels", "images", "array")
STYLE_TEXTS: dict[CallStyle, str] = {
    "array": "an array",
    "images": "an array with one image or sequence per case",
    "channels": "an array with the channels before the sides, in float32",
    "image": "one image or sequence at a time",
    "texts": "a list of texts",
    "text": "one text at a time",
}
WRAP_HINT = (
    "It was tried with a frame, with an array and case by case. Wrap it in a function of a frame that returns one answer "
    "per row: def predict(frame): return model(frame[COLUMNS].to_numpy())."
)


class PredictFunction:
    """The ``predict`` of a model as a function; models of Keras print nothing."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.__name__ = type(model).__name__
        try:
            self._quiet = "verbose" in inspect.signature(model.predict).parameters
        except (TypeError, ValueError):
            self._quiet = False

    def __call__(self, rows: Any) -> Any:
        """Return what the model predicts."""
        return self.model.predict(rows, verbose=0) if self._quiet else self.model.predict(rows)


def needs_recognition(system: Executor) -> bool:
    """Return whether a system does not say itself how it is called and what its answers are."""
    if isinstance(system, Function | OnnxModel):
        return system.reading is None
    return isinstance(system, Estimator) and system.columns is None and system.width is None and system.labels is None


def recognise(
    system: Executor,
    batch: Batch,
    truth: npt.NDArray[Any] | None = None,
    *,
    timeout: float | None = None,
    isolated: bool = False,
) -> tuple[Executor, list[str]]:
    """Return the system as it must be called and read, and sentences about that for a report.

    `truth` are labels of data, if known. The system is tried in a process of its own if `isolated`, or if there is a
    `timeout` in seconds. A system that answers nothing is returned as it is, with a hint how to wrap it.
    """
    if isinstance(system, Estimator) and _may_take_texts(system, batch):
        return _recognise_text_model(system, batch)
    if not needs_recognition(system) or not len(batch):
        return system, []
    width = len(batch.frame.columns)
    rows = min(len(batch), PROBE_ROWS - (width == PROBE_ROWS))  # as many answers as columns would be ambiguous
    sample = batch.take(slice(0, rows))
    candidate, styles = _list_styles(system, batch)
    first_style = styles[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for style in styles:
            with _probe(candidate, style, timeout, isolated) as probe:
                answer = probe.answers([sample], False)[0]
                has_failed = not isinstance(answer, Outputs | SystemHung | SystemDied)
                if (
                    has_failed
                    and style == "frame"
                    and len(styles) > 1
                    and styles != TEXT_STYLES
                    and _answers_one(probe, sample)
                ):
                    return system, []  # only batches fail, which is a finding
            if isinstance(answer, SystemHung | SystemDied):
                return system, []  # to call it in another way would take as long, and explain nothing
            if isinstance(answer, ModuleNotFoundError):
                raise build_missing_package_error(answer, f"{system.name} needs") from answer
            if isinstance(answer, ModelError):
                raise answer
            repeats = isinstance(answer, Outputs) and style in CASE_STYLES and _repeats_list(answer)
            if repeats and not (isinstance(candidate, Function) and _takes_features_by_name(candidate, sample)):
                break  # it returns the same values whatever it gets: a faulty function of a frame
            if isinstance(answer, Outputs) and (style == first_style or answer.ok.all()):
                return _use_answer(system, candidate, style, answer, truth)
    if len(styles) > 1:
        system = copy.copy(system)
        system.hint = WRAP_HINT
    return system, []


def _list_styles(system: Executor, batch: Batch) -> tuple[Function | OnnxModel, tuple[CallStyle, ...]]:
    """Return a copy of the system as a function or ONNX model, and the styles of calls to try in turn."""
    candidate: Function | OnnxModel
    styles: tuple[CallStyle, ...] = FUNCTION_STYLES
    if isinstance(system, OnnxModel):
        candidate, styles = copy.copy(system), ("frame",)
    elif isinstance(system, Estimator):
        candidate, styles = system.to_function(PredictFunction(system.model)), PREDICT_STYLES
    else:
        assert isinstance(system, Function)
        candidate = copy.copy(system)
        if candidate.style != "frame":
            styles = (candidate.style,)
        elif has_one_text(batch):
            styles = TEXT_STYLES
    space = system.space
    if space is not None and is_single_block(space.blocks, len(space)):
        if styles == ("array",):  # a module of torch
            styles = TORCH_IMAGE_STYLES
        elif len(styles) > 1:
            styles = tuple(style for style in IMAGE_STYLES if styles == FUNCTION_STYLES or style not in CASE_STYLES)
    return candidate, styles


def has_one_text(batch: Batch) -> bool:
    """Return whether the only column of a batch is text."""
    if isinstance(batch, Points):
        return len(batch.space) == 1 and batch.space.features[0].kind == "text"
    frame = batch.frame
    return len(frame.columns) == 1 and is_text_list(frame.iloc[:, 0])


def _may_take_texts(system: Estimator, batch: Batch) -> bool:
    """Return whether a model that says nothing about its columns may want a list of texts."""
    is_open = system.columns is None and system.width is None and not system.takes_texts
    return is_open and len(batch) > 0 and has_one_text(batch)


def _recognise_text_model(system: Estimator, batch: Batch) -> tuple[Executor, list[str]]:
    """Return a model of one column of texts as it must be called: with a frame, or with a list of texts."""
    sample = batch.take(np.resize(np.arange(len(batch)), PROBE_ROWS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(system.answers([sample], False)[0], Outputs):
            return system, []
        twin = copy.copy(system)
        twin.takes_texts = True
        if not isinstance(twin.answers([sample], False)[0], Outputs):
            return system, []
    return twin, [f"{system.name} takes a list of texts, which was found by trying it."]


class _Probe(Executor):
    """A system whose rows of numbers are returned as scores, whatever they mean."""

    def __init__(self, candidate: Function | OnnxModel, style: CallStyle) -> None:
        self.candidate, self.name = copy.copy(candidate), candidate.name
        if isinstance(self.candidate, Function):
            self.candidate.use_style(style)

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Return the answers as they are."""
        answer, rows = self.candidate.call(batch.frame), len(batch)
        array = to_plain_array(answer)
        if array.ndim == 2 and len(array) == rows and array.shape[1] > 1 and array.dtype.kind in "iufb":
            return Outputs(np.full(rows, array.dtype.kind), np.zeros(rows, dtype=np.int8), array)
        if array.ndim > 2:
            raise BadAnswer(f"it gave an array of shape {array.shape}")
        return to_outputs(answer, rows, None, scalar=isinstance(self.candidate, Function) and self.candidate.scalar)


@contextmanager
def _probe(
    candidate: Function | OnnxModel, style: CallStyle, timeout: float | None, isolated: bool
) -> Iterator[Executor]:
    """Open a system that answers as the candidate does with a style."""
    probe: Executor = _Probe(candidate, style)
    if timeout is None and not isolated:
        yield probe
        return
    separate = IsolatedSystem(probe, timeout)
    try:
        yield separate
    finally:
        separate.shut_down()


def _answers_one(probe: Executor, sample: Batch) -> bool:
    """Return whether a system that failed on a batch answers its first row."""
    answer: AnswerOrError = probe.answers([sample.take(slice(0, 1))], False)[0]
    return isinstance(answer, Outputs)


def _takes_features_by_name(system: Function, sample: Batch) -> bool:
    """Return whether the parameters of a function are named like the features, so that it takes one case at a time."""
    return build_case_caller(system.function, list(sample.frame.columns)) is not system.function


def _repeats_list(answer: Outputs) -> bool:
    """Return whether several cases got the same list of values."""
    lists = answer.values.tolist() if answer.scores is None else answer.scores.tolist()
    return len(lists) > 1 and isinstance(lists[0], list | tuple) and all(item == lists[0] for item in lists)


def _use_answer(
    system: Executor, candidate: Function | OnnxModel, style: CallStyle, answer: Outputs, truth: npt.NDArray[Any] | None
) -> tuple[Executor, list[str]]:
    """Return the system as it answered, and notes."""
    raw = answer.values if answer.scores is None else answer.scores
    reading = find_reading(raw[answer.ok], candidate.classes, truth)
    if reading is None and style == "frame":
        return system, []
    notes = []
    if isinstance(candidate, Function) and style != candidate.style:
        candidate.use_style(style)
        form = STYLE_TEXTS.get(style, "one case at a time")
        notes.append(f"{system.name} takes {form}, which was found by trying it.")
    if reading is not None:
        named = candidate.classes is not None
        candidate.use_reading(reading)
        notes.append(reading.describe() + ("" if named else _suggest_classes(reading.labels, truth)))
    return candidate, notes


def _suggest_classes(labels: Labels, truth: npt.NDArray[Any] | None) -> str:
    """Return how to name the classes, if the data have other labels."""
    from ..space.labels import to_label_key

    if truth is None:
        return ""
    names = pd.unique(pd.Series(truth).dropna()).tolist()
    if {to_label_key(name) for name in names} <= {to_label_key(label) for label in labels} or len(names) > len(labels):
        return ""
    example = ", ".join(repr(name) for name in sorted(names, key=str)[:6])
    return f" The labels of the data are different: name the classes in the order of the columns, as in classes=[{example}]."
