"""`Distribution`: a probability distribution as a system whose cases name one of its functions and the arguments."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..errors import SystemDied, format_error_line
from ..space.features import Categorical
from ..space.outputs import Outputs, Status
from ..space.points import Batch
from ..space.space import Space
from .base import Executor, ScoreRequest
from .coerce import to_outputs
from .other_python import OtherPythonFunction

Floats = npt.NDArray[np.float64]
FUNCTION, ARGUMENT = "function", "argument"  # the columns of a case, before the shape parameters
ALONE = " alone"  # after the name of a function: called with single numbers instead of arrays
AMONG_OTHERS = " among others"  # called with several arguments, but single shape parameters
AMONG_SHAPES = " with several shapes"  # called with one argument, and with the shape parameters of the case before, too
LOWER_END, UPPER_END = "cdf at the lower end", "cdf at the upper end"  # of the support
COMMON_FUNCTIONS = ("cdf", "sf", "ppf", "isf", "logcdf", "logsf")
DENSITIES = {"continuous": ("pdf", "logpdf"), "discrete": ("pmf", "logpmf")}


def is_distribution(model: Any) -> bool:
    """Return whether an object has the interface of a distribution of SciPy, here or in another Python."""
    has_density = hasattr(model, "pdf") or hasattr(model, "pmf")
    return not isinstance(model, Executor | type) and has_density and hasattr(model, "ppf") and hasattr(model, "shapes")


class Distribution(Executor):
    """A distribution of SciPy, or an object with the same methods.

    A case names a function, its argument, the shape parameters, and loc and scale. All cases of a batch that name the same function
    are one call with arrays. If such a call raises an error although each of its cases has an answer alone, all of them have none.

    Examples
    --------
    >>> import pandas as pd, scipy.stats
    >>> system = Distribution(scipy.stats.expon)
    >>> case = {"function": "cdf", "argument": 0.0, "loc": 0.0, "scale": 1.0}
    >>> system.execute(pd.DataFrame([case])).values.tolist()
    [0.0]
    """

    def __init__(self, model: Any, space: Space | None = None) -> None:
        self.model = model
        is_foreign = isinstance(model, OtherPythonFunction)
        self.name = repr(model) if is_foreign else str(getattr(model, "name", None) or model)
        self.kind: Literal["continuous", "discrete"] = "continuous" if hasattr(model, "pdf") else "discrete"
        self.shapes = tuple(part.strip() for part in (model.shapes or "").split(",") if part.strip())
        functions = [*COMMON_FUNCTIONS, *DENSITIES[self.kind]]
        self.functions = Categorical(
            FUNCTION,
            [
                *functions,
                *(name + way for name in functions for way in (ALONE, AMONG_OTHERS, AMONG_SHAPES)),
                LOWER_END,
                UPPER_END,
            ],
        )
        self.space = space
        self._functions: dict[str, Any] = {}

    @property
    def parameters(self) -> tuple[str, ...]:
        """The columns behind the argument."""
        return (*self.shapes, "loc", "scale") if self.kind == "continuous" else (*self.shapes, "loc")

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Call each function that the batch names once."""
        frame = batch.frame
        values, status = np.full(len(frame), np.nan), np.zeros(len(frame), dtype=np.int8)
        messages: dict[int, str] = {}
        names = frame[FUNCTION].to_numpy()
        arguments = frame[[ARGUMENT, *self.parameters]].to_numpy(dtype=float)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # overflows and integrals that do not converge show in the answers
            for name in dict.fromkeys(names.tolist()):
                rows = np.flatnonzero(names == name)
                outputs = self._answer_function(name, arguments[rows])
                values[rows], status[rows] = outputs.values.astype(float), outputs.status
                messages |= {int(rows[place]): text for place, text in outputs.messages.items()}
        return Outputs(values, status, None, messages)

    def _answer_function(self, name: str, arguments: Floats) -> Outputs:
        if name.endswith((ALONE, AMONG_OTHERS, AMONG_SHAPES)):
            return self._answer_one_by_one(name.removesuffix(ALONE), arguments)
        try:
            return to_outputs(np.asarray(self._call(name, list(arguments.T)), dtype=np.float64), len(arguments))
        except SystemDied:
            raise
        except Exception as error:
            outputs = self._answer_one_by_one(name, arguments)
            if not outputs.messages and len(arguments) > 1:  # it does not take these arrays
                outputs.status[:] = Status.ERROR
                text = f"{name} of {len(arguments):,} cases at once: {format_error_line(error)}"
                outputs.messages.update(dict.fromkeys(range(len(arguments)), text))
            return outputs

    def _answer_one_by_one(self, name: str, arguments: Floats) -> Outputs:
        values, messages = np.full(len(arguments), np.nan), {}
        for place, row in enumerate(arguments.tolist()):
            try:
                columns = row
                if name.endswith(AMONG_SHAPES):
                    end = 1 + len(self.shapes)  # loc and scale stay single numbers
                    columns = [row[0], *arguments[[place - 1, place], 1:end].T, *row[end:]]
                answer = self._call(name.removesuffix(AMONG_SHAPES), columns)
                values[place] = float(np.ravel(answer)[-1])
            except SystemDied:
                raise
            except Exception as error:
                messages[place] = format_error_line(error)
        outputs = to_outputs(values, len(arguments))
        outputs.status[list(messages)] = Status.ERROR
        outputs.messages.update(messages)
        return outputs

    def _call(self, name: str, columns: Sequence[Any]) -> Any:
        argument, *parameters = columns
        if name.endswith(AMONG_OTHERS):  # one of the others is outside of most supports
            others = np.array([argument, argument / 2, -argument - 1])
            return self._get_function(name.removesuffix(AMONG_OTHERS))(others, *parameters)[0]
        if name in (LOWER_END, UPPER_END):
            lower, upper = self._get_function("support")(*parameters)
            is_discrete = self.kind == "discrete"  # then the first number has a probability
            below = np.asarray(lower) - is_discrete
            name, argument = "cdf", upper if name == UPPER_END else below
        return self._get_function(name)(argument, *parameters)

    def _get_function(self, name: str) -> Any:
        if name not in self._functions:
            self._functions[name] = getattr(self.model, name)
        return self._functions[name]
