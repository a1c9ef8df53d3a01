"""`study`: a published table, or a group of them, computed anew and set beside the figures in print."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .._text import pluralize, suggest_name
from .._validation import validate_choice, validate_integer
from ..errors import UsageError
from . import coded_classifiers as coded
from . import group_selection, group_simulations, groups, mutants, tree_scores, trees
from . import learner_relations as promises
from . import real_data as cases
from .group_trials import amount as trials_made
from .published import tables
from .rows import Row
from .workload import SCALES, Bench, Scale

if TYPE_CHECKING:
    import pandas as pd

Maker = Callable[[Bench], list[Row]]

TITLES = {
    "001-1": "Directed walk on coded classifiers",
    "001-2": "Random walk on coded classifiers, by walks",
    "001-3": "Random walk on coded classifiers, by seeds",
    "001-4": "Random target on coded classifiers",
    "001-5": "Average cost of the strategies on coded classifiers",
    "000-1": "Average cost and capability of the strategies on coded classifiers",
    "000-4": "Cost and capability of the strategies on real data",
    "000-5": "Pairs per second, coded classifiers",
    "000-6": "Pairs per second, models of real data",
    "000-7": "Seconds to find that there is no border",
    "000-9": "Directed walk on coded classifiers (in print: random target)",
    "000-10": "Random walk on coded classifiers, by walks",
    "000-11": "Random walk on coded classifiers, by seeds",
    "000-12": "Random target on coded classifiers",
    "000-13": "Accuracy of the models",
    "002-3": "Programs, their mutants, and the kinds of regions these have",
    "002-5": "Effects of SFIDMT-ART against other generators of groups",
    "002-7": "How evenly groups of SFIDMT-ART and MT-ART lie",
    "002-9": "Generators of single inputs on blocks in two dimensions",
    "002-11": "Effects of MT-BART and MT-IPART against other generators of groups",
    "002-12": "Seconds to make 10,000 groups",
    "002-13": "How evenly groups of MT-BART and MT-IPART lie",
    "002-23": "Violation rates and regions of mutants of BesselJ",
    "002-24": "Violation rates and regions of mutants of TriSquarePlus",
    "002-25": "Violation rates and regions of mutants of rj",
    "002-26": "Violation rates and regions of mutants of PntLinePos",
    "002-27": "F-ratios of MRGS-ART to a random choice of relation and group",
    "002-28": "Effects of MRGS-ART against a random choice of relation and group",
    "002-29": "Seconds to choose 10,000 pairs of relation and group",
    "002-30": "Dispersion of pairs that MRGS-ART chooses",
    "002-31": "Discrepancy of pairs that MRGS-ART chooses",
    "003-1": "How often learners violate relations",
    "003-6": "Which relations kill mutants of kNN",
    "003-7": "Which relations kill mutants of naive Bayes",
    "003-8": "What cross-validation makes of kNN and its mutants",
    "003-9": "What cross-validation makes of naive Bayes and its mutants",
    "004-2": "Data sets of the study of trees",
    "004-3": "Nodes and leaves of decision trees",
    "004-4": "Mutants of decision trees, and the rows that kill them",
    "004-5": "Scores of 3-NN on rows that trees choose",
    "004-6": "Rows that trees choose against cross-validation",
    "004-7": "Boundary values against mutation of trees",
}
for _first, _data in ((14, "red wine"), (18, "mushrooms"), (22, "bank churners")):
    for _k, _measure in enumerate(("Runs", "Mutants", "Cost", "Capability")):
        TITLES[f"000-{_first + _k}"] = f"{_measure} of exploring models of {_data}"


def _maker(table: str) -> Maker:
    special = {
        "001-5": coded.summary,
        "000-1": coded.summary,
        "000-4": cases.overall,
        "000-5": coded.speed,
        "000-6": cases.speed,
        "000-7": cases.speed,
        "000-13": cases.accuracy,
        "002-3": group_selection.subjects,
        "002-5": groups.effects,
        "002-7": groups.spreads,
        "002-9": group_simulations.classic,
        "002-11": groups.effects,
        "002-12": groups.times,
        "002-13": groups.spreads,
        **dict.fromkeys((f"002-{number}" for number in range(23, 27)), group_selection.regions),
        "002-27": group_selection.selections,
        "002-28": group_selection.selections,
        **dict.fromkeys((f"002-{number}" for number in range(29, 32)), group_selection.pairings),
        "003-1": promises.rates,
        "003-6": mutants.kills,
        "003-7": mutants.kills,
        "003-8": mutants.rivals,
        "003-9": mutants.rivals,
        "004-2": trees.sizes,
        "004-3": trees.counts,
        "004-4": trees.counts,
        "004-5": tree_scores.scores,
        "004-6": tree_scores.against,
        "004-7": tree_scores.t_tests,
    }
    usual = cases.by_model if int(table.partition("-")[2]) >= 14 else coded.by_walks
    return partial(special.get(table, usual), table)


def _explorations(scale: Scale) -> str:
    usual, slow = pluralize(scale.repetitions, "time"), pluralize(scale.slow, "time")
    return f"each exploration {usual}" + ("" if usual == slow else f" (data sets, growing pools: {slow})")


class Entry(NamedTuple):
    """What a study is made of: parts by their headings, usually tables; and how much is done, in words."""

    title: str
    compares: str
    parts: dict[str, Maker]
    amount: Callable[[Scale], str] = _explorations


def _group(title: str, *names: str) -> Entry:
    amount = _explorations
    if names[0].startswith("002-"):
        amount = trials_made
    elif names[0].startswith("003-"):
        amount = promises.amount if names[0] == "003-1" else mutants.amount
    elif names[0].startswith("004-"):
        amount = trees.amount if names[0] in ("004-2", "004-3", "004-4") else tree_scores.amount
    tables = f"Table{'s' * (len(names) > 1)} {', '.join(names)}"
    return Entry(title, tables, {name: _maker(name) for name in names}, amount)


def _case(title: str, data: str) -> Entry:
    both = " and ".join(cases.PAIRS_OF_TABLES[data])
    parts: dict[str, Maker] = {
        "000-4": partial(cases.overall, "000-4", data=data),
        both: partial(cases.means, data),
    }
    return Entry(title, f"Table 000-4 and the means of Tables {both}", parts)


STUDIES: dict[str, Entry] = {
    "random_target": _group("Random target on the ten coded classifiers", "001-4", "000-12"),
    "random_walk": _group("Random walk on the ten coded classifiers", "000-10", "000-11"),
    "growing": _group("Random walk with a growing pool", "001-2", "001-3"),
    "directed_walk": _group("Directed walk: as written, and with success at the first step only", "001-1"),
    "redwine": _case("Sixteen models of red wine, three strategies", "red_wine"),
    "redwine_fault": Entry(
        "What red wine's faulty midpoint did to random target",
        "Table 000-17, random target",
        {"": partial(cases.fault, "000-17")},
    ),
    "mushroom": _case("Sixteen models of mushrooms, three strategies", "mushroom"),
    "bank": _case("Sixteen models of bank customers, three strategies", "bank_churners"),
    "models": _group("Accuracy of the sixteen models of each data set", "000-13"),
    "speed": _group("Pairs per second", "000-5", "000-6", "000-7"),
    "summary": _group("The strategies on coded classifiers, on average", "000-1", "001-5"),
    "promises": _group("Learners of scikit-learn and Weka, and what they promise", "003-1"),
    "mutants": _group(
        "Mutants of learners: killed by relations, by cross-validation", "003-6", "003-7", "003-8", "003-9"
    ),
    "trees": _group("Decision trees of sixteen data sets, and their mutants", "004-2", "004-3", "004-4"),
    "tree_tests": _group("Rows that trees choose, as tests of 3-NN", "004-5", "004-6", "004-7"),
    "tree_training": Entry(
        "Rows that trees choose, to train on",
        "none: ours alone",
        {"": tree_scores.training},
        tree_scores.training_amount,
    ),
    "002-6": Entry(
        "Where regions lie against input domains: scenarios A1 to C5",
        "Table 002-6, which has no figures",
        {"": group_simulations.scenarios},
        trials_made,
    ),
    "simulation": Entry(
        "Generators on regions that are drawn: blocks, points and strips",
        "Table 002-9",
        {"002-9": _maker("002-9"), "all generators": group_simulations.kinds_of_regions},
        trials_made,
    ),
    "input_domains": Entry(
        "What a follow-up domain of another size does to generators of groups",
        "Tables 002-5 (tanh) and 002-6",
        {"two mutants of tanh": group_simulations.known_mutants, "002-6": group_simulations.scenarios},
        trials_made,
    ),
    "groups": _group(
        "Generators of groups on mutants of nine programs", "002-5", "002-7", "002-11", "002-12", "002-13"
    ),
    "regions": _group(
        "Where mutants of programs violate relations", "002-3", "002-23", "002-24", "002-25", "002-26"
    ),
    "selection": Entry(
        "Which relation on which group: MRGS-ART against a random choice",
        "Tables 002-27 to 002-31",
        {
            **{name: _maker(name) for name in (f"002-{number}" for number in range(27, 32))},
            "starving": group_simulations.starving,
        },
        trials_made,
    ),
    "new_generators": Entry(
        "Generators and selectors that were proposed and never run, beside the others",
        "none: ours alone",
        {"generators": group_simulations.new_generators, "selectors": group_simulations.new_selectors},
        trials_made,
    ),
    **{name: _group(TITLES[name], name) for name in tables()},
}


@dataclass(frozen=True, eq=False)
class Study:
    """Published figures and ours.

    Attributes
    ----------
    name, title, scale : str
        Which study, and how much of it.
    seed : int
        Where randomness started.
    seconds : float
        How long it took.
    amount : str
        How much was done, in words; ours are means where something was done more than once.
    rows : DataFrame
        Columns ``row``, ``column``, ``published``, ``ours``, ``note``.
    """

    name: str
    title: str
    scale: str
    seed: int
    seconds: float
    amount: str
    rows: pd.DataFrame

    def __repr__(self) -> str:
        return f"Study({self.name}, {self.scale}: {len(self.rows):,} figures)"

    @property
    def heading(self) -> str:
        """What was done, in one line."""
        return f"{self.title}: scale {self.scale}, seed {self.seed}, {self.amount}, {self.seconds:.0f} s"

    def describe(self) -> str:
        """Return the figures as text: published / ours, with notes at the foot."""
        from .text import text

        return text(self)

    def to_html(self, path: str | Path) -> Path:
        """Write a page with the figures, the notes, and pictures where these explain something; return where it is."""
        from ..reporting.html import write_page
        from .page import page_of

        return write_page(page_of(self), path)


def names() -> list[str]:
    """Return the names of the studies.

    Examples
    --------
    >>> names()[:3], "000-12" in names()
    (['random_target', 'random_walk', 'growing'], True)
    """
    return list(STUDIES)


def listing() -> pd.DataFrame:
    """Return the studies with what each is about and which tables it compares with."""
    import pandas as pd

    return pd.DataFrame([(name, each.title, each.compares) for name, each in STUDIES.items()],
                        columns=["name", "title", "compares"])  # fmt: skip


def study(name: str, scale: str = "small", seed: int = 0, progress: bool | None = None) -> Study:
    """Compute a published table, or a group of them, and set it beside the figures in print.

    Parameters
    ----------
    name : str
        A table such as ``"000-12"``, or one of the groups: see `listing`.
    scale : {"small", "full"}
        A minute or two, or everything as published, which may take hours; ``"tiny"`` shows that it works.
    seed : int
        Where randomness starts; the same seed gives the same figures, apart from times.
    progress : bool, optional
        Whether to show progress on stderr; by default if that is a terminal. A full study tells first how long
        it will take, unless this is False.

    Examples
    --------
    >>> study("random_target", scale="tiny").rows.columns.tolist()
    ['row', 'column', 'published', 'ours', 'note']
    """
    import pandas as pd

    if name not in STUDIES:
        raise UsageError(f"There is no study {name!r}. {suggest_name(name, STUDIES)}")
    bench = Bench(
        SCALES[validate_choice("scale", "study", scale, SCALES)], validate_integer("seed", "study", seed)
    )
    entry = STUDIES[name]
    began = time.perf_counter()
    _rows(entry, bench)
    bench.work(name, progress, tell=scale == "full" and progress is not False)
    rows = _rows(entry, bench)
    frame = pd.DataFrame(rows, columns=list(Row._fields))
    amount = entry.amount(bench.scale)
    return Study(name, entry.title, scale, bench.seed, time.perf_counter() - began, amount, frame)


def _rows(entry: Entry, bench: Bench) -> list[Row]:
    """Return the rows of all parts; where there are several, each begins with its part's name."""
    many = len(entry.parts) > 1
    return [
        row._replace(row=f"{part}: {row.row}" if many else row.row)
        for part, make in entry.parts.items()
        for row in make(bench)
    ]
