"""``dm.test``: the main job. Everything that applies to a model, within a budget, as one page of findings."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._checks import did_you_mean, generator, one_of, plural, positive, reject, whole_number
from ..checkup import CHECKS
from ..checkup.checks import examine
from ..checkup.given import Clock, Given
from ..checkup.promises import promises_of
from ..checkup.result import Result
from ..checkup.words import plain
from ..errors import AmbiguousData, ArgumentError, DataError, ModelError, told
from ..fronts.front import Front
from ..morphisms.subject import Subject, subject_of
from ..morphisms.system import declares_morphisms
from ..runs.engine import Staying, engine_of
from ..runs.interrupts import Interrupts
from ..runs.progress import Progress
from ..runs.versions import versions
from ..space.space import Space
from ..strategies.flow import Budget
from ..sut.base import Executor
from ..sut.estimator import Estimator
from ..sut.files import load_model
from .checkups import kept_test
from .keeping import Keep, lasting_seed

NAMES = tuple(check.name for check in CHECKS)


def test(
    model: Any,
    data: Any = None,
    target: str | None = None,
    protected: Sequence[str] | str = (),
    expect: Any = None,
    budget: Budget | str | float | None = "1m",
    seed: int = 0,
    *,
    baseline: Any = None,
    only: Sequence[str] | str = (),
    space: Any = None,
    engine: Any = None,
    timeout: float | None = None,
    batch: int | None = None,
    store: Any = None,
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
    progress: bool | None = None,
    words: Any = None,
    began: float | None = None,
) -> Result:
    """Test a model with everything that applies to it, and return the findings, the worst and surest first.

    It looks at what it was given (a fitted model or a learner, a classifier or a regressor, with labels or without) and
    makes the checks that apply: does it answer everything, and the same way twice, whatever is asked beside it; is every
    class predicted; where are its borders, and have they moved; does it keep what was declared; does the learner keep
    what its algorithm promises; do the data reach all of its decisions. What does not apply is listed with the reason.

    Parameters
    ----------
    model : object
        A fitted estimator, an unfitted one (a learner: it is fitted to `data` and `target`), a function, the path of a
        model file, a test system: whatever `dm.wrap` takes.
    data : DataFrame, array or Space, optional
        Real inputs, best with their labels in the column `target`. A test system makes its own.
    target : str, optional
        The column of `data` that is the label and no input.
    protected : sequence of str
        Features on which no decision may hang: counts the decisions that change when such a feature alone changes.
    expect : mapping, relations, or path, optional
        What the model is expected to do: ``{"monotone": {"income": "up"}, "invariant": ["id"], "towards": "approved"}``,
        a TOML or YAML file that says so, or relations of your own.
    budget : str or int
        What it may cost: ``"1m"``, ``"10000 runs"``; None for no limit.
    seed : int
        Where randomness starts. The same seed gives the same findings, as long as the budget suffices.
    baseline : Front or path, optional
        The border of an earlier version, saved with ``result.front.save(...)``: has it moved?
    only : sequence of str, optional
        The names of the checks to make; all by default.
    space : Space, optional
        The space of the inputs, instead of one read from `data`.
    engine, timeout, batch, store, trust, scalar, name, progress
        As for `dm.explore`.
    words, began
        How the command line was asked, and when.

    Returns
    -------
    Result
        ``.findings``, ``.outcomes``, ``.passed``; ``.describe()``, ``.to_html("report.html")``, ``.to_json()``,
        ``.to_junit()``, ``.to_markdown()``, ``.to_sarif()``, ``.to_pytest("test_model.py")``.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from sklearn.naive_bayes import GaussianNB
    >>> iris = dm.data.load("iris")
    >>> model = GaussianNB().fit(iris.drop(columns="target"), iris["target"])
    >>> result = dm.test(model, iris, target="target", budget="20s")
    >>> result.passed
    True
    """
    clock = Clock(Budget.parse(budget), began)
    chosen = (only,) if isinstance(only, str) else tuple(only)
    for check in chosen:
        one_of("only", "test", check, NAMES)
    if timeout is not None:
        positive("timeout", "test", timeout)
    if batch is not None:
        whole_number("batch", "test", batch, 1)
    keep = store if isinstance(store, Keep) or store is None else Keep(store)
    seed = lasting_seed(seed, keep or Keep("none"))
    promises = promises_of(expect, protected)
    rng = generator("seed", "test", seed)
    asked = dict(words or {}) or _words(target, promises, expect, baseline, budget, scalar)
    loaded, called = _loaded(model, trust, name)
    learner, fitted, notes = _learner(loaded, data, target)
    with warnings.catch_warnings(record=True) as caught:  # what is said of the data belongs on the page
        warnings.simplefilter("always", AmbiguousData)
        subject = subject_of(fitted, data, target=target, space=space, rng=rng, scalar=scalar, name=called)
    for each in caught:
        if issubclass(each.category, AmbiguousData):
            notes.append(str(each.message))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    promises.check_features(subject.seeds.space, [str(column) for column in getattr(data, "columns", ())])
    for relation in promises.monotone_relations():
        relation.why_not(subject.sut, subject.seeds)  # a class that is none of the model's is an error at once
    earlier = _baseline(baseline)
    if earlier is not None and earlier.space.names != subject.seeds.space.names:
        raise DataError(
            "The baseline is the border of a model with other inputs: "
            f"{', '.join(earlier.space.names[:5])}, ... Save a new one with --save-front, or front.save()."
        )
    running = Staying(engine_of(engine))
    given = Given(
        subject=subject,
        kind=_kind(subject, loaded, learner is not None and fitted is not loaded),
        promises=promises,
        clock=clock,
        learner=learner,
        truth=_truth(data, target, subject),
        baseline=earlier,
        data_given=data is not None and not isinstance(data, Space),
        seed=seed,
        driving={"engine": running, "timeout": timeout, "batch": batch},
    )
    with (
        Interrupts(),
        Progress(subject.name, progress) as shown,
        kept_test(keep, subject, asked, seed, model, name) as kept,
    ):
        if kept is not None:
            given.remembered = kept.remembered(subject)
        try:
            given.measure_pace()
            learn = {"learn": kept.learn} if kept is not None else {}
            outcomes = examine(given, CHECKS, chosen, shown.show, **learn)
        finally:
            running.end()
        result = Result(
            subject=subject.name,
            kind=given.kind,
            data=_told_data(subject, data, target),
            outcomes=tuple(outcomes),
            seed=seed,
            budget=_told_budget(clock.budget),
            seconds=clock.seconds,
            calls=sum(outcome.calls for outcome in outcomes),
            words=asked,
            notes=(*notes, *subject.notes, *_accuracy(given)),
            versions=versions(),
            front=given.front,
        )
        if kept is not None:
            kept.finish(result)
    return result


test.__test__ = False  # type: ignore[attr-defined]  # pytest: the name begins with "test", it is no test


def _words(
    target: str | None, promises: Any, expect: Any, baseline: Any, budget: Any, scalar: bool
) -> dict[str, Any]:
    """Return how a test was asked for in Python, as far as it can be written down."""
    return {
        "target": target,
        "protected": list(promises.protected),
        "expect": os.fspath(expect) if isinstance(expect, str | os.PathLike) else None,
        "monotone": [f"{name}={way}" for name, way in promises.monotone.items()],
        "invariant": list(promises.invariant),
        "towards": plain(promises.towards),
        "relations": [relation.name for relation in promises.relations],
        "baseline": os.fspath(baseline) if isinstance(baseline, str | os.PathLike) else None,
        "budget": budget if isinstance(budget, str | int) and budget != "1m" else None,
        "scalar": scalar,
    }


def _loaded(model: Any, trust: bool, name: str | None) -> tuple[Any, str | None]:
    """Return the model itself and what to call it."""
    if isinstance(model, str | os.PathLike):
        return load_model(model, trust=trust), name or os.path.basename(os.fspath(model))
    return model, name


def _learner(model: Any, data: Any, target: str | None) -> tuple[Any, Any, list[str]]:
    """Return what can be fitted anew (None if nothing can), the model to ask, and what was decided."""
    if "sklearn" not in sys.modules:  # whoever has such a model has loaded it
        return None, model, []
    from sklearn.base import BaseEstimator, clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator) or not hasattr(model, "fit") or declares_morphisms(model):
        return None, model, []
    try:
        check_is_fitted(model)
        return (model if target is not None else None), model, []
    except TypeError:
        return None, model, []
    except NotFittedError:
        pass
    kind = type(model).__name__
    if target is None or not hasattr(data, "columns"):
        raise ArgumentError(
            f"This {kind} is not fitted. Fit it first, or give a frame with labels, and target= to name their column."
        )
    if target not in data.columns:
        raise DataError(f"The target column {target!r} is not in the data. {did_you_mean(target, data.columns)}")
    try:
        fitted = clone(model).fit(data.drop(columns=[target]), data[target])
    except Exception as error:
        raise ModelError(
            f"This {kind} could not be fitted to the data: {told(error)}. Fit it yourself, or mend the data."
        ) from error
    return model, fitted, [f"The {kind} was not fitted: it was fitted to the data before it was tested."]


def _truth(data: Any, target: str | None, subject: Subject) -> npt.NDArray[Any] | None:
    if target is None or not hasattr(data, "columns") or len(data) != len(subject.seeds):
        return None
    return np.asarray(data[target].to_numpy())


def _baseline(given: Any) -> Front | None:
    if given is None or isinstance(given, Front):
        return given
    if not isinstance(given, str | os.PathLike):
        reject("baseline", "test", "a Front, or the path of a saved one", given)
    return Front.load(given)


def _kind(subject: Subject, model: Any, fitted_here: bool) -> str:
    sut: Executor = subject.sut
    of = ""
    if isinstance(sut, Estimator):
        kind = "regressor" if subject.numbers else "classifier" if sut.labels is not None else "model"
        of = f" ({_class_name(sut.model)})" + (", fitted to these data" if fitted_here else "")
        kind = f"a fitted {kind}"
    elif declares_morphisms(model):
        kind = "a test system"
    else:
        kind = "a function" if callable(model) else "a system"
    classes = f" of {plural(len(sut.labels), 'class', 'classes')}" if sut.labels is not None else ""
    return f"{kind}{classes}{of}"


def _class_name(model: Any) -> str:
    steps = getattr(model, "steps", None)
    if isinstance(steps, list) and steps:
        return " > ".join(type(step).__name__ for _, step in steps)
    return type(model).__name__


def _told_data(subject: Subject, data: Any, target: str | None) -> str:
    space = subject.seeds.space
    kinds = ", ".join(f"{count} {kind}" for kind, count in space.kinds.items() if count)
    made = "" if data is not None else " made by the system itself or drawn from its space"
    labels = "" if target is None else f", labels in {target}"
    return f"{plural(len(subject.seeds), 'input')}{made}, {plural(len(space), 'feature')} ({kinds}){labels}"


def _told_budget(budget: Budget) -> str:
    if budget.seconds is not None:
        return f"{budget.seconds:g} s"
    return plural(budget.runs, "run") if budget.runs is not None else "no limit"


def _accuracy(given: Given) -> list[str]:
    """Return how often the answers agree with the labels, where there are any: no finding, but good to know."""
    if given.truth is None or given.answers is None or len(given.answers) != len(given.truth):
        return []
    ok = given.answers.ok
    if given.subject.numbers or not ok.any():
        return []
    right = sum(
        str(a) == str(b) for a, b in zip(given.answers.values[ok].tolist(), given.truth[ok].tolist(), strict=True)
    )
    return [f"Its answer agrees with the label of {right / int(ok.sum()):.1%} of the given inputs."]
