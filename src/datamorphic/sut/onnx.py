"""ONNX models, run by onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import did_you_mean, optional_import, plural
from ..errors import ModelError
from ..outputs import Outputs
from ..space.points import Batch
from .answers import as_outputs
from .base import Executor, Wanted

if TYPE_CHECKING:
    import pandas as pd

_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


class OnnxModel(Executor):
    """A model with one matrix as input, or with one input a column; its first output is the label.

    A matrix of 32-bit floats, the usual case, cannot tell inputs apart that differ by less than one part in
    ten million: borders are found to that width and no finer.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._session = _open(file)
        self._inputs = self._session.get_inputs()
        self._outputs = [each.name for each in self._session.get_outputs()]
        for each in self._inputs:
            if each.type not in _TYPES:
                raise ModelError(f"{file.name}: the input {each.name!r} is a {each.type}, which is not supported.")
        self.score_kind = "probability" if len(self._outputs) > 1 else None

    def __getstate__(self) -> dict[str, Any]:
        # a session cannot be sent to another process; the name of its file can
        return self.__dict__ | {"_session": None, "_inputs": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state
        self._session = _open(self._file)
        self._inputs = self._session.get_inputs()

    def answer(self, batch: Batch, scores: Wanted) -> Outputs:
        """Run the session on the batch."""
        wanted = self._outputs[: 2 if scores else 1]
        found = self._session.run(wanted, self._feed(batch.frame))
        return as_outputs(found[0], len(batch), self.labels, _probabilities(found[1]) if scores else None)

    def _feed(self, frame: pd.DataFrame) -> dict[str, npt.NDArray[Any]]:
        if len(self._inputs) == 1:
            only = self._inputs[0]
            width = only.shape[1] if len(only.shape) > 1 else None
            if isinstance(width, int) and width != len(frame.columns):
                raise ModelError(
                    f"{self.name} takes {plural(width, 'column')} and the data have {len(frame.columns)}. "
                    "Leave out the columns that are no features, the target for one."
                )
            if width != 1 or only.name not in frame.columns:
                return {only.name: frame.to_numpy().astype(_TYPES[only.type])}
        missing = [each.name for each in self._inputs if each.name not in frame.columns]
        if missing:
            raise ModelError(
                f"{self.name} wants the column {missing[0]!r}, which is not in the data. "
                f"{did_you_mean(missing[0], frame.columns)}"
            )
        return {
            each.name: frame[each.name].to_numpy().astype(_TYPES[each.type]).reshape(-1, 1)
            for each in self._inputs
        }


def _open(file: Path) -> Any:
    runtime = optional_import("onnxruntime", "onnx", "Running an .onnx model")
    options = runtime.SessionOptions()
    options.log_severity_level = 3  # errors only: what matters is raised as well
    return runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _probabilities(found: Any) -> npt.NDArray[np.float64]:
    if isinstance(found, list):  # a dict a row, from label to probability
        return np.array([list(row.values()) for row in found], dtype=np.float64)
    return np.asarray(found, dtype=np.float64)
