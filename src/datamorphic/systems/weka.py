"""Weka's classifiers as learners with the interface of scikit-learn."""

from __future__ import annotations

import os
import re
import threading
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import format_short, pluralise, suggest_name
from .._validation import reject
from ..errors import ArgumentError, BadAnswer, DataError, DatamorphicError, ModelError
from .weka_attributes import TableLike, WekaColumns, build_class_array, encode_labels, find_declared_labels, to_labels
from .weka_jvm import Attribute, Floats, WekaBridge, find_java, get_bridge

Array = npt.NDArray[Any]
Jar = str | os.PathLike[str]

JAR_VARIABLE = "DATAMORPHIC_WEKA_JAR"
DEBIAN_JAR = "/usr/share/java/weka.jar"
CLASSIFIERS_PACKAGE = "weka.classifiers."

__all__ = ["Weka", "explain_missing_weka", "find_jar", "make_weka_learner"]

# -- the jar ---------------------------------------------------------------------------------------------------


def find_jar(jar: Jar | None = None) -> str:
    """Return the path of Weka's jar.

    It is the path given, that in ``$DATAMORPHIC_WEKA_JAR``, that of Debian's package, or that in python-weka-wrapper3.
    """
    if jar is not None and not isinstance(jar, str | os.PathLike):
        reject("jar", "Weka", "the path of weka.jar, or None", jar)
    return _find_jar_path(os.fspath(jar) if jar is not None else os.environ.get(JAR_VARIABLE, ""))


@lru_cache(maxsize=16)
def _find_jar_path(location: str) -> str:
    for path in [location] if location else [DEBIAN_JAR, _find_wrapper_jar()]:
        if os.path.isfile(path):
            return os.path.realpath(path)
    raise ModelError(
        f"There is no file {location!r}, which should be weka.jar. Check the parameter jar, or ${JAR_VARIABLE}."
        if location
        else "Weka is not found. Install it (Debian, Ubuntu: apt install weka), or python-weka-wrapper3, which includes it "
        f"(pip install python-weka-wrapper3), or set its path: {JAR_VARIABLE}=/path/to/weka.jar."
    )


def _find_wrapper_jar() -> str:
    try:
        return str(distribution("python-weka-wrapper3").locate_file("weka/lib/weka.jar"))
    except PackageNotFoundError:
        return ""


@lru_cache(maxsize=16)
def list_class_names(jar: str) -> tuple[str, ...]:
    """Return the names of the classes in a jar below weka.classifiers."""
    try:
        with zipfile.ZipFile(jar) as archive:
            entries = archive.namelist()
    except (zipfile.BadZipFile, OSError) as error:
        raise ModelError(f"{jar!r} cannot be read as a jar: {error}. It should be Weka's weka.jar.") from None
    folder = CLASSIFIERS_PACKAGE.replace(".", "/")
    names = sorted(
        entry.removesuffix(".class").replace("/", ".")
        for entry in entries
        if entry.startswith(folder) and entry.endswith(".class") and "$" not in entry
    )
    if f"{CLASSIFIERS_PACKAGE}Classifier" not in names:
        raise ModelError(f"{jar!r} is a jar without Weka's classifiers. It should be Weka's weka.jar.")
    return tuple(names)


@lru_cache(maxsize=256)
def resolve_class_name(name: str, jar: str) -> str:
    """Return the full name of a class below weka.classifiers, from its last parts."""
    names = list_class_names(jar)
    # components of classifiers, some with the same names, are in deeper packages
    top_level_names = [candidate for candidate in names if candidate.count(".") == 3]
    matches = [name] if name in names else [candidate for candidate in names if candidate.endswith(f".{name}")]
    matches = [candidate for candidate in matches if candidate in top_level_names] or matches
    if len(matches) == 1:
        return matches[0]
    if matches:
        classes = ", ".join(matches)
        raise ModelError(f"{name!r} is ambiguous. Weka has these classes: {classes}. Write more of its name.")
    short_name, short_names = name.rpartition(".")[2], [candidate.rpartition(".")[2] for candidate in top_level_names]
    similar_names = [candidate for candidate in short_names if candidate.lower() == short_name.lower()]
    hint = f"Did you mean {similar_names[0]!r}?" if similar_names else suggest_name(short_name, short_names)
    raise ModelError(f"Weka has no classifier {name!r}. {hint}")


def explain_missing_weka(jar: Jar | None = None) -> str:
    """Return why Weka cannot run here and what to do, or an empty text if it can, without starting Java."""
    try:
        list_class_names(find_jar(jar))
        find_java()
    except DatamorphicError as error:
        return str(error)
    return ""


# -- the learner -----------------------------------------------------------------------------------------------


class Weka:
    """A classifier of Weka, by its name and options as on Weka's command line.

    Numbers are numeric attributes. Text columns are nominal attributes with the values that occur in training. Categories
    and truth values are nominal attributes with all their possible values. Weka treats any other value as missing, like NaN.
    The class is nominal with its labels declared in order, or numeric if `y` has fractional numbers.

    A fitted model behaves as in Weka. For example, IBk extends its ranges with every case it is queried with, so that answers
    may depend on earlier queries.

    Parameters
    ----------
    options : str
        The class, at least the last part of its name, and its options. Some options of Weka name files that it then reads.
    jar : path, optional
        The path of weka.jar. By default that in ``$DATAMORPHIC_WEKA_JAR``, of Debian's package, or in
        python-weka-wrapper3. A process can use only one jar.

    Examples
    --------
    >>> learner = Weka("IBk -K 3")
    >>> learner, learner.like
    (Weka('IBk -K 3'), KNeighborsClassifier(n_neighbors=3))
    """

    _estimator_type = "classifier"  # for scikit-learn before 1.6

    def __init__(self, options: str, *, jar: Jar | None = None) -> None:
        self.options, self.jar = options, jar
        self._fitted_model: _FittedClassifier | None = None

    def fit(self, X: TableLike, y: Iterable[Any], classes: Sequence[Any] | None = None) -> Weka:
        """Build the classifier.

        Parameters
        ----------
        X : DataFrame or array of shape (rows, attributes)
            The training rows.
        y : sequence
            Their labels; None and NaN are missing. Fractional numbers make it a regressor.
        classes : sequence, optional
            The declared labels in order; some may occur in no row. By default those that occur, sorted.
        """
        self._fitted_model = None
        weka, model = self._make_classifier()
        targets, columns = to_labels(y), WekaColumns.from_table(X)
        labels, rows = find_declared_labels(targets, classes), columns.encode_rows(X)
        if len(targets) != len(rows):
            raise DataError(f"{pluralise(len(rows), 'training row')} need a label each. Got {len(targets)}.")
        rows[:, -1] = targets if labels is None else encode_labels(targets, labels)
        attributes = columns.to_attributes(labels)
        weka.fit(model, weka.make_header(attributes), rows)
        class_array = None if labels is None else build_class_array(labels, targets)
        self._fitted_model = _FittedClassifier(weka.jar, columns, attributes, class_array, model)
        return self

    def predict(self, X: TableLike) -> Array:
        """Return the labels from Weka's ``classifyInstance``; None for missing ones."""
        fitted_model = self._require_fitted()
        codes, labels = fitted_model.query(WekaBridge.classify, X, self.jar), fitted_model.labels
        if labels is None:
            return codes
        if len(codes) and codes.min() >= 0 and codes.max() < len(labels):
            return labels[codes.astype(np.intp)]
        missing = np.isnan(codes)
        if ((codes < 0) | (codes >= len(labels))).any():
            raise BadAnswer(f"Weka answered with label number {format_short(codes[~missing].max())} of {len(labels)}")
        answers = np.full(len(codes), None, dtype=object)
        answers[~missing] = labels[codes[~missing].astype(np.intp)]
        return answers if missing.any() else answers.astype(labels.dtype)

    def predict_proba(self, X: TableLike) -> Floats:
        """Return Weka's ``distributionForInstance``, one column per declared label."""
        fitted_model = self._require_fitted()
        if fitted_model.labels is None:
            raise ModelError(f"{self!r} was fitted on numbers, so it has no labels with probabilities.")
        return fitted_model.query(WekaBridge.distribute, X, self.jar)

    @property
    def classes_(self) -> Array:
        """The labels in the order they were declared."""
        if self._fitted_model is None or self._fitted_model.labels is None:
            raise AttributeError("Only a learner that was fitted on labels has classes_.")
        return self._fitted_model.labels

    @property
    def n_features_in_(self) -> int:
        """The number of attributes it was fitted on."""
        if self._fitted_model is None:
            raise AttributeError("Only a fitted learner has n_features_in_.")
        return len(self._fitted_model.columns.names)

    @property
    def feature_names_in_(self) -> Array:
        """The columns of the frame it was fitted on."""
        if self._fitted_model is None or not self._fitted_model.columns.framed:
            raise AttributeError("Only a learner that was fitted on a frame has feature_names_in_.")
        return np.array(self._fitted_model.columns.names, dtype=object)

    def check(self) -> Weka:
        """Create the classifier once and return the learner; raise if that is impossible."""
        self._make_classifier()
        return self

    @property
    def unlike(self) -> dict[str, str]:
        """Relations that hold for the estimator `like` but need not hold here, each with the reason."""
        if "IBk" not in str(self.options):
            return {}
        reason = "attributes are scaled to their ranges, which may depend on the removed rows"
        shares = "every declared label gets a share of the probability"
        return {**dict.fromkeys(("MR-5.1", "MR-5.2"), reason), "MR-3.2 odds": shares}

    @property
    def like(self) -> Any:
        """The estimator of scikit-learn with the same algorithm; None if there is none."""
        text = str(self.options)
        if match := re.fullmatch(r"\s*(?:weka\.classifiers\.)?(?:lazy\.)?IBk(?:\s+-K\s+([1-9]\d*))?\s*", text):
            from sklearn.neighbors import KNeighborsClassifier

            return KNeighborsClassifier(int(match[1] or 1))
        if re.fullmatch(r"\s*(?:weka\.classifiers\.)?(?:bayes\.)?NaiveBayes\s*", text):
            from sklearn.naive_bayes import GaussianNB

            return GaussianNB()
        return None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as scikit-learn expects it."""
        return {"options": self.options, "jar": self.jar}

    def set_params(self, **parameters: object) -> Weka:
        """Set parameters by name."""
        for name, value in parameters.items():
            if name not in self.get_params():
                raise ArgumentError(f"Weka has no parameter {name!r}. {suggest_name(name, self.get_params())}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        inputs, target = InputTags(allow_nan=True, categorical=True, string=True), TargetTags(required=True)
        return Tags("classifier", target, classifier_tags=ClassifierTags(), input_tags=inputs)

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted_model is not None

    def __repr__(self) -> str:
        return f"Weka({self.options!r}{f', jar={os.fspath(self.jar)!r}' if self.jar is not None else ''})"

    def _make_classifier(self) -> tuple[WekaBridge, Any]:
        if not isinstance(self.options, str) or not self.options.strip():
            reject("options", "Weka", "the name of a classifier with its options, as in 'IBk -K 3'", self.options)
        name, *option_parts = self.options.split(maxsplit=1)
        jar = find_jar(self.jar)
        full_name = resolve_class_name(name, jar)
        weka = get_bridge(jar)
        return weka, weka.make_classifier(full_name, "".join(option_parts))

    def _require_fitted(self) -> _FittedClassifier:
        if self._fitted_model is None:
            raise ModelError(f"{self!r} is not fitted. Fit it first: model.fit(X, y).")
        return self._fitted_model


def make_weka_learner(text: str) -> Weka:
    """Return the learner that ``weka:`` with a name and options stands for.

    Examples
    --------
    >>> make_weka_learner("weka:trees.J48 -C 0.25")
    Weka('trees.J48 -C 0.25')
    """
    if not isinstance(text, str) or not text.startswith("weka:"):
        reject("text", "make_weka_learner", "a text like 'weka:IBk -K 3'", text)
    return Weka(text.removeprefix("weka:").strip())


@dataclass
class _FittedClassifier:
    """A classifier in Java and how its rows and labels are encoded."""

    jar: str
    columns: WekaColumns
    attributes: tuple[Attribute, ...]
    labels: Array | None
    model: Any  # after unpickling, bytes until it is used
    lock: Any = field(default_factory=threading.Lock)

    def query(
        self, bridge_method: Callable[[WekaBridge, Any, Any, Floats], Floats], table: TableLike, jar: Jar | None
    ) -> Floats:
        """Return what a method of the bridge answers for the rows of a table."""
        rows = self.columns.encode_rows(table)
        with self.lock:  # some classifiers change when they are queried
            if isinstance(self.model, bytes):
                self.jar = find_jar(jar)  # its path may differ on another machine
                self.model = get_bridge(self.jar).load(self.model)
            weka = get_bridge(self.jar)
            return bridge_method(weka, self.model, weka.make_header(self.attributes), rows)

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            model_bytes = self.model if isinstance(self.model, bytes) else get_bridge(self.jar).dump(self.model)
        return self.__dict__ | {"model": model_bytes, "lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state | {"lock": threading.Lock()}
