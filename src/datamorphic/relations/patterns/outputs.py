"""The executable output patterns: how the answers to follow-ups relate to the answer to their source.

Answers may be labels, numbers, texts, lists, sets and dicts. The *items* of an answer are the elements of a list or set, the
keys of a dict, or, for a pattern about similarity, the words of a text. A label or number is its own only item.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._validation import is_number, reject, validate_choice
from ...errors import ArgumentError, TestSystemError
from ...space.answers import is_collection, to_hashable
from ...space.outputs import Outputs
from ..algebra.base import ROUNDING_TOLERANCE, Mask, are_same_answers
from ..algebra.one_way import compute_wrongness
from .relation import Answers, OutputPattern, executable, explain, name_part


def list_items(answer: Any, *, words: bool = False) -> tuple[Any, ...]:
    """Return the items of an answer, in order if it has one.

    Examples
    --------
    >>> list_items(["b", "a"]), list_items("red shoes"), list_items("red shoes", words=True), list_items(3)
    (('b', 'a'), ('red shoes',), ('red', 'shoes'), (3,))
    """
    if isinstance(answer, str) and words:
        return tuple(answer.split())
    if isinstance(answer, set | frozenset):
        return tuple(sorted((to_hashable(item) for item in answer), key=repr))
    if is_collection(answer):
        return tuple(to_hashable(item) for item in answer)
    return (to_hashable(answer),)


def is_same(first: Any, second: Any, tolerance: float = 0.0) -> bool:
    """Return whether two answers are the same; numbers up to rounding, or a tolerance.

    Examples
    --------
    >>> is_same([0.1 + 0.2, "a"], (0.3, "a")), is_same({"n": 1.0}, {"n": 1.2}, tolerance=0.5), is_same("1", 1)
    (True, True, False)
    """
    if is_number(first) and is_number(second):
        return math.isclose(
            first, second, rel_tol=ROUNDING_TOLERANCE, abs_tol=max(tolerance, ROUNDING_TOLERANCE * 1e-3)
        )
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(is_same(first[key], second[key], tolerance) for key in first)
    if isinstance(first, list | tuple | np.ndarray) and isinstance(second, list | tuple | np.ndarray):
        return len(first) == len(second) and all(map(is_same, first, second, [tolerance] * len(first)))
    return bool(to_hashable(first) == to_hashable(second))


def compute_overlap(first: Iterable[Any], second: Iterable[Any]) -> float:
    """Return the Jaccard index of two collections of items; 1 if both are empty.

    Examples
    --------
    >>> compute_overlap(["a", "b", "c"], ["b", "c", "d"])
    0.5
    """
    first_items, second_items = set(first), set(second)
    union = first_items | second_items
    return len(first_items & second_items) / len(union) if union else 1.0


def _measure(answer: Any) -> float:
    """Return a number as it is, and the number of items of a collection."""
    if is_number(answer):
        return float(answer)
    if is_collection(answer):
        return float(len(answer))
    raise TestSystemError(
        f"The answer {answer!r} is neither a number nor a collection with a number of items. Compare a part of it: part=..."
    )


def _to_numbers(answers: Answers) -> Answers:
    """Return answers as numbers; collections as their numbers of items."""
    if answers.dtype.kind in "iufb":
        return answers.astype(float)
    return np.array([_measure(answer) for answer in answers], dtype=float)


# -- the same content --------------------------------------------------------------------------------------------------


@executable
class Equal(OutputPattern):
    """The answers have the same content in the same order."""

    pattern = "Equality"
    clause = "the answers are the same{part}"
    tolerance: float = explain("By how much numbers may differ beyond rounding.", 0.0)

    def compare(self, frame: pd.DataFrame | None, before: Answers, afters: list[Answers]) -> Mask:
        """Return which answers are the same, whole columns at once if they are labels or numbers."""
        same = np.ones(len(before), dtype=bool)
        for after in afters:
            if before.dtype.kind in "iuf" and after.dtype.kind in "iuf":
                difference = np.abs(before.astype(float) - after.astype(float))
                size = np.maximum(np.abs(before), np.abs(after)).astype(float)
                same &= difference <= np.maximum(ROUNDING_TOLERANCE * np.maximum(size, 1e-3), self.tolerance)
            elif before.dtype.kind in "bUS" and after.dtype.kind == before.dtype.kind:
                same &= Outputs.of(before).same(Outputs.of(after))
            else:
                pairs = zip(before, after, strict=True)
                same &= np.array([is_same(a, b, self.tolerance) for a, b in pairs], dtype=bool)
        return same


@executable
class Unchanged(Equal):
    """The answer stays the same; numbers up to the rounding of a model, which depends on their precision and spread."""

    clause = "the answer stays the same{part}"

    def compare(self, frame: pd.DataFrame | None, before: Answers, afters: list[Answers]) -> Mask:
        """Return which answers are the same."""
        return np.all([are_same_answers(before, after, self.tolerance) for after in afters], axis=0)


@executable
class FullyEqual(Equal):
    """Every part of the answer is identical."""

    pattern = "Fully-Equal"
    clause = "every part of the answers is identical"


@executable
class SameItems(OutputPattern):
    """The answers have the same items, whatever their order."""

    pattern = "Equivalence"
    clause = "the answers have the same items{part}, in any order"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether the items are the same, with their frequencies."""
        source = Counter(list_items(before))
        return all(Counter(list_items(after)) == source for after in afters)


@executable
class PartlyEqual(OutputPattern):
    """Some parts of the answer are identical."""

    pattern = "Partially-Equal"
    parts: tuple[Any, ...] = explain(
        "The parts that stay the same: keys of a dict, positions in a list, or 'size', 'items' (in any order), 'order'."
    )

    def __post_init__(self) -> None:
        single = isinstance(self.parts, str) or not hasattr(self.parts, "__iter__")
        object.__setattr__(self, "parts", (self.parts,) if single else tuple(self.parts))
        if not self.parts:
            reject("parts", "PartlyEqual", "at least one part", self.parts)

    def describe(self) -> str:
        """Return the expectation in words."""
        names = [str(part) for part in self.parts]
        text = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return f"{text} of the answers {'is' if len(names) == 1 else 'are'} identical"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether the parts are the same."""
        return all(is_same(_get_part(before, part), _get_part(after, part)) for part in self.parts for after in afters)


def _get_part(answer: Any, part: Any) -> Any:
    """Return a part of an answer by key, position, or as one of its general properties."""
    if isinstance(answer, Mapping) and part in answer:
        return answer[part]
    if part == "size":
        return _measure(answer)
    if part == "items":
        return frozenset(Counter(list_items(answer)).items())
    if part == "order":
        return list_items(answer)
    if isinstance(part, int) and isinstance(answer, list | tuple) and -len(answer) <= part < len(answer):
        return answer[part]
    if isinstance(part, int) and isinstance(answer, list | tuple):
        return None  # two lists without this position agree on it
    raise TestSystemError(
        f"The answer {answer!r} has no part {part!r}. Give a key of a dict, a position in a list, 'size', 'items' or 'order'."
    )


@executable
class SameSize(OutputPattern):
    """The answers have the same number of items; an answer that is a number is compared as it is."""

    pattern = "Shuffling"
    clause = "the answers have the same number of items{part}"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether the numbers of items are the same."""
        return all(_measure(after) == _measure(before) for after in afters)


@executable
class Reversed(OutputPattern):
    """The items come in reverse order."""

    pattern = "Change Direction"
    clause = "the items of the answers{part} come in reverse order"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether the items are reversed."""
        items = list_items(before)
        return all(list_items(after) == items[::-1] for after in afters)


@executable
class Alike(OutputPattern):
    """The answers are the same or similar; see `compute_similarity`."""

    pattern = "Similar"
    clause = "the answers{part} are the same or similar (at least {self.at_least:g})"
    at_least: float = explain("The smallest similarity, from 0 to 1.", 0.8)

    def __post_init__(self) -> None:
        if not is_number(self.at_least) or not 0 < self.at_least <= 1:
            reject("at_least", type(self).__name__, "a number above 0 and at most 1", self.at_least)

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether all follow-ups are similar enough."""
        return all(compute_similarity(before, after) >= self.at_least for after in afters)


@executable
class NearlySame(Alike):
    """The answer hardly changes: the same label, nearly the same number, nearly the same items."""

    pattern = "Noise"
    at_least: float = explain("The smallest similarity, from 0 to 1.", 0.999)


def compute_similarity(first: Any, second: Any) -> float:
    """Return how similar two answers are, from 0 to 1.

    Items are compared by the Jaccard index, texts by their words, numbers by their relative difference.

    Examples
    --------
    >>> compute_similarity(9.0, 10.0), compute_similarity("a red hat", "a hat"), compute_similarity("yes", "no")
    (0.9, 0.6666666666666666, 0.0)
    """
    if is_same(first, second):
        return 1.0
    if is_number(first) and is_number(second):
        size = max(abs(first), abs(second))
        return max(0.0, 1 - abs(first - second) / size) if math.isfinite(size) else 0.0
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        keys = [*first, *(key for key in second if key not in first)]
        both = [compute_similarity(first[key], second[key]) if key in first and key in second else 0.0 for key in keys]
        return sum(both) / len(keys)
    words = isinstance(first, str) and isinstance(second, str)
    return compute_overlap(list_items(first, words=words), list_items(second, words=words))


@executable
class Different(OutputPattern):
    """The answers differ: what they have in common is not all they have."""

    pattern = "Difference"
    clause = "the answers{part} differ"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether every follow-up has another set of items."""
        source = set(list_items(before))
        return all(source & set(list_items(after)) != source | set(list_items(after)) for after in afters)


# -- sets of items -----------------------------------------------------------------------------------------------------


@executable
class Within(OutputPattern):
    """Every follow-up's items are among the source's."""

    pattern = "Subset"
    clause = "all items of the follow-up's answer{part} are in the source's answer"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether each follow-up is a subset."""
        source = set(list_items(before))
        return all(source.issuperset(list_items(after)) for after in afters)


@executable
class Covers(OutputPattern):
    """The source's items are among every follow-up's."""

    pattern = "Disjunctive Conditions"
    clause = "all items of the source's answer{part} are in the follow-up's answer"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether each follow-up is a superset."""
        source = set(list_items(before))
        return all(source.issubset(list_items(after)) for after in afters)


@executable
class NoneShared(OutputPattern):
    """No two answers share an item."""

    pattern = "Disjoint"
    among: str = explain("'all' answers, or only the 'follow-ups'.", "all")

    def __post_init__(self) -> None:
        validate_choice("among", "NoneShared", self.among, ("all", "follow-ups"))

    def describe(self) -> str:
        """Return the expectation in words."""
        return f"the answers{' to the follow-ups' if self.among == 'follow-ups' else ''}{name_part(self.part)} share no item"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether the answers are pairwise disjoint."""
        answers = [set(list_items(answer)) for answer in ((before, *afters) if self.among == "all" else afters)]
        return all(first.isdisjoint(second) for first, second in combinations(answers, 2))


@executable
class Union(OutputPattern):
    """All follow-ups together have the items of the source."""

    pattern = "Complete"
    clause = "the answers to the follow-ups{part} together have the items of the source's answer"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether the union of the follow-ups is the source."""
        return set(list_items(before)) == {item for after in afters for item in list_items(after)}


@executable
class Split(OutputPattern):
    """The follow-ups share no item, and together they have the items of the source."""

    pattern = "Partition Difference"
    clause = (
        "the answers to the follow-ups{part} share no item, and together they have the items of the source's answer"
    )

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether the follow-ups partition the source."""
        parts = [set(list_items(after)) for after in afters]
        union = set().union(*parts)
        return sum(map(len, parts)) == len(union) and union == set(list_items(before))


@executable
class SetRelation(OutputPattern):
    """The sets of items are in a relation of set theory."""

    pattern = "Sets"
    relation: str = explain(
        "What each follow-up is to the source: 'subset', 'superset', 'equal' or 'disjoint'.", "subset"
    )

    def __post_init__(self) -> None:
        validate_choice("relation", "SetRelation", self.relation, ("subset", "superset", "equal", "disjoint"))

    def describe(self) -> str:
        """Return the expectation in words."""
        texts = {
            "subset": "is a subset of the source's",
            "superset": "is a superset of the source's",
            "equal": "is equal to the source's",
            "disjoint": "is disjoint from the source's",
        }
        return f"the set of items of the follow-up's answer{name_part(self.part)} {texts[self.relation]}"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether every follow-up is in the relation."""
        source = set(list_items(before))
        compare = {
            "subset": source.issuperset,
            "superset": source.issubset,
            "equal": lambda items: source == set(items),
            "disjoint": source.isdisjoint,
        }[self.relation]
        return all(compare(list_items(after)) for after in afters)


# -- numbers -----------------------------------------------------------------------------------------------------------


@executable
class Ordered(OutputPattern):
    """The follow-up's number is not smaller (or not larger) than the source's; collections count their items."""

    pattern = "Monotone"
    direction: str = explain("'up': the answer must not fall; 'down': it must not rise.", "up")
    strict: bool = explain("Whether the answer must change.", False)
    tolerance: float = explain("By how much numbers may differ in the wrong direction, beyond rounding.", 0.0)

    def __post_init__(self) -> None:
        validate_choice("direction", "Ordered", self.direction, ("up", "down"))

    def describe(self) -> str:
        """Return the expectation in words."""
        if self.strict:
            return f"the answer{name_part(self.part)} {'rises' if self.direction == 'up' else 'falls'}"
        return f"the answer{name_part(self.part)} does not {'fall' if self.direction == 'up' else 'rise'}"

    def compare(self, frame: pd.DataFrame | None, before: Answers, afters: list[Answers]) -> Mask:
        """Return which follow-ups are in order, one after the other."""
        ordered = np.ones(len(before), dtype=bool)
        numbers = [_to_numbers(answers) for answers in (before, *afters)]
        for after in numbers[1:]:
            wrongness = compute_wrongness(numbers[0], after, self.direction)
            size = np.maximum(np.abs(numbers[0]), np.abs(after))
            ordered &= (
                wrongness < 0 if self.strict else wrongness <= np.maximum(ROUNDING_TOLERANCE * size, self.tolerance)
            )
        return ordered


@executable
class AffineAnswer(OutputPattern):
    """The follow-up's number is ``factor * number + amount``."""

    pattern = "Affine"
    factor: float = explain("The number that the source's answer is multiplied by.", 1.0)
    amount: float = explain("The number that is added.", 0.0)
    tolerance: float = explain("By how much numbers may differ beyond rounding.", 0.0)

    def describe(self) -> str:
        """Return the expectation in words."""
        if self.factor == 1 and self.amount == 0:
            return f"the answer{name_part(self.part)} stays the same"
        if self.factor == -1 and self.amount == 0:
            return f"the follow-up's answer{name_part(self.part)} is the negative of the source's answer"
        parts = [f"multiplied by {self.factor:g}"] if self.factor != 1 else []
        parts += [f"increased by {self.amount:g}"] if self.amount > 0 else []
        parts += [f"decreased by {-self.amount:g}"] if self.amount < 0 else []
        return f"the answer{name_part(self.part)} is {' and '.join(parts)}"

    def compare(self, frame: pd.DataFrame | None, before: Answers, afters: list[Answers]) -> Mask:
        """Return which numbers are as computed."""
        expected = self.factor * _to_numbers(before) + self.amount
        as_computed = np.ones(len(before), dtype=bool)
        for after in map(_to_numbers, afters):
            size = np.maximum(np.maximum(np.abs(expected), np.abs(after)), 1e-3)
            as_computed &= np.abs(after - expected) <= np.maximum(ROUNDING_TOLERANCE * size, self.tolerance)
        return as_computed


@executable
class AddedAnswer(AffineAnswer):
    """A number is added to the answer; by default none."""

    pattern = "Additive"


@executable
class MultipliedAnswer(AffineAnswer):
    """The answer is multiplied; by default by 1."""

    pattern = "Multiplicative"


@executable
class EvenOrOdd(AffineAnswer):
    """The answer stays the same (an even function) or changes its sign (an odd one)."""

    pattern = "Symmetric"
    odd: bool = explain("Whether the answer changes its sign.", False)

    def __post_init__(self) -> None:
        if self.factor != 1 or self.amount != 0:
            raise ArgumentError(
                "EvenOrOdd takes odd=True or odd=False. For another factor or amount use the pattern Affine."
            )
        object.__setattr__(self, "factor", -1.0 if self.odd else 1.0)


# -- several follow-ups together, and answers that become inputs -------------------------------------------------------


@executable
class Joined(OutputPattern):
    """The answers to the parts, one after the other, are the answer to the whole.

    Texts are joined with a space, lists are appended, numbers are added up.
    """

    pattern = "Combination"
    at_least: float = explain("The smallest similarity, from 0 to 1; 1 means the same.", 1.0)
    separator: str = explain("The text between the answers.", " ")

    def describe(self) -> str:
        """Return the expectation in words."""
        degree = (
            "the source's answer"
            if self.at_least == 1
            else f"similar to the source's answer (at least {self.at_least:g})"
        )
        return f"the answers to the parts, one after the other, are {degree}"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether the joined answers are the source's."""
        if all(isinstance(answer, str) for answer in afters):
            whole: Any = self.separator.join(answer for answer in afters if answer)
        elif all(is_number(answer) for answer in afters):
            whole = sum(afters)
        else:
            whole = tuple(item for answer in afters for item in list_items(answer))
            before = list_items(before)
        return is_same(before, whole) if self.at_least == 1 else compute_similarity(before, whole) >= self.at_least


@executable
class Returned(OutputPattern):
    """The last answer is the original input."""

    pattern = "Round Trip"
    column: str = explain("The column of the original input.")
    at_least: float = explain("The smallest similarity, from 0 to 1; 1 means the same.", 1.0)
    tolerance: float = explain("By how much numbers may differ beyond rounding.", 0.0)

    def describe(self) -> str:
        """Return the expectation in words."""
        degree = "is" if self.at_least == 1 else f"is similar to (at least {self.at_least:g})"
        return f"the answer {degree} the original {self.column}"

    def compare(self, frame: pd.DataFrame | None, before: Answers, afters: list[Answers]) -> Mask:
        """Return which last answers are the input."""
        if frame is None or self.column not in frame.columns:
            raise ArgumentError(
                f"The output pattern {self.pattern!r} needs the source cases with their column {self.column!r}."
            )
        pairs = zip(frame[self.column].tolist(), afters[-1], strict=True)
        if self.at_least == 1:
            return np.array([is_same(original, last, self.tolerance) for original, last in pairs], dtype=bool)
        return np.array([compute_similarity(original, last) >= self.at_least for original, last in pairs], dtype=bool)


@executable
class InverseReturned(Returned):
    """The inverse of the answer is the original number."""

    pattern = "Inverse"
