"""`read_space`: a space that is described in a TOML, YAML or JSON file. Nothing in the file is evaluated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from .._lazy import pd
from .._text import redact, suggest_name
from .._typing import DataLike, FilePath
from .._validation import check_types, is_number
from ..errors import DataError, SpaceError
from .blocks import BLOCK_CLASSES, Block, block_from_dict, is_array_column
from .constraints import AllowedCombinations, Dependency, OneHot
from .document_files import read_document
from .encoding import to_numbers
from .features import Categorical, Continuous, Feature, Integer
from .frames import name_texts
from .inference import infer_features, validate_frame
from .space import Space
from .table_forms import accept_tables
from .text_feature import Text

MAX_QUOTED_CHARACTERS = 80
#: the keys of each kind of feature
FEATURE_KEYS = {
    "continuous": ("low", "high", "step", "nullable"),
    "integer": ("low", "high", "step", "nullable", "rounds"),
    "categorical": ("values", "nullable"),
    "text": ("examples", "synonyms", "nullable"),
    "image": ("shape", "low", "high", "step", "dtype", "channels_first"),
    "sequence": ("length", "low", "high", "step", "dtype"),
    "audio": ("length", "rate", "low", "high", "step", "dtype"),
}
#: the keys that a feature needs if there are no data
REQUIRED_KEYS = {
    "categorical": ("values",),
    "image": ("shape",),
    "sequence": ("length", "low", "high"),
    "audio": ("length", "rate"),
}
ALL_FEATURE_KEYS = ("kind", *dict.fromkeys(key for keys in FEATURE_KEYS.values() for key in keys))
CHOICES = {"moves": ("clip", "open"), "invalid": ("avoid", "allow")}
TABLE_CONSTRAINTS = {"combinations": AllowedCombinations, "dependency": Dependency}
EXPECTED_CONSTRAINT = (
    'a text such as "free <= total", or a table: {one_hot = ["a", "b"]}, {combinations = {city = [...], land = [...]}} '
    "or {dependency = {city = [...], land = [...]}}"
)


@accept_tables
@check_types
def read_space(path: FilePath, data: DataLike | None = None, *, target: str | None = None) -> Space:
    """Read a space from a TOML, YAML or JSON file.

    Parameters
    ----------
    path : path
        The file. ``[features.age]`` describes a feature by ``kind`` ("continuous", "integer", "categorical", "text",
        "image", "sequence" or "audio") and the keys of that kind: ``low``, ``high``, ``step``, ``values`` (categories in their order),
        ``nullable`` and others, as on the page about spaces; ``constraints``, ``moves`` and ``invalid`` are
        those of `Space`. Nothing in the file is evaluated.
    data : DataFrame, optional
        Real inputs. What the file does not say about a column is inferred from them, as by `Space.from_frame`. Without data,
        the file must describe every feature.
    target : str, optional
        The column of `data` that holds the label, which is not a feature.

    Returns
    -------
    Space
        The space that the file describes.

    Examples
    --------
    >>> import tempfile, pathlib, datamorphic as dm
    >>> file = pathlib.Path(tempfile.mkdtemp(), "wine.toml")
    >>> _ = file.write_text('''
    ... constraints = ["free <= total"]
    ... [features]
    ... free = {kind = "continuous", low = 0, high = 70}
    ... total = {kind = "continuous", low = 0, high = 300, step = 5}
    ... ''')
    >>> print(dm.read_space(file).describe())
    free   real number in [0, 70], step 3.5
    total  real number in [0, 300], step 5
    always: free <= total
    """
    description = read_description(path)
    return description.build() if data is None else description.infer(data, target)


@dataclass(frozen=True, kw_only=True)
class SpaceDescription:
    """What a file says about a space."""

    file: str  # for messages
    features: Mapping[str, Mapping[str, Any]]  # what is said about each feature, by its name
    constraints: tuple[object, ...] = ()
    moves: str = "clip"
    invalid: str = "avoid"

    def build(self) -> Space:
        """Return the space, if the file says all about it."""
        if not self.features:
            raise SpaceError(f"{self.file} describes no features, and there are no data to infer them from. Add some.")
        for name, entry in self.features.items():
            if "kind" not in entry:
                self.fail(f"features.{name}.kind", f"one of {', '.join(FEATURE_KEYS)}, since there are no data")
        return self._make([self._build_feature(name, entry) for name, entry in self.features.items()])

    def infer(self, frame: pd.DataFrame, target: str | None = None) -> Space:
        """Return the space of a frame; what the file does not say is inferred from the rows."""
        frame = validate_frame(name_texts(frame))
        if target is not None and target not in frame.columns:
            raise DataError(f"The target column {target!r} is not in the data. {suggest_name(target, frame.columns)}")
        rows = frame if target is None else frame.drop(columns=[target])
        for name in self.features:
            if name == target:
                raise SpaceError(f"{self.file}: features.{name} is the target and not a feature. Leave it out.")
            if name not in rows.columns:
                raise SpaceError(
                    f"{self.file}: features.{name}: the data have no such column. {suggest_name(name, rows.columns)}"
                )
        blocks = {
            name: self._build_feature(name, entry)
            for name, entry in self.features.items()
            if entry.get("kind") in BLOCK_CLASSES
        }
        inferred = {feature.name: feature for feature in self._infer_features(rows.drop(columns=list(blocks)))}
        features = [
            blocks[name] if name in blocks else self._complete(inferred[name], self.features.get(name, {}))
            for name in rows.columns
        ]
        dtypes = {name: rows[name].dtype for name in rows.columns if not is_array_column(rows[name])}
        return self._make(features, {name: dtype for name, dtype in dtypes.items() if name not in blocks})

    def fail(self, key: str, expected: str, value: object = None) -> NoReturn:
        """Raise `SpaceError` for a key of the file: what was expected and what was given."""
        text = redact(repr(value))
        if len(text) > MAX_QUOTED_CHARACTERS:
            text = f"{text[: MAX_QUOTED_CHARACTERS - 3]}..."
        problem = "It is missing" if value is None else f"Got {text}"
        raise SpaceError(f"{self.file}: {key} must be {expected}. {problem}.")

    def _make(self, features: list[Feature | Block], dtypes: Mapping[str, Any] | None = None) -> Space:
        try:
            return Space(features, moves=self.moves, constraints=self.constraints, invalid=self.invalid, dtypes=dtypes)
        except (SpaceError, DataError) as error:
            raise type(error)(f"{self.file}: {error}") from None

    def _build_feature(self, name: str, entry: Mapping[str, Any]) -> Feature | Block:
        """Return a feature of which the file says all."""
        options = {key: value for key, value in entry.items() if key != "kind"}
        kind = entry["kind"]
        for key in REQUIRED_KEYS.get(kind, ()):
            if key not in entry:
                self.fail(f"features.{name}.{key}", "given")
        try:
            if kind in BLOCK_CLASSES:
                return block_from_dict({"name": name, **entry})
            feature_class: Any = {"continuous": Continuous, "integer": Integer, "categorical": Categorical}.get(
                kind, Text
            )
            feature: Feature = feature_class(name, **options)
        except (SpaceError, TypeError, ValueError) as error:  # the last two from NumPy, for dtypes and shapes
            raise SpaceError(f"{self.file}: {error}") from None
        return feature

    def _infer_features(self, rows: pd.DataFrame) -> list[Feature | Block]:
        hints: dict[str, dict[str, Any]] = {hint: {} for hint in ("kinds", "steps", "bounds", "orders")}
        for name, entry in self.features.items():
            if name not in rows.columns:
                continue  # a block
            for key, hint in (("kind", "kinds"), ("step", "steps"), ("values", "orders")):
                if key in entry:
                    hints[hint][name] = entry[key]
            if "low" in entry or "high" in entry:
                hints["bounds"][name] = _complete_bounds(rows[name], entry)
        try:
            if not len(rows.columns):
                return []
            return infer_features(rows, hints["kinds"], hints["steps"], hints["bounds"], hints["orders"])
        except (SpaceError, DataError) as error:
            raise type(error)(f"{self.file}: {error}") from None

    def _complete(self, feature: Feature | Block, entry: Mapping[str, Any]) -> Feature | Block:
        """Return an inferred feature with what the file says about it beyond the hints."""
        if isinstance(feature, Block):
            return feature
        if wrong := [key for key in entry if key not in ("kind", *FEATURE_KEYS[feature.kind])]:
            raise SpaceError(
                f"{self.file}: features.{feature.name}.{wrong[0]} is not for {feature.kind} features, which this column is. "
                "Declare its kind, or leave the key out."
            )
        others = {key: entry[key] for key in ("nullable", "rounds", "examples", "synonyms") if key in entry}
        if not others:
            return feature
        changed: Feature = replace(feature, **others)  # type: ignore[type-var]
        return changed.with_step_given(feature.step_given) if feature.numeric else changed


def _complete_bounds(column: pd.Series[Any], entry: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Return the bounds of a feature: the end that the file does not name is that of the values; infinite ends are open."""
    numbers, _ = to_numbers(column)
    numbers = numbers[np.isfinite(numbers)]
    ends = {}
    for side, choose, to_whole in (("low", np.min, np.floor), ("high", np.max, np.ceil)):
        value = entry.get(side)
        if side not in entry and len(numbers):
            value = float(choose(numbers))
            value = float(to_whole(value)) if entry.get("kind") == "integer" else value
        ends[side] = None if value is None or math.isinf(value) else value
    return ends["low"], ends["high"]


def read_description(path: FilePath) -> SpaceDescription:
    """Read what a file says about a space, and validate every key of it."""
    document = read_document(path, "space", "[features.age] with the line low = 18")
    empty = SpaceDescription(file=Path(path).name, features={})
    known = ("features", "constraints", "moves", "invalid")
    for key in document:
        if key not in known:
            raise SpaceError(f"{empty.file}: {key!r} is not a known key. {suggest_name(key, known)}")
    for key, allowed in CHOICES.items():
        if key in document and document[key] not in allowed:
            empty.fail(key, f"one of {', '.join(map(repr, allowed))}", document[key])
    features = document.get("features", {})
    if not isinstance(features, dict):
        empty.fail("features", 'a table by column, such as age = {kind = "integer"}', features)
    for name, entry in features.items():
        _validate_feature(empty, name, entry)
    constraints = document.get("constraints", [])
    if not isinstance(constraints, list):
        empty.fail("constraints", 'a list, such as ["free <= total"]', constraints)
    return SpaceDescription(
        file=empty.file,
        features=features,
        constraints=tuple(_parse_constraint(empty, i, item) for i, item in enumerate(constraints, 1)),
        **{key: document[key] for key in CHOICES if key in document},
    )


def _validate_feature(description: SpaceDescription, name: object, entry: object) -> None:
    """Raise `SpaceError` unless an entry of the features names known keys with values of their types."""
    if not isinstance(name, str) or not name:
        description.fail("the name of a feature", "a text: put it in quotes", name)
    if not isinstance(entry, dict):
        description.fail(f"features.{name}", 'a table, such as {kind = "integer", low = 0}', entry)
    kind = entry.get("kind")
    if "kind" in entry and kind not in FEATURE_KEYS:
        description.fail(f"features.{name}.kind", f"one of {', '.join(FEATURE_KEYS)}", kind)
    allowed = ("kind", *FEATURE_KEYS[kind]) if kind else ALL_FEATURE_KEYS
    for key, value in entry.items():
        where = f"features.{name}.{key}"
        if key not in allowed:
            owner = f"a feature of kind {kind}" if kind else "a feature"
            raise SpaceError(f"{description.file}: {where} is not a known key of {owner}. {suggest_name(key, allowed)}")
        if key in ("low", "high") and value is not None and not is_number(value):
            description.fail(where, f"a number, or {'-inf' if key == 'low' else 'inf'} for no bound", value)
        if key == "step" and not is_number(value):
            description.fail(where, "a number", value)
        if key in ("nullable", "rounds", "channels_first") and not isinstance(value, bool):
            description.fail(where, "true or false", value)
        if key in ("values", "examples") and not _is_list_of_values(value):
            description.fail(where, "a list of texts, numbers or booleans, in their order", value)


def _is_list_of_values(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str | int | float | bool) for item in value)


def _parse_constraint(description: SpaceDescription, number: int, item: object) -> object:
    """Return a constraint of the file: a text, which `Space` parses, or what a table with one key declares."""
    if isinstance(item, str):
        return item
    where = f"entry {number} of constraints"
    if not isinstance(item, dict) or len(item) != 1:
        description.fail(where, EXPECTED_CONSTRAINT, item)
    [(kind, content)] = item.items()
    if kind == "one_hot" and isinstance(content, list) and all(isinstance(name, str) for name in content):
        return OneHot(content)
    columns = content if kind in TABLE_CONSTRAINTS and isinstance(content, dict) else {}
    if not columns or not all(map(_is_list_of_values, columns.values())):
        description.fail(where, EXPECTED_CONSTRAINT, item)
    if len({len(column) for column in columns.values()}) > 1:
        description.fail(where, "a table whose columns have the same length", item)
    table = pd.DataFrame({str(name): pd.Series(column, dtype=object) for name, column in columns.items()})
    try:
        return TABLE_CONSTRAINTS[kind](table)
    except SpaceError as error:
        raise SpaceError(f"{description.file}: {where}: {error}") from None
