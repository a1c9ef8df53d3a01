"""`dm.test`: run all checks that apply to a model, and return ranked findings."""

from __future__ import annotations

from contextlib import nullcontext

from .._clock import MIN_BUSY_SLOWDOWN, ProcessorClock, measure_slowdown, read_clock, use_clock
from .._text import format_short, pluralise
from .._typing import DataLike
from ..core.capability import capability
from ..core.execute import Execution
from ..errors import OutOfBudget
from ..morphisms.subject import SubjectUnderTest, find_system_name
from ..morphisms.system import has_morphisms
from ..runs.deadline import DeadlinePassed, can_end_work
from ..runs.driver import use_journal
from ..runs.flow import Budget
from ..runs.interrupts import Interrupts
from ..runs.versions import read_versions
from ..space.blocks import format_shape
from ..space.column_relations import find_point_constraints
from ..space.constraints import Constraint
from ..systems.estimator import Estimator
from ..systems.torch_module import is_torch_module
from .accuracy import describe_accuracy
from .case_text import show_dates
from .check import run_checks
from .checks import CHECKS
from .context import BudgetClock, CheckContext, TestedModel
from .examples import locate_examples
from .longer_budget import describe_untried
from .options import TestOptions
from .persistence import FailureMemory
from .progress import AuditProgress
from .result import NO_LIMIT, AuditResult

#: After the first Ctrl-C, the running check may end by itself. Then it is ended, so that the report is written within two
#: seconds.
INTERRUPT_GRACE_SECONDS = 0.7
TOLERATED_OVERTIME_SECONDS = 2.0  # beyond the budget, which the notes need not explain
NO_MODEL = "no model: the data alone"
RELATIONS_BUDGET_SHARE = 0.1  # to look for relations between columns


@capability(TestOptions)
def test(options: TestOptions, execution: Execution[CheckContext]) -> AuditResult:
    """Test a model with all checks that apply, and return ranked findings.

    The checks that apply depend on the model (fitted or a learner, classifier or regressor) and on the data (with or
    without labels). They answer these questions: Does the model answer every input? Does the answer depend on repetition,
    order or batches? What happens to data in another form? Does an identifier or a disguised label decide? What could be
    declared? Is every class predicted? Where are the borders, and have they moved? Do the declared expectations
    hold? Does training satisfy the relations that its algorithm must satisfy? Do the data reach all decisions? Checks that do not
    apply are listed with the reason.

    Returns
    -------
    AuditResult
        ``.findings``, ``.outcomes``, ``.passed``; ``.describe()``, ``.to_html("report.html")``, ``.to_json()``,
        ``.to_junit()``, ``.to_markdown()``, ``.to_sarif()``, ``.to_pytest("test_model.py")``.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from sklearn.naive_bayes import GaussianNB
    >>> iris = dm.data.load("iris")
    >>> model = GaussianNB().fit(iris.drop(columns="target"), iris["target"])
    >>> result = dm.test(model, iris, target="target", only=["repeats", "row order"])  # by default all checks
    >>> result.passed
    True
    """
    context, clock = execution.subject, execution.subject.clock
    subject, model = context.subject, context.model
    assert model is not None
    memory = FailureMemory(execution, find_system_name(options.model, options.name, execution.request))
    start_time = read_clock()
    slowdown = clock.recall(measure_slowdown) if context.computes_here else 1.0
    with (
        Interrupts(INTERRUPT_GRACE_SECONDS) as interrupts,
        use_clock(ProcessorClock(slowdown)) if slowdown >= MIN_BUSY_SLOWDOWN else nullcontext(),
        use_journal(execution.journal),
        show_dates(context.date_columns),
        AuditProgress(subject.name, clock, options.progress) as progress,
    ):
        context.known_failures = memory.load_known_failures(subject)
        clock.start()
        if not context.data_only:
            _measure_pace(context)
        if context.looks_for_relations:
            context.column_relations = _find_column_relations(context)
        checks = [check for check in CHECKS if check.without_model or not context.data_only]
        outcomes = run_checks(context, checks, options.only, [progress, memory], is_stopped=interrupts.is_stopped)
        if context.has_data:
            outcomes = locate_examples(outcomes, subject.seeds, context.column_relations, subject.rows)
        clock.stop()
    seconds = read_clock() - start_time
    if slowdown >= MIN_BUSY_SLOWDOWN and seconds > (clock.budget.seconds or 0.0) + TOLERATED_OVERTIME_SECONDS:
        context.notes.append(
            f"The machine was busy: computing took {format_short(float(f'{slowdown:.2g}'))} times as long as usual. So the "
            "budget counts processor time."
        )
    if _is_overtime(clock) and not can_end_work():
        context.notes.append(
            "The budget was exceeded, because a check that takes longer than its share cannot be ended on this system, "
            "or outside the main thread. Give timeout=, which ends slow queries everywhere."
        )
    untried_notes = describe_untried(context, outcomes)
    label_notes = [context.label_note] if context.label_note else []
    return AuditResult(
        subject=subject.name,
        kind=NO_MODEL if context.data_only else _describe_kind(subject, model),
        data=_describe_data(subject, options.data, options.target),  # type: ignore[arg-type]  # the name of a column
        outcomes=tuple(outcomes),
        seed=context.seed,
        budget=_format_budget(clock.budget),
        seconds=clock.seconds,
        calls=sum(outcome.calls for outcome in outcomes),
        words=options.describe_request(),
        notes=(*context.notes, *subject.notes, *label_notes, *describe_accuracy(context), *untried_notes),
        versions=read_versions(),
        fitted_on_given_data=model.fitted_on_given_data,
        has_unmatched_labels=context.has_unmatched_labels,
        interrupted=interrupts.is_stopped() or any(outcome.skip_reason == "interrupted" for outcome in outcomes),
        column_relations=tuple(relation.describe() for relation in context.column_relations),
        front=context.front,
    )


test.__test__ = False  # type: ignore[attr-defined]  # pytest must not collect it because of its name


def _format_budget(budget: Budget) -> str:
    if budget.seconds is not None:
        return f"{format_short(budget.seconds)} s"
    return NO_LIMIT if budget.runs is None else pluralise(budget.runs, "run")


def _is_overtime(clock: BudgetClock) -> bool:
    return clock.budget.seconds is not None and clock.seconds > clock.budget.seconds + TOLERATED_OVERTIME_SECONDS


def _find_column_relations(context: CheckContext) -> list[Constraint]:
    """Return the relations between columns that all given rows keep; none, and a note, if there is no time to look."""
    try:
        with context.clock.limit(context.clock.share(RELATIONS_BUDGET_SHARE).seconds):
            return find_point_constraints(context.inputs)
    except (OutOfBudget, DeadlinePassed):
        context.notes.append("There was no time to look for relations between columns. Made rows may break some.")
        return []


def _measure_pace(context: CheckContext) -> None:
    """Measure the speed of the system; a system too slow for the budget is not tried at all."""
    limit = context.clock.limit(context.clock.share(1.0).seconds)
    try:
        with limit:
            context.measure_pace()
    except (KeyboardInterrupt, OutOfBudget, DeadlinePassed):
        if limit.passed:
            context.reset_engine()


def _describe_kind(subject: SubjectUnderTest, model: TestedModel) -> str:
    sut, suffix = subject.sut, ""
    if isinstance(sut, Estimator):
        kind = "regressor" if subject.has_numeric_answers else "classifier" if sut.labels is not None else "model"
        steps = getattr(sut.model, "steps", None)
        steps = [step for _, step in steps] if isinstance(steps, list) else []
        names = " > ".join(type(step).__name__ for step in steps or [sut.model])
        kind, suffix = f"a fitted {kind}", f" ({names})"
        if model.fitted_on_given_data:
            suffix += ", fitted to these data"
    elif has_morphisms(model.original):
        kind = "a test system"
    else:
        is_function = callable(model.original) and not hasattr(model.original, "predict")
        kind = "a module of torch" if is_torch_module(model.original) else "a function" if is_function else "a system"
    classes = f" of {pluralise(len(sut.labels), 'class', 'classes')}" if sut.labels is not None else ""
    return f"{kind}{classes}{suffix}"


def _describe_data(subject: SubjectUnderTest, data: DataLike | None, target: str | None) -> str:
    space = subject.seeds.space
    kind_names = [space.features[position].kind for position in space.scalars]
    kinds = ", ".join(f"{kind_names.count(kind)} {kind}" for kind in dict.fromkeys(kind_names))
    inputs = pluralise(len(subject.seeds), "input")
    if data is None:
        inputs += " generated by the system or drawn from its space"
    labels = "" if target is None else f", labels in {target}"
    blocks = "".join(
        f", {placed_block.block.noun}s of {format_shape(placed_block.block.shape)}" for placed_block in space.blocks
    )
    features = f", {pluralise(len(kind_names), 'feature')} ({kinds})" if kind_names else ""
    return f"{inputs}{blocks}{features}{labels}"
