"""The program that another Python runs for `other_python`: it trains learners and calls functions of its environment.

A message is a header of JSON and the bytes of its arrays, the same in both directions. Nothing in it is evaluated or unpickled.
Only what the caller names as ``module:object`` is imported. This file runs on Python 3.6 and later, where datamorphic is not
installed, so it imports only the standard library and numpy, and pandas and scipy where tables need them.
"""

import contextlib
import copy
import importlib
import inspect
import json
import os
import signal
import struct
import sys
import warnings
from collections import OrderedDict
from typing import Any

import numpy as np

MAX_STORED_MODELS = 8  # fitted ones, and as many unfitted ones to copy, that stay in memory
ARITHMETIC_ERRORS = ("LinAlgError", "ZeroDivisionError")
REFUSALS = ("ValueError", "TypeError", "NotImplementedError")  # of arguments, if Python code raises them
NATIVE_REFUSALS = ("CatBoostError",)  # raised by compiled code, whose statements cannot be seen
FAILED_ASSERTION = "Check failed: "  # of native code, which Python raises again
MAX_HEADER_BYTES = 1 << 30
MAX_PARAMETER_DEPTH = 5  # of learners within learners
MAX_PARAMETER_ITEMS = 1000
ARRAY_KINDS = "biufcU"  # of arrays that are sent as bytes
PLAIN_TYPES = (bool, int, float, str, type(None))
METHODS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "fit_predict",
    "fit_transform",
    "score_samples",
)
TAGS = {
    "input": ("allow_nan", "one_d_array", "two_d_array", "positive_only", "pairwise", "sparse"),
    "target": ("positive_only", "single_output"),
    "classifier": ("multi_class",),
}
LIBRARY_NAMES = {"sklearn": "scikit-learn", "imblearn": "imbalanced-learn", "scipy": "SciPy", "numpy": "NumPy"}


# -- messages ------------------------------------------------------------------------------------------------------------


def write_message(stream: Any, value: Any) -> None:
    """Write a value to a stream of bytes; raise TypeError for what cannot be sent, before anything is written."""
    arrays: "list[Any]" = []
    body = encode(value, arrays)
    header = json.dumps([body, [[array.dtype.str, list(array.shape)] for array in arrays]]).encode("ascii")
    stream.write(struct.pack(">Q", len(header)) + header + b"".join(array.tobytes() for array in arrays))
    stream.flush()


def read_message(stream: Any) -> Any:
    """Return the next value of a stream of bytes; raise EOFError at its end, ValueError for what is not a message."""
    (size,) = struct.unpack(">Q", _read(stream, 8))
    if size > MAX_HEADER_BYTES:
        raise ValueError("a message begins with a header of %d bytes" % size)
    body, descriptions = json.loads(_read(stream, size).decode("ascii"))
    arrays = []
    for name, shape in descriptions:
        kind = np.dtype(str(name))
        if kind.kind not in ARRAY_KINDS:
            raise ValueError("a message has an array of type %s" % kind)
        count = 1
        for length in shape:
            count *= int(length)
        data = _read(stream, count * kind.itemsize)
        # a copy, because learners may write to their input
        empty = not kind.itemsize or not count
        array = np.zeros(shape, kind) if empty else np.frombuffer(data, kind).reshape(shape).copy()
        arrays.append(array)
    return decode(body, arrays)


def _read(stream: Any, size: int) -> bytes:
    parts = []
    while size:
        part = stream.read(size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def encode(value: Any, arrays: "list[Any]") -> Any:
    """Return a value as JSON has it, and append its arrays."""
    if value is None or isinstance(value, (bool, str)) or type(value) in (int, float):
        return value
    if isinstance(value, (np.generic, int, float)) and np.ndim(value) == 0:
        plain = (
            value.item() if isinstance(value, np.generic) else float(value) if isinstance(value, float) else int(value)
        )
        if type(plain) in (bool, int, float, str):
            return plain
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [encode(item, arrays) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key, arrays), encode(item, arrays)] for key, item in value.items()]}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays)
    if hasattr(value, "tocsr"):
        matrix = value.tocsr()
        parts = [_encode_array(part, arrays) for part in (matrix.data, matrix.indices, matrix.indptr)]
        return {"sparse": parts, "shape": list(matrix.shape)}
    if hasattr(value, "columns") and hasattr(value, "iloc"):
        columns = [_encode_column(value.iloc[:, place], arrays) for place in range(value.shape[1])]
        return {"frame": columns, "names": encode(list(value.columns), arrays), "rows": len(value)}
    if type(value).__name__ == "NAType":
        return {"NA": True}
    if hasattr(value, "to_numpy"):
        return encode(value.to_numpy(), arrays)
    raise TypeError("a value of type %s cannot be sent to another Python" % type(value).__name__)


def _encode_array(array: Any, arrays: "list[Any]") -> Any:
    if array.dtype.kind in "mM":
        return {"times": _encode_array(array.astype(np.int64), arrays), "type": array.dtype.str}
    if array.dtype.kind not in ARRAY_KINDS:
        items = array.astype(object).ravel().tolist()
        return {"objects": [encode(item, arrays) for item in items], "shape": list(array.shape)}
    if array.dtype.itemsize > {"f": 8, "c": 16}.get(
        array.dtype.kind, array.dtype.itemsize
    ):  # differs between processors
        array = array.astype("<" + ("f8" if array.dtype.kind == "f" else "c16"))
    arrays.append(np.ascontiguousarray(array).reshape(array.shape))
    return {"array": len(arrays) - 1}


def _encode_column(column: Any, arrays: "list[Any]") -> Any:
    kind = column.dtype
    if isinstance(kind, np.dtype):
        return _encode_array(column.to_numpy(), arrays)
    if hasattr(kind, "categories"):
        parts = [encode(np.asarray(part), arrays) for part in (column.cat.categories, column.cat.codes)]
        return {"categories": parts, "ordered": bool(kind.ordered)}
    values = encode(column.astype(object).tolist(), arrays)
    return {"column": values, "type": "" if type(kind).__name__ == "StringDtype" else str(kind)}


def decode(body: Any, arrays: "list[Any]") -> Any:
    """Return the value that `encode` was called with."""
    if not isinstance(body, dict):
        return body
    if "list" in body:
        return [decode(item, arrays) for item in body["list"]]
    if "tuple" in body:
        return tuple([decode(item, arrays) for item in body["tuple"]])
    if "dict" in body:
        return {decode(key, arrays): decode(item, arrays) for key, item in body["dict"]}
    if "array" in body:
        return arrays[body["array"]]
    if "times" in body:
        return decode(body["times"], arrays).astype(np.dtype(str(body["type"])))
    if "objects" in body:
        values = np.empty(len(body["objects"]), dtype=object)
        for place, item in enumerate(body["objects"]):
            values[place] = decode(item, arrays)
        return values.reshape(body["shape"])
    if "sparse" in body:
        from scipy.sparse import csr_matrix  # every version of scikit-learn accepts it

        return csr_matrix(tuple([decode(part, arrays) for part in body["sparse"]]), shape=tuple(body["shape"]))
    import pandas

    if "frame" in body:
        names = decode(body["names"], arrays)
        columns = [_decode_column(column, arrays) for column in body["frame"]]
        frame = pandas.DataFrame(dict(enumerate(columns)), index=range(body["rows"]))
        frame.columns = names
        return frame
    return pandas.NA


def _decode_column(body: Any, arrays: "list[Any]") -> Any:
    import pandas

    if "categories" in body:
        categories, codes = (decode(part, arrays) for part in body["categories"])
        return pandas.Series(pandas.Categorical.from_codes(codes, categories, ordered=body["ordered"]))
    if "column" in body:
        values = decode(body["column"], arrays)
        return pandas.Series(pandas.array(values, dtype=body["type"])) if body["type"] else pandas.Series(values)
    values = decode(body, arrays)
    return pandas.Series(values, dtype=values.dtype if values.dtype.kind != "U" else object)


# -- objects -------------------------------------------------------------------------------------------------------------

_objects: "dict[str, Any]" = {}
_prototypes: "OrderedDict[str, Any]" = OrderedDict()
_fitted: "OrderedDict[str, Any]" = OrderedDict()


def load(target: str) -> Any:
    """Return the object that ``module:object`` names."""
    if target not in _objects:
        module, _, names = target.partition(":")
        loaded = importlib.import_module(module)
        for name in names.split("."):
            loaded = getattr(loaded, name)
        _objects[target] = loaded
    return _objects[target]


def make_learner(target: str, parameters: "dict[str, Any]") -> Any:
    """Return an unfitted learner of a class, or like an object, with these parameters."""
    source = load(target)
    if isinstance(source, type):
        own = {name: value for name, value in parameters.items() if "__" not in name}
        learner = source(**own)
        parameters = {name: value for name, value in parameters.items() if "__" in name}
    else:
        learner = copy_learner(source)
    if parameters:
        learner.set_params(**parameters)
    return learner


def copy_learner(learner: Any) -> Any:
    """Return an unfitted copy of a learner."""
    if not hasattr(learner, "get_params") or "sklearn" not in sys.modules:
        return copy.deepcopy(learner)
    from sklearn.base import clone

    return clone(learner)


def _copy_prototype(target: str, parameters: "dict[str, Any]") -> Any:
    key = json.dumps([target, encode(parameters, [])], sort_keys=True)
    if key not in _prototypes:
        learner = make_learner(target, parameters)
        values = read_parameters(learner)
        # parameters that are plain values need no copies of their own
        is_own = type(learner).__module__.partition(".")[0] == "sklearn"
        _prototypes[key] = learner, is_own and all(isinstance(value, PLAIN_TYPES) for value in values.values())
        while len(_prototypes) > MAX_STORED_MODELS:
            _prototypes.popitem(last=False)
    learner, is_plain = _prototypes[key]
    return copy.copy(learner) if is_plain else copy_learner(learner)


def read_parameters(learner: Any) -> "dict[str, Any]":
    """Return the parameters of a learner; empty if it has none."""
    try:
        return dict(learner.get_params(deep=False))
    except Exception:
        return {}


# -- what an object is ---------------------------------------------------------------------------------------------------


def describe(target: str, parameters: "dict[str, Any]") -> "dict[str, Any]":
    """Return what an object is: a learner with its parameters and tags, or a function with its signature."""
    source = load(target)
    is_learner = is_kind_of_learner(source)
    facts: "dict[str, Any]" = {
        "python": "%d.%d" % sys.version_info[:2],
        "learner": is_learner,
        "callable": callable(source),
    }
    if not is_learner:
        facts.update(_describe_function(source))
        module = str(getattr(source, "__module__", None) or target.partition(":")[0])
        if not inspect.isroutine(source):
            facts["attributes"] = [name for name in dir(source) if not name.startswith("_")]
        if isinstance(source, PLAIN_TYPES):
            facts["value"] = source
    else:
        learner = make_learner(target, parameters)
        module = type(learner).__module__
        facts.update(describe_learner(learner, 0))
        facts["deep"] = _read_deep_parameters(learner)
        facts["tags"] = _read_tags(learner)
        clusters = facts["tags"]["estimator_type"] == "clusterer"
        facts["methods"] = [name for name in METHODS if hasattr(learner, name) or (clusters and name == "fit_predict")]
        facts["fit"] = _list_arguments(learner.fit)
    package = sys.modules.get(module.partition(".")[0])
    name = module.partition(".")[0]
    facts["library"] = LIBRARY_NAMES.get(name, name)
    facts["version"] = str(getattr(package, "__version__", ""))
    return facts


def is_kind_of_learner(source: Any) -> bool:
    """Return whether an object, or a class, learns; a distribution has a ``fit``, too."""
    names = METHODS + ("get_params", "labels_")
    return hasattr(source, "fit") and (isinstance(source, type) or any(hasattr(source, name) for name in names))


def describe_learner(learner: Any, depth: int) -> "dict[str, Any]":
    """Return the class and the parameters of a learner."""
    parameters = read_parameters(learner)
    values = {str(name): _describe_value(value, depth + 1) for name, value in parameters.items()}
    return {"class": type(learner).__name__, "module": type(learner).__module__, "parameters": values}


def _describe_value(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, (bool, int, float, str, np.integer, np.floating)):
        return value
    if depth < MAX_PARAMETER_DEPTH:
        if type(value) in (list, tuple) and len(value) < MAX_PARAMETER_ITEMS:
            return type(value)(_describe_value(item, depth) for item in value)
        if isinstance(value, dict):
            return {"items": [[name, _describe_value(item, depth)] for name, item in value.items()]}
        if hasattr(value, "get_params") and not isinstance(value, type):
            return {"learner": describe_learner(value, depth)}
    return {"text": repr(value)[:200]}


def _read_deep_parameters(learner: Any) -> "dict[str, Any]":
    """Return the plain parameters of the parts of a learner, such as seeds."""
    try:
        parameters = learner.get_params(deep=True)
    except Exception:
        return {}
    return {name: value for name, value in parameters.items() if "__" in name and isinstance(value, PLAIN_TYPES)}


def _read_tags(learner: Any) -> "dict[str, Any]":
    """Return what a learner says about itself, in the words of the tags of scikit-learn since 1.6."""
    tags: "dict[str, Any]" = {"estimator_type": getattr(learner, "_estimator_type", None), "non_deterministic": False}
    tags.update(input={}, target={}, classifier={})
    if "sklearn" not in sys.modules:  # which takes a second to import
        return tags
    try:
        from sklearn.utils import get_tags

        values = get_tags(learner)
    except Exception:  # it is older, or the learner does not follow its conventions
        return _read_old_tags(learner, tags)
    tags["estimator_type"] = values.estimator_type or tags["estimator_type"]
    tags["non_deterministic"] = bool(values.non_deterministic)
    for kind, part in (
        ("input", values.input_tags),
        ("target", values.target_tags),
        ("classifier", values.classifier_tags),
    ):
        tags[kind] = {
            name: bool(getattr(part, name)) for name in TAGS[kind] if part is not None and hasattr(part, name)
        }
    return tags


def _read_old_tags(learner: Any, tags: "dict[str, Any]") -> "dict[str, Any]":
    try:
        old = dict(learner._get_tags())
    except Exception:
        return tags
    types = old.get("X_types", ["2darray"])
    tags["non_deterministic"] = bool(old.get("non_deterministic", False))
    tags["input"] = {
        "allow_nan": bool(old.get("allow_nan", False)),
        "one_d_array": "1darray" in types,
        "two_d_array": "2darray" in types,
        "positive_only": bool(old.get("requires_positive_X", False)),
        "pairwise": bool(old.get("pairwise", False)),
        "sparse": "sparse" in types or _takes_sparse(learner),  # the tag came later than sparse matrices
    }
    single = not old.get("multioutput_only", False)
    tags["target"] = {"positive_only": bool(old.get("requires_positive_y", False)), "single_output": single}
    tags["classifier"] = {"multi_class": not old.get("binary_only", False)}
    return tags


def _takes_sparse(learner: Any) -> bool:
    try:
        from scipy.sparse import csr_matrix

        rows = np.array(
            [[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [3.0, 0.0], [1.0, 2.0], [2.0, 3.0], [5.0, 6.0], [6.0, 5.0]]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            copy_learner(learner).fit(csr_matrix(rows), np.array([0, 1, 0, 1, 0, 1, 0, 1])).predict(csr_matrix(rows))
    except Exception:
        return False
    return True


def _describe_function(function: Any) -> "dict[str, Any]":
    name = str(getattr(function, "__name__", type(function).__name__))
    facts: "dict[str, Any]" = {"class": name, "module": "", "signature": None}
    if callable(function):
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):  # a compiled function
            return facts
        facts["signature"] = [[p.name, int(p.kind), p.default is not p.empty] for p in parameters]
    return facts


def _list_arguments(method: Any) -> "list[str]":
    try:
        return list(inspect.signature(method).parameters)
    except (TypeError, ValueError):
        return []


# -- work ----------------------------------------------------------------------------------------------------------------


def train(request: "dict[str, Any]") -> "list[Any]":
    """Fit a copy of a learner to each training set, and return what it answers, or its error."""
    answers = []
    for item in request["trainings"]:
        try:
            answers.append(_train_once(request["target"], request["parameters"], item))
        except (Exception, SystemExit) as error:
            answers.append({"error": describe_error(error)})
    return answers


def _train_once(target: str, parameters: "dict[str, Any]", item: "dict[str, Any]") -> "dict[str, Any]":
    key = str(item.get("key", ""))
    answer: "dict[str, Any]" = {}
    if key in _fitted:
        model = _fitted[key]
    elif "x" not in item:
        return {"unknown": True}
    else:
        model = _copy_prototype(target, dict(parameters, **item.get("overrides", {})))
        if item["ask"] == ["fit_predict"]:
            return {"fit_predict": _find_clusters(model, item["x"])}
        if item["ask"] == ["fit_transform"]:
            return {"fit_transform": model.fit_transform(item["x"], *([] if item["y"] is None else [item["y"]]))}
        if "before" in item:
            with contextlib.suppress(Exception, SystemExit):  # it may refuse other labels
                model.fit(item["x"], item["before"])
        result = model.fit(*([item["x"]] if item["y"] is None else [item["x"], item["y"]]), **item["options"])
        model = model if result is None else result
    if key:
        _fitted[key] = model
        while len(_fitted) > MAX_STORED_MODELS:
            _fitted.popitem(last=False)
    for name in item["ask"]:
        if name == "scores":
            answer["scores"] = _compute_scores(model, item["t"], item.get("query", "").startswith("with "))
        else:
            answer[name] = to_array(_answer_cases(getattr(model, name), item["t"], item.get("query", "")))
    answer["classes"] = _list_classes(model)
    return answer


def _answer_cases(method: Any, t: Any, query: str) -> Any:
    """Return the answers to cases: to all at once, also for the second time, last to first, or one by one."""
    if query == "backwards":
        return method(_take_rows(t, slice(None, None, -1)))[::-1]
    if query == "alone":
        return np.concatenate([method(_take_rows(t, slice(row, row + 1))) for row in range(t.shape[0])])
    if query == "again":
        method(t.copy())  # some learners write to their input
    return method(t.copy())


def _take_rows(table: Any, rows: slice) -> Any:
    return table.iloc[rows].reset_index(drop=True) if hasattr(table, "iloc") else table[rows]


def _find_clusters(model: Any, x: Any) -> Any:
    if hasattr(model, "fit_predict"):
        return to_array(model.fit_predict(x))
    result = model.fit(x)
    model = model if result is None else result
    return to_array(model.labels_ if hasattr(model, "labels_") else model.predict(x))


def _list_classes(model: Any) -> Any:
    classes = getattr(model, "classes_", None)
    return classes if isinstance(classes, np.ndarray) else None


def _compute_scores(model: Any, t: Any, is_needed: bool) -> Any:
    score = getattr(model, "predict_proba", None) or getattr(model, "decision_function", None)
    if score is None or _list_classes(model) is None:
        return None
    try:  # labels without scores are answers as well
        return np.asarray(score(t.copy()), dtype=np.float64)
    except (Exception, SystemExit):
        if is_needed:
            raise
        return None


def to_array(answer: Any) -> Any:
    """Return the answer of a model as it can be sent."""
    if (
        isinstance(answer, (list, dict, np.generic) + PLAIN_TYPES)
        or hasattr(answer, "tocsr")
        or hasattr(answer, "columns")
    ):
        return answer
    return tuple(map(to_array, answer)) if isinstance(answer, tuple) else np.asarray(answer)


def call(request: "dict[str, Any]") -> Any:
    """Return what a function returns for arguments."""
    return to_array(load(request["target"])(*request["arguments"], **request["keywords"]))


def describe_error(error: BaseException) -> "dict[str, Any]":
    """Return the type and the message of an error, and whether it is a refusal."""
    return {"type": type(error).__name__, "message": str(error)[:10000], "refusal": is_refusal(error)}


def is_refusal(error: BaseException) -> bool:
    """Return whether an error says on purpose what a learner does not accept; all others are crashes."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if not kinds.isdisjoint(NATIVE_REFUSALS):
        return True
    if trace is None or not _is_raise_statement(trace) or FAILED_ASSERTION in str(error):
        return False
    if not kinds.isdisjoint(ARITHMETIC_ERRORS):  # raised by NumPy or SciPy they say nothing about the data
        return str(trace.tb_frame.f_globals.get("__name__")).split(".")[0] not in ("numpy", "scipy")
    return not kinds.isdisjoint(REFUSALS)


def _is_raise_statement(trace: Any) -> bool:
    """Return whether the line of a traceback is a ``raise`` statement."""
    import dis
    import linecache

    code = trace.tb_frame.f_code
    if 0 <= trace.tb_lasti < len(code.co_code) and dis.opname[code.co_code[trace.tb_lasti]] == "RAISE_VARARGS":
        return True
    return linecache.getline(code.co_filename, trace.tb_lineno).strip().startswith("raise")


# -- the loop ------------------------------------------------------------------------------------------------------------


def answer_request(request: "dict[str, Any]") -> Any:
    """Return the answer to a request."""
    if request["do"] == "describe":
        return describe(request["target"], request["parameters"])
    if request["do"] == "train":
        return train(request)
    if request["do"] == "import":
        load(request["target"])
        return None
    return call(request)


def serve() -> None:
    """Answer requests until the caller closes the pipe, or ends."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(2, 1)  # what the library prints must not come between the messages
    sys.stdout = sys.stderr
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)  # the caller decides when to end
    warnings.simplefilter("ignore")
    while True:
        try:
            request = read_message(requests)
        except EOFError:
            return
        try:
            answer = {"answer": answer_request(request)}
        except (Exception, SystemExit) as error:
            answer = {"error": describe_error(error)}
        try:
            write_message(answers, answer)
        except TypeError as error:  # the answer holds objects that cannot be sent
            write_message(answers, {"error": describe_error(error)})


if __name__ == "__main__":
    serve()
