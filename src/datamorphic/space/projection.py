"""Projection of a space to the plane, by two features or principal components, and an `Archive` of its cells."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .features import Codes
from .text_feature import Text
from .token_edits import split_tokens

if TYPE_CHECKING:
    from .space import Space

MAX_ROWS_TO_FIT = 5_000
TEXT_COLUMNS = 33  # numbers that describe a text: 32 buckets of words, and its length
MAX_INDICATORS = 1_000  # of more categories, only those that occur are indicated: the others have no variance
BINS_PER_AXIS = 16  # of an archive, in each of the two directions


class Projection:
    """A map of a space to the plane, fitted to some of its points.

    Spaces of one or two features without texts are mapped as they are. For others the axes are the two principal components, with
    numbers divided by their ranges, categories as indicators, texts as counts of words in buckets, and missing numbers at the
    mean.
    `variance_share` is the share of the variance that the plane shows, and `axes` names its two axes.
    """

    def __init__(self, space: Space, codes: Codes) -> None:
        self.space = space
        self.flat = len(space) <= 2 and not space.kinds["text"]
        self.variance_share, self.axes = 1.0, (space.names[0], space.names[1] if len(space) > 1 else "")
        if self.flat:
            return
        sample = codes[np.linspace(0, max(0, len(codes) - 1), min(len(codes), MAX_ROWS_TO_FIT)).astype(int)]
        self._categories = {
            j: np.arange(feature.high + 1) if feature.high < MAX_INDICATORS else np.unique(sample[:, j])
            for j, feature in enumerate(space.features)
            if feature.kind == "categorical"
        }
        with np.errstate(invalid="ignore"):
            matrix = self._to_matrix(sample)
        known = ~np.isnan(matrix)
        self._mean = np.where(known, matrix, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        deviations = np.where(known, matrix, self._mean) - self._mean
        _, singular_values, directions = np.linalg.svd(deviations, full_matrices=False)
        self._directions = np.zeros((2, matrix.shape[1]))
        self._directions[: min(2, len(directions))] = directions[:2]
        # The sign of a direction is arbitrary. The largest weight is made positive, so that plots are reproducible.
        largest = np.abs(self._directions).argmax(axis=1)
        self._directions *= np.where(self._directions[[0, 1], largest] < 0, -1.0, 1.0)[:, None]
        power = singular_values**2
        self.variance_share = float(power[:2].sum() / power.sum()) if power.sum() > 0 else 1.0
        self.axes = (self._name_axis(0), self._name_axis(1))

    def __call__(self, codes: Codes) -> npt.NDArray[np.float64]:
        """Return the two coordinates of every row."""
        if self.flat:
            coordinates = codes if len(self.space) == 2 else np.column_stack([codes, np.zeros(len(codes))])
            return np.array(coordinates)
        return self.to_deviations(codes) @ self._directions.T

    def to_deviations(self, codes: Codes) -> Codes:
        """Return one scaled column per number, category or bucket, as deviations from the mean; 0 where it is missing."""
        matrix = self._to_matrix(codes)
        return np.where(np.isnan(matrix), self._mean, matrix) - self._mean

    def _to_matrix(self, codes: Codes) -> Codes:
        """Return scaled numbers and one indicator column per category."""
        columns = []
        for j, feature in enumerate(self.space.features):
            if isinstance(feature, Text):
                columns.append(describe_texts(feature, codes[:, j]))
            elif feature.kind == "categorical":
                # so that two different categories are at distance 1
                columns.append((codes[:, j, None] == self._categories[j]) / np.sqrt(2))
            else:
                columns.append(codes[:, j, None] * feature.scale)
        return np.hstack(columns)

    def _name_axis(self, axis: int) -> str:
        """Return a name for an axis: the features with the largest weights."""
        weights, place = [], 0
        for j, feature in enumerate(self.space.features):
            width = len(self._categories[j]) if j in self._categories else TEXT_COLUMNS if feature.kind == "text" else 1
            weights.append(float(np.abs(self._directions[axis, place : place + width]).sum()))
            place += width
        heaviest = sorted(range(len(weights)), key=lambda j: -weights[j])[:3]
        return f"direction {axis + 1}: " + ", ".join(self.space.names[j] for j in heaviest)


def describe_texts(feature: Text, codes: Codes) -> Codes:
    """Return the length of each text, and how often tokens of each of some buckets occur, relative to usual lengths."""
    distinct, inverse = np.unique(codes, return_inverse=True)
    table = np.full((len(distinct), TEXT_COLUMNS), np.nan)
    for row, text in enumerate(feature.decode_texts(distinct)):
        if text is not None:
            tokens = split_tokens(text.lower())
            buckets = [zlib.crc32(token.strip().encode("utf-8", "replace")) % (TEXT_COLUMNS - 1) for token in tokens]
            table[row, :-1] = np.bincount(buckets, minlength=TEXT_COLUMNS - 1)
            table[row, -1] = len(tokens)
    return table[inverse.ravel()] * feature.scale


class Archive:
    """Cells of a two-dimensional projection of the space, filled by the points in them.

    The grid spans the typical points `codes` without the outermost hundredth on each side.
    """

    def __init__(self, space: Space, codes: Codes) -> None:
        self.view = Projection(space, codes)
        flat = self.view(codes) if len(codes) else np.zeros((1, 2))
        self._low, self._high = np.nanquantile(flat, [0.01, 0.99], axis=0)
        self.filled_cells: set[tuple[str, int]] = set()

    def locate_cells(self, codes: Codes) -> npt.NDArray[np.intp]:
        """Return the cell of each row; points outside of the grid belong to its outermost cells."""
        width = np.where(self._high > self._low, self._high - self._low, 1.0)
        with np.errstate(invalid="ignore"):
            places = np.nan_to_num((self.view(codes) - self._low) / width * BINS_PER_AXIS)
        places = np.clip(places, 0, BINS_PER_AXIS - 1).astype(np.intp)
        return places[:, 0] * BINS_PER_AXIS + places[:, 1]

    def add(self, codes: Codes, kinds: Sequence[str]) -> int:
        """Fill the cells of points, each of one of several `kinds`, and return how many were empty before."""
        before = len(self.filled_cells)
        self.filled_cells.update(zip(kinds, self.locate_cells(codes).tolist(), strict=True))
        return len(self.filled_cells) - before
