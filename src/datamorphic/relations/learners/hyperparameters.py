"""Other values of a learner's parameters: each documented choice, and the boundaries of each documented range.

Herbold & Haar (2022) found faults of learners with such values. scikit-learn documents them for its own learners. Of other
learners only parameters that are True or False are known to have another value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._text import pluralise
from ...systems.learner import read_parameters
from ...systems.training import Training
from .sampling import TrainingSampler

VARIED_SHARE = 0.5  # of training sets, for which one parameter gets another value
SMALL_STEP = 1e-3  # from a boundary that does not belong to a range
# they change what is printed or drawn, how much memory is used or what is expected of the data, but not what is learnt
LEFT_OUT_PARAMETERS = frozenset(
    {
        *("random_state", "n_jobs", "verbose", "verbosity", "silent", "memory", "cache_size", "pre_dispatch"),
        *("copy", "copy_x", "copy_X", "copy_X_train", "overwrite_x", "warm_start", "cv", "error_score", "refit"),
        *(
            "check_inverse",
            "validate",
            "sparse_output",
            "transform_output",
            "missing_values",
            "enable_metadata_routing",
        ),
    }
)
LEFT_OUT_VALUES = ("precomputed", "precomputed_nearest_neighbors", "error", "deprecated", "warn", "auto_deprecated")


@dataclass(frozen=True, kw_only=True)
class VariedParameters:
    """Draws training sets, some of them for the learner with another value of one parameter."""

    draw: TrainingSampler
    values: tuple[tuple[str, Any], ...]

    def __call__(self, rng: np.random.Generator, cases: int) -> Training:
        """Return one training set with at most `cases` test cases."""
        training = self.draw(rng, cases)
        if not self.values or rng.random() >= VARIED_SHARE:
            return training
        return replace(training, parameters=(self.values[rng.integers(len(self.values))],))

    def describe(self) -> str:
        """Return how the parameters vary."""
        if not self.values:
            return "no other value of its parameters is known"
        names = pluralise(len({name for name, _ in self.values}), "parameter")
        values = pluralise(len(self.values), "other value")
        return f"{VARIED_SHARE:.0%} of the training sets with another value of one parameter ({values} of {names})"


def list_parameter_values(learner: Any) -> tuple[tuple[str, Any], ...]:
    """Return other values of the parameters of a learner, with their names."""
    reference = getattr(learner, "like", None)
    documented = getattr(learner if reference is None else reference, "_parameter_constraints", {})
    pairs = []
    for name, value in read_parameters(learner).items():
        if name in LEFT_OUT_PARAMETERS or "__" in name or hasattr(value, "fit"):
            continue
        constraints = documented.get(name)
        if not isinstance(constraints, list):
            constraints = ["boolean"] if isinstance(value, bool) else []
        candidates = dict.fromkeys(value for constraint in constraints for value in _list_values(constraint))
        pairs += [(name, other) for other in candidates if (type(other), other) != (type(value), value)]
    return tuple(pairs)


def _list_values(constraint: Any) -> list[Any]:
    """Return the choices or the boundaries of one constraint of scikit-learn."""
    if constraint is None:
        return [None]
    if isinstance(constraint, str):
        return [False, True] if constraint == "boolean" else []
    if type(constraint).__name__ in ("StrOptions", "Options"):
        choices = set(constraint.options) - set(getattr(constraint, "deprecated", ()))
        return [choice for choice in sorted(choices, key=str) if choice not in LEFT_OUT_VALUES]
    if type(constraint).__name__ in ("Interval", "RealNotInt"):
        return _list_boundaries(constraint)
    return []


def _list_boundaries(interval: Any) -> list[Any]:
    """Return the least and the greatest values of a range, as far as it has any."""
    whole = interval.type.__name__ == "Integral"
    step: Any = 1 if whole else SMALL_STEP
    values = []
    for bound, is_closed, sign in (
        (interval.left, interval.closed in ("left", "both"), 1),
        (interval.right, interval.closed in ("right", "both"), -1),
    ):
        if bound is None or np.isinf(bound):  # a closed range without a bound contains infinity
            values += [-sign * np.inf] if is_closed and not whole else []
            continue
        boundary = int(bound) if whole else float(bound)
        values += ([boundary] if is_closed else []) + [boundary + sign * step]
    return values
