"""Hunts and simulations as pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from .._text import format_percent, format_short, pluralise
from ..relations.algebra.box import Floats
from ..relations.algebra.function import FunctionRelation
from ..reporting.document import Axis, Page, Scatter, Section, SectionState, Table, Tile
from ..reporting.text import to_one_line
from ..space.features import Categorical
from ..space.space import Space
from ..systems.function_runner import COLUMN_LETTERS
from .generation import GeneratedGroups
from .loop import MAX_GROUPS_PLOTTED
from .measures import estimate, name_effect
from .plots import (
    MAX_PLANE_DIMENSIONS,
    draw_f_measure_chart,
    draw_ratio_chart,
    draw_region_picture,
    draw_spread_picture,
)
from .result import ExecutedSources, Hunt, decode_inputs
from .simulation import Simulation
from .violation_regions import DEFAULT_GROUPS, MeasuredRegion, ViolationRegion, sample_violations

MAX_EXAMPLES = 3  # in one line each
MAX_GROUPS_LISTED = 1_000
P_MEASURE_GROUPS = (1, 10, 100, 1_000, 10_000)
UNJUDGED_TEXT = "A group is undefined if an output is missing or is not a number, and not applicable if the relation says nothing about it."
MAX_GROUPS_LISTED = 100
MAX_COLUMNS_LISTED = 60
MAX_REGIONS_DRAWN = 5
REGIONS_BUDGET_SECONDS = 20.0  # for all regions, at the pace of the hunt
MIN_SOURCES_PER_REGION = 1_000  # a region with fewer is not drawn


def build_page(hunt: Hunt, system: Callable[..., Any] | None = None, brief: bool = False) -> Page:
    """Return a hunt as a page; given the function that was hunted, show where relations are violated.

    With `brief`, it is the short form for terminals.
    """
    if brief:
        sections = [*_build_violations_sections(hunt, brief), *_build_f_measure_sections(hunt, brief)]
        if len(hunt.relations) > 1 or (hunt.table[["inapplicable", "undefined"]].to_numpy() > 0).any():
            sections.append(_build_relations_section(hunt, brief))
        sections += _build_region_kinds_sections(hunt)
    else:
        sections = [
            _build_relations_section(hunt, brief),
            *_build_f_measure_sections(hunt, brief),
            *_build_sources_sections(hunt),
            *_build_region_kinds_sections(hunt),
            *([] if system is None else _build_regions_sections(hunt, system)),
            *_build_violations_sections(hunt, brief),
        ]
    facts = [
        ("Chosen by", f"{hunt.generator}, seed {hunt.seed}"),
        ("Groups", f"{hunt.groups:,} in {pluralise(len(hunt.trials), 'trial')}, at most {hunt.budget:,} each"),
        (
            "Cost",
            f"{pluralise(hunt.calls, 'call')} in {hunt.seconds:.2f} s, {hunt.generation_seconds:.2f} s to choose groups",
        ),
    ]
    if hunt.notes:
        facts.append(("Notes", "\n".join(f"• {note}" for note in hunt.notes)))
    return Page(
        title=f"Hunting violations in {to_one_line(hunt.name)}",
        lead="A relation states how the outputs for some inputs (sources) and for inputs derived from them (follow-ups) "
        "depend on each other. A violation shows a fault, and no correct output has to be known.",
        sections=sections,
        verdict=_format_verdict(hunt),
        state=_get_state(hunt, hunt.violated),
        facts=facts,
        contents=len(sections) > 3,
        tiles=_build_tiles(hunt),
    )


def _format_verdict(hunt: Hunt) -> str:
    """Return the outcome of a hunt in one sentence."""
    if not hunt.found:
        no_violation = "No violation" if hunt.judged_groups else "Nothing could be judged: no violation"
        count = len(hunt.relations)
        relations = repr(hunt.relations[0].name) if count == 1 else pluralise(count, "relation")
        return f"{no_violation} of {relations} by {hunt.name} in {pluralise(hunt.groups, 'group')}."
    violated = f"{hunt.name} violates {_format_violated(hunt)}"
    if len(hunt.trials) == 1:
        return (
            f"{violated}: {pluralise(hunt.violated, 'violation')} in {pluralise(hunt.groups, 'group')}, "
            f"the first in group {hunt.trials[0].violated[0]:,}."
        )
    measures = hunt.measured
    mean = estimate(measures.counts)
    is_censored = measures.censored.any()
    bound = "at least " if is_censored else ""
    censored = f"; {format_percent(measures.censored_share)} of the trials found none" if is_censored else ""
    return (
        f"{violated}: the first violation after {bound}{mean.value:.1f} groups on average "
        f"(95% interval {mean.low:.1f} to {mean.high:.1f}) in {pluralise(len(hunt.trials), 'trial')}{censored}."
    )


def _format_violated(hunt: Hunt) -> str:
    """Return the violated relations, by name if they are few."""
    names = [repr(row.relation) for row in hunt.table.itertuples() if row.violated]
    if len(names) == len(hunt.relations) == 1:
        return names[0]
    listed = names if len(names) <= MAX_EXAMPLES else [*names[:MAX_EXAMPLES], "..."]
    return f"{len(names):,} of {pluralise(len(hunt.relations), 'relation')} ({', '.join(listed)})"


def _build_tiles(hunt: Hunt) -> list[Tile]:
    """Return the figures of a hunt: violations, the F-measure, and the effort."""
    measures = hunt.measured
    bound = "> " if measures.censored.any() else ""
    f_measure = f"{bound}{measures.counts.mean():,.1f}" if hunt.found else "–"
    return [
        Tile(
            label="Violation" if hunt.violated == 1 else "Violations",
            value=f"{hunt.violated:,}",
            state="bad" if hunt.found else "good" if hunt.judged_groups else "warn",
            target="violations" if hunt.found else "",
        ),
        Tile(label="F-measure (groups to the first)", value=f_measure, target="soon" if len(hunt.trials) > 1 else ""),
        Tile(label="Group" if hunt.groups == 1 else "Groups", value=f"{hunt.groups:,}"),
        Tile(label="Trial" if len(hunt.trials) == 1 else "Trials", value=f"{len(hunt.trials):,}"),
        Tile(label="Calls", value=f"{hunt.calls:,}"),
        Tile(label="Seconds", value=f"{hunt.seconds:.1f}"),
    ]


def _get_state(hunt: Hunt, violated: int) -> SectionState:
    if violated:
        return "bad"
    return "good" if hunt.judged_groups else "warn"


# -- relations, F-measures and violations ----------------------------------------------------------------------------


def _build_relations_section(hunt: Hunt, brief: bool) -> Section:
    table = hunt.table
    rows: list[list[str | None]] = [
        [to_one_line(relation.name), to_one_line(relation.statement) or None, *(f"{count:,}" for count in counts)]
        for relation, (_, *counts) in zip(hunt.relations, table.itertuples(index=False), strict=True)
    ]
    violated_count = int((table["violated"] > 0).sum())
    return Section(
        heading=f"{violated_count:,} of {pluralise(len(rows), 'relation')} violated",
        text="" if brief else UNJUDGED_TEXT,
        state=_get_state(hunt, violated_count),
        table=Table(
            columns=["relation", "says", "groups", "holds", "violated", "not applicable", "undefined"], rows=rows
        ),
        anchor="relations",
    )


def _format_measures(hunt: Hunt) -> list[str]:
    """Return F2-, P- and E-measure of several trials, each with what it says; those that cannot be computed are left out."""
    lines = []
    if len(hunt.f2_measures):
        second = estimate(hunt.f2_measures)
        lines.append(f"F2-measure {second.value:.1f}: groups from the first violation to the second, on average.")
    measures = hunt.measured
    longest = int(measures.counts[measures.censored].min(initial=hunt.budget))  # as far as every trial without one went
    first_certain = next((size for size in P_MEASURE_GROUPS if measures.counts.max() <= size), longest)
    sizes = [size for size in P_MEASURE_GROUPS if size <= min(longest, first_certain)]
    shares = [f"{size:,} {format_percent(hunt.p_measure(size).value)}" for size in sizes]
    if shares:
        lines.append(f"P-measure, trials with a violation by number of groups: {', '.join(shares)}.")
    shortest = min(trial.groups for trial in hunt.trials)
    if shortest == hunt.budget:
        lines.append(
            f"E-measure {hunt.e_measure(shortest).value:.1f}: violations in {pluralise(shortest, 'group')}, on average."
        )
    return lines


def _build_f_measure_sections(hunt: Hunt, brief: bool) -> list[Section]:
    """Return a section about F-measures if there are several trials."""
    measures = hunt.measured
    if len(hunt.trials) < 2 or measures.censored.all():
        return []
    mean = estimate(measures.counts)
    bound = "at least " if measures.censored.any() else ""
    lines = [f"• The F-measure is {bound}{mean.value:.1f} (95% interval {mean.low:.1f} to {mean.high:.1f})."]
    if measures.censored.any():
        lines.append(f"• {format_percent(measures.censored_share)} of the trials found nothing within their budget.")
    lines += [f"• {line}" for line in _format_measures(hunt)]
    times = hunt.f_times[~np.isnan(hunt.f_times)]
    lines.append(f"• The first violation took {1000 * times.mean():.3g} ms on average.")
    return [
        Section(
            heading="How soon the first violation was found",
            text="\n".join(lines),
            anchor="soon",
            drawing=None if brief else draw_f_measure_chart(measures),
        )
    ]


def _build_violations_sections(hunt: Hunt, brief: bool) -> list[Section]:
    """Return a section with a few violations in one line each, and with a table of all, if there are any."""
    if not hunt.found:
        return []
    heading = pluralise(hunt.violated, "violating group")
    examples = "\n".join(
        f"• {hunt.relations[violation.relation].name}: {violation.format_calls(hunt.space)}"
        for violation in hunt.examples[:MAX_EXAMPLES]
    )
    if brief:
        return [Section(heading=f"{heading}, for example", text=examples)]
    frame = hunt.violations if len(hunt.trials) > 1 else hunt.violations.drop(columns="trial")
    text = "x1 is the first input of a group, y1 its output, and so on."
    if len(frame.columns) > MAX_COLUMNS_LISTED:  # such as the pixels of images
        frame = frame[[name for name in frame.columns if not str(name).startswith("x")]]
        text = f"y1 is the output for the first input of a group, and so on. Inputs of {len(hunt.columns):,} values are not listed."
    rows = [list(map(format_short, row)) for row in frame.head(MAX_GROUPS_LISTED).itertuples(index=False, name=None)]
    more = f" The first {len(rows):,} of {hunt.violated:,} are listed." if len(rows) < hunt.violated else ""
    return [
        Section(
            heading=heading,
            text=f"For example:\n{examples}\n\n{text}{more}",
            state="bad",
            table=Table(columns=[to_one_line(str(name)) for name in frame.columns], rows=rows),
            anchor="violations",
        )
    ]


# -- sources and regions ---------------------------------------------------------------------------------------------


def _build_sources_sections(hunt: Hunt) -> list[Section]:
    """Return a section with the sources and follow-ups of the most violated relation."""
    number = int(hunt.table["violated"].argmax())
    relation = hunt.relations[number]
    executed = hunt.executed(number)
    if len(executed.number) < 2 or len({part.shape[1] for part in executed.inputs}) != 1:
        return []
    dimension = executed.inputs[0].shape[1]
    if not dimension:
        return []
    groups = pluralise(hunt.trials[0].groups, "group")
    if hunt.trials[0].groups > MAX_GROUPS_PLOTTED:
        groups = f"the first {executed.group_count:,} of {groups}"
    trial = " of the first trial" if len(hunt.trials) > 1 else ""
    follow_ups = [part for part in executed.follow_ups if part.shape[1] == dimension]
    what = "sources and follow-ups" if follow_ups else "sources"
    text = f"The {what} of {to_one_line(relation.name)} in {groups}{trial}."
    if executed.violated.any():
        text += " Those of violating groups have colours of their own; a tooltip names the group."
    names = [to_one_line(str(name)) for name in hunt.columns]
    if len(names) != dimension:
        names = list(COLUMN_LETTERS[:dimension])
    space = executed.space if executed.space is not None and names == list(hunt.columns) else None
    columns = list(range(dimension))
    if dimension > MAX_PLANE_DIMENSIONS:
        columns = _choose_columns(executed.inputs[0], follow_ups, space)
        text += f" Of {dimension:,} inputs, {', '.join(names[column] for column in columns)} are drawn."
    pictures = _build_scatters(executed, follow_ups, names, space, columns)
    heading = f"The {what} that were executed"
    if len(pictures) == 1:
        return [Section(heading=heading, text=text, picture=pictures[0], anchor="sources")]
    parts = [Section(heading="", text="", picture=picture) for picture in pictures]
    return [Section(heading=heading, text=text, parts=parts, anchor="sources")]


def _choose_columns(sources: Floats, follow_ups: Sequence[Floats], space: Space | None) -> list[int]:
    """Return the inputs to plot if there are many: those that most follow-ups change, then those that vary, numbers first."""
    changed = np.zeros(sources.shape[1])
    for part in follow_ups:
        changed += ((part != sources) & ~(np.isnan(part) & np.isnan(sources))).sum(axis=0)
    constant = (sources == sources[:1]).all(axis=0)
    categorical = [False] * len(changed) if space is None else [not feature.numeric for feature in space.features]
    return [int(column) for column in np.lexsort((np.array(categorical), constant, -changed))[:MAX_PLANE_DIMENSIONS]]


def _build_scatters(
    executed: ExecutedSources,
    follow_ups: Sequence[Floats],
    names: Sequence[str],
    space: Space | None,
    plotted_columns: Sequence[int],
) -> list[Scatter]:
    """Return a plot per pair of inputs; a single input is plotted over the groups. Sources come first, then follow-ups."""
    features = [None] * len(names) if space is None else space.features
    axes = [
        Axis(name, [format_short(value) for value in feature.values] if isinstance(feature, Categorical) else ())
        for name, feature in zip(names, features, strict=True)
    ]
    parts = [*executed.inputs, *follow_ups]
    roles = ["source"] * len(executed.inputs) + ["follow-up"] * len(follow_ups)
    # violating groups last, so that they are drawn on top
    order = np.argsort(np.tile(executed.violated, len(parts)), kind="stable")
    points = np.concatenate(parts)[order]
    numbers = np.tile(executed.number, len(parts))[order]
    violated = np.tile(executed.violated, len(parts))[order]
    point_roles = np.repeat(roles, len(executed.number))[order]
    groups = [f"{role} of a violation" if wrong else role for role, wrong in zip(point_roles, violated, strict=True)]
    notes = [
        f"group {number}, {role}: "
        + ", ".join(
            f"{name} {format_short(value)}" for name, value in zip(names, decode_inputs(row, space), strict=True)
        )
        for number, role, row in zip(numbers.tolist(), groups, points, strict=True)
    ]
    columns = points.T.tolist()

    def build_scatter(title: str, x: int, y_axis: Axis, y: Sequence[float]) -> Scatter:
        return Scatter(
            title=title,
            subtitle="",
            x_axis=axes[x],
            y_axis=y_axis,
            x=columns[x],
            y=y,
            groups=groups,
            notes=notes,
            rest="" if follow_ups else "source",
        )

    if len(columns) == 1:
        return [build_scatter(f"{names[0]}, group after group", 0, Axis("number of the group"), numbers.tolist())]
    pairs = list(combinations(plotted_columns, 2))
    changed = {int(j) for part in follow_ups for j in np.flatnonzero((part != executed.inputs[0]).any(axis=0))}
    # where neither input changes, follow-ups lie on their sources
    pairs = [pair for pair in pairs if changed.intersection(pair)] or pairs
    return [build_scatter(f"{names[a]} and {names[b]}", a, axes[b], columns[b]) for a, b in pairs]


def _build_regions_sections(hunt: Hunt, system: Callable[..., Any]) -> list[Section]:
    """Return a section with the violation region of each violated relation."""
    counts = hunt.table["violated"].to_numpy()
    numbers = [int(i) for i in np.argsort(-counts, kind="stable")[:MAX_REGIONS_DRAWN] if counts[i] > 0]
    if not numbers:
        return []
    seconds_per_call = max(hunt.seconds - hunt.generation_seconds, 0.0) / max(hunt.calls, 1)
    parts = []
    for number in numbers:
        relation = hunt.relations[number]
        assert isinstance(relation, FunctionRelation)  # of a function, which is given here
        source_count = DEFAULT_GROUPS
        if not getattr(system, "is_vectorized", False):
            seconds_per_source = seconds_per_call * (relation.sources + relation.follow_ups) * len(numbers)
            source_count = min(DEFAULT_GROUPS // 10, int(REGIONS_BUDGET_SECONDS / max(seconds_per_source, 1e-9)))
        if source_count < MIN_SOURCES_PER_REGION:
            continue
        drawing = draw_region_picture(sample_violations(system, relation, source_count, hunt.seed))
        parts.append(Section(heading=to_one_line(relation.name), text="", drawing=drawing))
    if not parts:
        return []
    text = (
        "Random sources, executed for this picture. A bar shows the share of sources at a place that violate. In a "
        "plane, a square is a source that violates, a grey dot one that does not."
    )
    return [Section(heading="Where relations are violated", text=text, parts=parts, anchor="regions")]


# -- simulations -----------------------------------------------------------------------------------------------------


def build_simulation_page(*simulations: Simulation, brief: bool = False) -> Page:
    """Return simulations of the same setting side by side as a page; with `brief`, the short form for terminals."""
    simulations = tuple(part for simulation in simulations for part in simulation.compared)
    first = simulations[0]
    notes = [
        f"• {simulation.name}: {format_percent(simulation.censored)} of the trials found nothing in "
        f"{pluralise(simulation.setting.budget, 'group')}, so its F-measure is a lower bound."
        for simulation in simulations
        if simulation.censored
    ]
    notes += [f"• Not simulated: {text}." for simulation in simulations for text in simulation.unfinished]
    notes += [
        f"• {simulation.failed:,} trials of {simulation.name} failed."
        for simulation in simulations
        if simulation.failed
    ]
    ratios = Section(
        heading="F-ratios",
        text="\n".join(notes),
        table=Table(
            columns=["generator", "F-measure", "F-ratio", "from", "to", "Cohen's d", "ended", "seconds"],
            rows=build_simulation_rows(simulations),
        ),
        anchor="ratios",
        drawing=None
        if brief
        else draw_ratio_chart([(simulation.name, simulation.ratio) for simulation in simulations]),
    )
    verdict, state = _format_best(simulations)
    return Page(
        title=f"How soon violations are found: {_format_setting(first)}",
        lead=f"{_explain_region(first)} The F-measure is the number of groups until one lies in the region. The F-ratio compares "
        "it with random testing, whose mean is 1 divided by the rate.",
        sections=[ratios],
        verdict=verdict,
        state=state,
        facts=[
            ("Setting", _format_setting(first, with_relations=True)),
            ("Trials", f"{len(first.found):,} each, seed {first.setting.seed}"),
        ],
    )


def _explain_region(simulation: Simulation) -> str:
    """Return what the region of a simulation is."""
    if isinstance(simulation.setting.options.region, MeasuredRegion):
        return "The region is that of a function, which is executed."
    return "Nothing is executed here. A region, drawn again for each trial, stands for a program that is wrong there."


def _format_setting(simulation: Simulation, *, with_relations: bool = False) -> str:
    """Return what was simulated: the regions and, if there are any, the relations."""
    setting = simulation.setting
    dimensions = pluralise(len(setting.domain[0]), "dimension")
    region, rate = setting.options.region, setting.measured_rate
    if isinstance(region, MeasuredRegion):
        where = (
            f"{region.name} violates {region.relation.name!r}"
            if isinstance(region, ViolationRegion)
            else f"{region.kind} is true"
        )
        text = f"where {where}, {format_percent(rate.value)} of the groups ({rate.low:.3%} to {rate.high:.3%}), in {dimensions}"
    else:
        text = f"{setting.options.scenario or setting.region_kind} regions with rate {format_short(rate.value)} in {dimensions}"
    if with_relations and setting.options.has_selector:
        text += f", one of {pluralise(setting.relation_count, 'relation')} violated"
    return text


def _format_best(simulations: Sequence[Simulation]) -> tuple[str, SectionState]:
    """Return a sentence about the least F-ratio without censored trials."""
    uncensored = [simulation for simulation in simulations if not simulation.censored]
    if not uncensored:
        if len(simulations) == 1:
            return f"{simulations[0].name} has trials that ended without a violation: give it a greater budget", "warn"
        return "All generators have trials that ended without a violation: give them a greater budget", "warn"
    best = min(uncensored, key=lambda simulation: simulation.f_ratio)
    ratio = best.ratio
    comparison = f", the least of {len(simulations)}" if len(simulations) > 1 else ""
    text = f"{best.name} needs {format_percent(ratio.value)} of the groups that random testing needs{comparison}"
    return text, "good" if ratio.high < 1 else "plain"


def build_simulation_rows(simulations: Sequence[Simulation]) -> list[list[str | None]]:
    """Return name, F-measure, F-ratio, the ends of its interval, Cohen's d, censored share and seconds of each."""
    rows = []
    for simulation in simulations:
        bound = "> " if simulation.censored else ""
        ratio = simulation.ratio
        # with censored trials the F-ratio is a lower bound, and its interval is not known
        ends = [None, None] if bound else [format_percent(end) for end in (ratio.low, ratio.high)]
        d = None if np.isnan(simulation.cohens_d) else f"{simulation.cohens_d:.3f} ({name_effect(simulation.cohens_d)})"
        figures = [f"{bound}{simulation.f_measure:.1f}", f"{bound}{format_percent(ratio.value)}", *ends, d]
        rows.append([simulation.name, *figures, format_percent(simulation.censored), f"{simulation.seconds:.1f}"])
    return rows


def build_groups_page(groups: GeneratedGroups, brief: bool = False) -> Page:
    """Return generated groups as a page: where sources lie, and the first groups as a table."""
    table = groups.table.head(MAX_GROUPS_LISTED)
    rows = [[format_short(value) for value in row] for row in table.to_numpy().tolist()]
    left_out = len(groups) - len(rows)
    note = f"{pluralise(left_out, 'further group')} are left out." if left_out else ""
    relation = groups.relation
    boxes = relation.domain if isinstance(relation, FunctionRelation) else (relation,)
    has_picture = not brief and len(boxes) == 1 and boxes[0].dimension <= MAX_PLANE_DIMENSIONS
    drawing = draw_spread_picture({groups.generator: groups}, domain=boxes[0]) if has_picture else None
    name = f"the relation {relation.name!r}" if isinstance(relation, FunctionRelation) else "a domain"
    return Page(
        title=f"Groups of {to_one_line(name)}",
        lead="A group has one or more inputs (sources), and the inputs that a relation derives from them (follow-ups). Nothing was "
        "executed.",
        sections=[
            *([_build_spread_section(groups)] if groups.measured else []),
            Section(
                heading="Groups",
                text="",
                drawing=drawing,
                table=Table(columns=list(map(str, table.columns)), rows=rows, note=note),
                anchor="groups",
            ),
        ],
        verdict=f"{groups.headline} in {groups.seconds:.2f} s, seed {groups.seed}.",
        state="plain",
        facts=[],
    )


def _build_spread_section(groups: GeneratedGroups) -> Section:
    spread = groups.spread
    rows: list[list[str | None]] = [
        [str(name), *map(format_short, row)] for name, *row in spread.itertuples(index=False)
    ]
    return Section(
        heading="How evenly the groups lie",
        text="The dispersion is the distance to the nearest other input. The discrepancy compares the share of inputs in each of "
        "1,000 equal cells with the share of the volume. Even groups have a small difference between maximum and minimum.",
        table=Table(columns=list(spread.columns), rows=rows),
        anchor="spread",
    )


# -- violation regions -------------------------------------------------------------------------------------------------

REGION_COLUMNS = ["inputs", "kind", "why"]


def build_region_page(region: ViolationRegion, brief: bool = False) -> Page:
    """Return a violation region as a page: its kinds, and unless `brief` a picture."""
    return Page(
        title=f"Where {to_one_line(region.name)} violates {to_one_line(region.relation.name)!r}",
        lead="Random groups were executed. The region of their sources is the MRVR-S, that of their follow-ups the MRVR-F of Ying "
        "(2024).",
        sections=[
            Section(
                heading="Kinds of region",
                text="",
                table=Table(columns=REGION_COLUMNS, rows=_build_region_rows(region)),
                drawing=None if brief else draw_region_picture(region.sample),
                anchor="kinds",
            )
        ],
        verdict=_format_region(region),
        state="bad" if region.rate.value else "plain",
        facts=[("Undefined", f"{format_percent(region.undefined)} of the groups")],
    )


def _format_region(region: ViolationRegion) -> str:
    share, low, high = map(format_percent, region.rate)
    groups = pluralise(len(region.sample.sources), "random group")
    return f"{share} of {groups} violate {to_one_line(region.relation.name)!r} (95% interval {low} to {high})."


def _build_region_kinds_sections(hunt: Hunt) -> list[Section]:
    """Return a section with the kinds of the measured regions, if there are any."""
    if not hunt.regions:
        return []
    rows = [
        [to_one_line(region.relation.name), format_percent(region.rate.value), *row]
        for region in hunt.regions
        for row in _build_region_rows(region)
    ]
    groups = pluralise(len(hunt.regions[0].sample.sources), "random group")
    return [
        Section(
            heading="Kinds of violation regions",
            text=f"The share of {groups} that violate, and where their sources and follow-ups lie.",
            table=Table(columns=["relation", "violated", *REGION_COLUMNS], rows=rows),
            anchor="kinds",
        )
    ]


def _build_region_rows(region: ViolationRegion) -> list[list[str | None]]:
    return [[row["inputs"], row["kind"], row["reason"]] for row in region.rows]
