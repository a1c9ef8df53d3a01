"""Relations of systems that compute routes on a map: `route_relations`.

``routes.MR2`` and ``routes.HMR4`` are those of Ying (2024, section 6.6); symmetry, sub-route and waypoint are our own. A case has the
columns ``start`` and ``goal``, and may have ``via`` and ``mode``. An answer is a dict with ``km``, ``minutes`` and, for the
sub-route, ``shape``. See `systems.router`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._validation import check_types, is_number, reject, validate_integer
from ...errors import ArgumentError
from ...systems.router import GOAL, START, VIA, ValhallaRouter, decode_shape, format_coordinates
from ..algebra.base import Mask
from ..patterns import inputs, outputs
from ..patterns.relation import Answers, InputPattern, OutputPattern, PatternRelation, explain

DOMAIN = "maps and routes"
CLICK_DIGITS = 4  # of coordinates read off a map: about ten metres
#: by how much similar routes may differ: in length, in time, and as a share of both
MAX_LENGTH_DIFFERENCE_KM, MAX_TIME_DIFFERENCE_MINUTES, MAX_DIFFERENCE_SHARE = 0.1, 1.0, 0.1
SYMMETRY_TOLERANCE_KM = 0.002  # lengths are rounded to a metre per leg
TIME_TOLERANCE_MINUTES = 0.1  # a stop resets the cost of turns

Coordinates = tuple[float, float]
PlacesLike = ValhallaRouter | Mapping[str, Coordinates]  # a router knows the places of its map


@dataclass(frozen=True, kw_only=True)
class NameToCoordinates(InputPattern):
    """Places are given by coordinates instead of names, as if they were clicked on a map."""

    pattern = "Input Equivalence"
    columns: tuple[str, ...] = explain("The columns with places.", (START, GOAL))
    places: Mapping[str, Coordinates] = explain("Latitude and longitude by name.")
    digits: int = explain("Decimals of the coordinates: 4 are about ten metres, as precise as a click.", CLICK_DIGITS)

    def __post_init__(self) -> None:
        if not isinstance(self.places, Mapping) or not self.places:
            reject("places", "NameToCoordinates", "a mapping of names to latitude and longitude", type(self.places))
        validate_integer("digits", "NameToCoordinates", self.digits, 1, 9)

    def describe(self) -> str:
        """Return the change in words."""
        return f"{' and '.join(self.columns)} are given by coordinates with {self.digits} decimals instead of names"

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which cases name at least one known place."""
        is_known = [[place in self.places for place in frame[column].tolist()] for column in self.columns]
        return np.any(is_known, axis=0)

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the cases with coordinates."""
        changes = {
            column: [
                format_coordinates(*self.places[place], self.digits) if place in self.places else place
                for place in frame[column].tolist()
            ]
            for column in self.columns
        }
        return [frame.assign(**changes)]


@dataclass(frozen=True, kw_only=True)
class ViaPlace(InputPattern):
    """A route without a stop gets one: another place, drawn at random per case."""

    pattern = "Conjunctive Conditions"
    clause = "the route must go via another place"
    column: str = explain("The column with the stop.", VIA)
    stops: tuple[str, ...] = explain("The places to draw from.")

    def __post_init__(self) -> None:
        object.__setattr__(self, "stops", tuple(self.stops))
        if not self.stops:
            reject("stops", "ViaPlace", "at least one place", self.stops)

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which routes have no stop."""
        return _find_missing_stops(frame[self.column])

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the routes with a stop."""
        stop_numbers = rng.integers(len(self.stops), size=len(frame))
        return [frame.assign(**{self.column: [self.stops[number] for number in stop_numbers]})]


@dataclass(frozen=True, kw_only=True)
class SplitRoute(InputPattern):
    """A point on the route divides it into two parts: from the start to it, and from it to the goal."""

    pattern = "Combination"
    clause = "a point on the route divides it into two parts"
    uses_answers = True
    columns: tuple[str, str] = explain("The columns with start and goal.", (START, GOAL))
    share: float = explain("Where to divide the route, as a share of the points of its line.", 0.5)

    def __post_init__(self) -> None:
        if not is_number(self.share) or not 0 < self.share < 1:
            reject("share", "SplitRoute", "a number between 0 and 1", self.share)

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which routes have no stop: their parts would not have to go there."""
        if VIA not in frame.columns:
            return np.ones(len(frame), dtype=bool)
        return _find_missing_stops(frame[VIA])

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the whole routes as both parts, for cases without an answer."""
        return [frame, frame]

    def make_from_answers(self, frame: pd.DataFrame, answers: Answers, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the two parts; a case without a route stays undivided."""
        start, goal = self.columns
        middles = [self._find_middle(answer) for answer in answers]
        goals = [
            place if middle is None else middle for middle, place in zip(middles, frame[goal].tolist(), strict=True)
        ]
        starts = [
            place if middle is None else middle for middle, place in zip(middles, frame[start].tolist(), strict=True)
        ]
        return [frame.assign(**{goal: goals}), frame.assign(**{start: starts})]

    def _find_middle(self, answer: Any) -> str | None:
        if not isinstance(answer, Mapping) or not isinstance(answer.get("shape"), str):
            return None
        points = decode_shape(answer["shape"])
        return format_coordinates(*points[int(self.share * len(points))]) if points else None


@dataclass(frozen=True, kw_only=True)
class SimilarRoute(OutputPattern):
    """Length and time of the routes differ little: by a share, or by an amount if that is more."""

    pattern = "Similar"
    clause = (
        "the lengths differ by at most {self.share:.0%} or {self.km:g} km, "
        "and the times by at most {self.share:.0%} or {self.minutes:g} min"
    )
    km: float = explain("The difference in length that is always small, in km.", MAX_LENGTH_DIFFERENCE_KM)
    minutes: float = explain("The difference in time that is always small, in minutes.", MAX_TIME_DIFFERENCE_MINUTES)
    share: float = explain(
        "The difference that is small in comparison, as a share of the larger value.", MAX_DIFFERENCE_SHARE
    )

    def __post_init__(self) -> None:
        for name in ("km", "minutes", "share"):
            value = getattr(self, name)
            if not is_number(value) or value < 0:
                reject(name, "SimilarRoute", "a number from 0", value)

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether all routes are similar."""
        return all(
            abs(before[part] - after[part]) <= max(limit, self.share * max(before[part], after[part]))
            for after in afters
            for part, limit in (("km", self.km), ("minutes", self.minutes))
        )


@dataclass(frozen=True, kw_only=True)
class SumOfParts(OutputPattern):
    """The parts together take as long as the whole."""

    pattern = "Combination"
    tolerance: float = explain("By how much the sum may differ.", TIME_TOLERANCE_MINUTES)

    def describe(self) -> str:
        """Return the expectation in words."""
        part = "" if self.part is None else f" ({self.part})"
        return f"the sum of the answers to both parts{part} is the answer to the whole, up to {self.tolerance:g}"

    def compare(self, frame: pd.DataFrame | None, before: Answers, afters: list[Answers]) -> Mask:
        """Return which sums are right."""
        total = np.sum([after.astype(float) for after in afters], axis=0)
        return np.abs(total - before.astype(float)) <= self.tolerance


@check_types
def route_relations(
    places: PlacesLike,
    *,
    digits: int = CLICK_DIGITS,
    km: float = MAX_LENGTH_DIFFERENCE_KM,
    minutes: float = MAX_TIME_DIFFERENCE_MINUTES,
    share: float = MAX_DIFFERENCE_SHARE,
) -> dict[str, PatternRelation]:
    """Return relations of systems that compute routes, by name.

    Parameters
    ----------
    places : ValhallaRouter or mapping
        The router, or latitude and longitude of places by name.
    digits : int
        Decimals of the coordinates in ``routes.HMR4``: 4 are about ten metres.
    km, minutes, share : float
        Routes are similar if their lengths differ by at most `share` or by `km`, and their times by at most `share` or by
        `minutes`.

    Returns
    -------
    dict
        ``routes.MR2`` (the same query again), ``routes.HMR4`` (places by name and by coordinates), ``routes.symmetry`` (there and
        back on foot), ``routes.sub-route`` (parts of a best route are best routes) and ``routes.waypoint`` (a stop makes no route
        faster).

    Examples
    --------
    >>> import datamorphic as dm
    >>> relations = dm.relations.route_relations({"Kiasma": (60.1716, 24.9367), "Ateneum": (60.1700, 24.9443)})
    >>> print(relations["routes.waypoint"].statement)
    the route must go via another place: the answer (minutes) does not fall
    """
    coordinates = _list_coordinates(places)
    repetition = inputs.Condition(times=1) >> outputs.FullyEqual()
    click = NameToCoordinates(places=coordinates, digits=digits) >> SimilarRoute(km=km, minutes=minutes, share=share)
    swap = inputs.Swap(columns=(START, GOAL)).where(mode="pedestrian")
    symmetry = swap >> outputs.Equal(part="km", tolerance=SYMMETRY_TOLERANCE_KM)
    split = SplitRoute() >> SumOfParts(part="minutes")
    detour = ViaPlace(stops=tuple(coordinates)) >> outputs.Ordered(
        direction="up", part="minutes", tolerance=TIME_TOLERANCE_MINUTES
    )
    relations = [
        repetition.named("routes.MR2", promise="MR", domain=DOMAIN),
        click.named("routes.HMR4", promise="HMR", domain=DOMAIN, needs=("start and goal are names of places",)),
        symmetry.named(
            "routes.symmetry",
            promise="HMR",
            domain=DOMAIN,
            needs=("the route is walked, and paths may be walked in both directions",),
        ),
        split.named("routes.sub-route", promise="HMR", domain=DOMAIN, needs=("the route is the fastest one",)),
        detour.named("routes.waypoint", promise="HMR", domain=DOMAIN, needs=("the route is the fastest one",)),
    ]
    return {relation.name: relation for relation in relations}


def _find_missing_stops(stops: pd.Series[Any]) -> Mask:
    """Return which stops of a column are missing or empty."""
    return np.array([not isinstance(stop, str) or not stop for stop in stops.tolist()], dtype=bool)


def _list_coordinates(places: PlacesLike) -> dict[str, Coordinates]:
    if isinstance(places, ValhallaRouter):
        return {name: place.coordinates for name, place in places.places.places.items()}
    if not isinstance(places, Mapping) or not places:
        raise ArgumentError(
            "The relations of routes need a router, or a mapping of names to (latitude, longitude). "
            f"Got {type(places).__name__}."
        )
    return dict(places)
