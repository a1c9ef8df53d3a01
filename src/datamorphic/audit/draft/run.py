"""Draft a test system from a model and data, for ``datamorphic init``."""

from __future__ import annotations

import importlib.util
import keyword
import os
import pkgutil
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._text import pluralise
from ..._typing import FilePath, ModelLike
from ...errors import AmbiguousData, DataError, ModelError, SystemFailed, UsageError
from ...morphisms.subject import DEFAULT_SEED_CASES, SubjectUnderTest, build_subject
from ...morphisms.system import has_morphisms
from ...reporting.python_code import format_comment, format_data, format_module_folder, format_path, render_module
from ...runs.driver import drive
from ...space.description import read_space
from ...space.features import Feature
from ...space.options import SpaceOptions
from ...space.points import Points
from ...space.space import Space
from ...space.table_files import read_table
from ...systems.base import Executor, Function
from ...systems.clustering import has_predictions
from ...systems.files import PICKLE_SUFFIXES, is_model_file
from ..columns import find_identifiers
from .code import format_comment_literal, format_feature, format_literal, has_other_dtypes, tidy_feature, to_system_name
from .relations import DraftRelation, try_relations

MAX_TRIAL_ROWS = 500  # on which relations are tried
MIN_VALUES_FOR_INTEGER = 20  # fewer whole floats do not show that a column holds integers
MAX_EXACT_INTEGER = 1e15  # of floats
MAX_COLUMNS_LISTED = 3
DATE_PATTERN = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A test system drafted from a model and data."""

    text: str = field(repr=False)  # of the file
    module: str
    name: str  # of the class, as in ``datamorphic laws module:name``
    space: Space
    rows: int
    relations: list[DraftRelation]  # those that hold are active in the file, the others are comments
    notes: list[str]  # assumptions that were made


def draft_system(
    model: FilePath,
    data: FilePath,
    target: str | None = None,
    *,
    out: FilePath = "test_model.py",
    trust: bool = False,
    progress: bool | None = None,
    hints: SpaceOptions | None = None,
    space_file: FilePath | None = None,
    load_data: Callable[[str], pd.DataFrame] = read_table,
) -> Draft:
    """Draft a test system for a model from data, as a file that pytest can run.

    The file writes out the space, and changes and relations that fit the columns. The relations are tried on the data: those
    that hold are active, the others are comments that say how often they are violated. Nothing is written to disk.

    `model` is the path of a model file or ``"module:object"``, so that the file can load the model. `data` is a CSV or
    Parquet file with typical inputs, or another text that `load_data` turns into a frame. Both are named relative to
    `out`, the path of the file. With `trust`, a pickled model may be loaded, now and by the file. A `space_file`, as for
    `read_space`, describes the space instead of `hints`, and is read by the file again.
    """
    for name, argument, expected in (
        ("model", model, "a model file or module:object"),
        ("data", data, "a file or data:NAME"),
    ):
        if not isinstance(argument, str | os.PathLike):
            raise UsageError(
                f"The draft names the {name} by {expected}, but got an object of type {type(argument).__name__}. Save it "
                "first, and give the path."
            )
    model_text, data_text = os.fspath(model), os.fspath(data)
    file = validate_module_file(Path(out))
    loaded_model = _load_model(model_text)
    frame = load_data(data_text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguousData)
        subject, scalar = _build_subject(loaded_model, frame, target, trust)
    inputs = frame[list(subject.seeds.space.names)]
    _reject_dates(inputs)
    if space_file is None:
        features = _infer_features(inputs, hints or SpaceOptions())
        space = Space(features, dtypes={name: inputs[name].dtype for name in inputs.columns})
    else:
        space = read_space(space_file, inputs)
        (hints or SpaceOptions()).validate_alone("init", space)
        features = list(space.features)
    subject.sut.space = space
    rng = np.random.default_rng(0)
    identifiers = find_identifiers(space.points(inputs))
    flow = try_relations(_choose_rows(space, inputs), rng, numbers=subject.has_numeric_answers, identifiers=identifiers)
    trial = drive(flow, subject.sut, progress=progress, recheck=0)
    if not trial.answers.ok.any():
        reason = trial.answers.messages.get(0, "it gave no reason")
        raise SystemFailed(f"{subject.name} gave no answer to any of {pluralise(len(trial.answers), 'row')}: {reason}.")
    notes = list(subject.notes)
    if identifiers:
        notes.append(f"Nothing is promised about {', '.join(identifiers)}, which looks like an identifier.")
    # the rows without an answer among those that the tests of the file query
    silent_by_change = {relation.change.name: relation.silent for relation in trial.relations if relation.holds}
    silent = int((~trial.answers.ok[:DEFAULT_SEED_CASES]).sum()) + sum(silent_by_change.values())
    if silent:
        notes.append(
            f"{pluralise(silent, 'case')} of the tests in the file get no answer today. The file states this number."
        )
    kind, _, data_set = data_text.partition(":")
    name = to_system_name(data_set if kind == "data" else Path(data_text).stem)
    text = render_module(
        "draft",
        f"The test system {name}, drafted by `datamorphic init`. Change it as you like.",
        [*_format_commands(file.stem, name), "", "Run the commands in this folder."],
        name=name,
        features=[line for feature in features for line in format_feature(feature, inputs[feature.name])],
        dtypes=has_other_dtypes(space, inputs),
        space_code=""
        if space_file is None
        else f"dm.read_space({format_path(os.fspath(space_file), file.parent)}, ROWS[{[*inputs.columns]!r}])",
        seeds=DEFAULT_SEED_CASES,
        silent=silent,
        tolerance=format_literal(trial.tolerance) if trial.numbers else "",
        relations=list(_format_relations(trial.relations)),
        **_format_data_code(data_text, frame, space, file),
        **_format_model_code(model_text, loaded_model, subject.sut, scalar, trust, file),
    )
    return Draft(
        text=text, module=file.stem, name=name, space=space, rows=len(frame), relations=trial.relations, notes=notes
    )


# -- arguments ---------------------------------------------------------------------------------------------------


def validate_module_file(file: Path) -> Path:
    """Return the absolute path of the file, or raise `UsageError` if it cannot be imported as a module."""
    if file.suffix != ".py" or not file.stem.isidentifier() or keyword.iskeyword(file.stem):
        raise UsageError(
            f"{file.name!r} is not a valid name of a module. Use letters, digits, underscores and the ending .py. pytest "
            "looks for names that start with test_, such as test_model.py."
        )
    file = Path(os.path.abspath(file))
    spec = importlib.util.find_spec(file.stem)
    if spec is not None and Path(spec.origin or "").parent not in (file.parent, Path.cwd()):
        raise UsageError(
            f"A module named {file.stem!r} is installed, and conflicts with the file. Choose another name, such as "
            "test_model.py."
        )
    return file


def _load_model(text: str) -> ModelLike:
    """Return the object that ``module:object`` names, or the path of a file unchanged."""
    if is_model_file(text):
        return text
    module, _, attribute = text.partition(":")
    if not attribute or not all(part.isidentifier() for part in f"{module}.{attribute}".split(".")):
        raise UsageError(f"{text!r} is neither a model file nor module:object, as in my_models:credit.")
    try:
        loaded_object = pkgutil.resolve_name(text)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{text!r} cannot be imported: {error}. Run this in the folder of the module.") from error
    if has_morphisms(loaded_object) and not hasattr(loaded_object, "fit"):
        raise UsageError(f"{text!r} is a test system already. Give the model that it tests, or edit the test system.")
    return loaded_object


def _build_subject(
    model: ModelLike, frame: pd.DataFrame, target: str | None, trust: bool
) -> tuple[SubjectUnderTest, bool]:
    """Return the system with its space, and whether it is a function of a single case."""
    if not has_predictions(model):
        raise ModelError(
            f"{type(model).__name__} has answers only for the rows it was fitted on, but changed rows must be queried. Give "
            "a model with predict."
        )
    options: dict[str, Any] = {"target": target, "trust": trust}
    subject = build_subject(model, frame, rng=np.random.default_rng(0), **options)
    if isinstance(model, str) or hasattr(model, "predict"):
        return subject, False
    if isinstance(subject.sut, Function) and subject.sut.style != "frame":
        return subject, subject.sut.style == "case"
    sample = subject.seeds.take(slice(0, 3)).frame
    try:
        subject.sut.execute(sample)
    except Exception:
        scalar_subject = build_subject(model, frame, rng=np.random.default_rng(0), scalar=True, **options)
        try:
            scalar_subject.sut.execute(sample)
        except Exception:
            return subject, False  # neither works: the error for a frame explains more
        return scalar_subject, True
    return subject, False


def _reject_dates(frame: pd.DataFrame) -> None:
    """Raise `DataError` if a column of text holds dates, which would become categories without an order."""
    for name in frame.columns:
        values = frame[name].dropna().unique()[:100]
        if all(isinstance(value, str) and DATE_PATTERN.fullmatch(value) for value in values) and len(values):
            raise DataError(
                f"Column {name!r} holds dates as text ({values[0]!r}), which have no moves and no midpoints. Convert it to "
                "numbers (such as days since a date), or remove it from the inputs of the model."
            )


def _infer_features(frame: pd.DataFrame, hints: SpaceOptions) -> list[Feature]:
    """Infer features from columns.

    Floats that are all whole count as integers, since files and missing values turn integers into floats.
    """
    kinds: dict[str, str] = {
        name: "integer"
        for name in frame.columns
        if frame[name].dtype.kind == "f"
        and frame[name].count() >= MIN_VALUES_FOR_INTEGER
        and (frame[name].dropna() % 1 == 0).all()
        and frame[name].abs().max() < MAX_EXACT_INTEGER
    }
    options = replace(hints, kinds={**kinds, **(hints.kinds or {})})
    fixed = {*(hints.steps or ()), *(hints.bounds or ())}  # the user's numbers are not rounded
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguousData)  # the file has a comment instead
        features = options.infer_space(frame).features
    return [feature if feature.name in fixed else tidy_feature(feature) for feature in features]


def _choose_rows(space: Space, frame: pd.DataFrame) -> Points:
    """Return the rows that the tests of the file will draw, and others up to a limit."""
    first = frame.reset_index(drop=True).sample(
        min(DEFAULT_SEED_CASES, len(frame)), random_state=np.random.default_rng(0)
    )
    others = np.setdiff1d(np.arange(len(frame)), first.index)
    others = np.random.default_rng(1).permutation(others)[: MAX_TRIAL_ROWS - len(first)]
    return space.points(frame.iloc[np.concatenate([first.index, others])])


# -- code --------------------------------------------------------------------------------------------------------


def _format_commands(module: str, name: str) -> list[str]:
    """Return commands for the file and their purposes, aligned."""
    commands = {
        f"pytest {module}.py": "do the relations hold?",
        f"datamorphic test {module}:{name}": "run all checks that apply",
        f"datamorphic laws {module}:{name}": "are the moves sound?",
        f"datamorphic explore {module}:{name}": "where does the answer change?",
    }
    width = max(map(len, commands))
    return [f"    {command.ljust(width)}  {purpose}" for command, purpose in commands.items()]


def _format_relations(relations: list[DraftRelation]) -> Iterator[dict[str, Any]]:
    """Return relations for the template: as code if they hold, otherwise as comments."""
    written_changes: set[str] = set()
    for relation in relations:
        lines = [
            f'@dm.metamorphism(of="{relation.change.name}")',
            f"def {relation.name}(self, cases, origins):",
            f"    return {relation.code}",
        ]
        if relation.change.name not in written_changes:
            written_changes.add(relation.change.name)
            lines = [
                "@dm.datamorphism(move=False)",
                f"def {relation.change.name}(self, frame):",
                f'    """{relation.change.doc}"""',
                *(f"    {line}" for line in relation.change.code),
                "",
                *lines,
            ]
        figure = f"Today {relation.broken:,} of {pluralise(relation.judged, 'row')} violate it."
        yield {
            "says": relation.says,
            "why": relation.why,
            "figure": "" if relation.holds else figure,
            "lines": lines if relation.holds else [f"# {line}".rstrip() for line in lines],
        }


def _format_data_code(text: str, frame: pd.DataFrame, space: Space, file: Path) -> dict[str, Any]:
    comment = f"Typical inputs, {pluralise(len(frame), 'row')}."
    unused_columns = [format_comment_literal(str(name)) for name in frame.columns if name not in space.names]
    if unused_columns:
        ellipsis = ", ..." if len(unused_columns) > MAX_COLUMNS_LISTED else ""
        comment += f" Columns that are not features: {', '.join(unused_columns[:MAX_COLUMNS_LISTED])}{ellipsis}."
    return {"rows": format_data(text, file.parent), "rows_comment": format_comment(comment, 0)}


def _format_model_code(
    text: str, loaded_model: ModelLike, sut: Executor, scalar: bool, trust: bool, file: Path
) -> dict[str, Any]:
    # what was found by trying the model is found again by trying it on the rows of the file
    is_recognised = getattr(sut, "reading", None) is not None or getattr(sut, "style", "frame") in (
        "array",
        "row",
        "series",
    )
    data_option = ", data=ROWS" if is_recognised else ""
    if isinstance(loaded_model, str):
        kind = Path(text).suffix.lower()
        remark = "The model under test."
        if kind in PICKLE_SUFFIXES:
            remark += " Loading a pickle runs any code in it: trust=True says that you trust its author."
        return {
            "model": format_path(text, file.parent)
            + (", trust=True" if trust and kind != ".onnx" else "")
            + data_option,
            "model_comment": format_comment(remark, 0),
            "imported": None,
            "path": "",
        }
    module, _, attribute = text.partition(":")
    first, _, rest = attribute.partition(".")
    options = ", scalar=True" if scalar else ""
    remark = "The system under test."
    if scalar:
        remark += " It takes a single case instead of a frame: scalar=True."
    return {
        "model": f"model{'.' + rest if rest else ''}{options}{data_option}",
        "model_comment": format_comment(remark, 0),
        "imported": (module, first),
        "path": format_module_folder(module, file.parent),
    }
