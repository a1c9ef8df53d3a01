"""Which model to use: the two rules that chapter 8 of Ying (2024) recommends, and what monotone constraints repair and cost.

Reject every model that breaks a relation strongly for more applicants than a threshold. Of the models whose AUC lies within the
confidence interval of the best one, use the one with the fewest violations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from ...core.result import Measure, ResultPart
from .model_result import ModelResult

#: returns the AUC of one model minus that of another on the same test sets, with an interval
AucComparison = Callable[[ModelResult, ModelResult], Measure]


@dataclass(frozen=True, kw_only=True)
class Rejection:
    """Why a model is rejected: the relation that it breaks most often, and for which share of applicants."""

    model: str
    relation: str
    share: float


@dataclass(frozen=True, kw_only=True)
class ModelChoice(ResultPart):
    """What the selection rule picks, and what that costs."""

    best: str | None  # the model with the highest AUC; None without known outcomes
    band_low: float | None  # the lower end of its AUC interval
    candidates: tuple[str, ...]  # models within the band that are not rejected
    rejections: Mapping[str, Rejection] = field(default_factory=dict)
    selected: str | None = None
    within_band: bool = True
    auc_cost: Measure | None = None  # AUC of the best model minus AUC of the selected one

    JSON_KEYS: ClassVar[Mapping[str, str]] = {"rejections": "rejected"}


def find_rejections(models: Sequence[ModelResult], threshold: float) -> dict[str, Rejection]:
    """Return the models with strong violations of a relation for too many applicants."""
    rejections = {}
    for model in models:
        relation, share = max(
            ((name, shares.strong.value) for name, shares in model.shares.items() if shares.cases),
            key=lambda pair: pair[1],
            default=("", 0.0),
        )
        if share > threshold:
            rejections[model.name] = Rejection(model=model.name, relation=relation, share=share)
    return rejections


def choose_model(models: Sequence[ModelResult], threshold: float, compare: AucComparison) -> ModelChoice:
    """Apply the rules: reject, then take the fewest violations within the AUC interval of the best model.

    If every model within the interval is rejected, the accepted model with the highest AUC is picked, and `within_band` is
    False. Without known outcomes there is no AUC, and the accepted model with the fewest violations is picked.
    """
    rejections = find_rejections(models, threshold)
    accepted_models = [model for model in models if model.name not in rejections]
    aucs = {model.name: model.auc for model in models if model.auc is not None}
    if not aucs:
        selected = min(accepted_models, key=_rank_by_violations, default=None)
        return ModelChoice(
            best=None,
            band_low=None,
            candidates=tuple(model.name for model in accepted_models),
            rejections=rejections,
            selected=None if selected is None else selected.name,
        )
    best = max((model for model in models if model.name in aucs), key=lambda model: aucs[model.name].value)
    band_low = aucs[best.name].low
    candidates = [model for model in accepted_models if aucs[model.name].value >= band_low]
    selected = min(candidates, key=_rank_by_violations, default=None)
    if selected is None:
        selected = max(accepted_models, key=lambda model: aucs[model.name].value, default=None)
    return ModelChoice(
        best=best.name,
        band_low=band_low,
        candidates=tuple(model.name for model in candidates),
        rejections=rejections,
        selected=None if selected is None else selected.name,
        within_band=bool(candidates),
        auc_cost=None if selected is None else compare(best, selected),
    )


def _rank_by_violations(model: ModelResult) -> tuple[float, float, float, float]:
    """Return what is compared: strong violations, weak ones, then the higher AUC, then the simpler model."""
    auc = 0.0 if model.auc is None else model.auc.value
    return model.strong_share.value, model.weak_share.value, -auc, model.rung.complexity


@dataclass(frozen=True, kw_only=True)
class Mitigation(ResultPart):
    """A model with constraints beside the same model without."""

    constrained: str
    unconstrained: str
    size: str
    strong_before: Measure  # share of strong violations without constraints
    strong_after: Measure
    auc_price: Measure  # AUC without constraints minus AUC with them: negative if constraints help
    default_rate_before: float | None = None  # among approved loans
    default_rate_after: float | None = None


def compare_twins(models: Sequence[ModelResult], compare: AucComparison) -> list[Mitigation]:
    """Return one comparison per model with constraints whose twin without them was trained too."""
    by_name = {model.name: model for model in models}
    return [
        Mitigation(
            constrained=model.name,
            unconstrained=twin.name,
            size=model.rung.size,
            strong_before=twin.strong_share,
            strong_after=model.strong_share,
            auc_price=compare(twin, model),
            default_rate_before=twin.default_rate,
            default_rate_after=model.default_rate,
        )
        for model in models
        if model.rung.twin and (twin := by_name.get(model.rung.twin)) is not None
    ]
