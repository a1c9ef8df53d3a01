"""Border points as further training rows for rare classes, and what they do to the model, measured."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import did_you_mean, generator, plural, reject, short, whole_number
from ..errors import ArgumentError, DataError, told
from ..runs.drive import drive
from ..space.features import Codes
from ..space.neighbours import nearest
from ..space.space import Space
from ..strategies.borders import Border
from ..strategies.brackets import Pool
from ..strategies.exploration import EXPLORERS
from ..strategies.refine import Refinement
from ..strategies.terrain import native
from ..sut.base import Executor, Wrapper
from ..sut.estimator import Estimator
from .reading import Rows, border_of

if TYPE_CHECKING:
    import pandas as pd

    from .front import Front

HALVINGS = 20  # of a pair in the explorations of the folds


@dataclass(frozen=True, eq=False, repr=False)
class Augmented:
    """Training data with border points added.

    Attributes
    ----------
    frame : DataFrame
        The data, then the added rows: what the system answered there is their label.
    added : Series
        How many rows each class got.
    effect : DataFrame or None
        For each score on held-out rows: ``before``, ``after``, ``difference`` and its ``standard_error`` over the
        folds. In each fold the model is fitted anew, explored and augmented with the training rows alone.
    note : str
        What to make of it, or why there is no effect to show.
    """

    frame: pd.DataFrame
    added: pd.Series[int]
    effect: pd.DataFrame | None
    note: str

    def __repr__(self) -> str:
        return f"Augmented({plural(len(self.frame), 'row')}, {int(self.added.sum()):,} of them added)"

    def describe(self) -> str:
        """Return what was added and what it did, in words."""
        given = ", ".join(f"{short(label)} ({count:,})" for label, count in self.added.items() if count)
        lines = [f"{plural(int(self.added.sum()), 'border point')} added" + (f" as {given}" if given else "")]
        if self.effect is not None:
            lines += [
                f"  {name}: {row['before']:.3f} -> {row['after']:.3f} ({row['difference']:+.3f}, standard error "
                f"{row['standard_error']:.3f})"
                for name, row in self.effect.iterrows()
            ]
        return "\n".join([*lines, self.note])


def augment(
    front: Front,
    data: pd.DataFrame,
    target: str,
    classes: Iterable[Any] | None = None,
    per_class: int | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Augmented:
    """Return training data with border points of rare classes added, and the measured effect on held-out scores.

    The points nearest to real inputs come first. Nobody checked their labels: they are what the system answered,
    so they teach it to be surer of itself. That helps where rare classes are drowned, and hurts where the
    border is wrong. Look at ``effect`` before you train on them.

    Parameters
    ----------
    front : Front
        Of a classifier.
    data : DataFrame
        The training data.
    target : str
        The column with the labels.
    classes : iterable, optional
        The classes that get points; all but the largest by default.
    per_class : int, optional
        How many at most; by default as many as bring a class up to the size of the largest.
    folds : int
        Of the measurement, which fits the model twice in each; 0 to leave it out.
    seed : int
        Of the folds and of the explorations in them.
    """
    import pandas as pd

    _check(front, data, target)
    labelled = data[target].notna().to_numpy(dtype=bool)
    blank = int((~labelled).sum())
    data = data[labelled] if blank else data
    whole_number("folds", "Front.augment", folds)
    if folds == 1:
        reject("folds", "Front.augment", "0 (no measurement) or at least 2", folds)
    if per_class is not None:
        whole_number("per_class", "Front.augment", per_class)
    if classes is not None:
        classes = [classes] if isinstance(classes, str) else list(classes)
    wanted = _wanted(data[target], classes, per_class)
    codes = np.concatenate([front.a.codes, front.b.codes])
    labels = [*front.a_output.tolist(), *front.b_output.tolist()]
    chosen, names = _chosen(front.space, codes, labels, front.seeds.codes, wanted)
    frame = _joined(front.space, data, target, codes[chosen], names)
    added = pd.Series(names, dtype=object).value_counts().reindex(list(wanted), fill_value=0)
    effect, note = None, "The effect was not measured: folds=0."
    if not len(front):
        note = (
            f"The front of {front.subject} is empty: there are no border points to add, and no effect to measure."
        )
    elif folds:
        try:
            effect = _measured(front, data, target, classes, per_class, folds, seed)
            note = _verdict(effect)
        except _NotMeasured as why:
            note = f"The effect was not measured: {why}"
    if len(front) and not len(chosen):
        note = f"The front has no border points of the classes that could use them. {note}"
    if blank:
        note = f"{plural(blank, 'row')} without a label in {target!r} {'was' if blank == 1 else 'were'} left out. {note}"
    return Augmented(frame, added, effect, note)


class _NotMeasured(Exception):
    """Why a model cannot be fitted anew."""


# -- choosing rows ---------------------------------------------------------------------------------------------


def _check(front: Front, data: pd.DataFrame, target: str) -> None:
    import pandas as pd

    if not isinstance(data, pd.DataFrame):
        reject("data", "Front.augment", "a DataFrame, the training data", data)
    if target not in data.columns:
        raise DataError(f"The target column {target!r} is not in the data. {did_you_mean(target, data.columns)}")
    border = border_of(front)
    if len(front) and (type(border) is not Border or isinstance(front.a_output[0], tuple)):
        raise ArgumentError(
            f"Border points become training rows of rare classes, and {front.subject} answers no plain classes: its "
            f"border is {border.describe()}. Augment the front of a classifier."
        )
    front.space.points(data)  # says which column or row does not fit


def _wanted(labels: pd.Series[Any], classes: list[Any] | None, per_class: int | None) -> dict[Any, int]:
    """Return how many rows each class may get."""
    counts = labels.value_counts()
    if not len(counts):
        raise DataError("The target column has no labels. Give data with labels.")
    largest = int(counts.max())
    if classes is None:
        rare = [label for label in counts.index if counts[label] < largest]
    else:
        rare = classes
        for label in rare:
            if label not in counts.index:
                raise ArgumentError(f"The data have no class {label!r}. {did_you_mean(label, counts.index)}")
    return {label: largest - int(counts[label]) if per_class is None else per_class for label in rare}


def _chosen(
    space: Space, codes: Codes, labels: list[Any], real: Codes, wanted: Mapping[Any, int]
) -> tuple[Rows, list[Any]]:
    """Return which points to add, the most plausible of each class, each once, and their labels in the data."""
    place = {label: number for number, label in enumerate(wanted)}  # by value: 1, 1.0 and True are one label
    classes = np.array([place.get(label, -1) for label in labels], dtype=np.intp)
    rows = np.flatnonzero(classes >= 0)
    if not rows.size:
        return rows, []
    rows = rows[np.sort(np.unique(codes[rows], axis=0, return_index=True)[1])]
    rows = rows[np.argsort(nearest(space, codes[rows], real)[0][:, 0], kind="stable")]
    chosen = [rows[classes[rows] == number][: wanted[label]] for label, number in place.items()]
    return np.concatenate(chosen), [label for label, some in zip(wanted, chosen, strict=True) for _ in some]


def _joined(space: Space, data: pd.DataFrame, target: str, codes: Codes, labels: list[Any]) -> pd.DataFrame:
    """Return the data with rows added, in its own columns and dtypes; columns that are no features stay empty."""
    import pandas as pd

    if not len(codes):
        return data.copy()
    rows = space.decode(codes, like=data.drop(columns=target))
    rows[target] = pd.Series(labels, dtype=object).astype(data[target].dtype)
    return pd.concat([data, rows.reindex(columns=data.columns)], ignore_index=True)


# -- measuring -------------------------------------------------------------------------------------------------


def _measured(
    front: Front,
    data: pd.DataFrame,
    target: str,
    classes: list[Any] | None,
    per_class: int | None,
    folds: int,
    seed: int,
) -> pd.DataFrame:
    """Return scores on held-out rows of the model as it is and of the model fitted to augmented data.

    Each fold fits, explores and augments with its training rows alone; of all the data it knows the bounds of
    the space.
    """
    import pandas as pd
    from sklearn.base import clone
    from sklearn.model_selection import KFold, StratifiedKFold

    sut = _estimator(front.sut)
    labels = _plain(data[target])
    if len(data) < folds:
        raise _NotMeasured(f"{plural(len(data), 'row')} cannot be split into {folds} folds.")
    rarest = int(data[target].value_counts().min())
    split = (StratifiedKFold if rarest >= folds else KFold)(folds, shuffle=True, random_state=seed)
    scores: list[tuple[dict[str, float], dict[str, float]]] = []
    rng = generator("seed", "Front.augment", seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what fitting warns of, the user has seen; ten times more help nobody
        for train, test in split.split(data, labels):
            part, held_out = data.iloc[train], data.iloc[test]
            try:
                plain = clone(sut.model).fit(sut.input(_inputs(front, part)), labels[train])
                fitted = Estimator(plain, front.space)
                codes, said = _explored(front, fitted, part, rng)
                present = None if classes is None else [each for each in classes if (part[target] == each).any()]
                wanted = _wanted(part[target], present, per_class)
                chosen, names = _chosen(front.space, codes, said, front.space.points(part).codes, wanted)
                more = _joined(front.space, part, target, codes[chosen], names)
                taught = clone(sut.model).fit(sut.input(_inputs(front, more)), _plain(more[target]))
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise _NotMeasured(f"fitting the model anew failed with {told(error)}.") from error
            given = sut.input(_inputs(front, held_out))
            scores.append(
                (_scores(labels[test], plain.predict(given)), _scores(labels[test], taught.predict(given)))
            )
    before, after = (pd.DataFrame([fold[i] for fold in scores]) for i in (0, 1))
    change = after - before
    return pd.DataFrame(
        {
            "before": before.mean(),
            "after": after.mean(),
            "difference": change.mean(),
            "standard_error": change.std(ddof=1) / np.sqrt(change.count()),
        }
    )


def _plain(labels: pd.Series[Any]) -> npt.NDArray[Any]:
    """Return labels as NumPy has them: scikit-learn does not take those that may be missing."""
    values = labels.tolist()
    return np.array(values, dtype=None if len({type(value) for value in values}) == 1 else object)


def _estimator(sut: Executor | None) -> Estimator:
    """Return the system as something that can be fitted anew."""
    from sklearn.base import BaseEstimator

    if sut is None:
        raise _NotMeasured("the front has no system attached. Attach it: front.attach(model).")
    while isinstance(sut, Wrapper):
        sut = sut.inner
    if not isinstance(sut, Estimator) or not isinstance(sut.model, BaseEstimator) or not hasattr(sut.model, "fit"):
        raise _NotMeasured(f"{sut.name} is no scikit-learn estimator that could be fitted anew.")
    return sut


def _inputs(front: Front, data: pd.DataFrame) -> pd.DataFrame:
    return data[list(front.space.names)]


def _explored(
    front: Front, sut: Executor, part: pd.DataFrame, rng: np.random.Generator
) -> tuple[Codes, list[Any]]:
    """Return the border points of a model, found from some rows as those of the front were, and their labels."""
    ground, settings = native(front.space), front.settings
    moves = {name: step for name, step in ground.moves.items() if name in settings.get("moves", ground.moves)}
    ground = replace(ground, moves=moves or ground.moves)  # a test system's own moves have other names
    border = Border(sut.labels)
    explorer = EXPLORERS.get(front.strategy, EXPLORERS["random_walk"])(
        ground,
        border,
        Refinement(ground, HALVINGS, None, "bisect"),
        int(settings.get("walks", front.walks)),
        int(settings.get("walk_distance", 20)),
    )
    found = drive(explorer.explore(Pool(front.space.points(part)), rng), sut, progress=False)
    codes = np.concatenate([side for each in found.brackets for side in (each.x, each.y)])
    states = np.concatenate([side for each in found.brackets for side in (each.x_state, each.y_state)])
    return codes, border.answer(states).tolist()


def _scores(truth: npt.NDArray[Any], said: npt.NDArray[Any]) -> dict[str, float]:
    right = truth == said
    recall = {
        f"recall of {short(label)}": float(right[truth == label].mean()) for label in sorted(set(truth), key=str)
    }
    return {"accuracy": float(right.mean()), "balanced accuracy": float(np.mean(list(recall.values()))), **recall}


def _verdict(effect: pd.DataFrame) -> str:
    """Say whether it helped, as far as one can tell."""
    scores = effect.loc[["balanced accuracy", "accuracy"]]
    clear = scores["difference"].abs() > 2 * scores["standard_error"]
    up, down = (clear & (scores["difference"] > 0)).any(), (clear & (scores["difference"] < 0)).any()
    said = {
        (True, False): "It helped",
        (False, True): "It hurt",
        (True, True): "It helped one score and hurt another",
        (False, False): "No effect that could not be chance",
    }[bool(up), bool(down)]
    figures = ", ".join(
        f"{name} {row['before']:.3f} -> {row['after']:.3f} ({row['difference']:+.3f}, standard error "
        f"{row['standard_error']:.3f})"
        for name, row in scores.iterrows()
    )
    return f"{said}: on held-out rows {figures}. Folds share training rows, so the true errors are larger."
