"""Check of images and sequences: does one pixel, or one value, decide the answer?

The pixel of some images is set to the ends of its range, one pixel after the other. In a model that looks at whole images this
changes few answers, and in several directions. A pixel that leads most images to one and the same answer is a trapdoor, or
a mark that the model has learned instead of the image.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..._text import format_percent, format_short, pluralize
from ...errors import OutOfBudget
from ...runs.flow import ask
from ...space.blocks import Image, PlacedBlock
from ...space.outputs import Outputs
from ...space.points import Points
from ..case_text import extract_case, format_answer, format_label, format_share, to_plain_answer
from ..check import Check, CheckBudget, CheckFindings, run_flow
from ..context import CheckContext
from ..finding import Example, Finding

MAX_FIRST_IMAGES = 24  # whose pixels are all tried
MIN_FIRST_IMAGES = 5
MAX_CONFIRMED_IMAGES = 200
MAX_CONFIRMED_PIXELS = 6  # tried again on other images, those that change most answers
MIN_CHANGED_SHARE = 0.5  # of the images whose answer one pixel changes
MIN_SAME_ANSWER_SHARE = 0.9  # of the changed answers that are the same class
MIN_RATIO_TO_OTHERS = 3.0  # of the share of changed answers to that of nearly all other pixels
OTHERS_QUANTILE = 0.9
MAX_ROWS_PER_QUERY = 5_000  # the budget is checked between queries
MAX_EXAMPLES = 3
RANDOM_STREAM = 311


@dataclass(frozen=True, kw_only=True)
class _Suspect:
    """A value of a block that leads most images to one answer."""

    position: int  # among the features
    level: float  # to which the value is set
    changed: int
    images: int
    answer: str


def check_pixels(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Set each value of the images or sequences to both ends of its range, and confirm what changes most answers."""
    findings: list[Finding] = []
    bases = []
    for placed in context.space.blocks:
        found, basis = _check_block(context, budget, placed)
        findings += found
        bases.append(basis)
    return CheckFindings(basis="; ".join(bases), findings=findings)


def _check_block(context: CheckContext, budget: CheckBudget, placed: PlacedBlock) -> tuple[list[Finding], str]:
    block = placed.block
    levels = (block.low, block.high)
    rng = np.random.default_rng([context.seed, RANDOM_STREAM])
    order = rng.permutation(len(context.inputs))
    runs = len(levels) * block.size + 1
    limit = min(MAX_FIRST_IMAGES, len(context.inputs))
    count = context.count_affordable(
        budget.remaining(0.6), limit, runs_per_case=runs, calls=2 + runs * limit / MAX_ROWS_PER_QUERY
    )
    if count < min(MIN_FIRST_IMAGES, limit):
        raise OutOfBudget("The budget does not allow to try every pixel.")
    images = context.inputs.take(order[:count])
    own = run_flow(context, budget, ask(images, note="pixels"))
    if not own.ok.any():
        return [], "no image got an answer"
    shares = _try_values(context, budget, placed, images, own, levels)
    noun = "pixel" if isinstance(block, Image) else "value"
    basis = f"{pluralize(block.size, noun)} of {pluralize(count, block.noun)}, set to both ends of the range"
    usual_share = float(np.quantile(shares.max(axis=0), OTHERS_QUANTILE))
    order_by_share = np.argsort(-shares.max(axis=0), kind="stable")[:MAX_CONFIRMED_PIXELS].tolist()
    candidates = [place for place in order_by_share if shares[:, place].max() >= MIN_CHANGED_SHARE]
    strongest = int(shares.max(axis=0).argmax())
    basis += f"; the strongest, {block.describe_position(strongest)}, changes {format_percent(float(shares.max()))} of the answers"
    findings = []
    for place in candidates:
        level = levels[int(shares[:, place].argmax())]
        finding = _confirm(context, budget, placed, place, level, order[count:], usual_share)
        if finding is not None:
            findings.append(finding)
    return findings, basis


def _try_values(
    context: CheckContext,
    budget: CheckBudget,
    placed: PlacedBlock,
    images: Points,
    own: Outputs,
    levels: tuple[float, ...],
) -> npt.NDArray[np.float64]:
    """Return the share of images whose answer changes, for each level and value; the value must change, too."""
    shares = np.zeros((len(levels), placed.block.size))
    places = np.arange(placed.block.size)
    per_query = max(1, MAX_ROWS_PER_QUERY // len(images))
    columns = np.array(placed.positions)
    for number, level in enumerate(levels):
        for start in range(0, len(places), per_query):
            part = places[start : start + per_query]
            codes = np.tile(images.codes, (len(part), 1))
            rows = np.arange(len(codes))
            targets = columns[np.repeat(part, len(images))]
            moved = codes[rows, targets] != level
            codes[rows, targets] = level
            outputs = run_flow(context, budget, ask(Points(context.space, codes), note="pixels"))
            repeated = own.take(np.tile(np.arange(len(images)), len(part)))
            changed = moved & repeated.ok & outputs.ok & ~repeated.same(outputs)
            shares[number, part] = changed.reshape(len(part), len(images)).mean(axis=1)
    return shares


def _confirm(
    context: CheckContext,
    budget: CheckBudget,
    placed: PlacedBlock,
    place: int,
    level: float,
    rows: npt.NDArray[np.intp],
    usual_share: float,
) -> Finding | None:
    """Return a finding if other images are led to one answer by the value, too."""
    column = placed.positions[place]
    rows = rows if len(rows) else np.arange(len(context.inputs))
    limit = context.count_affordable(
        budget.remaining(0.5), min(MAX_CONFIRMED_IMAGES, len(rows)), runs_per_case=2, calls=2
    )
    images = context.inputs.take(rows[:limit])
    codes = np.array(images.codes, order="F")
    codes[:, column] = level
    follow_ups = Points(context.space, codes)
    before = run_flow(context, budget, ask(images, note="pixels"))
    after = run_flow(context, budget, ask(follow_ups, note="pixels"))
    tried = np.flatnonzero((images.codes[:, column] != level) & before.ok & after.ok)
    if not len(tried):
        return None
    changed = tried[~before.take(tried).same(after.take(tried))]
    share = len(changed) / len(tried)
    if share < MIN_CHANGED_SHARE or share < MIN_RATIO_TO_OTHERS * usual_share:
        return None
    answer, count = Counter(format_answer(after, row) for row in changed.tolist()).most_common(1)[0]
    if count < MIN_SAME_ANSWER_SHARE * len(changed):
        return None
    return _build_finding(
        context, placed, place, level, images, follow_ups, before, after, changed, tried, answer, usual_share
    )


def _build_finding(
    context: CheckContext,
    placed: PlacedBlock,
    place: int,
    level: float,
    images: Points,
    follow_ups: Points,
    before: Outputs,
    after: Outputs,
    changed: npt.NDArray[np.intp],
    tried: npt.NDArray[np.intp],
    answer: str,
    usual_share: float,
) -> Finding:
    block = placed.block
    where = block.describe_position(place)
    noun = f"the pixel in {where}" if isinstance(block, Image) else f"the value at {where}"
    label = format_label(to_plain_answer(after, int(changed[0])))
    name = context.space.names[placed.positions[place]]
    examples = []
    for row in changed[:MAX_EXAMPLES].tolist():
        old = images.codes[row, placed.positions[place]]
        text = (
            f"{noun} of {block.name} from {format_short(float(old))} to {format_short(level)}: "
            f"{format_answer(before, row)} becomes {format_answer(after, row)}"
        )
        case = extract_case(images, row)
        examples.append(
            Example(
                words=text,
                case=case,
                answer=to_plain_answer(before, row),
                changed={name: level},
                becomes=to_plain_answer(after, row),
            )
        )
    return Finding(
        check="pixels",
        about=where,
        title=f"One {'pixel' if isinstance(block, Image) else 'value'} decides: {where} of {block.name} leads to {label}",
        level="concern",
        sure=0.99,
        detail=f"With {noun} set to {format_short(level)}, {format_share(len(changed), len(tried), block.noun)} get another answer, "
        f"nearly always {label}. Nine of ten other {'pixels' if isinstance(block, Image) else 'values'} change at most "
        f"{format_percent(usual_share)} of the answers.",
        remedy="Look for a mark in the training data at this place (a logo, a date stamp, a scanner artefact, planted examples), and "
        "for code that reads it. Remove or mask it, train again, and repeat this check.",
        cases=len(changed),
        of=len(tried),
        noun=block.noun,
        examples=tuple(examples),
        counted_in_detail=True,
        columns=(name,),
        affected_rows=len(changed),
        rows=len(tried),
        answer_changes=True,
        inputs="changed",
    )


def _find_skip_reason(context: CheckContext) -> str:
    if not context.space.blocks:
        return "the inputs hold no images or sequences"
    if not context.has_data:
        return "no real images are given"
    if context.has_numeric_answers:
        return "the answers are numbers"
    return "the same case gets different answers" if context.unstable else ""


PIXELS = Check(
    name="pixels",
    question="Does a single pixel of an image, or value of a sequence, decide the answer?",
    weight=3,
    find_skip_reason=_find_skip_reason,
    run=check_pixels,
)
