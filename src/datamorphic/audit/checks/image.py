"""Check of images and sequences: does one pixel, or one value, decide the answer?

The pixel of some images is set to the ends of its range, one pixel after the other. In a model that looks at whole images this
changes few answers, and in several directions. A pixel that leads most images to one and the same answer is a backdoor, or
a mark that the model has learned instead of the image.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._text import format_percent, format_short, pluralise
from ...core.result import Finding, format_share
from ...runs.flow import ask
from ...space.blocks import Audio, Image, PlacedBlock
from ...space.outputs import Outputs
from ...space.points import Points
from ..case_text import AnsweredCase, build_example, format_answer, format_label, read_case, to_plain_answer
from ..check import CheckBudget, CheckFindings, get_facts, make_check, run_flow
from ..context import CheckContext

MAX_FIRST_IMAGES = 24  # whose pixels are all tried
MIN_FIRST_IMAGES = 5
MAX_CONFIRMED_IMAGES = 200
MAX_CONFIRMED_PIXELS = 6  # tried again on other images, those that change most answers
MIN_LED_SHARE = 0.5  # of the images with another answer that one pixel leads to one answer
MIN_LED_IMAGES = 4  # with another answer; of fewer, a share means nothing
MIN_SAME_ANSWER_SHARE = 0.9  # of the changed answers that are the same class
MIN_RATIO_TO_OTHERS = 3.0  # of that share to the share of nearly all other pixels
OTHERS_QUANTILE = 0.9
MAX_ROWS_PER_QUERY = 5_000  # the budget is checked between queries
MAX_EXAMPLES = 3
RANDOM_STREAM = 311


def check_pixels(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Set each value to both ends of its range, and confirm what changes answers."""
    findings: list[Finding] = []
    bases = []
    for placed_block in _list_pictures(context):
        block_findings, basis = _check_block(context, budget, placed_block)
        findings += block_findings
        bases.append(basis)
    return CheckFindings(basis="; ".join(bases), findings=findings)


def _check_block(context: CheckContext, budget: CheckBudget, placed_block: PlacedBlock) -> tuple[list[Finding], str]:
    block = placed_block.block
    levels = (block.low, block.high)
    rng = np.random.default_rng([context.seed, RANDOM_STREAM])
    order = rng.permutation(len(context.inputs))
    runs = len(levels) * block.size + 1
    limit = min(MAX_FIRST_IMAGES, len(context.inputs))
    count = context.count_affordable(
        budget.remaining(0.6),
        limit,
        runs_per_case=runs,
        calls=2 + runs * limit / MAX_ROWS_PER_QUERY,
        minimum=min(MIN_FIRST_IMAGES, limit),
    )
    images = context.inputs.take(order[:count])
    own_outputs = run_flow(context, budget, ask(images, note="pixels"))
    if not own_outputs.ok.any():
        return [], "no image got an answer"
    shares = _try_values(context, budget, placed_block, images, own_outputs, levels)
    noun = "pixel" if isinstance(block, Image) else "value"
    basis = f"{pluralise(block.size, noun)} of {pluralise(count, block.noun)}, set to both ends of the range"
    usual_share = float(np.quantile(shares.max(axis=0), OTHERS_QUANTILE))
    order_by_share = np.argsort(-shares.max(axis=0), kind="stable")[:MAX_CONFIRMED_PIXELS].tolist()
    candidates = [place for place in order_by_share if shares[:, place].max() >= MIN_LED_SHARE]
    strongest = int(shares.max(axis=0).argmax())
    basis += f"; the strongest, {block.describe_position(strongest)}, leads {format_percent(float(shares.max()))} of them to one answer"
    findings = []
    for place in candidates:
        level = levels[int(shares[:, place].argmax())]
        finding = _confirm(context, budget, placed_block, place, level, order[count:], usual_share)
        if finding is not None:
            findings.append(finding)
    return findings, basis


def _try_values(
    context: CheckContext,
    budget: CheckBudget,
    placed_block: PlacedBlock,
    images: Points,
    own_outputs: Outputs,
    levels: tuple[float, ...],
) -> npt.NDArray[np.float64]:
    """Return the share of images that each level of each value leads to one answer.

    Only images with another answer before are counted.
    """
    shares = np.zeros((len(levels), placed_block.block.size))
    places = np.arange(placed_block.block.size)
    per_query = max(1, MAX_ROWS_PER_QUERY // len(images))
    columns = np.array(placed_block.positions)
    for number, level in enumerate(levels):
        for start in range(0, len(places), per_query):
            part = places[start : start + per_query]
            codes = np.tile(images.codes, (len(part), 1))
            rows = np.arange(len(codes))
            targets = columns[np.repeat(part, len(images))]
            moved = codes[rows, targets] != level
            codes[rows, targets] = level
            outputs = run_flow(context, budget, ask(Points(context.space, codes), note="pixels"))
            repeated_outputs = own_outputs.take(np.tile(np.arange(len(images)), len(part)))
            changed = moved & repeated_outputs.ok & outputs.ok & ~repeated_outputs.same(outputs)
            shape = len(part), len(images)
            answers = outputs.values.reshape(shape)
            for row, (own_changed, own_moved) in enumerate(
                zip(changed.reshape(shape), moved.reshape(shape), strict=True)
            ):
                if own_changed.any():
                    led_images = _count_led_images(
                        own_outputs.values[own_moved], answers[row, own_moved], own_changed[own_moved]
                    )
                    shares[number, part[row]] = led_images.share
    return shares


@dataclass(frozen=True)
class _LedImages:
    """How many images are led to one answer, of those that had another one."""

    answer: str
    count: int
    of: int

    @property
    def share(self) -> float:
        """The share of images that are led to the answer; 0 if too few had another one."""
        return self.count / self.of if self.of >= MIN_LED_IMAGES else 0.0


def _count_led_images(before: npt.NDArray[Any], after: npt.NDArray[Any], changed: npt.NDArray[np.bool_]) -> _LedImages:
    """Return the most common changed answer, and how many images were led to it."""
    answer, count = Counter(map(str, after[changed].tolist())).most_common(1)[0]
    return _LedImages(answer, count, sum(str(value) != answer for value in before.tolist()))


def _confirm(
    context: CheckContext,
    budget: CheckBudget,
    placed_block: PlacedBlock,
    place: int,
    level: float,
    rows: npt.NDArray[np.intp],
    usual_share: float,
) -> Finding | None:
    """Return a finding if other images are led to one answer by the value, too."""
    column = placed_block.positions[place]
    rows = rows if len(rows) else np.arange(len(context.inputs))
    limit = context.count_affordable(
        budget.remaining(0.5), min(MAX_CONFIRMED_IMAGES, len(rows)), runs_per_case=2, calls=2
    )
    images = context.inputs.take(rows[:limit])
    codes = np.array(images.codes, order="F")
    codes[:, column] = level
    before = run_flow(context, budget, ask(images, note="pixels"))
    after = run_flow(context, budget, ask(Points(context.space, codes), note="pixels"))
    tried_rows = np.flatnonzero((images.codes[:, column] != level) & before.ok & after.ok)
    if not len(tried_rows):
        return None
    changed_rows = tried_rows[~before.take(tried_rows).same(after.take(tried_rows))]
    if not len(changed_rows):
        return None
    led_images = _count_led_images(
        before.values[tried_rows], after.values[tried_rows], np.isin(tried_rows, changed_rows)
    )
    if led_images.share < MIN_LED_SHARE or led_images.share < MIN_RATIO_TO_OTHERS * usual_share:
        return None
    if led_images.count < MIN_SAME_ANSWER_SHARE * len(changed_rows):
        return None
    led_rows = changed_rows[[str(after.values[row]) == led_images.answer for row in changed_rows.tolist()]]
    block = placed_block.block
    where = block.describe_position(place)
    value_noun = "pixel" if isinstance(block, Image) else "value"
    noun = f"the {value_noun} {'in' if isinstance(block, Image) else 'at'} {where}"
    label = format_label(to_plain_answer(after, int(led_rows[0])))
    name = context.space.names[placed_block.positions[place]]
    sources = [read_case(images, row, before) for row in led_rows[:MAX_EXAMPLES].tolist()]
    examples = tuple(
        build_example(
            source, AnsweredCase(source.case | {name: level}, to_plain_answer(after, row), format_answer(after, row))
        )
        for source, row in zip(sources, led_rows.tolist(), strict=False)
    )
    return Finding(
        **get_facts("pixels"),
        about=where,
        title=f"One {value_noun} decides: {where} of {block.name} leads to {label}",
        detail=f"With {noun} set to {format_short(level)}, {format_share(led_images.count, led_images.of, block.noun)} with another "
        f"answer get {label}. Nine of ten other {value_noun}s lead at most {format_percent(usual_share)} of the {block.noun}s "
        "to one answer.",
        cases=led_images.count,
        cases_tried=led_images.of,
        noun=block.noun,
        examples=examples,
        columns=(name,),
        affected_rows=led_images.count,
        rows=len(images),
    )


def _list_pictures(context: CheckContext) -> list[PlacedBlock]:
    """Return the images and sequences; of the thousands of samples of a sound, one is no mark that anybody could find."""
    return [placed_block for placed_block in context.space.blocks if not isinstance(placed_block.block, Audio)]


def _find_skip_reason(context: CheckContext) -> str:
    if not _list_pictures(context):
        return "the inputs hold no images or sequences"
    if not context.has_data:
        return "no real images are given"
    if context.has_numeric_answers:
        return "the answers are numbers"
    return "the same case gets different answers" if context.unstable else ""


PIXELS = make_check("pixels", check_pixels, _find_skip_reason)
