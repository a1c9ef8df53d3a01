"""Outputs as bytes, as a journal stores them. They are data only and never evaluated."""

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
from ..space.outputs import Outputs
from ..space.serialize import value_from_json, value_to_json

HEADER_FORMAT = struct.Struct(">II")  # length of the description, checksum of the rest
PLAIN_DTYPE_PATTERN = re.compile(r"[<>|=]?[iufbU]\d+")  # types of labels that are stored as in memory


def pack_outputs(outputs: Outputs) -> bytes:
    """Return outputs as compressed bytes; mixed labels are stored as typed JSON."""
    import pyarrow as pa

    values = outputs.values
    description: dict[str, Any] = {"rows": len(outputs), "dtype": values.dtype.str, "parts": []}
    parts: list[Any] = []
    if values.dtype == object:
        labelled_values = zip(values.tolist(), outputs.ok.tolist(), strict=True)
        description["values"] = [value_to_json(value, "label") if ok else None for value, ok in labelled_values]
    elif PLAIN_DTYPE_PATTERN.fullmatch(values.dtype.str):
        parts.append(values)
    else:
        raise DataError(f"Labels of dtype {values.dtype} cannot be stored. Use strings or numbers.")
    if outputs.status.any():
        description["status"] = True
        parts.append(outputs.status)
    if outputs.scores is not None:
        description["scores"] = outputs.scores.shape[1]
        parts.append(outputs.scores)
    if outputs.messages:
        description["messages"] = {str(row): text for row, text in outputs.messages.items()}
    raw = [np.ascontiguousarray(part).tobytes() for part in parts]
    description["parts"] = [len(part) for part in raw]
    body = b"".join(raw)
    head = json.dumps(description).encode()
    content = head + (pa.compress(body, codec="zstd", asbytes=True) if body else b"")
    return HEADER_FORMAT.pack(len(head), zlib.crc32(content)) + content


def unpack_outputs(data: bytes) -> Outputs:
    """Return the outputs from bytes made by `pack_outputs`."""
    import pyarrow as pa

    try:
        length, checksum = HEADER_FORMAT.unpack_from(data)
        if zlib.crc32(data[HEADER_FORMAT.size :]) != checksum:
            raise DataError("the checksum differs")
        stop = HEADER_FORMAT.size + length
        description = json.loads(data[HEADER_FORMAT.size : stop])
        sizes = [int(size) for size in description["parts"]]
        body = pa.decompress(data[stop:], sum(sizes), codec="zstd", asbytes=True) if sum(sizes) else b""
        rows, edges = int(description["rows"]), np.cumsum([0, *sizes]).tolist()
        pieces = iter(body[a:b] for a, b in pairwise(edges))
        values: npt.NDArray[Any]
        if "values" in description:
            values = np.empty(len(description["values"]), dtype=object)
            values[:] = [None if label is None else value_from_json(label) for label in description["values"]]
        elif PLAIN_DTYPE_PATTERN.fullmatch(description["dtype"]):
            values = np.frombuffer(next(pieces), dtype=np.dtype(description["dtype"])).copy()
        else:
            raise DataError(f"the type of labels is {description['dtype']!r}")
        status = (
            np.frombuffer(next(pieces), dtype=np.int8).copy() if description.get("status") else np.zeros(rows, np.int8)
        )
        scores = None
        if "scores" in description:
            scores = np.frombuffer(next(pieces), dtype=np.float64).reshape(rows, int(description["scores"])).copy()
        messages = {int(row): str(text) for row, text in description.get("messages", {}).items()}
        if not len(values) == len(status) == rows or not all(0 <= row < rows for row in messages):
            raise DataError(f"there are {len(values)} labels for {rows} rows, or messages for others")
        return Outputs(values, status, scores, messages)
    except DataError as error:
        raise DataError(f"The stored answers of a run are damaged: {error}.") from None
    except (Exception, MemoryError) as error:  # forged bytes may make the readers raise anything
        raise DataError(f"The stored answers of a run are damaged: {type(error).__name__}: {error}.") from error
