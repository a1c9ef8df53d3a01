"""The check "table": look at the data themselves, and query the model only to settle a doubt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ...._lazy import pd
from ...._text import pluralise
from ....core.result import Finding, find_defects
from ...check import CheckBudget, CheckFindings, make_check
from ...context import CheckContext
from ...rivals import mark_explained_rows
from .confirmation import confirm_doubts
from .forms import find_forms
from .label_order import find_moved_labels
from .limits import find_impossible_values
from .missing_codes import find_missing_codes, find_text_codes
from .profile import LABEL_NAME, TableProfile
from .reference_scales import find_reference_scales
from .repetition import find_repeated_rows, find_shifted_rows
from .report import build_finding, format_names
from .scales import find_scales
from .spellings import find_spellings
from .structure import find_constants, find_copies, find_missing
from .times import find_time_defects

MAX_FINDINGS_PER_KIND = 5
MAX_ROWS = 100_000  # more are only there if no inputs of a model could be read
MAX_COLUMNS = 1_000  # of a wider table, the first ones are looked at
#: In this order: codes for missing values are known before numbers are compared.
STEPS: tuple[Callable[[TableProfile], Iterator[Finding]], ...] = (
    find_shifted_rows,
    find_missing_codes,
    find_forms,
    find_text_codes,
    find_spellings,
    find_impossible_values,
    find_scales,
    find_repeated_rows,
    find_constants,
    find_copies,
    find_missing,
    find_time_defects,
)


def check_table(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Look for defects of the table, each with its rows."""
    frame = context.frame
    assert frame is not None
    table = TableProfile.from_frame(
        frame.iloc[:MAX_ROWS, :MAX_COLUMNS],
        None if context.truth is None else context.truth[:MAX_ROWS],
        context.label_name or LABEL_NAME,
    )
    findings: list[Finding] = []
    with np.errstate(all="ignore"):
        for step in STEPS:
            if budget.spent:
                basis = f"there was no time for all of {pluralise(len(table.columns), 'column')}"
                return CheckFindings(basis=basis, findings=findings, conclusive=False, skip_reason="share too small")
            findings += step(table)
    if not context.data_only:
        findings = confirm_doubts(context, budget, table, findings)
    defects = find_defects(findings)
    scales = [finding for finding in find_reference_scales(context, table) if not _is_repeated(finding, defects)]
    findings = [finding for finding in findings if not _is_repeated(finding, scales)] + scales
    if context.data_only:
        findings += _find_identifying_columns(context, table)
    else:
        findings += find_moved_labels(context, table)
        if table.shifted is not None:
            mark_explained_rows(context, np.flatnonzero(table.shifted))
    findings = [_demote_unused_columns(context, finding) for finding in findings]
    basis = f"{pluralise(len(table), 'row')} of {pluralise(len(table.columns), 'column')}"
    return CheckFindings(basis=basis, findings=_limit_per_kind(findings))


def _demote_unused_columns(context: CheckContext, finding: Finding) -> Finding:
    """Return a finding as advice if it is about columns that the model does not get."""
    if context.data_only or finding.level == "advice" or not finding.columns:
        return finding
    if set(finding.columns).intersection(context.space.names):
        return finding
    return replace(finding, level="advice", detail=f"{finding.detail} The model does not get this column.")


def _is_repeated(finding: Finding, others: list[Finding]) -> bool:
    """Tell whether another finding of the same kind is about the same column."""
    return any((finding.remedy, finding.columns) == (other.remedy, other.columns) for other in others)


def _limit_per_kind(findings: list[Finding]) -> list[Finding]:
    """Return the findings, those of the same kind that are too many left out."""
    counts: dict[str, int] = {}
    limited = []
    for finding in findings:
        counts[finding.remedy] = counts.get(finding.remedy, 0) + 1
        if counts[finding.remedy] <= MAX_FINDINGS_PER_KIND:
            limited.append(finding)
    return limited


def _find_identifying_columns(context: CheckContext, table: TableProfile) -> Iterator[Finding]:
    """Yield the columns that identify rows; with a model, the check "identifiers" says whether it uses them."""
    roles = context.identifiers
    columns = [column for column in table.inputs if column.name in roles]
    if columns:
        texts = [f"{column.name} ({roles[column.name].role})" for column in columns]
        noun = "column identifies" if len(columns) == 1 else "columns identify"
        yield build_finding(
            "identifiers",
            table,
            columns,
            title=f"{len(columns):,} {noun} rows: {format_names([column.name for column in columns])}",
            detail=f"{format_names(texts)}. It says nothing about new cases."
            if len(columns) == 1
            else f"{format_names(texts)}. They say nothing about new cases.",
        )


def _find_skip_reason(context: CheckContext) -> str:
    if not context.has_data or context.frame is None:
        return "no data are given"
    return "" if isinstance(context.frame, pd.DataFrame) and len(context.frame) else "the data have no rows"


TABLE = make_check("table", check_table, _find_skip_reason)
