"""`dm.check`: check a learner or a model against metamorphic relations."""

from __future__ import annotations

from dataclasses import replace

from ..._text import pluralise
from ...core.capability import capability
from ...core.execute import Execution
from ...runs.driver import Driver
from .against import FIRST_BUDGET_SHARE, AnswerRecord, check_other, query_scores, run_sessions
from .options import CheckOptions, CheckSubject
from .persistence import EarlierViolations
from .result import CheckReport
from .wrappers import find_hidden_parameters

MAX_SHRUNK_RELATIONS = 6  # relations with a smallest violation in the report; hypotheses half as many
SMALLEST_VIOLATIONS = "the smallest violations"  # what is unfinished if only these were not found


@capability(CheckOptions)
def check(options: CheckOptions, execution: Execution[CheckSubject]) -> CheckReport:
    """Check a learner or a model against metamorphic relations on many inputs.

    A learner (anything with ``fit`` and ``predict``, or a clusterer) is trained on source data and on follow-up data, and its labels
    are compared. A model that cannot be trained again is queried as it is. Relations that every correct implementation
    of the learner's algorithm satisfies verify it: a violation is a fault. All others validate it: a violation shows how
    the algorithm behaves. Violations by learners are kept in the run store, and replayed first in the next run.

    With `against`, another learner or model gets the same inputs, and the report begins with the relations that hold in only one of
    both and with the answers that differ. Whether it has passed is said of the first.

    Returns
    -------
    CheckReport
        ``.table``, ``.violations``, ``.shrunk(0)``, ``.against``, ``.passed``, ``.describe()``, ``.to_html("report.html")``.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> report = dm.check(KNeighborsClassifier(3), "random", ["MR-0", "MR-1.1"], inputs=40)
    >>> report.table[["relation", "purpose", "violated"]].values.tolist()
    [['MR-0', 'verification', 0], ['MR-1.1', 'validation', 8]]
    """
    subject, notes = execution.subject, []
    other, record = subject.other, AnswerRecord()
    data_text = subject.data
    learner_session = subject.learner
    earlier_violations = EarlierViolations()
    obstacle = ""  # why answers cannot be compared
    if other is not None:
        query_scores(subject.sessions + other.sessions)
    if learner_session is not None:
        notes += find_hidden_parameters(learner_session.learner)
        if learner_session.random_data:
            data_text = learner_session.use_random_data(learner_session.random_data, options.rows)
        if options.vary_parameters:
            data_text += f"; {learner_session.vary_parameters()}"
        if not learner_session.is_repeatable(execution.remaining_budget):
            notes.append(learner_session.accept_unrepeatable())
            obstacle = f"{subject.name} gives different answers when it is fitted again"
        if execution.session is not None:
            earlier_violations = EarlierViolations.replay(execution, learner_session)
    against = None
    if other is None:
        run_sessions(subject)
    else:
        with record.listen(subject):
            run_sessions(subject, execution.remaining_budget.scale(FIRST_BUDGET_SHARE))
        against = check_other(execution, record, notes, obstacle, shrink=options.shrink)
    report = CheckReport.from_sessions(
        subject.sessions,
        earlier_violations.by_relation,
        subject=subject.name,
        data=data_text,
        seed=execution.seed,
        known=subject.known,
        against=against,
    )
    if options.shrink:
        report = replace(report, examples=report.find_smallest_violations(MAX_SHRUNK_RELATIONS))
        if not execution.counter.interrupted:  # a resumed run goes on with the smallest violations
            report = replace(report, causes=report.find_causes())
    interrupted = execution.counter.interrupted
    all_sessions = subject.sessions + ([] if other is None else other.sessions)
    unfinished = list(dict.fromkeys(name for session in all_sessions for name in session.unfinished))
    unfinished += [] if against is None else against.unfinished
    complete = not unfinished and not interrupted
    if not complete:
        cause = "The check was stopped" if interrupted else "The budget was spent"
        notes.append(f"{cause} before everything was tried.")
    if replayed_count := sum(entry.replayed for entry in report.entries):
        verb = "was" if replayed_count == 1 else "were"
        notes.append(f"{pluralise(replayed_count, 'violation')} of earlier checks {verb} replayed and reproduced.")
    report = replace(
        report,
        notes=tuple(notes),
        seconds=execution.seconds,
        complete=complete,
        unfinished=tuple(unfinished if unfinished or complete else [SMALLEST_VIOLATIONS]),
        interrupted=interrupted,
        runs=execution.counter.runs,
        calls=execution.counter.all_calls,
    )
    if execution.session is not None and learner_session is not None:
        earlier_violations.update(execution, learner_session, report)
    settings = {name: getattr(options, name) for name in ("engine", "timeout", "batch", "progress")}
    for session in all_sessions:
        session.drive = Driver(settings).drive  # the report may shrink further violations when this run has ended
    return report
