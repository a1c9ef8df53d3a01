"""Rank findings by their impact, and merge findings of several checks that have the same cause."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..core.result import LEVELS, Finding

#: Checks that find the same defect in different ways, by the kind of defect. Their findings about a common feature have
#: the same cause. The check that explains most comes first.
CHECKS_BY_DEFECT: dict[str, tuple[str, ...]] = {
    "relies on a feature": ("identifiers", "leaks", "dependence", "invariant", "protected", "suggestions"),
    "reacts to a feature": ("table", "repairs", "monotone", "response", "curves", "edges", "drift", "slices"),
    "cannot cope with values": ("interface", "answers"),
    "depends on the query": ("repeats", "row order", "batches", "row labels"),
}
#: Kinds of defects that have one cause, whatever the finding is about.
DEFECTS_WITH_ONE_CAUSE = ("depends on the query",)
DEFECT_BY_CHECK = {check: defect for defect, checks in CHECKS_BY_DEFECT.items() for check in checks}


def rank_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by rank, those with the same cause as one.

    The finding that explains most stays, with the others as its evidence, in the place of the first of them. Two findings of
    the same check are never merged: the check would not have reported them separately.

    Examples
    --------
    >>> texts = {"detail": "", "remedy": "", "level": "concern", "confidence": 1.0}
    >>> [finding] = rank_findings([
    ...     Finding(check="dependence", about="id", title="One feature decides: id", **texts),
    ...     Finding(check="identifiers", about="id", title="id is an identifier", **texts | {"level": "fault"}),
    ... ])
    >>> finding.title, [piece.check for piece in finding.evidence]
    ('id is an identifier', ['dependence'])
    """
    groups: list[list[Finding]] = []
    groups_by_defect: dict[str, list[list[Finding]]] = {}
    for finding in sorted(findings, key=lambda finding: finding.rank):
        same_defect = groups_by_defect.setdefault(find_defect(finding), [])
        group = next((group for group in same_defect if _has_same_cause(finding, group)), None)
        if group is None:
            group = []
            groups.append(group)
            same_defect.append(group)
        group.append(finding)
    return [_merge(group) for group in groups]


def _merge(group: list[Finding]) -> Finding:
    """Return the finding of the worst level that explains most, with the others as its evidence.

    That is the one of the first check or, where findings count the rows that they explain, the one that explains most rows.
    """
    first = min(group, key=lambda finding: (LEVELS.index(finding.level), _find_place(finding)))
    if first.explained_rows is not None:
        counted = [finding for finding in group if finding.level == first.level and finding.explained_rows is not None]
        first = max(counted, key=lambda finding: (finding.explained_rows, _find_place(finding)))
    others = [finding for finding in group if finding is not first]
    return replace(first, evidence=(*first.evidence, *others)) if others else first


def _find_place(finding: Finding) -> int:
    """Return the place of the check among those that find the defect; after them if it names a cause of its own."""
    checks = CHECKS_BY_DEFECT.get(find_defect(finding), ())
    return checks.index(finding.check) if finding.check in checks else len(checks)


def find_defect(finding: Finding) -> str:
    """Return the kind of defect: the named cause, or that of the check; empty if it is none that several checks find."""
    return finding.cause or DEFECT_BY_CHECK.get(finding.check, "")


def _has_same_cause(finding: Finding, group: list[Finding]) -> bool:
    """Tell whether a finding has the cause of a group with the same kind of defect.

    Unless the cause is named, it is about a feature that the first finding of the group is about, too.
    """
    defect = find_defect(finding)
    if not defect or any(other.check == finding.check for other in group):
        return False
    if finding.cause or defect in DEFECTS_WITH_ONE_CAUSE:
        return True
    return bool(_get_columns(finding) & _get_columns(group[0]))


def _get_columns(finding: Finding) -> set[str]:
    return set(finding.columns or filter(None, [finding.about]))
