"""Models of XGBoost, LightGBM and CatBoost in their own files, which hold numbers and no code."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._validation import import_optional
from ..errors import ModelError
from .watchdog import make_temporary_folder

LIBRARY_BY_SUFFIX = {".json": "xgboost", ".ubj": "xgboost", ".txt": "lightgbm", ".cbm": "catboost"}
CATBOOST_CLASS_LOSSES = ("Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll")


def load_booster(file: Path) -> Any:
    """Return the model of the library itself in a file: a ``Booster``, or a ``CatBoost``."""
    library = LIBRARY_BY_SUFFIX[file.suffix.lower()]
    module = import_booster_library(file)
    try:
        if library == "lightgbm":
            return module.Booster(model_file=str(file))
        model = module.Booster() if library == "xgboost" else module.CatBoost()
        model.load_model(str(file))
        return model
    except Exception as error:  # a library may raise anything for an invalid file
        raise _build_unreadable_error(file, library, error) from error


def load_booster_model(file: Path) -> Any:
    """Return the model in a file as a classifier or a regressor with the conventions of scikit-learn."""
    library = LIBRARY_BY_SUFFIX[file.suffix.lower()]
    booster = load_booster(file)
    module = import_booster_library(file)
    try:
        if library == "xgboost":
            return _build_xgboost_model(module, booster, file)
        if library == "lightgbm":
            return LightGBMBooster(booster)
        return _build_catboost_model(module, booster, file)
    except Exception as error:
        raise _build_unreadable_error(file, library, error) from error


def import_booster_library(file: Path) -> ModuleType:
    """Return the library that reads a file, or raise `MissingExtra`."""
    kind = file.suffix.lower()
    return import_optional(LIBRARY_BY_SUFFIX[kind], "boost", f"Reading a {kind} model")


def _build_unreadable_error(file: Path, library: str, error: Exception) -> ModelError:
    lines = str(error).strip().splitlines()
    return ModelError(
        f"{file.name} is not a readable model of {library}: {type(error).__name__}{f': {lines[0]}' if lines else ''}"
    )


def _build_xgboost_model(module: ModuleType, booster: Any, file: Path) -> Any:
    objective = str(json.loads(booster.save_config())["learner"]["objective"]["name"])
    classifies = objective.startswith(("binary:", "multi:"))
    model = module.XGBClassifier() if classifies else module.XGBRegressor()
    model.load_model(str(file))
    return XGBoostCategoryModel(model) if "c" in (model.get_booster().feature_types or ()) else model


def _build_catboost_model(module: ModuleType, booster: Any, file: Path) -> Any:
    loss = str(booster.get_all_params().get("loss_function", "")).partition(":")[0]
    model = module.CatBoostClassifier() if loss in CATBOOST_CLASS_LOSSES else module.CatBoostRegressor()
    model.load_model(str(file))
    return model


def dump_catboost(model: Any, **pool: Any) -> dict[str, Any]:
    """Return the JSON document of a model of CatBoost."""
    with make_temporary_folder() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json", **pool)
        return json.loads(path.read_text(encoding="utf-8"))


def find_catboost_columns(model: object) -> list[str] | None:
    """Return the columns of a model of CatBoost, which knows them by another name than scikit-learn's; None without names."""
    if type(model).__module__.partition(".")[0] != "catboost":
        return None
    names = [str(name) for name in getattr(model, "feature_names_", None) or ()]
    return None if names == [str(place) for place in range(len(names))] else names


def read_xgboost_categories(learner: dict[str, Any], version: list[int], owner: str) -> dict[int, tuple[Any, ...]]:
    """Return the categories of categorical columns; none for columns that hold codes."""
    booster = learner["gradient_booster"]
    model = booster.get("gbtree", booster)["model"]
    has_categories = any(any(tree.get("categories_nodes", ())) for tree in model["trees"])
    if has_categories and learner.get("feature_names") and tuple(version) < (3, 1):
        raise ModelError(
            f"This {owner} compares categories and was saved by XGBoost {'.'.join(map(str, version))}, which did not "
            "keep their names. Fit it with XGBoost 3.1 or later, or encode the column as numbers before."
        )
    categories: dict[int, tuple[Any, ...]] = {}
    for column, encoding in enumerate(model.get("cats", {}).get("enc", ())):
        if "offsets" not in encoding:
            categories[column] = tuple(encoding["values"])
        elif encoding["offsets"]:
            text, ends = bytes(byte % 256 for byte in encoding["values"]), encoding["offsets"]
            if not text.isascii() and tuple(version) < (3, 3):
                raise ModelError(
                    f"This {owner} has categories with non-ASCII letters, which XGBoost up to 3.2 splits wrongly and "
                    "confuses. Encode the column as numbers before, or write the categories in ASCII."
                )
            categories[column] = tuple(text[a:b].decode(errors="replace") for a, b in pairwise(ends))
    return categories


class XGBoostCategoryModel:
    """A model of XGBoost with categories that takes them as text or numbers, as a CSV file has them.

    The names of categories are those in the file of the model. A value that is not among them is missing to the model.
    """

    library = "xgboost"  # whose trees it holds

    def __init__(self, model: Any) -> None:
        self.model = model
        document = json.loads(bytes(model.get_booster().save_raw("json")))
        self.problem = ""  # why the names of categories are not known
        try:
            self.categories = read_xgboost_categories(document["learner"], document["version"], type(model).__name__)
        except ModelError as error:
            self.categories, self.problem = {}, str(error)
        if hasattr(model, "predict_proba"):
            self.predict_proba = self._compute_probabilities

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "model":  # while it is unpickled
            raise AttributeError(name)
        return getattr(self.model, name)

    def predict(self, rows: pd.DataFrame | npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return labels, or numbers for a regressor."""
        return np.asarray(self.model.predict(self._prepare(rows)))

    def _compute_probabilities(self, rows: pd.DataFrame | npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        return np.asarray(self.model.predict_proba(self._prepare(rows)))

    def _prepare(self, rows: pd.DataFrame | npt.NDArray[Any]) -> Any:
        """Return a frame with the categories of the model."""
        if not isinstance(rows, pd.DataFrame):
            return rows
        booster = self.model.get_booster()
        names = booster.feature_names
        columns = {}
        for place, (name, kind) in enumerate(zip(names, booster.feature_types, strict=True)):
            if kind != "c" or name not in rows or isinstance(rows[name].dtype, pd.CategoricalDtype):
                continue
            values, known = rows[name], self.categories.get(place)
            if known:
                if isinstance(known[0], str) and pd.api.types.is_numeric_dtype(values):
                    values = values.astype("Int64" if (values.dropna() % 1 == 0).all() else object).astype("string")
                columns[name] = pd.Categorical.from_codes(pd.Index(known).get_indexer(values), list(known))
            elif not pd.api.types.is_numeric_dtype(values):
                raise ModelError(
                    f"The model takes codes of categories in {name!r}, which holds text, and its file does not name the "
                    f"categories. {self.problem} Or pass that column as categories, in the order of the training data: in a "
                    "pandas frame or a Parquet file."
                )
        return rows.assign(**columns) if columns else rows


class LightGBMBooster:
    """A ``Booster`` of LightGBM with the conventions of scikit-learn.

    The file has neither the names of classes, which are numbered, nor the spaces in names of columns, which are
    underscores.
    """

    library = "lightgbm"  # whose trees it holds
    names_without_spaces = True

    def __init__(self, booster: Any) -> None:
        self.booster_ = booster
        self.n_features_in_ = int(booster.num_feature())
        names = [str(name) for name in booster.feature_name()]
        if names != [f"Column_{place}" for place in range(len(names))]:  # the names of columns of an array
            self.feature_names_in_ = np.array(names, dtype=object)
        objective = _read_objective(booster)
        class_count = max(2, int(booster.num_model_per_iteration()))
        if objective in ("binary", "multiclass", "multiclassova", "cross_entropy"):
            self.classes_ = np.arange(class_count)
            self.predict_proba = self._compute_probabilities
        self.answers_numbers = not hasattr(self, "classes_")

    def predict(self, rows: pd.DataFrame | npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return labels, or numbers for a regressor."""
        if self.answers_numbers:
            return np.asarray(self.booster_.predict(self._prepare(rows)))
        return np.asarray(self.classes_[self._compute_probabilities(rows).argmax(axis=1)])

    def _compute_probabilities(self, rows: pd.DataFrame | npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        scores = np.asarray(self.booster_.predict(self._prepare(rows)), dtype=np.float64)
        return scores if scores.ndim == 2 else np.column_stack([1 - scores, scores])

    def _prepare(self, rows: pd.DataFrame | npt.NDArray[Any]) -> Any:
        """Return a frame with its columns in order, and with text as categories, which is how LightGBM knows it."""
        if not isinstance(rows, pd.DataFrame):
            return rows
        if hasattr(self, "feature_names_in_"):
            name_by_written = {str(name).replace(" ", "_"): name for name in rows.columns}
            rows = rows[[name_by_written.get(name, name) for name in self.feature_names_in_]]
        texts = list(rows.select_dtypes(include=["object", "string"]).columns)
        return rows.astype(dict.fromkeys(texts, "category")) if texts else rows


def _read_objective(booster: Any) -> str:
    for line in booster.model_to_string(num_iteration=1).splitlines():
        if line.startswith("objective="):
            return str(line.removeprefix("objective=").split(" ")[0])
    return ""
