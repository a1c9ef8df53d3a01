"""``dm.test``: the main job. Everything that applies to a model, within a budget, as one page of findings."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import pluralize, suggest_name
from .._validation import reject, to_generator, validate_choice, validate_integer, validate_positive
from ..errors import AmbiguousData, ArgumentError, DataError, ModelError, format_error_line
from ..exploration.front import Front
from ..morphisms.subject import SubjectUnderTest, build_subject
from ..morphisms.system import has_morphisms
from ..runs.engines import PersistentEngine, make_engine
from ..runs.flow import Budget
from ..runs.interrupts import Interrupts
from ..runs.keep import KeepOptions, resolve_seed
from ..runs.progress import Progress
from ..runs.versions import read_versions
from ..space.space import Space
from ..systems.base import Executor
from ..systems.estimator import Estimator
from ..systems.files import load_model
from .case_text import to_plain
from .check import run_checks
from .checks import CHECKS
from .context import BudgetClock, CheckContext
from .expectations import parse_expectations
from .persistence import open_audit_run
from .result import AuditResult

CHECK_NAMES = tuple(check.name for check in CHECKS)


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
) -> AuditResult:
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
    clock = BudgetClock(Budget.parse(budget), began)
    selected_checks = (only,) if isinstance(only, str) else tuple(only)
    for check in selected_checks:
        validate_choice("only", "test", check, CHECK_NAMES)
    if timeout is not None:
        validate_positive("timeout", "test", timeout)
    if batch is not None:
        validate_integer("batch", "test", batch, 1)
    keep = store if isinstance(store, KeepOptions) or store is None else KeepOptions(store)
    seed = resolve_seed(seed, keep or KeepOptions("none"))
    expectations = parse_expectations(expect, protected)
    rng = to_generator("seed", "test", seed)
    request = dict(words or {}) or _build_request(target, expectations, expect, baseline, budget, scalar)
    loaded_model, display_name = _load_named_model(model, trust, name)
    learner, fitted_model, notes = _prepare_learner(loaded_model, data, target)
    with warnings.catch_warnings(record=True) as caught_warnings:  # what is said of the data belongs on the page
        warnings.simplefilter("always", AmbiguousData)
        subject = build_subject(
            fitted_model, data, target=target, space=space, rng=rng, scalar=scalar, name=display_name
        )
    for warning in caught_warnings:
        if issubclass(warning.category, AmbiguousData):
            notes.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    expectations.validate_features(subject.seeds.space, [str(column) for column in getattr(data, "columns", ())])
    for relation in expectations.build_monotone_relations():
        relation.why_not(subject.sut, subject.seeds)  # a class that is none of the model's is an error at once
    baseline_front = _load_baseline(baseline)
    if baseline_front is not None and baseline_front.space.names != subject.seeds.space.names:
        raise DataError(
            "The baseline is the border of a model with other inputs: "
            f"{', '.join(baseline_front.space.names[:5])}, ... Save a new one with --save-front, or front.save()."
        )
    held_engine = PersistentEngine(make_engine(engine))
    context = CheckContext(
        subject=subject,
        kind=_describe_kind(subject, loaded_model, learner is not None and fitted_model is not loaded_model),
        expectations=expectations,
        clock=clock,
        learner=learner,
        truth=_read_labels(data, target, subject),
        baseline=baseline_front,
        has_data=data is not None and not isinstance(data, Space),
        seed=seed,
        drive_options={"engine": held_engine, "timeout": timeout, "batch": batch},
    )
    with (
        Interrupts(),
        Progress(subject.name, progress) as progress_line,
        open_audit_run(keep, subject, request, seed, model, name) as audit_run,
    ):
        if audit_run is not None:
            context.known_failures = audit_run.load_known_failures(subject)
        try:
            context.measure_pace()
            callbacks = {"learn": audit_run.update_failures} if audit_run is not None else {}
            outcomes = run_checks(context, CHECKS, selected_checks, progress_line.show, **callbacks)
        finally:
            held_engine.shut_down()
        result = AuditResult(
            subject=subject.name,
            kind=context.kind,
            data=_describe_data(subject, data, target),
            outcomes=tuple(outcomes),
            seed=seed,
            budget=_describe_budget(clock.budget),
            seconds=clock.seconds,
            calls=sum(outcome.calls for outcome in outcomes),
            words=request,
            notes=(*notes, *subject.notes, *_describe_accuracy(context)),
            versions=read_versions(),
            front=context.front,
        )
        if audit_run is not None:
            audit_run.finish(result)
    return result


test.__test__ = False  # type: ignore[attr-defined]  # pytest: the name begins with "test", it is no test


def _build_request(
    target: str | None, expectations: Any, expect: Any, baseline: Any, budget: Any, scalar: bool
) -> dict[str, Any]:
    """Return how a test was asked for in Python, as far as it can be written down."""
    return {
        "target": target,
        "protected": list(expectations.protected),
        "expect": os.fspath(expect) if isinstance(expect, str | os.PathLike) else None,
        "monotone": [f"{name}={direction}" for name, direction in expectations.monotone.items()],
        "invariant": list(expectations.invariant),
        "towards": to_plain(expectations.towards),
        "relations": [relation.name for relation in expectations.relations],
        "baseline": os.fspath(baseline) if isinstance(baseline, str | os.PathLike) else None,
        "budget": budget if isinstance(budget, str | int) and budget != "1m" else None,
        "scalar": scalar,
    }


def _load_named_model(model: Any, trust: bool, name: str | None) -> tuple[Any, str | None]:
    """Return the model itself and what to call it."""
    if isinstance(model, str | os.PathLike):
        return load_model(model, trust=trust), name or os.path.basename(os.fspath(model))
    return model, name


def _prepare_learner(model: Any, data: Any, target: str | None) -> tuple[Any, Any, list[str]]:
    """Return what can be fitted anew (None if nothing can), the model to ask, and what was decided."""
    if "sklearn" not in sys.modules:  # whoever has such a model has loaded it
        return None, model, []
    from sklearn.base import BaseEstimator, clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator) or not hasattr(model, "fit") or has_morphisms(model):
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
        raise DataError(f"The target column {target!r} is not in the data. {suggest_name(target, data.columns)}")
    try:
        fitted_model = clone(model).fit(data.drop(columns=[target]), data[target])
    except Exception as error:
        raise ModelError(
            f"This {kind} could not be fitted to the data: {format_error_line(error)}. Fit it yourself, or mend the data."
        ) from error
    return model, fitted_model, [f"The {kind} was not fitted: it was fitted to the data before it was tested."]


def _read_labels(data: Any, target: str | None, subject: SubjectUnderTest) -> npt.NDArray[Any] | None:
    if target is None or not hasattr(data, "columns") or len(data) != len(subject.seeds):
        return None
    return np.asarray(data[target].to_numpy())


def _load_baseline(baseline: Any) -> Front | None:
    if baseline is None or isinstance(baseline, Front):
        return baseline
    if not isinstance(baseline, str | os.PathLike):
        reject("baseline", "test", "a Front, or the path of a saved one", baseline)
    return Front.load(baseline)


def _describe_kind(subject: SubjectUnderTest, model: Any, fitted_here: bool) -> str:
    sut: Executor = subject.sut
    suffix = ""
    if isinstance(sut, Estimator):
        kind = "regressor" if subject.has_numeric_answers else "classifier" if sut.labels is not None else "model"
        suffix = f" ({_format_class_name(sut.model)})" + (", fitted to these data" if fitted_here else "")
        kind = f"a fitted {kind}"
    elif has_morphisms(model):
        kind = "a test system"
    else:
        kind = "a function" if callable(model) else "a system"
    classes = f" of {pluralize(len(sut.labels), 'class', 'classes')}" if sut.labels is not None else ""
    return f"{kind}{classes}{suffix}"


def _format_class_name(model: Any) -> str:
    steps = getattr(model, "steps", None)
    if isinstance(steps, list) and steps:
        return " > ".join(type(step).__name__ for _, step in steps)
    return type(model).__name__


def _describe_data(subject: SubjectUnderTest, data: Any, target: str | None) -> str:
    space = subject.seeds.space
    kinds = ", ".join(f"{count} {kind}" for kind, count in space.kinds.items() if count)
    origin_text = "" if data is not None else " made by the system itself or drawn from its space"
    labels = "" if target is None else f", labels in {target}"
    return f"{pluralize(len(subject.seeds), 'input')}{origin_text}, {pluralize(len(space), 'feature')} ({kinds}){labels}"


def _describe_budget(budget: Budget) -> str:
    if budget.seconds is not None:
        return f"{budget.seconds:g} s"
    return pluralize(budget.runs, "run") if budget.runs is not None else "no limit"


def _describe_accuracy(context: CheckContext) -> list[str]:
    """Return how often the answers agree with the labels, where there are any: no finding, but good to know."""
    if context.truth is None or context.answers is None or len(context.answers) != len(context.truth):
        return []
    ok = context.answers.ok
    if context.subject.has_numeric_answers or not ok.any():
        return []
    agreements = sum(
        str(a) == str(b)
        for a, b in zip(context.answers.values[ok].tolist(), context.truth[ok].tolist(), strict=True)
    )
    return [f"Its answer agrees with the label of {agreements / int(ok.sum()):.1%} of the given inputs."]
