"""The report of ``dm.check`` as a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..._text import format_percent, pluralise
from ...reporting.block_pictures import PicturePair, build_pair_drawing, describe_briefly
from ...reporting.document import Drawing, Page, Section, SectionState, Table, Tile
from ...reporting.text import cut, to_one_line
from ...space.answers import format_answer
from ...space.points import Points
from ..algebra.base import JudgedGroups, split_statement
from .result import PURPOSES, Against, AnswerComparison, CheckReport, RelationResult
from .violation import ClusterViolation, LearnerViolation

MAX_FACT_CHARACTERS = 600
MAX_BRIEF_EXAMPLES = 3
TRAINED_EXAMPLES_INTRO = (
    "The fewest training rows and attributes, and the plainest numbers, that still show the violation."
)
QUERIED_EXAMPLES_INTRO = (
    "One violation per relation: a case and its answer, what was changed, and the answer to the changed case. Values that do not matter "
    "are the most usual ones."
)
DIFFERENCES_INTRO = (
    "Both were asked the same: the source cases, and the follow-ups of all relations. Differences that a tie, the random state or the "
    "last bits of numbers explain are set aside."
)
MODEL_RELATIONS_TEXTS = {
    "verification": " Every model must satisfy them, or you declared them.",
    "robustness": "",
    "validation": " They are not declared necessary.",
}  # by purpose: why relations must hold, or need not
JUDGING_TEXTS = {
    "score_exact": "Scores are compared, too: ",
    "class_stat": "Judged by the counts of labels: ",
    "score_stat": "Judged by the distributions of scores: ",
}


def build_page(report: CheckReport, brief: bool = False) -> Page:
    """Return the page of a report: verdict, relations, smallest violations.

    With `brief`, it is the short form for terminals: relations that hold are named only.
    """
    has_hypotheses = any(entry.purpose == "validation" for entry in report.entries)
    sections = [] if report.against is None else _build_against_sections(report, report.against, brief)
    if has_hypotheses and not report.known:
        sections.append(_build_experience_section(report, brief))
    for purpose in PURPOSES:
        entries = [entry for entry in report.entries if entry.purpose == purpose]
        if entries:
            section = _build_relations_section(purpose, entries, report.list_type_meanings(purpose))
            sections.append(_shorten_relations_section(section, report, entries) if brief else section)
    if report.often_tied:
        sections.append(_build_ties_section(report))
    if report.decades["violated"].any():
        sections.append(_build_size_section(report))
    if report.examples:
        names = list(report.examples)[: MAX_BRIEF_EXAMPLES if brief else None]
        parts = [_build_example_section(report, name) for name in names]
        trained = any(isinstance(example, LearnerViolation) for example in report.examples.values())
        intro = TRAINED_EXAMPLES_INTRO if trained else QUERIED_EXAMPLES_INTRO
        heading = "The smallest violations" if len(names) == len(report.examples) else "Some of the smallest violations"
        sections.append(Section(heading=heading, text="" if brief else intro, parts=parts, anchor="examples"))
    headline, comparisons = report.headline, () if report.against is None else report.against.comparisons
    differs = any(comparison.differing for comparison in comparisons)
    facts = [
        ("Subject", cut(report.subject, MAX_FACT_CHARACTERS)),
        *([] if report.against is None else [("Against", report.against.subject), ("Verdict", report.check_verdict)]),
        ("Data", cut(report.data, MAX_FACT_CHARACTERS)),
        ("Effort", f"{report.seconds:.1f} s, {report.runs:,} cases labelled"),
        ("Seed", f"{report.seed} (the same seed gives the same report)"),
        *_list_unjudged(report),
    ]
    if report.notes:
        facts.append(("Notes", "\n".join(f"• {note}" for note in report.notes)))
    return Page(
        title=f"Relations of {report.subject}",
        subject=cut(report.subject, MAX_FACT_CHARACTERS),
        lead="Inputs were changed in known ways, and the answers had to change in known ways. No correct answer had to "
        "be known. Verification: relations that every correct implementation satisfies. Validation: relations that "
        "users may expect.",
        sections=sections,
        verdict=headline[:1].upper() + headline[1:],
        state="bad" if report.faults else "good" if report.passed and not differs else "warn",
        facts=facts,
        contents=True,
        tiles=_build_tiles(report),
    )


def _build_against_sections(report: CheckReport, against: Against, brief: bool) -> list[Section]:
    """Return which relations hold in only one of both systems, and where answers differ."""
    lost, gained = against.list_changes(report.entries)
    rows = [
        [pair.here.relation, *(_format_outcome(entry) for entry in pair), pair.here.purpose, pair.here.says]
        for pair in (*lost, *gained)
    ]
    sections = [
        Section(
            heading="Relations that hold in only one of both",
            text="" if rows else f"All relations have the same outcome for {report.subject} and {against.subject}.",
            state="bad" if any(pair.here.necessary for pair in lost) else "note" if rows else "good",
            table=Table(
                columns=["relation", "violated here", "violated there", "purpose", "statement"],
                rows=rows,
                main_rows=len(rows),
            )
            if rows
            else None,
            anchor="against",
        )
    ]
    facts = [("Not compared", against.obstacle)] if against.obstacle else []
    for comparison in against.comparisons:
        verdict = comparison.format_verdict()
        facts.append((comparison.noun.capitalize(), verdict[:1].upper() + verdict[1:]))
        if text := comparison.format_set_aside():
            facts.append((f"{comparison.noun.capitalize()} set aside", text))
    if against.one_sided:
        texts = [f"{pluralise(count, 'case')}: {to_one_line(reason)}" for reason, count in against.one_sided.items()]
        facts.append(("Answered by one only", "; ".join(texts)))
    parts = [
        _build_difference_section(report, against, comparison)
        for comparison in against.comparisons
        if comparison.example is not None
    ]
    differs = any(comparison.differing for comparison in against.comparisons)
    sections.append(
        Section(
            heading="Answers to the same inputs",
            text="" if brief else DIFFERENCES_INTRO,
            state="note" if differs else "plain",
            facts=facts,
            parts=parts,
            anchor="answers",
        )
    )
    return sections


def _format_outcome(entry: RelationResult) -> str:
    return f"{entry.format_violated()} of {entry.judged:,}"


def _build_difference_section(report: CheckReport, against: Against, comparison: AnswerComparison) -> Section:
    """Return the smallest case with different answers, and both answers."""
    violation, heading = comparison.example, f"The smallest case with different {comparison.noun}"
    if not isinstance(violation, LearnerViolation):
        assert violation is not None
        answers = [violation.groups.before, violation.groups.after]
        facts = [("Case", violation.facts[0][1])]
        names = report.subject, against.subject
        facts += [(name, format_answer(outputs.values[0])) for name, outputs in zip(names, answers, strict=True)]
        return Section(heading=heading, text="", state="note", facts=facts)
    texts = [str(violation.before), str(violation.after)]
    if violation.scores_before is not None and violation.scores_after is not None:
        for place, scores in enumerate((violation.scores_before, violation.scores_after)):
            pairs = zip(violation.source.declared, scores, strict=False)
            texts[place] += f" ({', '.join(f'{label}: {score:.6g}' for label, score in pairs if score == score)})"
    table = _build_training_table(violation)
    if not isinstance(violation, ClusterViolation):  # both have the same rows
        table = replace(table, columns=table.columns[1:], rows=[row[1:] for row in table.rows[: len(table.rows) // 2]])
    facts = list(zip((report.subject, against.subject), texts, strict=True))
    return Section(heading=heading, text="", state="note", facts=facts, table=table)


def _list_unjudged(report: CheckReport) -> list[tuple[str, str]]:
    """Return which relations lack answers, and how many violations depend on ties."""
    facts = []
    unanswered = [entry for entry in report.entries if entry.undefined]
    if unanswered:
        names = ", ".join(entry.relation for entry in unanswered)
        messages = max(unanswered, key=lambda entry: entry.undefined).format_messages()
        facts.append(("Without an answer", f"{names}. {to_one_line(messages)}"))
    tie_counts = [f"{entry.relation} ({entry.tied})" for entry in report.entries if entry.tied]
    if tie_counts:
        reason = "they depend on a tie (ties='count' counts them)"
        facts.append(("Not counted", f"{', '.join(tie_counts)}, because {reason}"))
    return facts


def _build_ties_section(report: CheckReport) -> Section:
    """Return the relations in which ties decide often: what holds on so few of the cases says little."""
    rows = [
        [entry.relation, f"{entry.judged:,}", f"{entry.tied:,}", format_percent(entry.tie_share)]
        for entry in report.often_tied
    ]
    return Section(
        heading="Ties decide often",
        text="In more than one of ten cases, a violation disappeared when all numbers changed slightly, and was set aside. There the "
        "answer depends on which of equally good choices the learner takes, and a fault that occurs only with equal numbers would not "
        'be seen. Count these violations with ties="count" (--count-ties), or check data with fewer equal numbers.',
        state="warn",
        table=Table(columns=["relation", "judged", "set aside", "share"], rows=rows, main_rows=len(rows)),
        anchor="ties",
    )


def _build_tiles(report: CheckReport) -> list[Tile]:
    """Return the numbers of relations by outcome, and the effort."""
    violated_count = sum(entry.verdict.startswith("violated") for entry in report.entries)
    holding_count = sum(entry.verdict == "holds" for entry in report.entries)
    unjudged_count = len(report.entries) - violated_count - holding_count
    seconds = f"{report.seconds:.1f}" if report.seconds < 100 else f"{report.seconds:,.0f}"
    return [
        Tile(
            label="Fault" if len(report.faults) == 1 else "Faults",
            value=f"{len(report.faults):,}",
            state="bad" if report.faults else "good",
            target="verification",
        ),
        Tile(label="Relations violated", value=f"{violated_count:,}", state="note" if violated_count else "plain"),
        Tile(label="Relations hold", value=f"{holding_count:,}", state="good" if holding_count else "plain"),
        Tile(label="Not judged", value=f"{unjudged_count:,}", state="warn" if unjudged_count else "plain"),
        Tile(label="Cases labelled", value=f"{report.runs:,}"),
        Tile(label="Seconds", value=seconds),
    ]


def _build_relations_section(purpose: str, entries: list[RelationResult], meanings: Mapping[str, str]) -> Section:
    figures = ("judged", "violated", "share", "95%")
    columns = ["relation", "statement", "verdict", *figures, "why it must hold, or need not", "not judged"]
    rows = [_build_row(entry) for entry in entries]
    violated_count = sum(bool(entry.violated or entry.fault) for entry in entries)
    state: SectionState = "plain" if purpose == "validation" else "bad" if violated_count else "good"
    meaning = PURPOSES[purpose]
    types = "; ".join(f"{name}: {text}" for name, text in sorted(meanings.items()))
    note = f"Types of violations. {types}." if types else ""
    text = f"{meaning[:1].upper()}{meaning[1:]}. {pluralise(violated_count, 'relation')} of {len(entries)} violated."
    if not any(row[-1] for row in rows):  # all cases were judged
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    if {entry.about for entry in entries} == {"model"} and len({entry.reason for entry in entries}) == 1:
        reason_column = columns.index("why it must hold, or need not")
        text += MODEL_RELATIONS_TEXTS[purpose]
        columns = columns[:reason_column] + columns[reason_column + 1 :]
        rows = [row[:reason_column] + row[reason_column + 1 :] for row in rows]
    return Section(
        heading=purpose.capitalize(),
        text=text,
        state=state,
        table=Table(columns=columns, rows=rows, note=note),
        anchor=purpose,
    )


def _shorten_relations_section(section: Section, report: CheckReport, entries: list[RelationResult]) -> Section:
    """Return a section that lists violated relations and names the others."""
    rows, holding, unjudged = [], [], []
    for entry in entries:
        if not entry.judged:
            untried = entry.relation in report.untried
            reason = "not tried" if untried else "no answer" if entry.undefined else "not applicable"
            unjudged.append(f"{entry.relation} ({reason})")
        elif entry.violated or entry.fault:
            rate, low, high = entry.format_rate()
            share = f"{rate} ({low} to {high}){' by distribution' if entry.chance is not None else ''}"
            count = f"{entry.format_violated()} of {entry.judged:,}{entry.format_ties()}"
            rows.append([entry.relation, count, share, entry.says])
        else:
            holding.append(entry.relation + entry.format_ties())
    facts = [("Hold", ", ".join(holding)), ("Not judged", ", ".join(unjudged))]
    table = Table(
        columns=["violated", "cases", "share (95%)", "statement"],
        rows=rows,
        note="" if section.table is None else section.table.note,
        main_rows=len(rows),
    )
    return replace(section, facts=[fact for fact in facts if fact[1]], table=table if rows else None)


def _build_size_section(report: CheckReport) -> Section:
    frame = report.decades
    nouns = " or ".join(dict.fromkeys(entry.size_noun for entry in report.entries if entry.size_noun))
    rows = [[str(name), *(f"{count:,}" for count in counts)] for name, *counts in frame.values.tolist()]
    return Section(
        heading="Violations by size",
        text=f"How large violations are: the {nouns} between a case and its follow-up. [10, 100) means at least 10 and less "
        "than 100. Small differences may be harmless; users notice large ones.",
        table=Table(columns=[str(name) for name in frame.columns], rows=rows, sortable=False),
        anchor="sizes",
    )


def _build_row(entry: RelationResult) -> list[str | None]:
    rate, low, high = entry.format_rate()
    figures = [entry.format_violated(), rate, f"{low} to {high}"] if entry.judged else [None, None, None]
    reason = JUDGING_TEXTS.get(entry.strictness, "") + entry.reason
    verdict = entry.verdict + entry.format_ties()
    return [entry.relation, entry.says, verdict, f"{entry.judged:,}", *figures, reason, entry.format_messages()]


def _build_experience_section(report: CheckReport, brief: bool) -> Section:
    rows = [
        [entry.relation, entry.says, f"{entry.judged:,}", f"{entry.changed:,}", format_percent(entry.interval[1])]
        for entry in sorted(report.entries, key=lambda entry: entry.changed)
        if entry.judged
    ]
    facts = []
    if brief:
        bounds = [f"{entry.relation} (at most {format_percent(entry.interval[1])})" for entry in report.never_violated]
        facts = [("Never violated", ", ".join(bounds))] if bounds else []
    return Section(
        heading="Relations by how often they were violated",
        facts=facts,
        text="It is unknown which relations this learner must satisfy. A relation that was never violated may always "
        f"hold. {'At most' if brief else 'The last column'} bounds its violation rate with 95% confidence.",
        state="note",
        table=None if brief else Table(columns=["relation", "statement", "judged", "violated", "at most"], rows=rows),
        anchor="probe",
    )


def _build_example_section(report: CheckReport, name: str) -> Section:
    entry = next(candidate for candidate in report.entries if candidate.relation == name)
    violation = report.examples[name]
    state: SectionState = "bad" if entry.necessary else "note"
    badge = "fault" if entry.necessary else "robustness" if entry.robustness else "hypothesis"
    heading = f"{name}: {entry.says}"
    if not isinstance(violation, LearnerViolation):
        drawing = _draw_violation(violation.groups)
        if not violation.changed_texts or violation.groups.further:
            return Section(heading=heading, text="", state=state, badge=badge, facts=violation.facts, drawing=drawing)
        change, consequence = split_statement(entry.says)
        return Section(
            heading=f"{name}: {change}",
            text=f"Expected: {consequence}." if consequence else "",
            state=state,
            badge=badge,
            table=Table(columns=["", "what happened"], rows=violation.list_parts(), sortable=False),
            drawing=drawing,
        )
    facts = [("Change", violation.change_text), *violation.answer_facts]
    facts.append(("Why it must hold" if entry.necessary else "Why it need not hold", entry.reason))
    if (cause := report.causes.get(name)) is not None:
        facts += [("Cause", cause.text), ("Repair", cause.remedy), ("Known from", cause.source)]
    return Section(
        heading=heading,
        text="",
        state=state,
        table=_build_training_table(violation),
        badge=badge,
        facts=[(term, value) for term, value in facts if value],
    )


def _draw_violation(groups: JudgedGroups) -> Drawing | None:
    """Return the cases of a violation as pictures, if they hold images or sequences."""
    first = groups.take(slice(0, 1))
    if not isinstance(first.source, Points) or not isinstance(first.follow_up, Points) or not first.source.space.blocks:
        return None
    placed_block = first.source.space.blocks[0]
    before, after = placed_block.select(first.source.codes)[0], placed_block.select(first.follow_up.codes)[0]
    pair = PicturePair(
        before=before,
        after=after,
        first_title=str(first.before.values[0]),
        second_title=str(first.after.values[0]),
        caption=describe_briefly(placed_block.block, before, after),
    )
    return build_pair_drawing(placed_block, [pair])


def _build_training_table(violation: LearnerViolation) -> Table:
    source, follow_up = violation.row_tables
    columns = list(dict.fromkeys([*source[0], *follow_up[0]]))
    rows = [
        [stage, *(cells.get(column) for column in columns), label]
        for stage, (_, training_rows) in (("before", source), ("after", follow_up))
        for cells, label in training_rows
    ]
    last_column = "cluster" if isinstance(violation, ClusterViolation) else "label"
    return Table(columns=["", *columns, last_column], rows=rows, caption=violation.rows_caption, sortable=False)
