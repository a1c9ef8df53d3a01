"""What the columns of a data set seem to be: identifiers of rows, and attributes that laws or rules protect."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from .._tables import read_document
from ..space.blocks import BlockValue
from ..space.features import Categorical, Feature
from ..space.points import Points

MAX_GROUP_NAMES = 1_000  # a column of more categories does not name groups of people
MIN_ROWS_FOR_IDENTIFIER = 30  # values of fewer rows may all differ by chance
#: A column of whole numbers is unique by design if as many numbers, drawn at random between its bounds, would have this
#: many equal pairs: the chance that there is none is then e^-20.
MIN_EXPECTED_REPEATS = 20.0
MIN_UNIQUE_SHARE_OF_CODES = 0.5  # of the rows; a column named like an identifier may repeat, since customers come back


@dataclass(frozen=True, kw_only=True)
class ColumnWords:
    """Words in the names and values of columns: columns.toml."""

    identifier_words: tuple[str, ...]
    strict_identifier_words: tuple[str, ...]
    ages_of_things: tuple[str, ...]
    male_values: tuple[str, ...]
    female_values: tuple[str, ...]
    outcome_words: tuple[str, ...]
    words_of_the_past: tuple[str, ...]
    words_for_nothing: tuple[str, ...]
    protected_words: Mapping[str, tuple[str, ...]]  # by attribute


@cache
def read_words() -> ColumnWords:
    """Return the words."""
    return read_document(__package__, "columns.toml", ColumnWords)


@dataclass(frozen=True, kw_only=True)
class ColumnRole:
    """What a column seems to be, and why."""

    name: str
    role: str  # such as "a running number" or "sex or gender"


def split_name(name: str) -> list[str]:
    """Return the words of a column name in lower case, without accents.

    Examples
    --------
    >>> split_name("Customer_Age"), split_name("dateOfBirth"), split_name("Âge2")
    (['customer', 'age'], ['date', 'of', 'birth'], ['age'])
    """
    spaced = re.sub(r"(?<=[a-zß-ÿ])(?=[A-Z])", " ", name)
    decomposed = unicodedata.normalize("NFKD", spaced)
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter)).lower()
    return re.findall(r"[^\W\d_]+", plain)


def find_identifiers(points: Points) -> dict[str, ColumnRole]:
    """Return the columns that seem to identify rows.

    A column of numbers or text does if its values are all different, and either its name says so or chance would not
    have made them different.
    """
    if len(points) < MIN_ROWS_FOR_IDENTIFIER:
        return {}
    roles = {}
    for column, feature in enumerate(points.space.features):
        role = "" if isinstance(feature, BlockValue) else _find_identifier_role(feature, points.codes[:, column])
        if role:
            roles[feature.name] = ColumnRole(name=feature.name, role=role)
    return roles


def _find_identifier_role(feature: Feature, codes: npt.NDArray[np.float64]) -> str:
    """Return what kind of identifier a column is; empty if it is none."""
    known = codes[~np.isnan(codes)]
    if len(known) < MIN_ROWS_FOR_IDENTIFIER or feature.kind == "text":
        return ""
    is_text = isinstance(feature, Categorical)
    if not is_text and (known % 1 != 0).any():
        return ""  # a measurement
    distinct_count = len(np.unique(known))
    words = split_name(feature.name)
    last_word = words[-1] if words else ""
    if distinct_count < len(known):
        is_named_so = last_word in read_words().strict_identifier_words
        is_code = is_named_so and distinct_count > MIN_UNIQUE_SHARE_OF_CODES * len(known)
        return "named like an identifier, with few repeated values" if is_code else ""
    if is_text:
        return "a text that is different in every row"
    width = float(known.max() - known.min()) + 1
    if len(known) * (len(known) - 1) / (2 * width) >= MIN_EXPECTED_REPEATS:
        return "a running number: whole, and different in every row"
    return (
        "a number named like an identifier, different in every row"
        if last_word in read_words().identifier_words
        else ""
    )


def find_protected_columns(points: Points) -> dict[str, ColumnRole]:
    """Return the columns whose names or values look like attributes of people that are often protected."""
    roles = {}
    for feature in points.space.features:
        categories = feature.values if isinstance(feature, Categorical) else ()
        attribute = find_protected_attribute(feature.name, categories)
        if attribute:
            roles[feature.name] = ColumnRole(name=feature.name, role=attribute)
    return roles


def find_protected_attribute(name: str, categories: Sequence[object] = ()) -> str:
    """Return the protected attribute that a column seems to hold; empty if none.

    Examples
    --------
    >>> find_protected_attribute("Customer_Age"), find_protected_attribute("Familienstand"), find_protected_attribute("X3")
    ('age', 'marital status', '')
    >>> find_protected_attribute("car_age"), find_protected_attribute("mileage")
    ('', '')
    >>> find_protected_attribute("X2", ["female", "male"])
    'sex or gender'
    """
    table, words = read_words(), split_name(name)
    few_categories = categories if len(categories) <= MAX_GROUP_NAMES else ()
    values = {word for category in few_categories if isinstance(category, str) for word in split_name(category)}
    if values.intersection(table.male_values) and values.intersection(table.female_values):
        return "sex or gender"
    padded, joined = f" {' '.join(words)} ", "".join(words)
    for attribute, names in table.protected_words.items():
        if attribute == "age" and set(words).intersection(table.ages_of_things):
            continue
        for text in names:
            phrase = " ".join(split_name(text))
            if f" {phrase} " in padded or phrase.replace(" ", "") == joined:
                return attribute
    return ""
