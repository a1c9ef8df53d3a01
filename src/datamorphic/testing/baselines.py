"""``dm.assert_front_unchanged``: compare a border with a saved baseline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .._deprecation import rename_keywords
from .._files import to_local_path
from .._typing import DataLike, ModelLike
from .._validation import check_types, validate_option_names
from ..errors import DatamorphicError
from ..exploration.front import Front
from ..exploration.run import explore
from ..space.table_forms import accept_tables
from .assert_relation import stop_on_interrupt
from .assertions import reraise
from .profiles import Settings, get_settings


@rename_keywords("0.2", steps="max_halvings", feature_steps="column_steps")
@accept_tables
@check_types
def assert_front_unchanged(
    model: ModelLike,
    data: DataLike | None = None,
    baseline: str | os.PathLike[str] = "front.parquet",
    tolerance: float | None = None,
    *,
    target: str | None = None,
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
    **explore_options: Any,
) -> None:
    """Raise AssertionError if the border of a model differs from that of a baseline.

    The model is explored as for the baseline, with the same walks and the same seed, and the two fronts are compared.

    Parameters
    ----------
    model : object
        Anything that `dm.wrap` accepts, or a test system.
    data : DataFrame, array or Space, optional
        The seed cases of the walks; by default those of the baseline.
    baseline : path
        The front to compare with, written by `Front.save`. ``pytest --datamorphic-update`` writes it if it does not exist
        or if the border has changed.
    tolerance : float, optional
        How far a border may move, as a share of the range of a feature; 0.01 by default.
    target, trust, scalar, name
        As for `dm.explore`.
    **explore_options
        Options of `dm.explore` that differ from those of the baseline.

    Examples
    --------
    >>> import datamorphic as dm, tempfile
    >>> space = dm.Space([dm.Continuous("age", 0, 100)])
    >>> baseline = tempfile.mkdtemp() + "/front.parquet"
    >>> def model(age): return "adult" if age > 18 else "child"
    >>> dm.explore(model, space, scalar=True, walks=50).save(baseline)
    >>> dm.assert_front_unchanged(model, baseline=baseline, scalar=True)
    >>> def other(age): return "adult" if age > 21 else "child"
    >>> dm.assert_front_unchanged(other, baseline=baseline, scalar=True)
    Traceback (most recent call last):
    ...
    AssertionError: ...
    """
    __tracebackhide__ = True
    settings, file = get_settings(), to_local_path(baseline, "baseline")
    options: dict[str, Any] = {"target": target, "trust": trust, "scalar": scalar, "name": name, "progress": False}
    options |= {"budget": settings.budget} if settings.budget else {}
    options |= explore_options
    try:
        validate_option_names("assert_front_unchanged", explore_options, explore)
        if not file.exists():
            if not settings.update:
                raise AssertionError(
                    f"There is no baseline {str(file)!r}. Create one from a model you trust, with dm.explore(model, data)"
                    f".save({str(file)!r}) or pytest --datamorphic-update, and keep it with the tests."
                )
            with stop_on_interrupt():
                front = explore(model, data, **options)
            front.save(file)
            _record(settings, file, front, note="the baseline was written")
            return
        old = Front.load(file)
        with stop_on_interrupt():
            front = explore(model, old.seeds if data is None else data, **get_explore_options(old) | options)
            change = old.diff(front, tolerance=tolerance)
    except DatamorphicError as error:
        reraise(error)
    compared_count, changed_count = len(change.judged) + change.rows_asked, 0
    if not change.unchanged:
        rows = 0 if change.rows is None else len(change.rows)
        changed_count = max(1, int((change.judged["status"] != "kept").sum()) + rows)
    rewritten = bool(changed_count) and settings.update
    note = "the baseline was replaced" if rewritten else ""
    _record(settings, file, front, cases=compared_count, violated=changed_count, note=note, calls=change.calls)
    if rewritten:
        front.save(file)
    elif changed_count:
        command = settings.format_rerun_command(None) or "pytest"
        raise AssertionError(
            f"The border of {front.subject} differs from the baseline {str(file)!r}.\n{change.describe()}\n"
            f"If the change is intended, replace the baseline: {command} --datamorphic-update"
        )
    elif not compared_count:
        raise AssertionError(
            f"Nothing was tested: neither {str(file)!r} nor the model has a border, and there are no inputs to compare. "
            "Explore with more walks, or remove this assertion."
        )


def get_explore_options(front: Front) -> dict[str, Any]:
    """Return the options of `dm.explore` with which a front was made."""
    settings = front.settings
    names = ("steps", "walk_distance", "delta", "moves", "refine", "pool", "seed")
    options = {"max_halvings" if name == "steps" else name: settings[name] for name in names if name in settings}
    options["seed"] = options.get("seed") or 0
    kind, value = settings.get("border_kind"), settings.get("border_value")
    if kind in ("threshold", "jump"):
        options[kind] = value
    elif kind in ("hierarchy", "multilabel"):
        options["labels"] = "hierarchy" if kind == "hierarchy" else "multi"
    # the walks that were completed, since the budget may have been spent before all
    return options | {"strategy": front.strategy, "walks": front.walks}


def _record(settings: Settings, file: Path, front: Front, *, calls: int = 0, **figures: Any) -> None:
    """Record the figures of a comparison for the summary of pytest."""
    cost = {"calls": front.calls + calls, "seconds": round(front.seconds, 3)}
    settings.record(relation=f"front {file.name}", **{"cases": 0, "violated": 0} | figures | cost)
