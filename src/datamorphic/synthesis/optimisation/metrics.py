"""What is optimised: metrics of test sets, and what single cases contribute to them.

A metric is a number that grows with the quality of a test set. The strategies also need to know which cases a metric could
do without. `FitnessMetric.score_cases` says what each case contributes, and `FitnessMetric.choose_weakest` chooses several
cases to remove, one after the other, because two cases may be dispensable only as long as the other one stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..._validation import is_number
from ...errors import DataError, DatamorphicError, TestSystemError, format_error_line
from ...morphisms.cases import TestSet
from ...morphisms.morphism import Morphism
from ...space.features import Mask
from ...systems.base import Executor

Numbers = npt.NDArray[np.float64]
RowNumbers = npt.NDArray[np.intp]
#: the name of a metric, or a function of a test set
MetricLike: TypeAlias = str | Callable[[TestSet], float]

REMOVAL_ROUNDS = 10  # in which the weakest cases are removed, if scores are cheap to compute again
MAX_MEASURED_CASES = 64  # whose contributions are measured one by one
ESTIMATE_REPEATS = 4  # of the division of larger sets into groups that are left out together


class FitnessMetric:
    """A metric of test sets that is to grow.

    `prepare` is called once, with the executed test set that the optimisation starts from. The other methods are called
    with sets of the same space, in any order, and must not depend on what they were called with before.
    """

    name: str
    needs_outputs: bool = False  # whether the cases must be executed
    recorder: Executor | None = None  # what to query instead of the system, with scores, if answers do not say enough
    has_cheap_scores: bool = True  # whether scores take about as long as one measurement
    remark: str = ""  # what a reader should know about the figures, known after `prepare`

    def prepare(self, start: TestSet) -> None:
        """Fit the metric to the test set that the optimisation starts from."""

    def measure(self, tests: TestSet) -> float:
        """Return the value of the metric for a test set."""
        raise NotImplementedError

    def score_cases(self, tests: TestSet) -> Numbers:
        """Return the contribution of each case to the metric."""
        raise NotImplementedError

    def find_needed(self, tests: TestSet) -> Mask:
        """Return cases that together cover all that the whole set covers; none if the metric is not about coverage."""
        return np.zeros(len(tests), dtype=bool)

    def choose_weakest(self, tests: TestSet, count: int, removable: Mask, rng: np.random.Generator) -> RowNumbers:
        """Return `count` of the removable rows, which the metric can do without most easily."""
        rounds = REMOVAL_ROUNDS if self.has_cheap_scores else 1
        return remove_in_rounds(self.score_cases, tests, count, removable, rng, rounds=rounds)


def remove_in_rounds(
    score_cases: Callable[[TestSet], Numbers],
    tests: TestSet,
    count: int,
    removable: Mask,
    rng: np.random.Generator,
    *,
    rounds: int = REMOVAL_ROUNDS,
) -> RowNumbers:
    """Return `count` of the removable rows with the lowest scores, which are computed again in every round."""
    remaining = np.arange(len(tests))
    weakest: list[RowNumbers] = []
    for size in map(len, np.array_split(np.arange(count), rounds)):
        if size:
            scores = np.where(removable[remaining], score_cases(tests.take(remaining)), np.inf)
            order = np.lexsort((rng.random(len(remaining)), scores))  # equal ones in random order
            weakest.append(remaining[order[:size]])
            remaining = np.sort(remaining[order[size:]])
    return np.concatenate([np.empty(0, dtype=np.intp), *weakest])


class OpaqueMetric(FitnessMetric):
    """A metric of which nothing is known but its values.

    In small sets, the contribution of a case is by how much the metric falls without it. In larger ones that would take too
    many measurements: cases are left out in groups, several times in other groups, and share the loss of their groups.
    """

    has_cheap_scores = False

    def score_cases(self, tests: TestSet) -> Numbers:
        """Return the contribution of each case, measured or estimated with 64 measurements."""
        total, n = self.measure(tests), len(tests)
        repeats, group_count = (
            (1, n) if n <= MAX_MEASURED_CASES else (ESTIMATE_REPEATS, MAX_MEASURED_CASES // ESTIMATE_REPEATS)
        )
        rng = np.random.default_rng(n)
        scores = np.zeros(n)
        keep = np.ones(n, dtype=bool)
        for _ in range(repeats):
            for group in np.array_split(rng.permutation(n), group_count):
                keep[group] = False
                loss = total - self.measure(tests.take(keep))
                scores[group] += loss if np.isfinite(loss) else 0.0
                keep[group] = True
        return scores


class DeclaredMetric(OpaqueMetric):
    """A metric that a test system declares with ``@set_metric``."""

    def __init__(self, morphism: Morphism, *, executable: bool) -> None:
        self._morphism = morphism
        self.name = morphism.name
        self.needs_outputs = executable  # it may look at them

    def measure(self, tests: TestSet) -> float:
        """Return what the declared function returns."""
        return float(self._morphism.evaluate_set(tests))


class FunctionMetric(OpaqueMetric):
    """A metric given as a function of a test set."""

    def __init__(self, function: Callable[[TestSet], float], *, executable: bool) -> None:
        self._function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.needs_outputs = executable

    def measure(self, tests: TestSet) -> float:
        """Return what the function returns."""
        try:
            value = self._function(tests)
        except DatamorphicError:
            raise
        except Exception as error:
            raise TestSystemError(f"The metric {self.name} failed: {format_error_line(error)}") from error
        if not is_number(value):
            raise TestSystemError(f"The metric {self.name} must return a number. It returned {type(value).__name__}.")
        return float(value)


class LabelBalance(FitnessMetric):
    """How evenly the answers of the system are spread over its labels, from 0 (one label) to 1 (equal counts).

    The labels that count are those that the system is known to have, or those of the first test set. So a set cannot gain by
    losing a label. It is above 1 only if labels turn up that nobody knew.
    """

    name = "label_balance"
    needs_outputs = True

    def __init__(self, labels: tuple[object, ...] | None = None) -> None:
        self._label_count = 0 if labels is None else len(labels)

    def prepare(self, start: TestSet) -> None:
        """Count the labels of the first answers."""
        self._label_count = max(self._label_count, len(self._count_labels(start)[0]))
        if self._label_count < 2:
            raise DataError(
                "label_balance needs a system with at least two labels, but all cases to start from have the same one. "
                "Start from more cases, or use another metric."
            )

    def measure(self, tests: TestSet) -> float:
        """Return the entropy of the labels, as a share of that of equal counts."""
        return self._compute_balance(self._count_labels(tests)[0])

    def score_cases(self, tests: TestSet) -> Numbers:
        """Return by how much the balance falls without each case."""
        counts, label_numbers = self._count_labels(tests)
        balance = self._compute_balance(counts)
        losses = np.empty(len(counts) + 1)
        for number in range(len(counts)):
            reduced_counts = counts.copy()
            reduced_counts[number] -= 1
            losses[number] = balance - self._compute_balance(reduced_counts)
        losses[-1] = losses[:-1].min(initial=0.0) - 1.0  # cases without an answer contribute nothing
        return losses[label_numbers]

    def _compute_balance(self, counts: Numbers) -> float:
        shares = counts[counts > 0] / max(1.0, counts.sum())
        return float(-(shares * np.log(shares)).sum() / np.log(self._label_count)) + 0.0

    def _count_labels(self, tests: TestSet) -> tuple[Numbers, RowNumbers]:
        """Return the number of cases of each label, and the number of the label of each case, -1 without an answer."""
        outputs = tests.outputs
        if outputs is None:
            raise DataError("Label balance needs outputs. Execute the test cases first.")
        label_numbers = np.full(len(tests), -1, dtype=np.intp)
        answered = outputs.ok
        if not answered.any():
            return np.empty(0), label_numbers
        texts = np.array([repr(label) for label in outputs.values[answered].tolist()])
        _, label_numbers[answered] = np.unique(texts, return_inverse=True)
        return np.bincount(label_numbers[answered]).astype(np.float64), label_numbers
