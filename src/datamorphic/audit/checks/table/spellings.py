"""Categories and labels that are written in several ways."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import numpy as np

from ...._stats import compute_wilson_interval
from ....core.result import Finding
from .profile import MAX_TEXT_CHARACTERS, ColumnProfile, TableProfile
from .report import build_finding, format_count

MIN_ROWS = 20
MAX_CATEGORIES = 2_000  # columns of more different texts hold texts or names, rather than categories
MAX_DISTINCT_SHARE = 0.5  # of the rows
MAX_MEAN_CHARACTERS = 40  # of a category
MIN_LETTERS = 2  # of names that may differ by case: "a" and "A" may be two codes
MIN_SHARE_FOR_CONCERN = 0.005  # lower end of the interval of the share of rows with the rarer spellings
MAX_TYPO_SHARE = 0.02  # of the rows of the category that a typo stands for
MAX_TYPO_ROWS = 3
MIN_ROWS_OF_TYPED_NAME = 30
MIN_TYPO_CHARACTERS = 6  # shorter words differ by a letter from others: "Iran" and "Iraq"
MAX_PAIRS_SHOWN = 4
SEPARATORS = re.compile(r"[\s_\u00a0]+")
HYPHENS = re.compile(r"(?<=[^\W\d_])[-\u2010-\u2015](?=[^\W\d_])")
QUOTES = re.compile(r"[\"'`\u2018\u2019\u201c\u201d]|[.,;:]+$")


def find_spellings(table: TableProfile) -> Iterator[Finding]:
    """Yield columns in which one category has several spellings, and those with typing errors."""
    if len(table) < MIN_ROWS:
        return
    for column in table.columns:
        if column.kind != "text" or len(column.values) > min(MAX_CATEGORIES, MAX_DISTINCT_SHARE * len(table)):
            continue
        if np.mean([len(text) for text in column.texts]) > MAX_MEAN_CHARACTERS:
            continue
        groups: dict[str, list[int]] = {}
        for code, text in enumerate(column.texts):
            if text.strip() and len(text) <= MAX_TEXT_CHARACTERS:
                groups.setdefault(normalise(text), []).append(code)
        several = [group for group in groups.values() if len(group) > 1]
        if several:
            yield _build_spelling_finding(table, column, several)
        typos = _find_typos(column, [group[0] for group in groups.values() if len(group) == 1])
        if typos:
            yield _build_typo_finding(table, column, typos)


def normalise(text: str) -> str:
    """Return what different spellings of a name have in common.

    Examples
    --------
    >>> normalise(" New-York"), normalise("new_york"), normalise("NEW YORK.")
    ('new york', 'new york', 'new york')
    >>> normalise("A+") == normalise("A-"), normalise("a") == normalise("A"), normalise("3-5") == normalise("35")
    (False, False, False)
    """
    plain = unicodedata.normalize("NFKD", text.strip())
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    plain = SEPARATORS.sub(" ", HYPHENS.sub(" ", QUOTES.sub("", plain))).strip()
    return plain.casefold() if sum(letter.isalpha() for letter in plain) >= MIN_LETTERS else plain or text


def _build_spelling_finding(table: TableProfile, column: ColumnProfile, groups: list[list[int]]) -> Finding:
    sorted_groups = [sorted(group, key=lambda code: -column.counts[code]) for group in groups]
    rare = [code for group in sorted_groups for code in group[1:]]
    rows = column.select_rows(rare)
    count = int(rows.sum())
    low, _ = compute_wilson_interval(count, len(table))
    texts = [" and ".join(repr(column.texts[code]) for code in group[:3]) for group in sorted_groups]
    counts = [
        ", ".join(f"{column.texts[code]!r} in {int(column.counts[code]):,}" for code in group[:4])
        for group in sorted_groups
    ]
    more = "" if len(texts) <= MAX_PAIRS_SHOWN else f", and {len(texts) - MAX_PAIRS_SHOWN:,} more"
    level = "concern" if column.is_label or low >= MIN_SHARE_FOR_CONCERN else "advice"
    what = "One class" if len(groups) == 1 else f"{len(groups):,} classes"
    if not column.is_label:
        what = "One category" if len(groups) == 1 else f"{len(groups):,} categories"
    verb = "is" if len(groups) == 1 else "are"
    return build_finding(
        "spelling",
        table,
        [column],
        rows,
        level=level,
        title=f"{what} of {column.display_name} {verb} written in several ways: {'; '.join(texts[:MAX_PAIRS_SHOWN])}{more}",
        detail=f"Rows by spelling: {'; '.join(counts[:MAX_PAIRS_SHOWN])}{more}. {format_count(count, len(table))} have a rarer "
        "spelling. A model takes each spelling for a category of its own.",
    )


def _find_typos(column: ColumnProfile, codes: list[int]) -> list[tuple[int, int]]:
    """Return rare names that differ from a frequent one by one letter, with that name."""
    frequent = [code for code in codes if column.counts[code] >= MIN_ROWS_OF_TYPED_NAME]
    rare = [code for code in codes if column.counts[code] <= MAX_TYPO_ROWS]
    if not frequent or not rare or len(rare) > MAX_CATEGORIES // 2:
        return []
    by_part: dict[str, list[int]] = {}
    for code in frequent:
        for part in _list_parts(column.texts[code].casefold()):
            by_part.setdefault(part, []).append(code)
    typos = []
    for code in rare:
        text = column.texts[code].casefold()
        candidates = {name for part in _list_parts(text) for name in by_part.get(part, ())}
        for name in sorted(candidates, key=lambda name: -column.counts[name]):
            if column.counts[code] <= MAX_TYPO_SHARE * column.counts[name] and _is_typo(
                text, column.texts[name].casefold()
            ):
                typos.append((code, name))
                break
    return typos


def _list_parts(text: str) -> set[str]:
    """Return a text and what is left of it without one character."""
    return {text, *(text[:place] + text[place + 1 :] for place in range(len(text)))}


def _is_typo(text: str, name: str) -> bool:
    """Tell whether two names differ by one letter that is no digit, after the first one; or by two that changed places."""
    if min(len(text), len(name)) < MIN_TYPO_CHARACTERS or text[0] != name[0] or abs(len(text) - len(name)) > 1:
        return False
    start = next(
        (place for place, pair in enumerate(zip(text, name, strict=False)) if pair[0] != pair[1]),
        min(len(text), len(name)),
    )
    if len(text) == len(name):
        changed = [place for place in range(len(text)) if text[place] != name[place]]
        is_swap = len(changed) == 2 and changed[1] == changed[0] + 1 and text[changed[0]] == name[changed[1]]
        is_close = len(changed) == 1 or (is_swap and text[changed[1]] == name[changed[0]])
        letters = {text[place] for place in changed} | {name[place] for place in changed}
    else:
        long, short = (text, name) if len(text) > len(name) else (name, text)
        is_close = long[start + 1 :] == short[start:]
        letters = {long[start]}
        if start == len(short) and long[start] == "s":
            return False  # a plural
    return is_close and all(letter.isalpha() for letter in letters)


def _build_typo_finding(table: TableProfile, column: ColumnProfile, typos: list[tuple[int, int]]) -> Finding:
    rows = column.select_rows([code for code, _ in typos])
    pairs = [
        f"{column.texts[code]!r} ({int(column.counts[code]):,}) for {column.texts[name]!r}" for code, name in typos
    ]
    more = "" if len(pairs) <= MAX_PAIRS_SHOWN else f", and {len(pairs) - MAX_PAIRS_SHOWN:,} more"
    return build_finding(
        "typo",
        table,
        [column],
        rows,
        title=f"{column.display_name} may hold typing errors: {', '.join(pairs[:MAX_PAIRS_SHOWN])}{more}",
        detail=f"{format_count(int(rows.sum()), len(table))} have a rare value of {column.name} that differs from a frequent one by "
        "one letter.",
    )
