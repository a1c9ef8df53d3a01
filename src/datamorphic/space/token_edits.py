"""Edits of texts by tokens: the number of edits between two texts, and the text half-way between them.

A token is a word, a punctuation mark, an emoji or an ideogram, together with the whitespace before it, so that a text is the
concatenation of its tokens. An edit inserts, drops or replaces one token. Half-way between two texts is a text that begins
like one of them and ends like the other one, cut where half of the edits are on either side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

MAX_CELLS_PER_PAIR = 4_000_000  # of the table of one pair; larger ones are compared position by position
MAX_CELLS_PER_BATCH = 2_000_000
MAX_CACHED_TOKENS = 4_000_000
MAX_CACHED_PAIRS = 200_000

TokenNumbers: TypeAlias = npt.NDArray[np.int32]
Counts: TypeAlias = npt.NDArray[np.int64]
Cut: TypeAlias = tuple[int, int]  # positions in two texts between which an alignment is cut

_MARKS = (  # combining marks of common scripts, which Python does not count as parts of words
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u200c\u200d"
)
_IDEOGRAMS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = (  # compiled on first use, which takes longer than importing this module
    r"\s*(?:"
    rf"[{_IDEOGRAMS}]"
    rf"|(?:(?![{_IDEOGRAMS}])\w)(?:(?![{_IDEOGRAMS}])[\w{_MARKS}]|['\u2019](?=\w))*"
    r"|[\U0001f1e6-\U0001f1ff]{2}"
    r"|[^\w\s](?:[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff]|\u200d[^\w\s])*"
    r")|\s+"
)


def split_tokens(text: str) -> list[str]:
    """Return the tokens of a text, each with the whitespace before it; their concatenation is the text.

    Examples
    --------
    >>> split_tokens("Don't go, Anna!")
    ["Don't", ' go', ',', ' Anna', '!']
    """
    return re.findall(_TOKEN, text)


class _Vocabulary:
    """Numbers of tokens, and the numbered tokens of recent texts."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: dict[str, TokenNumbers] = {}
        self._cached_tokens = 0

    def number_tokens(self, text: str) -> TokenNumbers:
        """Return the numbers of the tokens of a text."""
        numbers = self._texts.get(text)
        if numbers is None:
            table = self._numbers
            numbers = np.array([table.setdefault(token, len(table)) for token in split_tokens(text)], dtype=np.int32)
            self._cached_tokens += len(numbers) + 10
            if self._cached_tokens > MAX_CACHED_TOKENS:
                self._texts.clear()
                self._cached_tokens = len(numbers)
            self._texts[text] = numbers
        return numbers


_vocabulary = _Vocabulary()
_distances: dict[tuple[str, str], int] = {}


def count_tokens(texts: Sequence[str]) -> Counts:
    """Return the number of tokens of each text."""
    return np.array([len(_vocabulary.number_tokens(text)) for text in texts], dtype=np.int64)


def count_edits(a: Sequence[str], b: Sequence[str]) -> Counts:
    """Return the number of token edits from each text of `a` to the same of `b`.

    That is the fewest possible, except for texts whose difference is beyond `MAX_CELLS_PER_PAIR`: those are compared position
    by position.

    Examples
    --------
    >>> count_edits(["a good film"], ["not a good film at all"]).tolist()
    [4]
    """
    counts = np.zeros(len(a), dtype=np.int64)
    open_rows: list[int] = []
    for row, pair in enumerate(zip(a, b, strict=True)):
        count = 0 if pair[0] == pair[1] else _distances.get(pair, -1)
        if count < 0:
            open_rows.append(row)
        counts[row] = count
    if open_rows:
        pairs = [_Pair(a[row], b[row]) for row in open_rows]
        _measure(pairs)
        if len(_distances) + len(pairs) > MAX_CACHED_PAIRS:
            _distances.clear()
        for row, pair_record in zip(open_rows, pairs, strict=True):
            counts[row] = _distances[a[row], b[row]] = pair_record.edits
    return counts


def halve(a: Sequence[str], b: Sequence[str], *, to_first: Sequence[bool]) -> list[str]:
    """Return the text half-way between each text of `a` and the same of `b`.

    Of an odd number of edits, the middle one is left out where `to_first` is set and made where it is not. Between two texts
    of one edit there is no other text, so one of them is returned.

    Examples
    --------
    >>> halve(["the film was very good"], ["a film is bad"], to_first=[True])
    ['a film very good']
    """
    halves = [first if choice else second for first, second, choice in zip(a, b, to_first, strict=True)]
    rows = [row for row, pair in enumerate(zip(a, b, strict=True)) if pair[0] != pair[1]]
    pairs = [_Pair(a[row], b[row]) for row in rows]
    _measure(pairs, round_down=[bool(to_first[row]) for row in rows])
    for row, pair in zip(rows, pairs, strict=True):
        if pair.edits > 1:
            halves[row] = pair.splice(halves[row])
    return halves


class _Pair:
    """Two texts without the tokens that they have in common at the start and at the end."""

    __slots__ = ("a", "b", "cut", "edits", "end", "first", "second", "start", "target_edits")

    def __init__(self, first: str, second: str) -> None:
        self.first, self.second = first, second
        a, b = _vocabulary.number_tokens(first), _vocabulary.number_tokens(second)
        shorter = min(len(a), len(b))
        unequal = np.flatnonzero(a[:shorter] != b[:shorter])
        self.start = int(unequal[0]) if len(unequal) else shorter
        rest = shorter - self.start
        unequal = np.flatnonzero(a[len(a) - rest :] != b[len(b) - rest :])
        self.end = rest - int(unequal[-1]) - 1 if len(unequal) else rest
        self.a, self.b = a[self.start : len(a) - self.end], b[self.start : len(b) - self.end]
        self.edits = max(len(self.a), len(self.b))  # right if one of them is empty
        self.target_edits = 0  # the number of edits up to the cut
        self.cut: Cut = (0, 0)

    @property
    def cells(self) -> int:
        """The number of cells of the table of the pair."""
        return (len(self.a) + 1) * (len(self.b) + 1)

    def splice(self, end: str) -> str:
        """Return the text with the target number of edits made, or nearly as many.

        If there is no such text, `end` is returned.

        Words that come to stand side by side without a space would be one word, so a text counts only if it has the
        expected tokens.
        """
        for from_left, cut in self._propose_cuts():
            tokens = (self.second, self.first) if from_left else (self.first, self.second)
            places = (cut[1], cut[0]) if from_left else cut
            before, after = split_tokens(tokens[0]), split_tokens(tokens[1])
            expected = before[: self.start + places[0]] + after[self.start + places[1] :]
            text = "".join(expected)
            if split_tokens(text) == expected:
                return text
        return end

    def _propose_cuts(self) -> Iterator[tuple[bool, Cut]]:
        """Yield cuts: the best one, then others, whose number of edits is more and more different."""
        yield True, self.cut
        cuts = self._list_cuts()
        for count in sorted(range(1, self.edits), key=lambda count: (abs(count - self.target_edits), count)):
            yield True, cuts[count]
            yield False, cuts[self.edits - count]

    def _list_cuts(self) -> dict[int, Cut]:
        """Return the cut after any number of edits."""
        if self.cells > MAX_CELLS_PER_PAIR:
            return {count: self.find_cut_by_position(count) for count in range(self.edits + 1)}
        table = _fill_tables([self])[0]
        i, j = len(self.a), len(self.b)
        cuts = {int(table[i, j]): (i, j)}
        while i or j:
            i, j = _step_back(table, self.a, self.b, i, j)
            cuts.setdefault(int(table[i, j]), (i, j))
        return cuts

    def find_cut_by_position(self, count: int) -> Cut:
        """Return the cut after some edits, if texts are compared position by position."""
        shorter = min(len(self.a), len(self.b))
        unequal = np.flatnonzero(self.a[:shorter] != self.b[:shorter])
        if count <= len(unequal):
            place = int(unequal[count - 1]) + 1 if count else 0
            return place, place
        extra = count - len(unequal)
        return (shorter + extra, shorter) if len(self.a) > len(self.b) else (shorter, shorter + extra)

    def measure_by_position(self) -> None:
        """Set the number of edits, position by position."""
        shorter = min(len(self.a), len(self.b))
        self.edits = int((self.a[:shorter] != self.b[:shorter]).sum()) + abs(len(self.a) - len(self.b))


def _measure(pairs: Sequence[_Pair], round_down: Sequence[bool] | None = None) -> None:
    """Set the number of edits of all pairs and, with `round_down`, their middle cuts.

    `round_down` says per pair how to halve an odd number of edits.
    """
    small_places = []
    for place, pair in enumerate(pairs):
        if pair.cells > MAX_CELLS_PER_PAIR:
            pair.measure_by_position()
            if round_down is not None:
                pair.target_edits = pair.edits // 2 if round_down[place] else (pair.edits + 1) // 2
                pair.cut = pair.find_cut_by_position(pair.target_edits)
        elif (len(pair.a) and len(pair.b)) or round_down is not None:
            small_places.append(place)
    small_places.sort(key=lambda place: (len(pairs[place].a), len(pairs[place].b)))
    for group in _group_by_cells(small_places, pairs):
        members = [pairs[place] for place in group]
        tables = _fill_tables(members)
        rows = np.arange(len(members))
        i = np.array([len(pair.a) for pair in members])
        j = np.array([len(pair.b) for pair in members])
        edits = tables[rows, i, j].astype(np.int64)
        for pair, count in zip(members, edits.tolist(), strict=True):
            pair.edits = count
        if round_down is not None:
            is_rounded_down = np.array([round_down[place] for place in group])
            targets = np.where(is_rounded_down, edits // 2, (edits + 1) // 2)
            cuts = _trace_cuts(members, tables, i, j, targets)
            for pair, count, cut in zip(members, targets.tolist(), cuts, strict=True):
                pair.target_edits, pair.cut = count, cut


def _group_by_cells(places: Sequence[int], pairs: Sequence[_Pair]) -> Iterator[list[int]]:
    """Yield groups of pairs of similar size whose tables fit into one batch."""
    group: list[int] = []
    width = height = 0
    for place in places:
        new_width, new_height = max(width, len(pairs[place].a) + 1), max(height, len(pairs[place].b) + 1)
        if group and (len(group) + 1) * new_width * new_height > MAX_CELLS_PER_BATCH:
            yield group
            group, new_width, new_height = [], len(pairs[place].a) + 1, len(pairs[place].b) + 1
        group.append(place)
        width, height = new_width, new_height
    if group:
        yield group


def _fill_tables(pairs: Sequence[_Pair]) -> npt.NDArray[np.int32]:
    """Return the tables of edit distances of all prefixes (Wagner & Fischer).

    They are filled row by row, for all pairs at once.
    """
    a, b = _pad([pair.a for pair in pairs], -1), _pad([pair.b for pair in pairs], -2)
    columns = np.arange(b.shape[1] + 1, dtype=np.int32)
    tables = np.empty((len(pairs), a.shape[1] + 1, b.shape[1] + 1), dtype=np.int32)
    tables[:, 0] = columns
    for i in range(a.shape[1]):
        previous, row = tables[:, i], tables[:, i + 1]
        row[:, 0] = i + 1
        np.minimum(previous[:, 1:] + 1, previous[:, :-1] + (a[:, i, None] != b), out=row[:, 1:])
        row -= columns  # an insertion adds 1 per column, so that the least value so far, less the column, is enough
        np.minimum.accumulate(row, axis=1, out=row)
        row += columns
    return tables


def _pad(rows: Sequence[TokenNumbers], filler: int) -> TokenNumbers:
    padded = np.full((len(rows), max(map(len, rows), default=0)), filler, dtype=np.int32)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
    return padded


def _step_back(table: npt.NDArray[np.int32], a: TokenNumbers, b: TokenNumbers, i: int, j: int) -> Cut:
    """Return the previous cell of a shortest path.

    A diagonal step is preferred, then a dropped token, then a new one.
    """
    if i and j and table[i, j] == table[i - 1, j - 1] + (a[i - 1] != b[j - 1]):
        return i - 1, j - 1
    return (i - 1, j) if i and table[i, j] == table[i - 1, j] + 1 else (i, j - 1)


def _trace_cuts(
    pairs: Sequence[_Pair], tables: npt.NDArray[np.int32], i: Counts, j: Counts, targets: Counts
) -> list[Cut]:
    """Return, per pair, the last cell of a shortest path with the target edits.

    All pairs advance together.
    """
    a, b = _pad([pair.a for pair in pairs], -1), _pad([pair.b for pair in pairs], -2)
    i, j = i.copy(), j.copy()
    open_pairs = np.flatnonzero(tables[np.arange(len(pairs)), i, j] > targets)
    while open_pairs.size:
        row, column = i[open_pairs], j[open_pairs]
        values = tables[open_pairs, row, column]
        inner = (row > 0) & (column > 0)
        same = np.zeros(len(open_pairs), dtype=bool)
        same[inner] = a[open_pairs[inner], row[inner] - 1] == b[open_pairs[inner], column[inner] - 1]
        diagonal = inner & (values == tables[open_pairs, row - 1, column - 1] + ~same)
        drop = ~diagonal & (row > 0) & (values == tables[open_pairs, row - 1, column] + 1)
        i[open_pairs] -= diagonal | drop
        j[open_pairs] -= ~drop
        open_pairs = open_pairs[tables[open_pairs, i[open_pairs], j[open_pairs]] > targets[open_pairs]]
    return list(zip(i.tolist(), j.tolist(), strict=True))


def bound_edits(a: Sequence[str], b: Sequence[str]) -> Counts:
    """Return a lower bound of the edits from every text of `a` to every text of `b`.

    It ignores the order of the tokens, and is quick for many texts.
    """
    from scipy.sparse import csr_matrix

    columns: dict[tuple[int, int], int] = {}

    def list_occurrences(texts: Sequence[str]) -> tuple[list[int], list[int], Counts]:
        row_numbers: list[int] = []
        places: list[int] = []
        for row, text in enumerate(texts):
            token_counts: dict[int, int] = {}
            for token in _vocabulary.number_tokens(text).tolist():
                token_counts[token] = token_counts.get(token, 0) + 1
                row_numbers.append(row)
                places.append(columns.setdefault((token, token_counts[token]), len(columns)))
        return row_numbers, places, count_tokens(texts)

    sides = list_occurrences(a), list_occurrences(b)
    first, second = (
        csr_matrix((np.ones(len(rows), dtype=np.int64), (rows, places)), shape=(len(texts), max(1, len(columns))))
        for (rows, places, _), texts in zip(sides, (a, b), strict=True)
    )
    common = (first @ second.T).toarray()
    bound: Counts = np.maximum(sides[0][2][:, None], sides[1][2][None, :]) - common
    return bound


def mark_edits(a: str, b: str) -> list[tuple[str, str]]:
    """Return the alignment of two texts as pieces (kind, text): "same", "drop" or "add".

    Examples
    --------
    >>> mark_edits("a good film", "a bad film")
    [('same', 'a'), ('drop', ' good'), ('add', ' bad'), ('same', ' film')]
    """
    pair = _Pair(a, b)
    first, second = split_tokens(a), split_tokens(b)
    pieces = [("same", token) for token in first[: pair.start]]
    middle_a = first[pair.start : pair.start + len(pair.a)]
    middle_b = second[pair.start : pair.start + len(pair.b)]
    if pair.cells > MAX_CELLS_PER_PAIR:
        pieces += [("drop", token) for token in middle_a] + [("add", token) for token in middle_b]
    elif middle_a or middle_b:
        table = _fill_tables([pair])[0]
        i, j = len(middle_a), len(middle_b)
        backwards: list[tuple[str, str]] = []
        while i or j:
            previous = _step_back(table, pair.a, pair.b, i, j)
            if previous == (i - 1, j - 1) and pair.a[i - 1] == pair.b[j - 1]:
                backwards.append(("same", middle_a[i - 1]))
            else:
                if previous[1] < j:
                    backwards.append(("add", middle_b[j - 1]))
                if previous[0] < i:
                    backwards.append(("drop", middle_a[i - 1]))
            i, j = previous
        pieces += backwards[::-1]
    pieces += [("same", token) for token in first[pair.start + len(pair.a) :]]
    return _join_pieces(pieces)


def _join_pieces(pieces: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return pieces with neighbours of one kind joined, and dropped ones before added ones."""
    new_pieces: list[tuple[str, str]] = []
    dropped_text = added_text = ""
    for kind, text in [*pieces, ("same", "")]:
        if kind == "drop":
            dropped_text += text
        elif kind == "add":
            added_text += text
        else:
            new_pieces += [(name, part) for name, part in (("drop", dropped_text), ("add", added_text)) if part]
            dropped_text = added_text = ""
            if text and new_pieces and new_pieces[-1][0] == "same":
                new_pieces[-1] = ("same", new_pieces[-1][1] + text)
            elif text:
                new_pieces.append(("same", text))
    return new_pieces
