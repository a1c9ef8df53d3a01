"""Check what happens to inputs that differ from the given data in form: missing, new, extreme, retyped, incomplete."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._text import format_short, pluralise
from ...core.result import Example, Finding, format_share
from ...errors import BudgetSpent, Interrupted, format_error_line
from ...reporting.document import Section, Table
from ...runs.deadline import DeadlinePassed
from ...runs.flow import ask
from ...space.dates import looks_like_dates
from ...space.features import Categorical
from ...space.outputs import Outputs
from ...space.points import Rows
from ...systems.base import Executor, Function
from ...systems.estimator import Estimator
from ...systems.native_output import hold_output
from ..case_text import extract_row, format_answer, format_case, to_plain, to_plain_answer
from ..check import CheckBudget, CheckFindings, get_facts, make_check, run_flow
from ..context import CheckContext
from ..feature_shuffling import measure_influence
from ..influence import find_material_changes

Response = Literal["copes", "changes", "refuses"]
Mask = npt.NDArray[np.bool_]

MAX_ROWS = 60  # queried in each form
SLOW_ROWS = 2  # the same for a slow system
TRIAL_ROWS = 2  # queried first, because a system that refuses a batch is queried row by row
SINGLE_ROWS = 3  # queried alone
MAX_COLUMNS = 40  # tried in one query, one row each
MAX_COLUMNS_IF_REFUSED = 12  # if each of them takes a call of its own
MAX_ABSENT_COLUMNS = 5  # each takes a call of its own
MAX_COLUMNS_LISTED = 5
#: Another form of the same values must give the same answers. Rounding moves a few rows at a border at most; values that
#: are read wrongly move more than this share.
MIN_CHANGED_SHARE = 0.05
NEW_CATEGORY = "never seen before"
EXTRA_COLUMN = "an_extra_column"
RANDOM_STREAM = 173
RESPONSE_TEXTS: dict[Response, str] = {
    "copes": "copes: the same answers",
    "changes": "answers differently",
    "refuses": "gives no answer",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class _FormTrial:
    """Rows in another form, and what the system made of them."""

    change: str  # as a row of the table
    rows: int  # tried
    failed: int = 0  # rows without an answer
    changed: int = 0  # rows with another answer
    message: str = ""  # of the first failure
    columns: Sequence[str] = ()  # in which rows failed
    example: Example | None = None
    answered_text: str = ""  # if a new value may change the answer, so that "copes" would say too much

    @property
    def response(self) -> Response:
        """What happened, in one word."""
        if self.failed:
            return "refuses"
        return "changes" if self.changed else "copes"

    @property
    def is_misread(self) -> bool:
        """Whether so many answers changed that the values must have been read wrongly."""
        return not self.failed and self.changed >= max(2, MIN_CHANGED_SHARE * self.rows)

    def to_table_row(self) -> list[str]:
        """Return the row of the table."""
        response, remark = RESPONSE_TEXTS[self.response], ""
        if self.failed:
            remark = self.message
            if self.failed < self.rows:
                response += f" for {self.failed:,} of {pluralise(self.rows, 'row')}"
                remark = f"{_list_names(self.columns)}: {remark}" if self.columns else remark
        elif self.changed:
            remark = f"{self.changed:,} of {pluralise(self.rows, 'row')} get another answer"
        if self.answered_text and not self.failed:
            response = self.answered_text
        return [self.change, response, remark]


@dataclass(eq=False, kw_only=True)
class _Interviewer:
    """Queries the system with frames in any form, and compares the answers."""

    context: CheckContext
    budget: CheckBudget
    system: Executor
    frame: pd.DataFrame = field(init=False)  # real rows in their usual form
    answers: Outputs = field(init=False)
    numbers: bool = field(init=False)

    def __post_init__(self) -> None:
        context = self.context
        limit = min(SLOW_ROWS if context.is_slow else MAX_ROWS, len(context.inputs))
        # Whatever the budget allows is worth trying: the forms are in the order of what they tell.
        rows = context.count_affordable(self.budget.remaining(0.5), limit, runs_per_case=4, calls=2)
        rng = np.random.default_rng([context.seed, RANDOM_STREAM])
        self.frame = context.inputs.take(rng.permutation(len(context.inputs))[:rows]).frame.reset_index(drop=True)
        self.answers = self.ask(self.frame)
        answered = self.answers.ok
        self.frame, self.answers = self.frame[answered].reset_index(drop=True), self.answers.take(answered)
        self.numbers = context.has_numeric_answers

    def ask(self, frame: pd.DataFrame) -> Outputs:
        """Query the system with a frame as it is.

        Errors are provoked here on purpose and reported in a table. What the system prints or warns about them would only
        disturb the user.
        """
        with hold_output() as held, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flow = ask(Rows(frame), note="interface", fresh=True)
            outputs = run_flow(self.context, self.budget, flow, self.system)
            if not outputs.ok.all():
                held.drop()
        return outputs

    def find_changes(self, outputs: Outputs, rows: npt.NDArray[np.intp]) -> Mask:
        """Return which answers differ from the usual ones; none if answers depend on the rest of the query anyway."""
        if self.context.query_dependent:
            return np.zeros(len(outputs), dtype=bool)
        return find_material_changes(self.answers.take(rows), outputs, self.numbers)

    def build_example(self, row: int, outputs: Outputs, place: int, form: str, changed: dict[str, Any]) -> Example:
        """Return a real row with its usual answer, and what it gets in another form."""
        case = extract_row(self.frame, row)
        before, after = format_answer(self.answers, row), format_answer(outputs, place)
        return Example(
            text=f"{format_case(case)}: {before}; {form}: {after}",
            case=case,
            answer=to_plain_answer(self.answers, row),
            changed=changed,
            new_answer=to_plain_answer(outputs, place),
        )

    def try_form(self, change: str, form: str, rewrite: Callable[[pd.DataFrame], pd.DataFrame]) -> _FormTrial:
        """Query all rows in another form: first a few of them, since the system may refuse it."""
        rows = np.arange(len(self.frame))
        for part in (rows[:TRIAL_ROWS], rows):
            outputs = self.ask(rewrite(self.frame.iloc[part].copy()))
            failed = np.flatnonzero(~outputs.ok)
            if failed.size:
                place = int(failed[0])
                return _FormTrial(
                    change=change,
                    rows=len(part),
                    failed=len(failed),
                    message=_format_failure(outputs, place),
                    example=self.build_example(int(part[place]), outputs, place, form, {}),
                )
        changes = np.flatnonzero(self.find_changes(outputs, rows))
        example = None
        if changes.size:
            example = self.build_example(int(changes[0]), outputs, int(changes[0]), form, {})
        return _FormTrial(change=change, rows=len(rows), changed=len(changes), example=example)

    def try_values(self, change: str, values: Sequence[tuple[str, Any]], answered_text: str) -> _FormTrial | None:
        """Query one row for each column and value; a first row stays as it is, so that no row is alone."""
        if not values:
            return None
        trial = self._try_values(change, values[:1], answered_text)
        limit = MAX_COLUMNS_IF_REFUSED if trial.failed else MAX_COLUMNS
        return trial if len(values) == 1 else self._try_values(change, values[:limit], answered_text)

    def _try_values(self, change: str, values: Sequence[tuple[str, Any]], answered_text: str) -> _FormTrial:
        rows = np.arange(len(values) + 1) % len(self.frame)
        frame = self.frame.iloc[rows].reset_index(drop=True)
        for name in dict.fromkeys(name for name, _ in values):
            cells = frame[name].astype(object).tolist()
            for place, (column, value) in enumerate(values, start=1):
                if column == name:
                    cells[place] = value
            frame[name] = _build_column(cells, frame[name])
        outputs = self.ask(frame)
        failed = np.flatnonzero(~outputs.ok[1:]) + 1
        changed = int(self.find_changes(outputs, rows)[1:].sum())
        example, message = None, ""
        if failed.size:
            place = int(failed[0])
            name, value = values[place - 1]
            message = _format_failure(outputs, place)
            form = f"with {name} {format_short(value)}"
            example = self.build_example(int(rows[place]), outputs, place, form, {name: to_plain(value)})
        return _FormTrial(
            change=change,
            rows=len(values),
            failed=len(failed),
            changed=changed,
            message=message,
            columns=list(dict.fromkeys(values[place - 1][0] for place in failed.tolist())),
            example=example,
            answered_text=answered_text,
        )

    def try_single_rows(self) -> tuple[_FormTrial, bool]:
        """Query some rows alone; the second value tells whether the failure is one of single rows only."""
        outputs = [self.ask(self.frame.iloc[row : row + 1]) for row in range(min(SINGLE_ROWS, len(self.frame)))]
        answers = Outputs.concat(outputs)
        rows = np.arange(len(answers))
        failed, changes = np.flatnonzero(~answers.ok), np.flatnonzero(self.find_changes(answers, rows))
        place = int((failed if failed.size else changes if changes.size else rows)[0])
        trial = _FormTrial(
            change="a single row",
            rows=len(rows),
            failed=len(failed),
            changed=len(changes),
            message=_format_failure(answers, place) if failed.size else "",
            example=self.build_example(place, answers, place, "alone", {}),
        )
        return trial, len(self.frame) > 1


def check_interface(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Query real rows in other forms, and report what is probably not intended."""
    sut = context.sut  # whose bare form gets frames as they are, if there is one
    system = sut.bare if isinstance(sut, Estimator) and _reads_names(context) else sut
    interviewer = _Interviewer(context=context, budget=budget, system=system)
    if not len(interviewer.frame):
        return CheckFindings(basis="no row has an answer", conclusive=False, skip_reason="inapplicable")
    trials: list[_FormTrial] = []
    findings: list[Finding] = []
    unfinished = ""
    for attempt in (
        _try_single_rows,
        _try_categories,
        _try_beyond,
        _try_missing,
        _try_absent,
        _try_types,
        _try_columns,
        _try_empty,
    ):
        try:
            for trial, finding in attempt(interviewer):
                trials.append(trial)
                findings += [] if finding is None else [finding]
        except (BudgetSpent, DeadlinePassed):
            if not trials:
                raise
            unfinished = "; there was no time for the other forms"
            break
    refused = sum(trial.response == "refuses" for trial in trials)
    changed = sum(trial.response == "changes" and not trial.answered_text for trial in trials)
    basis = f"{pluralise(len(trials), 'form')} of the data: {refused} get no answer, {changed} get other answers{unfinished}"
    section = Section(
        heading="What happens to data in another form",
        text=f"{pluralise(len(interviewer.frame), 'real row')} were queried in each form. An error is often the right "
        "response: it tells the caller that the data are not what the model was made for. An answer that silently changes is "
        "not.",
        table=Table(
            columns=["form of the data", "response", "remark"], rows=[trial.to_table_row() for trial in trials]
        ),
    )
    return CheckFindings(
        basis=basis, findings=findings, sections=[section], skip_reason="budget spent" if unfinished else ""
    )


# -- forms -------------------------------------------------------------------------------------------------------------

_Result = list[tuple[_FormTrial, Finding | None]]


def _try_single_rows(interviewer: _Interviewer) -> _Result:
    trial, has_batches = interviewer.try_single_rows()
    if not has_batches or not (trial.failed or trial.changed):
        return [(trial, None)]
    if trial.failed:
        title = "The model gives no answer to a single row"
        detail = (
            f"{trial.failed} of {pluralise(trial.rows, 'row')} get no answer alone, but do in a batch of several rows. The "
            f"message: {trial.message}"
        )
    else:
        title = "A single row gets another answer than in a batch"
        detail = f"{trial.changed} of {pluralise(trial.rows, 'row')} get another answer alone than in a batch"
    finding = _build_finding(trial, "interface.single row", title=title, detail=f"{detail}.")
    return [(trial, finding)]


def _try_categories(interviewer: _Interviewer) -> _Result:
    if not _reads_names(interviewer.context):
        return []
    names = [
        feature.name
        for feature in interviewer.context.space.features
        if isinstance(feature, Categorical)
        and all(isinstance(value, str) for value in feature.values)
        and not looks_like_dates(feature.values)  # a new date is none of its categories, but no text either
    ]
    values = [(name, NEW_CATEGORY) for name in names]
    trial = interviewer.try_values("a category that the data do not have", values, "answers")
    if trial is None:
        return []
    if not trial.failed:
        return [(trial, None)]
    finding = _build_finding(
        trial,
        "interface.new category",
        about=_list_names(trial.columns),
        columns=trial.columns,
        title=f"The model gives no answer to a category that the data do not have: {_list_names(trial.columns)}",
        detail=f"In {trial.failed} of {pluralise(trial.rows, 'column')} of categories, a row with a new category gets no answer. "
        f"The message: {trial.message}.",
    )
    return [(trial, finding)]


def _try_beyond(interviewer: _Interviewer) -> _Result:
    """Try values above and below the data, zero, and negative values."""
    above: list[tuple[str, Any]] = []
    below: list[tuple[str, Any]] = []
    zero: list[tuple[str, Any]] = []
    negative: list[tuple[str, Any]] = []
    context = interviewer.context
    codes = context.inputs.codes
    for column, feature in enumerate(context.space.features):
        known = codes[~np.isnan(codes[:, column]), column]
        if not feature.numeric or feature.name in context.declared_bounds or not len(known):
            continue
        low, high = float(known.min()), float(known.max())
        width = high - low or max(abs(high), 1.0)
        whole = feature.kind == "integer"
        above.append((feature.name, _to_number(high + width, whole)))
        if low < 0:
            below.append((feature.name, _to_number(low - width, whole)))
        else:
            negative.append((feature.name, _to_number(-width, whole)))
        if low > 0:
            zero.append((feature.name, _to_number(0.0, whole)))
    results: _Result = []
    for name, values, level, where, noun in (
        ("values above the data, by their range", above, "concern", "values above", "a value above the largest one"),
        ("values below the data, by their range", below, "concern", "values below", "a value below the smallest one"),
        ("zero, where the data are above zero", zero, "advice", "a zero below", "a zero below the smallest value"),
        # An error for a negative amount may well be intended.
        ("negative values, where the data have none", negative, "", "", ""),
    ):
        trial = interviewer.try_values(name, values, "answers")
        if trial is None:
            continue
        finding = None
        if trial.failed and level:
            finding = _build_finding(
                trial,
                "interface.beyond",
                about=_list_names(trial.columns),
                columns=trial.columns,
                title=f"The model gives no answer to {where} those in the data: {_list_names(trial.columns)}",
                level=level,
                detail=f"In {trial.failed} of {pluralise(trial.rows, 'column')} of numbers, a row with {noun} of the data gets no "
                f"answer. The message: {trial.message}.",
            )
        results.append((trial, finding))
    return results


def _try_missing(interviewer: _Interviewer) -> _Result:
    context = interviewer.context
    missing_columns: list[bool] = np.asarray(np.isnan(context.inputs.codes).any(axis=0)).tolist()
    results: _Result = []
    for change, wanted in (
        ("missing values, in columns that have some", True),
        ("missing values, in columns that have none", False),
    ):
        names = [name for name, missing in zip(context.space.names, missing_columns, strict=True) if missing == wanted]
        trial = interviewer.try_values(change, [(name, math.nan) for name in names], "answers")
        results += [] if trial is None else [(trial, None)]
    return results


def _try_absent(interviewer: _Interviewer) -> _Result:
    context = interviewer.context
    if not _reads_names(context) or len(context.space) < 2:
        return []
    names = measure_influence(context, interviewer.budget).rank()
    results: list[_FormTrial] = []
    for name in names[:MAX_ABSENT_COLUMNS]:
        drop = methodcaller("drop", columns=name)
        trial = interviewer.try_form(f"without the column {name}", f"without {name}", drop)
        results.append(trial)
        if trial.failed and len(results) >= TRIAL_ROWS and all(earlier.failed for earlier in results):
            break  # it checks its columns
    silent = [(name, trial) for name, trial in zip(names, results, strict=False) if trial.is_misread]
    finding = None
    if silent:
        worst_name, worst = max(silent, key=lambda item: item[1].changed)
        absent = _list_names([name for name, _ in silent])
        finding = _build_finding(
            worst,
            "interface.absent column",
            about=absent,
            title=f"The model answers without a column that it needs, and differently: {absent}",
            detail=f"Without {worst_name}, {format_share(worst.changed, worst.rows, 'row')} get another answer, and no error "
            "says that a column is absent.",
        )
    return [(trial, finding if trial is (silent[0][1] if silent else None) else None) for trial in results]


def _try_types(interviewer: _Interviewer) -> _Result:
    """Try numbers as text, in 32 bits and in types that allow missing values."""
    frame = interviewer.frame
    numeric = [name for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name].dtype)]
    numeric = [name for name in numeric if not pd.api.types.is_bool_dtype(frame[name].dtype)]
    if not numeric:
        return []
    complete = [name for name in numeric if not frame[name].isna().any()]
    results: _Result = []
    if complete and _reads_names(interviewer.context):
        trial = interviewer.try_form(
            "numbers as text", "with numbers as text", lambda part: part.astype(dict.fromkeys(complete, str))
        )
        results.append((trial, _build_type_finding(trial, "as text", "numbers given as text")))
    trial = interviewer.try_form(
        "numbers in 32 bits", "in 32 bits", lambda part: part.astype(dict.fromkeys(numeric, np.float32))
    )
    results.append((trial, None))  # rounding may move a case across a border
    if _reads_names(interviewer.context):
        trial = interviewer.try_form(
            "numbers in nullable types (Int64, Float64)",
            "in nullable types",
            lambda part: part.astype(
                {name: "Int64" if part[name].dtype.kind in "iu" else "Float64" for name in numeric}
            ),
        )
        results.append((trial, _build_type_finding(trial, "in nullable types", "columns of nullable types")))
    return results


def _build_type_finding(trial: _FormTrial, form: str, noun: str) -> Finding | None:
    if not trial.is_misread:
        return None
    return _build_finding(
        trial,
        "interface.type",
        about=form,
        title=f"Numbers given {form} silently get other answers",
        detail=f"{format_share(trial.changed, trial.rows, 'row')} get another answer if the same numbers are given {form}, and "
        "no error says that they were not understood.",
        remedy=f"Convert the columns to numbers before they reach the model, or refuse {noun}: a changed export or a JSON client "
        "delivers them sooner or later.",
    )


def _try_columns(interviewer: _Interviewer) -> _Result:
    if not _reads_names(interviewer.context):
        return []
    trial = interviewer.try_form(
        "an extra column", "with an extra column", lambda part: part.assign(**{EXTRA_COLUMN: 0})
    )
    finding = None
    if trial.is_misread:
        finding = _build_finding(
            trial,
            "interface.extra column",
            detail=f"{format_share(trial.changed, trial.rows, 'row')} get another answer if the data have one more column.",
        )
    results: _Result = [(trial, finding)]
    if len(interviewer.frame.columns) > 1:  # the check "column order" reports what is wrong with it
        reverse = interviewer.frame.columns[::-1]
        results.append((interviewer.try_form("columns in another order", "reversed", lambda part: part[reverse]), None))
    return results


def _try_empty(interviewer: _Interviewer) -> _Result:
    """Try a frame without rows, which executors never pass on."""
    system = interviewer.system
    if (
        not isinstance(system, Function)
        or system.scalar
        or interviewer.context.drive_options.get("timeout") is not None
    ):
        return []
    with hold_output() as held, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            answers = system.function(interviewer.frame.iloc[:0])
            message = "" if len(answers) == 0 else f"it gave {pluralise(len(answers), 'answer')} for no row"
        except (KeyboardInterrupt, Interrupted):
            raise
        except (Exception, SystemExit) as error:
            message = format_error_line(error)
            held.drop()
    return [(_FormTrial(change="a frame without rows", rows=1, failed=int(bool(message)), message=message), None)]


# -- helpers -----------------------------------------------------------------------------------------------------------


def _reads_names(context: CheckContext) -> bool:
    """Tell whether the system gets a frame with names and types of columns."""
    sut = context.sut
    if isinstance(sut, Estimator):
        return sut.columns is not None or sut.width is None
    return isinstance(sut, Function) and not sut.scalar


def _build_finding(trial: _FormTrial, kind: str, columns: Sequence[str] = (), **texts: Any) -> Finding:
    """Return a finding about rows in another form or, with `columns`, about one row for each column."""
    count = trial.failed or trial.changed
    facts = get_facts(kind)
    return Finding(
        **facts,
        **texts,
        cases=count,
        cases_tried=trial.rows,
        noun="column" if columns else "row",
        sampled=not columns,
        examples=() if trial.example is None else (trial.example,),
        columns=tuple(columns),
        affected_rows=0 if columns else count,
        rows=0 if columns else trial.rows,
        inputs="given" if "cause" in facts else "changed",  # a row alone is the same row
    )


def _build_column(cells: list[Any], like: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column with new values, in the usual type as far as it holds them."""
    dtype = like.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        new_values = [value for value in cells if isinstance(value, str) and value not in dtype.categories]
        return pd.Series(
            pd.Categorical(cells, categories=[*dtype.categories, *dict.fromkeys(new_values)]), index=like.index
        )
    if dtype.kind in "iuf":
        missing = any(pd.isna(value) for value in cells)
        whole = dtype.kind in "iu" and not missing and all(float(value).is_integer() for value in cells)
        if isinstance(dtype, np.dtype):
            return pd.Series(cells, index=like.index, dtype=np.int64 if whole else np.float64)
        return pd.Series([pd.NA if pd.isna(value) else value for value in cells], index=like.index, dtype=dtype)
    column = pd.Series(cells, index=like.index, dtype=object)
    return column if dtype.kind in "Ob" and isinstance(dtype, np.dtype) else column.astype(dtype)


def _format_failure(outputs: Outputs, place: int) -> str:
    return outputs.messages.get(place) or "no answer"


def _list_names(names: Sequence[str]) -> str:
    text = ", ".join(names[:MAX_COLUMNS_LISTED])
    return text + (f" and {len(names) - MAX_COLUMNS_LISTED} more" if len(names) > MAX_COLUMNS_LISTED else "")


def _to_number(value: float, whole: bool) -> float | int:
    return round(value) if whole else value


def _find_skip_reason(context: CheckContext) -> str:
    if not context.has_data:
        return "no data are given"
    if context.unstable:
        return "answers do not repeat, so that differences between queries mean nothing"
    if not isinstance(context.sut, Estimator | Function):
        return "the system is not queried with frames"
    return ""


INTERFACE = make_check("interface", check_interface, _find_skip_reason)
