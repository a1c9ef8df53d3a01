"""Named places of an OpenStreetMap extract (.osm.pbf): a look-up from names to coordinates.

The file is read without a library of geodata: it is a sequence of compressed blocks in the format of Protocol Buffers, of
which only nodes, ways and their names are needed. It is meant for extracts of towns. Relations, such as lakes with islands,
are not read.
"""

from __future__ import annotations

import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import suggest_name
from ..errors import ModelError, SystemRaised

MAX_BLOB_BYTES = 32 << 20  # the limit of the format
MAX_BLOB_HEADER_BYTES = 64 << 10  # the limit of the format
MAX_EXTRACT_BYTES = 300 << 20  # a larger map takes too long to read for its names
DEGREES_PER_NANODEGREE = 1e-9
COORDINATE_DIGITS = 6  # decimals of a degree: a tenth of a metre
#: keys of OpenStreetMap that say what kind of place something is, the first one that is there
KIND_KEYS = tuple(
    b"highway place amenity shop tourism leisure railway public_transport office historic building natural landuse".split()
)
STREET = "highway"

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


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
    extract = _Extract()
    try:
        for kind, content in _read_blobs(file):
            if kind == b"OSMData":
                extract.add_block(content)
        return extract.list_places()
    except (IndexError, ValueError, KeyError, struct.error, zlib.error) as error:
        raise ModelError(
            f"{file.name} cannot be read as an extract of OpenStreetMap (.osm.pbf): {type(error).__name__}."
        ) from error


# -- Protocol Buffers --------------------------------------------------------------------------------------------------


def _read_varint(data: bytes, start: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[start]
        start += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, start
        shift += 7


def _iterate_fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the number and value of each field: an int, or bytes for texts, messages and packed numbers."""
    position = 0
    while position < len(data):
        key, position = _read_varint(data, position)
        wire_type = key & 7
        value: Any
        if wire_type == 0:
            value, position = _read_varint(data, position)
        elif wire_type == 2:
            length, position = _read_varint(data, position)
            if position + length > len(data):
                raise ValueError("a field is cut off")
            value, position = data[position : position + length], position + length
        elif wire_type in (1, 5):
            size = 8 if wire_type == 1 else 4
            value, position = data[position : position + size], position + size
        else:
            raise ValueError("a field has an unknown type")
        yield key >> 3, value


def _unpack(data: bytes) -> Integers:
    """Return packed variable-length integers, all at once."""
    raw = np.frombuffer(data, dtype=np.uint8)
    if not raw.size:
        return np.empty(0, dtype=np.int64)
    ends = np.flatnonzero(raw < 0x80)
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts + 1
    shifts = (np.arange(len(raw)) - np.repeat(starts, lengths)).astype(np.uint64) * np.uint64(7)
    parts = (raw & 0x7F).astype(np.uint64) << shifts
    return np.add.reduceat(parts, starts).astype(np.int64)


def _undo_zigzag(values: Integers) -> Integers:
    unsigned = values.astype(np.uint64)
    return (unsigned >> np.uint64(1)).astype(np.int64) ^ -(unsigned & np.uint64(1)).astype(np.int64)


def _unpack_deltas(data: bytes) -> Integers:
    return np.cumsum(_undo_zigzag(_unpack(data)))


def _read_blobs(file: Path) -> Iterator[tuple[bytes, bytes]]:
    """Yield the type and the decompressed content of each block of a file."""
    with file.open("rb") as stream:
        while prefix := stream.read(4):
            (length,) = struct.unpack(">I", prefix)
            if length > MAX_BLOB_HEADER_BYTES:
                raise ValueError("the header of a block is too long")
            header = dict(_iterate_fields(stream.read(length)))
            size = header[3]
            if size > MAX_BLOB_BYTES:
                raise ValueError("a block is too large")
            blob = dict(_iterate_fields(stream.read(size)))
            if 1 in blob:
                yield header[1], blob[1]
            elif 3 in blob:
                decompressor = zlib.decompressobj()
                yield header[1], decompressor.decompress(blob[3], MAX_BLOB_BYTES)
            else:
                raise ValueError("a block has an unknown compression")


# -- nodes and ways ----------------------------------------------------------------------------------------------------


@dataclass
class _Extract:
    """The coordinates of all nodes, and the named nodes and ways."""

    ids: list[Integers] = field(default_factory=list)
    latitudes: list[Floats] = field(default_factory=list)
    longitudes: list[Floats] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    ways: list[tuple[str, str, Integers]] = field(default_factory=list)  # name, kind, nodes

    def add_block(self, data: bytes) -> None:
        texts: list[bytes] = []
        groups: list[bytes] = []
        scale = {17: 100, 19: 0, 20: 0}  # granularity, and the offsets of latitude and longitude
        for number, value in _iterate_fields(data):
            if number == 1:
                texts = [text for key, text in _iterate_fields(value) if key == 1]
            elif number == 2:
                groups.append(value)
            elif number in scale:
                scale[number] = _to_signed(value)
        for group in groups:
            for number, value in _iterate_fields(group):
                if number == 1:
                    self._add_node(value, texts, scale)
                elif number == 2:
                    self._add_dense_nodes(value, texts, scale)
                elif number == 3:
                    self._add_way(value, texts)

    def _add_node(self, data: bytes, texts: list[bytes], scale: dict[int, int]) -> None:
        fields = dict(_iterate_fields(data))
        numbers = _undo_zigzag(np.array([fields[1], fields[8], fields[9]], dtype=np.uint64).astype(np.int64))
        latitude = DEGREES_PER_NANODEGREE * (scale[19] + scale[17] * int(numbers[1]))
        longitude = DEGREES_PER_NANODEGREE * (scale[20] + scale[17] * int(numbers[2]))
        self.ids.append(numbers[:1])
        self.latitudes.append(np.array([latitude]))
        self.longitudes.append(np.array([longitude]))
        tags = dict(zip(_unpack(fields.get(2, b"")).tolist(), _unpack(fields.get(3, b"")).tolist(), strict=True))
        self._add_place({texts[key]: texts[value] for key, value in tags.items()}, latitude, longitude)

    def _add_dense_nodes(self, data: bytes, texts: list[bytes], scale: dict[int, int]) -> None:
        fields = dict(_iterate_fields(data))
        latitudes = DEGREES_PER_NANODEGREE * (scale[19] + scale[17] * _unpack_deltas(fields[8]))
        longitudes = DEGREES_PER_NANODEGREE * (scale[20] + scale[17] * _unpack_deltas(fields[9]))
        self.ids.append(_unpack_deltas(fields[1]))
        self.latitudes.append(latitudes.astype(np.float64))
        self.longitudes.append(longitudes.astype(np.float64))
        tags = _unpack(fields.get(10, b"")).tolist()  # key, value, key, value, 0 for the end of a node
        node = position = 0
        while position < len(tags):
            node_tags: dict[bytes, bytes] = {}
            while tags[position] != 0:
                node_tags[texts[tags[position]]] = texts[tags[position + 1]]
                position += 2
            position += 1
            self._add_place(node_tags, float(latitudes[node]), float(longitudes[node]))
            node += 1

    def _add_place(self, tags: dict[bytes, bytes], latitude: float, longitude: float) -> None:
        if b"name" in tags:
            self.places.append(
                Place(
                    name=_decode(tags[b"name"]),
                    latitude=round(latitude, COORDINATE_DIGITS),
                    longitude=round(longitude, COORDINATE_DIGITS),
                    kind=_find_kind(tags),
                )
            )

    def _add_way(self, data: bytes, texts: list[bytes]) -> None:
        fields = dict(_iterate_fields(data))
        keys, values = _unpack(fields.get(2, b"")).tolist(), _unpack(fields.get(3, b"")).tolist()
        tags = {texts[key]: texts[value] for key, value in zip(keys, values, strict=True)}
        if b"name" in tags and 8 in fields:
            self.ways.append((_decode(tags[b"name"]), _find_kind(tags), _unpack_deltas(fields[8])))

    def list_places(self) -> list[Place]:
        """Return all places: of an area the mean of its corners, of another way its middle node."""
        if not self.ids:
            return []
        ids = np.concatenate(self.ids)
        order = np.argsort(ids)
        ids = ids[order]
        points = np.column_stack([np.concatenate(self.latitudes), np.concatenate(self.longitudes)])[order]
        places = list(self.places)
        for name, kind, nodes in self.ways:
            rows = np.minimum(np.searchsorted(ids, nodes), len(ids) - 1)
            corners = points[rows[ids[rows] == nodes]]  # nodes beyond the border of the extract are not in it
            if not len(corners):
                continue
            closed = nodes[0] == nodes[-1] and kind != STREET
            latitude, longitude = (
                corners[:-1].mean(axis=0) if closed and len(corners) > 1 else corners[len(corners) // 2]
            )
            places.append(
                Place(
                    name=name,
                    latitude=round(float(latitude), COORDINATE_DIGITS),
                    longitude=round(float(longitude), COORDINATE_DIGITS),
                    kind=kind,
                )
            )
        return places


def _to_signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _find_kind(tags: dict[bytes, bytes]) -> str:
    return next((key.decode() for key in KIND_KEYS if key in tags), "other")
