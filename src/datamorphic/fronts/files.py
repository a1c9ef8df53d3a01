"""Fronts in Parquet files: a row a pair, the rest as text in the file's own notes."""

from __future__ import annotations

import json
import math
import zlib
from base64 import b64decode, b64encode
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._checks import is_number, plural, short
from ..errors import DataError, UsageError
from ..outputs import Outputs, Status
from ..space.columns import fault_in
from ..space.describe import space_from_dict, space_to_dict, value_from_json, value_to_json
from ..space.points import Points
from ..strategies.flow import ask
from .front import Front
from .reading import ask_aside, border_of, spare, states_of, thinned

if TYPE_CHECKING:
    import pyarrow as pa

NOTE = b"datamorphic.front"
VERSION = 1
MOST_ANSWERS = 2_000  # of seeds that are kept
DENSEST = 250  # bytes that one byte of an honest file may stand for
ALWAYS = 1 << 26  # bytes that a file may unpack to, however dense

TEXTS = ("subject", "strategy")
COUNTS = ("seeds_used", "calls", "lost", "slopes", "unfinished")
PLAIN = (*TEXTS, *COUNTS, "exhausted")
LISTS = {"choices": dict, "notes": str}
SETTINGS = {"walks": int, "walk_distance": int, "moves": list, "border": str, "border_kind": str}


def save(front: Front, path: str | PathLike[str], *, aside: bool = True) -> None:
    """Write a front, `aside` with what its system answers to some of its seeds.

    The same front gives the same file, byte for byte: how long it took is no part of it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, Any] = {}
    for side, points in (("a", front.a), ("b", front.b)):
        for j in range(len(front.space)):
            columns[f"{side}.{j}"] = points.codes[:, j]
    kept = {}
    for side, values in (("a", front.a_output), ("b", front.b_output)):
        outputs = Outputs.of(values)
        columns[f"{side}_output"] = outputs.columns()["output"]
        kept[side] = outputs.kind_of_values
    columns |= {
        "border": list(front.kinds),
        "distance": front.distance,
        "walk": front.walk,
        "runs": front.pair_runs,
        "part": front.part,
    }
    columns["strategy"] = [str(name) for name in front.walked_by]
    about = {
        "version": VERSION,
        "space": space_to_dict(front.space),
        "outputs": kept,
        "walk_runs": _pack(front.walk_runs.astype(np.int64)),
        "seeds": _pack(front.seeds.codes),
        "seed_answers": _answers_to_dict(_seed_answers(front) if aside else front.seed_answers),
        **{name: getattr(front, name) for name in PLAIN},
        "choices": [dict(choice) for choice in front.choices],
        "notes": list(front.notes),
        "settings": dict(front.settings),
    }
    table = pa.table(columns).replace_schema_metadata({NOTE: json.dumps(about).encode()})
    pq.write_table(table, path)


def _seed_answers(front: Front) -> Outputs | None:
    """Return what the system says to some of the seeds, or said when it was last at hand."""
    rows = thinned(len(front.seeds), spare(front, MOST_ANSWERS))
    if not rows.size:
        return front.seed_answers
    return ask_aside(front, ask(front.seeds.take(rows), note="saving"))


def _answers_to_dict(outputs: Outputs | None) -> dict[str, Any] | None:
    if outputs is None:
        return None
    both = zip(outputs.values, outputs.ok, strict=True)
    said = [value_to_json(value, "label") if ok else None for value, ok in both]
    return {"values": said, "status": outputs.status.tolist()}


def load(path: str | PathLike[str]) -> Front:
    """Read a front, and make sure that it is one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise DataError(f"There is no file {path!s}.") from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path!s} is not a Parquet file that can be read: {error}.") from error
    note = (table.schema.metadata or {}).get(NOTE)
    if note is None:
        raise DataError(f"{path!s} is a Parquet file, but no front that Front.save wrote.")
    try:
        about = json.loads(note)
        version = about["version"]
        _expect(type(version) is int and version > 0, "version", "a whole number above 0", version)
        if version > VERSION:
            raise _Newer(f"was written by a newer version (format {version}). Upgrade datamorphic.")
        return _validated(_front(table, about), about)
    except _Newer as error:
        raise DataError(f"{path!s} {error}") from None
    except UsageError as error:
        raise DataError(f"{path!s} is damaged: {error}") from error
    except (
        ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError, zlib.error,
        pa.ArrowException,
    ) as error:  # fmt: skip
        raise DataError(f"{path!s} is damaged: {type(error).__name__}: {error}.") from error


class _Newer(Exception):
    """The file is of a later format."""


def _front(table: pa.Table, about: dict[str, Any]) -> Front:
    import pyarrow as pa

    holed = [name for name in table.column_names if table[name].null_count]
    if holed:
        raise DataError(f"the column {holed[0]!r} has holes.")
    space = space_from_dict(about["space"])
    width, rows = len(space), table.num_rows

    def points(side: str) -> Points:
        codes = np.empty((rows, width), order="F")
        for j in range(width):
            codes[:, j] = table[f"{side}.{j}"].to_numpy()
        return Points(space, codes)

    def output(side: str) -> npt.NDArray[Any]:
        columns = {
            "output": table[f"{side}_output"],
            "status": pa.array(np.zeros(rows, dtype=np.int8)),
            "message": pa.nulls(rows, pa.string()),
        }
        return Outputs.from_table(pa.table(columns), about["outputs"][side]).values

    def whole(name: str) -> npt.NDArray[np.intp]:
        return np.array(table[name].to_numpy()).astype(np.intp, casting="safe")

    return Front(
        a=points("a"),
        b=points("b"),
        a_output=output("a"),
        b_output=output("b"),
        kinds=table["border"].to_pylist(),
        distance=np.array(table["distance"].to_numpy()).astype(np.float64, casting="safe"),
        walk=whole("walk"),
        part=whole("part"),
        pair_runs=whole("runs"),
        walked_by=np.array(table["strategy"].to_pylist(), dtype=object),
        walk_runs=_unpack(about["walk_runs"], np.int64).astype(np.intp),
        seeds=Points(space, _unpack(about["seeds"], np.float64).reshape(-1, width)),
        seed_answers=_answers_from_dict(about.get("seed_answers")),
        seconds=about.get("seconds", math.nan),  # files of the first release have it
        **{name: about[name] for name in (*PLAIN, *LISTS, "settings")},
    )


def _answers_from_dict(about: dict[str, Any] | None) -> Outputs | None:
    if about is None:
        return None
    values = np.empty(len(about["values"]), dtype=object)
    values[:] = [value_from_json(value) for value in about["values"]]
    status = np.array(about["status"], dtype=np.int8)
    if status.shape != values.shape or not np.isin(status, list(Status)).all():
        raise DataError("what became of the answers to the seeds is not told for each of them.")
    return Outputs(values, status)


# -- making sure -----------------------------------------------------------------------------------------------


def _validated(front: Front, about: dict[str, Any]) -> Front:
    """Return a front that was read, or say what cannot be true of it."""
    for name in TEXTS:
        _expect(isinstance(about[name], str), name, "text", about[name])
    for name in COUNTS:
        _expect(type(about[name]) is int and about[name] >= 0, name, "a whole number, not below 0", about[name])
    seconds = about.get("seconds", 0.0)
    _expect(is_number(seconds) and 0 <= seconds < math.inf, "seconds", "a number, not below 0", seconds)
    _expect(isinstance(about["exhausted"], bool), "exhausted", "true or false", about["exhausted"])
    for name, kind in LISTS.items():
        fine = isinstance(about[name], list) and all(isinstance(each, kind) for each in about[name])
        _expect(fine, name, f"a list, each a {kind.__name__}", about[name])
    _expect(isinstance(about["settings"], dict), "settings", "a table of names and values", about["settings"])
    for name, value in about["settings"].items():
        wanted = SETTINGS.get(name)
        fine = wanted is None or (isinstance(value, wanted) and not isinstance(value, bool))
        _expect(fine, f"settings.{name}", f"of type {getattr(wanted, '__name__', '')}", value)
    _expect(front.seeds_used <= len(front.seeds), "seeds_used", "no more than all seeds", front.seeds_used)
    _expect(front.unfinished <= len(front.walk_runs), "unfinished", "no more than all walks", front.unfinished)
    for name, values, high in (
        ("walk_runs", front.walk_runs, math.inf),
        ("runs", front.pair_runs, math.inf),
        ("walk", front.walk, len(front.walk_runs)),
        ("distance", front.distance, math.inf),
    ):
        bad = np.flatnonzero(~((values >= 0) & (values < high)))
        if bad.size:
            _refuse(name, f"from 0 to below {high}", values[bad[0]], bad)
    for name, points in (("a", front.a), ("b", front.b), ("seeds", front.seeds)):
        _validate_codes(name, points)
    _validate_answers(front)
    return front


def _validate_codes(name: str, points: Points) -> None:
    for j, feature in enumerate(points.space.features):
        fault = fault_in(feature, points.codes[:, j], open_ends=points.space.moves == "open")
        if fault is not None:
            bad = np.flatnonzero(fault[0])
            raise DataError(
                f"{name}, row {bad[0]}: the code {points.codes[bad[0], j]:g} of {feature.name!r} {fault[1]}."
            )


def _validate_answers(front: Front) -> None:
    """Make sure that there are answers, and a border between those to each pair."""
    for name, values in (("a_output", front.a_output), ("b_output", front.b_output)):
        bad = np.flatnonzero([value is None or value != value for value in values])
        if bad.size:
            _refuse(name, "an answer", values[bad[0]], bad)
    for name, texts in (("border", front.kinds), ("strategy", front.walked_by)):
        bad = np.flatnonzero([not isinstance(text, str) for text in texts])
        if bad.size:
            _refuse(name, "text", texts[bad[0]], bad)
    border = border_of(front)
    a, b, part = states_of(front, border)
    bad = np.flatnonzero((part < 0) | ((part > 0) & (not border.several)))
    if bad.size:
        _refuse("part", "the number of a label", part[bad[0]], bad)
    same = np.flatnonzero(~(border.gap(a, b, part) > border.least))
    if same.size:
        _refuse("b_output", f"apart from a_output ({border.describe()})", front.b_output[same[0]], same)
    if front.seed_answers is not None:
        count = len(front.seed_answers)
        _expect(count <= len(front.seeds), "seed_answers", f"at most {len(front.seeds)}, the seeds", count)
        border.read(front.seed_answers)


def _expect(fine: bool, name: str, expected: str, given: Any) -> None:
    if not fine:
        raise DataError(f"{name!r} must be {expected}. It is {short(repr(given))}.")


def _refuse(name: str, expected: str, given: Any, rows: npt.NDArray[np.intp]) -> None:
    more = f" ({rows.size - 1:,} more like it)" if rows.size > 1 else ""
    raise DataError(f"{name!r} must be {expected}. In row {rows[0]} it is {short(given)}{more}.")


def _pack(values: npt.NDArray[Any]) -> str:
    return b64encode(zlib.compress(np.ascontiguousarray(values).tobytes(), 1)).decode()


def _unpack(text: str, dtype: type) -> npt.NDArray[Any]:
    packed = b64decode(text, validate=True)
    most = max(ALWAYS, DENSEST * len(packed))
    unpacking = zlib.decompressobj()
    values = unpacking.decompress(packed, most)
    if not unpacking.eof:
        raise DataError(f"{plural(len(packed), 'byte')} of it unpack to more than {most:,}, or are cut short.")
    return np.frombuffer(values, dtype=dtype).copy()
