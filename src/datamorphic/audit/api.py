"""The public function `dm.test`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from .._typing import DataLike, EngineLike, FilePath, ModelLike, StoreLike
from .._validation import check_types
from ..runs.flow import Budget
from ..runs.keep import StoreOptions
from ..space.frames import join_target
from ..space.options import SpaceOptions
from ..space.space import Space
from ..space.table_forms import accept_tables
from .expectations import ExpectLike, PromisesLike
from .options import DEFAULT_BUDGET, AuditOptions
from .result import AuditResult
from .runner import run_audit

if TYPE_CHECKING:
    from ..exploration.front import Front


@accept_tables
@check_types
def test(
    model: ModelLike,
    data: DataLike | None = None,
    target: str | npt.ArrayLike | None = None,
    protected: Sequence[str] | str = (),
    expect: ExpectLike = None,
    budget: Budget | str | float | None = DEFAULT_BUDGET,
    seed: int = 0,
    *,
    classes: Sequence[Any] | None = None,
    baseline: Front | FilePath | None = None,
    tolerance: float | None = None,
    reference: DataLike | FilePath | None = None,
    only: Sequence[str] | str = (),
    promises: PromisesLike = None,
    space: Space | None = None,
    kinds: Mapping[str, str] | None = None,
    steps: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    orders: Mapping[str, Sequence[Any]] | None = None,
    engine: EngineLike = None,
    timeout: float | None = None,
    batch: int | None = None,
    store: StoreLike | StoreOptions = None,
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
    progress: bool | None = None,
) -> AuditResult:
    """Test a model with all checks that apply, and return ranked findings.

    The checks that apply depend on the model (fitted or a learner, classifier or regressor) and on the data (with or
    without labels). They answer these questions: Does the model answer every input? Does the answer depend on repetition,
    order or batches? What happens to data in another form? Does an identifier or a disguised label decide? What could be
    declared? Is every class predicted? Where are the borders, and have they moved? Do the declared expectations
    hold? Does training keep what its algorithm promises? Do the data reach all decisions? Checks that do not
    apply are listed with the reason.

    Parameters
    ----------
    model : ModelLike
        A fitted estimator, an unfitted one (a learner, which is fitted to `data` and `target`), a function, the path of a
        model file, a test system, or anything else that `dm.wrap` takes.
    data : DataLike, optional
        Real inputs, preferably with their labels in the column `target`: a frame (of pandas, polars or Arrow), the path of a
        CSV or Parquet file, a matrix, or an array of images with the shape (n, height, width). Masked values are missing.
        A test system can generate its own. Of more than 100,000 rows a random sample of 100,000 is used; it depends on
        `seed`.
    target : str or array, optional
        The column of `data` that holds the label, or one label per case.
    protected : sequence of str
        Features on which the decision must not depend. Decisions that change when only such a feature changes are counted.
    expect : mapping, relations, or path, optional
        What the model is expected to satisfy: ``{"monotone": {"income": "up"}, "invariant": ["id"], "outcome": "approved"}``,
        a TOML or YAML file with the same content, or relations.
    budget : str or int
        The largest cost: ``"1m"``, ``"10000 runs"``; None for no limit. Time counts from the first query of the model on,
        without imports of libraries. With a budget in runs, the findings do not depend on the speed of the machine.
    seed : int
        The seed of all randomness. The same seed gives the same findings if the budget suffices.
    classes : sequence, optional
        The names of the model's classes, in the order of the probabilities, scores or codes that it answers: for functions
        and for models of other libraries, and for models that were fitted on codes instead of labels.
    baseline : Front or path, optional
        The border of an earlier version, saved with ``result.front.save(...)``, to compare with.
    tolerance : float, optional
        Differences up to this size are not reported: of scores (probabilities), and of answers that are numbers (in their
        own unit). For a baseline, a row whose answer changed does not count if the two best scores of the model differ by
        this little. By default, 1e-6 of the spread of scores and answers, and 0.2 for a baseline.
    reference : DataLike or path, optional
        The data that the model was trained on, as a frame or a CSV or Parquet file: rows of `data` that are among them are
        reported.
    only : sequence of str, optional
        The names of the checks to run; all by default.
    promises : path, optional
        A promises file: expectations with one line each, such as ``credit_score: lowers default``. See the guide "Declare
        promises".
    space : Space, optional
        The space of the inputs, instead of one inferred from `data`.
    kinds, steps, bounds, orders : mapping, optional
        Hints for inferring the space from `data`, by column, as for `Space.from_frame`.
    engine, timeout, batch, store, trust, scalar, name, progress
        As for `dm.explore`.

    Returns
    -------
    AuditResult
        ``.findings``, ``.outcomes``, ``.passed``; ``.describe()``, ``.to_html("report.html")``, ``.to_json()``,
        ``.to_junit()``, ``.to_markdown()``, ``.to_sarif()``, ``.to_pytest("test_model.py")``.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from sklearn.naive_bayes import GaussianNB
    >>> iris = dm.data.load("iris")
    >>> model = GaussianNB().fit(iris.drop(columns="target"), iris["target"])
    >>> result = dm.test(model, iris, target="target", only=["repeats", "row order"])  # by default all checks
    >>> result.passed
    True
    """
    data, target_name = join_target(data, target, getattr(space, "blocks", ()))
    options = AuditOptions(
        target=target_name,
        protected=protected,
        expect=expect,
        budget=budget,
        seed=seed,
        classes=classes,
        baseline=baseline,
        tolerance=tolerance,
        reference=reference,
        only=only,
        promises=promises,
        space=space,
        hints=SpaceOptions(kinds=kinds, steps=steps, bounds=bounds, orders=orders),
        engine=engine,
        timeout=timeout,
        batch=batch,
        store=store,
        trust=trust,
        scalar=scalar,
        name=name,
        progress=progress,
    )
    return run_audit(model, data, options)


test.__test__ = False  # type: ignore[attr-defined]  # pytest must not collect it because of its name
