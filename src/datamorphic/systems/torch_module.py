"""Modules of torch as functions of an array, without importing torch before it is needed."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from .coerce import to_plain_array


def is_torch_module(model: object) -> bool:
    """Tell whether an object is an instance of ``torch.nn.Module``."""
    return any(
        base.__name__ == "Module" and base.__module__.partition(".")[0] == "torch" for base in type(model).__mro__
    )


class TorchFunction:
    """A module of torch as a function of a matrix: in evaluation mode, without gradients, on the device of its weights."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.__name__ = type(module).__name__

    def __call__(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what the module computes for the rows; of several outputs the first."""
        torch = importlib.import_module("torch")
        if rows.dtype == object:
            try:
                rows = rows.astype(np.float64)
            except (TypeError, ValueError):
                raise ModelError(
                    f"{self.__name__} is a torch module, which takes numbers, but the data have columns of text. Wrap it: "
                    "def predict(frame): return module(to_tensor(frame))."
                ) from None
        weights = next(iter(self.module.parameters()), None)
        was_training = self.module.training
        self.module.eval()  # dropout and batch statistics are for training
        try:
            with torch.no_grad():
                tensor = torch.as_tensor(np.ascontiguousarray(rows, dtype=np.float32))
                if weights is not None:
                    tensor = tensor.to(device=weights.device, dtype=weights.dtype)
                output = self.module(tensor)
        finally:
            self.module.train(was_training)
        if hasattr(output, "logits"):
            output = output.logits
        elif isinstance(output, list | tuple):
            output = output[0]
        elif isinstance(output, dict):
            output = output.get("logits", next(iter(output.values())))
        return to_plain_array(output)
