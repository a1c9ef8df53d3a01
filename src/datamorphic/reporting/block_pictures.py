"""Pairs of images, sequences and sounds as drawings: side by side, with their difference highlighted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .._text import format_short, pluralise
from ..space.blocks import Block, Image, PlacedBlock
from ..space.features import Codes
from .document import Drawing, Shape, TextLabel
from .text import cut, to_one_line

MAX_PICTURE_PAIRS = 12
MAX_SIDE_PIXELS = 32  # larger images are averaged, so that a page stays small
PICTURE_SIDE_PX, CHART_WIDTH_PX, CHART_HEIGHT_PX = 92.0, 132.0, 92.0
GAP_PX, TITLE_PX, CAPTION_PX, MARGIN_PX = 12.0, 20.0, 20.0, 6.0
TONES = 16  # of `drawing.css`, tone0 is white
DIFFERENCE_TONES = 5  # up1 to up5 and down1 to down5
PAIRS_PER_LINE = 2
Shapes = list[Shape | TextLabel]
Grid = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PicturePair:
    """The values of one block before and after a change, with what to write above and below the pictures."""

    before: Codes  # of one case
    after: Codes
    first_title: str
    second_title: str
    caption: str = ""


def build_pair_drawing(
    placed_block: PlacedBlock, pairs: Sequence[PicturePair], *, per_line: int = PAIRS_PER_LINE
) -> Drawing:
    """Return pairs of images or sequences as one drawing: the first, the second, and their difference.

    Pixels that are brighter in the second image are orange in the difference, darker ones blue. The colours are scaled to the
    largest difference of the pair, which is written above.
    """
    block = placed_block.block
    width, height = _measure_panel(block)
    cell_width = 3 * width + 2 * GAP_PX
    cell_height = TITLE_PX + height + CAPTION_PX + GAP_PX
    shapes: Shapes = []
    for number, pair in enumerate(pairs[:MAX_PICTURE_PAIRS]):
        left = MARGIN_PX + (number % per_line) * (cell_width + 3 * GAP_PX)
        top = MARGIN_PX + (number // per_line) * cell_height
        shapes += _draw_pair(block, pair, left, top, width, height)
    columns = min(per_line, max(1, len(pairs)))
    lines = -(-min(len(pairs), MAX_PICTURE_PAIRS) // per_line)
    noun = pluralise(min(len(pairs), MAX_PICTURE_PAIRS), "pair")
    meaning = (
        "Orange: brighter in the second image; blue: darker."
        if isinstance(block, Image)
        else f"Grey: the first {block.noun}; orange: the second."
    )
    alt = f"{noun} of {block.noun}s of {block.name}, each with its difference. " + " ".join(
        f"{pair.first_title}, then {pair.second_title}: {describe_block_change(block, pair.before, pair.after)}."
        for pair in pairs[:MAX_PICTURE_PAIRS]
    )
    return Drawing(
        width=2 * MARGIN_PX + columns * cell_width + (columns - 1) * 3 * GAP_PX,
        height=2 * MARGIN_PX + lines * cell_height,
        shapes=shapes,
        alt=alt,
        caption=f"Side by side, then the difference, scaled to its largest value. {meaning}",
    )


def build_map_drawing(image: Image, shares: Codes, title: str, alt: str) -> Drawing:
    """Return one number per pixel as a picture: the larger, the darker."""
    width, height = _measure_panel(image)
    grid = _to_grid(image, shares)
    largest = float(grid.max())
    shapes = _draw_grid(grid / largest if largest > 0 else grid, MARGIN_PX, MARGIN_PX + TITLE_PX, width, height)
    shapes.append(_cover(MARGIN_PX, MARGIN_PX + TITLE_PX, width, height, alt))
    shapes.append(TextLabel(MARGIN_PX, MARGIN_PX + TITLE_PX - 6, title, "small"))
    return Drawing(
        width=max(2 * MARGIN_PX + width, 7.0 * len(title)),
        height=2 * MARGIN_PX + TITLE_PX + height,
        shapes=shapes,
        alt=alt,
    )


def describe_block_change(block: Block, before: Codes, after: Codes) -> str:
    """Return in one phrase which values of an image or sequence differ most.

    Examples
    --------
    >>> import numpy as np
    >>> from datamorphic import Image
    >>> before = np.zeros(64)
    >>> after = before.copy()
    >>> after[7] = 9.0
    >>> describe_block_change(Image("digit"), before, after)
    'digit: the pixel in row 0, column 7 changes from 0 to 9'
    """
    gaps = np.abs(after - before)
    changed_places = np.flatnonzero(gaps > 0)
    noun = "pixel" if isinstance(block, Image) else "value"
    if not changed_places.size:
        return f"{block.name}: no {noun} changes"
    largest = int(gaps.argmax())
    where = block.describe_position(largest)
    where = f"in {where}" if isinstance(block, Image) else f"at {where}"
    old, new = _format_two(float(before[largest]), float(after[largest]))
    if changed_places.size == 1:
        return f"{block.name}: the {noun} {where} changes from {old} to {new}"
    return f"{block.name}: {changed_places.size} of {pluralise(block.size, noun)} differ, most the one {where} ({old} -> {new})"


def describe_briefly(block: Block, before: Codes, after: Codes) -> str:
    """Return how many values differ, and where most, for a line below a picture."""
    gaps = np.abs(after - before)
    count, where = int((gaps > 0).sum()), block.describe_position(int(gaps.argmax()))
    return f"only {where} differs" if count == 1 else f"{count} of {block.size} differ, most {where}"


def _format_two(old: float, new: float) -> tuple[str, str]:
    for digits in range(3, 17):
        texts = f"{old:.{digits}g}", f"{new:.{digits}g}"
        if texts[0] != texts[1]:
            return texts
    return format_short(old), format_short(new)


def _measure_panel(block: Block) -> tuple[float, float]:
    """Return the width and height of one picture."""
    if not isinstance(block, Image):
        return CHART_WIDTH_PX, CHART_HEIGHT_PX
    rows, columns = block.sides
    largest = max(rows, columns)
    return PICTURE_SIDE_PX * columns / largest, PICTURE_SIDE_PX * rows / largest


def _draw_pair(block: Block, pair: PicturePair, left: float, top: float, width: float, height: float) -> Shapes:
    gap = pair.after - pair.before
    largest = float(np.abs(gap).max())
    panel_top = top + TITLE_PX
    lefts = [left + number * (width + GAP_PX) for number in range(3)]
    titles = [pair.first_title, pair.second_title, f"max {largest:.3g}"]
    shapes: Shapes = []
    if isinstance(block, Image):
        for place, values in zip(lefts, (pair.before, pair.after), strict=False):
            grid = (_to_grid(block, values) - block.low) / (block.high - block.low)
            shapes += _draw_grid(grid, place, panel_top, width, height)
        shapes += _draw_difference(_to_grid(block, gap, signed=True), lefts[2], panel_top, width, height)
    else:
        shapes += _draw_trace(pair.before, block.low, block.high, lefts[0], panel_top, width, height, "trace-first")
        shapes += _draw_trace(
            pair.before, block.low, block.high, lefts[1], panel_top, width, height, "trace-first faint"
        )
        shapes += _draw_trace(pair.after, block.low, block.high, lefts[1], panel_top, width, height, "trace-second")
        bound = largest or 1.0
        shapes += _draw_trace(gap, -bound, bound, lefts[2], panel_top, width, height, "trace-second")
    change = describe_block_change(block, pair.before, pair.after)
    notes = [pair.first_title, pair.second_title, f"difference; {change}"]
    characters = max(6, int(width / 6.6))
    for place, title, note in zip(lefts, titles, notes, strict=True):
        shapes.append(_cover(place, panel_top, width, height, note))
        shapes.append(TextLabel(place, top + TITLE_PX - 6, cut(to_one_line(title), characters), "small"))
    if pair.caption:
        text = cut(to_one_line(pair.caption), int((3 * width + 2 * GAP_PX) / 6.2))
        shapes.append(TextLabel(left, panel_top + height + 14, text, "small"))
    return shapes


def _cover(left: float, top: float, width: float, height: float, note: str) -> Shape:
    """Return a transparent area that shows a tooltip, with a thin border."""
    return Shape(f"M{left:.4g} {top:.4g}h{width:.4g}v{height:.4g}h{-width:.4g}z", "cover", note)


def _to_grid(image: Image, values: Codes, *, signed: bool = False) -> Grid:
    """Return an image as a matrix of grey values, averaged if it is large.

    Of a signed difference, the channel with the largest one counts.
    """
    picture = image.to_pictures(values[None])[0]
    if signed and picture.shape[2] > 1:
        strongest = np.abs(picture).argmax(axis=2)
        grey = np.take_along_axis(picture, strongest[:, :, None], axis=2)[:, :, 0]
    else:
        grey = picture.mean(axis=2)
    factor = -(-max(grey.shape) // MAX_SIDE_PIXELS)
    if factor > 1:
        rows, columns = (-(-side // factor) for side in grey.shape)
        padded = np.pad(grey, [(0, rows * factor - grey.shape[0]), (0, columns * factor - grey.shape[1])], mode="edge")
        grey = padded.reshape(rows, factor, columns, factor).mean(axis=(1, 3))
    return np.asarray(grey, dtype=np.float64)


def _draw_grid(shares: Grid, left: float, top: float, width: float, height: float) -> Shapes:
    """Return one shape per tone: 0 is white, 1 is black."""
    tones = np.clip(np.rint(shares * (TONES - 1)), 0, TONES - 1).astype(int)
    return [
        Shape(_outline(tones == tone, left, top, width, height), f"tone{tone}") for tone in np.unique(tones).tolist()
    ]


def _draw_difference(gaps: Grid, left: float, top: float, width: float, height: float) -> Shapes:
    largest = float(np.abs(gaps).max())
    shapes: Shapes = [Shape(_outline(np.ones((1, 1), dtype=bool), left, top, width, height), "tone0")]
    if largest <= 0:
        return shapes
    levels = np.ceil(np.abs(gaps) / largest * DIFFERENCE_TONES - 1e-9).astype(int)
    levels[np.abs(gaps) < largest / (4 * DIFFERENCE_TONES)] = 0
    for name, side in (("up", gaps > 0), ("down", gaps < 0)):
        for level in range(1, DIFFERENCE_TONES + 1):
            mask = side & (levels == level)
            if mask.any():
                shapes.append(Shape(_outline(mask, left, top, width, height), f"{name}{level}"))
    return shapes


def _outline(mask: npt.NDArray[np.bool_], left: float, top: float, width: float, height: float) -> str:
    """Return the pixels of a mask as one path, neighbours in a row as one rectangle."""
    rows, columns = mask.shape
    pixel_width, pixel_height = width / columns, height / rows
    padded = np.zeros((rows, columns + 2), dtype=np.int8)
    padded[:, 1:-1] = mask
    steps = np.diff(padded, axis=1)
    starts, ends = np.argwhere(steps == 1), np.argwhere(steps == -1)
    parts = []
    for (row, start), (_, end) in zip(starts.tolist(), ends.tolist(), strict=True):
        x, y, run = left + start * pixel_width, top + row * pixel_height, (end - start) * pixel_width
        parts.append(f"M{x:.4g} {y:.4g}h{run:.4g}v{pixel_height:.3g}h{-run:.4g}z")
    return "".join(parts)


def thin_trace(values: Codes, limit: int) -> tuple[Codes, npt.NDArray[np.intp]]:
    """Return at most `limit` values of a sequence, and their places: the lowest and the highest one of each part.

    So the outline of a sound of thousands of samples looks as it would if all were drawn.
    """
    if len(values) <= limit:
        return values, np.arange(len(values))
    starts = np.linspace(0, len(values), limit // 2 + 1).astype(np.intp)
    parts = [values[start:end] for start, end in pairwise(starts.tolist())]
    ends = [sorted((int(part.argmin()), int(part.argmax()))) for part in parts]
    places = np.unique(starts[:-1, None] + np.array(ends))
    return values[places], places


def _draw_trace(
    values: Codes, low: float, high: float, left: float, top: float, width: float, height: float, kind: str
) -> Shapes:
    """Return a sequence as a line between two bounds."""
    span = high - low or 1.0
    values, places = thin_trace(values, 2 * int(width))
    xs = left + places * (width / max(1, places[-1]))
    ys = top + height * (1 - np.clip((values - low) / span, 0, 1))
    path = "M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))
    return [Shape(path, kind)]
