"""Trees from files that hold data and no program: PMML, and the own formats of XGBoost, LightGBM and CatBoost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .._validation import import_optional
from ..errors import ModelError

TREE_FILE_SUFFIXES = (".pmml", ".xml", ".json", ".ubj", ".txt", ".cbm")


def is_tree_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path has the ending of a file with trees."""
    return Path(path).suffix.lower() in TREE_FILE_SUFFIXES


def load_trees(path: str | os.PathLike[str]) -> Any:
    """Return the trees in a file, or the model of a library that has them.

    Parameters
    ----------
    path : path
        ``.pmml`` or ``.xml``; ``.json`` or ``.ubj`` as XGBoost writes it, ``.txt`` as LightGBM does, ``.cbm`` as CatBoost.
    """
    file = Path(path)
    kind = file.suffix.lower()
    if not file.is_file():
        raise ModelError(f"There is no file {str(path)!r}.")
    if kind in (".pmml", ".xml"):
        from .pmml.files import read_pmml

        return read_pmml(file)
    library = {".json": "xgboost", ".ubj": "xgboost", ".txt": "lightgbm", ".cbm": "catboost"}[kind]
    module = import_optional(library, "boost", f"Reading a {kind} model")
    try:
        if library == "lightgbm":
            return module.Booster(model_file=str(file))
        model = module.Booster() if library == "xgboost" else module.CatBoost()
        model.load_model(str(file))
        return model
    except Exception as error:  # whatever a library makes of a file that is not its own
        error_lines = str(error).strip().splitlines()
        raise ModelError(
            f"{file.name} cannot be read as a model of {library}: {type(error).__name__}{f': {error_lines[0]}' if error_lines else ''}"
        ) from error
