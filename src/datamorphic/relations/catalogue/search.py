"""Relations of search engines: MR1 and HMR1 to HMR3 of Ying (2024, section 6.5.2), on numbers of hits and on rankings.

A case has the columns ``query``, ``department`` and ``sort``. The answer is a dict with the number of ``hits`` and the ranked
``items``, as `dm.systems.SqliteSearch` and `dm.systems.TantivySearch` give it.

HMR1 is printed the wrong way round: "the follow-up output should be greater than or equal to the source output". The example of
the same paragraph has it right, and so has this module: a filter gives at most as many hits.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._validation import check_types, is_number, reject, validate_choice, validate_share
from ...errors import TestSystemError
from ...systems.search_engines import ALL_DEPARTMENTS, FEATURED, LANGUAGES, PRICE_UP, SearchLanguage
from ..algebra.one_way import compute_wrongness
from ..patterns import inputs, outputs
from ..patterns.relation import Answers, InputPattern, OutputPattern, PatternRelation, explain

Floats = npt.NDArray[np.float64]

SEARCH_DOMAIN = "product searches"
#: words of a query with the department that means the same
DEPARTMENT_WORDS: dict[str, dict[str, str]] = {
    "en": {"women": "Women's Fashion", "men": "Men's Fashion"},
    "zh": {"女士": "女装", "男士": "男装"},
}
HITS, ITEMS = "hits", "items"
DEFAULT_PERSISTENCE = 0.9  # the first ten items have 86% of the weight


# -- how similar rankings are ------------------------------------------------------------------------------------------


def compute_rank_overlap(
    first: Sequence[Hashable], second: Sequence[Hashable], persistence: float = DEFAULT_PERSISTENCE
) -> float:
    """Return the rank-biased overlap of two rankings, from 0 to 1.

    It is extrapolated to rankings without end (Webber et al. 2010, equation 32).

    The first places count most: a reader goes on to the next item with the probability `persistence`. Two empty rankings
    are the same.

    Examples
    --------
    >>> compute_rank_overlap("abc", "abc"), compute_rank_overlap("abc", "xyz")
    (1.0, 0.0)
    >>> swapped_at_the_top, swapped_below = compute_rank_overlap("abcd", "bacd"), compute_rank_overlap("abcd", "abdc")
    >>> round(swapped_at_the_top, 2), round(swapped_below, 2)
    (0.9, 0.97)
    """
    shorter, longer = sorted((list(dict.fromkeys(first)), list(dict.fromkeys(second))), key=len)
    if not longer:
        return 1.0
    if not shorter:
        return 0.0
    short_length, long_length = len(shorter), len(longer)
    overlaps, common = [], 0
    short_items: set[Hashable] = set()
    long_items: set[Hashable] = set()
    for depth, item in enumerate(longer):
        long_items.add(item)
        if depth < short_length:
            short_items.add(shorter[depth])
            common += shorter[depth] in long_items and shorter[depth] != item
        common += item in short_items
        overlaps.append(common)
    overlap = np.array(overlaps, dtype=float)
    depths = np.arange(1, long_length + 1)
    agreement = overlap / depths
    short_overlap = overlap[short_length - 1]
    below = depths > short_length
    agreement[below] += short_overlap * (depths[below] - short_length) / (short_length * depths[below])
    series = float((agreement * persistence**depths).sum()) * (1 - persistence) / persistence
    rest = ((overlap[-1] - short_overlap) / long_length + short_overlap / short_length) * persistence**long_length
    return min(1.0, float(series + rest))


# -- what answers must be like -----------------------------------------------------------------------------------------


def _read_hits(answers: Answers) -> Floats:
    """Return the number of hits of each answer."""
    if answers.dtype.kind in "iuf":
        return answers.astype(float)
    numbers = [answer.get(HITS) if isinstance(answer, Mapping) else answer for answer in answers]
    wrong_number = next((number for number in numbers if not is_number(number)), None)
    if wrong_number is not None or None in numbers:
        raise TestSystemError(
            f"Relations of searches need answers with a number of hits, as in {{'hits': 12, 'items': [...]}}. Got {wrong_number!r}."
        )
    return np.array(numbers, dtype=float)


def _measure_largest_difference(before: Answers, afters: Sequence[Answers]) -> Floats:
    """Return per group the largest difference between the hits of a follow-up and those of the source."""
    source = _read_hits(before)
    differences: Floats = np.max([np.abs(_read_hits(after) - source) for after in afters], axis=0)
    return differences


@dataclass(frozen=True, kw_only=True)
class SameHits(outputs.PartlyEqual):
    """The number of hits is the same."""

    size_noun = "difference of hits"
    parts: tuple[Any, ...] = explain("The parts that stay the same.", (HITS,))

    def describe(self) -> str:
        """Return the expectation in words."""
        return "the number of hits stays the same"

    def measure(self, before: Answers, afters: Sequence[Answers]) -> Floats:
        """Return the differences of hits."""
        return _measure_largest_difference(before, afters)


@dataclass(frozen=True, kw_only=True)
class NotMoreHits(outputs.Ordered):
    """The number of hits does not rise."""

    pattern = "Complete Partitions"
    size_noun = "difference of hits"
    part: str | int | None = explain("The part of the answer to compare.", HITS)
    direction: str = explain("'up': the answer must not fall; 'down': it must not rise.", "down")

    def describe(self) -> str:
        """Return the expectation in words."""
        return "the number of hits does not rise"

    def measure(self, before: Answers, afters: Sequence[Answers]) -> Floats:
        """Return by how much the hits rise at most."""
        source = _read_hits(before)
        rises: Floats = np.max([compute_wrongness(source, _read_hits(after), "down") for after in afters], axis=0)
        return rises


@dataclass(frozen=True, kw_only=True)
class SimilarHits(outputs.Alike):
    """The numbers of hits are the same or similar."""

    size_noun = "difference of hits"
    part: str | int | None = explain("The part of the answer to compare.", HITS)
    at_least: float = explain("The smaller number as a share of the larger one, at least.", 0.9)

    def describe(self) -> str:
        """Return the expectation in words."""
        if self.at_least == 1:
            return "the number of hits stays the same"
        return f"the numbers of hits are the same or similar (at least {self.at_least:g})"

    def measure(self, before: Answers, afters: Sequence[Answers]) -> Floats:
        """Return the differences of hits."""
        return _measure_largest_difference(before, afters)


@dataclass(frozen=True, kw_only=True)
class SimilarRanking(OutputPattern):
    """The ranked items are the same or similar.

    They are compared by the Jaccard index, or by rank overlap, which looks at their order.
    """

    pattern = "Similar"
    part: str | int | None = explain("The part of the answer with the ranked items.", ITEMS)
    measured_by: str = explain("'rank overlap' (see `compute_rank_overlap`) or 'Jaccard'.", "rank overlap")
    at_least: float = explain("The smallest similarity, from 0 to 1.", 0.8)
    persistence: float = explain(
        "For rank overlap: the probability that a reader goes on to the next item.", DEFAULT_PERSISTENCE
    )

    def __post_init__(self) -> None:
        validate_choice("measured_by", "SimilarRanking", self.measured_by, ("rank overlap", "Jaccard"))
        validate_share("at_least", "SimilarRanking", self.at_least)
        if not is_number(self.persistence) or not 0 < self.persistence < 1:
            reject("persistence", "SimilarRanking", "a number between 0 and 1", self.persistence)

    def describe(self) -> str:
        """Return the expectation in words."""
        order = "in a similar order " if self.measured_by == "rank overlap" else ""
        return f"the first page has similar items {order}({self.measured_by} at least {self.at_least:g})"

    def holds(self, before: Any, afters: tuple[Any, ...]) -> bool:
        """Return whether all rankings are similar enough to that of the source."""
        return all(self.compute_similarity(before, after) >= self.at_least for after in afters)

    def compute_similarity(self, first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
        """Return how similar two rankings are."""
        if self.measured_by == "Jaccard":
            return outputs.compute_overlap(first, second)
        return compute_rank_overlap(first, second, self.persistence)


# -- how queries change in Chinese -------------------------------------------------------------------------------------


def _cut_word(text: str, words: Sequence[str]) -> tuple[str, str, bool] | None:
    """Return a word at one end of a text, the rest, and whether it came first.

    Without such a word, None is returned.
    """
    text = text.strip()
    for word in sorted(words, key=len, reverse=True):
        if text.startswith(word) and text != word:
            return word, text.removeprefix(word).strip(), True
        if text.endswith(word) and text != word:
            return word, text.removesuffix(word).strip(), False
    return None


@dataclass(frozen=True, kw_only=True)
class ChineseOrder(inputs.TextInput):
    """A word at the start of a Chinese query moves to its end, or the other way round: 男士毛衣, 毛衣男士."""

    pattern = "Query-Meaning"
    clause = "{self.column} is worded in another order, with the same meaning"
    words: tuple[str, ...] = explain("The words that move.")

    def rewrite(self, text: str) -> str | None:
        """Return the query in the other order."""
        parts = _cut_word(text, self.words)
        if parts is None:
            return None
        word, rest, word_first = parts
        return f"{rest}{word}" if word_first else f"{word}{rest}"


@dataclass(frozen=True, kw_only=True)
class ChineseMerge(inputs.MergeInputs):
    """A word at the start or end of a Chinese query becomes a filter.

    Query and filter together mean the same as before.
    """

    def _merge(self, text: object) -> tuple[str, Any] | None:
        parts = _cut_word(text, list(self.words)) if isinstance(text, str) else None
        return None if parts is None else (parts[1], self.words[parts[0]])


# -- the relations -----------------------------------------------------------------------------------------------------


@check_types
def search_relations(
    language: SearchLanguage = "en",
    *,
    departments: Mapping[str, str] | None = None,
    at_least: float = 0.9,
    rankings: bool = False,
    ranking_at_least: float = 0.8,
) -> dict[str, PatternRelation]:
    """Return the relations of search engines by name: MR1 and HMR1 to HMR3.

    MR1: another sorting rule leaves the number of hits as it is. HMR1: with a filter there are at most as many hits (it is
    printed reversed in Ying 2024). HMR2: "men's sweaters" and "sweaters for men" have the same number of hits. HMR3: "women's
    sweaters" in all departments and "sweaters" in the department for women have the same or a similar number of hits.

    Parameters
    ----------
    language : {"en", "zh"}
        The language of the queries. In Chinese, the word for men or women moves from one end of the query to the other.
    departments : mapping, optional
        Words of a query, each with the department that means the same. By default women and men (女士 and 男士) and their
        departments of fashion in `dm.data.make_products`. HMR1 filters by these departments.
    at_least : float
        For HMR3: the smaller number of hits as a share of the larger one. 1 means that the numbers must be equal.
    rankings : bool
        Whether to add relations about the first page of results: "search.HMR2 items" and "search.HMR3 items" compare its items
        by the Jaccard index, "search.HMR2 ranking" and "search.HMR3 ranking" by rank overlap, which looks at their order.
    ranking_at_least : float
        The smallest similarity of rankings, from 0 to 1.

    Returns
    -------
    dict
        Relations for ``dm.check``, ``dm.assert_holds`` and ``dm.test``.

    Examples
    --------
    >>> import datamorphic as dm
    >>> for name, relation in dm.relations.search_relations().items():
    ...     print(f"{name} ({relation.promise}): {relation.statement}")
    search.MR1 (MR): the sorting rule changes: the number of hits stays the same
    search.HMR1 (HMR): a filter is added: the number of hits does not rise
    search.HMR2 (HMR): the query is worded in another order: the number of hits stays the same
    search.HMR3 (HMR): a word of the query becomes a filter: the numbers of hits are the same or similar (at least 0.9)
    """
    validate_choice("language", "search_relations", language, LANGUAGES)
    words = dict(DEPARTMENT_WORDS[language] if departments is None else departments)
    names = {str(department) for department in words.values()}
    if len(names) < 2 or not all(isinstance(word, str) and word for word in words):
        reject("departments", "search_relations", "a mapping of words to at least two departments", departments)
    order_change: InputPattern
    if language == "en":
        order_change = inputs.SameMeaning(column="query")
        merge_change = inputs.MergeInputs(text="query", filter="department", words=words, unset=ALL_DEPARTMENTS)
    else:
        order_change = ChineseOrder(column="query", words=tuple(words))
        merge_change = ChineseMerge(text="query", filter="department", words=words, unset=ALL_DEPARTMENTS)
    filters = tuple(dict.fromkeys(words.values()))
    sort_change = inputs.Resort(column="sort", directions={FEATURED: PRICE_UP})
    filter_change = inputs.Partition(column="department", values=filters, unset=ALL_DEPARTMENTS)
    order_text, merge_text = "the query is worded in another order", "a word of the query becomes a filter"
    similar_hits = SimilarHits(at_least=at_least)
    relations = [
        (sort_change >> SameHits()).named(
            "search.MR1", statement="the sorting rule changes: the number of hits stays the same"
        ),
        (filter_change >> NotMoreHits()).named(
            "search.HMR1", promise="HMR", statement="a filter is added: the number of hits does not rise"
        ),
        (order_change >> SameHits()).named(
            "search.HMR2", promise="HMR", statement=f"{order_text}: the number of hits stays the same"
        ),
        (merge_change >> similar_hits).named(
            "search.HMR3", promise="HMR", statement=f"{merge_text}: {similar_hits.describe()}"
        ),
    ]
    if rankings:
        for suffix, measure in (("items", "Jaccard"), ("ranking", "rank overlap")):
            expectation = SimilarRanking(measured_by=measure, at_least=ranking_at_least)
            for name, change, text in (("HMR2", order_change, order_text), ("HMR3", merge_change, merge_text)):
                relation = (change >> expectation).named(
                    f"search.{name} {suffix}", promise="HMR", statement=f"{text}: {expectation.describe()}"
                )
                relations.append(relation)
    return {relation.name: relation.named(relation.name, domain=SEARCH_DOMAIN) for relation in relations}
