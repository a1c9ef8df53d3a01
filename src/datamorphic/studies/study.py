"""Studies: published tables computed again, ours beside the printed figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from .._tables import read_document, read_rows
from .._text import pluralize, suggest_name
from .._typing import EngineLike
from .._validation import validate_choice, validate_seed
from ..errors import ArgumentError, DataError, UsageError
from ..reporting.export import FilePath
from ..runs.engines import make_engine
from ..runs.keep import StoreOptions, keep_run
from . import (
    coded_classifiers,
    credit_models,
    group_measures,
    group_selection,
    group_simulations,
    group_trials,
    groups,
    learner_relations,
    mutants,
    pattern_scopes,
    real_data,
    routes,
    searches,
    translations,
    tree_scores,
    trees,
    worked_examples,
)
from .figures import list_figures
from .published import tables
from .result import Study
from .rows import Row
from .workload import SCALES, Scale, Workbench

if TYPE_CHECKING:  # the run store is loaded when it is opened
    import pandas as pd

    from ..runs.session import Session
    from ..runs.store import Store


TableBuilder = Callable[[Workbench], list[Row]]

#: modules whose functions tables.csv and studies.toml name
_MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        coded_classifiers,
        credit_models,
        group_measures,
        group_selection,
        group_simulations,
        group_trials,
        groups,
        learner_relations,
        mutants,
        pattern_scopes,
        real_data,
        routes,
        searches,
        translations,
        tree_scores,
        trees,
        worked_examples,
    )
}


def _format_explorations(scale: Scale) -> str:
    usual, slow = pluralize(scale.repetitions, "time"), pluralize(scale.slow, "time")
    return f"each exploration {usual}" + ("" if usual == slow else f" (data sets, growing pools: {slow})")


class StudyEntry(NamedTuple):
    """A study: its parts by heading, usually tables, and a function that describes how much is measured."""

    title: str
    compares: str
    parts: dict[str, TableBuilder]
    amount: Callable[[Scale], str] = _format_explorations


@dataclass(frozen=True, kw_only=True)
class _TableRow:
    """A table of the five documents."""

    name: str
    title: str
    builder: str = ""  # the function that builds it
    amount: str = ""  # the function that says how much is measured; by default explorations
    reason: str = ""  # why it has no study


@dataclass(frozen=True, kw_only=True)
class _StudyRow:
    """A study of several tables, or of what is not published."""

    name: str
    title: str
    compares: str = ""
    tables: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by heading: a function, and its arguments
    amount: str = ""
    data: str = ""


@dataclass(frozen=True, kw_only=True)
class _StudyTable:
    studies: tuple[_StudyRow, ...]


def _find_function(name: str) -> Callable[..., Any]:
    """Return a function of a module of studies: "groups.build_time_table"."""
    module, _, function = name.partition(".")
    if not hasattr(_MODULES.get(module), function):
        raise DataError(f"There is no function {name!r} in the modules of studies.")
    return cast(Callable[..., Any], getattr(_MODULES[module], function))


def _find_amount(name: str) -> Callable[[Scale], str]:
    if not name:
        return _format_explorations
    return _find_function(name if "." in name else f"{name}.format_amount")


_TABLE_ROWS = {row.name: row for row in read_rows(__package__, "tables.csv", _TableRow)}

#: the published tables: their titles, and what builds them
TABLES: dict[str, tuple[str, Callable[[str, Workbench], list[Row]]]] = {
    name: (row.title, _find_function(row.builder)) for name, row in _TABLE_ROWS.items() if row.builder
}

#: tables of the five documents without a study, and why; every other table has one
TABLES_WITHOUT_FIGURES = {name: (row.title, row.reason) for name, row in _TABLE_ROWS.items() if not row.builder}


def _build_entry(row: _StudyRow) -> StudyEntry:
    """Return a study of published tables, with more parts that are not published."""
    if row.data:
        return _build_case_study(row)
    parts: dict[str, TableBuilder] = {name: partial(TABLES[name][1], name) for name in row.tables}
    parts |= {heading: partial(_find_function(name), *others) for heading, (name, *others) in row.parts.items()}
    compares = row.compares or f"{'Tables' if len(row.tables) > 1 else 'Table'} {', '.join(row.tables)}"
    amount = row.amount or (_TABLE_ROWS[row.tables[0]].amount if row.tables else "")
    return StudyEntry(row.title, compares, parts, _find_amount(amount))


def _build_case_study(row: _StudyRow) -> StudyEntry:
    both = " and ".join(real_data.PAIRS_OF_TABLES[row.data])
    parts: dict[str, TableBuilder] = {
        "000-4": partial(real_data.build_overall_table, "000-4", data=row.data),
        both: partial(real_data.build_mean_table, row.data),
    }
    return StudyEntry(row.title, f"Table 000-4 and the means of Tables {both}", parts)


#: the studies by name
STUDIES: dict[str, StudyEntry] = {
    row.name: _build_entry(row)
    for row in (
        *read_document(__package__, "studies.toml", _StudyTable).studies,
        *(_StudyRow(name=name, title=TABLES[name][0], tables=(name,)) for name in tables()),
    )
}


def list_names() -> list[str]:
    """Return the names of all studies."""
    return list(STUDIES)


def list_studies() -> pd.DataFrame:
    """Return all studies with their titles, the tables they compare with, and the figures that their pages draw."""
    import pandas as pd

    return pd.DataFrame(
        [
            (name, entry.title, entry.compares, ", ".join(figure.name for figure in list_figures(entry.parts)))
            for name, entry in STUDIES.items()
        ],
        columns=["name", "title", "compares", "figures"],
    )


def study(
    name: str,
    scale: str = "small",
    seed: int = 0,
    progress: bool | None = None,
    *,
    engine: EngineLike = None,
    store: FilePath | Store | StoreOptions | None = None,
    resume: int | None = None,
) -> Study:
    """Compute a published table, or a group of tables, beside the printed figures.

    Parameters
    ----------
    name : str
        A table such as ``"000-12"``, or one of the groups: see `list_studies`.
    scale : {"small", "full"}
        A minute or two, or everything as published, which may take hours. ``"tiny"`` only shows that it works.
    seed : int
        The random seed. The same seed gives the same figures on every engine, apart from times.
    progress : bool, optional
        Whether to show progress on stderr; by default if it is a terminal. A full study first prints an estimate of its
        duration, unless this is False.
    engine : str or Dask client, optional
        Where to measure: ``"processes:2"``, ``"threads:2"``, ``"dask://host:8786"``; by default in this process.
    store : str, path or Store, optional
        The run store in which each measurement is kept when it is done, so that a killed study can be resumed.
    resume : int, optional
        The number of the stored run to resume. The other arguments must be the same as when it began.

    Examples
    --------
    >>> study("random_target", scale="tiny").rows.columns.tolist()
    ['row', 'column', 'published', 'ours', 'note', 'margin', 'trials']
    """
    if name in TABLES_WITHOUT_FIGURES:
        title, reason = TABLES_WITHOUT_FIGURES[name]
        raise UsageError(f"Table {name} ({title}) is not computed: {reason}.")
    if name not in STUDIES:
        raise UsageError(f"There is no study {name!r}. {suggest_name(name, STUDIES)}")
    bench = make_workbench(scale, seed)
    entry = STUDIES[name]
    began = time.perf_counter()
    plan_study(name, entry, bench)
    with keep_study(name, scale, seed, engine, store, resume) as session:
        bench.work(
            name,
            progress,
            print_estimate=scale == "full" and progress is not False,
            engine=engine,
            journal=None if session is None else session.journal,
        )
        result = build_study(name, entry, bench, scale, time.perf_counter() - began)
        if session is not None:
            session.finish(result)
    return result


def make_workbench(scale: str, seed: int) -> Workbench:
    """Return an empty workbench for a scale by name."""
    return Workbench(SCALES[validate_choice("scale", "study", scale, SCALES)], validate_seed("seed", "study", seed))


def plan_study(name: str, entry: StudyEntry, bench: Workbench) -> None:
    """Record what a study needs to measure."""
    bench.study = name
    _build_rows(entry, bench)


def build_study(name: str, entry: StudyEntry, bench: Workbench, scale: str, seconds: float) -> Study:
    """Return a study whose figures have been measured."""
    import pandas as pd

    return Study(
        name=name,
        title=entry.title,
        scale=scale,
        seed=bench.seed,
        seconds=seconds,
        amount=entry.amount(bench.scale),
        rows=pd.DataFrame(_build_rows(entry, bench), columns=list(Row._fields)),
    )


@contextmanager
def keep_study(
    name: str,
    scale: str,
    seed: int,
    engine: EngineLike,
    store: FilePath | Store | StoreOptions | None,
    resume: int | None,
) -> Iterator[Session | None]:
    """Open a session that keeps a study in a run store; None without a store."""
    keep = store if isinstance(store, StoreOptions) or store is None else StoreOptions(store, resume)
    if keep is None:
        if resume is not None:
            raise ArgumentError(f"Run {resume} can only be resumed from its run store. Add store=...")
        yield None
        return
    with keep_run(
        keep,
        "study",
        name,
        {"name": name, "scale": scale},
        seed=seed,
        model=None,
        seeds=None,
        rng=np.random.default_rng(seed),
        engine=make_engine(engine).name,
    ) as session:
        yield session


def build_published_rows(name: str) -> list[Row]:
    """Return all rows of a study at full scale before anything is measured: every published figure it compares with."""
    return _build_rows(STUDIES[name], Workbench(SCALES["full"]))


def _build_rows(entry: StudyEntry, bench: Workbench) -> list[Row]:
    """Return the rows of all parts, prefixed with the name of the part if there are several."""
    many = len(entry.parts) > 1
    return [
        row._replace(row=f"{part}: {row.row}" if many else row.row)
        for part, make in entry.parts.items()
        for row in make(bench)
    ]
