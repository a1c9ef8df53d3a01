"""Relations of probability distributions: compositions of calls and of expectations about two sides.

A case names a function of the distribution and its argument (`systems/distribution.py`). distributions.csv has the domains of SciPy's
distributions, distributions.toml the tolerances, with a reason each.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._tables import read_document, read_rows
from ...errors import DataError, ModelError
from ...space.constraints import Rule
from ...space.features import Continuous
from ...space.outputs import Outputs
from ...space.points import Points
from ...space.space import Space
from ...systems.distribution import (
    ALONE,
    AMONG_OTHERS,
    AMONG_SHAPES,
    ARGUMENT,
    FUNCTION,
    LOWER_END,
    UPPER_END,
    Distribution,
)
from ..algebra.base import Mask
from ..algebra.domain import NumberRange, RangeDomain
from ..algebra.function import AT_MOST, EQUAL, Allowance, compare_numbers
from ..patterns.relation import Answers, InputPattern, OutputPattern, PatternRelation

Floats = npt.NDArray[np.float64]
Frame = Any  # a frame of pandas, which is imported late
_CONSTRAINT = re.compile(r"(\w+(?: [+-] \w+)*) (<|<=|>|!=) ([\w.]+)")
_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, "!=": operator.ne}
PREFIX = "distribution"  # of the names of relations
MIN_ARGUMENT = 1e-290  # below it, numbers lose digits
MAX_ARGUMENT = 1e15  # beyond it, neighbouring numbers are whole
MAX_WHOLE_ARGUMENT = 1e5  # some discrete distributions add up all probabilities before it
INFINITE_ARGUMENT = 1e300  # instead of an infinite quantile
NEIGHBOUR_SHARE, NEIGHBOUR_DISTANCE = 1e-9, 1e-13  # by which arguments beside a quantile differ from it
ROUNDING_SHARE = 4e-16  # by which a sum is rounded
STEPS_UP = (0.001, 0.1, 1.0, 10.0, 1000.0)  # of arguments, as multiples of their size
MIN_STEP = 1e-6  # between probabilities whose quantiles are compared, which is more than a cdf errs
SHARES_OF_REST = (1e-6, 1e-3, 0.1, 0.5, 0.9)  # of the way to 1, for probabilities
NODES = (4, 8)  # of the two Gauss-Legendre rules
INTERVAL_SHARE = 0.05  # the length of an interval of integration, as a share of the argument's size
QUADRATURE_AGREEMENT = 1e-4  # of both rules, else the integral is not known
MAX_DENSITY_RATIO = 10.0  # within an interval, else it may hold an end of the support, or a peak
PROBABILITY_DISTANCE = (
    1e-7  # by which probabilities beside a probability differ from it, which is more than integrals err
)
MIN_PROBABILITY = 1e-5  # nearer to 0 and 1, the probabilities beside a probability are too far away

#: kinds of shape parameters, as `NumberRange`s: from a hundredth to a thousand, with plain numbers and limits more often
RANGES: dict[str, NumberRange] = {
    "positive": NumberRange(0.01, 1000, scale="log", special=(0.01, 0.5, 1, 2, 3, 10, 100, 1000), special_share=0.3),
    "nonnegative": NumberRange(0, 1000, scale="log", special=(0, 0.5, 1, 2, 10, 100, 1000), special_share=0.3),
    "real": NumberRange(-100, 100, scale="log", special=(-100, -1, 0, 0.5, 1, 2, 100), special_share=0.3),
    "whole": NumberRange(1, 1000, whole=True, scale="log", special=(1, 2, 10, 100, 1000), special_share=0.3),
    "unit": NumberRange(0, 1, special=(0, 1e-6, 0.5, 1), special_share=0.3),
}


# -- facts ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DistributionRow:
    """What is known of a distribution: the domain of its shape parameters, and its mirror image."""

    name: str
    kind: Literal["continuous", "discrete"]
    shapes: tuple[str, ...] = ()  # "df positive", or limits: "p 0 1", "n 1 50 whole", "c 0.1 9 log"
    constraints: tuple[str, ...] = ()
    reflection: tuple[str, ...] = ()  # "argument = -argument": the columns of its mirror image
    cases: int = 1_000_000  # at most so many cases, because it is slow
    note: str = ""

    def __post_init__(self) -> None:
        for text in self.reflection:
            parse_assignment(text)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The constraints as functions of a frame."""
        return tuple(map(parse_constraint, self.constraints))

    @property
    def ranges(self) -> dict[str, NumberRange]:
        """The ranges of the shape parameters."""
        return dict(map(parse_range, self.shapes))


def parse_constraint(text: str) -> Rule:
    """Return a comparison of a column, or of a sum of columns, with a column or a number."""
    match = _CONSTRAINT.fullmatch(text)
    if match is None:
        raise DataError(f"{text!r} is not a constraint. Write one such as a - b > 0 or n <= M.")
    left, relation, right = match.groups()
    terms = [("-" if term.startswith("-") else "+", term.lstrip("+- ")) for term in re.findall(r"[+-]? ?\w+", left)]

    def is_satisfied(frame: Frame) -> Any:
        value = sum(frame[name] if sign == "+" else -frame[name] for sign, name in terms)
        return _COMPARISONS[relation](value, frame[right] if right in frame.columns else float(right))

    return Rule(is_satisfied, text)


def parse_range(text: str) -> tuple[str, NumberRange]:
    """Return the name and the range of a parameter from a text such as df 1 10 whole or a positive."""
    name, *words = text.split()
    if len(words) == 1 and words[0] in RANGES:
        return name, RANGES[words[0]]
    try:
        low, high = float(words[0]), float(words[1])
    except (IndexError, ValueError):
        raise DataError(
            f"{text!r} is not a range. Write a name and one of {', '.join(RANGES)}, or a name and two limits."
        ) from None
    if "halves" in words:  # relations of parameters to each other matter, such as a whole difference
        halves = tuple(value / 2 for value in range(math.ceil(2 * low), math.floor(2 * high) + 1))
        return name, NumberRange(low, high, special=halves, special_share=0.6)
    if "tails" in words:  # probabilities near both limits
        tails = [low + (high - low) * 10.0**-power for power in range(1, 10)]
        return name, NumberRange(low, high, special=(*tails, *(high - tail for tail in tails)), special_share=0.6)
    special = (low, high, *(value for value in (0.0, 1.0, 2.0) if low < value < high))
    scale = "log" if "log" in words else "linear"
    return name, NumberRange(low, high, whole="whole" in words, scale=scale, special=special, special_share=0.2)


def parse_assignment(text: str) -> tuple[str, str, str, str]:
    """Return the column that changes, a constant or column, an operator, and the column behind it."""
    target, _, formula = (part.strip() for part in text.partition("="))
    for symbol in "-/":
        before, sign, column = formula.partition(symbol)
        if sign:
            return target, before.strip() or "0", sign, column.strip()
    return target, "0", "+", formula


@dataclass(frozen=True, kw_only=True)
class ToleranceRow:
    """A relation: what it says, by how much the sides may differ, and why so much."""

    name: str
    statement: str
    why: str
    relative: float = 0.0
    absolute: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ToleranceTable:
    """The document distributions.toml."""

    relations: tuple[ToleranceRow, ...]


@cache
def read_distributions() -> dict[str, DistributionRow]:
    """Return the facts about distributions by name."""
    return {row.name: row for row in read_rows(__package__, "distributions.csv", DistributionRow)}


@cache
def read_relation_rows() -> dict[str, ToleranceRow]:
    """Return the statements and tolerances of relations by name."""
    return {row.name: row for row in read_document(__package__, "distributions.toml", ToleranceTable).relations}


def find_facts(system: Distribution) -> DistributionRow:
    """Return the facts about a distribution; of one that is not in the table, what it says of itself."""
    name = str(getattr(system.model, "name", ""))
    row = read_distributions().get(name)
    if row is not None and not row.cases:
        raise ModelError(
            f"There are no relations for {name}: it {row.note}. Pass your own: dm.check(model, relations=[...])."
        )
    if row is not None and tuple(row.ranges) == system.shapes:
        return row
    shapes = []
    for info in getattr(system.model, "_shape_info", list)():
        kind = "whole" if info.integrality else "real" if info.domain[0] < 0 else "positive"
        low, high = (float(limit) for limit in info.domain)
        suffix = " whole" if info.integrality else ""
        limits = f"{max(low, -1e3)} {min(high, 1e3)}{suffix}"
        shapes.append(f"{info.name} {limits if np.isfinite([low, high]).all() else kind}")
    if len(shapes) != len(system.shapes):
        shapes = [f"{shape} positive" for shape in system.shapes]
    return DistributionRow(name=name, kind=system.kind, shapes=tuple(shapes))


# -- cases ---------------------------------------------------------------------------------------------------------------


def prepare_distribution(model: Any, count: int, seed: int, cases: Frame = None) -> tuple[Distribution, Frame]:
    """Return a distribution as a system, and cases of its functions, by default random ones."""
    system = Distribution(model)
    facts = find_facts(system)
    features: list[Any] = [system.functions, Continuous(ARGUMENT)]
    if facts.shapes:
        features += RangeDomain.build(facts.ranges, facts.rules).space.features
    features += [Continuous(name) for name in system.parameters if name not in system.shapes]
    system.space = Space(features, constraints=facts.rules)
    return system, _draw_cases(system, facts, count, np.random.default_rng(seed)) if cases is None else cases


def _draw_cases(system: Distribution, facts: DistributionRow, count: int, rng: np.random.Generator) -> Frame:
    """Return random cases: half of the cdf, the others of ppf and isf."""
    count = min(count, facts.cases)
    places = np.arange(count)
    frame = pd.DataFrame({FUNCTION: np.where(places % 2 == 0, "cdf", np.where(places % 4 == 1, "ppf", "isf"))})
    frame[ARGUMENT] = _draw_probabilities(count, rng)
    if facts.shapes:
        frame[list(system.shapes)] = RangeDomain.build(facts.ranges, facts.rules).sample(count, rng)
    for name in system.parameters[len(system.shapes) :]:
        frame[name] = float(name == "scale")
    is_cdf = places % 2 == 0
    frame.loc[is_cdf, ARGUMENT] = _draw_arguments(system, frame[is_cdf], rng)
    return frame


def _draw_probabilities(count: int, rng: np.random.Generator) -> Floats:
    """Return half of the probabilities anywhere, the others near 0 or 1."""
    small = 10.0 ** rng.uniform(-10, -1, count)
    tails = np.where(rng.random(count) < 0.6, small, 1 - small)
    return np.where(rng.random(count) < 0.5, rng.uniform(0, 1, count), tails)


def _draw_arguments(system: Distribution, cases: Frame, rng: np.random.Generator) -> Floats:
    """Return half of the arguments where the distribution lies, and the others of all magnitudes."""
    count = len(cases)
    values = system.execute(cases.assign(**{FUNCTION: "ppf"})).values.astype(float)
    magnitudes = 10.0 ** rng.uniform(-3, 3, count)
    anywhere = np.where(rng.random(count) < 0.5, magnitudes, -magnitudes)
    anywhere = np.where(rng.random(count) < 0.3, np.rint(anywhere), anywhere)
    is_far = (rng.random(count) < 0.4) | ~np.isfinite(values) | (np.abs(values) > MAX_ARGUMENT)
    values = np.where(is_far, anywhere, np.where(np.abs(values) < MIN_ARGUMENT, 0, values))
    if system.kind == "discrete":
        values = np.rint(np.clip(values, -MAX_WHOLE_ARGUMENT, MAX_WHOLE_ARGUMENT))
    return np.asarray(values + 0.0)  # no negative zero


# -- changes of a case, and expectations ---------------------------------------------------------------------------------


class CallRelation(PatternRelation):
    """A relation about the cases of one function of a distribution."""

    draws_inputs = True
    input: Calls

    def draw_inputs(self, inputs: Points, rng: np.random.Generator) -> Points:
        """Return the cases of the function."""
        return inputs.take(np.flatnonzero(inputs.frame[FUNCTION].to_numpy() == self.input.source))


@dataclass(frozen=True, kw_only=True)
class Calls(InputPattern):
    """Other calls of the functions of a distribution.

    `calls` gets the cases, their arguments, and the answers if it `uses_answers`. It returns pairs: the name of a function, and the
    columns that change, or arguments.
    """

    pattern: ClassVar[str] = "Calls"
    clause: ClassVar[str] = "other calls"
    calls: Callable[[Frame, Floats, Floats], Sequence[tuple[str, Any]]]
    source: str = "cdf"  # the function of the source cases
    uses_answers: bool = False  # type: ignore[misc]  # a fact of each pattern here

    def make(self, frame: Frame, rng: np.random.Generator) -> list[Frame]:
        """Return the cases, one frame per call."""
        return self.make_from_answers(frame, np.full(len(frame), np.nan), rng)

    def make_from_answers(self, frame: Frame, answers: Answers, rng: np.random.Generator) -> list[Frame]:
        """Return the cases, one frame per call; what is infinite becomes huge."""
        y = np.asarray(answers, dtype=float)
        frames = []
        with np.errstate(all="ignore"):
            for function, changed in self.calls(frame, frame[ARGUMENT].to_numpy(dtype=float), y):
                columns = changed if isinstance(changed, Mapping) else {ARGUMENT: changed}
                finite = {name: _to_finite(np.asarray(values, dtype=float)) for name, values in columns.items()}
                frames.append(frame.assign(**{FUNCTION: function}, **finite))
        return frames

    def __rshift__(self, output: object) -> PatternRelation:
        return CallRelation(self, output) if isinstance(output, OutputPattern) else super().__rshift__(output)


def _to_finite(values: Floats) -> Floats:
    return np.nan_to_num(values, nan=0.5, posinf=INFINITE_ARGUMENT, neginf=-INFINITE_ARGUMENT)


@dataclass(frozen=True, kw_only=True)
class AnswersAreNumbers(OutputPattern):
    """All answers are numbers: an error or NaN is a violation."""

    pattern: ClassVar[str] = "Answers"
    clause: ClassVar[str] = "all answers are numbers"
    judges_failures: ClassVar[bool] = True

    def judge_outputs(self, frame: Frame, before: Outputs, afters: Sequence[Outputs]) -> Mask:
        """Return where all calls have an answer."""
        return np.asarray(np.logical_and.reduce([outputs.ok for outputs in (before, *afters)]))


@dataclass(frozen=True, kw_only=True)
class Sides(OutputPattern):
    """Two sides, computed from arguments and answers, are equal, or the first is at most the second."""

    pattern: ClassVar[str] = "Sides"
    clause: ClassVar[str] = "the two sides agree"
    sides: Callable[..., tuple[Any, Any]]  # of the arguments, the answers of the source cases, and those of the calls
    comparison: str = EQUAL
    relative: float = 0.0
    absolute: float = 0.0

    def compare(self, frame: Frame, before: Answers, afters: list[Answers]) -> Mask:
        """Return where the sides agree; sides that are not defined agree."""
        answers = [np.asarray(column, dtype=float) for column in (before, *afters)]
        with np.errstate(all="ignore"):
            left, right = self.sides(frame[ARGUMENT].to_numpy(dtype=float), *answers)
            allowance = Allowance(self.relative, self.absolute)
            compared = compare_numbers((left, right), self.comparison, allowance, len(before), self.pattern)
        return np.asarray(compared.holds | ~compared.defined)


def equal(sides: Callable[..., tuple[Any, Any]]) -> Sides:
    """Return the expectation that both sides are equal."""
    return Sides(sides=sides)


def at_most(sides: Callable[..., tuple[Any, Any]]) -> Sides:
    """Return the expectation that the first side is at most the second."""
    return Sides(sides=sides, comparison=AT_MOST)


def between(low: Floats, value: Floats, high: Floats) -> tuple[Any, Any]:
    """Return the sides that say that a value lies between two others."""
    return np.stack([low, value], axis=1), np.stack([value, high], axis=1)


def _rise(x: Floats, *answers: Floats) -> tuple[Any, Any]:
    return np.stack(answers[:-1], axis=1), np.stack(answers[1:], axis=1)


def _fall(x: Floats, source: Floats, *answers: Floats) -> tuple[Any, Any]:
    return np.stack(answers[1:], axis=1), np.stack(answers[:-1], axis=1)


# -- the relations -------------------------------------------------------------------------------------------------------


def build_distribution_relations(model: Any) -> dict[str, PatternRelation]:
    """Return the relations of a distribution by name, with the statements and tolerances of distributions.toml."""
    system = model if isinstance(model, Distribution) else Distribution(model)
    facts = find_facts(system)
    relations = _relate_functions("pdf" if system.kind == "continuous" else "pmf") | _relate_quantiles(system.kind)
    relations |= _relate_density() if system.kind == "continuous" else _relate_steps()
    if facts.reflection:
        is_positive = any(text.endswith(f"/{ARGUMENT}") for text in facts.reflection)
        relations["reflection"] = Calls(calls=lambda case, x, y: _list_reflections(facts, case)) >> at_most(
            lambda x, cdf, high, low: between(low, np.where(is_positive & (x <= 0), np.nan, cdf), high)
        )
    return {f"{PREFIX}.{name}": _finish(f"{PREFIX}.{name}", relation) for name, relation in relations.items()}


def _finish(name: str, relation: PatternRelation) -> PatternRelation:
    row = read_relation_rows()[name]
    if isinstance(relation.output, Sides):
        relation.output = replace(relation.output, relative=row.relative, absolute=row.absolute)
    relation = relation.named(name, statement=row.statement, domain="probability distributions")
    relation.reason = row.why
    return relation


def _relate_functions(density: str) -> dict[str, PatternRelation]:
    """Return the relations between the functions of an argument."""
    whole = density == "pmf"

    def shift(case: Frame, x: Floats, y: Floats) -> list[tuple[str, Any]]:
        distance = 0 if whole else ROUNDING_SHARE * (1 + np.abs(x))
        return [("cdf", {ARGUMENT: x + 1, "loc": np.ones(len(x))}), ("cdf", x - distance), ("cdf", x + distance)]

    names = ("sf", "logcdf", "logsf", density, f"log{density}")
    pairs = tuple(name for pair in (density, "logcdf") for name in (pair, f"{pair}{AMONG_OTHERS}"))
    return {
        "answers": Calls(calls=lambda case, x, y: [(name, x) for name in names]) >> AnswersAreNumbers(),
        "range": Calls(calls=lambda case, x, y: [("sf", x), (density, x)])
        >> at_most(lambda x, cdf, sf, pdf: (np.max([cdf - 1, sf - 1, -cdf, -sf, -pdf], axis=0), 0)),
        "complement": Calls(calls=lambda case, x, y: [("sf", x)]) >> equal(lambda x, cdf, sf: (cdf + sf, 1)),
        "rising cdf": Calls(calls=lambda case, x, y: [("cdf", step) for step in _step_up(x, whole)]) >> at_most(_rise),
        "falling sf": Calls(calls=lambda case, x, y: [("sf", step) for step in [x, *_step_up(x, whole)]])
        >> at_most(_fall),
        "ends": Calls(calls=lambda case, x, y: [(LOWER_END, x), (UPPER_END, x)])
        >> equal(lambda x, cdf, low, high: (np.abs(low) + np.abs(1 - high), 0)),
        "logarithm of density": Calls(calls=lambda case, x, y: [(density, x), (f"log{density}", x)])
        >> equal(lambda x, cdf, value, logarithm: (np.exp(logarithm), value)),
        "logarithm of cdf": Calls(calls=lambda case, x, y: [("logcdf", x)])
        >> equal(lambda x, cdf, logarithm: (np.exp(logarithm), cdf)),
        "logarithm of sf": Calls(calls=lambda case, x, y: [("sf", x), ("logsf", x)])
        >> equal(lambda x, cdf, sf, logarithm: (np.exp(logarithm), sf)),
        "shift": Calls(calls=shift) >> at_most(lambda x, cdf, shifted, low, high: between(low, shifted, high)),
        "broadcast answers": Calls(calls=lambda case, x, y: [(f"{name}{AMONG_OTHERS}", x) for name in ("cdf", *names)])
        >> AnswersAreNumbers(),
        "broadcast": Calls(calls=lambda case, x, y: [(name, x) for name in (f"cdf{AMONG_OTHERS}", *pairs)])
        >> equal(
            lambda x, cdf, other, *values: (
                np.stack([cdf, *values[::2]], axis=1),
                np.stack([other, *values[1::2]], axis=1),
            )
        ),
        "several shapes": Calls(
            calls=lambda case, x, y: [(f"cdf{AMONG_SHAPES}", x), (density, x), (f"{density}{AMONG_SHAPES}", x)]
        )
        >> equal(lambda x, cdf, one, value, other: (np.stack([cdf, value], axis=1), np.stack([one, other], axis=1))),
        "alone": Calls(calls=lambda case, x, y: [(f"cdf{ALONE}", x), (density, x), (f"{density}{ALONE}", x)])
        >> equal(lambda x, cdf, one, value, other: (np.stack([cdf, value], axis=1), np.stack([one, other], axis=1))),
    }


def _step_up(x: Floats, whole: bool) -> list[Floats]:
    if whole:
        return [x + np.ceil(step * np.clip(np.abs(x), 1, MAX_WHOLE_ARGUMENT / step)) for step in STEPS_UP]
    return [x + step * np.maximum(np.abs(x), 1e-3) for step in STEPS_UP]


def _relate_quantiles(kind: str) -> dict[str, PatternRelation]:
    """Return the relations about quantiles."""

    def find_neighbours(x: Floats) -> tuple[Floats, Floats]:
        if kind == "discrete":
            return x - 1, x
        distance = NEIGHBOUR_SHARE * np.abs(x) + NEIGHBOUR_DISTANCE
        return x - distance, x + distance

    def drop_infinite(q: Floats, x: Floats) -> Floats:
        return np.where(np.abs(x) < INFINITE_ARGUMENT, q, np.nan)

    def raise_probability(q: Floats) -> list[Floats]:
        return [np.minimum(q + np.maximum(share * (1 - q), MIN_STEP), 1.0) for share in SHARES_OF_REST]

    def judge_return(x: Floats, cdf: Floats, low: Floats, high: Floats) -> tuple[Any, Any]:
        is_clear = (cdf > MIN_PROBABILITY) & (cdf < 1 - MIN_PROBABILITY)
        return between(low, np.where(is_clear, x, np.nan), high)

    def surround(p: Floats) -> list[tuple[str, Any]]:
        return [("ppf", np.clip(p + sign * PROBABILITY_DISTANCE, 0, 1)) for sign in (-1, 1)]

    return {
        "quantile answers": Calls(source="ppf", calls=lambda case, q, y: [("isf", q), (f"ppf{ALONE}", q)])
        >> AnswersAreNumbers(),
        "rising ppf": Calls(source="ppf", calls=lambda case, q, y: [("ppf", step) for step in raise_probability(q)])
        >> at_most(_rise),
        "return of ppf": Calls(
            source="ppf", uses_answers=True, calls=lambda case, q, x: [("cdf", near) for near in find_neighbours(x)]
        )
        >> at_most(lambda q, x, low, high: between(low, drop_infinite(q, x), high)),
        "return of isf": Calls(
            source="isf", uses_answers=True, calls=lambda case, q, x: [("sf", near) for near in find_neighbours(x)]
        )
        >> at_most(lambda q, x, low, high: between(high, drop_infinite(q, x), low)),
        "return of cdf": Calls(uses_answers=True, calls=lambda case, x, p: surround(p)) >> at_most(judge_return),
        "isf": Calls(source="isf", calls=lambda case, q, y: surround(1 - q))
        >> at_most(lambda q, isf, low, high: between(low, isf, high)),
        "ppf alone": Calls(source="ppf", calls=lambda case, q, y: [(f"ppf{ALONE}", q)])
        >> equal(lambda q, ppf, one: (ppf, one)),
    }


def _relate_density() -> dict[str, PatternRelation]:
    """Return the relations between density and cdf."""
    rules = [np.polynomial.legendre.leggauss(count) for count in NODES]

    def compute_length(x: Floats) -> Floats:
        return np.asarray(INTERVAL_SHARE * np.maximum(np.abs(x), 1e-6))

    def list_calls(case: Frame, x: Floats, y: Floats) -> list[tuple[str, Any]]:
        places = [*(node for nodes, _ in rules for node in nodes), -1, 1]
        return [("cdf", x + compute_length(x)), *(("pdf", x + compute_length(x) * (1 + place) / 2) for place in places)]

    def integrate(x: Floats, start: Floats, end: Floats, *densities: Floats) -> tuple[Any, Any]:
        parts = np.split(np.array(densities), [NODES[0], sum(NODES)])
        rough, fine = (
            compute_length(x) / 2 * (weights @ part) for (_, weights), part in zip(rules, parts, strict=False)
        )
        agree = np.abs(rough - fine) <= QUADRATURE_AGREEMENT * np.abs(fine)
        agree &= (np.min(densities, axis=0) > 0) & (
            np.max(densities, axis=0) <= MAX_DENSITY_RATIO * np.min(densities, axis=0)
        )
        return end - start, np.where(agree, fine, np.nan)

    def enlarge(case: Frame, x: Floats, y: Floats) -> list[tuple[str, Any]]:
        larger = {ARGUMENT: 4 * x, "scale": np.full(len(x), 4.0)}
        return [("cdf", larger), ("pdf", x), ("pdf", larger)]

    return {
        "integral": Calls(calls=list_calls) >> equal(integrate),
        "scale": Calls(calls=enlarge)
        >> equal(
            lambda x, cdf, scaled_cdf, pdf, scaled_pdf: (
                np.stack([cdf, pdf], axis=1),
                np.stack([scaled_cdf, 4 * scaled_pdf], axis=1),
            )
        ),
    }


def _relate_steps() -> dict[str, PatternRelation]:
    """Return the relation between probabilities and the cdf."""
    return {
        "steps": Calls(calls=lambda case, k, y: [("cdf", k - 1), ("pmf", k)])
        >> equal(lambda k, cdf, before, pmf: (cdf - before, pmf))
    }


def _list_reflections(facts: DistributionRow, case: Frame) -> list[tuple[str, Any]]:
    """Return the sf of the mirror image at the mirrored argument, and beside it, as rounding may move it."""
    columns = {}
    for target, constant, sign, name in map(parse_assignment, facts.reflection):
        left = case[constant].to_numpy() if constant in case.columns else float(constant)
        right = case[name].to_numpy()
        columns[target] = left - right if sign == "-" else left / right if sign == "/" else right
    mirrored = columns[ARGUMENT]
    distance = ROUNDING_SHARE * np.maximum(np.abs(mirrored), 1)
    if facts.kind == "discrete":  # its sf does not count the argument itself
        return [("sf", columns | {ARGUMENT: mirrored - 1})] * 2
    return [("sf", columns | {ARGUMENT: mirrored + sign * distance}) for sign in (-1, 1)]
