"""Studies: published tables computed again, ours beside the printed figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._text import pluralize, suggest_name
from .._typing import EngineLike
from .._validation import validate_choice, validate_seed
from ..errors import ArgumentError, UsageError
from ..reporting.export import FilePath
from ..runs.engines import make_engine
from ..runs.keep import KeepOptions, keep_run
from . import coded_classifiers as coded
from . import (
    credit_models,
    group_measures,
    group_selection,
    group_simulations,
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
from .group_trials import format_amount as format_trial_amount
from .published import tables
from .result import Study
from .rows import Row
from .workload import SCALES, Scale, Workbench

if TYPE_CHECKING:  # the run store is loaded when it is opened
    import pandas as pd

    from ..runs.session import Session
    from ..runs.store import Store


TableBuilder = Callable[[Workbench], list[Row]]

#: the published tables: their titles, and what builds them
TABLES: dict[str, tuple[str, Callable[[str, Workbench], list[Row]]]] = {
    "001-1": ("Directed walk on coded classifiers", coded.build_walks_table),
    "001-2": ("Random walk on coded classifiers, by walks", coded.build_walks_table),
    "001-3": ("Random walk on coded classifiers, by seeds", coded.build_walks_table),
    "001-4": ("Random target on coded classifiers", coded.build_walks_table),
    "001-5": ("Average cost of the strategies on coded classifiers", coded.build_summary_table),
    "000-1": ("Average cost and capability of the strategies on coded classifiers", coded.build_summary_table),
    "000-4": ("Cost and capability of the strategies on real data", real_data.build_overall_table),
    "000-5": ("Pairs per second, coded classifiers", coded.build_speed_table),
    "000-6": ("Pairs per second, models of real data", real_data.build_speed_table),
    "000-7": ("Seconds to find that there is no border", real_data.build_speed_table),
    "000-9": (
        "Directed walk on coded classifiers (the published figures are of random target)",
        coded.build_walks_table,
    ),
    "000-10": ("Random walk on coded classifiers, by walks", coded.build_walks_table),
    "000-11": ("Random walk on coded classifiers, by seeds", coded.build_walks_table),
    "000-12": ("Random target on coded classifiers", coded.build_walks_table),
    "000-13": ("Accuracy of the models", real_data.build_accuracy_table),
    **{
        f"000-{first + number}": (f"{measure} of exploring models of {data}", real_data.build_model_table)
        for first, data in ((14, "red wine"), (18, "mushrooms"), (22, "bank churners"))
        for number, measure in enumerate(("Runs", "Mutants", "Cost", "Capability"))
    },
    "000-2": ("Data sets of the case studies", real_data.build_data_table),
    "002-1": ("Words for effect sizes", pattern_scopes.build_effect_table),
    "002-2": ("Programs, their domains and relations", pattern_scopes.build_program_table),
    "002-3": ("Programs, their mutants, and the kinds of regions these have", group_selection.build_program_table),
    "002-4": ("Programs and relations of the study of SFIDMT-ART", pattern_scopes.build_program_table),
    "002-5": ("Effects of SFIDMT-ART against other generators of groups", groups.build_effect_table),
    "002-7": ("How evenly groups of SFIDMT-ART and MT-ART lie", groups.build_spread_table),
    "002-8": ("Seconds of generators of single inputs", group_simulations.build_classic_time_table),
    "002-9": ("Generators of single inputs on blocks in two dimensions", group_simulations.build_classic_table),
    "002-10": ("Programs and relations of the study of MT-BART", pattern_scopes.build_program_table),
    "002-11": ("Effects of MT-BART and MT-IPART against other generators of groups", groups.build_effect_table),
    "002-12": ("Seconds to make 10,000 groups", groups.build_time_table),
    "002-13": ("How evenly groups of MT-BART and MT-IPART lie", groups.build_spread_table),
    "002-14": ("Patterns of relations by scope", pattern_scopes.build_scope_table),
    **{
        f"002-{number}": (f"Violations of relations of searches: {shop}", searches.build_violation_table)
        for number, shop in ((15, "Amazon in English"), (16, "Amazon in Chinese"), (17, "JD.com"))
    },
    "002-18": ("Violations of robustness by machine translation, by type", translations.build_violation_table),
    "002-19": (
        "Programs of the study of MRGS-ART, their relations, mutants and kinds of faults",
        pattern_scopes.build_program_table,
    ),
    "002-23": ("Violation rates and regions of mutants of BesselJ", group_selection.build_region_table),
    "002-24": ("Violation rates and regions of mutants of TriSquarePlus", group_selection.build_region_table),
    "002-25": ("Violation rates and regions of mutants of rj", group_selection.build_region_table),
    "002-26": ("Violation rates and regions of mutants of PntLinePos", group_selection.build_region_table),
    "002-27": ("F-ratios of MRGS-ART to a random choice of relation and group", group_selection.build_selection_table),
    "002-28": (
        "Effects of MRGS-ART against a random choice of relation and group",
        group_selection.build_selection_table,
    ),
    "002-29": ("Seconds to choose 10,000 pairs of relation and group", group_selection.build_pairing_table),
    "002-30": ("Dispersion of pairs that MRGS-ART chooses", group_selection.build_pairing_table),
    "002-31": ("Discrepancy of pairs that MRGS-ART chooses", group_selection.build_pairing_table),
    "002-32": ("Sizes of the training and test sets of credit models", credit_models.build_size_table),
    **{
        f"002-{number}": (f"Violations and AUC of {models}", credit_models.build_ladder_table)
        for number, models in (
            (33, "neural networks, loans of 2016"),
            (34, "neural networks, loans of 2018"),
            (35, "gradient boosting, loans of 2016"),
            (36, "gradient boosting, loans of 2018"),
            (37, "random forests, loans of 2016"),
            (38, "random forests, loans of 2018"),
            (39, "gradient boosting of 2016, forecasting the loans of 2018"),
        )
    },
    "003-1": ("How often learners violate relations", learner_relations.build_rate_table),
    "003-6": ("Which relations kill mutants of kNN", mutants.build_kill_table),
    "003-7": ("Which relations kill mutants of naive Bayes", mutants.build_kill_table),
    "003-8": ("How cross-validation judges kNN and its mutants", mutants.build_cross_validation_table),
    "003-9": ("How cross-validation judges naive Bayes and its mutants", mutants.build_cross_validation_table),
    "004-2": ("Data sets of the study of trees", trees.build_size_table),
    "004-3": ("Nodes and leaves of decision trees", trees.build_count_table),
    "004-4": ("Mutants of decision trees, and the rows that kill them", trees.build_count_table),
    "004-5": ("Scores of 3-NN on rows that trees choose", tree_scores.build_score_table),
    "004-6": ("Rows that trees choose against cross-validation", tree_scores.build_wilcoxon_table),
    "004-7": ("Boundary values against mutation of trees", tree_scores.build_t_test_table),
    "004-8": ("Scores of 3-NN in an earlier study and in the current one", tree_scores.build_comparison_table),
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


#: descriptions of how much is measured, by document or table; by default in explorations
AMOUNTS: dict[str, Callable[[Scale], str]] = {
    "002": format_trial_amount,
    **dict.fromkeys(("000-2", *(f"002-{number}" for number in (1, 2, 4, 10, 14, 19))), pattern_scopes.format_amount),
    **dict.fromkeys((f"002-{number}" for number in (15, 16, 17)), searches.format_amount),
    "002-18": translations.format_amount,
    "003": mutants.format_amount,
    "003-1": learner_relations.format_amount,
    "004": tree_scores.format_amount,
    **dict.fromkeys((f"002-{number}" for number in range(32, 40)), credit_models.format_amount),
    **dict.fromkeys(("004-2", "004-3", "004-4"), trees.format_amount),
}


def _make_group(
    title: str, *names: str, compares: str = "", more_parts: Mapping[str, TableBuilder] | None = None
) -> StudyEntry:
    """Return a study of published tables, with more parts that are not published."""
    parts: dict[str, TableBuilder] = {name: partial(TABLES[name][1], name) for name in names}
    compares = compares or f"{'Tables' if len(names) > 1 else 'Table'} {', '.join(names)}"
    amount = AMOUNTS.get(names[0], AMOUNTS.get(names[0][:3], _format_explorations))
    return StudyEntry(title, compares, {**parts, **(more_parts or {})}, amount)


def _make_case_study(title: str, data: str) -> StudyEntry:
    both = " and ".join(real_data.PAIRS_OF_TABLES[data])
    parts: dict[str, TableBuilder] = {
        "000-4": partial(real_data.build_overall_table, "000-4", data=data),
        both: partial(real_data.build_mean_table, data),
    }
    return StudyEntry(title, f"Table 000-4 and the means of Tables {both}", parts)


STUDIES: dict[str, StudyEntry] = {
    "random_target": _make_group("Random target on the ten coded classifiers", "001-4", "000-12"),
    "random_walk": _make_group("Random walk on the ten coded classifiers", "000-10", "000-11"),
    "growing": _make_group("Random walk with a growing pool", "001-2", "001-3"),
    "directed_walk": _make_group("Directed walk: as written, and with success at the first step only", "001-1"),
    "redwine": _make_case_study("Sixteen models of red wine, three strategies", "red_wine"),
    "redwine_fault": StudyEntry(
        "Effect of the faulty midpoint of red wine on random target",
        "Table 000-17, random target",
        {"": partial(real_data.build_fault_table, "000-17")},
    ),
    "mushroom": _make_case_study("Sixteen models of mushrooms, three strategies", "mushroom"),
    "bank": _make_case_study("Sixteen models of bank customers, three strategies", "bank_churners"),
    "examples": StudyEntry(
        "Worked examples of the strategies on Sin 2: pairs from a thousand walks",
        "Examples 4 to 6 of Zhu & Bayley (2022)",
        {"": worked_examples.build_example_table},
    ),
    "models": _make_group("Accuracy of the sixteen models of each data set", "000-13"),
    "speed": _make_group("Pairs per second", "000-5", "000-6", "000-7"),
    "summary": _make_group("The strategies on coded classifiers, on average", "000-1", "001-5"),
    "promises": _make_group("Learners of scikit-learn and Weka, and the relations they satisfy", "003-1"),
    "mutants": _make_group(
        "Mutants of learners: killed by relations, by cross-validation", "003-6", "003-7", "003-8", "003-9"
    ),
    "trees": _make_group("Decision trees of sixteen data sets, and their mutants", "004-2", "004-3", "004-4"),
    "tree_tests": _make_group("Rows that trees choose, as tests of 3-NN", "004-5", "004-6", "004-7"),
    "tree_training": StudyEntry(
        "Rows that trees choose, to train on",
        "none: not published",
        {"": tree_scores.build_training_table},
        tree_scores.format_training_amount,
    ),
    "002-6": StudyEntry(
        "Positions of regions relative to input domains: scenarios A1 to C5",
        "Table 002-6, which has no figures",
        {"": group_simulations.build_scenario_table},
        format_trial_amount,
    ),
    "simulation": _make_group(
        "Generators on random regions: blocks, points and strips",
        "002-9",
        more_parts={"all generators": group_simulations.build_region_kind_table},
    ),
    "input_domains": StudyEntry(
        "Effect of the size of the follow-up domain on generators of groups",
        "Tables 002-5 (tanh) and 002-6",
        {
            "two mutants of tanh": group_simulations.build_known_mutant_table,
            "002-6": group_simulations.build_scenario_table,
        },
        format_trial_amount,
    ),
    "groups": _make_group(
        "Generators of groups on mutants of nine programs",
        *("002-5", "002-7", "002-11", "002-12", "002-13"),
        more_parts={"Figure 13": groups.build_generation_table},
    ),
    "generation_time": StudyEntry(
        "Seconds to make 10,000 groups with MT-ART and SFIDMT-ART",
        "Figure 13 of Ying (2024), of which our text has no data, and Table 002-12",
        {"Figure 13": groups.build_generation_table},
        format_trial_amount,
    ),
    "regions": _make_group(
        "Where mutants of programs violate relations", "002-3", "002-23", "002-24", "002-25", "002-26"
    ),
    "selection": _make_group(
        "Which relation on which group: MRGS-ART against a random choice",
        *(f"002-{number}" for number in range(27, 32)),
        compares="Tables 002-27 to 002-31",
        more_parts={"starving": group_simulations.build_starvation_table},
    ),
    "searches": _make_group(
        "Relations of searches on tantivy and SQLite, in English and Chinese", "002-15", "002-16", "002-17"
    ),
    "translations": _make_group(
        "Machine translation: relations that Apertium violates",
        "002-18",
        more_parts={"all relations": translations.build_count_table},
    ),
    "credit_models": _make_group(
        "Credit models: violations and AUC by size, constraints, forecasts",
        *(f"002-{number}" for number in range(32, 40)),
        compares="Tables 002-32 to 002-39, Figure 50",
        more_parts={
            "Figure 50": credit_models.build_wrongness_table,
            "constraints": credit_models.build_constraint_table,
            "German credit": credit_models.build_german_table,
        },
    ),
    "credit_wrongness": StudyEntry(
        "How wrong violations of HMR1 are, for the largest boosting model",
        "Figure 50, which is not in our text",
        {"": credit_models.build_wrongness_table},
        credit_models.format_amount,
    ),
    "credit_constraints": StudyEntry(
        "Gradient boosting with and without monotone constraints, and their price",
        "none: not published",
        {"": credit_models.build_constraint_table},
        credit_models.format_amount,
    ),
    "german_credit": StudyEntry(
        "Models of German credit: violations and AUC",
        "none: not published",
        {"": credit_models.build_german_table},
        credit_models.format_amount,
    ),
    "routes": StudyEntry(
        "Routes on maps: the same query again, names against coordinates, and relations of our own",
        "section 6.6 of Ying (2024), which has no table",
        {"": routes.build_route_table},
        routes.format_amount,
    ),
    "further_measures": StudyEntry(
        "F2-, P- and E-measures of generators of groups",
        "none: section 2.3 of Ying (2024) leaves them to future work",
        {"": group_measures.build_measure_table},
        format_trial_amount,
    ),
    "region_kinds": StudyEntry(
        "Shares of the kinds of violation regions, and violations beside failures",
        "none: sections 3.2.3 and 3.3 of Ying (2024) leave them to future work",
        {
            "shares of kinds": group_measures.build_region_share_table,
            "violations and failures": group_measures.build_failure_table,
        },
        format_trial_amount,
    ),
    "selection_k": StudyEntry(
        "MRGS-ART with k from 1 to 10",
        "none: Tables 002-27 to 002-29 end at k = 5",
        {"": group_measures.build_k_table},
        format_trial_amount,
    ),
    "new_generators": StudyEntry(
        "Generators and selectors that were proposed and never run, beside the others",
        "none: not published",
        {
            "generators": group_simulations.build_new_generator_table,
            "selectors": group_simulations.build_new_selector_table,
        },
        format_trial_amount,
    ),
    **{name: _make_group(TABLES[name][0], name) for name in tables()},
}


#: tables of the five documents without a study, and why; every other table has one
TABLES_WITHOUT_FIGURES: dict[str, tuple[str, str]] = {
    "000-3": ("Models of the case studies", "names and kinds of the sixteen models; `models` measures them"),
    "000-8": ("Testing methods compared", "marks of the authors' judgement"),
    "002-20": ("Violation rates and regions of mutants of sin", "our copy of the thesis has only its caption"),
    "002-21": ("Violation rates and regions of mutants of erf", "our copy of the thesis has only its caption"),
    "002-22": ("Violation rates and regions of mutants of sncndn", "our copy of the thesis has only its caption"),
    "003-2": ("Source files of Weka that were mutated", "names of files"),
    "003-3": ("Mutation operators", "names of operators; `mutants` uses them"),
    "003-4": ("Relations of kNN in the mutation analysis", "names of relations; 003-6 has their figures"),
    "003-5": ("Relations of naive Bayes in the mutation analysis", "names of relations; 003-7 has their figures"),
    "004-1": ("Related work", "a list of papers"),
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
    store: FilePath | Store | KeepOptions | None = None,
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
    store: FilePath | Store | KeepOptions | None,
    resume: int | None,
) -> Iterator[Session | None]:
    """Open a session that keeps a study in a run store; None without a store."""
    keep = store if isinstance(store, KeepOptions) or store is None else KeepOptions(store, resume)
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
