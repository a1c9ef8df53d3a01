"""`dm.compare`: say what changed from one model to another, and for whom."""

from __future__ import annotations

from functools import partial

from .._lazy import pd
from ..core.capability import capability
from ..core.execute import Execution
from ..core.result import Finding
from ..runs.flow import Budget
from .context import ComparisonContext
from .disagreement.search import find_disagreements
from .options import CompareOptions
from .result import ModelComparison

SAME_BUDGET_SECONDS = 20.0  # to search for disagreements beyond the rows of the data


@capability(CompareOptions)
def compare(options: CompareOptions, execution: Execution[ComparisonContext]) -> ModelComparison:
    """Compare two models: what changed, for whom, and is it more than training again with another seed?

    Returns
    -------
    ModelComparison
        ``.findings``, ``.rows``, ``.passed``; ``.describe()``, ``.to_html("comparison.html")``, ``.to_json()``, ``.to_junit()``.

    Examples
    --------
    >>> import numpy as np, pandas as pd, datamorphic as dm
    >>> loans = pd.DataFrame({"age": np.arange(20, 80), "income": np.arange(60) % 7})
    >>> old = lambda frame: np.where(frame.age > 30, "yes", "no")
    >>> new = lambda frame: np.where(frame.age > 30, "yes", "no")
    >>> dm.compare(old, new, loans).passed
    True
    """
    context, notes = execution.subject, list(execution.subject.notes)
    old, new = (context.get_answers(version) for version in ("old", "new"))
    changed = ~old.same(new)
    findings: list[Finding] = []
    if options.same:
        budget = execution.remaining_budget.narrow(Budget(seconds=SAME_BUDGET_SECONDS))
        findings += execution.attempt(
            "differences beyond the rows of the data", partial(find_disagreements, context, budget), []
        )
    rows = context.inputs.frame[changed].assign(
        old_answer=old.to_objects()[changed], new_answer=new.to_objects()[changed]
    )
    return ModelComparison(
        old=context.old.name,
        new=context.new.name,
        findings=tuple(findings),
        rows=pd.DataFrame(rows),
        row_count=len(context.inputs),
        same=options.same,
        seed=options.seed,
        request=options.command,
        notes=notes,
        unfinished=tuple(execution.unfinished),
        interrupted=execution.counter.interrupted,
        calls=execution.counter.calls,
        seconds=execution.seconds,
    )
