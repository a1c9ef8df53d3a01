"""Check of sounds: which changes that people hardly hear change the answers, and to how many sounds.

A few changed answers are usual for sounds close to a border, most of all after changes that everybody hears, such as another
loudness. So a change is reported only if the interval of its share leaves chance behind, and the table has all of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..._stats import compute_wilson_interval
from ..._text import format_percent, pluralise
from ...core.result import Example, Finding, Level, count_rows, format_share
from ...errors import BudgetSpent
from ...relations.catalogue.audio import audio_relations
from ...relations.catalogue.image import BlockRelation
from ...reporting.document import Section, Table
from ...runs.flow import ask
from ...space.blocks import Audio, PlacedBlock
from ...space.outputs import Outputs
from ...space.points import Points
from ..case_text import build_example, read_case
from ..check import CheckBudget, CheckFindings, get_facts, make_check, run_flow
from ..context import CheckContext

MAX_SOUNDS = 200
MIN_SOUNDS = 5
MIN_SHARE_LOWER_END = 0.025  # of the interval of the share of sounds whose answer changes
MIN_SHARE_FOR_CONCERN = 0.25
MAX_EXAMPLES = 3
RANDOM_STREAM = 337


def check_sounds(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Try every relation of sounds on every column of sounds."""
    findings: list[Finding] = []
    sections: list[Section] = []
    bases: list[str] = []
    for placed_block in _list_sounds(context):
        block_findings, section, basis = _check_block(context, budget, placed_block)
        findings += block_findings
        sections.append(section)
        bases.append(basis)
    return CheckFindings(basis="; ".join(bases), findings=findings, sections=sections)


def _list_sounds(context: CheckContext) -> list[PlacedBlock]:
    return [placed_block for placed_block in context.space.blocks if isinstance(placed_block.block, Audio)]


def _check_block(
    context: CheckContext, budget: CheckBudget, placed_block: PlacedBlock
) -> tuple[list[Finding], Section, str]:
    name = placed_block.block.name
    relations = audio_relations(column=name)
    limit = min(MAX_SOUNDS, len(context.inputs))
    count = context.count_affordable(
        budget.remaining(0.8),
        limit,
        runs_per_case=1 + len(relations),
        calls=1 + len(relations),
        minimum=min(MIN_SOUNDS, limit),
    )
    positions = context.sample_rows(limit)[:count]
    sounds = context.inputs.take(positions)
    before = run_flow(context, budget, ask(sounds, note="sounds"))
    findings: list[Finding] = []
    body: list[list[object]] = []
    for number, relation in enumerate(relations.values()):
        codes = _change(relation, placed_block, sounds, np.random.default_rng([context.seed, RANDOM_STREAM, number]))
        changed_sounds = Points(context.space, codes)
        try:
            after = run_flow(context, budget, ask(changed_sounds, note="sounds"))
        except BudgetSpent:
            if not body:
                raise
            break
        applies = relation.move.applies(placed_block.block, placed_block.select(sounds.codes))
        judged = applies & before.ok & after.ok
        rows = np.flatnonzero(judged & ~before.same(after))
        total = int(judged.sum())
        body.append([relation.input.describe(), total, len(rows), format_percent(len(rows) / max(1, total))])
        if total and compute_wilson_interval(len(rows), total)[0] > MIN_SHARE_LOWER_END:
            examples = _build_examples(relation, (sounds, changed_sounds), (before, after), rows, positions)
            findings.append(_build_finding(relation, name, examples, len(rows), total))
    section = Section(
        heading=f"The same {name}, changed so that people hear the same",
        text="How many sounds get another answer. A few are usual for sounds close to a border.",
        table=Table(columns=["change", "sounds", "other answers", "share"], rows=body),
    )
    return findings, section, f"{pluralise(len(body), 'change')} of {pluralise(count, 'sound')}"


def _change(
    relation: BlockRelation, placed_block: PlacedBlock, sounds: Points, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    codes = sounds.codes.copy()
    codes[:, list(placed_block.positions)] = relation.move.apply(placed_block.block, placed_block.select(codes), rng)
    return codes


def _build_examples(
    relation: BlockRelation,
    sounds: tuple[Points, Points],
    outputs: tuple[Outputs, Outputs],
    rows: npt.NDArray[np.intp],
    positions: npt.NDArray[np.intp],
) -> tuple[Example, ...]:
    """Return some sounds before and after the change, with their positions in the data."""
    examples = []
    for row in rows[:MAX_EXAMPLES].tolist():
        source, follow_up = (read_case(batch, row, answers) for batch, answers in zip(sounds, outputs, strict=True))
        text = f"{relation.input.describe()}: {source.answer_text} becomes {follow_up.answer_text}"
        examples.append(build_example(source, follow_up, text=text, row=int(positions[row])))
    return tuple(examples)


def _build_finding(
    relation: BlockRelation, column_name: str, examples: tuple[Example, ...], cases: int, total: int
) -> Finding:
    level: Level = "concern" if cases >= MIN_SHARE_FOR_CONCERN * total else "advice"
    return Finding(
        **get_facts("sounds"),
        about=f"{relation.name} of {column_name}",
        title=f"Answers change although people hear the same {column_name}: {relation.input.describe()}",
        level=level,
        detail=f"{format_share(cases, total, 'sound')} get another answer. It should stay, because {relation.reason}.",
        **count_rows(cases, total, "sound"),
        examples=examples,
        columns=(column_name,),
    )


def _find_skip_reason(context: CheckContext) -> str:
    if not _list_sounds(context):
        return "the inputs hold no sounds"
    if not context.has_data:
        return "no real sounds are given"
    if context.has_numeric_answers:
        return "the answers are numbers"
    return "the same case gets different answers" if context.unstable else ""


SOUNDS = make_check("sounds", check_sounds, _find_skip_reason)
