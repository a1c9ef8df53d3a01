"""Run an audit: load the model, infer the space, run the checks, and keep the result."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._text import format_percent, format_short, pluralize, suggest_name
from .._typing import DataLike, FilePath, ModelLike
from .._validation import reject, to_generator
from ..errors import AmbiguousData, ArgumentError, DataError, ModelError, OutOfBudget, format_error_line
from ..exploration.front import Front
from ..morphisms.subject import SubjectUnderTest, build_subject
from ..morphisms.system import has_morphisms
from ..relations.learner.base import LearnerRelation
from ..runs.deadline import DeadlinePassed, TimeLimit, can_end_work
from ..runs.engines import PersistentEngine, make_engine, needs_processes
from ..runs.interrupts import Interrupts
from ..runs.versions import read_versions
from ..space.blocks import format_shape, is_array_column, stack_arrays
from ..space.column_relations import find_point_constraints
from ..space.constraints import Constraint
from ..space.labels import find_agreement
from ..space.space import Space
from ..space.table_forms import to_plain_data
from ..systems.clusterer import is_clusterer
from ..systems.estimator import Estimator
from ..systems.files import load_model, name_model
from ..systems.torch_module import is_torch_module
from ..systems.weka import Weka
from .check import run_checks
from .checks import CHECKS
from .context import BudgetClock, CheckContext
from .examples import locate_examples
from .options import AuditOptions
from .persistence import open_audit_run
from .progress import AuditProgress
from .result import NO_LIMIT, AuditResult

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.base import BaseEstimator

#: After the first Ctrl-C, the running check may end by itself. Then it is ended, so that the report is written within two
#: seconds.
INTERRUPT_GRACE_SECONDS = 0.7
TOLERATED_OVERTIME_SECONDS = 2.0  # beyond the budget, which the notes need not explain
RELATIONS_BUDGET_SHARE = 0.1  # to look for relations between columns
MAX_ROWS = 100_000  # of the data; of more, a sample of this size is used
TRIAL_BUDGET_SHARE = 0.3  # to try on a few rows how a function is called


@dataclass(frozen=True, kw_only=True)
class _LoadedModel:
    """A model ready to be tested."""

    original: ModelLike  # as given, loaded if it was a path
    fitted: ModelLike  # the model to query
    name: str | None  # None for the default
    learner: BaseEstimator | None = None  # to train again

    @property
    def fitted_on_given_data(self) -> bool:
        """Whether the model was fitted here."""
        return self.fitted is not self.original


def run_audit(model: ModelLike, data: DataLike | None, options: AuditOptions) -> AuditResult:
    """Run all checks that apply to a model, and return the result."""
    clock = BudgetClock(options.parsed_budget)
    loaded = _load(model, data, options)
    subject, notes = _build_subject(loaded, data, options, clock)
    if loaded.fitted_on_given_data:
        kind = type(loaded.original).__name__
        notes.insert(0, f"The {kind} was not fitted. It was fitted to the data before the test.")
    if options.expectations.promises is not None:
        names = [str(name) for name in getattr(data, "columns", ())]
        options.expectations.promises.validate(subject.seeds.space, subject.sut.labels, names)
    options.expectations.validate_features(subject.seeds.space, [str(name) for name in getattr(data, "columns", ())])
    for relation in options.expectations.build_monotone_relations():
        relation.find_obstacle(subject.sut, subject.seeds)  # raises if `towards` is not a class of the model
    learner = None if _learns_from_other_forms(subject) else loaded.learner
    _validate_learner_relations(options.expectations.learner_relations, learner, subject.name)
    frame: Any = data
    labels = None
    if options.target is not None and hasattr(data, "columns"):
        labels = np.asarray(frame[options.target].to_numpy())
        labels = labels if subject.rows is None else labels[subject.rows]
        labels = labels if len(labels) == len(subject.seeds) else None
    baseline = _load_baseline(options.baseline, subject)
    reference, reference_labels = _load_reference(options.reference, options.target, subject)
    engine = PersistentEngine(make_engine(options.engine))
    has_data = data is not None and not isinstance(data, Space)
    # a declared space has its own relations between columns, and those between pixels would mean nothing
    has_columns = has_data and not subject.seeds.space.blocks
    looks_for_relations = has_columns and options.space is None and not has_morphisms(loaded.original)
    context = CheckContext(
        subject=subject,
        expectations=options.expectations,
        clock=clock,
        learner=learner,
        truth=labels,
        baseline=baseline,
        reference=reference,
        reference_truth=reference_labels,
        declared_bounds=frozenset(
            subject.seeds.space.names if options.space is not None else options.hints.bounds or ()
        ),
        has_data=has_data,
        seed=options.seed,
        tolerance=options.tolerance,
        drive_options={"engine": engine, "timeout": options.timeout, "batch": options.batch},
    )
    with (
        Interrupts(INTERRUPT_GRACE_SECONDS) as interrupts,
        AuditProgress(subject.name, clock, options.progress) as progress,
        open_audit_run(options, subject, model) as audit_run,
    ):
        context.known_failures = audit_run.load_known_failures(subject)
        try:
            clock.start()
            _measure_pace(context)
            if looks_for_relations:
                context.column_relations = _find_column_relations(subject, clock, notes)
            outcomes = run_checks(
                context, CHECKS, options.only, [progress, audit_run], is_stopped=interrupts.is_stopped
            )
        finally:
            engine.shut_down()
        if context.has_data:
            outcomes = locate_examples(outcomes, subject.seeds, context.column_relations, subject.rows)
        if _is_overtime(clock) and not can_end_work():
            notes.append(
                "The budget was exceeded, because a check that takes longer than its share cannot be ended on this system, "
                "or outside the main thread. Give timeout=, which ends slow queries everywhere."
            )
        budget_text = NO_LIMIT if clock.budget.runs is None else pluralize(clock.budget.runs, "run")
        if clock.budget.seconds is not None:
            budget_text = f"{format_short(clock.budget.seconds)} s"
        result = AuditResult(
            subject=subject.name,
            kind=_describe_kind(subject, loaded),
            data=_describe_data(subject, data, options.target),
            outcomes=tuple(outcomes),
            seed=options.seed,
            budget=budget_text,
            seconds=clock.seconds,
            calls=sum(outcome.calls for outcome in outcomes),
            words=options.request,
            notes=(*notes, *subject.notes, *_describe_accuracy(context)),
            versions=read_versions(),
            fitted_on_given_data=loaded.fitted_on_given_data,
            has_unmatched_labels=context.has_unmatched_labels,
            interrupted=interrupts.is_stopped() or any(outcome.skip_reason == "interrupted" for outcome in outcomes),
            column_relations=tuple(relation.describe() for relation in context.column_relations),
            front=context.front,
        )
        audit_run.finish(result)
    return result


def _is_overtime(clock: BudgetClock) -> bool:
    return clock.budget.seconds is not None and clock.seconds > clock.budget.seconds + TOLERATED_OVERTIME_SECONDS


def _validate_learner_relations(relations: Mapping[str, LearnerRelation], learner: object, name: str) -> None:
    """Raise an error if relations about training are declared, and the model cannot be trained for them."""
    for relation_name, relation in relations.items():
        if learner is None:
            raise ModelError(
                f"The relation {relation_name!r} is about learners, and {name} cannot be trained here. Give an estimator of "
                "scikit-learn, and labelled data with target=."
            )
        if relation.labelled is is_clusterer(learner):
            kind = "learners with labels" if relation.labelled else "clusterers"
            raise ModelError(f"The relation {relation_name!r} is about {kind}, but {name} is not one.")


def _learns_from_other_forms(subject: SubjectUnderTest) -> bool:
    """Tell whether a learner takes dates instead of days, or images instead of columns of numbers."""
    return bool(getattr(subject.sut, "date_columns", ()) or getattr(subject.sut, "restored_blocks", ()))


def _find_column_relations(subject: SubjectUnderTest, clock: BudgetClock, notes: list[str]) -> list[Constraint]:
    """Return the relations between columns that all given rows keep; none, and a note, if there is no time to look."""
    try:
        with TimeLimit(clock.share(RELATIONS_BUDGET_SHARE).seconds):
            return find_point_constraints(subject.seeds)
    except (OutOfBudget, DeadlinePassed):
        notes.append("There was no time to look for relations between columns. Made rows may break some.")
        return []


def _measure_pace(context: CheckContext) -> None:
    """Measure the speed of the system; a system too slow for the budget is not tried at all."""
    limit = TimeLimit(context.clock.share(1.0).seconds)
    try:
        with limit:
            context.measure_pace()
    except (KeyboardInterrupt, OutOfBudget, DeadlinePassed):
        if limit.passed:
            context.reset_engine()


def _load(model: ModelLike, data: DataLike | None, options: AuditOptions) -> _LoadedModel:
    """Load a model from its path, and fit it if it is an unfitted estimator."""
    name = options.name
    if isinstance(model, str | os.PathLike):
        name = name or name_model(model)
        model = load_model(model, trust=options.trust)
    if "sklearn" not in sys.modules and not isinstance(model, Weka):  # then the model cannot be one of its estimators
        return _LoadedModel(original=model, fitted=model, name=name)
    from sklearn.base import BaseEstimator, clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator | Weka) or not hasattr(model, "fit") or has_morphisms(model):
        return _LoadedModel(original=model, fitted=model, name=name)
    target = options.target
    try:
        check_is_fitted(model)
        learns_here = target is not None or is_clusterer(model)
        return _LoadedModel(original=model, fitted=model, name=name, learner=model if learns_here else None)
    except TypeError:
        return _LoadedModel(original=model, fitted=model, name=name)
    except NotFittedError:
        pass
    kind = type(model).__name__
    columns = getattr(data, "columns", None)
    if target is None or columns is None:
        raise ArgumentError(
            f"This {kind} is not fitted. Fit it first, or give a frame with labels, and target= to name their column."
        )
    if target not in columns:
        raise DataError(f"The target column {target!r} is not in the data. {suggest_name(target, columns)}")
    frame: Any = data
    try:
        fitted = clone(model).fit(_to_training_input(frame.drop(columns=[target])), frame[target])
    except Exception as error:
        raise ModelError(
            f"This {kind} could not be fitted to the data: {format_error_line(error)}. Fit it first, or fix the data."
        ) from error
    return _LoadedModel(original=model, fitted=fitted, name=name, learner=model)


def _to_training_input(frame: pd.DataFrame) -> pd.DataFrame | npt.NDArray[Any]:
    """Return images or sequences as a matrix, with one row per case; other frames as they are."""
    if len(frame.columns) != 1 or not is_array_column(frame.iloc[:, 0]):
        return frame
    arrays = stack_arrays(str(frame.columns[0]), frame.iloc[:, 0].tolist())
    return arrays.reshape(len(arrays), -1)


def _build_subject(
    loaded: _LoadedModel, data: DataLike | None, options: AuditOptions, clock: BudgetClock
) -> tuple[SubjectUnderTest, list[str]]:
    """Return the system with its space and inputs, and warnings about the data as notes for the report."""
    notes = []
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always", AmbiguousData)
        subject = build_subject(
            loaded.fitted,
            data,
            target=options.target,
            space=options.space,
            space_options=options.hints,
            max_rows=MAX_ROWS,
            rng=to_generator("seed", "test", options.seed),
            owner="test",
            scalar=options.scalar,
            classes=options.classes,
            name=loaded.name,
            timeout=options.timeout,
            isolated=needs_processes(options.engine),
            trial_limit=clock.limit_trial(TRIAL_BUDGET_SHARE),
        )
    for warning in caught_warnings:
        if issubclass(warning.category, AmbiguousData):
            notes.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return subject, notes


def _load_baseline(baseline: Front | FilePath | None, subject: SubjectUnderTest) -> Front | None:
    if baseline is None:
        return None
    if isinstance(baseline, str | os.PathLike):
        baseline = Front.load(baseline)
    if baseline.space.names != subject.seeds.space.names:
        raise DataError(
            "The baseline is the border of a model with other inputs: "
            f"{', '.join(baseline.space.names[:5])}, ... Save a new one with --save-front, or front.save()."
        )
    return baseline


def _load_reference(
    reference: DataLike | FilePath | None, target: str | None, subject: SubjectUnderTest
) -> tuple[pd.DataFrame | None, npt.NDArray[Any] | None]:
    """Return the inputs of the training data and their labels, each None if not given."""
    import pandas as pd

    if reference is None:
        return None, None
    frame = to_plain_data(reference)
    if not isinstance(frame, pd.DataFrame):
        reject("reference", "test", "a frame, or the path of a CSV or Parquet file", reference)
    names = list(subject.seeds.space.names)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(
            f"The reference data have no column {missing[0]!r}, which is an input of the model. "
            f"{suggest_name(missing[0], [str(name) for name in frame.columns])}"
        )
    labels = None
    if target is not None and target in frame.columns:
        labels = np.asarray(frame[target].to_numpy())
    return frame[names].reset_index(drop=True), labels


def _describe_kind(subject: SubjectUnderTest, loaded: _LoadedModel) -> str:
    sut, suffix = subject.sut, ""
    if isinstance(sut, Estimator):
        kind = "regressor" if subject.has_numeric_answers else "classifier" if sut.labels is not None else "model"
        steps = getattr(sut.model, "steps", None)
        steps = [step for _, step in steps] if isinstance(steps, list) else []
        names = " > ".join(type(step).__name__ for step in steps or [sut.model])
        kind, suffix = f"a fitted {kind}", f" ({names})"
        if loaded.fitted_on_given_data:
            suffix += ", fitted to these data"
    elif has_morphisms(loaded.original):
        kind = "a test system"
    else:
        is_function = callable(loaded.original) and not hasattr(loaded.original, "predict")
        kind = "a module of torch" if is_torch_module(loaded.original) else "a function" if is_function else "a system"
    classes = f" of {pluralize(len(sut.labels), 'class', 'classes')}" if sut.labels is not None else ""
    return f"{kind}{classes}{suffix}"


def _describe_data(subject: SubjectUnderTest, data: DataLike | None, target: str | None) -> str:
    space = subject.seeds.space
    kind_names = [space.features[position].kind for position in space.scalars]
    kinds = ", ".join(f"{kind_names.count(kind)} {kind}" for kind in dict.fromkeys(kind_names))
    inputs = pluralize(len(subject.seeds), "input")
    if data is None:
        inputs += " generated by the system or drawn from its space"
    labels = "" if target is None else f", labels in {target}"
    blocks = "".join(
        f", {placed_block.block.noun}s of {format_shape(placed_block.block.shape)}" for placed_block in space.blocks
    )
    features = f", {pluralize(len(kind_names), 'feature')} ({kinds})" if kind_names else ""
    return f"{inputs}{blocks}{features}{labels}"


def _describe_accuracy(context: CheckContext) -> list[str]:
    """Return notes on how labels and classes were matched, and on how often the answers agree with the labels."""
    notes = [context.label_note] if context.label_note else []
    if context.truth is None or context.answers is None or len(context.answers) != len(context.truth):
        return notes
    ok = context.answers.ok
    if context.has_numeric_answers or not ok.any() or context.has_unmatched_labels:
        return notes
    agreements = find_agreement(context.answers.values[ok], context.truth[ok])
    return [*notes, f"The answer agrees with the label for {format_percent(agreements.mean())} of the given inputs."]
