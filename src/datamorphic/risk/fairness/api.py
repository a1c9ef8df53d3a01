"""The public function `dm.fairness`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._typing import DataLike, FilePath, ModelLike
from ..._validation import check_types
from ...relations.promises import Promises
from ...space.options import SpaceOptions
from ...space.space import Space
from ...space.table_forms import accept_tables
from .options import FairnessOptions
from .result import FairnessReport
from .runner import run_fairness


@accept_tables
@check_types
def fairness(
    model: ModelLike,
    data: DataLike,
    protected: Sequence[str] | str = (),
    target: str | None = None,
    *,
    outcome: object = None,
    promises: Promises | FilePath | None = None,
    cutoff: float | None = None,
    combinations: int = 2,
    threshold: float = 0.01,
    min_effect: float = 0.02,
    rows: int = 2_000,
    seed: int = 0,
    classes: Sequence[Any] | None = None,
    space: Space | None = None,
    kinds: Mapping[str, str] | None = None,
    steps: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    orders: Mapping[str, Sequence[Any]] | None = None,
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
) -> FairnessReport:
    """Examine whether decisions depend on who people are.

    Three questions are answered. Would people get another decision with another gender, age, ... and everything else the same,
    as far as columns that belong together allow? Does it take several attributes together? Does another column stand in
    for a protected one: it tells the groups apart, and the decision depends on it? The shares of decisions by group are given beside
    them, with intervals.

    Parameters
    ----------
    model : ModelLike
        A fitted model, or anything else that `dm.wrap` takes.
    data : DataFrame
        People, one row each, with the inputs of the model. Protected columns need not be inputs.
    protected : sequence of str
        The protected columns.
    target : str, optional
        The column with the true label, if there is one. Wrong decisions are then counted by group.
    outcome : object, optional
        The decision that is counted, a class of the model: the second of two by default.
    promises : path, optional
        A promises file. Its protected columns and its outcome are used.
    cutoff : float, optional
        The probability of the outcome (or the number) from which the decision is made, instead of the model's own answer.
    combinations : int
        The largest number of attributes that are looked at together.
    threshold : float
        The share of people whose decision may depend on an attribute. Above it, a dependence is a fault.
    min_effect : float
        The smallest effect of a combination or of a stand-in that is reported, as a share of people (for answers that are
        numbers, of their standard deviation).
    rows : int
        The largest number of people to look at; more are sampled.
    seed : int
        The seed of all randomness.
    classes, trust, scalar, name
        As for `dm.test`.
    space : Space, optional
        The space of the inputs, instead of one inferred from `data`.
    kinds, steps, bounds, orders : mapping, optional
        Hints for columns, as for `Space.from_frame`. Not together with `space`.

    Returns
    -------
    FairnessReport
        ``.findings``, ``.passed``, ``.table``; ``.describe()``, ``.to_html("fairness.html")``, ``.to_json()``, ``.to_junit()``.

    Examples
    --------
    >>> import numpy as np, pandas as pd, datamorphic as dm
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"income": rng.uniform(10, 90, 200), "gender": rng.choice(["f", "m"], 200)})
    >>> def decide(frame):
    ...     return np.where(frame.income - 20 * (frame.gender == "f") > 40, "yes", "no")
    >>> report = dm.fairness(decide, people, protected=["gender"], outcome="yes")
    >>> report.findings[0].title, report.passed
    ('The decision depends on gender', False)
    """
    options = FairnessOptions(
        protected=protected,
        target=target,
        outcome=outcome,
        promises=promises,
        cutoff=cutoff,
        combinations=combinations,
        threshold=threshold,
        min_effect=min_effect,
        rows=rows,
        seed=seed,
        classes=classes,
        space=space,
        hints=SpaceOptions(kinds=kinds, steps=steps, bounds=bounds, orders=orders),
        trust=trust,
        scalar=scalar,
        name=name,
    )
    return run_fairness(model, data, options)
