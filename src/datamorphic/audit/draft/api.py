"""``datamorphic init``: a test system drafted from a model and data, ready to run and to be changed."""

from __future__ import annotations

import importlib.util
import keyword
import os
import pkgutil
import re
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import pluralize
from ...data.sets import csv_options, load, read_table
from ...errors import AmbiguousData, DataError, ModelError, SystemFailed, UsageError
from ...morphisms.subject import DEFAULT_SEED_CASES, SubjectUnderTest, build_subject
from ...morphisms.system import has_morphisms
from ...runs.driver import drive
from ...space.features import Feature
from ...space.points import Points
from ...space.space import Space
from ...systems.clustering import has_predictions
from ...systems.files import PICKLE_SUFFIXES
from .code import (
    Draft,
    comment_out,
    format_comment,
    format_comment_literal,
    format_feature,
    format_literal,
    has_other_dtypes,
    render_draft,
    tidy_feature,
    to_class_name,
)
from .relations import DraftRelation, DraftTrial, try_relations

if TYPE_CHECKING:
    import pandas as pd

MAX_TRIAL_ROWS = 500  # that promises are tried on
MIN_VALUES_FOR_INTEGER = 20  # values, to tell whole numbers from others
MODEL_SUFFIXES = (".skops", ".onnx", *PICKLE_SUFFIXES)
DATE_PATTERN = re.compile(
    r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?", re.DOTALL
)


def draft(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    target: str | None = None,
    *,
    out: str | os.PathLike[str] = "test_model.py",
    trust: bool = False,
    progress: bool | None = None,
) -> str:
    """Return a test-system file for a model, drafted from data, that pytest can run at once.

    The space is spelled out; changes and promises are chosen to fit the columns and tried on the data: those that hold
    today are in force, the others are there as comments, with how often they are broken.

    Parameters
    ----------
    model : str or path
        The path of a model file, or ``"module:object"``: the file must say how to get at the model again.
    data : str or path
        A CSV or Parquet file with typical inputs, or ``"data:NAME"``.
    target : str, optional
        The column of the data that is the label and no input.
    out : str or path
        Where the file will be; it names model and data relative to that. Nothing is written.
    trust : bool
        Whether a pickled model may be loaded, here and by the file.
    progress : bool, optional
        Whether to show progress on stderr; by default if that is a terminal.

    Examples
    --------
    ::

        Path("test_model.py").write_text(draft("model.skops", "wine.csv", target="quality"))
    """
    return draft_system(model, data, target, out=out, trust=trust, progress=progress).text


def draft_system(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    target: str | None = None,
    *,
    out: str | os.PathLike[str] = "test_model.py",
    trust: bool = False,
    progress: bool | None = None,
) -> Draft:
    """Return what `draft` does, with what is known about it."""
    for name, argument, expected in (
        ("model", model, "a model file or module:object"),
        ("data", data, "a file or data:NAME"),
    ):
        if not isinstance(argument, str | os.PathLike):
            raise UsageError(
                f"A file can name {expected}, and the {name} was given as {type(argument).__name__}. Save it first, and give "
                "the path."
            )
    file = _validate_out(Path(out))
    loaded_model = _load_model(os.fspath(model))
    frame = _load_frame(os.fspath(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguousData)
        subject, scalar = _build_subject(loaded_model, frame, target, trust)
    inputs = frame[list(subject.seeds.space.names)]
    _refuse_dates(inputs)
    features = _infer_features(inputs)
    space = Space(features, dtypes={name: inputs[name].dtype for name in inputs.columns})
    subject.sut.space = space
    rng = np.random.default_rng(0)
    flow = try_relations(_choose_rows(space, inputs), rng, numbers=subject.has_numeric_answers)
    trial = drive(flow, subject.sut, progress=progress, recheck=0)
    if not trial.answers.ok.any():
        reason = trial.answers.messages.get(0, "it gave no reason")
        raise SystemFailed(
            f"{subject.name} gave no answer to any of {pluralize(len(trial.answers), 'row')}: {reason}."
        )
    notes = list(subject.notes)
    silent = _count_silent(trial)
    if silent:
        notes.append(
            f"{pluralize(silent, 'case')} of the file's tests get no answer today: the file says so, and counts them."
        )
    name = to_class_name(_get_stem(os.fspath(data)))
    text = render_draft(
        name=name,
        commands=_format_commands(file.stem, name),
        features=[line for feature in features for line in format_feature(feature, inputs[feature.name])],
        dtypes=has_other_dtypes(space, inputs),
        seeds=DEFAULT_SEED_CASES,
        silent=silent,
        tolerance=format_literal(trial.tolerance) if trial.numbers else "",
        promises=list(_format_relations(trial.promises)),
        **_format_data_code(os.fspath(data), frame, space, target, file),
        **_format_model_code(os.fspath(model), loaded_model, scalar, trust, file),
    )
    return Draft(
        text=text, module=file.stem, name=name, space=space, rows=len(frame), promises=trial.promises, notes=notes
    )


# -- what was given --------------------------------------------------------------------------------------------


def _validate_out(file: Path) -> Path:
    """Return where the file will be, if it can be imported from there."""
    if file.suffix != ".py" or not file.stem.isidentifier() or keyword.iskeyword(file.stem):
        raise UsageError(
            f"{file.name!r} is no name of a module. Use letters, digits and underscores and the ending .py, as in "
            "test_model.py: pytest looks for names that begin with test_."
        )
    file = Path(os.path.abspath(file))
    spec = importlib.util.find_spec(file.stem)
    if spec is not None and Path(spec.origin or "").parent not in (file.parent, Path.cwd()):
        raise UsageError(
            f"There is an installed module {file.stem!r} already, which the file would hide or be hidden by. Choose "
            "another name, such as test_model.py."
        )
    return file


def _is_file(text: str) -> bool:
    return os.path.exists(text) or os.path.splitext(text)[1].lower() in MODEL_SUFFIXES or os.sep in text


def _load_model(text: str) -> Any:
    """Return the object that ``module:object`` names; the path of a file as it is."""
    if _is_file(text):
        return text
    module, _, attribute = text.partition(":")
    if not attribute or not all(part.isidentifier() for part in f"{module}.{attribute}".split(".")):
        raise UsageError(f"{text!r} is no model file and no module:object, as in my_models:credit.")
    try:
        loaded_object = pkgutil.resolve_name(text)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"There is no {text!r}: {error}. Run this in the folder that has the module.") from error
    if has_morphisms(loaded_object) and not hasattr(loaded_object, "fit"):
        raise UsageError(f"{text!r} is a test system already. Give the model it tests, or change it as it is.")
    return loaded_object


def _load_frame(text: str) -> pd.DataFrame:
    kind, _, name = text.partition(":")
    return load(name) if kind == "data" else read_table(text)


def _build_subject(
    model: Any, frame: pd.DataFrame, target: str | None, trust: bool
) -> tuple[SubjectUnderTest, bool]:
    """Return the system with its space, and whether it is a function of one case."""
    if not has_predictions(model):
        raise ModelError(
            f"{type(model).__name__} has answers for the rows it was fitted on only, and changed rows are to be asked. "
            "Give a model with predict."
        )
    options: dict[str, Any] = {"target": target, "trust": trust}
    subject = build_subject(model, frame, rng=np.random.default_rng(0), **options)
    if isinstance(model, str) or hasattr(model, "predict"):
        return subject, False
    sample = subject.seeds.take(slice(0, 3)).frame
    try:
        subject.sut.execute(sample)
    except Exception:
        scalar_subject = build_subject(model, frame, rng=np.random.default_rng(0), scalar=True, **options)
        try:
            scalar_subject.sut.execute(sample)
        except Exception:
            return subject, False  # neither works: what it says to a frame is the better explanation
        return scalar_subject, True
    return subject, False


def _refuse_dates(frame: pd.DataFrame) -> None:
    """Raise an error if a column of text holds dates: as categories they would have no order in time."""
    for name in frame.columns:
        values = frame[name].dropna().unique()[:100]
        if all(isinstance(value, str) and DATE_PATTERN.fullmatch(value) for value in values) and len(values):
            raise DataError(
                f"Column {name!r} holds dates as text ({values[0]!r}), which have no moves and no midpoint here. Turn it "
                "into numbers (days since a date, say), or leave it out of the model's inputs."
            )


def _infer_features(frame: pd.DataFrame) -> list[Feature]:
    """Read columns as features; floats that are all whole are whole numbers, which files and gaps made floats of."""
    kinds = {
        name: "integer"
        for name in frame.columns
        if frame[name].dtype.kind == "f"
        and frame[name].count() >= MIN_VALUES_FOR_INTEGER
        and (frame[name].dropna() % 1 == 0).all()
        and frame[name].abs().max() < 1e15
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguousData)  # the file says it in a comment
        return [tidy_feature(feature) for feature in Space.from_frame(frame, kinds=kinds).features]


def _choose_rows(space: Space, frame: pd.DataFrame) -> Points:
    """Return the rows that the file's tests will draw, and others up to a limit."""
    first = frame.reset_index(drop=True).sample(
        min(DEFAULT_SEED_CASES, len(frame)), random_state=np.random.default_rng(0)
    )
    others = np.setdiff1d(np.arange(len(frame)), first.index)
    others = np.random.default_rng(1).permutation(others)[: MAX_TRIAL_ROWS - len(first)]
    return space.points(frame.iloc[np.concatenate([first.index, others])])


def _count_silent(trial: DraftTrial) -> int:
    """Return how many of the rows that the file's tests ask for have no answer."""
    silent_by_change = {promise.of.name: promise.silent for promise in trial.promises if promise.holds}
    return int((~trial.answers.ok[:DEFAULT_SEED_CASES]).sum()) + sum(silent_by_change.values())


# -- what is written -------------------------------------------------------------------------------------------


def _format_commands(module: str, name: str) -> list[tuple[str, str]]:
    """Return what can be done with the file, the commands padded to one width."""
    commands = {
        f"pytest {module}.py": "does it keep its promises?",
        f"datamorphic test {module}:{name}": "everything that applies to it, in one go",
        f"datamorphic laws {module}:{name}": "are its moves sound?",
        f"datamorphic explore {module}:{name}": "where does the answer change?",
    }
    width = max(map(len, commands))
    return [(command.ljust(width), purpose) for command, purpose in commands.items()]


def _format_relations(promises: list[DraftRelation]) -> Iterator[dict[str, Any]]:
    """Return promises as the template wants them: in force if they hold, else as comments."""
    written_changes: set[str] = set()
    for promise in promises:
        lines = [
            f'@dm.metamorphism(of="{promise.of.name}")',
            f"def {promise.name}(self, cases, origins):",
            f"    return {promise.code}",
        ]
        if promise.of.name not in written_changes:
            written_changes.add(promise.of.name)
            lines = [
                "@dm.datamorphism(move=False)",
                f"def {promise.of.name}(self, frame):",
                f'    """{promise.of.doc}"""',
                *(f"    {line}" for line in promise.of.code),
                "",
                *lines,
            ]
        broken_text = (
            "" if promise.holds else f"Today {promise.broken:,} of {pluralize(promise.judged, 'row')} break it."
        )
        yield {
            "says": promise.says,
            "why": promise.why,
            "figure": broken_text,
            "lines": lines if promise.holds else comment_out(lines),
        }


def _format_path(file: Path, path: str) -> str:
    """Return the code for a path, as seen from the folder of the file."""
    try:
        relative_path = Path(os.path.relpath(path, file.parent)).as_posix()
    except ValueError:  # on another drive
        return f"Path({format_literal(os.path.abspath(path))})"
    return f"HERE / {format_literal(relative_path)}"


def _format_data_code(
    text: str, frame: pd.DataFrame, space: Space, target: str | None, file: Path
) -> dict[str, str]:
    kind, _, name = text.partition(":")
    if kind == "data":
        code = f"dm.data.load({format_literal(name)})"
    elif text.lower().endswith(".parquet"):
        code = f"pd.read_parquet({_format_path(file, text)})"
    else:
        options = "".join(f", {option}={format_literal(value)}" for option, value in csv_options(text).items())
        code = f"pd.read_csv({_format_path(file, text)}{options})"
    unused_columns = [str(column) for column in frame.columns if column not in space.names]
    ellipsis = ", ..." if len(unused_columns) > 3 else ""
    unused_text = (
        f" Columns that are no feature are left aside: {', '.join(map(format_comment_literal, unused_columns[:3]))}{ellipsis}."
        if unused_columns
        else ""
    )
    return {
        "rows": code,
        "rows_comment": format_comment(f"Typical inputs, {pluralize(len(frame), 'row')}.{unused_text}", 0),
    }


def _format_model_code(text: str, loaded_model: Any, scalar: bool, trust: bool, file: Path) -> dict[str, Any]:
    if isinstance(loaded_model, str):
        kind = Path(text).suffix.lower()
        pickled = kind in PICKLE_SUFFIXES
        remark = "The model under test."
        if pickled:
            remark += (
                " It is a pickle: loading it runs whatever is in it, so trust=True says that you know its maker."
            )
        return {
            "model": _format_path(file, text) + (", trust=True" if trust and kind != ".onnx" else ""),
            "model_comment": format_comment(remark, 0),
            "imported": None,
            "path": "",
        }
    module, _, attribute = text.partition(":")
    first, _, rest = attribute.partition(".")
    options = ", scalar=True" if scalar else ""
    remark = "The system under test." + (" It takes one case, not a frame of them: scalar=True." if scalar else "")
    return {
        "model": f"model{'.' + rest if rest else ''}{options}",
        "model_comment": format_comment(remark, 0),
        "imported": (module, first),
        "path": _format_import_path(module, file),
    }


def _format_import_path(module: str, file: Path) -> str:
    """Return the code for the folder that a module is imported from; an empty text if it is installed."""
    origin = getattr(importlib.import_module(module), "__file__", None)
    if origin is None:
        return ""
    root = Path(origin).parents[module.count(".") + (Path(origin).stem == "__init__")]
    if str(root) in sysconfig.get_paths().values():
        return ""
    return "str(HERE)" if root == file.parent else f"str({_format_path(file, str(root))})"


def _get_stem(text: str) -> str:
    kind, _, name = text.partition(":")
    return name if kind == "data" else Path(text).stem
