"""`TestOptions`: the options of `dm.test`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import join_names, suggest_name, to_jsonable
from .._typing import DataLike, FilePath
from .._validation import validate_choice
from ..core.execute import Execution
from ..core.groups import SEED
from ..core.options import Option
from ..core.parsing import parse_budget
from ..errors import AmbiguousData, ArgumentError, DataError, DatamorphicError
from ..exploration.front import Front
from ..morphisms.model_options import ModelDataOptions
from ..morphisms.subject import SubjectUnderTest, build_subject
from ..morphisms.system import has_morphisms
from ..runs.flow import Budget
from ..space.features import Integer
from ..space.frames import join_target
from ..space.space import Space
from .case_text import to_plain
from .checks import CHECKS
from .context import BudgetClock, CheckContext, TestedModel
from .expectations import Expectations, ExpectLike, PromisesLike, parse_expectations, parse_promises_option
from .preparation import (
    find_learner,
    load_baseline,
    load_reference,
    load_tested_model,
    make_model_stand_in,
    name_data,
    select_columns,
    select_labels,
)

CHECK_NAMES = tuple(check.name for check in CHECKS)
DATA_CHECK_NAMES = tuple(check.name for check in CHECKS if check.without_model)
DEFAULT_BUDGET = "1m"
MAX_ROWS = 100_000  # of the data; of more, a sample of this size is used
TRIAL_BUDGET_SHARE = 0.3  # to try on a few rows how a function is called
#: what a result keeps of the words of the command line
REPEATED_WORDS = (
    *("model", "data", "subject", "target", "towards", "expect", "promises", "baseline", "tolerance", "reference"),
    *("budget", "timeout", "batch", "space"),
)


@dataclass(frozen=True, eq=False)
class TestOptions(ModelDataOptions):
    """The options of one test, validated."""

    __test__ = False  # pytest must not collect it because of its name
    OWNER: ClassVar[str] = "test"
    POSITIONAL: ClassVar[tuple[str, ...]] = ("model", "data", "target", "protected", "expect", "budget", "seed")

    target: Annotated[
        str | npt.ArrayLike | None,
        Option(
            "The column of `data` that holds the label, or one label per case.",
            "COL",
            help="The column of DATA that holds the label.",
        ),
    ] = None
    protected: Annotated[
        Sequence[str] | str,
        Option(
            "Features on which the decision must not depend. Decisions that change when only such a feature changes are counted.",
            "COL",
            help="A feature that no decision may depend on, e.g. gender. Repeatable.",
            repeatable=True,
            expected="the names of features",
            label="Protected columns",
        ),
    ] = ()
    expect: Annotated[
        ExpectLike,
        Option(
            'What the model is expected to satisfy: ``{"monotone": {"income": "up"}, "invariant": ["id"], "outcome": '
            '"approved"}``, a TOML or YAML file with the same content, or relations.',
            "FILE",
            help="A TOML or YAML file with these expectations.",
            stored=False,  # what it declares is
            expected="a mapping, relations, or the path of a TOML or YAML file",
        ),
    ] = None
    _: KW_ONLY
    budget: Annotated[
        Budget | str | float | None,
        Option(
            'The largest cost: ``"1m"``, ``"10000 runs"``; None for no limit. Time counts from the first query of the model '
            "on, without imports of libraries. With a budget in runs, the findings do not depend on the speed of the machine.",
            "BUDGET",
            help='Time or model calls to spend: "1m", "30s", "10000 runs".',
            parse=parse_budget,
        ),
    ] = DEFAULT_BUDGET
    seed: Annotated[int, SEED] = 0
    baseline: Annotated[
        Front | FilePath | None,
        Option(
            "The border of an earlier version, saved with ``result.front.save(...)``, to compare with.",
            "FILE",
            help="The border of an earlier version, written by --save-front: report where it moved.",
            stored=False,
        ),
    ] = None
    tolerance: Annotated[
        float | None,
        Option(
            "Differences up to this size are not reported: of scores (probabilities), and of answers that are numbers (in "
            "their own unit). For a baseline, a row whose answer changed does not count if the two best scores of the model "
            "differ by this little. By default, 1e-6 of the spread of scores and answers, and 0.2 for a baseline.",
            "SIZE",
            above=0,
            help="Do not report differences up to this size, of scores or of answers that are numbers.",
            label="Ignore differences up to",
        ),
    ] = None
    reference: Annotated[
        DataLike | FilePath | None,
        Option(
            "The data that the model was trained on, as a frame or a CSV or Parquet file: rows of `data` that are among them "
            "are reported.",
            "DATA",
            help="The training data, a CSV or Parquet file or data:NAME: report rows that are in both.",
            stored=False,
        ),
    ] = None
    only: Annotated[
        Sequence[str] | str,
        Option(
            "The names of the checks to run; all by default.",
            "CHECK",
            help="Run only this check. Repeatable.",
            repeatable=True,
            label="Run only these checks",
        ),
    ] = ()
    data_only: Annotated[
        bool,
        Option(
            "Whether to look at the data alone, without a model: ``dm.test(None, data, target=..., data_only=True)``.",
            help="Look at the data alone, without MODEL: units, spellings, codes for missing values, impossible values, copies.",
            label="Look at the data only",
        ),
    ] = False
    promises: Annotated[
        PromisesLike,
        Option(
            "A promises file: expectations with one line each, such as ``credit_score: lowers default``. See the guide "
            '"Declare promises".',
            "FILE",
            help="A promises file: one expectation per line, such as 'credit_score: lowers default'.",
            stored=False,
            expected="the path of a promises file",
        ),
    ] = None

    declared: Expectations = field(init=False)  # what `expect` and `protected` declare
    expectations: Expectations = field(init=False)  # with the promises
    budget_text: str | None = field(init=False)  # of a call in Python, unless it is the default

    def validate(self) -> None:
        """Read the expectations, and join labels that were given apart from the data."""
        text = self.budget if isinstance(self.budget, str | int) and self.budget != DEFAULT_BUDGET else None
        Budget.parse(self.budget, needs_unit=True)
        super().validate()
        self._validate_data_only()
        only = (self.only,) if isinstance(self.only, str) else tuple(self.only)
        for check in only:
            validate_choice("only", self.OWNER, check, CHECK_NAMES)
            if self.data_only and check not in DATA_CHECK_NAMES:
                names = join_names([repr(name) for name in DATA_CHECK_NAMES])
                raise ArgumentError(
                    f"The check {check!r} needs a model. With data_only=True (--data-only) there are {names}."
                )
        data, target = join_target(self.data, self.target, getattr(self.space, "blocks", ()))
        declared = parse_expectations(self.expect, self.protected)
        promises = parse_promises_option(self.promises, self.OWNER)
        expectations = declared if promises is None else declared.add_promises(promises)
        self.set(only=only, data=data, target=target, budget_text=text, declared=declared, expectations=expectations)

    def _validate_data_only(self) -> None:
        """Raise `ArgumentError` if a model is given although only data are tested, or none although a model is."""
        if not self.data_only:
            if self.model is None:
                raise ArgumentError(
                    "There is no model to test. Give one, or look at the data alone with data_only=True (--data-only)."
                )
            return
        if self.model is not None:
            raise ArgumentError(
                "data_only=True (--data-only) looks at the data alone, but a model is given. Leave one of them out; with a "
                "model, the check 'table' looks at the data, too."
            )
        if self.data is None or isinstance(self.data, Space) or not hasattr(self.data, "__len__"):
            raise ArgumentError(
                "data_only=True (--data-only) needs data. Give a frame, or the path of a CSV or Parquet file."
            )
        needless = next((name for name in ("promises", "baseline", "classes") if getattr(self, name) is not None), "")
        if not needless and any(_describe_declarations(parse_expectations(self.expect, self.protected)).values()):
            needless = "expect"
        if not needless and self.protected:
            needless = "protected"
        if needless:
            raise ArgumentError(
                f"{needless}= is about a model, and data_only=True (--data-only) looks at the data alone. Leave one of them out."
            )

    def to_request(self) -> dict[str, Any]:
        """Return what a run store keeps of the options."""
        return super().to_request() | _describe_declarations(self.declared)

    def describe_request(self) -> dict[str, Any]:
        """Return what repeats the test, as far as it can be written: what a result calls its words."""
        if self.words:
            return self._describe_command()
        return {
            "target": self.target,
            "protected": list(self.declared.protected),
            "expect": _to_path(self.expect),
            "promises": _to_path(self.promises),
            **_describe_declarations(self.declared),
            "baseline": _to_path(self.baseline),
            "tolerance": self.tolerance,
            "reference": _to_path(self.reference),
            "data_only": self.data_only,
            "budget": self.budget_text,
            "scalar": self.scalar,
            "classes": None if self.classes is None else [to_plain(label) for label in self.classes],
            **to_jsonable(self.hints.to_dict()),
        }

    def _describe_command(self) -> dict[str, Any]:
        """Return the arguments of the command line; paths within the current folder without that folder."""
        folder = os.path.join(os.getcwd(), "")
        words = {
            name: word.removeprefix(folder) if isinstance(word, str) else word for name, word in self.words.items()
        }
        request = {
            "from_files": True,
            **{name: words.get(name) for name in REPEATED_WORDS},
            **{name: words.get(name, []) for name in ("protected", "monotone", "invariant")},
            **{name: getattr(self, name) for name in ("trust", "scalar", "name")},
            "allow_incomplete": bool(words.get("allow_incomplete")),
            "data_only": self.data_only,
            "classes": None if self.classes is None else [to_plain(label) for label in self.classes],
            **to_jsonable(self.hints.to_dict()),
        }
        columns = getattr(self.data, "columns", None)
        if self.space is not None and columns is not None:  # for the file that --pytest writes
            inputs = {*self.space.names, *(placed.block.name for placed in self.space.blocks)}
            request["space_columns"] = [name for name in columns if name in inputs]
        return request

    # -- what is tested ------------------------------------------------------------------------------------------------

    def make_subject(self, execution: Execution[Any]) -> CheckContext:
        """Return the model, fitted if it was not, with the data and all that the checks need."""
        target: Any = self.target  # the name of a column: validation has joined labels with the data
        clock = BudgetClock(self.limits, execution)
        if self.data_only:
            model = make_model_stand_in(self.name or name_data(self.words.get("data")))
            subject, notes = self._build_data_subject(execution, model, clock)
        else:
            model = load_tested_model(self.model, self.data, target, name=self.name, trust=self.trust)
            subject, notes = self._build_tested_subject(execution, model, clock)
        if model.fitted_on_given_data:
            kind = type(model.original).__name__
            notes.insert(0, f"The {kind} was not fitted. It was fitted to the data before the test.")
        self.expectations.validate_subject(subject, [str(name) for name in getattr(self.data, "columns", ())])
        reference, reference_labels = load_reference(self.reference, target, subject)
        has_data = self.data is not None and not isinstance(self.data, Space)
        return CheckContext(
            subject=subject,
            model=model,
            expectations=self.expectations,
            clock=clock,
            learner=find_learner(model, subject, self.expectations),
            truth=select_labels(self.data, target, subject),
            frame=select_columns(self.data, target, subject),
            label_name=target or "",
            data_only=self.data_only,
            baseline=load_baseline(self.baseline, subject),
            reference=reference,
            reference_truth=reference_labels,
            declared_bounds=frozenset(subject.seeds.space.names if self.space is not None else self.bounds or ()),
            has_data=has_data,
            # a declared space has its own relations between columns, and those between pixels would mean nothing
            looks_for_relations=has_data
            and not subject.seeds.space.blocks
            and self.space is None
            and not has_morphisms(model.original),
            notes=notes,
            seed=self.seed,
            tolerance=self.tolerance,
            drive_options={"engine": execution.engine, "timeout": self.timeout, "batch": self.batch},
        )

    def _build_data_subject(
        self, execution: Execution[Any], model: TestedModel, clock: BudgetClock
    ) -> tuple[SubjectUnderTest, list[str]]:
        """Return a subject of the data alone; where no space can be inferred, its inputs are the numbers of the rows."""
        data: Any = self.data
        columns = list(getattr(data, "columns", ()))
        if isinstance(self.target, str) and self.target not in columns:
            raise DataError(
                f"The target column {self.target!r} is not in the data. {suggest_name(self.target, columns)}"
            )
        if not len(data):
            raise DataError("The data have no rows. Give at least one.")
        try:
            subject, _ = self._build_tested_subject(execution, model, clock)  # nothing depends on how columns are read
            date_notes = {column.note for column in getattr(subject.sut, "date_columns", ())}
            return replace(subject, notes=[note for note in subject.notes if note not in date_notes]), []
        except (DatamorphicError, TypeError, ValueError, OverflowError) as error:
            row_count = min(len(data), MAX_ROWS)
            space = Space([Integer("row", 0, max(1, row_count - 1))])
            numbers = pd.DataFrame({"row": np.arange(row_count)})
            subject = build_subject(
                model.fitted, numbers, space=space, rng=execution.rng, owner=self.OWNER, name=model.name
            )
            reason = " ".join(str(error).split())
            return subject, [
                f"The columns could not be read as inputs of a model, so some checks were left out: {reason}"
            ]

    def _build_tested_subject(
        self, execution: Execution[Any], model: TestedModel, clock: BudgetClock
    ) -> tuple[SubjectUnderTest, list[str]]:
        """Return the system with its space and inputs, and warnings about the data as notes for the report."""
        notes, target = [], self.target
        with warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always", AmbiguousData)
            subject = self.build_subject(
                execution,
                self.data,
                target,  # type: ignore[arg-type]
                model=model.fitted,
                name=model.name,
                max_rows=MAX_ROWS,
                trial_limit=clock.limit_trial(TRIAL_BUDGET_SHARE),
            )
        for warning in caught_warnings:
            if issubclass(warning.category, AmbiguousData):
                notes.append(str(warning.message))
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        return subject, notes

    def describe_run(self, execution: Execution[Any]) -> dict[str, Any]:
        """Return the name of the system and the request, with the model and the inputs to compare."""
        subject = execution.subject.subject
        model = execution.subject.model.fitted if self.data_only else self.model
        return {"system": subject.name, "parameters": self.to_request(), "model": model, "seeds": subject.seeds}


def _describe_declarations(expectations: Expectations) -> dict[str, Any]:
    return {
        "monotone": [f"{name}={direction}" for name, direction in expectations.monotone.items()],
        "invariant": list(expectations.invariant),
        "towards": to_plain(expectations.outcome),
        "relations": [relation.name for relation in expectations.relations],
    }


def _to_path(value: object) -> str | None:
    return os.fspath(value) if isinstance(value, str | os.PathLike) else None
