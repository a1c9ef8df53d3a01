"""A study as a page: figures, notes, and pictures where they explain something."""

from __future__ import annotations

import numpy as np

from ..data.programs import programs
from ..hunting.generator_base import GroupBatch
from ..hunting.generators import make_generator
from ..hunting.plots import draw_spread_picture, sample_violations
from ..hunting.regions import draw_region
from ..hunting.simulation import make_default_relation, make_trial_rng
from ..relations.box import Box
from ..relations.function import FunctionRelation
from ..reporting.document import Link, Page, Section, Table
from .catalogue import STUDIES, build_published_rows
from .charts import draw_comparison_chart
from .figures import build_figure_sections, list_figures
from .result import Study
from .rows import Row
from .text import CELLS_TEXT, build_grids

COMPARED_GENERATORS = ("MT-RT", "SFIDMT-ART", "MT-ART-Min")
PLANE_GENERATORS = ("MT-RT", "SFIDMT-ART", "MT-ART-Min", "MT-ART-Max", "MT-IPART", "MT-RPART")
MAX_SOURCES = 24_000  # per picture, collected from as many trials as needed
SAMPLE_SIZE = 50_000


def build_page(study: Study, index: str = "") -> Page:
    """Return a study as a page, with a link to the `index` of its site if it is part of one."""
    tables, notes = build_grids(study)
    parts = list(STUDIES[study.name].parts)
    sections = []
    for grid in tables:
        table = Table(columns=["", *grid.columns], rows=[[label, *cells] for label, cells in grid.rows])
        sections.append(Section(heading=grid.heading or study.title, text="", table=table))
        part = grid.heading.removeprefix("Table ") if len(parts) > 1 else parts[0]
        if list_figures([part]):
            sections += build_figure_sections(part, _collect_rows(study, f"{part}: " if len(parts) > 1 else ""))
    chart = draw_comparison_chart(study.rows)
    if chart is not None:
        text = "A point is a figure of the tables; its tooltip names it. On the dashed line, ours and the published one are equal."
        sections.append(Section(heading="Ours and the published figures", text=text, drawing=chart, anchor="chart"))
    if study.name == "input_domains":
        sections.append(_build_input_domain_section(study))
    elif study.name == "simulation":
        sections.append(_build_simulation_section(study))
    if notes:
        text = "\n".join(f"• [{number}] {note}" for number, note in enumerate(notes, 1))
        sections.append(Section(heading="Notes", text=text, anchor="notes"))
    return Page(
        title=study.title,
        lead=f"Published figures beside ours. {CELLS_TEXT} A dash: there is no figure.",
        sections=sections,
        facts=[
            ("Study", f"{study.name}, scale {study.scale}"),
            ("Amount", study.amount),
            ("Effort", f"{study.seconds:.0f} s"),
            ("Seed", f"{study.seed} (the same seed gives the same figures, apart from times)"),
            *([("Index", Link("all studies", index))] if index else []),
        ],
        contents=len(sections) > 2,
    )


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
