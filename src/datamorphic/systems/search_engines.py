"""Full-text search over documents, on two real engines in this process: SQLite's FTS5 and tantivy.

Both keep their index in memory, so that nothing is left on the disk. Words are split in the same way for both, so that their
answers can be compared: a word is a run of letters and digits. Each engine handles lower case, accents and, in English, word
endings itself. In Chinese, which has no spaces between words, every two adjacent characters, or every single character, are a
word of the index. A query is only ever a list of words: quotes, operators, wildcards and names of columns in it have no meaning.
"""

from __future__ import annotations

import copy
import os
import re
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from .._lazy import pd
from .._text import format_short, suggest_name
from .._typing import DataLike
from .._validation import check_types, import_optional, reject, validate_choice, validate_integer
from ..errors import DataError, ModelError, SystemRaised
from ..space.inference import validate_frame
from ..space.outputs import Outputs
from ..space.points import Batch
from ..space.table_forms import to_plain_data
from .base import ResourceSystem, ScoreRequest
from .coerce import to_outputs

SearchLanguage = Literal["en", "zh"]
ALL_DEPARTMENTS = "All Departments"  # the value of a filter that is not set
FEATURED, PRICE_UP, PRICE_DOWN = "Featured", "Price: Low to High", "Price: High to Low"
SORT_RULES = (FEATURED, PRICE_UP, PRICE_DOWN)
LANGUAGES = ("en", "zh")
#: text columns of documents, with the weight of a match in the ranking
TEXT_WEIGHTS = {"title": 4.0, "brand": 2.0, "description": 1.0}
#: words that ``stop_words=True`` leaves out of queries, among them the "s" of "men's"
STOP_WORDS = {
    "en": frozenset(["a", "an", "and", "by", "for", "from", "in", "of", "on", "or", "s", "the", "to", "with"]),
    "zh": frozenset(["的", "和", "与"]),
}
MAX_QUERY_WORDS = 64  # further words of a query are ignored, as by the search boxes of shops
MAX_WORD_CHARACTERS = 200  # the rest of a longer word is ignored
MIN_ROUNDED_HITS = 1_000
WORD = re.compile(r"[^\W_]+")
HAN_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+")


def round_hits(hits: int) -> int:
    """Round a number of hits as shops do: "over 2,000 results".

    From 1,000 on, it is rounded down to one significant digit.

    Examples
    --------
    >>> round_hits(999), round_hits(1_000), round_hits(2_345), round_hits(198_765)
    (999, 1000, 2000, 100000)
    """
    if hits < MIN_ROUNDED_HITS:
        return hits
    unit = 10 ** (len(str(hits)) - 1)
    return int(hits // unit * unit)


def split_words(text: str, language: str = "en", tokens: str = "bigrams") -> list[str]:
    """Return the words of a text as both engines index them, before lower case and stemming.

    Examples
    --------
    >>> split_words("Men's wool-sweater (size L)")
    ['Men', 's', 'wool', 'sweater', 'size', 'L']
    >>> split_words("男士毛衣 XL", "zh"), split_words("男士毛衣 XL", "zh", tokens="characters")
    (['男士', '士毛', '毛衣', 'XL'], ['男', '士', '毛', '衣', 'XL'])
    """
    words = [word[:MAX_WORD_CHARACTERS] for word in WORD.findall(text)]
    if language != "zh":
        return words
    parts: list[str] = []
    for word in words:
        place = 0
        for run in HAN_RUN.finditer(word):
            parts += [word[place : run.start()]] if run.start() > place else []
            parts += _split_han(run[0], tokens)
            place = run.end()
        parts += [word[place:]] if place < len(word) else []
    return parts


def _split_han(run: str, tokens: str) -> list[str]:
    if tokens == "characters" or len(run) == 1:
        return list(run)
    return [run[place : place + 2] for place in range(len(run) - 1)]


@dataclass(frozen=True, kw_only=True)
class SearchDocuments:
    """The documents of a search engine as plain columns."""

    ids: tuple[Any, ...]
    texts: Mapping[str, tuple[str, ...]]  # by column
    departments: tuple[str, ...] | None
    prices: tuple[float, ...] | None

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, owner: str) -> SearchDocuments:
        """Read documents from a frame, or raise `DataError`."""
        if "title" not in frame.columns:
            raise DataError(f"The documents of {owner} need a column 'title'. {suggest_name('title', frame.columns)}")
        if not len(frame):
            raise DataError(f"The documents of {owner} have no rows. Give at least one.")
        texts = {name: _read_texts(frame, name, owner) for name in TEXT_WEIGHTS if name in frame.columns}
        ids = tuple(frame["id"].tolist()) if "id" in frame.columns else tuple(range(len(frame)))
        if len(set(ids)) < len(ids):
            raise DataError(f"The column 'id' of the documents of {owner} has repeated values. Make them unique.")
        departments = _read_texts(frame, "department", owner) if "department" in frame.columns else None
        if departments is not None and ALL_DEPARTMENTS in departments:
            raise DataError(
                f"A document of {owner} has the department {ALL_DEPARTMENTS!r}, which means that no filter is set. Rename it."
            )
        prices = None
        if "price" in frame.columns:
            if frame["price"].dtype.kind not in "iuf" or not np.isfinite(frame["price"].to_numpy(float)).all():
                raise DataError(f"The column 'price' of the documents of {owner} must have finite numbers only.")
            prices = tuple(frame["price"].astype(float).tolist())
        return cls(ids=ids, texts=texts, departments=departments, prices=prices)


def _read_texts(frame: pd.DataFrame, name: str, owner: str) -> tuple[str, ...]:
    values = tuple("" if value is None or value != value else value for value in frame[name].tolist())
    wrong_value = next((value for value in values if not isinstance(value, str)), None)
    if wrong_value is not None:
        raise DataError(f"The column {name!r} of the documents of {owner} must have texts. Got {wrong_value!r}.")
    return values


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """A parsed query: its words, the department or None, the sorting rule."""

    words: tuple[str, ...]
    department: str | None
    sort: str


class SearchIndex:
    """An index of documents in memory; a subclass builds it and answers requests."""

    def __init__(self) -> None:
        self.process_id = os.getpid()  # a forked process builds its own

    def find(self, request: SearchRequest, limit: int) -> tuple[int, list[int]]:
        """Return the number of hits, and the rows of the first of them in order."""
        raise NotImplementedError

    def close(self) -> None:
        """Release the memory."""


class SearchEngine(ResourceSystem):
    """A search over documents; the base of `SqliteSearch` and `TantivySearch`.

    A case has a ``query`` and may have a ``department`` and a ``sort`` rule. The answer is a dict: ``hits``, the number of
    documents that match, and ``items``, the ids of the first of them in order. The index is built at the first query.
    """

    batch_rows = 1_000
    resource_names = ("_shared", "_lock")
    engine_name = ""

    def __init__(
        self,
        documents: DataLike,
        *,
        language: SearchLanguage = "en",
        match: str = "all",
        stop_words: bool = False,
        tokens: str = "bigrams",
        page_size: int = 20,
        rounded: bool = False,
        name: str | None = None,
    ) -> None:
        owner = type(self).__name__
        self.language = validate_choice("language", owner, language, LANGUAGES)
        self.match = validate_choice("match", owner, match, ("all", "any"))
        self.tokens = validate_choice("tokens", owner, tokens, ("bigrams", "characters"))
        self.page_size = validate_integer("page_size", owner, page_size, low=1, high=100_000)
        for option, value in (("stop_words", stop_words), ("rounded", rounded)):
            if not isinstance(value, bool):
                reject(option, owner, "True or False", value)
        self.stop_words, self.rounded = stop_words, rounded
        self.documents = SearchDocuments.from_frame(validate_frame(to_plain_data(documents)), owner)
        self.departments = (ALL_DEPARTMENTS, *sorted(set(self.documents.departments or ())))
        self.name = name or self.engine_name
        self._check_installation()
        self._create_resources()

    def _create_resources(self) -> None:
        self._shared: dict[str, SearchIndex] = {}  # a dict, so that copies share an index that is built later
        self._lock = threading.Lock()

    def _check_installation(self) -> None:
        """Raise an error that names what to install, if the engine is missing."""

    def _build_index(self) -> SearchIndex:
        raise NotImplementedError

    def start(self) -> SearchIndex:
        """Return the index; build it if necessary."""
        with self._lock:
            index = self._shared.get("index")
            if index is None or index.process_id != os.getpid():
                index = self._shared["index"] = self._build_index()
            return index

    def close(self) -> None:
        """Drop the index. A later query builds it again."""
        with self._lock:
            index = self._shared.pop("index", None)
        if index is not None:
            index.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def search(self, query: str, department: str = ALL_DEPARTMENTS, sort: str = FEATURED) -> dict[str, Any]:
        """Return the answer to one query: the number of hits, and the ids of the first of them."""
        request = self._read_request(query, department, sort)
        if not request.words:
            return {"hits": 0, "items": []}
        hits, rows = self.start().find(request, self.page_size)
        ids = self.documents.ids
        return {"hits": round_hits(hits) if self.rounded else hits, "items": [ids[row] for row in rows]}

    def _read_request(self, query: object, department: object, sort: object) -> SearchRequest:
        if not isinstance(query, str):
            # the row has no answer; other rows have
            raise SystemRaised(f"The query of a search must be a text. Got {format_short(query)}.")
        for name, value in (("department", department), ("sort", sort)):
            if not isinstance(value, str):
                reject(name, "search", "a str", value)
        if department not in self.departments:
            raise ModelError(
                f"There is no department {department!r}. {suggest_name(str(department), self.departments)}"
            )
        if sort not in SORT_RULES:
            raise ModelError(f"There is no sorting rule {sort!r}. {suggest_name(str(sort), SORT_RULES)}")
        if sort != FEATURED and self.documents.prices is None:
            raise ModelError(f"The documents have no column 'price', which the sorting rule {sort!r} needs.")
        words = split_words(query, self.language, self.tokens)
        if self.stop_words:
            stop_words = STOP_WORDS[self.language]
            words = [word for word in words if word.lower() not in stop_words]
        different_words = tuple(dict.fromkeys(word.lower() for word in words))[:MAX_QUERY_WORDS]
        chosen_department = None if department == ALL_DEPARTMENTS else str(department)
        return SearchRequest(words=different_words, department=chosen_department, sort=str(sort))

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Answer the queries of a batch, one after the other."""
        frame = batch.frame
        if "query" not in frame.columns:
            raise ModelError(f"The cases of a search need a column 'query'. {suggest_name('query', frame.columns)}")
        count = len(frame)
        departments = frame["department"].tolist() if "department" in frame.columns else [ALL_DEPARTMENTS] * count
        sorts = frame["sort"].tolist() if "sort" in frame.columns else [FEATURED] * count
        cases = zip(frame["query"].tolist(), departments, sorts, strict=True)
        return to_outputs([self.search(*case) for case in cases], count, None, scalar=True)

    def _index_texts(self) -> dict[str, list[str]]:
        """Return the texts of all documents with single spaces between their words."""
        return {
            name: [" ".join(split_words(text, self.language, self.tokens)) for text in texts]
            for name, texts in self.documents.texts.items()
        }

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return copy.copy(self)  # documents and options never change


# -- SQLite ------------------------------------------------------------------------------------------------------------


@check_types
class SqliteSearch(SearchEngine):
    """A search over documents on FTS5, the full-text search of SQLite, which comes with Python.

    Use it as a context manager, or call `close()`; otherwise the index goes with the object.

    Parameters
    ----------
    documents : DataFrame
        One row per document: ``title``; optional ``description`` and ``brand``, which are searched, too; ``department`` to
        filter by; ``price`` to sort by; ``id`` for answers, by default the position.
    language : {"en", "zh"}
        English words are stemmed (Porter), so that "sweaters" finds "sweater". Chinese is indexed by `tokens`.
    match : {"all", "any"}
        Whether a document must have all words of a query, or at least one of them.
    stop_words : bool
        Whether to leave words such as "for" and the "s" of "men's" out of queries. FTS5 itself does not.
    tokens : {"bigrams", "characters"}
        What a word of Chinese is: two adjacent characters, or each character.
    page_size : int
        The number of items of an answer.
    rounded : bool
        Whether numbers of hits are rounded as in shops: from 1,000 on, down to one significant digit.
    name : str, optional
        For messages and reports.

    Examples
    --------
    >>> import datamorphic as dm, pandas as pd
    >>> sweaters = pd.DataFrame({"title": ["Men's wool sweater", "Wool sweaters for men", "Sweater"]})
    >>> with dm.systems.SqliteSearch(sweaters) as engine:
    ...     engine.search("men's sweaters"), engine.search("sweaters for men")
    ({'hits': 1, 'items': [0]}, {'hits': 1, 'items': [1]})
    """

    engine_name = "SQLite FTS5"

    def _check_installation(self) -> None:
        with sqlite3.connect(":memory:") as connection:
            try:
                connection.execute("CREATE VIRTUAL TABLE trial USING fts5(title)")
            except sqlite3.OperationalError:
                raise ModelError(
                    f"SQLite {sqlite3.sqlite_version} of this Python has no FTS5. Install a Python whose SQLite has it, or use "
                    "dm.systems.TantivySearch: pip install 'datamorphic[search]'"
                ) from None
        connection.close()

    def _build_index(self) -> SearchIndex:
        return SqliteIndex(self)


class SqliteIndex(SearchIndex):
    """An FTS5 index in memory. Threads take turns."""

    def __init__(self, engine: SearchEngine) -> None:
        super().__init__()
        self.operator = " AND " if engine.match == "all" else " OR "
        texts, documents = engine._index_texts(), engine.documents
        tokenizer = "porter unicode61" if engine.language == "en" else "unicode61"
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        execute = self._connection.execute
        execute("PRAGMA temp_store = MEMORY")
        execute(f"CREATE VIRTUAL TABLE texts USING fts5({', '.join(texts)}, content='', tokenize='{tokenizer}')")
        execute("CREATE TABLE facts (document INTEGER PRIMARY KEY, department TEXT, price REAL)")
        marks = ", ".join("?" * (len(texts) + 1))
        rows = zip(range(len(documents)), *texts.values(), strict=True)
        self._connection.executemany(f"INSERT INTO texts (rowid, {', '.join(texts)}) VALUES ({marks})", rows)
        nothing = (None,) * len(documents)
        facts = zip(range(len(documents)), documents.departments or nothing, documents.prices or nothing, strict=True)
        self._connection.executemany("INSERT INTO facts VALUES (?, ?, ?)", facts)
        self._connection.commit()
        weights = ", ".join(str(TEXT_WEIGHTS[name]) for name in texts)
        self._statements = {
            (sort, filtered): _write_statement(weights, sort, filtered)
            for sort in SORT_RULES
            for filtered in (False, True)
        }

    def find(self, request: SearchRequest, limit: int) -> tuple[int, list[int]]:
        """Return the number of hits and the first rows, both from one statement."""
        phrases = self.operator.join(f'"{word}"' for word in request.words)  # words have no quotes
        filters = () if request.department is None else (request.department,)
        statement = self._statements[request.sort, bool(filters)]
        with self._lock:
            rows = self._connection.execute(statement, (phrases, *filters, limit)).fetchall()
        return (rows[0][1] if rows else 0), [row for row, _ in rows]

    def close(self) -> None:
        """Close the database in memory."""
        with self._lock:
            self._connection.close()

    def __del__(self) -> None:
        connection = getattr(self, "_connection", None)
        if connection is not None:
            connection.close()


def _write_statement(weights: str, sort: str, filtered: bool) -> str:
    """Return the SQL statement that finds, counts and sorts.

    Its parameters are the words, the department if it is filtered, and the limit.
    """
    score = f"bm25(texts, {weights})" if sort == FEATURED else "0"
    order = {FEATURED: "score", PRICE_UP: "price", PRICE_DOWN: "price DESC"}[sort]
    condition = "WHERE department = ?" if filtered else ""
    return (
        f"WITH matches AS MATERIALIZED (SELECT rowid AS row, {score} AS score FROM texts WHERE texts MATCH ?) "
        f"SELECT row, count(*) OVER () FROM matches JOIN facts ON document = row {condition} "
        f"ORDER BY {order}, row LIMIT ?"
    )


# -- tantivy -----------------------------------------------------------------------------------------------------------


@check_types
class TantivySearch(SearchEngine):
    """A search over documents on tantivy, a search engine written in Rust.

    It needs the package ``tantivy``: ``pip install 'datamorphic[search]'``. Parameters and answers are those of `SqliteSearch`;
    English words are stemmed by Snowball's English stemmer, and the ranking is tantivy's.

    Parameters
    ----------
    documents : DataFrame
        One row per document: ``title``; optional ``description`` and ``brand``, which are searched, too; ``department`` to
        filter by; ``price`` to sort by; ``id`` for answers, by default the position.
    language, match, stop_words, tokens, page_size, rounded, name
        As for `SqliteSearch`.

    Examples
    --------
    >>> import datamorphic as dm, pandas as pd
    >>> sweaters = pd.DataFrame({"title": ["男士毛衣", "毛衣男士", "毛衣"], "department": ["男装", "男装", "女装"]})
    >>> with dm.systems.TantivySearch(sweaters, language="zh") as engine:
    ...     engine.search("男士毛衣"), engine.search("毛衣", department="男装")
    ({'hits': 1, 'items': [0]}, {'hits': 2, 'items': [0, 1]})
    """

    engine_name = "tantivy"

    def _check_installation(self) -> None:
        import_optional("tantivy", "search", "TantivySearch")

    def _build_index(self) -> SearchIndex:
        return TantivyIndex(self)


class TantivyIndex(SearchIndex):
    """An index of tantivy in memory. It is never changed, so threads need not take turns."""

    def __init__(self, engine: SearchEngine) -> None:
        super().__init__()
        tantivy = self._tantivy = import_optional("tantivy", "search", "TantivySearch")
        texts, documents = engine._index_texts(), engine.documents
        self.match, self.columns = engine.match, tuple(texts)
        builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        builder = builder.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.ascii_fold())
        if engine.language == "en":
            builder = builder.filter(tantivy.Filter.stemmer("english"))
        self._analyser = builder.build()
        schema = tantivy.SchemaBuilder()
        for name in texts:
            schema.add_text_field(name, tokenizer_name="words", index_option="freq")
        schema.add_text_field("department", tokenizer_name="raw", index_option="basic")
        schema.add_float_field("price", fast=True)
        schema.add_integer_field("row", fast=True)
        self._schema = schema.build()
        index = tantivy.Index(self._schema)
        index.register_tokenizer("words", self._analyser)
        index.config_reader("manual")
        writer = index.writer(num_threads=1)  # one segment: documents with equal scores stay in their order
        departments = documents.departments or ("",) * len(documents)
        prices = documents.prices or (0.0,) * len(documents)
        for row, (department, price, *values) in enumerate(zip(departments, prices, *texts.values(), strict=True)):
            document = tantivy.Document(row=row, department=department, price=price)
            for name, value in zip(texts, values, strict=True):
                document.add_text(name, value)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._index, self._searcher = index, index.searcher()

    def find(self, request: SearchRequest, limit: int) -> tuple[int, list[int]]:
        """Return the number of hits and the first rows, both from one search."""
        tantivy = self._tantivy
        words = dict.fromkeys(word for text in request.words for word in self._analyser.analyze(text))
        occurrence = tantivy.Occur.Must if self.match == "all" else tantivy.Occur.Should
        query = tantivy.Query.boolean_query([(occurrence, self._match_word(word)) for word in words])
        if request.department is not None:
            department = tantivy.Query.term_query(self._schema, "department", request.department, "basic")
            department = tantivy.Query.const_score_query(department, 0.0)
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), (tantivy.Occur.Must, department)])
        options: dict[str, Any] = {}
        if request.sort != FEATURED:
            order = tantivy.Order.Asc if request.sort == PRICE_UP else tantivy.Order.Desc
            options = {"order_by_field": "price", "order": order}
        result = self._searcher.search(query, limit, True, **options)
        addresses = [address for _, address in result.hits]
        return int(result.count), [int(row) for row in self._searcher.fast_field_values("row", addresses)]

    def _match_word(self, word: str) -> Any:
        query = self._tantivy.Query
        matches: Sequence[tuple[Any, Any]] = [
            (
                self._tantivy.Occur.Should,
                query.boost_query(query.term_query(self._schema, name, word, "freq"), TEXT_WEIGHTS[name]),
            )
            for name in self.columns
        ]
        return query.boolean_query(matches)

    def close(self) -> None:
        """Drop the index and its searcher."""
        self._searcher = self._index = None
