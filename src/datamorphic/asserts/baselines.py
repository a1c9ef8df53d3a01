"""``dm.assert_front_unchanged``: is the border of a model where it was when a baseline was saved?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import DatamorphicError, UsageError
from ..fronts.front import Front
from ..verbs.explore import explore
from .asserting import told_again
from .holding import stoppable
from .profiles import Settings, settings


def assert_front_unchanged(
    model: Any,
    data: Any = None,
    baseline: str | os.PathLike[str] = "front.parquet",
    tolerance: float | None = None,
    *,
    target: str | None = None,
    trust: bool = False,
    scalar: bool = False,
    name: str | None = None,
    **exploring: Any,
) -> None:
    """Raise AssertionError if the border of a model is no longer where a baseline has it.

    The model is explored as it was for the baseline, the same walks from the same seed, and the two fronts are compared.

    Parameters
    ----------
    model : object
        Whatever `dm.wrap` takes, or a test system.
    data : DataFrame, array or Space, optional
        The inputs from which walks start; by default those of the baseline.
    baseline : path
        The front to compare with, as `Front.save` writes it. ``pytest --datamorphic-update`` writes it if it is not there,
        and anew if the border has changed.
    tolerance : float, optional
        How far a border may move, as a share of the range of a feature; 0.01 by default.
    target : str, optional
        The column of `data` that is the label and no input.
    trust, scalar, name
        As for `dm.wrap`.
    **exploring
        Options of `dm.explore` that are to be others than those of the baseline.

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
    now, file = settings(), Path(baseline)
    options: dict[str, Any] = {"target": target, "trust": trust, "scalar": scalar, "name": name, "progress": False}
    options |= {"budget": now.budget} if now.budget else {}
    options |= exploring
    try:
        if not file.exists():
            if not now.update:
                raise AssertionError(
                    f"There is no baseline {str(file)!r}. Make one of a model you trust: dm.explore(model, data)"
                    f".save({str(file)!r}), or pytest with --datamorphic-update. Then keep it with the tests."
                )
            with stoppable():
                front = explore(model, data, **options)
            written(front, file)
            front_note(now, file, front, note="the baseline was written")
            return
        old = Front.load(file)
        with stoppable():
            front = explore(model, old.seeds if data is None else data, **as_before(old) | options)
            change = old.diff(front, tolerance=tolerance)
    except DatamorphicError as error:
        told_again(error)
    compared, changed = len(change.judged) + change.rows_asked, 0
    if not change.unchanged:
        rows = 0 if change.rows is None else len(change.rows)
        changed = max(1, int((change.judged["status"] != "kept").sum()) + rows)
    rewritten = bool(changed) and now.update
    said = "the baseline was written anew" if rewritten else ""
    front_note(now, file, front, compared, changed, change.calls, said)
    if rewritten:
        written(front, file)
    elif changed:
        raise AssertionError(
            f"The border of {front.subject} is not where {str(file)!r} has it.\n{change.describe()}\n"
            f"If it is meant to be there, write the baseline anew: {now.again(None) or 'pytest'} --datamorphic-update"
        )
    elif not compared:
        raise AssertionError(
            f"Nothing was tested: neither {str(file)!r} nor the model of today has a border, and no inputs to compare. "
            "Explore with more walks, or leave this assert out."
        )


def as_before(front: Front) -> dict[str, Any]:
    """Return the options of `dm.explore` that a front was made with."""
    kept = front.settings
    names = ("steps", "walk_distance", "delta", "moves", "refine", "pool", "seed")
    options = {name: kept[name] for name in names if name in kept}
    options["seed"] = options.get("seed") or 0
    kind, value = kept.get("border_kind"), kept.get("border_value")
    if kind in ("threshold", "jump"):
        options[kind] = value
    elif kind in ("hierarchy", "multilabel"):
        options["labels"] = "hierarchy" if kind == "hierarchy" else "multi"
    return options | {
        "strategy": front.strategy,
        "walks": front.walks,
    }  # those that were made: time may have run out


def written(front: Front, file: Path) -> None:
    """Write a baseline, whole or not at all: other processes may be reading it."""
    aside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        front.save(aside)
        os.replace(aside, file)
    except OSError as error:
        raise UsageError(
            f"The baseline cannot be written to {str(file)!r}: {error.strerror}. Choose another place."
        ) from None
    finally:
        aside.unlink(missing_ok=True)


def front_note(
    now: Settings, file: Path, front: Front, compared: int = 0, changed: int = 0, calls: int = 0, note: str = ""
) -> None:
    """Leave the figures of a comparison for the summary of pytest."""
    seconds = round(front.seconds, 3)
    now.note(
        relation=f"front {file.name}", cases=compared, violated=changed, calls=front.calls + calls, seconds=seconds,
        note=note,
    )  # fmt: skip
