"""A synthetic catalogue of a shop, in English and in Chinese, and queries that look for its products.

Titles are written as sellers write them, each in their own way: "Men's Wool Sweater", "Sweaters for Men, wool", "Mens sweater", or
without any word for men, because the department says it. So the words of a query decide which of the same products it finds.
The queries follow Ying (2024, section 6.5.1): goods, and "women" or "men".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from .._estimates import refuse_many_rows
from .._lazy import pd
from .._tables import read_document, read_rows
from .._validation import check_types, to_generator, validate_choice, validate_integer
from ..errors import ArgumentError
from ..systems.search_engines import ALL_DEPARTMENTS, FEATURED, LANGUAGES


@dataclass(frozen=True)
class ProductKind:
    """A kind of product: its name in English, singular and plural, and in Chinese, and where it is sold."""

    singular: str
    plural: str
    chinese: str
    area: str  # "fashion", "sports", "beauty" or "travel"


@dataclass(frozen=True, kw_only=True)
class ShopWords:
    """The words of the catalogue by language, and its prices and audiences by area: products.toml."""

    modifiers: Mapping[str, str]
    brands: Mapping[str, tuple[str, ...]]
    departments: Mapping[str, Mapping[str, str]]
    titles: Mapping[str, Mapping[str, tuple[str, ...]]]
    descriptions: Mapping[str, tuple[str, ...]]
    prices: Mapping[str, tuple[float, float]]
    audiences: Mapping[str, tuple[float, float, float]]


@cache
def read_product_kinds() -> tuple[ProductKind, ...]:
    """Return all kinds of products."""
    return read_rows(__package__, "products.csv", ProductKind)


@cache
def read_words() -> ShopWords:
    """Return the words of the catalogue."""
    return read_document(__package__, "products.toml", ShopWords)


FOR_WOMEN, FOR_MEN, FOR_ALL = "women", "men", "all"


@check_types
def make_products(n: int = 20_000, language: str = "en", seed: int = 0) -> pd.DataFrame:
    """Make a catalogue of products, one per row.

    Parameters
    ----------
    n : int
        The number of products.
    language : {"en", "zh"}
        English or Chinese.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    DataFrame
        Columns ``id``, ``title``, ``description``, ``brand``, ``department``, ``price``: documents for `dm.systems.SqliteSearch` and
        `dm.systems.TantivySearch`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.data.make_products(3)["title"].tolist()
    ['Black backpack by Islay', 'Glenhaven wool tennis racket, unisex', 'Juniper wool bicycle, unisex']
    >>> dm.data.make_products(2, language="zh")["title"].tolist()
    ['防水背包 安踏云', '白色网球拍 安踏云']
    """
    count = validate_integer("n", "make_products", n, low=1)
    refuse_many_rows("make_products", "n", count, 60)  # 500 bytes per product were measured
    validate_choice("language", "make_products", language, LANGUAGES)
    rng = to_generator("seed", "make_products", seed)
    kinds, shop = read_product_kinds(), read_words()
    kind_numbers = rng.integers(len(kinds), size=count)
    modifiers = rng.integers(len(shop.modifiers), size=(count, 2))
    brands = rng.integers(len(shop.brands[language]), size=count)
    draws = rng.random((count, 4))
    modifier_words = list(shop.modifiers if language == "en" else shop.modifiers.values())
    rows = []
    for row in range(count):
        kind = kinds[kind_numbers[row]]
        audience_draw, title_draw, description_draw, price_draw = draws[row]
        audience = _choose_audience(kind.area, audience_draw)
        modifier, other = (modifier_words[place] for place in modifiers[row])
        words = {
            "noun": kind.singular if language == "en" else kind.chinese,
            "nouns": kind.plural,
            "modifier": modifier,
            "other": other,
            "brand": shop.brands[language][brands[row]],
        }
        titles, descriptions = shop.titles[language][audience], shop.descriptions[language]
        title = titles[int(title_draw * len(titles))].format(**words)
        low, high = shop.prices[kind.area]
        rows.append(
            (
                f"P{row:06d}",
                title[:1].upper() + title[1:],
                descriptions[int(description_draw * len(descriptions))].format(**words),
                words["brand"],
                _choose_department(language, kind.area, audience, row),
                round(low * (high / low) ** price_draw, 2),
            )
        )
    return pd.DataFrame(rows, columns=["id", "title", "description", "brand", "department", "price"])


def _choose_audience(area: str, draw: float) -> str:
    women, men, _ = read_words().audiences[area]
    if draw < women:
        return FOR_WOMEN
    return FOR_MEN if draw < women + men else FOR_ALL


def _choose_department(language: str, area: str, audience: str, row: int) -> str:
    """Return the department; fashion for everyone is sold in turn for women and for men."""
    departments = read_words().departments[language]
    if area != "fashion":
        return departments[area]
    if audience == FOR_ALL:
        audience = (FOR_WOMEN, FOR_MEN)[row % 2]
    return departments[audience]


def list_product_phrases(language: str = "en") -> list[str]:
    """Return what the queries look for: all goods, then all goods with a modifier.

    Examples
    --------
    >>> phrases = list_product_phrases()
    >>> phrases[0], phrases[-1], len(phrases)
    ('sweaters', 'soft duffel bags', 1659)
    """
    validate_choice("language", "list_product_phrases", language, LANGUAGES)
    kinds, modifiers = read_product_kinds(), read_words().modifiers
    if language == "en":
        return [kind.plural for kind in kinds] + [f"{word} {kind.plural}" for word in modifiers for kind in kinds]
    return [kind.chinese for kind in kinds] + [f"{word}{kind.chinese}" for word in modifiers.values() for kind in kinds]


@check_types
def make_product_queries(n: int = 100, language: str = "en", seed: int = 0) -> pd.DataFrame:
    """Make queries for goods for women and for men, as users write them.

    Half of them have the form "men's sweaters", the others the form "sweaters for men"; in Chinese "男士毛衣" and "毛衣男士". Plain
    goods come first, then goods with a modifier in random order.

    Parameters
    ----------
    n : int
        The number of queries, all different.
    language : {"en", "zh"}
        English or Chinese.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    DataFrame
        Cases of a search engine: ``query``, ``department`` ("All Departments") and ``sort`` ("Featured").

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.data.make_product_queries(4)["query"].tolist()
    ["women's sweaters", 'sweaters for men', 'shirts for women', "men's shirts"]
    >>> dm.data.make_product_queries(2, language="zh")["query"].tolist()
    ['女士毛衣', '毛衣男士']
    """
    phrases = list_product_phrases(language)
    count = validate_integer("n", "make_product_queries", n, low=1)
    if count > 2 * len(phrases):
        raise ArgumentError(
            f"There are {2 * len(phrases):,} different queries at most. Give a smaller n than {count:,}."
        )
    rng = to_generator("seed", "make_product_queries", seed)
    kind_count = len(read_product_kinds())
    order = [*range(kind_count), *(kind_count + rng.permutation(len(phrases) - kind_count)).tolist()]
    queries = []
    for number in range(count):
        phrase = phrases[order[number // 2]]
        audience_first = (number // 2 + number) % 2 == 0  # both forms occur with both audiences
        audience = (FOR_WOMEN, FOR_MEN)[number % 2]
        queries.append(_write_query(phrase, audience, language, audience_first))
    return pd.DataFrame({"query": queries, "department": ALL_DEPARTMENTS, "sort": FEATURED})


def _write_query(phrase: str, audience: str, language: str, audience_first: bool) -> str:
    """Return a query for goods, with the audience first or last."""
    if language == "en":
        return f"{audience}'s {phrase}" if audience_first else f"{phrase} for {audience}"
    word = {"women": "女士", "men": "男士"}[audience]
    return f"{word}{phrase}" if audience_first else f"{phrase}{word}"
