"""Search engines: Tables 15 to 17 of Ying (2024), with two local engines instead of Amazon and JD.com.

The thesis queried shops over the web in 2023. Their catalogues and engines are not available, so ours are a synthetic catalogue on
tantivy and on SQLite. What is compared is which relations are violated, how often, and by how much in powers of ten. Levels
cannot match: the shops show some hundred thousand hits, our catalogue has some ten thousand products.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast

from .._lazy import pd
from .._text import pluralise
from ..data.products import make_product_queries, make_products
from ..relations.catalogue.search import search_relations
from ..relations.check.decades import find_decade
from ..relations.check.run import check
from ..systems.search_engines import SearchEngine, SqliteSearch, TantivySearch
from .intervals import estimate_share, label_figure
from .published import Kind, published
from .rows import Row, iterate_figures, make_row
from .workload import Figures, Job, Scale, Workbench

ENGINES: dict[str, type[SearchEngine]] = {"tantivy": TantivySearch, "SQLite": SqliteSearch}
DECADES = range(7)
#: language of the queries and tokens of Chinese texts, by table
SETTINGS = {"002-15": ("en", "bigrams"), "002-16": ("zh", "bigrams"), "002-17": ("zh", "characters")}
TOKEN_NOTES = {
    "002-15": "",
    "002-16": "Two adjacent characters are a word of our index.",
    "002-17": "Each character is a word of our index, so that the order of words makes no difference.",
}
SYSTEM_NOTE = (
    "Published: {shop} in 2023. Ours: {products:,} synthetic products, {engine}. Which relations are violated can be compared, levels "
    "cannot."
)
GROUPS_NOTE = "Ours is from {groups}."
ANY_WORD_NOTE = "Products with any word of the query are hits, and their number is rounded as in shops (over 2,000)."
OTHERS = (Kind.SYSTEM, Kind.DATA)
SHARE_NOTE = "The published share follows from the printed numbers."


@dataclass(frozen=True)
class SearchCheck(Job):
    """The relations of searches on one engine: numbers of violations, by relation and power of ten."""

    engine: str
    language: str
    tokens: str
    products: int
    group_count: int
    match: str = "all"
    rounded: bool = False

    @property
    def variant(self) -> str:
        """The engine and how it differs from the usual one, for a row of the table."""
        return f"{self.engine}{', any word, rounded' if self.rounded else ''}"

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
        """Return the figures of all relations."""
        start = time.perf_counter()
        language = cast(Literal["en", "zh"], self.language)
        engine = ENGINES[self.engine](
            _make_products(self.products, self.language, seed),
            language=language,
            tokens=self.tokens,
            match=self.match,
            rounded=self.rounded,
            page_size=1,
        )
        cases = make_product_queries(self.group_count, self.language, seed)
        with engine:
            report = check(
                engine,
                cases,
                search_relations(language, at_least=1),  # the tables count every difference
                inputs=self.group_count,
                seed=seed,
                shrink=False,
                progress=False,
            )
        figures: dict[str, float] = {}
        for entry in report.entries:
            name = entry.relation.removeprefix("search.")
            decades = [find_decade(size) for size in entry.sizes]
            figures[f"{name} groups"] = entry.judged
            counts = {"violations": entry.violated, **{_name_decade(k): decades.count(k) for k in DECADES}}
            for measure, count in counts.items():
                figures |= label_figure(f"{name} {measure}", estimate_share(count, entry.judged, factor=entry.judged))
        return {**figures, "seconds": time.perf_counter() - start}


def _name_decade(exponent: int) -> str:
    return f"10^{exponent} to 10^{exponent + 1}"


@lru_cache(maxsize=1)
def _make_products(count: int, language: str, seed: int) -> pd.DataFrame:
    return make_products(count, language, seed)


def format_amount(scale: Scale) -> str:
    """Return how much is measured."""
    groups = "as many groups as published" if scale.search_groups is None else pluralise(scale.search_groups, "group")
    return f"{groups} per relation on {pluralise(scale.products, 'product')}"


def build_violation_table(table: str, bench: Workbench) -> list[Row]:
    """Build one of Tables 15 to 17: violations of each relation, per engine.

    They are counted in total and by powers of ten.
    """
    frame, scale = published(table), bench.scale
    language, tokens = SETTINGS[table]
    published_groups = int(frame.loc[frame["measure"] == "groups", "published"].iloc[0])
    group_count = published_groups if scale.search_groups is None else min(scale.search_groups, published_groups)
    jobs = [SearchCheck(engine, language, tokens, scale.products, group_count) for engine in ENGINES]
    jobs.append(SearchCheck("tantivy", language, tokens, scale.products, group_count, "any", True))
    rows = []
    for job in jobs:
        shop = frame["data"].iloc[0]
        notes = [SYSTEM_NOTE.format(shop=shop, products=scale.products, engine=job.engine), TOKEN_NOTES[table]]
        notes += [ANY_WORD_NOTE] if job.rounded else []
        if group_count < published_groups:
            notes.append(GROUPS_NOTE.format(groups=pluralise(group_count, "group")))
        for figure in iterate_figures(frame):
            ours = bench.estimate(job, f"{figure.subject} {figure.measure}")
            rows.append(make_row(figure, table, job.variant, figure.subject, ours=ours, notes=notes, kinds=OTHERS))
            if figure.measure == "violations":
                published_share = 100 * float(figure.published) / published_groups
                note = " ".join(text for text in (SHARE_NOTE, *notes) if text)
                place = f"{job.variant}, {figure.subject}"
                share, column = ours.times(100 / group_count), "violations, % of groups"
                rows.append(share.to_row(place, column, note, published_share, OTHERS))
    return rows
