"""What monotone constraints repair, and what they cost: the same model with and without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.result import Measure, ResultPart
from .model_result import ModelResult
from .selection import AucComparison


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
