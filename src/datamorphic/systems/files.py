"""Models read from files. ONNX files, most skops files and files of boosters are data; pickles are code and need trust."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any, TypeGuard

from .._files import to_local_path
from .._text import to_text
from .._validation import import_optional
from ..errors import ArgumentError, MissingExtra, ModelError, UntrustedError
from .boosters import LIBRARY_BY_SUFFIX, load_booster_model
from .missing_packages import build_missing_package_error, make_importable
from .untrusted import TRUST_HINT, list_unsafe_types, validate_parts

WEKA_PREFIX = "weka:"  # of the name of a learner of Weka with its options
PYTHON_PREFIX = "python:"  # of the name of an object in another Python
PICKLE_SUFFIXES = (".pkl", ".pickle", ".joblib")
_OBJECT = re.compile(r"\s[^\W\d][\w.]*:[^\W\d].*", re.DOTALL)  # in such a name, with its parameters
SERVICE_SUFFIX = ".toml"  # of the description of a service
SERVICE_SCHEMES = ("http://", "https://")
MODEL_SUFFIXES = (".skops", ".onnx", SERVICE_SUFFIX, *LIBRARY_BY_SUFFIX, *PICKLE_SUFFIXES)


def is_model_file(text: str) -> bool:
    """Return whether a name stands for a file rather than for ``module:object``."""
    has_separator = any(separator in text for separator in (os.sep, os.altsep) if separator)
    return os.path.exists(text) or os.path.splitext(text)[1].lower() in MODEL_SUFFIXES or has_separator


def load_model(path: str | os.PathLike[str], *, trust: bool = False) -> Any:
    """Return the model in a file, what a name with ``weka:`` or ``python:`` stands for, or the service at a URL.

    The model is an estimator, or an executor for formats that have no Python object.
    """
    if is_weka_name(path) or is_python_name(path) or is_service_url(path):
        return _load_named(path)
    file = to_local_path(path, "model file")
    kind = file.suffix.lower()
    if kind not in MODEL_SUFFIXES:
        raise ModelError(
            f"{str(path)!r} is not a known kind of model file. Use .skops or .onnx, the own files of XGBoost (.json, .ubj), "
            "LightGBM (.txt) and CatBoost (.cbm), .toml for a service, or .joblib and .pkl with trust=True."
        )
    if not file.exists():
        raise ModelError(f"There is no file {str(path)!r}.")
    if not file.is_file():
        raise ModelError(f"{str(path)!r} is not a file.")
    if kind in PICKLE_SUFFIXES and not trust:
        raise UntrustedError(
            f"{file.name} is a pickle, and loading it runs any code that its author put into it. {TRUST_HINT} "
            "ONNX files, most skops files and the own files of XGBoost, LightGBM and CatBoost need no trust."
        )
    try:
        if not trust and (kind == ".onnx" or kind in LIBRARY_BY_SUFFIX):
            from .file_trial import try_file

            try_file(file)
        if kind == ".skops":
            return _load_skops(file, trust)
        if kind == ".onnx":
            from .onnx import OnnxModel

            return OnnxModel(file)
        if kind == SERVICE_SUFFIX:
            from .http import load_service

            return load_service(file)
        if kind in LIBRARY_BY_SUFFIX:
            return load_booster_model(file)
        return _load_pickle(file)
    except (ModelError, MissingExtra):
        raise
    except ImportError as error:
        raise build_missing_package_error(error, f"{file.name} needs") from error
    except Exception as error:
        # a damaged file may make a reader raise anything, and the message must name the file
        raise ModelError(f"{file.name} cannot be read as a model: {type(error).__name__}: {to_text(error)}") from error


def _load_named(name: str) -> Any:
    if is_weka_name(name):
        from .weka import make_weka_learner

        return make_weka_learner(name).check()
    if is_python_name(name):
        from .other_python import load_from_other_python

        return load_from_other_python(name)
    from .http import HttpService

    return HttpService(name)


def is_weka_name(model: object) -> TypeGuard[str]:
    """Return whether a model is given as ``weka:`` with a name and options."""
    return isinstance(model, str) and model.startswith(WEKA_PREFIX)


def is_python_name(model: object) -> TypeGuard[str]:
    """Return whether a model is given as ``python:`` with an interpreter and an object, whose code is run."""
    return isinstance(model, str) and model.startswith(PYTHON_PREFIX)


def complete_name(other: Any, model: object) -> Any:
    """Return a name with ``python:`` with the object that another name has, if it has none itself."""
    if not is_python_name(other) or _OBJECT.search(other):
        return other
    match = _OBJECT.search(f" {model.removeprefix(PYTHON_PREFIX)}") if isinstance(model, str) else None
    if match is None:
        raise ArgumentError(f"{other!r} names no object. Write '{other} module:object'.")
    return f"{other.rstrip()} {match[0].strip()}"


def is_service_url(model: object) -> TypeGuard[str]:
    """Return whether a model is given as the URL of a service."""
    return isinstance(model, str) and model.lower().startswith(SERVICE_SCHEMES)


def name_model(path: str | os.PathLike[str]) -> str | None:
    """Return the name of a model given as a text: of a file without its folder; None for what has a name of its own."""
    if is_service_url(path) or is_python_name(path) or os.path.splitext(path)[1].lower() == SERVICE_SUFFIX:
        return None
    return path if is_weka_name(path) else os.path.basename(os.fspath(path))


def _load_pickle(file: Path) -> Any:
    """Return the object in a trusted pickle; modules that it needs may be beside it or in the current folder."""
    import joblib

    while True:
        try:
            return joblib.load(file)
        except ModuleNotFoundError as error:
            if not make_importable(error.name, (file.parent, Path())):
                raise


def _load_skops(file: Path, trust: bool) -> Any:
    io = import_optional("skops.io", "skops", "Reading a .skops model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        unknown_types = io.get_untrusted_types(file=file)
        unsafe_types = [] if trust else list_unsafe_types(file, unknown_types)
        if unsafe_types:
            names = ", ".join(unsafe_types[:5]) + (", ..." if len(unsafe_types) > 5 else "")
            raise UntrustedError(
                f"{file.name} holds objects of types that are not known to be safe: {names}. {TRUST_HINT}"
            )
        model = io.load(file, trusted=unknown_types)
    if not trust:
        validate_parts(model, file.name)
    return model
