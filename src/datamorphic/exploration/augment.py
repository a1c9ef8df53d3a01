"""Augment training data by border points of rare classes, and measure the effect on the model."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._lazy import pd
from .._text import format_short, pluralise, suggest_name
from .._validation import reject, to_generator, validate_integer
from ..errors import ArgumentError, DataError, format_error_line
from ..morphisms.terrain import build_native_terrain
from ..runs.driver import drive
from ..space.features import Codes
from ..space.neighbours import find_nearest
from ..space.space import Space
from ..systems.base import Executor, Wrapper
from ..systems.estimator import Estimator
from .borders import Border
from .brackets import SeedPool
from .changes import Answers, Rows
from .explorers import EXPLORERS
from .front_data import FrontData
from .refinement import Refinement

FOLD_HALVINGS = 20  # halvings per pair in the exploration of a fold


@dataclass(frozen=True, eq=False, repr=False)
class Augmentation:
    """Training data with border points added.

    Attributes
    ----------
    frame : DataFrame
        The data, followed by the added rows. Their labels are the answers of the system.
    added : Series
        The number of added rows per class.
    effect : DataFrame or None
        Per score on held-out rows: ``before``, ``after``, ``difference`` and its ``standard_error`` over the folds. In
        each fold the model is fitted again, explored and augmented with the training rows alone.
    note : str
        The verdict, or the reason why the effect was not measured.
    """

    frame: pd.DataFrame
    added: pd.Series[int]
    effect: pd.DataFrame | None
    note: str

    def __repr__(self) -> str:
        return f"Augmentation({pluralise(len(self.frame), 'row')}, {int(self.added.sum()):,} of them added)"

    def describe(self) -> str:
        """Return the added rows and their effect as text."""
        class_counts = ", ".join(f"{format_short(label)} ({count:,})" for label, count in self.added.items() if count)
        points = f"{pluralise(int(self.added.sum()), 'border point')} added" + (
            f" as {class_counts}" if class_counts else ""
        )
        scores = {} if self.effect is None else _format_scores(self.effect)
        return "\n".join([points, *(f"  {name}: {score}" for name, score in scores.items()), self.note])


def augment(
    front: FrontData,
    data: pd.DataFrame,
    target: str,
    classes: Iterable[Any] | None = None,
    per_class: int | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Augmentation:
    """Return training data with border points of rare classes added, and the effect on held-out scores.

    The points nearest to real inputs come first. Nobody checked their labels: they are the answers of the system, so
    they reinforce what it already does. That helps where rare classes are outnumbered, and hurts where the border is
    wrong. Look at ``effect`` before you train on them.

    Parameters
    ----------
    front, data, target
        The front of a classifier, the training data, and the column with the labels.
    classes : iterable, optional
        The classes that get points; by default all but the largest.
    per_class : int, optional
        The maximum number of points per class; by default as many as make a class as large as the largest.
    folds, seed : int
        The number of folds of the measurement, which fits the model twice per fold, or 0 for no measurement; and the seed
        of the folds and of their explorations.
    """
    _validate_arguments(front, data, target)
    unlabelled_count = int(data[target].isna().sum())
    data = data[data[target].notna()] if unlabelled_count else data
    validate_integer("folds", "Front.augment", folds)
    if folds == 1:
        reject("folds", "Front.augment", "0 (no measurement) or at least 2", folds)
    if per_class is not None:
        validate_integer("per_class", "Front.augment", per_class)
    if classes is not None:
        classes = [classes] if isinstance(classes, str) else list(classes)
    quotas = _compute_quotas(data[target], classes, per_class)
    codes = np.concatenate([front.a.codes, front.b.codes])
    labels = [*front.a_output.tolist(), *front.b_output.tolist()]
    chosen_rows, new_labels = _choose_points(front.space, codes, labels, front.seeds.codes, quotas)
    frame = _append_rows(front.space, data, target, codes[chosen_rows], new_labels)
    added_counts = pd.Series(new_labels, dtype=object).value_counts().reindex(list(quotas), fill_value=0)
    effect, note = None, "The effect was not measured: folds=0."
    if not len(front):
        note = f"The front of {front.subject} is empty: there are no border points to add, and no effect to measure."
    elif folds:
        try:
            effect = _measure_effect(front, data, target, classes, per_class, folds, seed)
            note = _format_verdict(effect)
        except _MeasurementError as error:
            note = f"The effect was not measured: {error}"
    if len(front) and not len(chosen_rows):
        note = f"The front has no border points of the classes that could use them. {note}"
    if unlabelled_count:
        verb = "was" if unlabelled_count == 1 else "were"
        note = f"{pluralise(unlabelled_count, 'row')} without a label in {target!r} {verb} left out. {note}"
    return Augmentation(frame, added_counts, effect, note)


class _MeasurementError(Exception):
    """The reason why the effect cannot be measured."""


def _validate_arguments(front: FrontData, data: pd.DataFrame, target: str) -> None:
    if not isinstance(data, pd.DataFrame):
        reject("data", "Front.augment", "a DataFrame, the training data", data)
    if target not in data.columns:
        raise DataError(f"The target column {target!r} is not in the data. {suggest_name(target, data.columns)}")
    border = front.restore_border()
    if len(front) and (type(border) is not Border or isinstance(front.a_output[0], tuple)):
        raise ArgumentError(
            f"Border points become training rows of rare classes, and {front.subject} has no plain classes: its "
            f"border is {border.description}. Augment the front of a classifier."
        )
    front.space.points(data)  # raises if a column or row does not fit


def _compute_quotas(labels: pd.Series[Any], classes: list[Any] | None, per_class: int | None) -> dict[Any, int]:
    """Return the maximum number of new rows per class."""
    counts = labels.value_counts()
    if not len(counts):
        raise DataError("The target column has no labels. Pass data with labels.")
    largest = int(counts.max())
    rare = [label for label in counts.index if counts[label] < largest] if classes is None else classes
    for label in rare:
        if label not in counts.index:
            raise ArgumentError(f"The data have no class {label!r}. {suggest_name(label, counts.index)}")
    return {label: largest - int(counts[label]) if per_class is None else per_class for label in rare}


def _choose_points(
    space: Space, codes: Codes, labels: list[Any], real_codes: Codes, quotas: Mapping[Any, int]
) -> tuple[Rows, list[Any]]:
    """Return the rows of the most plausible points per class, without duplicates, and their labels in the data."""
    class_numbers = {label: number for number, label in enumerate(quotas)}  # 1, 1.0 and True are the same label
    classes = np.array([class_numbers.get(label, -1) for label in labels], dtype=np.intp)
    rows = np.flatnonzero(classes >= 0)
    if not rows.size:
        return rows, []
    rows = rows[np.sort(np.unique(codes[rows], axis=0, return_index=True)[1])]
    rows = rows[np.argsort(find_nearest(space, codes[rows], real_codes)[0][:, 0], kind="stable")]
    rows_by_class = [rows[classes[rows] == number][: quotas[label]] for label, number in class_numbers.items()]
    new_labels = [label for label, class_rows in zip(quotas, rows_by_class, strict=True) for _ in class_rows]
    return np.concatenate(rows_by_class), new_labels


def _append_rows(space: Space, data: pd.DataFrame, target: str, codes: Codes, labels: list[Any]) -> pd.DataFrame:
    """Return the data with rows added, with its columns and dtypes; columns that are not features stay empty."""
    if not len(codes):
        return data.copy()
    rows = space.decode(codes, like=data.drop(columns=target))
    rows[target] = pd.Series(labels, dtype=object).astype(data[target].dtype)
    return pd.concat([data, rows.reindex(columns=data.columns)], ignore_index=True)


def _measure_effect(
    front: FrontData,
    data: pd.DataFrame,
    target: str,
    classes: list[Any] | None,
    per_class: int | None,
    folds: int,
    seed: int,
) -> pd.DataFrame:
    """Return scores on held-out rows of the plain model and of the model fitted to augmented data.

    Each fold fits, explores and augments with its training rows alone. Only the bounds of the space come from all data.
    """
    from sklearn.base import clone
    from sklearn.model_selection import KFold, StratifiedKFold

    sut, space, features = _unwrap_estimator(front.sut), front.space, list(front.space.names)
    labels = _to_numpy_labels(data[target])
    if len(data) < folds:
        raise _MeasurementError(f"{pluralise(len(data), 'row')} cannot be split into {folds} folds.")
    rarest = int(data[target].value_counts().min())
    splitter = (StratifiedKFold if rarest >= folds else KFold)(folds, shuffle=True, random_state=seed)
    scores = []
    rng = to_generator("seed", "Front.augment", seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user saw the warnings of fitting before
        for train, test in splitter.split(data, labels):
            rows = data.iloc[train]
            try:
                models = [clone(sut.model).fit(sut.input(rows[features]), labels[train])]
                codes, answers = _explore_fold(front, Estimator(models[0], space), rows, rng)
                present = None if classes is None else [label for label in classes if (rows[target] == label).any()]
                quotas = _compute_quotas(rows[target], present, per_class)
                chosen_rows, new_labels = _choose_points(space, codes, answers, space.points(rows).codes, quotas)
                rows = _append_rows(space, rows, target, codes[chosen_rows], new_labels)
                models.append(clone(sut.model).fit(sut.input(rows[features]), _to_numpy_labels(rows[target])))
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise _MeasurementError(f"fitting the model again failed with {format_error_line(error)}.") from error
            inputs = sut.input(data.iloc[test][features])
            scores.append([_score_answers(labels[test], model.predict(inputs)) for model in models])
    before, after = (pd.DataFrame(list(column)) for column in zip(*scores, strict=True))
    change = after - before
    effect = pd.DataFrame({"before": before.mean(), "after": after.mean(), "difference": change.mean()})
    return effect.assign(standard_error=change.std(ddof=1) / np.sqrt(change.count()))


def _to_numpy_labels(labels: pd.Series[Any]) -> Answers:
    """Return labels as a NumPy array: scikit-learn does not accept nullable dtypes."""
    values = labels.tolist()
    return np.array(values, dtype=None if len({type(value) for value in values}) == 1 else object)


def _unwrap_estimator(sut: Executor | None) -> Estimator:
    """Return the system without wrappers, if it is an estimator that can be fitted again."""
    from sklearn.base import BaseEstimator

    if sut is None:
        raise _MeasurementError("the front has no system attached. Attach it: front.attach(model).")
    while isinstance(sut, Wrapper):
        sut = sut.inner
    if not isinstance(sut, Estimator) or not isinstance(sut.model, BaseEstimator) or not hasattr(sut.model, "fit"):
        raise _MeasurementError(f"{sut.name} is not a scikit-learn estimator that can be fitted again.")
    return sut


def _explore_fold(
    front: FrontData, sut: Executor, training_rows: pd.DataFrame, rng: np.random.Generator
) -> tuple[Codes, list[Any]]:
    """Explore a model from some rows with the options of the front; return the border points and their labels."""
    terrain, settings = build_native_terrain(front.space), front.settings
    moves = {name: step for name, step in terrain.moves.items() if name in settings.get("moves", terrain.moves)}
    terrain = replace(terrain, moves=moves or terrain.moves)  # the moves of a test system have other names
    border = Border(sut.labels)
    explorer = EXPLORERS.get(front.strategy, EXPLORERS["random_walk"])(
        terrain=terrain,
        border=border,
        refinement=Refinement(terrain, FOLD_HALVINGS, None, "bisect"),
        walks=int(settings.get("walks", front.walks)),
        walk_distance=int(settings.get("walk_distance", 20)),
    )
    record = drive(explorer.explore(SeedPool(front.space.points(training_rows)), rng), sut, progress=False)
    codes = np.concatenate([side for brackets in record.brackets for side in (brackets.x, brackets.y)])
    states = np.concatenate([side for brackets in record.brackets for side in (brackets.x_state, brackets.y_state)])
    return codes, border.to_answers(states).tolist()


def _score_answers(truth: Answers, answers: Answers) -> dict[str, float]:
    right = truth == answers
    recall = {
        f"recall of {format_short(label)}": float(right[truth == label].mean()) for label in sorted(set(truth), key=str)
    }
    return {"accuracy": float(right.mean()), "balanced accuracy": float(np.mean(list(recall.values()))), **recall}


def _format_verdict(effect: pd.DataFrame) -> str:
    """Return whether the augmentation helped, as text."""
    scores = effect.loc[["balanced accuracy", "accuracy"]]
    clear = scores["difference"].abs() > 2 * scores["standard_error"]
    up, down = (clear & (scores["difference"] > 0)).any(), (clear & (scores["difference"] < 0)).any()
    outcome = {
        (True, False): "It helped",
        (False, True): "It hurt",
        (True, True): "It helped one score and hurt another",
        (False, False): "No effect that could not be chance",
    }[bool(up), bool(down)]
    figures = ", ".join(f"{name} {score}" for name, score in _format_scores(scores).items())
    return f"{outcome}: on held-out rows {figures}. Folds share training rows, so the true errors are larger."


def _format_scores(effect: pd.DataFrame) -> dict[str, str]:
    return {
        str(name): f"{row['before']:.3f} -> {row['after']:.3f} ({row['difference']:+.3f}, standard error "
        f"{row['standard_error']:.3f})"
        for name, row in effect.iterrows()
    }
