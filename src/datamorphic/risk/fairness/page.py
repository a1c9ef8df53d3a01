"""A fairness report as one page, for readers who know lending and no statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..._text import pluralise
from ...core.result import Level
from ...reporting.document import Drawing, Page, Section, SectionState, Shape, Table, TextLabel, Tile
from ...reporting.text import NO_VALUE_TEXT, cut
from .effects import CombinationEffect, CounterfactualCase
from .findings import FairnessFinding
from .groups import GroupTable
from .proxies import Proxy
from .result import AttributeState, FairnessReport
from .wording import Wording, format_round_percent

LEVEL_STATES: dict[Level, SectionState] = {"fault": "bad", "concern": "warn", "advice": "note"}
STATE_COLOURS: dict[AttributeState, SectionState] = {
    "depends": "bad",
    "depends together": "bad",
    "stand-in": "warn",
    "probability": "warn",
    "slightly": "note",
    "clear": "good",
}
VERDICTS: dict[AttributeState, str] = {
    "depends": "decides",
    "depends together": "decides together",
    "stand-in": "has a stand-in",
    "probability": "moves the probability",
    "slightly": "matters for few people",
    "clear": "no dependence found",
}
GROUPS_HEADING = "What the groups get"
MAX_CASE_COLUMNS = 8
MAX_VERDICT_FINDINGS = 4  # on one printed page
MAX_VERDICT_ROWS = 13  # of groups and their headings
MAX_LABEL_CHARACTERS = 34
CHART_WIDTH, ROW_HEIGHT, TEXT_WIDTH, LETTER_WIDTH = 720.0, 24.0, 120.0, 7.2
COMPACT_CHART_WIDTH, COMPACT_ROW_HEIGHT = 940.0, 19.0
METHOD = (
    "The model was queried again about each person with another value of the protected column, and with every combination of values of "
    "several columns. Columns that would no longer fit (a husband who becomes a woman, 20 years of employment at the age of 25) "
    "took the values of the most similar real person with the new value; those people are left out of the count of "
    "decisions that change with the protected column alone, unless hardly anybody else remains.\n"
    "A column is called a stand-in if it tells the groups apart (of two people, one of the group and one of the others, it "
    "says which is which in at least 70 of 100 pairs) and if the people of the group would fare differently with the "
    "values of others.\n"
    "The range after a figure is its 95% confidence interval: where it would lie, 95 times of 100, for other people of the same kind."
)


def build_page(report: FairnessReport, one_page: bool = False, brief: bool = False) -> Page:
    """Return a report as a page.

    With `one_page`, it is the verdict alone, which is printed on one sheet; with `brief`, the short form for terminals.
    """
    sections = [_build_overview(report)]
    if one_page:
        sections += [*_list_findings(report), _build_groups(report, one_page=True)]
    else:
        sections += [
            _build_finding(report, number, item, brief) for number, item in enumerate(report.findings, start=1)
        ]
        if brief:
            notes = "\n".join(f"• {note}" for note in report.notes)
            sections += [
                _tabulate_groups(report, _choose_tables(report)),
                Section(heading="", text=notes, again=report.command()),
            ]
        else:
            sections += [_build_groups(report), *_build_proxies(report), _build_method(report)]
    return Page(
        title=f"Fairness: {report.subject}",
        subject=report.subject,
        lead="Decisions about people should not depend on who they are. The model was queried again about every person, as if the "
        "person were somebody else, and other columns were searched for stand-ins.",
        verdict=report.headline,
        state="good" if report.passed else "bad" if any(item.level == "fault" for item in report.findings) else "warn",
        facts=[
            ("People", f"{report.people:,}"),
            ("Counted", _describe_measure(report.wording)),
            (
                "Effort",
                f"{report.seconds:.1f} s and {pluralise(report.calls, 'row')} computed by the model, seed {report.seed}",
            ),
        ],
        tiles=[
            Tile(
                label=VERDICTS[report.find_state(name)],
                value=cut(name, 24),
                state=STATE_COLOURS[report.find_state(name)],
                target="" if one_page else _find_target(report, name),
            )
            for name in report.attributes
        ],
        sections=sections,
        compact=one_page,
    )


def _choose_tables(report: FairnessReport) -> list[GroupTable]:
    """Return the tables of single attributes, and of those that matter together."""
    together = {finding.attributes for finding in report.findings if len(finding.attributes) > 1}
    return [table for table in report.tables if len(table.attributes) == 1 or table.attributes in together]


def _describe_measure(wording: Wording) -> str:
    """Return what is counted, in words."""
    if wording.measure == "decision":
        return f"people who get {wording.decision}"
    return "the answer" if wording.measure == "number" else f"the probability of {wording.decision}"


def _list_findings(report: FairnessReport) -> list[Section]:
    """Return the worst findings in a few lines each."""
    findings = report.findings[:MAX_VERDICT_FINDINGS]
    lines = [f"• {finding.title}. {finding.detail}" for finding in findings]
    if len(report.findings) > len(findings):
        lines.append(f"• {pluralise(len(report.findings) - len(findings), 'more finding')} in the full report.")
    return [Section(heading="What was found", text="\n".join(lines))] if lines else []


def _find_target(report: FairnessReport, attribute: str) -> str:
    numbers = [number for number, item in enumerate(report.findings, start=1) if attribute in item.attributes]
    return f"finding-{numbers[0]}" if numbers else ""


# -- the overview ------------------------------------------------------------------------------------------------------


def _build_overview(report: FairnessReport) -> Section:
    rows = []
    for name in report.attributes:
        effect, state = report.get_effect(name), report.find_state(name)
        alone = "the model does not see it"
        if effect.is_input:
            share = effect.share
            value, low, high = map(format_round_percent, (share.value, share.low, share.high))
            alone = f"{value} of people ({low} to {high})"
        rows.append([name, VERDICTS[state], alone, _name_partners(report, name), _name_stand_ins(report, name)])
    answer = "decision" if report.wording.measure == "decision" else "answer"
    columns = [
        "protected column",
        "verdict",
        f"would get another {answer}, if only it were different",
        "matters together with",
        "stand-ins",
    ]
    return Section(
        heading="Column by column",
        text="",
        table=Table(
            columns=columns,
            main_columns=[name for j, name in enumerate(columns) if any(row[j] != NO_VALUE_TEXT for row in rows)],
            rows=rows,
            sortable=False,
            marked=[
                (row, 1)
                for row, name in enumerate(report.attributes)
                if report.find_state(name) not in ("clear", "slightly")
            ],
        ),
    )


def _name_partners(report: FairnessReport, attribute: str) -> str:
    partners = [
        name
        for finding in report.findings
        if finding.kind == "combination" and attribute in finding.attributes
        for name in finding.attributes
        if name != attribute
    ]
    return ", ".join(dict.fromkeys(partners)) or NO_VALUE_TEXT


def _name_stand_ins(report: FairnessReport, attribute: str) -> str:
    columns = [
        column
        for finding in report.findings
        if finding.kind == "stand-in" and attribute in finding.attributes
        for column in finding.columns
    ]
    return ", ".join(dict.fromkeys(columns)) or NO_VALUE_TEXT


# -- findings ----------------------------------------------------------------------------------------------------------


def _build_finding(report: FairnessReport, number: int, finding: FairnessFinding, brief: bool) -> Section:
    beside = []
    if finding.kind == "combination":
        effect = next(item for item in report.combinations if item.attributes == finding.attributes)
        beside.append(_tabulate_combination(effect, report.wording))
    beside += [_build_example(example, report.wording, brief) for example in finding.examples]
    return Section(
        heading=finding.title,
        text=finding.detail,
        state=LEVEL_STATES[finding.level],
        badge=finding.level.capitalize(),
        anchor=f"finding-{number}",
        facts=[("What to do", finding.remedy)],
        beside=beside,
    )


def _tabulate_combination(effect: CombinationEffect, wording: Wording) -> Section:
    rows = [
        [label, wording.format_value(level)] for label, level in sorted(effect.levels.items(), key=lambda item: item[1])
    ]
    return Section(
        heading="The same people, if all of them were ...",
        text="",
        table=Table(columns=[", ".join(effect.attributes), wording.column], rows=rows, sortable=False),
    )


def _build_example(case: CounterfactualCase, wording: Wording, brief: bool) -> Section:
    """Return one person before and after as a table; changed columns come first, with `brief` they are the only ones."""
    others = [] if brief else [name for name in case.case if name not in case.changed]
    names = [*case.changed, *others[: MAX_CASE_COLUMNS - len(case.changed)]]
    rows = [[name, _format(case.case[name]), _format(case.changed.get(name, case.case[name]))] for name in names]
    if wording.measure == "decision":
        answers = [wording.decision if level else f"not {wording.decision}" for level in (case.answer, case.new_answer)]
    else:
        answers = [wording.format_value(level) for level in (case.answer, case.new_answer)]
    if case.probabilities is not None and wording.measure == "decision":
        rows.append(["probability", *map(format_round_percent, case.probabilities)])
    rows.append(["answer", *answers])
    marked = [(row, 2) for row in range(len(case.changed))]
    if case.probabilities is not None and answers[0] == answers[1]:
        marked.append((len(rows) - 2, 2))
    if answers[0] != answers[1]:
        marked.append((len(rows) - 1, 2))
    remaining = len(others) - (MAX_CASE_COLUMNS - len(case.changed))
    return Section(
        heading=f"For example: row {case.row} of the data",
        text="",
        table=Table(
            columns=["", "as in the data", "as if"],
            rows=rows,
            sortable=False,
            marked=marked,
            note=f"{pluralise(remaining, 'more column')} are the same." if remaining > 0 else "",
        ),
    )


def _format(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# -- groups ------------------------------------------------------------------------------------------------------------


def _build_groups(report: FairnessReport, one_page: bool = False) -> Section:
    """Return what groups get, with ranges, and the same as a table to be opened."""
    tables = _choose_tables(report)
    if one_page:
        tables = _choose_verdict_tables(tables)
    return Section(
        heading=GROUPS_HEADING,
        text="A difference between groups alone does not show that the model is unfair: the groups may differ in things that may "
        "count. It shows where to look.",
        drawing=draw_groups(tables, report.wording, compact=one_page),
        parts=[]
        if one_page
        else [replace(_tabulate_groups(report, report.tables), heading="All groups as a table", folding="closed")],
    )


def _tabulate_groups(report: FairnessReport, tables: Sequence[GroupTable]) -> Section:
    has_errors = any(row.wrong is not None for table in tables for row in table.rows)
    columns = ["", "people", report.wording.column, "range"]
    errors_note = ""
    if has_errors:
        columns += ["wrongly", "range of it"]
        errors_note = f"Wrongly: of those whose label is not {report.wording.decision}, the share that gets it."
    rows = []
    for table in tables:
        for row in table.rows:
            cells = [
                f"{table.title}: {row.label}",
                f"{row.people:,}",
                report.wording.format_value(row.level.value),
                report.wording.format_interval(row.level),
            ]
            if has_errors:
                cells += (
                    [NO_VALUE_TEXT, NO_VALUE_TEXT]
                    if row.wrong is None
                    else [report.wording.format_value(row.wrong.value), report.wording.format_interval(row.wrong)]
                )
            rows.append(cells)
    return Section(
        heading=GROUPS_HEADING,
        text="",
        table=Table(columns=columns, rows=rows, note=errors_note, main_columns=columns[:5]),
    )


def _choose_verdict_tables(tables: list[GroupTable]) -> list[GroupTable]:
    """Return as many tables of single attributes as fit one printed page, at least one."""
    chosen: list[GroupTable] = []
    rows = 0
    for table in tables:
        rows += len(table.rows) + 1
        if len(table.attributes) == 1 and (not chosen or rows <= MAX_VERDICT_ROWS):
            chosen.append(table)
    return chosen


def draw_groups(tables: list[GroupTable], wording: Wording, compact: bool = False) -> Drawing:
    """Return the level of every group as a diamond with its range; `compact` for one sheet."""
    width, row_height = (COMPACT_CHART_WIDTH, COMPACT_ROW_HEIGHT) if compact else (CHART_WIDTH, ROW_HEIGHT)
    levels = [row.level for table in tables for row in table.rows]
    low, high = 0.0, max(level.high for level in levels)
    if wording.measure == "number":
        low = min(level.low for level in levels)
    high = min(1.0, high * 1.05) if wording.measure != "number" else high
    label_characters = max(len(row.label) for table in tables for row in table.rows)
    left = 34 + LETTER_WIDTH * min(max(label_characters, 10), MAX_LABEL_CHARACTERS)
    right = width - TEXT_WIDTH

    def place(level: float) -> float:
        return left + (right - left) * (min(max(level, low), high) - low) / ((high - low) or 1.0)

    shapes: list[Shape | TextLabel] = []
    y = 6.0
    for table in tables:
        y += row_height
        shapes.append(TextLabel(0, y, cut(table.title, 60), "strong"))
        for row in table.rows:
            y += row_height
            middle = y - 4
            level = row.level
            figure = wording.format_value(level.value)
            if wording.measure == "decision":
                figure += f" of {row.people:,}"
            note = f"{row.label}: {wording.format_value(level.value)} ({wording.format_interval(level)}), {row.people:,} people"
            shapes += [
                TextLabel(14, y, cut(row.label, MAX_LABEL_CHARACTERS)),
                Shape(f"M{left:.1f} {middle:.1f}H{right:.1f}", "", note),
                Shape(
                    f"M{place(level.low):.1f} {middle - 5:.1f}v10m0 -5H{place(level.high):.1f}m0 -5v10", "axis", note
                ),
                Shape(f"M{place(level.value) - 5:.1f} {middle:.1f}l5 -5l5 5l-5 5z", "bar", note),
                TextLabel(right + 14, y, figure),
            ]
        y += 6
    y += row_height
    shapes += [
        TextLabel(left, y, wording.format_value(low), "small"),
        TextLabel(right, y, wording.format_value(high), "small end"),
        TextLabel((left + right) / 2, y, cut(wording.column, 50), "small mid"),
    ]
    alt = "; ".join(
        f"{table.title} {row.label}: {wording.format_value(row.level.value)}" for table in tables for row in table.rows
    )
    return Drawing(
        width=width,
        height=y + 10,
        shapes=shapes,
        alt=alt,
        caption="The diamond is the figure. It would lie between the two ends, 95 times of 100, for other people of the "
        "same kind.",
    )


# -- stand-ins ---------------------------------------------------------------------------------------------------------


def _build_proxies(report: FairnessReport) -> list[Section]:
    proxies = [proxy for proxy in report.proxies if len(proxy.attributes) == 1 or _is_found(report, proxy)]
    if not proxies:
        return []
    rows, marked = [], []
    for number, proxy in enumerate(proxies):
        if _is_found(report, proxy):
            marked.append((number, 4))
        rows.append(
            [
                ", ".join(proxy.columns),
                f"{proxy.attribute}: {proxy.group}",
                f"{100 * proxy.separation.value:.0f}",
                _describe_carried(proxy, report.wording),
                "yes" if _is_found(report, proxy) else "no",
            ]
        )
    return [
        Section(
            heading="Columns that tell the groups apart",
            text="A stand-in tells who belongs to a group, and the decision depends on it. A column that does only one of these is "
            "not a stand-in.",
            table=Table(
                columns=[
                    "column",
                    "group",
                    "told apart, of 100 pairs (guessing: 50)",
                    "with the values of others",
                    "stand-in",
                ],
                rows=rows,
                marked=marked,
            ),
        )
    ]


def _is_found(report: FairnessReport, proxy: Proxy) -> bool:
    return any(
        finding.kind == "stand-in" and finding.columns == proxy.columns and finding.attributes == proxy.attributes
        for finding in report.findings
    )


def _describe_carried(proxy: Proxy, wording: Wording) -> str:
    if proxy.effect is None:
        return "not tried: it hardly tells the groups apart"
    if not proxy.effect.excludes_zero:
        return "would fare the same"
    return wording.format_difference(-proxy.effect.value)


# -- how ---------------------------------------------------------------------------------------------------------------


def _build_method(report: FairnessReport) -> Section:
    facts = []
    if report.relations:
        facts.append(
            (
                "Relations between columns that changed people keep",
                "\n".join(f"• {relation}" for relation in report.relations[:10]),
            )
        )
    tied = [f"{effect.attribute}: {', '.join(effect.tied_columns)}" for effect in report.effects if effect.tied_columns]
    if tied:
        facts.append(("Columns that changed as well", "\n".join(f"• {text}" for text in tied)))
    left_out = sum(effect.left_out for effect in report.effects)
    if left_out:
        facts.append(("Left out", f"{pluralise(left_out, 'change')} without a similar person"))
    facts += [
        (
            "Limits",
            f"a dependence is a fault if it concerns more than {format_round_percent(report.threshold)} of people, even at "
            "the lower end of its range; a "
            f"combination or a stand-in is reported from {format_round_percent(report.min_effect)} on",
        ),
        *(("Note", note) for note in report.notes),
    ]
    return Section(
        heading="How it was examined",
        text=METHOD,
        facts=facts,
        folding="closed",
        again=report.command(),
        anchor="method",
    )
