"""What monotone constraints repair, and what they cost: the same model with and without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .measures import Estimate
from .model_result import ModelResult
from .selection import AucComparison


@dataclass(frozen=True, kw_only=True)
class Mitigation:
    """A model with constraints beside the same model without."""

    constrained: str
    unconstrained: str
    size: str
    strong_before: Estimate  # share of strong violations without constraints
    strong_after: Estimate
    auc_price: Estimate  # AUC without constraints minus AUC with them: negative if constraints help
    default_rate_before: float | None = None  # among approved loans
    default_rate_after: float | None = None

    def document(self) -> dict[str, Any]:
        """Return the comparison as a JSON-serialisable dict."""
        return {
            "constrained": self.constrained,
            "unconstrained": self.unconstrained,
            "strong_before": self.strong_before.document(),
            "strong_after": self.strong_after.document(),
            "auc_price": self.auc_price.document(),
            "default_rate_before": self.default_rate_before,
            "default_rate_after": self.default_rate_after,
        }


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
