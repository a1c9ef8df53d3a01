"""The scenarios A1 to C5 of Ying (2024): where the region and the domains lie.

The letter says how the domains lie, the number where the region lies. The region is always inside the source domain.

======  =======================================================================================================
A       the source domain is inside the follow-up domain, and smaller
B       they are the same, or each end differs by at most a twentieth of the larger side
C       the follow-up domain is inside the source domain, and smaller
1       close to the centre: the centre of the block is in the middle tenth of each side
2       close to the edge: the gap to a random side of the domain is at most a twentieth of the free room
3       distributed: a point region
A4      close to the centre of the follow-up domain, or as near to it as the source domain allows
A5      close to the edge of the follow-up domain: at the side of the source domain that is nearest to it
C4      fully or mostly outside the follow-up domain (less than half of the block inside)
C5      fully or mostly inside the follow-up domain (at least half of the block)
======  =======================================================================================================

In A4 the centre of the block must be in the middle half of each side of the follow-up domain, in A5 outside of it.
Otherwise the domains do not allow the scenario, which is an error.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._text import suggest_name
from .._validation import to_generator
from ..errors import ArgumentError
from .regions import BoxRegion, Numbers, Region, draw_region, validate_domain, validate_rate

SCENARIOS = ("A1", "A2", "A3", "A4", "A5", "B1", "B2", "B3", "C1", "C2", "C3", "C4", "C5")
MAX_SIMILAR_END_GAP = 0.05  # as a share of the larger side
CENTRAL_SHARE = 0.1
MAX_EDGE_GAP_SHARE = 0.05
CASE_REQUIREMENTS = {
    "A": "a source domain inside the follow-up domain, and smaller",
    "B": "two domains that are the same, or nearly",
    "C": "a follow-up domain inside the source domain, and smaller",
}
Domain = tuple[npt.ArrayLike, npt.ArrayLike]
DomainEnds = tuple[Numbers, Numbers]


def draw_scenario(
    name: str,
    rate: float,
    source: Domain,
    follow_up: Domain,
    rng: np.random.Generator | int | None = None,
    *,
    boxes: int = 50,
) -> Region:
    """Return a random violation region for a scenario; see the table at the top of this module.

    `rate` is the volume of the region as a share of the source domain, `boxes` the number of boxes in scenarios 3.
    """
    if name not in SCENARIOS:
        raise ArgumentError(f"There is no scenario {name!r}. {suggest_name(name, SCENARIOS)}")
    rate = validate_rate(rate, "draw_scenario")
    s, f = validate_domain(*source, "the source"), validate_domain(*follow_up, "the follow-up")
    if len(s[0]) != len(f[0]):
        raise ArgumentError(
            f"The source domain has {len(s[0])} dimensions and the follow-up domain {len(f[0])}. "
            "Scenarios compare domains of the same number of dimensions."
        )
    case = _find_domain_case(s, f)
    if case != name[0]:
        fits = f"case {case}: try {case}{name[1]}" if f"{case}{name[1]}" in SCENARIOS else f"case {case}"
        raise ArgumentError(
            f"Scenario {name} needs {CASE_REQUIREMENTS[name[0]]}. "
            f"Got source {_format_domain(s)} and follow-up {_format_domain(f)}, which is "
            + (f"{fits}." if case else "no scenario: neither is inside the other.")
        )
    draws = to_generator("rng", "draw_scenario", rng)
    if name[1] == "3":
        return draw_region("point", rate, *s, draws, boxes=boxes)
    size = rate ** (1 / len(s[0])) * (s[1] - s[0])
    room = s[1] - s[0] - size
    match name[1], case:
        case "1", _:
            start = _draw_near_centre(s, size, s, draws)
        case "2", _:
            start = s[0] + draws.random(len(size)) * room
            axis, end = int(draws.integers(len(size))), bool(draws.integers(2))
            start[axis] = _draw_at_edge(s[0][axis], room[axis], end, draws)
        case "4", "A":
            start = _draw_near_centre(f, size, s, draws)
            if _measure_off_centre(start + size / 2, f) > 0.25:
                _raise_impossible(
                    name, s, f, "no block of this size in the source domain is near the centre of the follow-up domain"
                )
        case "5", "A":
            start = s[0] + draws.random(len(size)) * room
            axis, end = _find_nearest_side(s, f, draws)
            start[axis] = _draw_at_edge(s[0][axis], room[axis], end, draws)
            if _measure_off_centre(start + size / 2, f) <= 0.25:
                _raise_impossible(name, s, f, "the source domain is not near an edge of the follow-up domain")
        case "4", _:
            start = _draw_outside(s, f, size, draws)
            if _measure_overlap(start, size, f) >= 0.5:
                _raise_impossible(name, s, f, "there is too little room outside the follow-up domain for the block")
        case _:
            spare = f[1] - f[0] - size
            start = np.clip(f[0] + draws.random(len(size)) * spare, s[0], s[0] + room)
            if _measure_overlap(start, size, f) < 0.5:
                _raise_impossible(name, s, f, "the block is too big to be mostly inside the follow-up domain")
    return BoxRegion("block", start[None], np.minimum(start + size, s[1])[None])


def _find_domain_case(s: DomainEnds, f: DomainEnds) -> str | None:
    """Return the letter "A", "B" or "C" for how the source and the follow-up domain lie, or None."""
    slack = MAX_SIMILAR_END_GAP * np.maximum(s[1] - s[0], f[1] - f[0])
    if all((np.abs(ours - theirs) <= slack).all() for ours, theirs in zip(s, f, strict=True)):
        return "B"
    # ends that ought to be the same may differ by rounding
    slack *= 1e-9
    for case, inner, outer in (("A", s, f), ("C", f, s)):
        if (inner[0] >= outer[0] - slack).all() and (inner[1] <= outer[1] + slack).all():
            return case
    return None


def _draw_near_centre(domain: DomainEnds, size: Numbers, source: DomainEnds, rng: np.random.Generator) -> Numbers:
    """Return the lower corner of a block near the centre of a domain."""
    width = domain[1] - domain[0]
    start = domain[0] + width * (0.5 + CENTRAL_SHARE * (rng.random(len(size)) - 0.5)) - size / 2
    return np.clip(start, source[0], source[1] - size)


def _draw_at_edge(low: float, room: float, end: bool, rng: np.random.Generator) -> float:
    gap = MAX_EDGE_GAP_SHARE * rng.random() * room
    return low + (room - gap if end else gap)


def _find_nearest_side(s: DomainEnds, f: DomainEnds, rng: np.random.Generator) -> tuple[int, bool]:
    """Return the axis and end where the source domain is nearest to the other's side."""
    width = f[1] - f[0]
    gaps = np.concatenate([(s[0] - f[0]) / width, (f[1] - s[1]) / width])
    place = int(rng.choice(np.flatnonzero(gaps <= gaps.min() + 1e-9)))
    return place % len(width), place >= len(width)


def _measure_off_centre(centre: Numbers, domain: DomainEnds) -> float:
    """Return the distance to the centre of a domain in widths: 0.5 at its sides."""
    return float((np.abs(centre - (domain[0] + domain[1]) / 2) / (domain[1] - domain[0])).max())


def _measure_overlap(start: Numbers, size: Numbers, domain: DomainEnds) -> npt.NDArray[np.float64]:
    """Return the share of a block that lies in a domain."""
    common = np.minimum(start + size, domain[1]) - np.maximum(start, domain[0])
    return np.asarray((np.maximum(common, 0) / size).prod(axis=-1))


def _draw_outside(s: DomainEnds, f: DomainEnds, size: Numbers, rng: np.random.Generator) -> Numbers:
    """Return the random start with the least overlap with the follow-up domain."""
    room, d = s[1] - s[0] - size, len(size)
    starts = s[0] + rng.random((256 + 2 * d, d)) * room
    axes = np.arange(d)
    starts[256 : 256 + d][axes, axes] = s[0]
    starts[256 + d :][axes, axes] = s[0] + room
    return starts[int(_measure_overlap(starts, size, f).argmin())]


def _raise_impossible(name: str, s: DomainEnds, f: DomainEnds, reason: str) -> None:
    raise ArgumentError(
        f"Scenario {name} cannot be drawn with source {_format_domain(s)} and follow-up {_format_domain(f)}: {reason}. "
        "Change the domains or the rate."
    )


def _format_domain(domain: DomainEnds) -> str:
    return " to ".join(str([float(f"{number:.6g}") for number in end]) for end in domain)
