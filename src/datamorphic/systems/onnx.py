"""ONNX models, run by onnxruntime."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import pluralise, suggest_name
from .._validation import import_optional
from ..errors import ModelError
from ..space.outputs import Outputs
from ..space.points import Batch
from .base import Executor, ScoreRequest
from .coerce import Labels, to_outputs
from .score_rows import AnswerReading, find_reading

_TENSOR_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


def import_onnx_runtime() -> ModuleType:
    """Return onnxruntime, or raise `MissingExtra`."""
    return import_optional("onnxruntime", "onnx", "Running an .onnx model", "on Intel Macs, with Python up to 3.13")


class OnnxModel(Executor):
    """An ONNX model with one matrix as input, or one input per column.

    Its first output is the label, or one score per class if `reading` says so. The usual matrix of 32-bit floats cannot
    distinguish inputs that differ by less than one part in ten million, which limits how precisely borders are found.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._open_session()
        self._outputs = [output.name for output in self._session.get_outputs()]
        for item in self._inputs:
            if item.type not in _TENSOR_TYPES:
                raise ModelError(f"{file.name}: the input {item.name!r} is a {item.type}, which is not supported.")
        self.score_kind = "probability" if len(self._outputs) > 1 else None
        self.classes: Labels | None = None
        self.reading: AnswerReading | None = None

    def __getstate__(self) -> dict[str, Any]:
        # a session cannot be pickled, but the name of its file can
        return self.__dict__ | {"_session": None, "_inputs": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        self._open_session()

    def _open_session(self) -> None:
        runtime = import_onnx_runtime()
        options = runtime.SessionOptions()
        options.log_severity_level = 3  # errors only; they are raised as well
        try:
            self._session: Any = runtime.InferenceSession(str(self._file), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has exception types of its own
            message = f"{self._file.name} cannot be read as a model: {type(error).__name__}: {error}"
            raise ModelError(message) from error
        self._inputs: Any = self._session.get_inputs()

    def list_columns(self) -> dict[str, bool]:
        """Return the columns that it takes, and whether they hold texts; the columns of a matrix are numbered."""
        kinds = {item.name: item.type == "tensor(string)" for item in self._inputs}
        first = self._inputs[0]
        width = first.shape[1] if len(kinds) == 1 and len(first.shape) > 1 else None
        return dict.fromkeys(map(str, range(width)), kinds[first.name]) if isinstance(width, int) else kinds

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Run the session on the batch."""
        if self.reading is None and self.classes is not None:
            reading = find_reading(self.call(batch.frame), self.classes)
            if reading is not None:
                self.use_reading(reading)
        reads_first = self.reading is not None and self.reading.form != "codes"  # scores in the first output
        output_names = self._outputs[: 2 if scores and not reads_first else 1]
        results = self._session.run(output_names, self._feed(batch.frame))
        second_scores = _to_probabilities(results[1]) if len(results) > 1 else None
        if self.reading is None:
            return to_outputs(results[0], len(batch), self.labels, second_scores)
        outputs = self.reading.read(results[0], len(batch), with_scores=bool(scores))
        return outputs if reads_first else replace(outputs, scores=second_scores)

    def call(self, frame: pd.DataFrame) -> Any:
        """Return the first output as it is."""
        return self._session.run(self._outputs[:1], self._feed(frame))[0]

    def use_reading(self, reading: AnswerReading) -> None:
        """Read numbers in the first output as scores or codes of classes."""
        self.reading, self.labels = reading, reading.labels
        if reading.form != "codes":
            self.score_kind = reading.kind

    def _feed(self, frame: pd.DataFrame) -> dict[str, npt.NDArray[Any]]:
        if len(self._inputs) == 1:
            single_input = self._inputs[0]
            width = single_input.shape[1] if len(single_input.shape) > 1 else None
            if isinstance(width, int) and width != len(frame.columns):
                raise ModelError(
                    f"{self.name} takes {pluralise(width, 'column')}, but the data have {len(frame.columns)}. "
                    "Leave out columns that are not features, such as the target."
                )
            if width != 1 or single_input.name not in frame.columns:
                return {single_input.name: frame.to_numpy().astype(_TENSOR_TYPES[single_input.type])}
        missing = [item.name for item in self._inputs if item.name not in frame.columns]
        if missing:
            hint = suggest_name(missing[0], frame.columns)
            raise ModelError(f"{self.name} needs the column {missing[0]!r}, which is not in the data. {hint}")
        return {
            item.name: frame[item.name].to_numpy().astype(_TENSOR_TYPES[item.type]).reshape(-1, 1)
            for item in self._inputs
        }


def _to_probabilities(output: list[dict[Any, float]] | npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    if isinstance(output, list):  # one dict per row, from label to probability
        return np.array([list(row.values()) for row in output], dtype=np.float64)
    return np.asarray(output, dtype=np.float64)
