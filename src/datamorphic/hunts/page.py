"""A hunt as a page: what was found, where, and how soon; and simulations beside each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import plural, short
from ..groups.measures import estimate
from ..reports.html import write as write_report
from ..reports.summary import Axis, Report, Scatter, Section, State, Table
from ..reports.texts import one_line
from .charts import f_measure_chart, ratio_chart
from .pictures import SEEN, TRIED, names_of, region_picture, tried
from .told import headline

if TYPE_CHECKING:
    from ..groups.simulate import Simulation
    from ..relations.numeric import FunctionRelation
    from .hunt import Executed, Hunt
from .hunting import SHOWN

MOST_GROUPS = 100
MOST_REGIONS = 5  # relations
PATIENCE = 20.0  # seconds that a region may take, at the pace of the hunt
NARROW = 1_000  # sources at least, or a region is not drawn


def write(hunt: Hunt, path: str | os.PathLike[str], system: Callable[..., Any] | None = None) -> None:
    """Write the page to a file; see `page_of`."""
    write_report(page_of(hunt, system), os.fspath(path))


def page_of(hunt: Hunt, system: Callable[..., Any] | None = None) -> Report:
    """Return a hunt as a page.

    Parameters
    ----------
    hunt : Hunt
        What was found.
    system : callable, optional
        The function that was hunted: with it, the page shows where relations are violated.

    Examples
    --------
    >>> import datamorphic as dm
    >>> tanh = dm.programs["tanh"]
    >>> found = dm.hunt(tanh.mutants["emu10"], tanh.relations["tripling"])
    >>> [section.anchor for section in page_of(found).sections]
    ['relations', 'sources', 'violations']
    """
    regions = [] if system is None else _regions(hunt, system)
    sections = [_relations(hunt), *_soon(hunt), *_sources(hunt), *regions, *_violations(hunt)]
    state: State = "bad" if hunt.found else "good" if _judged(hunt) else "warn"
    return Report(
        f"Hunting violations in {one_line(hunt.name)}",
        "A relation says how the answers to some inputs, its sources, and to others made of them, their follow-ups, belong "
        "together. Where they do not, something is wrong, and nobody had to know the right answer to see it.",
        sections,
        headline(hunt),
        state,
        _facts(hunt),
        contents=len(sections) > 3,
    )


def _judged(hunt: Hunt) -> int:
    return int(hunt.table[["holds", "violated"]].to_numpy().sum())


def _facts(hunt: Hunt) -> list[tuple[str, str]]:
    facts = [
        ("System", one_line(hunt.name)),
        ("Chosen by", f"{hunt.generator}, seed {hunt.seed}"),
        ("Groups", f"{hunt.groups:,} in {plural(len(hunt.trials), 'trial')}, at most {hunt.budget:,} each"),
        ("Cost", f"{plural(hunt.calls, 'call')} in {hunt.seconds:.2f} s, {hunt.generation_seconds:.2f} s to choose groups"),
    ]  # fmt: skip
    if hunt.notes:
        facts.append(("Notes", "\n".join(f"• {note}" for note in hunt.notes)))
    return facts


# -- what was found ----------------------------------------------------------------------------------------------------


def _relations(hunt: Hunt) -> Section:
    table = hunt.table
    rows = [
        [one_line(relation.name), one_line(relation.says) or None,
         *(f"{value:,}" for value in (row.groups, row.holds, row.violated, row.inapplicable, row.undefined))]
        for relation, row in zip(hunt.relations, table.itertuples(), strict=True)
    ]  # fmt: skip
    broken = int((table["violated"] > 0).sum())
    return Section(
        f"{broken:,} of {plural(len(rows), 'relation')} violated",
        "A group is undefined where an answer is missing or is no number, and not applicable where the relation says "
        "nothing about it.",
        "bad" if broken else "good" if _judged(hunt) else "warn",
        Table(["relation", "says", "groups", "holds", "violated", "not applicable", "undefined"], rows),
        anchor="relations",
    )


def _soon(hunt: Hunt) -> list[Section]:
    """How many groups the trials needed."""
    measured = hunt.measured
    if len(hunt.trials) < 2 or measured.censored.all():
        return []
    mean = estimate(measured.counts)
    told = [f"• The F-measure is {mean.value:.1f} (95 % interval {mean.low:.1f} to {mean.high:.1f})."]
    if measured.censored.any():
        told[0] = told[0].replace("is ", "is at least ", 1)
        told.append(f"• {measured.censored_share:.1%} of the trials found nothing within their budget.")
    if len(hunt.f2_measures):
        told.append(f"• The second violation came {hunt.f2_measures.mean():.1f} groups after the first (F2).")
    times = hunt.f_times[~np.isnan(hunt.f_times)]
    told.append(f"• The first violation took {1000 * times.mean():.3g} ms on average.")
    drawing = f_measure_chart(measured)
    return [Section("How soon the first violation was found", "\n".join(told), anchor="soon", drawing=drawing)]


def _violations(hunt: Hunt) -> list[Section]:
    if not hunt.found:
        return []
    frame = hunt.violations
    if len(hunt.trials) == 1:
        frame = frame.drop(columns="trial")
    rows = [[short(value) for value in row] for row in frame.head(MOST_GROUPS).itertuples(index=False, name=None)]
    more = f" The first {len(rows):,} of {hunt.violated:,} are listed." if len(rows) < hunt.violated else ""
    return [
        Section(
            plural(hunt.violated, "violating group"),
            f"x1 is the first input of a group, y1 what was answered to it, and so on.{more}",
            "bad",
            Table([one_line(str(name)) for name in frame.columns], rows),
            anchor="violations",
        )
    ]


# -- where ---------------------------------------------------------------------------------------------------------------


def _sources(hunt: Hunt) -> list[Section]:
    """The sources of the relation that was violated most, in the first trial."""
    number = int(hunt.table["violated"].argmax())
    relation = hunt.relations[number]
    made = hunt.executed(number)
    if not 1 <= made.sources.shape[1] <= SEEN or len(made.sources) < 2:
        return []
    of = f"the first {made.groups:,} of " if hunt.trials[0].groups > SHOWN else ""
    trial = " of the first trial" if len(hunt.trials) > 1 else ""
    text = f"The sources of {one_line(relation.name)} in {of}{plural(hunt.trials[0].groups, 'group')}{trial}."
    pictures = _scatters(made, _names(hunt, relation))
    heading = "The sources that were executed"
    if len(pictures) == 1:
        return [Section(heading, text, picture=pictures[0], anchor="sources")]
    parts = [Section(each.title, "", picture=each) for each in pictures]
    return [Section(heading, text, parts=parts, anchor="sources")]


def _names(hunt: Hunt, relation: FunctionRelation) -> list[str]:
    """Return what the numbers of a source are called: as the columns of a model are, if it has one source."""
    columns = [one_line(str(name)) for name in hunt.columns]
    plain = relation.given is None and relation.sources == 1 and len(columns) == relation.width
    return columns if plain else list(names_of(relation))


def _scatters(made: Executed, names: Sequence[str]) -> list[Scatter]:
    groups = np.where(made.violated, "violates", "does not violate").tolist()
    columns = made.sources.T.tolist()
    notes = [
        f"group {number:.0f}: " + ", ".join(f"{name} {short(value)}" for name, value in zip(names, row, strict=True))
        for number, row in zip(made.number.tolist(), made.sources.tolist(), strict=True)
    ]  # fmt: skip
    pairs = list(combinations(range(len(columns)), 2)) or [(0, -1)]
    return [
        Scatter(
            f"{names[a]} and {names[b]}" if b >= 0 else f"{names[0]}, group after group",
            "",
            Axis(names[a]),
            Axis(names[b] if b >= 0 else "number of the group"),
            columns[a],
            columns[b] if b >= 0 else made.number.tolist(),
            groups,
            notes,
            rest="does not violate",
        )
        for a, b in pairs
    ]


def _regions(hunt: Hunt, system: Callable[..., Any]) -> list[Section]:
    """Where random sources violate each relation that is violated."""
    counts = hunt.table["violated"].to_numpy()
    chosen = [int(i) for i in np.argsort(-counts, kind="stable")[:MOST_REGIONS] if counts[i] > 0]
    if not chosen:
        return []
    asked = max(hunt.seconds - hunt.generation_seconds, 0.0) / max(hunt.calls, 1)
    parts = []
    for number in chosen:
        relation = hunt.relations[number]
        group = relation.sources + relation.follow_ups
        n = TRIED if _quick(system) else min(TRIED // 10, int(PATIENCE / max(asked * group * len(chosen), 1e-9)))
        if n < NARROW:
            continue
        drawing = region_picture(tried(system, relation, n, hunt.seed))
        parts.append(Section(one_line(relation.name), "", drawing=drawing))
    if not parts:
        return []
    text = (
        "Random sources, tried for this picture. A bar shows how many of the sources at a place violate; in a plane a "
        "square is a source that violates, a grey dot one that does not."
    )
    return [Section("Where relations are violated", text, parts=parts, anchor="regions")]


def _quick(system: Any) -> bool:
    """Tell whether a function is one of our programs or a mutant of one: these take whole arrays."""
    from ..data.programs import Mutant, Program

    return isinstance(system, Program | Mutant)


# -- simulations -----------------------------------------------------------------------------------------------------------


def simulations_page(made: Sequence[Simulation]) -> Report:
    """Return simulations beside each other as a page.

    Examples
    --------
    >>> import datamorphic as dm
    >>> simulations_page([dm.simulate("BART", rate=0.05, trials=50)]).title
    'How soon violations are found: block regions of 0.05 of 2 dimensions'
    """
    first = made[0]
    ended = [each for each in made if each.censored]
    notes = [
        f"• {each.name}: {each.censored:.1%} of the trials found nothing in {plural(each.setting.budget, 'group')}, so its "
        "F-measure is a lower bound."
        for each in ended
    ]
    where = _where(first)
    table = Table(
        ["generator", "F-measure", "F-ratio", "from", "to", "Cohen's d", "ended", "seconds"], simulation_rows(made)
    )
    verdict, state = _best(made)
    return Report(
        f"How soon violations are found: {where}",
        "Nothing is executed here: a region, drawn anew for each trial, stands for a program that is wrong there. The "
        "F-measure is how many groups are made until one lies in it; the F-ratio compares it with random testing, whose "
        "mean is known exactly.",
        [
            Section(
                "F-ratios", "\n".join(notes), table=table, anchor="ratios",
                drawing=ratio_chart([(each.name, each.ratio) for each in made]),
            )
        ],
        verdict,
        state,
        [("Trials", f"{len(first.found):,} each, seed {first.setting.seed}")],
    )  # fmt: skip


def _best(made: Sequence[Simulation]) -> tuple[str, State]:
    """Return who needs the fewest groups, of those whose trials all found something."""
    whole = [each for each in made if not each.censored]
    if not whole:
        return "Trials were ended before they found anything: give them a greater budget", "warn"
    best = min(whole, key=lambda each: each.f_ratio)
    ratio = best.ratio
    least = f", the least of {len(made)}" if len(made) > 1 else ""
    told = f"{best.name} needs {100 * ratio.value:.1f} % of the groups that random testing needs{least}"
    return told, "good" if ratio.high < 1 else "plain"


def _where(simulation: Simulation) -> str:
    setting = simulation.setting
    region = setting.scenario or (setting.region if isinstance(setting.region, str) else setting.region.kind)
    return f"{region} regions of {short(setting.rate)} of {plural(len(setting.domain[0]), 'dimension')}"


def simulation_rows(made: Sequence[Simulation]) -> list[list[Any]]:
    """Return a row for each simulation: name, F-measure, F-ratio with interval, Cohen's d, what was ended, seconds."""
    rows = []
    for each in made:
        least = "> " if each.censored else ""  # a lower bound, and nobody knows the interval
        ratio = each.ratio
        ends = [None, None] if least else [f"{100 * end:.1f} %" for end in (ratio.low, ratio.high)]
        d = None if np.isnan(each.cohens_d) else f"{each.cohens_d:.3f}"
        figures = [f"{least}{each.f_measure:.1f}", f"{least}{100 * ratio.value:.1f} %", *ends, d]
        rows.append([each.name, *figures, f"{100 * each.censored:.1f} %", f"{each.seconds:.1f}"])
    return rows
