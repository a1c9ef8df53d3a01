"""A hunt as a page: what was found, where, and how soon; and simulations beside each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import format_short, pluralize
from ..reporting.document import Axis, Page, Scatter, Section, SectionState, Table
from ..reporting.html import write_page as write_report
from ..reporting.text import to_one_line
from .charts import draw_f_measure_chart, draw_ratio_chart
from .measures import estimate
from .plots import DEFAULT_SOURCES, MAX_PLANE_DIMENSIONS, draw_region_picture, name_columns, sample_violations
from .text import format_headline

if TYPE_CHECKING:
    from ..relations.function import FunctionRelation
    from .result import ExecutedSources, Hunt
    from .simulation import Simulation
from .loop import MAX_GROUPS_PLOTTED

MAX_GROUPS_LISTED = 100
MAX_REGIONS_DRAWN = 5  # relations
REGIONS_BUDGET_SECONDS = 20.0  # seconds that a region may take, at the pace of the hunt
MIN_SOURCES_PER_REGION = 1_000  # sources at least, or a region is not drawn


def write_page(hunt: Hunt, path: str | os.PathLike[str], system: Callable[..., Any] | None = None) -> None:
    """Write the page to a file; see `page_of`."""
    write_report(build_page(hunt, system), os.fspath(path))


def build_page(hunt: Hunt, system: Callable[..., Any] | None = None) -> Page:
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
    regions = [] if system is None else _build_regions_sections(hunt, system)
    sections = [
        _build_relations_section(hunt),
        *_build_f_measure_sections(hunt),
        *_build_sources_sections(hunt),
        *regions,
        *_build_violations_sections(hunt),
    ]
    state: SectionState = "bad" if hunt.found else "good" if _count_judged(hunt) else "warn"
    return Page(
        title=f"Hunting violations in {to_one_line(hunt.name)}",
        lead="A relation says how the answers to some inputs, its sources, and to others made of them, their follow-ups, belong "
        "together. Where they do not, something is wrong, and nobody had to know the right answer to see it.",
        sections=sections,
        verdict=format_headline(hunt),
        state=state,
        facts=_build_facts(hunt),
        contents=len(sections) > 3,
    )


def _count_judged(hunt: Hunt) -> int:
    return int(hunt.table[["holds", "violated"]].to_numpy().sum())


def _build_facts(hunt: Hunt) -> list[tuple[str, str]]:
    facts = [
        ("System", to_one_line(hunt.name)),
        ("Chosen by", f"{hunt.generator}, seed {hunt.seed}"),
        ("Groups", f"{hunt.groups:,} in {pluralize(len(hunt.trials), 'trial')}, at most {hunt.budget:,} each"),
        ("Cost", f"{pluralize(hunt.calls, 'call')} in {hunt.seconds:.2f} s, {hunt.generation_seconds:.2f} s to choose groups"),
    ]  # fmt: skip
    if hunt.notes:
        facts.append(("Notes", "\n".join(f"• {note}" for note in hunt.notes)))
    return facts


# -- what was found ----------------------------------------------------------------------------------------------------


def _build_relations_section(hunt: Hunt) -> Section:
    table = hunt.table
    rows = [
        [to_one_line(relation.name), to_one_line(relation.says) or None,
         *(f"{value:,}" for value in (row.groups, row.holds, row.violated, row.inapplicable, row.undefined))]
        for relation, row in zip(hunt.relations, table.itertuples(), strict=True)
    ]  # fmt: skip
    violated_count = int((table["violated"] > 0).sum())
    return Section(
        heading=f"{violated_count:,} of {pluralize(len(rows), 'relation')} violated",
        text="A group is undefined where an answer is missing or is no number, and not applicable where the relation says "
        "nothing about it.",
        state="bad" if violated_count else "good" if _count_judged(hunt) else "warn",
        table=Table(
            columns=["relation", "says", "groups", "holds", "violated", "not applicable", "undefined"], rows=rows
        ),
        anchor="relations",
    )


def _build_f_measure_sections(hunt: Hunt) -> list[Section]:
    """How many groups the trials needed."""
    measures = hunt.measured
    if len(hunt.trials) < 2 or measures.censored.all():
        return []
    mean = estimate(measures.counts)
    lines = [f"• The F-measure is {mean.value:.1f} (95 % interval {mean.low:.1f} to {mean.high:.1f})."]
    if measures.censored.any():
        lines[0] = lines[0].replace("is ", "is at least ", 1)
        lines.append(f"• {measures.censored_share:.1%} of the trials found nothing within their budget.")
    if len(hunt.f2_measures):
        lines.append(f"• The second violation came {hunt.f2_measures.mean():.1f} groups after the first (F2).")
    times = hunt.f_times[~np.isnan(hunt.f_times)]
    lines.append(f"• The first violation took {1000 * times.mean():.3g} ms on average.")
    drawing = draw_f_measure_chart(measures)
    return [
        Section(
            heading="How soon the first violation was found", text="\n".join(lines), anchor="soon", drawing=drawing
        )
    ]


def _build_violations_sections(hunt: Hunt) -> list[Section]:
    if not hunt.found:
        return []
    frame = hunt.violations
    if len(hunt.trials) == 1:
        frame = frame.drop(columns="trial")
    rows = [
        [format_short(value) for value in row]
        for row in frame.head(MAX_GROUPS_LISTED).itertuples(index=False, name=None)
    ]
    more = f" The first {len(rows):,} of {hunt.violated:,} are listed." if len(rows) < hunt.violated else ""
    return [
        Section(
            heading=pluralize(hunt.violated, "violating group"),
            text=f"x1 is the first input of a group, y1 what was answered to it, and so on.{more}",
            state="bad",
            table=Table(columns=[to_one_line(str(name)) for name in frame.columns], rows=rows),
            anchor="violations",
        )
    ]


# -- where ---------------------------------------------------------------------------------------------------------------


def _build_sources_sections(hunt: Hunt) -> list[Section]:
    """The sources of the relation that was violated most, in the first trial."""
    number = int(hunt.table["violated"].argmax())
    relation = hunt.relations[number]
    executed = hunt.executed(number)
    if not 1 <= executed.sources.shape[1] <= MAX_PLANE_DIMENSIONS or len(executed.sources) < 2:
        return []
    part_text = f"the first {executed.group_count:,} of " if hunt.trials[0].groups > MAX_GROUPS_PLOTTED else ""
    trial_text = " of the first trial" if len(hunt.trials) > 1 else ""
    text = f"The sources of {to_one_line(relation.name)} in {part_text}{pluralize(hunt.trials[0].groups, 'group')}{trial_text}."
    pictures = _build_scatters(executed, _name_columns(hunt, relation))
    heading = "The sources that were executed"
    if len(pictures) == 1:
        return [Section(heading=heading, text=text, picture=pictures[0], anchor="sources")]
    parts = [Section(heading=picture.title, text="", picture=picture) for picture in pictures]
    return [Section(heading=heading, text=text, parts=parts, anchor="sources")]


def _name_columns(hunt: Hunt, relation: FunctionRelation) -> list[str]:
    """Return what the numbers of a source are called: as the columns of a model are, if it has one source."""
    columns = [to_one_line(str(name)) for name in hunt.columns]
    has_model_columns = relation.given is None and relation.sources == 1 and len(columns) == relation.width
    return columns if has_model_columns else list(name_columns(relation))


def _build_scatters(executed: ExecutedSources, names: Sequence[str]) -> list[Scatter]:
    groups = np.where(executed.violated, "violates", "does not violate").tolist()
    columns = executed.sources.T.tolist()
    notes = [
        f"group {number:.0f}: " + ", ".join(f"{name} {format_short(value)}" for name, value in zip(names, row, strict=True))
        for number, row in zip(executed.number.tolist(), executed.sources.tolist(), strict=True)
    ]  # fmt: skip
    pairs = list(combinations(range(len(columns)), 2)) or [(0, -1)]
    return [
        Scatter(
            title=f"{names[a]} and {names[b]}" if b >= 0 else f"{names[0]}, group after group",
            subtitle="",
            x_axis=Axis(names[a]),
            y_axis=Axis(names[b] if b >= 0 else "number of the group"),
            x=columns[a],
            y=columns[b] if b >= 0 else executed.number.tolist(),
            groups=groups,
            notes=notes,
            rest="does not violate",
        )
        for a, b in pairs
    ]


def _build_regions_sections(hunt: Hunt, system: Callable[..., Any]) -> list[Section]:
    """Where random sources violate each relation that is violated."""
    counts = hunt.table["violated"].to_numpy()
    numbers = [int(i) for i in np.argsort(-counts, kind="stable")[:MAX_REGIONS_DRAWN] if counts[i] > 0]
    if not numbers:
        return []
    seconds_per_call = max(hunt.seconds - hunt.generation_seconds, 0.0) / max(hunt.calls, 1)
    parts = []
    for number in numbers:
        relation = hunt.relations[number]
        group_size = relation.sources + relation.follow_ups
        n = (
            DEFAULT_SOURCES
            if _is_vectorized(system)
            else min(
                DEFAULT_SOURCES // 10,
                int(REGIONS_BUDGET_SECONDS / max(seconds_per_call * group_size * len(numbers), 1e-9)),
            )
        )
        if n < MIN_SOURCES_PER_REGION:
            continue
        drawing = draw_region_picture(sample_violations(system, relation, n, hunt.seed))
        parts.append(Section(heading=to_one_line(relation.name), text="", drawing=drawing))
    if not parts:
        return []
    text = (
        "Random sources, tried for this picture. A bar shows how many of the sources at a place violate; in a plane a "
        "square is a source that violates, a grey dot one that does not."
    )
    return [Section(heading="Where relations are violated", text=text, parts=parts, anchor="regions")]


def _is_vectorized(system: Any) -> bool:
    """Tell whether a function is one of our programs or a mutant of one: these take whole arrays."""
    from ..data.programs import NumericMutant, NumericProgram

    return isinstance(system, NumericProgram | NumericMutant)


# -- simulations -----------------------------------------------------------------------------------------------------------


def build_simulations_page(simulations: Sequence[Simulation]) -> Page:
    """Return simulations beside each other as a page.

    Examples
    --------
    >>> import datamorphic as dm
    >>> simulations_page([dm.simulate("BART", rate=0.05, trials=50)]).title
    'How soon violations are found: block regions of 0.05 of 2 dimensions'
    """
    first = simulations[0]
    censored = [simulation for simulation in simulations if simulation.censored]
    notes = [
        f"• {simulation.name}: {simulation.censored:.1%} of the trials found nothing in {pluralize(simulation.setting.budget, 'group')}, so its "
        "F-measure is a lower bound."
        for simulation in censored
    ]
    setting_text = _format_setting(first)
    table = Table(
        columns=["generator", "F-measure", "F-ratio", "from", "to", "Cohen's d", "ended", "seconds"],
        rows=build_simulation_rows(simulations),
    )
    verdict, state = _format_best(simulations)
    return Page(
        title=f"How soon violations are found: {setting_text}",
        lead="Nothing is executed here: a region, drawn anew for each trial, stands for a program that is wrong there. The "
        "F-measure is how many groups are made until one lies in it; the F-ratio compares it with random testing, whose "
        "mean is known exactly.",
        sections=[
            Section(
                heading="F-ratios", text="\n".join(notes), table=table, anchor="ratios",
                drawing=draw_ratio_chart([(simulation.name, simulation.ratio) for simulation in simulations]),
            )
        ],
        verdict=verdict,
        state=state,
        facts=[("Trials", f"{len(first.found):,} each, seed {first.setting.seed}")],
    )  # fmt: skip


def _format_best(simulations: Sequence[Simulation]) -> tuple[str, SectionState]:
    """Return who needs the fewest groups, of those whose trials all found something."""
    uncensored = [simulation for simulation in simulations if not simulation.censored]
    if not uncensored:
        return "Trials were ended before they found anything: give them a greater budget", "warn"
    best = min(uncensored, key=lambda simulation: simulation.f_ratio)
    ratio = best.ratio
    comparison = f", the least of {len(simulations)}" if len(simulations) > 1 else ""
    text = f"{best.name} needs {100 * ratio.value:.1f} % of the groups that random testing needs{comparison}"
    return text, "good" if ratio.high < 1 else "plain"


def _format_setting(simulation: Simulation) -> str:
    setting = simulation.setting
    region = setting.scenario or (setting.region if isinstance(setting.region, str) else setting.region.kind)
    return f"{region} regions of {format_short(setting.rate)} of {pluralize(len(setting.domain[0]), 'dimension')}"


def build_simulation_rows(simulations: Sequence[Simulation]) -> list[list[Any]]:
    """Return a row for each simulation: name, F-measure, F-ratio with interval, Cohen's d, what was ended, seconds."""
    rows = []
    for simulation in simulations:
        bound = "> " if simulation.censored else ""  # a lower bound, and nobody knows the interval
        ratio = simulation.ratio
        ends = [None, None] if bound else [f"{100 * end:.1f} %" for end in (ratio.low, ratio.high)]
        d = None if np.isnan(simulation.cohens_d) else f"{simulation.cohens_d:.3f}"
        figures = [f"{bound}{simulation.f_measure:.1f}", f"{bound}{100 * ratio.value:.1f} %", *ends, d]
        rows.append([simulation.name, *figures, f"{100 * simulation.censored:.1f} %", f"{simulation.seconds:.1f}"])
    return rows
