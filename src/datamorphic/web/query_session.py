"""`QuerySession`: the questions of a `QueryClient`, answered inside a worker process."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._lazy import pd
from .._text import format_short, to_jsonable
from ..cli.console import to_option_words
from ..errors import DatamorphicError, DatamorphicWarning, ModelError, UntrustedError, UsageError, format_error_line
from ..space.features import Categorical, Feature
from ..space.space import Space
from ..systems.untrusted import TRUST_HINT
from .subject import ChosenSubject

if TYPE_CHECKING:
    from ..morphisms.subject import SubjectUnderTest

PREVIEW_ROWS = 8
MAX_PREVIEW_COLUMNS = 60
MAX_CATEGORIES_SHOWN = 200
MAX_CONSTRAINTS_SHOWN = 100
MAX_CONSTRAINT_ROWS = 20_000
#: names of columns that hold labels, in the order of preference
TARGET_NAMES = ("target", "label", "class", "y", "outcome", "decision", "diagnosis", "species", "quality", "default")

#: writes an event: its kind and its data
EventSink = Callable[[str, Mapping[str, Any]], None]


class QuerySession:
    """Answers questions that need no test pool, one after the other."""

    def __init__(self) -> None:
        from .guide_walk import GuideWalk

        self._guide = GuideWalk()

    def serve(self, request: Mapping[str, Any], write: EventSink) -> None:
        """Answer a question by the event ``reply``, or ``failure`` with a message."""
        handlers: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "preview": preview_data,
            "space": describe_space,
            "trees": find_tree_problem,
            "demo": _make_demo,
            "guide": self._guide.serve,
        }
        number = request["number"]
        try:
            reply = to_jsonable(handlers[request["kind"]](request))
        except DatamorphicError as error:
            write("failure", {"number": number, "message": to_option_words(str(error))})
        except KeyboardInterrupt:
            write("failure", {"number": number, "message": "Stopped."})
        except Exception as error:  # of a model or a file, or a fault of ours: the session goes on
            write("failure", {"number": number, "message": format_error_line(error)})
        else:
            write("reply", {**reply, "number": number})


# -- data --------------------------------------------------------------------------------------------------------------


def preview_data(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns and first rows of a data file, and the column that is probably the target.

    A model, if one is chosen, is loaded: it knows its inputs. If it cannot be loaded, `problem` says why, and `untrusted`
    whether the trust of the person would help.
    """
    from ..space.table_files import read_table

    frame = read_table(request["data"])
    columns = [str(column) for column in frame.columns]
    model_columns, problem, untrusted = None, "", False
    if request.get("model"):
        try:
            model_columns = _read_model_columns(request["model"], request.get("trust", False))
        except UntrustedError as error:
            problem, untrusted = str(error).replace(TRUST_HINT, "").strip(), True  # the page has a box to tick
        except DatamorphicError as error:
            problem = to_option_words(str(error))
    head = frame.iloc[:PREVIEW_ROWS, :MAX_PREVIEW_COLUMNS]
    return {
        "columns": columns,
        "rows": [[format_short(value) for value in row] for row in head.astype(object).to_numpy().tolist()],
        "row_count": len(frame),
        "target": guess_target(columns, model_columns),
        "labels": {name: _describe_labels(frame, position) for position, name in enumerate(columns)},
        "problem": problem,
        "untrusted": untrusted,
    }


def guess_target(columns: Sequence[str], model_columns: Sequence[str] | None = None) -> str:
    """Return the column that is probably the target; empty if the model takes all columns.

    Examples
    --------
    >>> guess_target(["Label", "age"]), guess_target(["age", "risk"]), guess_target(["risk", "age"], ["age"])
    ('Label', 'risk', 'risk')
    """
    others = list(columns)
    if model_columns is not None and set(model_columns) <= set(columns):
        others = [column for column in columns if column not in set(model_columns)]
    lower_names = {column.strip().casefold(): column for column in reversed(others)}
    for name in TARGET_NAMES:
        if name in lower_names:
            return lower_names[name]
    return others[-1] if others else ""


def _read_model_columns(path: str, trust: bool) -> list[str] | None:
    """Return the names of the inputs of a model, if it knows them."""
    from ..systems.wrap import wrap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columns = getattr(wrap(path, trust=trust), "columns", None)
    return None if columns is None else [str(column) for column in columns]


def _describe_labels(frame: pd.DataFrame, position: int) -> str:
    """Return the values of a column in a few words."""
    column = frame.iloc[:, position]
    try:
        values = column.dropna().unique()
    except TypeError:  # values that cannot be compared
        return ""
    if len(values) > 6:
        return f"{len(values):,} different values"
    return ", ".join(sorted(format_short(value) for value in values))


# -- the space ---------------------------------------------------------------------------------------------------------


def describe_space(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the features of the space of a subject, the constraints that its data keep, and remarks."""
    from ..space.column_relations import find_point_constraints

    subject = ChosenSubject(**request["subject"])
    sys.path.insert(0, request["served"])
    if subject.kind in ("demo", "module"):
        space = _read_system_space(subject)
        return {
            "editable": False,
            "features": [describe_feature(feature) for feature in space.features],
            "constraints": [_describe_constraint(constraint) for constraint in space.constraints],
            "notes": [],
            "rows": None,
        }
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always", DatamorphicWarning)
        built = build_chosen_subject(subject, request.get("trust", False))
    space, points = built.seeds.space, built.seeds
    constraints = find_point_constraints(points.take(slice(0, MAX_CONSTRAINT_ROWS)))
    missing = np.isnan(points.codes).sum(axis=0)
    return {
        "editable": not space.blocks,
        "features": [
            describe_feature(feature) | {"missing": int(count)}
            for feature, count in zip(space.features, missing, strict=True)
        ],
        "constraints": [_describe_constraint(constraint) for constraint in constraints[:MAX_CONSTRAINTS_SHOWN]],
        "notes": [*built.notes, *(str(message.message) for message in messages)],
        "rows": len(points),
    }


def build_chosen_subject(subject: ChosenSubject, trust: bool) -> SubjectUnderTest:
    """Return the model of a file with its data, moves and space."""
    from ..cli.load import load_data, load_system
    from ..cli.options import parse_hints
    from ..morphisms.subject import build_subject

    system, options = load_system(subject.model, None, trust)
    return build_subject(
        system,
        load_data(subject.data),
        target=subject.target or None,
        space_options=parse_hints(*(subject.format_hints(option) or None for option in subject.HINT_OPTIONS)),
        rng=np.random.default_rng(0),
        owner="web",
        **options,
    )


def describe_feature(feature: Feature) -> dict[str, Any]:
    """Return a feature as JSON values; open ends and what a kind does not have are None."""
    categories = list(feature.values) if isinstance(feature, Categorical) else []
    has_range = feature.kind in ("continuous", "integer")
    return {
        "name": feature.name,
        "kind": feature.kind,
        "low": feature.low if has_range and math.isfinite(feature.low) else None,
        "high": feature.high if has_range and math.isfinite(feature.high) else None,
        "step": feature.step if has_range else None,
        "values": [str(value) for value in categories[:MAX_CATEGORIES_SHOWN]],
        "value_count": len(categories),
        "nullable": bool(feature.nullable),
        "text": feature.describe(),
    }


def _describe_constraint(constraint: Any) -> str:
    describe = getattr(constraint, "describe", None)
    return str(describe() if describe is not None else constraint)


def _read_system_space(subject: ChosenSubject) -> Space:
    from ..morphisms.system import TestSystem

    if subject.kind == "demo":
        from ..data.subjects import subjects

        return subjects[subject.subject].known_space()
    from ..cli.load import load_object

    return TestSystem.collect(load_object(subject.model)).known_space()


# -- trees -------------------------------------------------------------------------------------------------------------


def find_tree_problem(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return why the trees of a model cannot be read, in `problem`; empty if they can."""
    from ..cli.tree_command import load_named_tree_model
    from ..space.table_files import read_table
    from ..trees.read import read_forest

    model = load_named_tree_model(request["model"], request.get("trust", False))
    try:
        read_forest(model, read_table(request["data"]))
    except ModelError as error:
        return {"problem": str(error).partition(". ")[0] + "."}
    return {"problem": ""}


# -- the demo ----------------------------------------------------------------------------------------------------------


def _make_demo(request: Mapping[str, Any]) -> dict[str, Any]:
    from .demo_model import make_demo_files

    folder = Path(request["folder"])
    if not os.access(folder, os.W_OK):
        raise UsageError("The folder for uploads cannot be written.")
    model, data, target = make_demo_files(folder)
    return {"model": model.name, "data": data.name, "target": target}
