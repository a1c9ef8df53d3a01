"""A study as a page: figures, notes, and pictures where they explain something."""

from __future__ import annotations

import math

import numpy as np

from ..data.programs import programs
from ..hunting.generator_base import GroupBatch
from ..hunting.generators import make_generator
from ..hunting.plots import draw_spread_picture
from ..hunting.regions import draw_region
from ..hunting.simulation import make_default_relation, make_trial_rng
from ..hunting.violation_regions import sample_violations
from ..relations.algebra.box import Box
from ..relations.algebra.function import FunctionRelation
from ..reporting.document import Link, Page, Section, Table
from .catalogue import STUDIES, build_published_rows
from .charts import draw_comparison_chart
from .figures import build_figure_sections, list_figures
from .result import Study
from .rows import Row, format_number, split_sentences

COMPARED_GENERATORS = ("MT-RT", "SFIDMT-ART", "MT-ART-Min")
PLANE_GENERATORS = ("MT-RT", "SFIDMT-ART", "MT-ART-Min", "MT-ART-Max", "MT-IPART", "MT-RPART")
MAX_SOURCES = 24_000  # per picture, collected from as many trials as needed
SAMPLE_SIZE = 50_000
CELLS_TEXT = (
    "published / ours ± half the width of its 95% interval → ours with the known cause of the difference; in brackets, the "
    "trials or repetitions behind ours."
)


def build_page(study: Study, index: str = "", *, brief: bool = False) -> Page:
    """Return a study as a page, with a link to the `index` of its site if it is part of one."""
    notes: dict[str, int] = {}  # with the numbers by which cells and columns cite them
    sections = []
    for part, rows in _split_rows(study).items():
        table = _build_table(rows, notes)
        heading = f"Table {part}" if part[:3].isdigit() else part[:1].upper() + part[1:]
        sections.append(Section(heading=heading or ("" if brief else study.title), text="", table=table))
        if not brief:
            sections += _build_figures(study, part)
    if not brief:
        sections += _build_pictures(study)
    if notes:
        text = "\n".join(f"• [{number}] {note}" for note, number in notes.items())
        sections.append(Section(heading="Notes", text=text, anchor="notes"))
    facts = [
        ("Study", f"{study.name}, scale {study.scale}"),
        ("Amount", study.amount),
        ("Effort", f"{study.seconds:.0f} s"),
        ("Seed", f"{study.seed} (the same seed gives the same figures, apart from times)"),
        *([("Index", Link("all studies", index))] if index else []),
    ]
    return Page(
        title=study.title,
        lead="Published figures beside ours. A dash: there is no figure.",
        verdict=study.heading if brief else "",
        sections=sections,
        facts=[*([] if brief else facts), ("Cells", CELLS_TEXT), *study.list_missing_facts()],
        contents=len(sections) > 2,
    )


# -- the tables ------------------------------------------------------------------------------------------------------


def _split_rows(study: Study) -> dict[str, list[Row]]:
    """Return the rows by part, of which most are tables; a study of a single part does not name it."""
    parts: dict[str, list[Row]] = {}
    for row in study.rows.itertuples(index=False):
        part, colon, label = row.row.partition(": ")
        parts.setdefault(part if colon else "", []).append(row._replace(row=label if colon else row.row))
    return parts


def _build_table(rows: list[Row], notes: dict[str, int]) -> Table:
    """Return rows as a grid of cells. What every cell of a column has, a note or the number of trials, is said of the column."""
    columns = list(dict.fromkeys(row.column for row in rows))
    cells = {(row.row, row.column): row for row in rows}
    shared, trials = {}, {}
    for column in columns:
        column_rows = [row for row in rows if row.column == column]
        shared[column] = set.intersection(*(set(split_sentences(row.note)) for row in column_rows))
        counts = {row.trials for row in column_rows if not math.isnan(row.ours)}
        trials[column] = counts.pop() if len(counts) == 1 else math.nan

    def mark(sentences: list[str]) -> str:
        return "".join(f"[{notes.setdefault(sentence, len(notes) + 1)}]" for sentence in sentences)

    def format_cell(row: Row | None) -> str:
        if row is None:
            return ""
        own = [sentence for sentence in split_sentences(row.note) if sentence not in shared[row.column]]
        count = "" if row.trials == trials[row.column] else _format_trials(row.trials)
        parts = [f"{format_number(row.published)} / {format_number(row.ours)}", _format_margin(row.ours, row.margin)]
        if not math.isnan(row.ours_with_cause):
            margin = _format_margin(row.ours_with_cause, row.margin_with_cause)
            parts += ["→", format_number(row.ours_with_cause), margin]
        return " ".join(filter(None, [*parts, count, mark(own)]))

    headings = [
        " ".join(filter(None, [column, _format_trials(trials[column]), mark(sorted(shared[column]))]))
        for column in columns
    ]
    labels = dict.fromkeys(row.row for row in rows)
    return Table(
        columns=["", *headings],
        rows=[[label, *(format_cell(cells.get((label, column))) for column in columns)] for label in labels],
        main_rows=len(labels),
    )


def _format_margin(value: float, margin: float) -> str:
    """Return a margin with as many decimals as its figure, or more if it is smaller; nothing if there is none."""
    if math.isnan(margin) or not margin:
        return ""
    decimals = len(format_number(value).partition(".")[2])
    text = f"{margin:,.{decimals}f}"
    return f"±{text if float(text.replace(',', '')) else format_number(margin)}"


def _format_trials(trials: float) -> str:
    return "" if math.isnan(trials) else f"({trials:,.0f})"


# -- pictures --------------------------------------------------------------------------------------------------------


def _build_figures(study: Study, part: str) -> list[Section]:
    """Return the figures of the paper that a part draws."""
    parts = list(STUDIES[study.name].parts)
    prefix = f"{part}: " if len(parts) > 1 else ""
    part = part if prefix else parts[0]
    return build_figure_sections(part, _collect_rows(study, prefix), study.seed) if list_figures([part]) else []


def _build_pictures(study: Study) -> list[Section]:
    """Return what explains the whole study."""
    sections = []
    chart = draw_comparison_chart(study.rows)
    if chart is not None:
        text = "A point is a figure of the tables; its tooltip names it. On the dashed line, ours and the published one are equal."
        sections.append(Section(heading="Ours and the published figures", text=text, drawing=chart, anchor="chart"))
    if study.name == "input_domains":
        sections.append(_build_input_domain_section(study))
    elif study.name == "simulation":
        sections.append(_build_simulation_section(study))
    return sections


def _collect_rows(study: Study, prefix: str) -> list[Row]:
    """Return the rows of a part, and published figures that the scale leaves out."""
    rows: dict[tuple[str, str], Row] = {(row.row, row.column): row for row in build_published_rows(study.name)}
    rows |= {(row.row, row.column): row for row in study.rows.itertuples(index=False)}
    return [row._replace(row=row.row.removeprefix(prefix)) for row in rows.values() if row.row.startswith(prefix)]


# -- why MT-ART-Min fails on one mutant of tanh and wins on the other ---------------------------------------------


def _build_input_domain_section(study: Study) -> Section:
    tanh = programs["tanh"]
    relation = tanh.relations["tripling"]
    where = {}
    for name in ("emu10", "branch3.1"):
        sample = sample_violations(tanh.mutants[name], relation, n=SAMPLE_SIZE)
        violating = sample.sources[sample.violated]
        where[name] = Box.of((float(violating.min()), float(violating.max())))
    few, many = (
        {name: _propose_groups(name, relation, groups, study.seed) for name in COMPARED_GENERATORS}
        for groups in (60, 600)
    )
    (domain,) = relation.domain
    parts = [
        Section(
            heading="Where 600 sources lie",
            text="Follow-ups are three times the sources, so those of sources in the lower third lie in the source domain. "
            "MT-ART-Min keeps sources and follow-ups in one pool, so it avoids the lower third. SFIDMT-ART keeps one set "
            "per domain, and spreads evenly.",
            drawing=draw_spread_picture(many, domain=domain),
        ),
        Section(
            heading="branch3.1: MT-ART-Min finds it late",
            text="The region lies in that lower third and not at its end. Of 600 sources, MT-ART-Min has fewer in it than random "
            "testing.",
            drawing=draw_spread_picture(many, where["branch3.1"], domain=domain, window=(0.0, 6.0)),
        ),
        Section(
            heading="emu10: MT-ART-Min finds it early",
            text="The region begins at the edge of the domain, which the first sources of MT-ART-Min prefer. It is found before "
            "the lower third is avoided.",
            drawing=draw_spread_picture(few, where["emu10"], domain=domain, window=(0.0, 6.0)),
        ),
    ]
    heading = "Why MT-ART-Min fails on branch3.1 and wins on emu10"
    return Section(heading=heading, text="Sources of many trials together.", parts=parts, anchor="why")


def _propose_groups(generator: str, relation: FunctionRelation, groups: int, seed: int) -> GroupBatch:
    """Return the groups of many trials."""
    prototype = make_generator(generator, relation)
    batches = [
        prototype.clone(make_trial_rng(seed, trial)).propose(groups) for trial in range(max(1, MAX_SOURCES // groups))
    ]
    return GroupBatch(*(np.concatenate([getattr(batch, of) for batch in batches]) for of in ("sources", "follow_ups")))


# -- how generators spread in a plane ------------------------------------------------------------------------------


def _build_simulation_section(study: Study) -> Section:
    square = Box.of([(0.0, 1.0)] * 2)
    region = draw_region("block", 0.01, square.low, square.high, np.random.default_rng(study.seed))
    sources_by_name = {
        name: make_generator(name, make_default_relation(2), seed=study.seed).propose(300).sources
        for name in PLANE_GENERATORS
    }
    return Section(
        heading="How generators spread",
        text="300 sources of one trial each, with a block that takes a hundredth of the square. MT-ART-Max goes to the "
        "corners, so blocks elsewhere are rarely found.",
        drawing=draw_spread_picture(sources_by_name, region, domain=square),
    )
