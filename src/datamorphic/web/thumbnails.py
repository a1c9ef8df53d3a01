"""Small pictures of the coded classifiers, as images that are part of the page."""

from __future__ import annotations

import base64
import functools
import struct
import zlib

import numpy as np
import numpy.typing as npt

from ..data.subjects import PLANE, RULES

WIDTH, HEIGHT = 132, 42
COLOURS = {"red": (214, 69, 65), "blue": (58, 120, 186), "black": (45, 52, 60)}
#: what the pictures show, in words
DESCRIPTIONS = {
    "Box 1": "A red box in a blue plane",
    "Box 2": "A black box across a curved border",
    "Circle 1": "A red disc in a blue plane",
    "Circle 2": "A black disc across a straight border",
    "Line 1": "Two halves, divided by a line",
    "Line 2": "A narrow black band between two halves",
    "Sin 1": "Two halves, divided by a sine wave",
    "Sin 2": "A black band along a sine wave",
    "Triangle 1": "A red triangle in a blue plane",
    "Triangle 2": "A black triangle across a curved border",
}


@functools.cache
def draw_classifier(name: str) -> str:
    """Return the picture of a coded classifier as a data URL.

    Examples
    --------
    >>> draw_classifier("Box 1").partition(",")[0]
    'data:image/png;base64'
    """
    horizontal, vertical = PLANE["x"], PLANE["y"]
    x, y = np.meshgrid(
        np.linspace(horizontal.low, horizontal.high, WIDTH), np.linspace(vertical.high, vertical.low, HEIGHT)
    )
    labels = RULES[name](x.ravel(), y.ravel()).reshape(x.shape)
    pixels = np.zeros((*labels.shape, 3), dtype=np.uint8)
    for label, colour in COLOURS.items():
        pixels[labels == label] = colour
    return "data:image/png;base64," + base64.b64encode(encode_png(pixels)).decode("ascii")


def encode_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return rows of red, green and blue pixels as a PNG file."""
    height, width, _ = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)  # each begins with its filter: none
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_encode_chunk(kind, data) for kind, data in chunks)


def _encode_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
