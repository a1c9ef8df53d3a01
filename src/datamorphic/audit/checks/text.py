"""Texts: does the answer depend on first names, on the way a text is written, or on one single word?

Names are compared with made-up names in the same place, so that it is the name that matters and not the change of the text.
Thresholds leave room for what every classifier of words does: a name or a neutral word changes the answer to a few texts that are
close to the border anyway.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..._stats import compute_wilson_interval
from ..._text import format_percent, pluralise
from ...core.result import Finding, Level, count_rows, format_share
from ...errors import BudgetSpent
from ...relations.catalogue.first_names import FIRST_NAMES, build_name_pattern, find_group
from ...relations.catalogue.text import text_relations
from ...reporting.document import Section, Table
from ...reporting.marked_text import MarkedText
from ...runs.flow import ask
from ...space.outputs import Outputs
from ...space.points import Points
from ...space.text_feature import Text
from ...space.token_edits import split_tokens
from ..case_text import build_examples, format_answer
from ..check import CheckBudget, CheckFindings, get_facts, make_check, run_flow
from ..context import CheckContext
from ..outcome import SkipReason

Mask = npt.NDArray[np.bool_]

MIN_TEXTS = 20
SLOW_MIN_WORDS = 20  # of a slow system: of fewer words, hardly one decides
SLOW_MIN_TEXTS = 4  # of a slow system, for changes of writing: the interval of a share says how little that is
MAX_TEXTS = 200  # rows of the data, for changes of writing
MAX_NAMED_TEXTS = 100  # rows of the data in which names are replaced
MAX_NAMES_PER_GROUP = 3
MADE_UP_NAMES = ("Zorvan", "Quillet", "Tarenka")  # of no group, and known to no model
NAME_SENTENCE = "{text} This was written by {name}."
MIN_NAME_SHARE = 0.1  # of texts whose answer changes with a name
MIN_NAME_SHARE_LOWER_END = 0.05  # of the interval of that share
#: of texts whose answer differs among the made-up names; if there are more, the name need not be the cause
MAX_CHANCE_SHARE = 0.02
WRITING_RELATIONS = ("text.letter case", "text.punctuation", "text.spaces", "text.neutral words")
#: what the answer depends on, before the name of the column
WRITING_TITLES = {
    "text.letter case": "the letter case of",
    "text.punctuation": "the mark at the end of",
    "text.spaces": "the number of spaces in",
    "text.neutral words": "neutral words in",
    "text.synonym": "synonyms in",
}
MIN_WRITING_SHARE = 0.1  # the lower end of the interval of the share of texts whose answer changes
MIN_WRITING_SHARE_FOR_CONCERN = 0.25
MAX_WORDS = 400  # tried alone
MAX_TEXTS_PER_WORD = 25
MIN_WORD_SHARE = 0.9  # the lower end of the interval of the share of texts that one word decides
MAX_WORD_FREQUENCY = 0.05  # of the texts of the data: a frequent word may well decide
MIN_NUMBER_CHANGE = 0.1  # of the spread of the answers, if they are numbers
MAX_EXAMPLES = 5


@dataclass(frozen=True, kw_only=True)
class _TextSample:
    """Rows of the data with the texts of one column."""

    context: CheckContext
    budget: CheckBudget
    column: int
    rows: npt.NDArray[np.intp]  # of the data
    texts: list[str]

    @property
    def feature(self) -> Text:
        """The feature of the texts."""
        feature = self.context.space.features[self.column]
        assert isinstance(feature, Text)
        return feature

    def take(self, places: Sequence[int]) -> _TextSample:
        """Return some of the rows."""
        rows, texts = self.rows[list(places)], [self.texts[place] for place in places]
        return _TextSample(context=self.context, budget=self.budget, column=self.column, rows=rows, texts=texts)

    def make_points(self, texts: Sequence[str], repeats: int = 1) -> Points:
        """Return the rows, each repeated, with other texts."""
        codes = np.repeat(self.context.inputs.codes[self.rows], repeats, axis=0)
        codes[:, self.column] = self.feature.encode_texts(texts)
        return Points(self.context.space, codes)

    def query(self, texts: Sequence[str], repeats: int = 1) -> tuple[Points, Outputs]:
        """Return the rows with other texts, and their answers."""
        points = self.make_points(texts, repeats)
        return points, run_flow(self.context, self.budget, ask(points))


def check_texts(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Change names, the way of writing and single words in every column of texts."""
    findings: list[Finding] = []
    sections: list[Section] = []
    bases: list[str] = []
    skipped = False
    columns = [column for column, feature in enumerate(context.space.features) if isinstance(feature, Text)]
    for column in columns:
        sample = _draw_sample(context, budget, column)
        if len(sample.texts) < MIN_TEXTS:
            continue
        parts: list[Callable[[_TextSample], tuple[list[Finding], list[Section], str]]] = [
            _try_names,
            _try_writing,
            _try_words,
        ]
        for part in parts:
            try:
                new_findings, new_sections, basis = part(sample)
            except BudgetSpent:
                skipped = True
                if not context.is_slow:
                    break  # else a later part may need fewer queries
                continue
            findings += new_findings
            sections += new_sections
            bases.append(basis)
    basis = "; ".join(bases) or "too few texts"
    skip_reason: SkipReason = "budget spent" if skipped else ""
    if skipped and context.is_slow:
        skip_reason = "share too small"  # so that it is tried with a larger one
    return CheckFindings(
        basis=basis + ("; there was no time for more" if skipped else ""),
        findings=findings,
        sections=sections,
        conclusive=bool(bases) and (not skipped or bool(findings)),
        skip_reason=skip_reason,
    )


def _draw_sample(context: CheckContext, budget: CheckBudget, column: int) -> _TextSample:
    """Return rows of the data that have a text with at least one word."""
    feature = context.space.features[column]
    assert isinstance(feature, Text)
    rows = context.sample_rows(len(context.inputs))
    rows = rows[~np.isnan(context.inputs.codes[rows, column])]
    texts = [text or "" for text in feature.decode_texts(context.inputs.codes[rows, column])]
    places = [place for place, text in enumerate(texts) if any(letter.isalnum() for letter in text)]
    return _TextSample(
        context=context, budget=budget, column=column, rows=rows[places], texts=[texts[place] for place in places]
    )


def _find_changed(context: CheckContext, before: Outputs, after: Outputs) -> Mask:
    """Return which answers changed; a number by a tenth of the spread at least."""
    both = before.ok & after.ok
    if not context.has_numeric_answers:
        return np.asarray(both & ~before.same(after), dtype=bool)
    changed = np.zeros(len(before), dtype=bool)
    old, new = before.values[both].astype(np.float64), after.values[both].astype(np.float64)
    spread = float(np.subtract(*np.quantile(old, [0.95, 0.05]))) if len(old) else 0.0
    changed[both] = np.abs(new - old) > MIN_NUMBER_CHANGE * (spread or 1.0)
    return changed


def _build_pair_table(before: Sequence[str], after: Sequence[str], outputs: tuple[Outputs, Outputs]) -> Table:
    rows = [
        [MarkedText.compare(old, new), format_answer(outputs[0], row), format_answer(outputs[1], row)]
        for row, (old, new) in enumerate(zip(before, after, strict=True))
    ]
    return Table(columns=["text", "answer", "becomes"], rows=rows, sortable=False)


# -- first names -------------------------------------------------------------------------------------------------------


def _choose_names(texts: Sequence[str]) -> list[str]:
    """Return some names of every group: those that occur in the texts most often first."""
    pattern = build_name_pattern(tuple(name for names in FIRST_NAMES.values() for name in names))
    counts = Counter(name for text in texts for name in set(pattern.findall(text)))
    chosen_names: list[str] = []
    for names in FIRST_NAMES.values():
        ranked_names = sorted(names, key=lambda name: (-counts[name], names.index(name)))
        known_count = sum(counts[name] > 0 for name in ranked_names)
        chosen_names += ranked_names[: max(MAX_NAMES_PER_GROUP, known_count)]
    return chosen_names


def _try_names(sample: _TextSample) -> tuple[list[Finding], list[Section], str]:
    """Replace first names by names of all groups and by made-up ones.

    If the data have too few names, a sentence with a name is added instead.
    """
    names = _choose_names(sample.texts)
    pattern = build_name_pattern(tuple(name for group in FIRST_NAMES.values() for name in group))
    named_places = [place for place, text in enumerate(sample.texts) if pattern.search(text)]
    in_data = len(named_places) >= MIN_TEXTS
    all_names = [*MADE_UP_NAMES, *names]
    limit = sample.context.count_affordable(
        sample.budget.remaining(0.5), MAX_NAMED_TEXTS, runs_per_case=len(all_names), minimum=MIN_TEXTS
    )
    subset = sample.take((named_places if in_data else list(range(len(sample.texts))))[:limit])
    texts = [_insert_name(text, name, pattern, in_data) for text in subset.texts for name in all_names]
    points, outputs = subset.query(texts, len(all_names))
    count, width = len(subset.texts), len(all_names)
    grid = np.arange(count * width).reshape(count, width)
    base_rows = grid[:, 0]
    base = outputs.take(base_rows)
    changed = np.column_stack(
        [_find_changed(sample.context, base, outputs.take(grid[:, column])) for column in range(width)]
    )
    chance = float(changed[:, 1 : len(MADE_UP_NAMES)].any(axis=1).mean())
    counts = changed.sum(axis=0)
    decisive_columns = [
        column
        for column in range(len(MADE_UP_NAMES), width)
        if counts[column] >= MIN_NAME_SHARE * count
        and compute_wilson_interval(int(counts[column]), count)[0] > max(MIN_NAME_SHARE_LOWER_END, chance)
    ]
    where = "replaced" if in_data else "added"
    basis = f"{pluralise(len(names), 'first name')} {where} in {pluralise(count, 'text')}"
    if not decisive_columns or chance > MAX_CHANCE_SHARE:
        return [], [], basis
    finding = _build_name_finding(subset, points, outputs, grid, changed, [*decisive_columns], all_names, in_data)
    return [finding], [], basis


def _insert_name(text: str, name: str, pattern: re.Pattern[str], in_data: bool) -> str:
    """Return the text with its first name replaced everywhere, or a sentence added."""
    match = pattern.search(text) if in_data else None
    if match is None:
        return NAME_SENTENCE.format(text=text, name=name)
    return build_name_pattern((match[0],)).sub(name, text)


def _build_name_finding(
    sample: _TextSample,
    points: Points,
    outputs: Outputs,
    grid: npt.NDArray[np.intp],
    changed: Mask,
    decisive_columns: list[int],
    names: Sequence[str],
    in_data: bool,
) -> Finding:
    column_name, count = sample.feature.name, len(grid)
    decisive_columns.sort(key=lambda column: -int(changed[:, column].sum()))
    worst_column = decisive_columns[0]
    cases = int(changed[:, worst_column].sum())
    groups = Counter(find_group(names[column]) for column in decisive_columns)
    tried_counts = Counter(find_group(name) for name in names[len(MADE_UP_NAMES) :])
    whole_groups = [group for group, number in groups.items() if number > 1 and number >= 0.6 * tried_counts[group]]
    quoted_names = ", ".join(f"“{names[column]}”" for column in decisive_columns[:6]) + (
        ", ..." if len(decisive_columns) > 6 else ""
    )
    subject = f"the first name in {column_name}: {quoted_names}"
    others = [column for column in range(len(MADE_UP_NAMES), len(names)) if column not in decisive_columns]
    usual_share = float(np.median(changed[:, others].mean(axis=0))) if others else 0.0
    group_text = (
        f" They are most of the names of a group that were tried: {', '.join(whole_groups)}." if whole_groups else ""
    )
    chance = float(changed[:, 1 : len(MADE_UP_NAMES)].any(axis=1).mean())
    control_text = (
        f"among the made-up names it is {format_percent(chance)}" if chance else "all made-up names get the same answer"
    )
    detail = (
        f"With “{names[worst_column]}” instead of a made-up name in the same place, {format_share(cases, count, 'text')} get another "
        f"answer. With the other names that were tried it is {format_percent(usual_share)}, and {control_text}.{group_text}"
    )
    rows = np.flatnonzero(changed[:, worst_column])[:MAX_EXAMPLES]
    before_rows, after_rows = grid[rows, 0], grid[rows, worst_column]
    before, after = points.take(before_rows), points.take(after_rows)
    answers = outputs.take(before_rows), outputs.take(after_rows)
    body = [
        [
            names[column],
            find_group(names[column]),
            f"{int(changed[:, column].sum()):,}",
            format_percent(changed[:, column].mean()),
        ]
        for column in decisive_columns[:20]
    ]
    sentences = [sample.feature.decode_texts(part.codes[:, sample.column]) for part in (before, after)]
    pairs = _build_pair_table([text or "" for text in sentences[0]], [text or "" for text in sentences[1]], answers)
    return Finding(
        **get_facts("texts.name"),
        about=f"names in {column_name}",
        title=f"The answer depends on {subject}",
        confidence=0.95 if in_data else 0.85,
        detail=detail,
        remedy="A name says nothing about the content of a text. Look at what the training data say about it, replace names by "
        "placeholders before training, or balance the data. Then keep it so with a test: "
        f"dm.assert_holds(model, data, dm.relations.text_relations({column_name!r})['text.first name']).",
        **count_rows(cases, count, "case"),
        examples=build_examples((before, after), answers, range(len(rows))),
        sections=(
            Section(
                heading="Sentences with another name", text="The made-up name, and the name that decides.", table=pairs
            ),
            Section(
                heading="Names that change answers",
                text="Compared with a made-up name in the same place of the same texts.",
                table=Table(columns=["name", "group", "texts with another answer", "share"], rows=body),
            ),
        ),
        columns=(column_name,),
    )


# -- the way of writing ------------------------------------------------------------------------------------------------


def _try_writing(sample: _TextSample) -> tuple[list[Finding], list[Section], str]:
    """Write texts in capitals, with other marks, other spaces and neutral words."""
    min_texts = SLOW_MIN_TEXTS if sample.context.is_slow else MIN_TEXTS
    limit = sample.context.count_affordable(
        sample.budget.remaining(0.5), MAX_TEXTS, runs_per_case=1 + len(WRITING_RELATIONS), minimum=min_texts
    )
    subset = sample.take(range(min(limit, len(sample.texts))))
    points, base = subset.query(subset.texts)
    relations = text_relations(subset.feature.name, synonyms=subset.feature.synonyms or None)
    findings: list[Finding] = []
    body: list[list[object]] = []
    for name in (*WRITING_RELATIONS, *(["text.synonym"] if "text.synonym" in relations else [])):
        relation = relations[name]
        frame = points.frame
        applies = np.asarray(relation.input.applies(frame), dtype=bool)
        texts = relation.follow_up(frame, np.random.default_rng(0))[subset.feature.name].tolist()
        try:
            new_points, outputs = subset.query(texts)
        except BudgetSpent:
            if not body or not sample.context.is_slow:
                raise
            break
        changed = _find_changed(sample.context, base, outputs) & applies
        cases, total = int(changed.sum()), int(applies.sum())
        body.append([relation.input.describe(), f"{total:,}", f"{cases:,}", format_percent(cases / max(1, total))])
        if total >= min_texts and compute_wilson_interval(cases, total)[0] > MIN_WRITING_SHARE:
            findings.append(_build_writing_finding(subset, name, points, new_points, (base, outputs), changed, total))
    section = Section(
        heading=f"The same {subset.feature.name}, written in another way",
        text="How many texts get another answer. A few are usual for texts close to a border.",
        table=Table(columns=["change", "texts", "other answers", "share"], rows=body),
    )
    return findings, [section], f"{pluralise(len(body), 'way')} of writing {pluralise(len(subset.texts), 'text')}"


def _build_writing_finding(
    sample: _TextSample,
    name: str,
    before: Points,
    after: Points,
    outputs: tuple[Outputs, Outputs],
    changed: Mask,
    total: int,
) -> Finding:
    cases, column_name = int(changed.sum()), sample.feature.name
    level: Level = "concern" if cases >= MIN_WRITING_SHARE_FOR_CONCERN * total else "advice"
    subject = f"{WRITING_TITLES[name]} {column_name}"
    rows = np.flatnonzero(changed)[:MAX_EXAMPLES].tolist()
    return Finding(
        **get_facts("texts.writing"),
        about=f"{name.removeprefix('text.')} of {column_name}",
        title=f"The answer depends on {subject}",
        level=level,
        detail=f"{format_share(cases, total, 'text')} get another answer if nothing else changes.",
        **count_rows(cases, total, "case"),
        examples=build_examples((before, after), outputs, rows),
        columns=(column_name,),
    )


# -- single words ------------------------------------------------------------------------------------------------------


def _list_rare_words(texts: Sequence[str]) -> list[str]:
    """Return words that occur in at least two texts and in few, the more frequent ones first."""
    counts = Counter(word for text in texts for word in {token.strip() for token in split_tokens(text)})
    limit = max(2.0, MAX_WORD_FREQUENCY * len(texts))
    words = [word for word, count in counts.items() if word[:1].isalnum() and 2 <= count <= limit]
    return sorted(words, key=lambda word: (-counts[word], word))[:MAX_WORDS]


def _try_words(sample: _TextSample) -> tuple[list[Finding], list[Section], str]:
    """Add single rare words to texts, to find one that decides alone, whatever else is said."""
    words = _list_rare_words(sample.texts)
    if not words or sample.context.has_numeric_answers:
        return [], [], "no rare words"
    count = min(MAX_TEXTS_PER_WORD, len(sample.texts))
    affordable = sample.context.count_affordable(
        sample.budget.remaining(0.6),
        len(words),
        runs_per_case=count,
        minimum=min(SLOW_MIN_WORDS, len(words)) if sample.context.is_slow else 1,
    )
    words = words[:affordable]
    subset = sample.take(range(count))
    _, base = subset.query(subset.texts)
    _, outputs = subset.query([f"{text} {word}" for text in subset.texts for word in words], len(words))
    suspects = list(_find_suspects(base, outputs, words, count))
    findings = []
    larger_sample = sample.take(range(min(MAX_TEXTS, len(sample.texts))))
    for word, label in suspects[:3]:
        finding = _confirm_word(larger_sample, word, label)
        findings += [finding] if finding is not None else []
    return findings, [], f"{pluralise(len(words), 'rare word')} added to {pluralise(count, 'text')}"


def _find_suspects(base: Outputs, outputs: Outputs, words: Sequence[str], count: int) -> Iterator[tuple[str, object]]:
    """Yield words with which nearly all texts of other classes get one class."""
    own_answers = base.to_objects()
    answers = outputs.to_objects().reshape(count, len(words))
    for column, word in enumerate(words):
        label, number = Counter(answers[:, column].tolist()).most_common(1)[0]
        others = np.array([answer != label for answer in own_answers], dtype=bool)
        moved = np.array([answer == label for answer in answers[:, column]], dtype=bool) & others
        if (
            label is not None
            and number >= MIN_WORD_SHARE * count
            and moved.sum() >= max(5, MIN_WORD_SHARE * others.sum())
        ):
            yield word, label


def _confirm_word(sample: _TextSample, word: str, label: object) -> Finding | None:
    before, base = sample.query(sample.texts)
    after, outputs = sample.query([f"{text} {word}" for text in sample.texts])
    own_answers, new_answers = base.to_objects(), outputs.to_objects()
    others = np.array([answer != label for answer in own_answers], dtype=bool)
    moved = others & np.array([answer == label for answer in new_answers], dtype=bool)
    cases, total, column_name = int(moved.sum()), int(others.sum()), sample.feature.name
    if total < MIN_TEXTS or compute_wilson_interval(cases, total)[0] < MIN_WORD_SHARE:
        return None
    rows = np.flatnonzero(moved)[:MAX_EXAMPLES].tolist()
    answer = format_answer(outputs, rows[0])
    return Finding(
        **get_facts("texts.word"),
        about=f"the word {word} in {column_name}",
        title=f"The word “{word}” decides the answer alone, whatever else {column_name} says",
        detail=f"With the word at the end, {format_share(cases, total, 'text')} of other classes get the answer {answer}. The word is "
        f"rare in the data, so few texts show it.",
        **count_rows(cases, total, "case"),
        examples=build_examples((before, after), (base, outputs), rows),
        columns=(column_name,),
    )


def _find_skip_reason(context: CheckContext) -> str:
    if not context.space.kinds["text"]:
        return "no input is text"
    if not context.has_data or len(context.inputs) < MIN_TEXTS:
        return "too few texts are given"
    return "the same case gets different answers" if context.unstable else ""


TEXTS = make_check("texts", check_texts, _find_skip_reason)
