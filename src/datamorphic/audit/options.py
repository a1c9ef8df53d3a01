"""`TestOptions`: the options of `dm.test`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, ClassVar

import numpy.typing as npt

from .._text import to_jsonable
from .._typing import DataLike, FilePath
from .._validation import validate_choice
from ..core.execute import Execution
from ..core.groups import SEED
from ..core.options import Option
from ..core.parsing import parse_budget
from ..errors import AmbiguousData
from ..exploration.front import Front
from ..morphisms.model_options import ModelDataOptions
from ..morphisms.subject import SubjectUnderTest
from ..morphisms.system import has_morphisms
from ..runs.flow import Budget
from ..space.frames import join_target
from ..space.space import Space
from .case_text import to_plain
from .checks import CHECKS
from .context import BudgetClock, CheckContext, TestedModel
from .expectations import Expectations, ExpectLike, PromisesLike, parse_expectations, parse_promises_option
from .preparation import find_learner, load_baseline, load_reference, load_tested_model, select_labels

CHECK_NAMES = tuple(check.name for check in CHECKS)
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
        only = (self.only,) if isinstance(self.only, str) else tuple(self.only)
        for check in only:
            validate_choice("only", self.OWNER, check, CHECK_NAMES)
        data, target = join_target(self.data, self.target, getattr(self.space, "blocks", ()))
        declared = parse_expectations(self.expect, self.protected)
        promises = parse_promises_option(self.promises, self.OWNER)
        expectations = declared if promises is None else declared.add_promises(promises)
        self.set(only=only, data=data, target=target, budget_text=text, declared=declared, expectations=expectations)

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
        return {"system": subject.name, "parameters": self.to_request(), "model": self.model, "seeds": subject.seeds}


def _describe_declarations(expectations: Expectations) -> dict[str, Any]:
    return {
        "monotone": [f"{name}={direction}" for name, direction in expectations.monotone.items()],
        "invariant": list(expectations.invariant),
        "towards": to_plain(expectations.outcome),
        "relations": [relation.name for relation in expectations.relations],
    }


def _to_path(value: object) -> str | None:
    return os.fspath(value) if isinstance(value, str | os.PathLike) else None
