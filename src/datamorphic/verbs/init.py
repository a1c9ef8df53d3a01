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

from .._checks import plural
from ..data.sets import csv_options, load, read_table
from ..drafts.code import (
    Draft,
    class_name,
    comment,
    disabled,
    feature_lines,
    literal,
    needs_dtypes,
    render,
    tidy,
    told,
)
from ..drafts.promises import Promise, Tried, trying
from ..errors import AmbiguousData, DataError, ModelError, SystemFailed, UsageError
from ..morphisms.subject import SEEDS, Subject, subject_of
from ..morphisms.system import declares_morphisms
from ..runs.drive import drive
from ..space.features import Feature
from ..space.points import Points
from ..space.space import Space
from ..sut.clusters import assigns
from ..sut.files import PICKLES

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 500  # that promises are tried on
ENOUGH_TO_TELL = 20  # values, to tell whole numbers from others
FILES = (".skops", ".onnx", *PICKLES)
DATES = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?", re.DOTALL)


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
    return drafted(model, data, target, out=out, trust=trust, progress=progress).text


def drafted(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    target: str | None = None,
    *,
    out: str | os.PathLike[str] = "test_model.py",
    trust: bool = False,
    progress: bool | None = None,
) -> Draft:
    """Return what `draft` does, with what is known about it."""
    for name, given, what in (
        ("model", model, "a model file or module:object"),
        ("data", data, "a file or data:NAME"),
    ):
        if not isinstance(given, str | os.PathLike):
            raise UsageError(
                f"A file can name {what}, and the {name} was given as {type(given).__name__}. Save it first, and give "
                "the path."
            )
    file = _checked(Path(out))
    found = _loaded(os.fspath(model))
    frame = _frame(os.fspath(data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguousData)
        subject, scalar = _subject(found, frame, target, trust)
    inputs = frame[list(subject.seeds.space.names)]
    _refuse_dates(inputs)
    features = _features(inputs)
    space = Space(features, dtypes={name: inputs[name].dtype for name in inputs.columns})
    subject.sut.space = space
    rng = np.random.default_rng(0)
    flow = trying(_rows(space, inputs), rng, numbers=subject.numbers)
    tried = drive(flow, subject.sut, progress=progress, recheck=0)
    if not tried.answers.ok.any():
        why = tried.answers.messages.get(0, "it gave no reason")
        raise SystemFailed(f"{subject.name} gave no answer to any of {plural(len(tried.answers), 'row')}: {why}.")
    notes = list(subject.notes)
    silent = _silent(tried)
    if silent:
        notes.append(
            f"{plural(silent, 'case')} of the file's tests get no answer today: the file says so, and counts them."
        )
    name = class_name(_stem(os.fspath(data)))
    text = render(
        name=name,
        commands=_commands(file.stem, name),
        features=[line for each in features for line in feature_lines(each, inputs[each.name])],
        dtypes=needs_dtypes(space, inputs),
        seeds=SEEDS,
        silent=silent,
        tolerance=literal(tried.tolerance) if tried.numbers else "",
        promises=list(_written(tried.promises)),
        **_data_code(os.fspath(data), frame, space, target, file),
        **_model_code(os.fspath(model), found, scalar, trust, file),
    )
    return Draft(text, file.stem, name, space, len(frame), tried.promises, notes)


# -- what was given --------------------------------------------------------------------------------------------


def _checked(file: Path) -> Path:
    """Return where the file will be, if it can be imported from there."""
    if file.suffix != ".py" or not file.stem.isidentifier() or keyword.iskeyword(file.stem):
        raise UsageError(
            f"{file.name!r} is no name of a module. Use letters, digits and underscores and the ending .py, as in "
            "test_model.py: pytest looks for names that begin with test_."
        )
    file = Path(os.path.abspath(file))
    other = importlib.util.find_spec(file.stem)
    if other is not None and Path(other.origin or "").parent not in (file.parent, Path.cwd()):
        raise UsageError(
            f"There is an installed module {file.stem!r} already, which the file would hide or be hidden by. Choose "
            "another name, such as test_model.py."
        )
    return file


def _is_file(text: str) -> bool:
    return os.path.exists(text) or os.path.splitext(text)[1].lower() in FILES or os.sep in text


def _loaded(text: str) -> Any:
    """Return the object that ``module:object`` names; the path of a file as it is."""
    if _is_file(text):
        return text
    module, _, attribute = text.partition(":")
    if not attribute or not all(part.isidentifier() for part in f"{module}.{attribute}".split(".")):
        raise UsageError(f"{text!r} is no model file and no module:object, as in my_models:credit.")
    try:
        found = pkgutil.resolve_name(text)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"There is no {text!r}: {error}. Run this in the folder that has the module.") from error
    if declares_morphisms(found) and not hasattr(found, "fit"):
        raise UsageError(f"{text!r} is a test system already. Give the model it tests, or change it as it is.")
    return found


def _frame(text: str) -> pd.DataFrame:
    kind, _, name = text.partition(":")
    return load(name) if kind == "data" else read_table(text)


def _subject(model: Any, frame: pd.DataFrame, target: str | None, trust: bool) -> tuple[Subject, bool]:
    """Return the system with its space, and whether it is a function of one case."""
    if not assigns(model):
        raise ModelError(
            f"{type(model).__name__} has answers for the rows it was fitted on only, and changed rows are to be asked. "
            "Give a model with predict."
        )
    how: dict[str, Any] = {"target": target, "trust": trust}
    subject = subject_of(model, frame, rng=np.random.default_rng(0), **how)
    if isinstance(model, str) or hasattr(model, "predict"):
        return subject, False
    few = subject.seeds.take(slice(0, 3)).frame
    try:
        subject.sut.execute(few)
    except Exception:
        one_by_one = subject_of(model, frame, rng=np.random.default_rng(0), scalar=True, **how)
        try:
            one_by_one.sut.execute(few)
        except Exception:
            return subject, False  # neither works: what it says to a frame is the better explanation
        return one_by_one, True
    return subject, False


def _refuse_dates(frame: pd.DataFrame) -> None:
    """Raise an error if a column of text holds dates: as categories they would have no order in time."""
    for name in frame.columns:
        values = frame[name].dropna().unique()[:100]
        if all(isinstance(value, str) and DATES.fullmatch(value) for value in values) and len(values):
            raise DataError(
                f"Column {name!r} holds dates as text ({values[0]!r}), which have no moves and no midpoint here. Turn it "
                "into numbers (days since a date, say), or leave it out of the model's inputs."
            )


def _features(frame: pd.DataFrame) -> list[Feature]:
    """Read columns as features; floats that are all whole are whole numbers, which files and gaps made floats of."""
    whole = {
        name: "integer"
        for name in frame.columns
        if frame[name].dtype.kind == "f"
        and frame[name].count() >= ENOUGH_TO_TELL
        and (frame[name].dropna() % 1 == 0).all()
        and frame[name].abs().max() < 1e15
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AmbiguousData)  # the file says it in a comment
        return [tidy(feature) for feature in Space.from_frame(frame, kinds=whole).features]


def _rows(space: Space, frame: pd.DataFrame) -> Points:
    """Return the rows that the file's tests will draw, and others up to a limit."""
    first = frame.reset_index(drop=True).sample(min(SEEDS, len(frame)), random_state=np.random.default_rng(0))
    others = np.setdiff1d(np.arange(len(frame)), first.index)
    others = np.random.default_rng(1).permutation(others)[: MOST_ROWS - len(first)]
    return space.points(frame.iloc[np.concatenate([first.index, others])])


def _silent(tried: Tried) -> int:
    """Return how many of the rows that the file's tests ask for have no answer."""
    changed = {promise.of.name: promise.silent for promise in tried.promises if promise.holds}
    return int((~tried.answers.ok[:SEEDS]).sum()) + sum(changed.values())


# -- what is written -------------------------------------------------------------------------------------------


def _commands(module: str, name: str) -> list[tuple[str, str]]:
    """Return what can be done with the file, the commands padded to one width."""
    commands = {
        f"pytest {module}.py": "does it keep its promises?",
        f"datamorphic test {module}:{name}": "everything that applies to it, in one go",
        f"datamorphic laws {module}:{name}": "are its moves sound?",
        f"datamorphic explore {module}:{name}": "where does the answer change?",
    }
    width = max(map(len, commands))
    return [(command.ljust(width), what) for command, what in commands.items()]


def _written(promises: list[Promise]) -> Iterator[dict[str, Any]]:
    """Return promises as the template wants them: in force if they hold, else as comments."""
    known: set[str] = set()
    for promise in promises:
        lines = [
            f'@dm.metamorphism(of="{promise.of.name}")',
            f"def {promise.name}(self, cases, origins):",
            f"    return {promise.code}",
        ]
        if promise.of.name not in known:
            known.add(promise.of.name)
            lines = [
                "@dm.datamorphism(move=False)",
                f"def {promise.of.name}(self, frame):",
                f'    """{promise.of.doc}"""',
                *(f"    {line}" for line in promise.of.code),
                "",
                *lines,
            ]
        broken = "" if promise.holds else f"Today {promise.broken:,} of {plural(promise.judged, 'row')} break it."
        yield {
            "says": promise.says,
            "why": promise.why,
            "figure": broken,
            "lines": lines if promise.holds else disabled(lines),
        }


def _beside(file: Path, other: str) -> str:
    """Return the code for a path, as seen from the folder of the file."""
    try:
        seen = Path(os.path.relpath(other, file.parent)).as_posix()
    except ValueError:  # on another drive
        return f"Path({literal(os.path.abspath(other))})"
    return f"HERE / {literal(seen)}"


def _data_code(text: str, frame: pd.DataFrame, space: Space, target: str | None, file: Path) -> dict[str, str]:
    kind, _, name = text.partition(":")
    if kind == "data":
        code = f"dm.data.load({literal(name)})"
    elif text.lower().endswith(".parquet"):
        code = f"pd.read_parquet({_beside(file, text)})"
    else:
        how = "".join(f", {option}={literal(value)}" for option, value in csv_options(text).items())
        code = f"pd.read_csv({_beside(file, text)}{how})"
    aside = [str(column) for column in frame.columns if column not in space.names]
    more = ", ..." if len(aside) > 3 else ""
    which = (
        f" Columns that are no feature are left aside: {', '.join(map(told, aside[:3]))}{more}." if aside else ""
    )
    return {"rows": code, "rows_comment": comment(f"Typical inputs, {plural(len(frame), 'row')}.{which}", 0)}


def _model_code(text: str, found: Any, scalar: bool, trust: bool, file: Path) -> dict[str, Any]:
    if isinstance(found, str):
        kind = Path(text).suffix.lower()
        pickled = kind in PICKLES
        about = "The model under test."
        if pickled:
            about += (
                " It is a pickle: loading it runs whatever is in it, so trust=True says that you know its maker."
            )
        return {
            "model": _beside(file, text) + (", trust=True" if trust and kind != ".onnx" else ""),
            "model_comment": comment(about, 0),
            "imported": None,
            "path": "",
        }
    module, _, attribute = text.partition(":")
    first, _, rest = attribute.partition(".")
    options = ", scalar=True" if scalar else ""
    about = "The system under test." + (" It takes one case, not a frame of them: scalar=True." if scalar else "")
    return {
        "model": f"model{'.' + rest if rest else ''}{options}",
        "model_comment": comment(about, 0),
        "imported": (module, first),
        "path": _import_path(module, file),
    }


def _import_path(module: str, file: Path) -> str:
    """Return the code for the folder that a module is imported from; an empty text if it is installed."""
    origin = getattr(importlib.import_module(module), "__file__", None)
    if origin is None:
        return ""
    root = Path(origin).parents[module.count(".") + (Path(origin).stem == "__init__")]
    if str(root) in sysconfig.get_paths().values():
        return ""
    return "str(HERE)" if root == file.parent else f"str({_beside(file, str(root))})"


def _stem(text: str) -> str:
    kind, _, name = text.partition(":")
    return name if kind == "data" else Path(text).stem
