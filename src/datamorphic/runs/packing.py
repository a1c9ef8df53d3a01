"""Outputs as bytes: how the journal of a run keeps them. Data only; nothing in it is ever evaluated."""

from __future__ import annotations

import json
import re
import struct
import zlib
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError
from ..outputs import Outputs
from ..space.describe import value_from_json, value_to_json

HEAD = struct.Struct(">II")  # length of the description, checksum of all that follows
PLAIN = re.compile(r"[<>|=]?[iufbU]\d+")  # types of labels that are kept as they lie in memory


def pack(outputs: Outputs) -> bytes:
    """Return outputs as compressed bytes; labels of mixed types as text that keeps their type."""
    import pyarrow as pa

    values = outputs.values
    about: dict[str, Any] = {"rows": len(outputs), "dtype": values.dtype.str, "parts": []}
    parts: list[Any] = []
    if values.dtype == object:
        both = zip(values.tolist(), outputs.ok.tolist(), strict=True)
        about["values"] = [value_to_json(value, "label") if ok else None for value, ok in both]
    elif PLAIN.fullmatch(values.dtype.str):
        parts.append(values)
    else:
        raise DataError(f"Labels of dtype {values.dtype} cannot be kept. Use strings or numbers.")
    if outputs.status.any():
        about["status"] = True
        parts.append(outputs.status)
    if outputs.scores is not None:
        about["scores"] = outputs.scores.shape[1]
        parts.append(outputs.scores)
    if outputs.messages:
        about["messages"] = {str(row): text for row, text in outputs.messages.items()}
    raw = [np.ascontiguousarray(part).tobytes() for part in parts]
    about["parts"] = [len(part) for part in raw]
    body = b"".join(raw)
    head = json.dumps(about).encode()
    packed = head + (pa.compress(body, codec="zstd", asbytes=True) if body else b"")
    return HEAD.pack(len(head), zlib.crc32(packed)) + packed


def unpack(data: bytes) -> Outputs:
    """Return the outputs that `pack` made bytes of."""
    import pyarrow as pa

    try:
        length, checksum = HEAD.unpack_from(data)
        if zlib.crc32(data[HEAD.size :]) != checksum:
            raise DataError("their checksum is another")
        stop = HEAD.size + length
        about = json.loads(data[HEAD.size : stop])
        sizes = [int(size) for size in about["parts"]]
        body = pa.decompress(data[stop:], sum(sizes), codec="zstd", asbytes=True) if sum(sizes) else b""
        rows, edges = int(about["rows"]), np.cumsum([0, *sizes]).tolist()
        pieces = iter(body[a:b] for a, b in pairwise(edges))
        values: npt.NDArray[Any]
        if "values" in about:
            values = np.empty(len(about["values"]), dtype=object)
            values[:] = [None if each is None else value_from_json(each) for each in about["values"]]
        elif PLAIN.fullmatch(about["dtype"]):
            values = np.frombuffer(next(pieces), dtype=np.dtype(about["dtype"])).copy()
        else:
            raise DataError(f"their labels are said to be {about['dtype']!r}")
        status = (
            np.frombuffer(next(pieces), dtype=np.int8).copy() if about.get("status") else np.zeros(rows, np.int8)
        )
        scores = None
        if "scores" in about:
            scores = np.frombuffer(next(pieces), dtype=np.float64).reshape(rows, int(about["scores"])).copy()
        messages = {int(row): str(text) for row, text in about.get("messages", {}).items()}
        if not len(values) == len(status) == rows or not all(0 <= row < rows for row in messages):
            raise DataError(f"there are {len(values)} labels for {rows} rows, or messages for others")
        return Outputs(values, status, scores, messages)
    except DataError as error:
        raise DataError(f"The answers kept of a run are damaged: {error}.") from None
    except (Exception, MemoryError) as error:  # whatever hostile bytes make the readers raise
        raise DataError(f"The answers kept of a run are damaged: {type(error).__name__}: {error}.") from error
