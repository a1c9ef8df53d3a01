"""Fronts in Parquet files: a row a pair, the rest as text in the file's own notes."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError
from ..outputs import Outputs
from ..space.describe import space_from_dict, space_to_dict
from ..space.points import Points
from .front import Front

if TYPE_CHECKING:
    import pyarrow as pa

NOTE = b"datamorphic.front"
VERSION = 1


def save(front: Front, path: str | PathLike[str]) -> None:
    """Write a front."""
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
        **{
            name: getattr(front, name)
            for name in ("subject", "strategy", "seeds_used", "calls", "seconds", "lost", "slopes", "unfinished", "exhausted")
        },
        "choices": [dict(choice) for choice in front.choices],
        "notes": list(front.notes),
        "settings": dict(front.settings),
    }
    table = pa.table(columns).replace_schema_metadata({NOTE: json.dumps(about).encode()})
    pq.write_table(table, path)


def load(path: str | PathLike[str]) -> Front:
    """Read a front."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise DataError(f"There is no file {path!s}.") from None
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"{path!s} is not a Parquet file that can be read: {error}.") from error
    note = (table.schema.metadata or {}).get(NOTE)
    if note is None:
        raise DataError(f"{path!s} is a Parquet file, but no front that Front.save wrote.")
    try:
        return _front(table, json.loads(note))
    except DataError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, zlib.error) as error:
        raise DataError(f"{path!s} is damaged: {type(error).__name__}: {error}.") from error


def _front(table: pa.Table, about: dict[str, Any]) -> Front:
    if about["version"] > VERSION:
        raise DataError(
            f"The front was written by a newer version (format {about['version']}). Upgrade datamorphic."
        )
    space = space_from_dict(about["space"])
    width = len(space)

    def points(side: str) -> Points:
        codes = np.empty((table.num_rows, width), order="F")
        for j in range(width):
            codes[:, j] = table[f"{side}.{j}"].to_numpy()
        return Points(space, codes)

    def output(side: str) -> npt.NDArray[Any]:
        rows = table.num_rows
        columns = {"output": table[f"{side}_output"]}
        import pyarrow as pa

        columns["status"] = pa.array(np.zeros(rows, dtype=np.int8))
        columns["message"] = pa.nulls(rows, pa.string())
        return Outputs.from_table(pa.table(columns), about["outputs"][side]).values

    return Front(
        subject=about["subject"],
        strategy=about["strategy"],
        a=points("a"),
        b=points("b"),
        a_output=output("a"),
        b_output=output("b"),
        kinds=table["border"].to_pylist(),
        distance=np.array(table["distance"].to_numpy()),
        walk=np.array(table["walk"].to_numpy()).astype(np.intp),
        part=np.array(table["part"].to_numpy()).astype(np.intp),
        pair_runs=np.array(table["runs"].to_numpy()).astype(np.intp),
        walked_by=np.array(table["strategy"].to_pylist(), dtype=object),
        walk_runs=_unpack(about["walk_runs"], np.int64).astype(np.intp),
        seeds=Points(space, _unpack(about["seeds"], np.float64).reshape(-1, width)),
        **{
            name: about[name]
            for name in (
                "seeds_used", "calls", "seconds", "lost", "slopes", "unfinished", "exhausted", "choices", "notes", "settings",
            )
        },
    )  # fmt: skip


def _pack(values: npt.NDArray[Any]) -> str:
    return b64encode(zlib.compress(np.ascontiguousarray(values).tobytes(), 1)).decode()


def _unpack(text: str, dtype: type) -> npt.NDArray[Any]:
    return np.frombuffer(zlib.decompress(b64decode(text)), dtype=dtype).copy()
