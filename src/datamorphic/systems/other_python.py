"""Learners and functions of another Python: of another version, or of another environment.

``"python:/path/to/python module:object"`` names an object there. The other interpreter runs `other_python_worker`, and both talk
over pipes. It runs the code that is named, as ``module:object`` does, so the name must come from the user.
"""

from __future__ import annotations

import atexit
import importlib
import inspect
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._text import parse_literal, suggest_name
from ..errors import ArgumentError, DatamorphicError, ModelError, SystemDied, format_error_line
from . import other_python_worker as worker
from .learner import PLAIN_TYPES, has_only_numbers, to_frames
from .training import Array, Floats, Training
from .watchdog import release_process, watch_process

MAX_NAME_CHARACTERS = 80
MAX_OUTPUT_BYTES = 1 << 20  # of what a library printed, of which the last line explains the end of its process
SECONDS_TO_END = 5.0
_NAME = re.compile(r"(?P<python>.+?)\s+(?P<target>[^\W\d][\w.]*:[^\W\d][\w.]*)(?:\s+(?P<parameters>.*))?", re.DOTALL)
_FOREIGN_VARIABLES = (
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONEXECUTABLE",
    "__PYVENV_LAUNCHER__",
)  # are about this interpreter
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)  # one thread gives the same last digits

__all__ = ["OtherPythonFunction", "OtherPythonLearner", "load_from_other_python"]


class OtherPythonError(Exception):
    """An error that was raised in another Python; a subclass has the name of its type there."""

    refusal: bool = False  # whether it says on purpose what is not accepted


class TrainedAnswer(NamedTuple):
    """What a learner answers to the cases of a training set."""

    answer: Any
    scores: Floats | None
    classes: Array | None


def load_from_other_python(text: str) -> Any:
    """Return the learner, the function or the value that ``python:`` with an interpreter, an object and parameters names."""
    match = _NAME.fullmatch(text.partition(":")[2].strip())
    if match is None:
        raise ModelError(
            f"{text!r} is not understood. Write the path of a Python or of its environment, then module:object, as in "
            "'python:/path/to/python sklearn.tree:DecisionTreeClassifier'."
        )
    try:
        parts = shlex.split(match["parameters"] or "")
    except ValueError as error:
        raise ModelError(f"The parameters in {text!r} cannot be read: {error}. Close every quotation mark.") from None
    parameters = {}
    for part in parts:
        name, sign, value = part.partition("=")
        if not sign or not name:
            raise ModelError(f"{part!r} in {text!r} is not a parameter. Write NAME=VALUE, as in max_depth=3.")
        parameters[name] = parse_literal(value)
    process = get_python(find_python(match["python"].strip("\"' ")))
    return _load_object(process, match["target"], parameters)


def _load_object(process: PythonProcess, target: str, parameters: Mapping[str, Any]) -> Any:
    try:
        facts = process.ask({"do": "describe", "target": target, "parameters": dict(parameters)})
    except OtherPythonError as error:
        raise ModelError(f"{target} cannot be used in {process.path}: {format_error_line(error)}") from None
    if facts["learner"]:
        return OtherPythonLearner(process, target, parameters, facts)
    if parameters:
        raise ModelError(f"{target} is not a learner, so it takes no parameters. Leave out {', '.join(parameters)}.")
    return facts["value"] if "value" in facts else OtherPythonFunction(process, target, facts)


def find_python(text: str) -> str:
    """Return the path of an interpreter, named by its path, by the folder of its environment, or as a command."""
    path = Path(text).expanduser()
    if path.is_dir():
        candidates = [path / part for part in ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")]
        found_path = next((str(candidate) for candidate in candidates if candidate.is_file()), None)
    else:
        found_path = shutil.which(path)
    if found_path is None:
        raise ModelError(
            f"There is no Python {text!r}. Give the path of an interpreter, or the folder of its environment."
        )
    return os.path.abspath(found_path)


# -- the process ---------------------------------------------------------------------------------------------------------


class PythonProcess:
    """Another interpreter that answers requests. It is started with the first one, and again after its end."""

    def __init__(self, path: str, folder: str) -> None:
        self.path, self.folder = path, folder
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0  # the process that started it: a fork cannot share its pipes

    def ask(self, request: Mapping[str, Any]) -> Any:
        """Return the answer to a request; raise `OtherPythonError` for an error there, `SystemDied` if the process ends."""
        with self._lock:
            process = self._ready_process()
            try:
                answer = self._exchange(process, request)
            except BaseException:
                self.close()  # the next answer must not be that of this request
                raise
        if "error" in answer:
            raise build_error(answer["error"])
        return answer["answer"]

    def _ready_process(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None or self._owner != os.getpid():
            self.close()
            self._start()
        assert self._process is not None
        return self._process

    def _start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN_VARIABLES}
        environment["PYTHONIOENCODING"] = "utf-8:replace"
        for name in _THREAD_VARIABLES:
            environment.setdefault(name, "1")
        self._output = tempfile.TemporaryFile("a+b")  # noqa: SIM115  (closed by `close`)
        program = Path(worker.__file__).read_text(
            encoding="utf-8"
        )  # a file would put its folder on the path of imports
        try:
            self._process = subprocess.Popen(
                [self.path, "-c", program],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._output,
                cwd=self.folder,
                env=environment,
            )
        except OSError as error:
            raise ModelError(f"{self.path} cannot be started: {error}. It should be a Python interpreter.") from None
        self._owner = os.getpid()
        watch_process(self._process.pid)

    def _exchange(self, process: subprocess.Popen[bytes], request: Mapping[str, Any]) -> Mapping[str, Any]:
        if os.fstat(self._output.fileno()).st_size > MAX_OUTPUT_BYTES:
            self._output.truncate(0)
        try:
            worker.write_message(process.stdin, request)
            answer = worker.read_message(process.stdout)
        except (EOFError, OSError, ValueError, LookupError) as error:
            if isinstance(error, EOFError | OSError):
                raise SystemDied(self._describe_end(process)) from None
            raise SystemDied(f"{self.path} sent an answer that cannot be read ({format_error_line(error)})") from None
        if not isinstance(answer, dict) or not ("error" in answer or "answer" in answer):
            raise SystemDied(f"{self.path} sent an answer that cannot be read")
        return answer

    def _describe_end(self, process: subprocess.Popen[bytes]) -> str:
        with suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_TO_END)
        code = process.returncode
        ending = "closed its pipes" if code is None else f"ended with exit code {code}"
        if code is not None and code < 0:
            with suppress(ValueError):
                ending = f"was ended by {signal.Signals(-code).name}"
        self._output.seek(0)
        lines = self._output.read().decode("utf-8", "replace").strip().splitlines()
        return f"{self.path} {ending}" + (f": {lines[-1].strip()[:300]}" if lines else "")

    def close(self) -> None:
        """End the process; the next request starts it again."""
        process, self._process = self._process, None
        if process is None:
            return
        if self._owner == os.getpid():
            process.kill()
            process.wait()
            release_process(process.pid)
        else:
            process.returncode = 0  # it is no child of this fork
        for pipe in (process.stdin, process.stdout, self._output):
            with suppress(OSError):  # a request that was not sent cannot be flushed
                pipe.close()  # type: ignore[union-attr]

    def __reduce__(self) -> Any:
        return get_python, (self.path, self.folder)


_processes: dict[tuple[str, str], PythonProcess] = {}


def get_python(path: str, folder: str | None = None) -> PythonProcess:
    """Return the process of an interpreter in a folder, by default the current one; all its learners share it."""
    key = path, folder or os.getcwd()
    if key not in _processes:
        _processes[key] = PythonProcess(*key)
        atexit.register(_processes[key].close)
    return _processes[key]


def build_error(facts: Mapping[str, Any]) -> OtherPythonError:
    """Return an error of another Python, whose type has the same name."""
    name = str(facts["type"])
    kind = type(name if name.isidentifier() else "Error", (OtherPythonError,), {"refusal": bool(facts["refusal"])})
    error: OtherPythonError = kind(str(facts["message"]))
    return error


# -- the learner ---------------------------------------------------------------------------------------------------------


class OtherPythonLearner:
    """A learner of another Python, with the interface of scikit-learn.

    Its parameters and tags are read once. A fit sends the data, and the other process remembers the fitted model; if it has
    forgotten the model, it is fitted again. `train_all` sends many training sets in one message.
    """

    def __init__(
        self, process: PythonProcess, target: str, parameters: Mapping[str, Any], facts: Mapping[str, Any]
    ) -> None:
        self._process, self._target, self._facts = process, target, facts
        self._parameters = dict(parameters)
        self._fit_request: dict[str, Any] | None = None

    # -- training ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, classes: Sequence[Any] | None = None) -> Any:
        """Fit the learner in the other Python."""
        self._fit_request = self._build_item(X, y, sample_weight, classes) | {"key": uuid.uuid4().hex}
        answer = self._query([], None)
        self._classes = answer["classes"]
        self.n_features_in_ = np.shape(X)[1] if np.ndim(X) > 1 else 1
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array(list(X.columns), dtype=object)
        return self

    def _build_item(self, x: Any, y: Any, weights: Any, classes: Sequence[Any] | None) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if weights is not None:
            options["sample_weight"] = np.asarray(weights)
        if classes is not None and "classes" in self._facts["fit"]:
            options["classes"] = list(classes)
        return {"x": x, "y": None if y is None else np.asarray(y), "options": options}

    def _query(self, names: list[str], t: Any) -> dict[str, Any]:
        """Return what the fitted model answers; without data first, since the other process may remember the model."""
        if self._fit_request is None:
            raise ModelError(f"{self!r} is not fitted. Fit it first: model.fit(X, y).")
        item: dict[str, Any] = {"key": self._fit_request["key"], "ask": names, "t": t}
        answer: dict[str, Any] = {"unknown": True}
        if names:
            answer = self._train([item])[0]
        if "unknown" in answer:
            answer = self._train([self._fit_request | item])[0]
        if "error" in answer:
            raise build_error(answer["error"])
        return answer

    def _train(self, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        request = {"do": "train", "target": self._target, "parameters": self._parameters, "trainings": items}
        answers: list[dict[str, Any]] = self._process.ask(request)
        return answers

    def train_all(self, trainings: Sequence[Training], *, scores: bool) -> list[TrainedAnswer | OtherPythonError]:
        """Return the answers of a copy of the learner per training set, or its error."""
        items = []
        for data in trainings:
            as_array = self._takes_arrays and has_only_numbers(data.x) and has_only_numbers(data.t)
            if data.query == "as frames":
                data, as_array = to_frames(data), False
            x, t = ((table.to_numpy() if as_array else table) for table in (data.x, data.t))
            item = self._build_item(x, data.y, data.weights, data.labels)
            item |= {"query": data.query, "overrides": dict(data.parameters)}
            if data.query == "after other data":
                item["before"] = data.other_labels
            names = ["predict", "scores"] if scores or data.query.startswith("with ") else ["predict"]
            items.append(item | {"t": t, "ask": names})
        return [
            build_error(answer["error"])
            if "error" in answer
            else TrainedAnswer(answer["predict"], answer.get("scores"), answer["classes"])
            for answer in self._train(items)
        ]

    def fit_once(self, name: str, X: Any, y: Any = None) -> Any:
        """Return what ``fit_predict`` or ``fit_transform`` of a copy returns, which is not kept."""
        (answer,) = self._train([self._build_item(X, y, None, None) | {"ask": [name], "t": None}])
        if "error" in answer:
            raise build_error(answer["error"])
        return answer[name]

    @property
    def classes_(self) -> Array:
        """The labels of a fitted classifier."""
        if self._fit_request is None or self._classes is None:
            raise AttributeError("Only a learner that was fitted on labels has classes_.")
        return self._classes

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def like(self) -> Any:
        """The learner as an object of this Python, with the same class and parameters, which is never fitted there."""
        return build_twin(self._facts, self._parameters)

    @property
    def home_module(self) -> str:
        """The module of its class in the other Python."""
        return str(self._facts["module"])

    @property
    def takes_weights(self) -> bool:
        """Whether its ``fit`` accepts weights of rows."""
        return "sample_weight" in self._facts["fit"]

    @property
    def _estimator_type(self) -> str | None:
        kind: str | None = self._facts["tags"]["estimator_type"]
        return kind

    @property
    def _takes_arrays(self) -> bool:
        """Whether it does the same with an array of numbers as with a frame of them."""
        parameters = self.get_params(deep=False)
        return (
            self._facts["module"].partition(".")[0] == "sklearn"
            and "categorical_features" not in parameters
            and all(isinstance(value, PLAIN_TYPES) for value in parameters.values())
        )

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags, TransformerTags

        tags = self._facts["tags"]
        kind = tags["estimator_type"]
        return Tags(
            kind,
            TargetTags(required=kind in ("classifier", "regressor"), **tags["target"]),
            classifier_tags=ClassifierTags(**tags["classifier"]) if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            transformer_tags=TransformerTags() if "transform" in self._facts["methods"] else None,
            input_tags=InputTags(**tags["input"]),
            non_deterministic=tags["non_deterministic"],
        )

    def __sklearn_is_fitted__(self) -> bool:
        return self._fit_request is not None

    def __sklearn_clone__(self) -> OtherPythonLearner:
        return OtherPythonLearner(self._process, self._target, self._parameters, self._facts)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters: plain values as they are, learners as objects of the same name, others as texts."""
        values = {name: _to_value(value) for name, value in self._facts["parameters"].items()}
        return values | (self._facts["deep"] if deep else {}) | self._parameters

    def set_params(self, **parameters: Any) -> OtherPythonLearner:
        """Set parameters by name."""
        known = self.get_params(deep=True)
        for name in parameters:
            if name not in known:
                raise ArgumentError(f"{self._facts['class']} has no parameter {name!r}. {suggest_name(name, known)}")
        self._parameters |= parameters
        return self

    def __getattr__(self, name: str) -> Any:
        facts = self.__dict__.get("_facts")
        if facts is None or name.startswith("__"):
            raise AttributeError(name)
        if name in facts["methods"]:
            if name.startswith("fit_"):
                return partial(self.fit_once, name)
            return lambda X: self._query([name], X)[name]
        values = self.get_params(deep=False)
        if name in values:
            return values[name]
        raise AttributeError(f"{facts['class']} of another Python has no {name!r}.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with suppress(DatamorphicError, OtherPythonError):  # the first batch may be timed, and importing takes long
            self._process.ask({"do": "import", "target": self._target})

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._parameters.items())
        return _name_object(self._facts, f"{self._facts['class']}({values})")


class ForeignValue(NamedTuple):
    """A parameter of another Python that is no plain value."""

    text: str  # its repr there

    def __repr__(self) -> str:
        return self.text


def _to_value(value: Any) -> Any:
    """Return a parameter as the other Python described it."""
    if isinstance(value, list | tuple):
        return type(value)(_to_value(item) for item in value)
    if not isinstance(value, dict):
        return value
    if "items" in value:
        return {name: _to_value(item) for name, item in value["items"]}
    return build_twin(value["learner"], {}) if "learner" in value else ForeignValue(value["text"])


class _Twin:
    """A learner whose class does not exist in this Python, with its parameters as attributes."""

    def fit(self, *_: Any) -> Any:
        raise ModelError(f"{type(self).__name__} does not exist in this Python.")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return dict(self.__dict__)


def build_twin(facts: Mapping[str, Any], parameters: Mapping[str, Any]) -> Any:
    """Return a learner of another Python as an object of this one, with a class of the same name.

    That is the class of the scikit-learn here, if it has one. Parameters that it does not know become attributes, too.
    """
    values = {name: _to_value(value) for name, value in facts["parameters"].items()}
    own_class = _find_class(str(facts["module"]), str(facts["class"]))
    twin: Any = None
    if own_class is not None:
        with suppress(Exception):  # it may need arguments
            twin = own_class()
    if twin is None:
        twin = type(str(facts["class"]), (_Twin,), {"__module__": str(facts["module"])})()
    twin.__dict__.update(values)
    deep_values = {name: value for name, value in parameters.items() if "__" in name}
    twin.__dict__.update({name: value for name, value in parameters.items() if name not in deep_values})
    if deep_values and hasattr(twin, "set_params"):
        with suppress(Exception):  # a part may have other parameters here
            twin.set_params(**deep_values)
    return twin


def _find_class(module: str, name: str) -> type[Any] | None:
    """Return a class of the scikit-learn of this Python, whose modules may have other names."""
    while module.partition(".")[0] == "sklearn":
        with suppress(Exception):
            own_class = getattr(importlib.import_module(module), name)
            return own_class if isinstance(own_class, type) else None
        module = module.rpartition(".")[0]
    return None


# -- functions -----------------------------------------------------------------------------------------------------------


class OtherPythonFunction:
    """A function of another Python, or an object with functions: each call sends its arguments, such as whole arrays."""

    def __init__(self, process: PythonProcess, target: str, facts: Mapping[str, Any]) -> None:
        self._process, self._target, self._facts = process, target, facts
        self.__name__ = _name_object(facts, target.partition(":")[2])
        if facts["signature"] is not None:
            kinds = list(inspect._ParameterKind)
            self.__signature__ = inspect.Signature(
                [
                    inspect.Parameter(name, kinds[kind], default=None if has_default else inspect.Parameter.empty)
                    for name, kind, has_default in facts["signature"]
                ]
            )

    @property
    def origin(self) -> tuple[str, str]:
        """The library and the name of the function there."""
        return str(self._facts["library"]), str(self._facts["class"])

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Return what the function returns for arguments."""
        request = {"do": "call", "target": self._target, "arguments": list(arguments), "keywords": keywords}
        return self._process.ask(request)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self.__dict__.get("_facts", {}).get("attributes", ()):
            raise AttributeError(name)
        return _load_object(self._process, f"{self._target}.{name}", {})

    def __repr__(self) -> str:
        return self.__name__


def _name_object(facts: Mapping[str, Any], name: str) -> str:
    """Return the name of an object with its library and the version of Python."""
    place = f"of {facts['library']} {facts['version']}".rstrip() + f", Python {facts['python']}"
    text = f"{' '.join(name.split())} {place}"
    return text if len(text) <= MAX_NAME_CHARACTERS else f"{name.partition('(')[0]} {place}"
