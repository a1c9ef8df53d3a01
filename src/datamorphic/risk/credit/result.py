"""`CreditReport`: models of credit risk beside each other, and which one to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from ..._lazy import pd
from ..._text import format_percent, join_names, pluralise
from ..._typing import FilePath
from ..._validation import validate_choice
from ...core.result import Measure, Result
from ...relations.algebra.change import ChangeRelation
from ...reporting.junit import JUnitCase
from .evidence import LoanShortage, find_shortages, is_share_undecided
from .judging import find_directions
from .measures import Flags, average_measurements, measure_auc_difference
from .model_result import ModelResult
from .selection import Mitigation, ModelChoice, choose_model, compare_twins


@dataclass(frozen=True, eq=False, kw_only=True)
class CreditReport(Result):
    """The result of `dm.credit`.

    Attributes
    ----------
    data : str
        The name of the data.
    loans : int
        The number of loans.
    default_rate : float or None
        The share of loans that defaulted; None if it is not known who did.
    models : tuple of ModelResult
        The measurements of each model.
    relations : tuple of ChangeRelation
        What is expected of the models.
    threshold : float
        The share of strong violations of a relation above which a model is rejected.
    settings : dict
        The options, and the seed.
    notes : list of str
        Remarks for readers.
    """

    _SUMMARY = ("selected", "passed", "complete", "answers")
    _PAGE: ClassVar[str] = "risk.credit.page:build_page"

    data: str
    loans: int
    default_rate: float | None
    models: tuple[ModelResult, ...]
    relations: tuple[ChangeRelation, ...]
    threshold: float
    trained: bool  # whether the models were trained here, on part of the data
    settings: Mapping[str, Any]
    tests: Mapping[int, Flags] = field(repr=False)  # who defaulted in the test set of each repetition
    later: str = ""  # the name of later data that models were tested on
    notes: Sequence[str] = ()
    unfinished: tuple[str, ...] = ()  # models that were not measured, or not in every repetition
    interrupted: bool = False
    out_of_budget: bool = False
    answers: int = 0
    seconds: float = 0.0

    def __repr__(self) -> str:
        return f"CreditReport({len(self.models)} models, {len(self.relations)} relations, selected: {self.selected})"

    def __getitem__(self, name: str) -> ModelResult:
        return self._models_by_name[name]

    def _find_model(self, parameter: str, model: ModelResult | str) -> ModelResult:
        if isinstance(model, ModelResult):
            return model
        return self[validate_choice(parameter, "CreditReport.compare_auc", model, self._models_by_name)]

    @cached_property
    def _models_by_name(self) -> dict[str, ModelResult]:
        return {model.name: model for model in self.models}

    # -- the verdict -------------------------------------------------------------------------------------------------

    @cached_property
    def choice(self) -> ModelChoice:
        """What the selection rule picks, and what it costs."""
        return choose_model(self.models, self.threshold, self.compare_auc)

    @property
    def selected(self) -> str | None:
        """The name of the model that the selection rule picks; None if all are rejected, or too few loans say so of it."""
        return None if self.choice.selected in self.undecided else self.choice.selected

    @cached_property
    def undecided(self) -> dict[str, LoanShortage]:
        """Given models with too few loans for a verdict, and how many more they need."""
        return {} if self.trained else find_shortages(self.models, self.threshold)

    @property
    def decided(self) -> bool:
        """Whether there are enough loans for a verdict on each given model."""
        return not self.undecided

    @property
    def rejected(self) -> list[str]:
        """The names of the models that are rejected, without those that have too few loans for a verdict."""
        return [name for name in self.choice.rejections if name not in self.undecided]

    @property
    def passed(self) -> bool:
        """Whether the measurements are complete, the loans suffice for a verdict, and the models can be used."""
        return self.complete and self.decided and self.usable

    @property
    def usable(self) -> bool:
        """Whether no given model is rejected or, if models were trained here, whether one can be used."""
        return self.selected is not None if self.trained else not self.rejected

    @property
    def complete(self) -> bool:
        """Whether everything was measured before the budget was spent, and without an interrupt."""
        return not self.unfinished and not self.interrupted

    @cached_property
    def mitigations(self) -> list[Mitigation]:
        """Models with monotone constraints beside the same models without."""
        return compare_twins(self.models, self.compare_auc)

    @cached_property
    def directions(self) -> dict[str, int]:
        """The direction that the relations demand per column: 1 if more of it may only raise the risk."""
        return find_directions(self.relations)

    def compare_auc(self, first: ModelResult | str, second: ModelResult | str) -> Measure:
        """Return the AUC of one model minus that of another on the same test sets, with an interval."""
        models = [self._find_model("first", first), self._find_model("second", second)]
        scores = [{result.repetition: result.scores for result in model.repetitions} for model in models]
        shared_repetitions = [
            repetition for repetition in scores[0] if repetition in scores[1] and repetition in self.tests
        ]
        differences = []
        for repetition in shared_repetitions:
            first_scores, second_scores = (own[repetition] for own in scores)
            known = ~np.isnan(first_scores + second_scores)  # both models answered
            defaulted = self.tests[repetition][known]
            differences.append(measure_auc_difference(first_scores[known], second_scores[known], defaulted))
        return average_measurements(differences, models[0].test_to_training)

    @property
    def headline(self) -> str:
        """The outcome in one line."""
        if self.choice.selected in self.undecided or (self.undecided and not self.rejected):
            return f"too few loans for a verdict on {join_names(list(self.undecided))}"
        if self.selected is None:
            return f"none of {pluralise(len(self.models), 'model')} can be used"
        return f"{self.selected} is selected among {pluralise(len(self.models), 'model')}"

    # -- tables ------------------------------------------------------------------------------------------------------

    @cached_property
    def table(self) -> pd.DataFrame:
        """A frame with a row per model: AUC, Gini, KS and shares of violations, with their intervals."""
        rows = []
        for model in self.models:
            free, total = model.violation_free
            row: dict[str, Any] = {"model": model.name}
            for name in ("auc", "gini", "ks"):
                row |= _spread(name, getattr(model, name))
            row["default_rate"] = model.default_rate
            row |= _spread("strong", model.strong_share) | _spread("weak", model.weak_share)
            row |= {"violation_free": free / total, "repetitions": total}
            row["rejected"] = model.name in self.rejected
            rows.append(row)
        return pd.DataFrame(rows)

    @cached_property
    def violations(self) -> pd.DataFrame:
        """A frame with a row per model and relation: shares of strong and weak violations with their intervals."""
        rows = []
        for model in self.models:
            for relation, share in model.shares.items():
                rows.append(
                    {
                        "model": model.name,
                        "relation": relation,
                        **_spread("strong", share.strong),
                        **_spread("weak", share.weak),
                        "cases": share.cases,
                        "clipped": share.clipped,
                        "inapplicable": share.inapplicable,
                        "undefined": share.undefined,
                    }
                )
        return pd.DataFrame(rows)

    # -- exports -----------------------------------------------------------------------------------------------------

    def to_verdict(self, path: FilePath | None = None) -> str:
        """Return the verdict as an HTML page that fits one printed page, and write it to `path` if given."""
        return self.to_html(path, one_page=True)

    def document(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dict."""
        return self._collect(
            *(
                "data",
                "loans",
                "default_rate",
                "selected",
                "passed",
                "complete",
                "undecided",
                "threshold",
                "choice",
                "mitigations",
            ),
            *("models", "settings", "answers", "seconds", "unfinished", "interrupted", "notes"),
            later=self.later or None,
            relations={relation.name: relation.statement for relation in self.relations},
        )

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return one test case per model and relation.

        A case fails if a given model breaks a relation strongly for too many applicants. Models that were trained here
        for comparison only, and are rejected, are skipped; if none can be used, a case fails. A case is also skipped if there
        are too few loans for a verdict.
        """
        cases = []
        for model in self.models:
            for relation, share in model.shares.items():
                says = f"strong {format_percent(share.strong.value)}, weak {format_percent(share.weak.value)}"
                name = f"{model.name}: {relation}"
                if model.name in self.undecided and is_share_undecided(share, self.threshold):
                    low, high = format_percent(share.strong.low), format_percent(share.strong.high)
                    message = f"too few loans for a verdict: {says}; the true share of strong ones is {low} to {high}"
                    cases.append(JUnitCase(name=name, outcome="skipped", message=message))
                    continue
                if share.strong.value <= self.threshold:
                    cases.append(JUnitCase(name=name, output=says))
                    continue
                limit = f"at most {format_percent(self.threshold)} strong violations are accepted"
                outcome: Literal["skipped", "failed"] = "skipped" if self.trained else "failed"
                cases.append(JUnitCase(name=name, outcome=outcome, kind="violations", message=f"{says}; {limit}"))
        if self.trained:
            usable = self.selected is not None
            cases.append(
                JUnitCase(
                    name="a model can be used",
                    outcome="passed" if usable else "failed",
                    message="" if usable else "every model is rejected",
                    output=self.selected or "",
                )
            )
        return cases

    def _export_name(self) -> str:
        return f"credit models on {self.data}"

    def _export_properties(self) -> Mapping[str, str]:
        settings = {name: str(value) for name, value in self.settings.items()}
        return settings | {"complete": str(self.complete).lower()}


def _spread(name: str, measure: Measure | None) -> dict[str, float | None]:
    """Return a figure and the ends of its interval as columns of a table."""
    return dict.fromkeys((name, f"{name}_low", f"{name}_high")) if measure is None else measure.to_columns(name)
