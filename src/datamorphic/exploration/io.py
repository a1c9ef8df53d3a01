"""Write fronts to Parquet files and read them: one row per pair, everything else as JSON in the file's metadata."""

from __future__ import annotations

import json
import math
import zlib
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from .._files import to_local_path, write_file
from .._text import format_short, pluralise
from .._typing import FilePath
from .._validation import is_number
from ..errors import DataError, UsageError
from ..runs.flow import ask
from ..space.encoding import find_fault
from ..space.labels import to_label_keys
from ..space.outputs import Outputs, Status
from ..space.points import Points
from ..space.serialisation import space_from_dict, space_to_dict, value_from_json, value_to_json
from ..systems.score_leads import compute_leads, prefer_probabilities
from .changes import Rows, thin_rows
from .front_data import FrontData, get_extra_call_limit, query_quietly

if TYPE_CHECKING:
    import pyarrow as pa

AnyFront = TypeVar("AnyFront", bound=FrontData)

METADATA_KEY = b"datamorphic.front"
FORMAT_VERSION = 1
MAX_SEED_ANSWERS = 2_000  # answers to seed cases in a file
LEAD_DECIMALS = 4
MAX_COMPRESSION_RATIO = 250  # bytes per packed byte; a file that unpacks to more is not one of ours
MIN_UNPACK_LIMIT_BYTES = 1 << 26  # a file may always unpack to this many bytes

TEXT_FIELDS = ("subject", "strategy")
COUNT_FIELDS = ("seeds_used", "calls", "lost", "slopes", "unfinished")
PLAIN_FIELDS = (*TEXT_FIELDS, *COUNT_FIELDS, "exhausted")
LIST_FIELDS = {"choices": dict, "notes": str}
#: what damaged metadata may raise
UNREADABLE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
SETTING_TYPES = {"walks": int, "walk_distance": int, "moves": list, "border": str, "border_kind": str}


# -- writing ---------------------------------------------------------------------------------------------------


def write_front(front: FrontData, path: FilePath, *, query_seeds: bool = True) -> None:
    """Write a front to a Parquet file.

    With `query_seeds`, the attached system is queried for its answers to some seed cases, which are written too.
    The same front gives the same file, byte for byte: the time it took is not written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    seed_answers, seed_leads = front.seed_answers, front.seed_leads  # those read from a file
    seed_rows = thin_rows(len(front.seeds), get_extra_call_limit(front, MAX_SEED_ANSWERS) if query_seeds else 0)
    if seed_rows.size:
        seed_answers, seed_leads = _query_seeds(front, seed_rows)
    sides = (("a", front.a), ("b", front.b))
    columns: dict[str, Any] = {
        f"{side}.{j}": points.codes[:, j] for side, points in sides for j in range(len(front.space))
    }
    outputs = {"a": Outputs.of(front.a_output), "b": Outputs.of(front.b_output)}
    columns |= {f"{side}_output": answers.columns()["output"] for side, answers in outputs.items()}
    columns |= {"border": list(front.kinds), "distance": front.distance, "walk": front.walk, "runs": front.pair_runs}
    columns |= {"part": front.part, "strategy": [str(name) for name in front.walked_by]}
    metadata = {
        "version": FORMAT_VERSION,
        "space": space_to_dict(front.space),
        "outputs": {side: answers.kind_of_values for side, answers in outputs.items()},
        "walk_runs": _pack(front.walk_runs.astype(np.int64)),
        "seeds": _pack(front.seeds.codes),
        "seed_answers": _outputs_to_dict(seed_answers),
        **({} if seed_leads is None else {"seed_leads": _pack(seed_leads)}),
        **{name: getattr(front, name) for name in PLAIN_FIELDS},
        "choices": [dict(choice) for choice in front.choices],
        "notes": list(front.notes),
        "settings": dict(front.settings),
    }
    if front.walk_starts is not None and len(front.walk_starts) == len(front.walk_runs):  # else: interrupted
        metadata["walk_starts"] = _pack(front.walk_starts.astype(np.int64))
    arrays = {name: _to_arrow(values) for name, values in columns.items()}
    table = pa.table(arrays).replace_schema_metadata({METADATA_KEY: json.dumps(metadata).encode()})
    write_file(path, lambda draft: pq.write_table(table, draft), "front")


def _query_seeds(front: FrontData, rows: Rows) -> tuple[Outputs | None, npt.NDArray[np.float64] | None]:
    """Return the answers of the attached system to some seed cases, and how far they are ahead in its scores."""
    assert front.sut is not None
    system = prefer_probabilities(front.sut)
    has_scores = system.labels is not None and system.score_kind is not None
    points = front.seeds.take(rows)
    answers = query_quietly(front, ask(points, scores=has_scores, note="saving"), system)
    if answers is None or not has_scores:
        return answers, None
    leads = compute_leads(answers, system.labels, to_label_keys(answers.to_objects()))
    return answers, None if leads is None else leads.round(LEAD_DECIMALS)


def _to_arrow(values: Any) -> pa.Array:
    """Return an array as `pyarrow.array` makes it, which would import pandas first."""
    import pyarrow as pa

    if isinstance(values, np.ndarray) and values.dtype in (np.float64, np.int64):
        content = pa.py_buffer(np.ascontiguousarray(values))
        return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, content])
    if isinstance(values, list) and values and all(type(value) is str for value in values):
        encoded = [value.encode() for value in values]
        offsets = np.cumsum([0, *map(len, encoded)])
        if offsets[-1] < 2**31:
            buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(b"".join(encoded))]
            return pa.Array.from_buffers(pa.string(), len(values), buffers)
    return pa.array(values)


def _outputs_to_dict(outputs: Outputs | None) -> dict[str, Any] | None:
    if outputs is None:
        return None
    values_and_ok = zip(outputs.values, outputs.ok, strict=True)
    json_values = [value_to_json(value, "label") if ok else None for value, ok in values_and_ok]
    return {"values": json_values, "status": outputs.status.tolist()}


# -- reading ---------------------------------------------------------------------------------------------------


def read_front(path: FilePath, front_class: type[AnyFront]) -> AnyFront:
    """Read a front from a Parquet file and validate it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = to_local_path(path, "front")
    try:
        table = pq.read_table(file)
    except FileNotFoundError:
        raise DataError(f"There is no file {path!s}.") from None
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path!s} cannot be read as a Parquet file: {error}.") from error
    raw_metadata = (table.schema.metadata or {}).get(METADATA_KEY)
    if raw_metadata is None:
        raise DataError(f"{path!s} is a Parquet file, but was not written by Front.save.")
    try:
        metadata = json.loads(raw_metadata)
        version = metadata["version"]
        _require(type(version) is int and version > 0, "version", "a whole number above 0", version)
        if version <= FORMAT_VERSION:
            front = _build_front(table, metadata, front_class)
            _validate_front(front, metadata)
            return front
    except UsageError as error:
        raise DataError(f"{path!s} is damaged: {error}") from error
    except (*UNREADABLE, zlib.error, pa.ArrowException) as error:
        raise DataError(f"{path!s} is damaged: {type(error).__name__}: {error}.") from error
    raise DataError(f"{path!s} was written by a newer version (format {version}). Upgrade datamorphic.")


def _build_front(table: pa.Table, metadata: dict[str, Any], front_class: type[AnyFront]) -> AnyFront:
    import pyarrow as pa

    incomplete_columns = [name for name in table.column_names if table[name].null_count]
    if incomplete_columns:
        raise DataError(f"the column {incomplete_columns[0]!r} has missing values.")
    space = space_from_dict(metadata["space"])
    width, rows = len(space), table.num_rows

    def read_points(side: str) -> Points:
        return Points(space, np.column_stack([table[f"{side}.{j}"].to_numpy() for j in range(width)]))

    def read_output(side: str) -> npt.NDArray[Any]:
        columns = {
            "output": table[f"{side}_output"],
            "status": pa.array(np.zeros(rows, dtype=np.int8)),
            "message": pa.nulls(rows, pa.string()),
        }
        return Outputs.from_table(pa.table(columns), metadata["outputs"][side]).values

    def read_integers(name: str) -> Rows:
        return np.array(table[name].to_numpy()).astype(np.intp, casting="safe")

    starts = metadata.get("walk_starts")  # files of the first releases do not contain it
    return front_class(
        a=read_points("a"),
        b=read_points("b"),
        a_output=read_output("a"),
        b_output=read_output("b"),
        kinds=table["border"].to_pylist(),
        distance=np.array(table["distance"].to_numpy()).astype(np.float64, casting="safe"),
        walk=read_integers("walk"),
        part=read_integers("part"),
        pair_runs=read_integers("runs"),
        walked_by=np.array(table["strategy"].to_pylist(), dtype=object),
        walk_runs=_unpack(metadata["walk_runs"], np.int64).astype(np.intp),
        seeds=Points(space, _unpack(metadata["seeds"], np.float64).reshape(-1, width)),
        seed_answers=_outputs_from_dict(metadata.get("seed_answers")),
        seed_leads=_read_leads(metadata),
        walk_starts=None if starts is None else _unpack(starts, np.int64).astype(np.intp).reshape(-1, 2),
        seconds=metadata.get("seconds", math.nan),  # only files of the first release contain it
        **{name: metadata[name] for name in (*PLAIN_FIELDS, *LIST_FIELDS, "settings")},
    )


def _read_leads(metadata: dict[str, Any]) -> npt.NDArray[np.float64] | None:
    """Return how far the answers to seed cases were ahead in the scores; None in files that do not say it."""
    if metadata.get("seed_leads") is None or metadata.get("seed_answers") is None:
        return None
    leads = _unpack(metadata["seed_leads"], np.float64)
    if len(leads) != len(metadata["seed_answers"]["values"]) or not (np.isnan(leads) | (np.abs(leads) <= 1)).all():
        raise DataError("'seed_leads' must be one number from -1 to 1 per answer to a seed case.")
    return leads


def _outputs_from_dict(document: dict[str, Any] | None) -> Outputs | None:
    if document is None:
        return None
    values = np.empty(len(document["values"]), dtype=object)
    values[:] = [value_from_json(value) for value in document["values"]]
    status = np.array(document["status"], dtype=np.int8)
    if status.shape != values.shape or not np.isin(status, list(Status)).all():
        raise DataError("the answers to the seed cases need one valid status each.")
    return Outputs(values, status)


# -- validation ------------------------------------------------------------------------------------------------


def _validate_front(front: FrontData, metadata: dict[str, Any]) -> None:
    """Raise DataError if a front that was read from a file is inconsistent."""
    for name in TEXT_FIELDS:
        _require(isinstance(metadata[name], str), name, "text", metadata[name])
    for name in COUNT_FIELDS:
        valid = type(metadata[name]) is int and metadata[name] >= 0
        _require(valid, name, "a whole number, not below 0", metadata[name])
    seconds = metadata.get("seconds", 0.0)
    _require(is_number(seconds) and 0 <= seconds < math.inf, "seconds", "a number, not below 0", seconds)
    _require(isinstance(metadata["exhausted"], bool), "exhausted", "true or false", metadata["exhausted"])
    for name, kind in LIST_FIELDS.items():
        valid = isinstance(metadata[name], list) and all(isinstance(item, kind) for item in metadata[name])
        _require(valid, name, f"a list of {kind.__name__} values", metadata[name])
    settings = metadata["settings"]
    _require(isinstance(settings, dict), "settings", "an object of names and values", settings)
    for name, value in settings.items():
        expected_type = SETTING_TYPES.get(name)
        valid = expected_type is None or (isinstance(value, expected_type) and not isinstance(value, bool))
        _require(valid, f"settings.{name}", f"of type {getattr(expected_type, '__name__', '')}", value)
    _require(front.seeds_used <= len(front.seeds), "seeds_used", "at most the number of seeds", front.seeds_used)
    unfinished, walk_count = front.unfinished, len(front.walk_runs)
    _require(unfinished <= walk_count, "unfinished", "at most the number of walks", unfinished)
    for name, values, high in (
        ("walk_runs", front.walk_runs, math.inf),
        ("runs", front.pair_runs, math.inf),
        ("walk", front.walk, walk_count),
        ("distance", front.distance, math.inf),
    ):
        _require_rows((values >= 0) & (values < high), name, f"at least 0 and below {high}", values)
    if front.walk_starts is not None:
        count, seed_count = len(front.walk_starts), len(front.seeds)
        _require(count == walk_count, "walk_starts", f"{walk_count} long, the number of walks", count)
        valid = ((front.walk_starts >= -1) & (front.walk_starts < seed_count)).all(axis=1)
        _require_rows(valid, "walk_starts", f"at least -1 and below {seed_count}", front.walk_starts)
    for name, points in (("a", front.a), ("b", front.b), ("seeds", front.seeds)):
        for feature, codes in zip(points.space.features, points.codes.T, strict=True):
            fault = find_fault(feature, codes, open_ends=points.space.moves == "open")
            if fault is not None:
                row = np.flatnonzero(fault.rows)[0]
                raise DataError(f"{name}, row {row}: the code {codes[row]:g} of {feature.name!r} {fault.problem}.")
    _validate_answers(front)


def _validate_answers(front: FrontData) -> None:
    """Raise DataError unless each pair has two answers with a border between them."""
    for name, values in (("a_output", front.a_output), ("b_output", front.b_output)):
        _require_rows([value is not None and value == value for value in values], name, "an answer", values)
    for name, texts in (("border", front.kinds), ("strategy", front.walked_by)):
        _require_rows([isinstance(text, str) for text in texts], name, "text", texts)
    border = front.restore_border()
    a, b, part = front.read_states(border)
    _require_rows((part == 0) | ((part > 0) & border.has_several_parts), "part", "the number of a label", part)
    expected = f"on the other side of a border from a_output ({border.description})"
    _require_rows(border.measure_gap(a, b, part) > border.min_gap, "b_output", expected, front.b_output)
    if front.seed_answers is not None:
        count, limit = len(front.seed_answers), len(front.seeds)
        _require(count <= limit, "seed_answers", f"at most {limit} long, the number of seeds", count)
        border.read(front.seed_answers)


def _require(valid: bool, name: str, expected: str, value: object) -> None:
    if not valid:
        raise DataError(f"{name!r} must be {expected}. It is {format_short(repr(value))}.")


def _require_rows(valid: npt.ArrayLike, name: str, expected: str, values: Any) -> None:
    bad_rows = np.flatnonzero(~np.asarray(valid, dtype=bool))
    if bad_rows.size:
        suffix = f" ({bad_rows.size - 1:,} more rows like it)" if bad_rows.size > 1 else ""
        value = format_short(values[bad_rows[0]])
        raise DataError(f"{name!r} must be {expected}. In row {bad_rows[0]} it is {value}{suffix}.")


# -- arrays as text --------------------------------------------------------------------------------------------


def _pack(values: npt.NDArray[Any]) -> str:
    return b64encode(zlib.compress(np.ascontiguousarray(values).tobytes(), 1)).decode()


def _unpack(text: str, dtype: type) -> npt.NDArray[Any]:
    packed_bytes = b64decode(text, validate=True)
    max_bytes = max(MIN_UNPACK_LIMIT_BYTES, MAX_COMPRESSION_RATIO * len(packed_bytes))
    decompressor = zlib.decompressobj()
    values = decompressor.decompress(packed_bytes, max_bytes)
    if not decompressor.eof:
        size = pluralise(len(packed_bytes), "byte")
        raise DataError(f"{size} of it unpack to more than {max_bytes:,} bytes, or are cut short.")
    return np.frombuffer(values, dtype=dtype).copy()
