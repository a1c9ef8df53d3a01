"""Named places of an OpenStreetMap extract (.osm.pbf): a look-up from names to coordinates.

Nodes and ways with a name are read by pyosmium. It is meant for extracts of towns. Relations, such as lakes with islands, are
not read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._text import suggest_name
from .._validation import import_optional
from ..errors import ModelError, SystemRaised

MAX_EXTRACT_BYTES = 300 << 20  # a larger map takes too long to read for its names
DEGREES_PER_NANODEGREE = 1e-9
NANODEGREES_PER_UNIT = 100  # of the coordinates of pyosmium, which are whole numbers
COORDINATE_DIGITS = 6  # decimals of a degree: a tenth of a metre
#: keys of OpenStreetMap that say what kind of place something is, the first one that is there
KIND_KEYS = (
    *("highway", "place", "amenity", "shop", "tourism", "leisure", "railway", "public_transport"),
    *("office", "historic", "building", "natural", "landuse"),
)
STREET = "highway"


@dataclass(frozen=True, kw_only=True)
class Place:
    """A place of the map; a street is the middle of its middle part."""

    name: str
    latitude: float
    longitude: float
    kind: str  # the key of OpenStreetMap: "amenity", "highway", ...

    @property
    def coordinates(self) -> tuple[float, float]:
        """Latitude and longitude in degrees."""
        return self.latitude, self.longitude


class PlaceIndex:
    """The named places of a map by name.

    A name that several places share, such as that of a chain of shops, does not say which one is meant. The parts of a street are
    one place.
    """

    def __init__(self, places: list[Place]) -> None:
        by_name: defaultdict[str, list[Place]] = defaultdict(list)
        for place in places:
            by_name[place.name].append(place)
        self.places: dict[str, Place] = {}
        self.shared_names: dict[str, int] = {}
        for name, namesakes in sorted(by_name.items()):
            streets = [place for place in namesakes if place.kind == STREET]
            if len(namesakes) == 1:
                self.places[name] = namesakes[0]
            elif len(streets) == len(namesakes):
                self.places[name] = _find_middle(streets)
            else:
                self.shared_names[name] = len(namesakes) - max(len(streets) - 1, 0)
        self._by_folded_name = {name.casefold(): name for name in reversed([*self.places, *self.shared_names])}

    def find(self, name: str) -> Place:
        """Return the place of a name, whatever the case of its letters.

        Raises
        ------
        SystemRaised
            If no place has the name, or several have it.
        """
        own_name = name if name in self.places else self._by_folded_name.get(name.strip().casefold(), name)
        if own_name in self.places:
            return self.places[own_name]
        if own_name in self.shared_names:
            count = self.shared_names[own_name]
            raise SystemRaised(
                f"the map has {count} places {own_name!r}. Give the coordinates of the one that is meant"
            )
        hint = suggest_name(name, self.places) if self.places else "It has no names at all."
        raise SystemRaised(f"the map has no place {name!r}. {hint}")


def _find_middle(parts: list[Place]) -> Place:
    """Return the part of a street that is nearest to the mean of all parts."""
    points = np.array([part.coordinates for part in parts])
    distances = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    return parts[int(distances.argmin())]


def read_places(file: Path) -> list[Place]:
    """Return the named nodes and ways of an extract in the order of the file."""
    if file.stat().st_size > MAX_EXTRACT_BYTES:
        raise ModelError(
            f"{file.name} is larger than {MAX_EXTRACT_BYTES >> 20} MB, too large to look for names. Use a smaller extract."
        )
    osmium = import_optional("osmium", "routes", "Looking up the names of places")
    try:
        return list(_iterate_places(osmium, file))
    except (RuntimeError, ValueError) as error:
        raise ModelError(
            f"{file.name} cannot be read as an extract of OpenStreetMap (.osm.pbf): {type(error).__name__}."
        ) from error


def _iterate_places(osmium: Any, file: Path) -> Iterator[Place]:
    """Yield the places: of an area the mean of its corners, of another way its middle node."""
    entities = osmium.FileProcessor(osmium.io.File(file, "pbf"), osmium.osm.NODE | osmium.osm.WAY).with_locations()
    for entity in entities.with_filter(osmium.filter.KeyFilter("name")):
        kind = next((key for key in KIND_KEYS if key in entity.tags), "other")
        nodes = [entity] if entity.is_node() else list(entity.nodes)
        # nodes beyond the border of the extract are not in it
        units = [(node.location.y, node.location.x) for node in nodes if node.location.valid()]
        if not units:
            continue
        corners = DEGREES_PER_NANODEGREE * (NANODEGREES_PER_UNIT * np.array(units))
        is_area = entity.is_way() and entity.is_closed() and kind != STREET and len(corners) > 1
        point = corners[:-1].mean(axis=0) if is_area else corners[len(corners) // 2]
        latitude, longitude = (round(float(degrees), COORDINATE_DIGITS) for degrees in point)
        yield Place(name=entity.tags["name"], latitude=latitude, longitude=longitude, kind=kind)
