"""Examples that people can use: their rows in the data, all their values, code to copy, and pictures of pixels."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import pluralise, quote_formula
from ..core.result import Example
from ..errors import UsageError
from ..reporting.block_pictures import PicturePair, build_pair_drawing
from ..reporting.document import Drawing, Shape, Snippet, Table, TextLabel
from ..reporting.marked_text import MarkedText, has_several_words
from ..reporting.python_code import format_literal
from ..reporting.text import cut, format_cell, to_one_line
from ..space.blocks import MAX_CHANNELS, Block, Image, PlacedBlock, split_value_name
from ..space.blocks import Sequence as BlockSequence
from ..space.constraints import Constraint
from ..space.features import Codes
from ..space.points import Points
from ..space.serialisation import value_from_json
from ..space.space import Space
from .case_text import name_position, split_blocks
from .outcome import Outcome

MAX_FEATURES_SHOWN = 14  # an example with more shows only what changes, and all values as code
MAX_BROKEN_RELATIONS = 3
MAX_COMMENT_CHARACTERS = 80
MIN_PIXELS_PER_SIDE = 4
MIN_UNNAMED_PIXELS_PER_SIDE = 8  # if only the values suggest a picture
PIXEL_SIDE_PX = 168
PIXEL_TONES = 16
#: The largest values of pixels that are common in data: shares, 4 bits, 8 bits.
PIXEL_RANGES = (1.0, 16.0, 255.0)
_PIXEL_NAME = re.compile(r"(?:pixel|pix|px)[ _.-]?(\d+)(?:[ _.x-](\d+))?", re.IGNORECASE)
_NUMBERED_NAME = re.compile(r"([a-z]*)[ _]?(\d+)", re.IGNORECASE)


# -- rows of the data --------------------------------------------------------------------------------------------------


def locate_examples(
    outcomes: Sequence[Outcome],
    inputs: Points,
    relations: Sequence[Constraint] = (),
    rows: npt.NDArray[np.intp] | None = None,
) -> list[Outcome]:
    """Return the outcomes with the row of the data that each example is, if it is one of the given inputs.

    Each example also gets the `relations` between columns that it breaks. Examples that break none come first, then rows of the
    data before made ones, since they convince more. `rows` are the rows of the data that the inputs are, if not all.
    """

    def locate(example: Example) -> Example:
        row = example.row if example.row is not None or not example.case else find_row(inputs, example.case)
        row = row if row is None or rows is None else int(rows[row])
        return replace(example, row=row, breaks=find_broken_relations(inputs.space, example, relations))

    def sort(examples: Sequence[Example]) -> tuple[Example, ...]:
        return tuple(
            sorted(examples, key=lambda example: (bool(example.breaks), example.row is None, len(example.changed)))
        )

    return [
        replace(
            outcome,
            findings=tuple(
                replace(finding, examples=sort([locate(example) for example in finding.examples]))
                for finding in outcome.findings
            ),
        )
        for outcome in outcomes
    ]


def find_broken_relations(space: Space, example: Example, relations: Sequence[Constraint]) -> tuple[str, ...]:
    """Return the relations between columns, in words, that an example breaks after its change."""
    codes = _encode_case(space, {**example.case, **example.changed}, lenient=True) if relations else None
    if codes is None:
        return ()
    return tuple(relation.describe() for relation in relations if not relation.satisfied(space, codes[None, :])[0])


def _encode_case(space: Space, case: Mapping[str, Any], *, lenient: bool = False) -> Codes | None:
    """Return the codes of a case; None if it lies outside the space."""
    if set(case) != set(space.names):
        return None
    try:
        return space.points({name: value_from_json(case[name]) for name in space.names}, lenient=lenient).codes[0]
    except (UsageError, ValueError, TypeError, AttributeError):
        return None


def find_row(inputs: Points, case: Mapping[str, Any]) -> int | None:
    """Return the position of the first of the inputs that equals a case; None if there is none."""
    codes = _encode_case(inputs.space, case)
    if codes is None:
        return None
    rows = np.arange(len(inputs))
    for column, code in enumerate(codes.tolist()):
        values = inputs.codes[rows, column]
        rows = rows[np.isnan(values) if math.isnan(code) else values == code]
        if not rows.size:
            return None
    return int(rows[0])


# -- tables ------------------------------------------------------------------------------------------------------------


def build_example_table(example: Example) -> Table:
    """Return the values of an example before and after the change, with the changed cells marked.

    Changed features come first. If there are many features, only these are shown. The answers come last.
    """
    has_follow_up = bool(example.changed) or (
        example.new_answer is not None and str(example.new_answer) != str(example.answer)
    )
    names = [*example.changed, *(name for name in example.case if name not in example.changed)]
    names = [name for name in names if name in example.changed or split_value_name(name) is None]
    note = ""
    if len(names) > MAX_FEATURES_SHOWN:
        shown_count = len(example.changed) or MAX_FEATURES_SHOWN
        hidden_count = len(names) - min(shown_count, MAX_FEATURES_SHOWN)
        names = names[: min(shown_count, MAX_FEATURES_SHOWN)]
        same = " are the same before and after" if example.changed and shown_count <= MAX_FEATURES_SHOWN else ""
        note = f"The other {pluralise(hidden_count, 'feature')}{same or ' are not shown'}. Copy the example to get all values."
    if example.breaks:
        note = f"{format_broken_relations(example)} {note}".strip()
    rows: list[list[str]] = []
    marked: list[tuple[int, int]] = []
    for name in names:
        before = example.case.get(name)
        if not has_follow_up:
            rows.append([str(name), format_cell(before)])
            continue
        after = example.changed.get(name, before)
        if name in example.changed and has_several_words(before) and has_several_words(after):
            rows.append([str(name), *MarkedText.compare(str(before), str(after)).split_sides()])
            continue
        value_name = split_value_name(str(name))
        title = str(name) if value_name is None else f"{name_position(value_name[1])} of {value_name[0]}"
        rows.append([title, *format_pair(before, after)])
        if name in example.changed:
            marked += [(len(rows) - 1, 1), (len(rows) - 1, 2)]
    if example.answer is not None or example.new_answer is not None:
        if has_follow_up:
            rows.append(["the model’s answer", *format_pair(example.answer, example.new_answer)])
            if str(example.answer) != str(example.new_answer):
                marked += [(len(rows) - 1, 1), (len(rows) - 1, 2)]
        else:
            rows.append(["the model’s answer", format_cell(example.answer)])
    columns = ["feature", "before", "after"] if has_follow_up else ["feature", "value"]
    return Table(columns=columns, rows=rows, note=note, sortable=False, marked=marked)


def format_broken_relations(example: Example) -> str:
    """Return which relations between columns an example breaks."""
    relations = "; ".join(example.breaks[:MAX_BROKEN_RELATIONS])
    more_count = len(example.breaks) - MAX_BROKEN_RELATIONS
    more = f" and {more_count} more" if more_count > 0 else ""
    row = "The changed row" if example.changed else "The row"
    return f"{row} breaks a relation that all given rows keep: {relations}{more}."


def format_pair(before: object, after: object) -> tuple[str, str]:
    """Return two values as cells, numbers with as few digits as show that they differ, at least six.

    Examples
    --------
    >>> format_pair(0.123456789, 0.223456789), format_pair(1.0000000001, 1.0000000002), format_pair(58_000, None)
    (('0.123457', '0.223457'), ('1.0000000001', '1.0000000002'), ('58000', '–'))
    """
    if isinstance(before, float) and isinstance(after, float) and math.isfinite(before) and math.isfinite(after):
        for digits in range(6, 18):
            texts = f"{before:.{digits}g}", f"{after:.{digits}g}"
            if texts[0] != texts[1] or before == after:
                return texts
    return format_cell(before), format_cell(after)


# -- code --------------------------------------------------------------------------------------------------------------


def build_snippets(example: Example, call: str = "model.predict({cases})") -> list[Snippet]:
    """Return an example with all its values as Python code and as CSV.

    `call` queries the model; ``{cases}`` in it stands for a frame.
    """
    if not example.case:
        return []
    case = {name: math.nan if value is None else value for name, value in example.case.items()}
    changed = {name: math.nan if value is None else value for name, value in example.changed.items()}
    origin = "made for this test" if example.row is None else f"row {example.row:,} of the data, counted from 0"
    blocks, others = split_blocks(case)
    if len(blocks) == 1 and not others:
        return _build_array_snippets(example, call, origin)
    lines = [
        "import pandas as pd",
        "",
        f"before = {format_literal(case)}  # {origin}" if changed else f"case = {format_literal(case)}  # {origin}",
    ]
    if changed:
        lines.append(f"after = {{**before, **{format_literal(changed)}}}")
    frame = "pd.DataFrame([before, after])" if changed else "pd.DataFrame([case])"
    answers = [example.answer, example.new_answer] if changed else [example.answer]
    comment = ", then ".join(cut(to_one_line(format_cell(answer)), MAX_COMMENT_CHARACTERS) for answer in answers)
    lines.append(call.format(cases=frame) + (f"  # {comment}" if any(answer is not None for answer in answers) else ""))
    return [Snippet(label="Python", text="\n".join(lines)), Snippet(label="CSV", text=_format_csv(example))]


def _build_array_snippets(example: Example, call: str, origin: str) -> list[Snippet]:
    """Return an example that is one image or sequence as Python code."""
    (name, values), *_ = split_blocks(example.case)[0].items()
    shape = tuple(1 + max(index[axis] for index in values) for axis in range(len(next(iter(values)))))
    lines = ["import numpy as np", "", f"before = np.array({list(values.values())!r}).reshape{shape}  # {origin}"]
    if example.changed:
        lines.append("after = before.copy()")
        changes = [(index, value) for index, value in split_blocks(example.changed)[0].get(name, {}).items()]
        lines += [f"after[{', '.join(map(str, index))}] = {value!r}" for index, value in changes]
    cases = "np.stack([before, after])" if example.changed else "before[None]"
    answers = [example.answer, example.new_answer] if example.changed else [example.answer]
    comment = ", then ".join(cut(to_one_line(format_cell(answer)), MAX_COMMENT_CHARACTERS) for answer in answers)
    lines.append(f"{call.format(cases=cases)}  # {comment}")
    return [Snippet(label="Python", text="\n".join(lines)), Snippet(label="CSV", text=_format_csv(example))]


def _format_csv(example: Example) -> str:
    names = [*example.case, *(name for name in example.changed if name not in example.case)]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(quote_formula, names))
    cases = [example.case, {**example.case, **example.changed}] if example.changed else [example.case]
    for case in cases:
        values = ("" if case.get(name) is None else case[name] for name in names)
        writer.writerow([quote_formula(value) if isinstance(value, str) else value for value in values])
    return file.getvalue()


# -- pixels ------------------------------------------------------------------------------------------------------------


def draw_example(example: Example) -> Drawing | None:
    """Return an example as a picture: its images or sequences, or its features if they are pixels."""
    blocks, _ = split_blocks(example.case)
    if not blocks:
        return draw_pixels(example)
    name, values = max(blocks.items(), key=lambda item: len(item[1]))
    shape = tuple(1 + max(index[axis] for index in values) for axis in range(len(next(iter(values)))))
    before = np.zeros(shape)
    after = np.zeros(shape)
    for index, value in values.items():
        full_name = f"{name}[{','.join(map(str, index))}]"
        before[index] = value
        after[index] = example.changed.get(full_name, value)
    low, largest = min(0.0, float(before.min()), float(after.min())), max(float(before.max()), float(after.max()))
    high = next((limit for limit in PIXEL_RANGES if largest <= limit), largest)
    block: Block
    if len(shape) == 1:
        if low < 0:
            low, high = -max(-low, largest), max(-low, largest)  # a sound swings to both sides
        block = BlockSequence(name, shape[0], low, high)
    else:
        channels_first = len(shape) == 3 and shape[0] <= MAX_CHANNELS < shape[2]
        block = Image(name, shape, low, high, channels_first=channels_first)
    pair = PicturePair(
        before=before.ravel(),
        after=after.ravel(),
        first_title=format_cell(example.answer) if example.answer is not None else "before",
        second_title=format_cell(example.new_answer) if example.new_answer is not None else "after",
    )
    return build_pair_drawing(PlacedBlock(block, tuple(range(block.size))), [pair])


def draw_pixels(example: Example) -> Drawing | None:
    """Return an example as a picture, if its features are the pixels of a square one; changed pixels are framed."""
    side = find_pixel_side(example.case)
    if not side:
        return None
    before = _to_pixels(example.case)
    follow_up = {**example.case, **example.changed}
    after = _to_pixels(follow_up) if example.changed and len(follow_up) == len(before) else None
    largest = max(float(before.max()), 0.0 if after is None else float(after.max()))
    limit = next((limit for limit in PIXEL_RANGES if largest <= limit), largest)
    changed = np.zeros(len(before), dtype=bool) if after is None else before != after
    gap = 32.0
    shapes: list[Shape | TextLabel] = []
    titles = [f"before: {format_cell(example.answer)}", f"after: {format_cell(example.new_answer)}"]
    if after is None:
        titles = [format_cell(example.answer) if example.answer is not None else ""]
    for number, (pixels, title) in enumerate(zip([before] if after is None else [before, after], titles, strict=True)):
        left = number * (PIXEL_SIDE_PX + gap) + 1
        shapes += _draw_image(pixels / limit, side, left, changed)
        shapes.append(TextLabel(left, 15, cut(to_one_line(title), 24), "strong"))
    count = int(changed.sum())
    change_text = f"; {pluralise(count, 'pixel')} of {len(before):,} changed, framed" if after is not None else ""
    caption = f"The example as a picture of {side} × {side} pixels{change_text}."
    width = len(titles) * (PIXEL_SIDE_PX + gap) - gap + 2
    return Drawing(width=width, height=PIXEL_SIDE_PX + 26, shapes=shapes, alt=caption, caption=caption)


def find_pixel_side(case: Mapping[str, Any]) -> int:
    """Return the side of a square picture whose pixels are the features of a case; 0 if they are not pixels.

    Features are pixels if they are named so in order, or if they are numbered and all values lie in a usual range of
    pixels.

    Examples
    --------
    >>> find_pixel_side({f"pixel_{i // 8}_{i % 8}": 3 for i in range(64)}), find_pixel_side({"a": 1.0})
    (8, 0)
    """
    side = math.isqrt(len(case))
    if side < MIN_PIXELS_PER_SIDE or side * side != len(case):
        return 0
    values = list(case.values())
    if not all(isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 for value in values):
        return 0
    matches = [_PIXEL_NAME.fullmatch(str(name)) for name in case]
    if all(matches):
        places = [tuple(int(number) for number in match.groups() if number) for match in matches if match]
        return side if places == sorted(places) else 0
    if side < MIN_UNNAMED_PIXELS_PER_SIDE or max(values) > PIXEL_RANGES[-1]:
        return 0
    numbered = [_NUMBERED_NAME.fullmatch(str(name)) for name in case]
    if not all(numbered):
        return 0
    stems = {match[1].lower() for match in numbered if match}
    numbers = [int(match[2]) for match in numbered if match]
    in_order = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return side if len(stems) == 1 and in_order else 0


def _to_pixels(case: Mapping[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([0.0 if value is None else float(value) for value in case.values()])


def _draw_image(
    shares: np.ndarray[Any, Any], side: int, left: float, changed: np.ndarray[Any, np.dtype[np.bool_]]
) -> list[Shape | TextLabel]:
    """Return one shape per tone, and a frame around each changed pixel."""
    size, top = PIXEL_SIDE_PX / side, 24.0
    tones = np.clip(np.round(shares * (PIXEL_TONES - 1)), 0, PIXEL_TONES - 1).astype(int)
    paths: dict[int, list[str]] = {}
    for pixel, tone in enumerate(tones.tolist()):
        row, column = divmod(pixel, side)
        paths.setdefault(tone, []).append(
            f"M{left + column * size:.4g} {top + row * size:.4g}h{size:.3g}v{size:.3g}h-{size:.3g}z"
        )
    shapes: list[Shape | TextLabel] = [Shape("".join(path), f"tone{tone}") for tone, path in sorted(paths.items())]
    frames = [
        f"M{left + (pixel % side) * size:.4g} {top + (pixel // side) * size:.4g}h{size:.3g}v{size:.3g}h-{size:.3g}z"
        for pixel in np.flatnonzero(changed).tolist()
    ]
    if frames:
        shapes.append(Shape("".join(frames), "framed"))
    return shapes
