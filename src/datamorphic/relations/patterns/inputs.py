"""The executable input patterns: how follow-up cases come from source cases."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._validation import is_number, reject, validate_choice
from ...errors import ArgumentError
from ..algebra.base import Mask
from .relation import Answers, InputPattern, executable, explain

ANY = "any"  # the usual value of a filter that does not restrict anything
LINKING_WORDS = ("for", "with", "and", "of", "the", "a", "an", "in")
MARKS = ".!?"


def _list_values(values: object) -> str:
    items = list(values) if isinstance(values, list | tuple | set | frozenset) else [values]
    texts = list(map(repr, items))
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


def _list_columns(columns: tuple[str, ...]) -> str:
    return columns[0] if len(columns) == 1 else f"{', '.join(columns[:-1])} and {columns[-1]}"


def _set_tuple(pattern: InputPattern, name: str, minimum: int = 1, noun: str = "value") -> None:
    """Turn a field into a tuple; a single text is one item."""
    value = getattr(pattern, name)
    items = (value,) if isinstance(value, str) or not hasattr(value, "__iter__") else tuple(value)
    if len(items) < minimum:
        reject(name, type(pattern).__name__, f"at least {minimum} {noun}(s)", value)
    object.__setattr__(pattern, name, items)


def _pair_opposites(directions: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return every value with its opposite, in both directions."""
    return {**{value: key for key, value in directions.items()}, **directions}


def _reverse(frame: pd.DataFrame, column: str, directions: Mapping[Any, Any]) -> pd.DataFrame:
    """Return a frame with the opposite value in a column, where there is one."""
    opposites = _pair_opposites(directions)
    return frame.assign(**{column: [opposites.get(value, value) for value in frame[column].tolist()]})


def _set_values(frame: pd.DataFrame, column: str, values: tuple[Any, ...]) -> list[pd.DataFrame]:
    """Return one frame per value, in which all rows have the value."""
    return [frame.assign(**{column: [value] * len(frame)}) for value in values]


def _is_missing(values: pd.Series[Any]) -> Mask:
    return np.asarray(values.isna(), dtype=bool)


# -- any change of a case ----------------------------------------------------------------------------------------------


@executable
class Transform(InputPattern):
    """Any function of a frame: for changes that no other input pattern makes."""

    pattern = "Symmetry"
    change: Callable[[pd.DataFrame], Any] = field(
        metadata={"help": "A function of a frame that returns the follow-up frame, or several."}
    )
    statement: str = explain("The change in words: 'the picture is mirrored'.", "the case is seen from another side")

    def describe(self) -> str:
        """Return the change in words."""
        return self.statement

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return what the function makes."""
        frames = self.change(frame)
        return list(frames) if isinstance(frames, list | tuple) else [frames]


@executable
class Swap(InputPattern):
    """Two columns exchange their values: the same thing, seen from its other side."""

    pattern = "Symmetry"
    clause = "{self.columns[0]} and {self.columns[1]} exchange their values"
    columns: tuple[str, str] = explain("The two columns that exchange their values.")

    def __post_init__(self) -> None:
        _set_tuple(self, "columns", 2, "column")
        if len(self.columns) != 2:
            reject("columns", "Swap", "two columns", self.columns)

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the cases with exchanged values."""
        first, second = self.columns
        return [frame.assign(**{first: frame[second], second: frame[first]})]


@executable
class Permute(InputPattern):
    """The values of several columns are put in another order, a random one per case."""

    pattern = "Permutation"
    columns: tuple[str, ...] = explain("The columns whose values are permuted.")

    def __post_init__(self) -> None:
        _set_tuple(self, "columns", 2, "column")

    def describe(self) -> str:
        """Return the change in words."""
        return f"the values of {_list_columns(self.columns)} are put in another order"

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the cases with permuted values."""
        values = frame[list(self.columns)].to_numpy()
        order = np.argsort(rng.random(values.shape), axis=1)
        still = (order == np.arange(values.shape[1])).all(axis=1)
        order[still] = np.roll(order[still], 1, axis=1)  # the identity would change nothing
        permuted_values = np.take_along_axis(values, order, axis=1)
        return [frame.assign(**{name: permuted_values[:, place] for place, name in enumerate(self.columns)})]


# -- numbers -----------------------------------------------------------------------------------------------------------


@executable
class AffineChange(InputPattern):
    """Every number becomes ``factor * number + amount``."""

    pattern = "Affine"
    columns: tuple[str, ...] = explain("The numeric columns to change.")
    factor: float = explain("The number to multiply by.", 1.0)
    amount: float = explain("The number to add.", 0.0)

    def __post_init__(self) -> None:
        _set_tuple(self, "columns", 1, "column")
        for name in ("factor", "amount"):
            value = getattr(self, name)
            if not is_number(value) or not math.isfinite(value):
                reject(name, type(self).__name__, "a finite number", value)
        if self.factor == 1 and self.amount == 0:
            raise ArgumentError(
                f"{type(self).__name__} with factor 1 and amount 0 changes nothing. Give another number."
            )

    def describe(self) -> str:
        """Return the change in words."""
        columns = _list_columns(self.columns)
        if self.factor == -1 and self.amount == 0:
            return f"{columns} changes its sign" if len(self.columns) == 1 else f"{columns} change their signs"
        parts = [f"multiplied by {self.factor:g}"] if self.factor != 1 else []
        parts += [f"increased by {self.amount:g}"] if self.amount > 0 else []
        parts += [f"decreased by {-self.amount:g}"] if self.amount < 0 else []
        return f"{columns} {'is' if len(self.columns) == 1 else 'are'} {' and '.join(parts)}"

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which cases have all numbers."""
        return np.asarray(frame[list(self.columns)].notna().all(axis=1), dtype=bool)

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the changed cases."""
        self._check_numbers(frame)
        return [frame.assign(**{name: frame[name] * self.factor + self.amount for name in self.columns})]

    def _check_numbers(self, frame: pd.DataFrame) -> None:
        for name in self.columns:
            if frame[name].dtype.kind not in "iufb":
                raise ArgumentError(
                    f"The input pattern {self.pattern!r} needs numbers, but the column {name!r} has {frame[name].dtype}."
                )


@executable
class Add(AffineChange):
    """A number is added."""

    pattern = "Additive"
    amount: float = explain("The number to add.", 1.0)


@executable
class Multiply(AffineChange):
    """Every number is multiplied."""

    pattern = "Multiplicative"
    factor: float = explain("The number to multiply by.", 2.0)


@executable
class Increase(AffineChange):
    """A number grows: by an amount, or by a factor if it is positive."""

    pattern = "Monotone"
    amount: float = explain("The amount to add; negative to decrease the number.", 0.0)
    factor: float = explain("The factor to multiply by; then numbers that are not positive are left out.", 1.0)

    def __post_init__(self) -> None:
        if self.amount == 0 and self.factor == 1:
            object.__setattr__(self, "amount", 1.0)
        AffineChange.__post_init__(self)
        if self.factor <= 0:
            reject("factor", "Increase", "a positive number", self.factor)

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which cases have numbers that the factor moves in one direction."""
        applies = AffineChange.applies(self, frame)
        if self.factor == 1:
            return applies
        return applies & np.asarray((frame[list(self.columns)] > 0).all(axis=1), dtype=bool)


@executable
class Negate(AffineChange):
    """A number changes its sign."""

    pattern = "Symmetric"
    factor: float = explain("The number to multiply by.", -1.0)


@executable
class Perturb(InputPattern):
    """A tiny change: numbers by a share of their spread, texts by the case of one letter or by a space.

    Integers and categories are left alone, because they have no tiny change; texts only change in the columns that are named.
    """

    pattern = "Noise"
    columns: tuple[str, ...] = explain("The columns to change; by default all columns of real numbers.", ())
    size: float = explain("The size of the noise, as a share of the standard deviation of the column.", 1e-6)

    def __post_init__(self) -> None:
        _set_tuple(self, "columns", 0, "column")
        if not is_number(self.size) or not 0 < self.size < math.inf:
            reject("size", type(self).__name__, "a positive number", self.size)

    def describe(self) -> str:
        """Return the change in words."""
        return f"{_list_columns(self.columns) if self.columns else 'the case'} gets a little noise"

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the cases with noise."""
        names = self.columns or tuple(name for name in frame.columns if frame[name].dtype.kind == "f")
        if not names:
            raise ArgumentError(
                f"The data have no column of real numbers to change. Name the columns for {self.pattern}."
            )
        changes: dict[str, Any] = {}
        for name in names:
            if frame[name].dtype.kind in "iuf":
                spread = float(frame[name].std(ddof=0)) or float(frame[name].abs().max()) or 1.0
                changes[name] = frame[name] + self.size * spread * rng.choice([-1.0, 1.0], size=len(frame))
            else:
                places = rng.random(len(frame))
                pairs = zip(frame[name].tolist(), places.tolist(), strict=True)
                changes[name] = [_perturb_text(text, place) if isinstance(text, str) else text for text, place in pairs]
        return [frame.assign(**changes)]


def _perturb_text(text: str, place: float) -> str:
    """Change the case of one letter, or double a space."""
    places = [i for i, letter in enumerate(text) if (letter.isalpha() and letter.swapcase() != letter) or letter == " "]
    if not places:
        return text + " "
    position = places[int(place * len(places))]
    return text[:position] + ("  " if text[position] == " " else text[position].swapcase()) + text[position + 1 :]


@executable
class Vary(Perturb):
    """A small change that may matter, and should matter little."""

    pattern = "Similar"
    size: float = explain("The size of the change, as a share of the standard deviation of the column.", 0.05)

    def describe(self) -> str:
        """Return the change in words."""
        return f"{_list_columns(self.columns) if self.columns else 'the case'} changes a little"


# -- queries: filters, sorting rules, words ----------------------------------------------------------------------------


@executable
class Redirect(InputPattern):
    """A value with a direction is replaced by the value of the opposite direction."""

    pattern = "Change Direction"
    clause = "the direction of {self.column} is reversed"
    column: str = explain("The column with the direction, such as the sorting rule.")
    directions: Mapping[Any, Any] = explain("Each value with its opposite; pairs count in both directions.")

    def __post_init__(self) -> None:
        if not isinstance(self.directions, Mapping) or not self.directions:
            reject("directions", type(self).__name__, "a mapping of values to their opposites", self.directions)

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which cases have a direction."""
        return np.asarray(frame[self.column].isin(list(_pair_opposites(self.directions))), dtype=bool)

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the cases with the opposite direction."""
        return [_reverse(frame, self.column, self.directions)]


@executable
class Resort(Redirect):
    """The sorting rule is replaced by another one."""

    pattern = "Shuffling"
    clause = "the sorting rule in {self.column} is replaced by another one"
    column: str = explain("The column with the sorting rule.")
    directions: Mapping[Any, Any] = explain("Sorting rules in pairs; each is replaced by the other one of its pair.")


@executable
class Restrict(InputPattern):
    """A filter that was not set gets a value: a condition is added with "and"."""

    pattern = "Conjunctive Conditions"
    column: str = explain("The column of the filter.")
    values: tuple[Any, ...] = explain("The values to set, one follow-up each.")
    unset: Any = field(default=ANY, metadata={"help": "The value of the filter if it is not set."})

    def __post_init__(self) -> None:
        _set_tuple(self, "values")
        try:
            has_unset = self.unset in self.values
        except (TypeError, ValueError):
            reject(
                "values",
                type(self).__name__,
                "texts, numbers or other values that can be compared with unset",
                self.values,
            )
        if has_unset:
            reject(
                "values",
                type(self).__name__,
                f"values other than {self.unset!r}, which means that it is not set",
                self.values,
            )

    def describe(self) -> str:
        """Return the change in words."""
        return f"{self.column} is restricted to {_list_values(self.values)}"

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which cases do not have the condition yet."""
        return np.asarray(frame[self.column] == self.unset, dtype=bool)

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return one follow-up per value."""
        return _set_values(frame, self.column, self.values)


@executable
class Partition(Restrict):
    """A filter that was not set gets each of its values in turn: the input is cut into parts."""

    pattern = "Complete Partitions"
    values: tuple[Any, ...] = explain("All values of the filter, one follow-up each.")

    def __post_init__(self) -> None:
        _set_tuple(self, "values", 2)
        Restrict.__post_init__(self)

    def describe(self) -> str:
        """Return the change in words."""
        return f"{self.column} is restricted to each of its values"


@executable
class OtherParts(InputPattern):
    """A filter gets each of its other values: the other parts of the same partition."""

    pattern = "Disjoint Partitions"
    clause = "{self.column} gets another of its values"
    column: str = explain("The column of the filter.")
    values: tuple[Any, ...] = explain("Values of the filter that exclude each other.")

    def __post_init__(self) -> None:
        _set_tuple(self, "values", 2)

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which cases are in one of the parts."""
        return np.asarray(frame[self.column].isin(list(self.values)), dtype=bool)

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return one follow-up per other part."""
        places = {value: place for place, value in enumerate(self.values)}
        own_places = [places.get(value, 0) for value in frame[self.column].tolist()]
        count = len(self.values)
        columns = ([self.values[(place + step) % count] for place in own_places] for step in range(1, count))
        return [frame.assign(**{self.column: values}) for values in columns]


@executable
class Widen(InputPattern):
    """A text gets alternatives with "or"."""

    pattern = "Disjunctive Conditions"
    column: str = explain("The column of the query.")
    alternatives: tuple[str, ...] = explain("The alternatives that are added, all to one follow-up.")
    operator: str = explain("The text that the system understands as 'or'.", " OR ")

    def __post_init__(self) -> None:
        _set_tuple(self, "alternatives")

    def describe(self) -> str:
        """Return the change in words."""
        return f"{self.column} accepts {_list_values(self.alternatives)}, too"

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which cases have a query."""
        return ~_is_missing(frame[self.column])

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the wider queries."""
        end = "".join(self.operator + alternative for alternative in self.alternatives)
        return [frame.assign(**{self.column: [f"{text}{end}" for text in frame[self.column].tolist()]})]


@executable
class ChangeSet(InputPattern):
    """A set that is written in one cell gains, loses or shares elements."""

    pattern = "Sets"
    column: str = explain("The column with the set, as a text of its elements.")
    operation: str = explain("'union', 'difference' or 'intersection'.", "union")
    elements: tuple[str, ...] = explain("The elements of the other set.")
    separator: str = explain("The text between the elements.", ",")

    def __post_init__(self) -> None:
        validate_choice("operation", "ChangeSet", self.operation, ("union", "difference", "intersection"))
        _set_tuple(self, "elements")

    def describe(self) -> str:
        """Return the change in words."""
        verbs = {"union": "gains {}", "difference": "loses {}", "intersection": "keeps only {}"}
        return f"the set {self.column} {verbs[self.operation].format(', '.join(map(repr, self.elements)))}"

    def _change(self, text: str) -> str:
        own_elements = [element.strip() for element in text.split(self.separator) if element.strip()]
        if self.operation == "union":
            own_elements += [element for element in self.elements if element not in own_elements]
        else:
            common = self.operation == "intersection"
            own_elements = [element for element in own_elements if (element in self.elements) == common]
        return self.separator.join(own_elements)

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which sets change."""
        texts = frame[self.column].tolist()
        return np.array([isinstance(text, str) and self._change(text) != text for text in texts], dtype=bool)

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the changed sets."""
        texts = [self._change(text) if isinstance(text, str) else text for text in frame[self.column].tolist()]
        return [frame.assign(**{self.column: texts})]


@executable
class Condition(InputPattern):
    """An irrelevant condition gets other values; without a column, the same case is queried again."""

    pattern = "Irrelevance"
    column: str = explain("The column of the condition. Leave it out to query the same case again.", "")
    values: tuple[Any, ...] = explain("The other values, one follow-up each.", ())
    times: int = explain("How often the same case is queried again, if no column is given.", 1)

    def __post_init__(self) -> None:
        _set_tuple(self, "values", 1 if self.column else 0)
        if not self.column and (not isinstance(self.times, int) or self.times < 1):
            reject("times", "Condition", "a positive integer", self.times)

    @property
    def fresh(self) -> bool:  # type: ignore[override]
        """Whether the same case is queried again, past the cache."""
        return not self.column

    def describe(self) -> str:
        """Return the change in words."""
        return f"only {self.column} changes" if self.column else "the same case is queried again"

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return one follow-up per value."""
        if not self.column:
            return [frame.copy() for _ in range(self.times)]
        return _set_values(frame, self.column, self.values)


# -- texts -------------------------------------------------------------------------------------------------------------


@executable
class TextInput(InputPattern):
    """A change of the text in one column; a subclass implements `rewrite`."""

    column: str = explain("The column with the text.")

    def rewrite(self, text: str) -> str | list[str] | None:
        """Return the follow-up text, or one text per follow-up; None if the pattern does not apply."""
        raise NotImplementedError

    def _rewrite_all(self, frame: pd.DataFrame) -> list[list[str] | None]:
        rewritten: list[list[str] | None] = []
        for text in frame[self.column].tolist():
            texts = self.rewrite(text) if isinstance(text, str) else None
            texts = [texts] if isinstance(texts, str) else texts
            rewritten.append(texts if texts and any(item != text for item in texts) else None)
        return rewritten

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which texts change."""
        return np.array([texts is not None for texts in self._rewrite_all(frame)], dtype=bool)

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the changed texts; a text with fewer follow-ups than others has its last one again."""
        rewritten = self._rewrite_all(frame)
        count = max([len(texts) for texts in rewritten if texts], default=1)
        originals = frame[self.column].tolist()
        columns = [
            [
                original if texts is None else texts[min(place, len(texts) - 1)]
                for original, texts in zip(originals, rewritten, strict=True)
            ]
            for place in range(count)
        ]
        return [frame.assign(**{self.column: texts}) for texts in columns]


def _replace_once(expression: str, replacement: str, text: str) -> str:
    """Replace the first match by a text, in which backslashes mean nothing."""
    return re.sub(expression, lambda _: replacement, text, count=1)


@executable
class Rewrite(TextInput):
    """The same value is written in another way."""

    pattern = "Input Equivalence"
    forms: Mapping[str, str] = explain("Words, phrases or whole values with another way to write them.")

    def __post_init__(self) -> None:
        if not isinstance(self.forms, Mapping) or not self.forms:
            reject("forms", type(self).__name__, "a mapping of texts to other ways to write them", self.forms)

    def describe(self) -> str:
        """Return the change in words."""
        first, second = next(iter(self.forms.items()))
        return f"{self.column} is written in another way, such as {second!r} for {first!r}"

    def rewrite(self, text: str) -> str | None:
        """Return the text with the first form that occurs in it written in the other way."""
        if text in self.forms:
            return self.forms[text]
        for form, other in self.forms.items():
            changed = _replace_once(rf"(?<!\w){re.escape(form)}(?!\w)", other, text)
            if changed != text:
                return changed
        return None


@executable
class SameMeaning(TextInput):
    """A query of the same meaning: other order, other number, or without linking words.

    The three ways are the examples QM1, QM2 and QM3 of Ying (2024).
    """

    pattern = "Query-Meaning"
    way: str = explain("'order' (QM1), 'number' (QM2: singular and plural) or 'linking words' (QM3).", "order")

    def __post_init__(self) -> None:
        validate_choice("way", "SameMeaning", self.way, ("order", "number", "linking words"))

    def describe(self) -> str:
        """Return the change in words."""
        changes = {
            "order": "is worded in another order",
            "number": "has its noun in singular instead of plural, or the other way round",
            "linking words": "loses its linking words",
        }
        return f"{self.column} {changes[self.way]}, with the same meaning"

    def rewrite(self, text: str) -> str | None:
        """Return a query of the same meaning."""
        if self.way == "linking words":
            words = [word for word in text.split() if word.lower() not in LINKING_WORDS]
            return " ".join(words) if words else None
        owner = re.fullmatch(r"(\w+)'s (.+)", text)
        purpose = re.fullmatch(r"(.+) for (\w+)", text)
        if self.way == "order":
            if purpose:
                return f"{purpose[2]}'s {purpose[1]}"
            return f"{owner[2]} for {owner[1]}" if owner else None
        things, rest = (purpose[1], text[len(purpose[1]) :]) if purpose else (text, "")
        if not things or not things[-1].isalpha():
            return None
        return (things[:-1] if things.endswith("s") else things + "s") + rest


@executable
class MergeInputs(InputPattern):
    """A word of the query moves to a filter, so that both together mean the same."""

    pattern = "Input-Merge"
    clause = "a word of {self.text} becomes the value of {self.filter} that means the same"
    text: str = explain("The column of the query.")
    filter: str = explain("The column of the filter.")
    words: Mapping[str, Any] = explain("Words of the query with the values of the filter that mean the same.")
    unset: Any = field(default=ANY, metadata={"help": "The value of the filter if it is not set."})

    def __post_init__(self) -> None:
        if not isinstance(self.words, Mapping) or not self.words:
            reject("words", "MergeInputs", "a mapping of words to values of the filter", self.words)

    def _merge(self, text: object) -> tuple[str, Any] | None:
        for word, value in self.words.items():
            if isinstance(text, str) and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text):
                shorter = re.sub(rf"(?<!\w)(?:for\s+)?{re.escape(word)}(?:'s)?(?!\w)", " ", text, count=1)
                return (" ".join(shorter.split()), value) if shorter.strip() else None
        return None

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which queries have such a word and no filter."""
        merged = [self._merge(text) is not None for text in frame[self.text].tolist()]
        return np.array(merged, dtype=bool) & np.asarray(frame[self.filter] == self.unset, dtype=bool)

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the shorter queries with their filters."""
        pairs = zip(frame[self.text].tolist(), frame[self.filter].tolist(), strict=True)
        merged = [self._merge(text) or (text, value) for text, value in pairs]
        texts, values = [text for text, _ in merged], [value for _, value in merged]
        return [frame.assign(**{self.text: texts, self.filter: values})]


@executable
class AddElement(TextInput):
    """One more element: a word, a phrase, a mark or a space."""

    pattern = "Addition"
    element: str = explain("The element to add, with the spaces around it.")
    place: str = explain(
        "'end', 'start', 'final mark' (before the punctuation mark at the end) or 'inner mark' (after one between sentences).",
        "end",
    )

    def __post_init__(self) -> None:
        validate_choice("place", "AddElement", self.place, ("end", "start", "final mark", "inner mark"))
        if not self.element:
            reject("element", "AddElement", "a text", self.element)

    def describe(self) -> str:
        """Return the change in words."""
        places = {
            "end": "at its end",
            "start": "at its start",
            "final mark": "before its final mark",
            "inner mark": "after the first mark between its sentences",
        }
        return f"{self.column} has one more element, {self.element!r} {places[self.place]}"

    def rewrite(self, text: str) -> str | None:
        """Return the longer text."""
        if self.place == "start":
            return self.element + text
        if self.place == "end":
            return text + self.element
        if self.place == "inner mark":
            mark = re.search(rf"[{MARKS}](?=\s*\w)", text)
            return None if mark is None else text[: mark.end()] + self.element + text[mark.end() :]
        return text[:-1] + self.element + text[-1] if text and text[-1] in MARKS else None


@executable
class RemoveElement(TextInput):
    """One element fewer."""

    pattern = "Subtraction"
    elements: tuple[str, ...] = explain("Elements to remove: the first of them that occurs is removed, once.")
    after: str = explain("Optional: only an element directly after this text is removed.", "")
    before: str = explain("Optional: only an element directly before this text is removed.", "")

    def __post_init__(self) -> None:
        _set_tuple(self, "elements")
        if not all(isinstance(element, str) and element for element in self.elements):
            reject("elements", "RemoveElement", "texts that are not empty", self.elements)

    def describe(self) -> str:
        """Return the change in words."""
        return f"{self.column} has one element fewer, {_list_values(self.elements)}"

    def rewrite(self, text: str) -> str | None:
        """Return the shorter text."""
        around = (
            rf"(?<={re.escape(self.after)})" if self.after else "",
            rf"(?={re.escape(self.before)})" if self.before else "",
        )
        for element in self.elements:
            if element.isalnum():  # a word, with the space before it
                shorter = re.sub(rf"\s?(?<!\w){re.escape(element)}(?!\w)", "", text, count=1).lstrip()
            else:
                shorter = re.sub(around[0] + re.escape(element) + around[1], "", text, count=1)
            if shorter != text:
                return shorter or None
        return None


@executable
class ReplaceElement(Rewrite):
    """One element is replaced by another one; the number of elements stays the same."""

    pattern = "Substitution"
    forms: Mapping[str, str] = explain("Elements with the element that replaces them.")

    def describe(self) -> str:
        """Return the change in words."""
        first, second = next(iter(self.forms.items()))
        return f"one element of {self.column} is replaced, such as {first!r} by {second!r}"

    def rewrite(self, text: str) -> str | None:
        """Return the text with the first element that occurs in it replaced once."""
        for element, other in self.forms.items():
            if element and element in text:
                bounds = (r"(?<!\w)", r"(?!\w)") if element.isalnum() else ("", "")
                changed = _replace_once(bounds[0] + re.escape(element) + bounds[1], other, text)
                if changed != text:
                    return changed
        return None


@executable
class SplitText(TextInput):
    """A text of several sentences becomes one follow-up per sentence."""

    pattern = "Combination"
    clause = "the parts of {self.column} are queried one by one"
    separator: str = explain("A regular expression for what stands between the parts.", r"(?<=[.!?])\s+")

    def __post_init__(self) -> None:
        try:
            re.compile(self.separator)
        except (re.error, TypeError):
            reject("separator", "SplitText", "a regular expression", self.separator)

    def rewrite(self, text: str) -> list[str] | None:
        """Return the parts."""
        parts = [part for part in re.split(self.separator, text) if part]
        return parts if len(parts) > 1 else None

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the parts; a text with fewer parts than others has empty ones at the end."""
        rewritten = self._rewrite_all(frame)
        count = max([len(texts) for texts in rewritten if texts], default=1)
        parts = [texts or [original] for texts, original in zip(rewritten, frame[self.column].tolist(), strict=True)]
        padded_parts = [texts + [""] * (count - len(texts)) for texts in parts]
        return [frame.assign(**{self.column: [texts[place] for texts in padded_parts]}) for place in range(count)]


# -- the answer becomes the input --------------------------------------------------------------------------------------


@executable
class FeedBack(InputPattern):
    """The answer becomes the input of the opposite direction: there and back."""

    pattern = "Round Trip"
    clause = "the answer becomes {self.column}, and {self.direction} is reversed"
    uses_answers = True
    column: str = explain("The column that gets the answer.")
    direction: str = explain("The column with the direction, such as the pair of languages.")
    directions: Mapping[Any, Any] = explain("Each direction with its opposite; pairs count in both directions.")

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns that the data must have."""
        return (self.column, self.direction)

    def applies(self, frame: pd.DataFrame) -> Mask:
        """Return which cases have a direction with an opposite."""
        return np.asarray(frame[self.direction].isin(list(_pair_opposites(self.directions))), dtype=bool)

    def make(self, frame: pd.DataFrame, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the cases on their way back, as if each answer were its input."""
        return [_reverse(frame, self.direction, self.directions)]

    def make_from_answers(self, frame: pd.DataFrame, answers: Answers, rng: np.random.Generator) -> list[pd.DataFrame]:
        """Return the answers as inputs of the opposite direction; a case without an answer keeps its input."""
        originals = frame[self.column].tolist()
        values = [
            original if answer is None else answer for original, answer in zip(originals, answers.tolist(), strict=True)
        ]
        return [self.make(frame, rng)[0].assign(**{self.column: values})]


@executable
class Invert(FeedBack):
    """The answer of a function becomes the input of its inverse."""

    pattern = "Inverse"
    direction: str = explain("The column that says whether the function or its inverse is computed.")
