"""Rank findings by their impact, and merge findings of several checks that have the same cause."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from .finding import Finding

#: Checks that find the same defect in different ways, by the kind of defect. Their findings about the same feature have
#: the same cause.
CHECKS_BY_DEFECT: dict[str, tuple[str, ...]] = {
    "relies on a feature": ("identifiers", "leaks", "dependence", "invariant", "protected", "suggestions"),
    "reacts to a feature": ("monotone", "response", "slices"),
    "cannot cope with values": ("interface", "answers"),
    "depends on the query": ("repeats", "row order", "batches", "row labels"),
}
#: Kinds of defects that have one cause, whatever the finding is about.
DEFECTS_WITH_ONE_CAUSE = ("depends on the query",)
DEFECT_BY_CHECK = {check: defect for defect, checks in CHECKS_BY_DEFECT.items() for check in checks}


def rank_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by rank, those with the same cause as one.

    The first finding of a cause stays, with the others as its evidence. Two findings of the same check are never merged:
    the check would not have reported them separately.

    Examples
    --------
    >>> texts = {"detail": "", "remedy": "", "level": "concern", "sure": 1.0}
    >>> [finding] = rank_findings([
    ...     Finding(check="dependence", about="id", title="One feature decides: id", **texts),
    ...     Finding(check="identifiers", about="id", title="id is an identifier", **texts | {"level": "fault"}),
    ... ])
    >>> finding.title, [piece.check for piece in finding.evidence]
    ('id is an identifier', ['dependence'])
    """
    groups: list[list[Finding]] = []
    groups_by_cause: dict[Hashable, list[list[Finding]]] = {}
    for finding in sorted(findings, key=lambda finding: finding.rank):
        cause = find_cause(finding)
        same_cause = groups_by_cause.setdefault(cause, []) if cause else []
        group = next((group for group in same_cause if all(other.check != finding.check for other in group)), None)
        if group is None:
            group = []
            groups.append(group)
            same_cause.append(group)
        group.append(finding)
    return [replace(first, evidence=(*first.evidence, *others)) if others else first for first, *others in groups]


def find_cause(finding: Finding) -> Hashable:
    """Return what findings of different checks have in common if they have the same cause; empty if nothing does."""
    if finding.cause:
        return finding.cause
    defect = DEFECT_BY_CHECK.get(finding.check, "")
    if defect in DEFECTS_WITH_ONE_CAUSE:
        return (defect, "")
    return (defect, finding.about) if defect and finding.about else ""
