"""Load trees from files without code: PMML, XGBoost, LightGBM and CatBoost."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .._validation import import_optional
from ..errors import ModelError

TREE_FILE_SUFFIXES = (".pmml", ".xml", ".json", ".ubj", ".txt", ".cbm")


def is_tree_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path has the suffix of a file with trees."""
    return Path(path).suffix.lower() in TREE_FILE_SUFFIXES


def load_trees(path: str | os.PathLike[str]) -> Any:
    """Load the trees of a file, or the model of a library that holds them.

    ``.pmml`` and ``.xml`` are PMML, ``.json`` and ``.ubj`` XGBoost, ``.txt`` LightGBM, ``.cbm`` CatBoost.
    """
    file = Path(path)
    kind = file.suffix.lower()
    if not file.is_file():
        raise ModelError(f"The file {str(path)!r} does not exist.")
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
    except Exception as error:  # a library may raise anything for an invalid file
        error_lines = str(error).strip().splitlines()
        raise ModelError(
            f"{file.name} is not a readable model of {library}: "
            f"{type(error).__name__}{f': {error_lines[0]}' if error_lines else ''}"
        ) from error
