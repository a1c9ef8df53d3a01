"""Violations of relations by learners and models, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._text import format_short, pluralise
from ...core.result import Example
from ...errors import DataError
from ...reporting.block_pictures import describe_block_change
from ...reporting.marked_text import MarkedText, has_several_words
from ...reporting.text import cut
from ...space.answers import format_answer
from ...space.blocks import split_value_name
from ...space.labels import to_object_array
from ...space.outputs import Outputs
from ...space.partition import NOISE, RowPartition
from ...space.points import Batch, Points
from ...space.serialisation import value_from_json, value_to_json
from ...systems.training import Floats, Training
from ..algebra.base import JudgedGroups, split_statement
from ..learners.result import LearnerVerdicts
from ..learners.waves import LearnerRelationOutcome

LabelledRows = tuple[list[str], list[tuple[dict[str, str], str]]]  # names of columns; cells and label of each row
MAX_ROWS_SHOWN = 12  # training rows of an example in text; tables show ten times as many
MAX_ATTRIBUTES_SHOWN = 8  # per row
MAX_FEATURES_SHOWN = 20  # of a case of a model
MAX_TEXT_CHARACTERS = 300  # of a case or answer that is a text, such as a sentence


@dataclass(frozen=True, eq=False, kw_only=True)
class LearnerViolation:
    """Training data and a test case on which a learner violates a relation.

    `source` and `follow_up` are the training data with the one test case, before and after the change. `before` and `after`
    are the labels of the case, `expected` the label that it should have after the change.
    """

    relation: str
    says: str
    necessary: bool  # whether every correct implementation of the learner satisfies it
    reason: str
    source: Training
    follow_up: Training
    before: Any
    expected: Any
    after: Any
    scores_before: Floats | None = None  # one for each of ``source.declared``
    scores_after: Floats | None = None
    change: str = ""  # in one line, if the relation describes it
    shrunk: bool = False  # whether this is the smallest violation that was found, or the original one
    number: int = 0  # of the training set among the inputs, which also seeds the randomness of the change

    @property
    def samples(self) -> pd.DataFrame:
        """The training rows of the source data, with their labels last."""
        return self.source.frame

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of training rows and attributes of the source data."""
        return int(self.source.x.shape[0]), int(self.source.x.shape[1])

    @property
    def change_text(self) -> str:
        """The change in one line: that of this violation, or of the relation in general."""
        return self.change or split_statement(self.says)[0]

    @property
    def answer_facts(self) -> list[tuple[str, str]]:
        """The answers as terms and texts."""
        facts = [
            ("Label before", str(self.before)),
            ("Label expected after", str(self.expected)),
            ("Label after", str(self.after)),
        ]
        if self.scores_before is not None and self.scores_after is not None:
            scores = zip(self.source.declared, self.scores_before, self.scores_after, strict=False)
            score_texts = [f"{label}: {old:.6g} before, {new:.6g} after" for label, old, new in scores]
            facts.append(("Scores", "; ".join(score_texts)))
        return facts

    @property
    def row_tables(self) -> list[LabelledRows]:
        """The rows and the case before and after the change."""
        return [_label_rows(training) for training in (self.source, self.follow_up)]

    @property
    def rows_caption(self) -> str:
        """What the tables of rows hold."""
        return "Training rows with their labels, then the test case"

    def _list_case_cells(self) -> list[tuple[str, Any]]:
        return _list_cells(_to_dense(self.source.t), 0)

    @property
    def example(self) -> Example:
        """The test case with its labels, as in the findings of a test."""
        return Example(
            text=f"{self.change_text}: {self.before} before, {self.after} after, {self.expected} expected",
            case={name: _to_python(value) for name, value in self._list_case_cells()},
            answer=_to_python(self.before),
            new_answer=_to_python(self.after),
        )

    def describe(self) -> str:
        """Return the violation as lines: the training data, the case, its labels."""
        lines = [
            f"trained on {_format_size(self.source)}",
            *_format_rows(self.source),
            f"case     {_format_row(_to_dense(self.source.t), 0)}",
            f"answer   {_to_python(self.before)!r}{_format_scores(self.source, self.scores_before)}",
            f"then     {self.change_text}: trained on {_format_size(self.follow_up)}",
            *_format_rows(self.follow_up),
            f"case     {_format_row(_to_dense(self.follow_up.t), 0)}",
            f"expected {_to_python(self.expected)!r}",
            f"becomes  {_to_python(self.after)!r}{_format_scores(self.source, self.scores_after)}",
        ]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the violation as a JSON-serialisable dict."""
        scores = {"scores_before": self.scores_before, "scores_after": self.scores_after}
        return {
            **{name: getattr(self, name) for name in ("relation", "says", "necessary", "reason", "change")},
            "source": training_to_json(self.source),
            "follow_up": training_to_json(self.follow_up),
            **{name: _to_python(getattr(self, name)) for name in ("before", "expected", "after")},
            **{name: None if values is None else values.tolist() for name, values in scores.items()},
            "shrunk": self.shrunk,
        }

    def __repr__(self) -> str:
        return f"LearnerViolation({self.relation}, {_format_size(self.source)})"


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterViolation(LearnerViolation):
    """Rows on which a clusterer violates a relation.

    `before` and `after` are the partitions of the rows before and after the change, `expected` the partition that the rows
    should have after the change.
    """

    def _list_case_cells(self) -> list[tuple[str, Any]]:
        return _list_cells(_to_dense(self.follow_up.x), self.changed_rows[0])

    @property
    def changed_rows(self) -> list[int]:
        """The rows after the change, counted from 0, that are not in the expected cluster."""
        return self.after.find_changed_rows(self.expected).tolist()

    @property
    def answer_facts(self) -> list[tuple[str, str]]:
        """The partitions as terms and texts."""
        return [
            ("Clusters before", str(self.before)),
            ("Clusters expected after", str(self.expected)),
            ("Clusters after", str(self.after)),
            ("Rows in another cluster", self._changed_rows_text),
        ]

    @property
    def _changed_rows_text(self) -> str:
        rows = self.changed_rows
        numbers = ", ".join(map(str, rows[:MAX_ROWS_SHOWN])) + (", ..." if len(rows) > MAX_ROWS_SHOWN else "")
        return f"{len(rows):,} of {pluralise(len(self.after.labels), 'row')}, counted from 0: {numbers}"

    @property
    def row_tables(self) -> list[LabelledRows]:
        """The rows before and after the change with their clusters."""
        return [_label_rows(self.source, self._labels_before), _label_rows(self.follow_up, self._labels_after)]

    @property
    def rows_caption(self) -> str:
        """What the tables of rows hold."""
        return "The rows with their clusters"

    @property
    def _labels_before(self) -> list[str]:
        return [_format_cluster(label) for label in self.before.labels]

    @property
    def _labels_after(self) -> list[str]:
        """The cluster of each row, with the number of the expected one, and the expected one if it is another."""
        pairs = zip(self.after.number_like(self.expected).tolist(), self.expected.labels, strict=True)
        return [
            _format_cluster(label) + ("" if label == goal else f", expected {_format_cluster(goal)}")
            for label, goal in pairs
        ]

    def describe(self) -> str:
        """Return the violation as lines: the rows and their clusters, before and after."""
        lines = [
            f"rows     {_format_size(self.source)}",
            *_format_rows(self.source, self._labels_before),
            f"clusters {self.before}",
            f"then     {self.change_text}: {_format_size(self.follow_up)}",
            *_format_rows(self.follow_up, self._labels_after),
            f"expected {self.expected}",
            f"becomes  {self.after}",
            f"moved    {self._changed_rows_text}",
        ]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the violation as a JSON-serialisable dict, with the cluster of each row."""
        partitions = {name: list(getattr(self, name).labels) for name in ("before", "expected", "after")}
        return super().to_json() | partitions | {"changed_rows": self.changed_rows}

    def __repr__(self) -> str:
        return f"ClusterViolation({self.relation}, {_format_size(self.source)})"


def build_violation(
    outcome: LearnerRelationOutcome, result: LearnerVerdicts, number: int, shrunk: bool, row: int | None = None
) -> LearnerViolation:
    """Return the violation of one row of a result, by default the first."""
    row = int(result.violations[0]) if row is None else row
    data = result.data.trainings[result.data.training_index[row]]
    follow_up = result.follow_ups[result.follow_up_index[row]]
    place = int(np.flatnonzero(np.flatnonzero(result.follow_up_index == result.follow_up_index[row]) == row)[0])
    scores = [
        None if table is None or np.isnan(table[row]).all() else table[row, : len(data.declared)]
        for table in (result.scores_before, result.scores_after)
    ]
    change = ""
    with suppress(Exception):  # a description that fails must not hide the violation
        change = outcome.relation.change(data, follow_up)
    has_clusters = all(isinstance(answer[row], RowPartition) for answer in (result.before, result.after))
    kind = ClusterViolation if has_clusters else LearnerViolation
    return kind(
        relation=outcome.relation.name,
        says=outcome.relation.statement,
        necessary=outcome.requirement.necessary,
        reason=outcome.requirement.reason,
        source=data.cases([int(result.data.case_index[row])]),
        follow_up=follow_up.cases([place]),
        before=result.before[row],
        expected=result.expected[row],
        after=result.after[row],
        scores_before=scores[0],
        scores_after=scores[1],
        change=change,
        shrunk=shrunk,
        number=number,
    )


def _format_size(data: Training) -> str:
    size = f"{pluralise(int(data.x.shape[0]), 'row')} of {pluralise(int(data.x.shape[1]), 'attribute')}"
    parameters = ", ".join(f"{name}={value!r}" for name, value in data.parameters)
    return f"{size}, with {parameters}" if parameters else size


def _format_cluster(label: int) -> str:
    return "noise" if label == NOISE else f"cluster {label}"


def _format_rows(data: Training, clusters: list[str] | None = None) -> list[str]:
    if len(data.y) > MAX_ROWS_SHOWN:
        return []
    dense = _to_dense(data.x)
    if clusters is not None:
        return [f"  {_format_row(dense, row)}: {cluster}" for row, cluster in enumerate(clusters)]
    weights = [""] * len(data.y) if data.weights is None else [f", weight {weight:g}" for weight in data.weights]
    return [
        f"  {_format_row(dense, row)}: {_format_label(label)}{weight}"
        for row, (label, weight) in enumerate(zip(data.y.tolist(), weights, strict=True))
    ]


def _list_cells(table: Any, row: int) -> list[tuple[str, Any]]:
    """Return the names and values of a row."""
    if hasattr(table, "columns"):
        return list(table.iloc[row].items())
    return [(f"a{place}", value) for place, value in enumerate(table[row].tolist())]


def _format_row(table: Any, row: int) -> str:
    values = _list_cells(table, row)
    text = ", ".join(f"{name}={format_short(value)}" for name, value in values[:MAX_ATTRIBUTES_SHOWN])
    return text + (", ..." if len(values) > MAX_ATTRIBUTES_SHOWN else "")


def _label_rows(data: Training, clusters: list[str] | None = None) -> LabelledRows:
    """Return the attribute names, and the cells and label of each row and of the case; or of rows with their clusters."""
    tables = [_to_dense(table) for table in ((data.x, data.t) if clusters is None else (data.x,))]
    names = [str(name) for name in data.x.columns] if data.framed else [f"a{i}" for i in range(data.x.shape[1])]
    limit = 10 * MAX_ROWS_SHOWN
    rows = [table.iloc[:limit].to_numpy(object) if data.framed else table[:limit] for table in tables]
    if clusters is None:
        labels = [*(_format_label(label) for label in data.y[: len(rows[0])].tolist()), *["the case"] * len(rows[1])]
    else:
        labels = clusters[: len(rows[0])]
    cells = [dict(zip(names, map(format_short, row), strict=True)) for table in rows for row in table.tolist()]
    return names, list(zip(cells, labels, strict=True))


def _to_dense(table: Any) -> Any:
    return table.toarray() if hasattr(table, "toarray") else table


def _format_label(label: object) -> str:
    return format_short(_to_python(label))


def _to_python(label: object) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _format_scores(data: Training, scores: Floats | None) -> str:
    if scores is None:
        return ""
    pairs = zip(data.declared, scores, strict=False)
    text = ", ".join(f"{_to_python(name)}: {score:.6g}" for name, score in pairs if not np.isnan(score))
    return f"   scores {text}"


# -- violations by a model ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ModelViolation:
    """A violation by a model: one case, its follow-up, both answers."""

    relation: str
    says: str
    groups: JudgedGroups
    remarks: tuple[tuple[str, str], ...] = ()  # more about it, as terms and texts: its type, what differs

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The violation as terms and texts: the case, its answer, the change, remarks."""
        return [(term.capitalize(), text) for term, text in (*list_example_parts(self.groups), *self.remarks)]

    @property
    def example(self) -> Example:
        """The case, what changes and both answers, as in the findings of a test."""
        first = self.groups.take(slice(0, 1))
        source, follow_up = _to_dicts(first)
        before, after = first.before.values[0], first.after.values[0]
        if first.alone:
            return Example(text=f"answer: {_format_answer(first.before)}", case=source, answer=_to_python(before))
        return Example(
            text=f"{split_statement(self.says)[0]}: {_format_value(before)} becomes {_format_value(after)}",
            case=source,
            answer=_to_python(before),
            changed=_find_changes(source, follow_up),
            new_answer=_to_python(after),
        )

    def describe(self) -> str:
        """Return the violation as lines of text."""
        return "\n".join([format_example(self.groups), *(f"{term:<9}{text}" for term, text in self.remarks)])

    def to_json(self) -> dict[str, Any]:
        """Return the violation as a JSON-serialisable dict."""
        first = self.groups.take(slice(0, 1))
        source, follow_up = _to_dicts(first)
        return {
            "relation": self.relation,
            "says": self.says,
            "source": {str(name): value_to_json(value) for name, value in source.items()},
            "follow_up": {str(name): value_to_json(value) for name, value in follow_up.items()},
            "before": value_to_json(first.before.values[0]),
            "after": value_to_json(first.after.values[0]),
            **dict(self.remarks),
            **({"further": self._to_json(first.further)} if first.further else {}),
            **({"sources": self._to_json(first.sources, "source", "before")} if first.sources else {}),
        }

    def list_parts(self) -> list[tuple[str, str]]:
        """Return the violation as terms and texts for a table: the marked change of each text, both answers, the remarks."""
        first = self.groups.take(slice(0, 1))
        changed_texts = self.changed_texts
        others = {name: value for name, value in _to_dict(first.source).items() if str(name) not in changed_texts}
        answers = [_format_value(outputs.values[0]) for outputs in (first.before, first.after)]
        return [
            *changed_texts.items(),
            *([("with", _format_case(others))] if others else []),
            ("answer", answers[0]),
            ("becomes", answers[1]),
            *self.remarks,
        ]

    @property
    def changed_texts(self) -> dict[str, MarkedText]:
        """The texts that the follow-up changes, by column, with their changed words marked."""
        source, follow_up = _to_dicts(self.groups.take(slice(0, 1)))
        marked_texts = _mark_changes(source, _find_changes(source, follow_up))
        return {str(name): text for name, text in marked_texts.items()}

    @staticmethod
    def _to_json(
        pairs: Sequence[tuple[Batch, Outputs]], case_key: str = "follow_up", answer_key: str = "after"
    ) -> list[dict[str, Any]]:
        return [
            {
                case_key: {str(name): value_to_json(value) for name, value in _to_dict(batch).items()},
                answer_key: value_to_json(outputs.values[0]),
            }
            for batch, outputs in pairs
        ]


def _to_dicts(groups: JudgedGroups) -> list[dict[Any, Any]]:
    """Return the source case and the follow-up case of the first group."""
    return [_to_dict(batch) for batch in (groups.source, groups.follow_up)]


def _to_dict(batch: Batch) -> dict[Any, Any]:
    """Return the first case of a batch."""
    frame = batch.frame.iloc[:1].astype(object)
    # to_dict("records") takes a second for the thousands of samples of a sound
    values = frame.to_numpy()[0]
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in zip(frame.columns, values, strict=True)
    }


def format_example(groups: JudgedGroups) -> str:
    """Return the first group as lines: the case, its answer, the change."""
    return "\n".join(f"{heading:<9}{text}" for heading, text in list_example_parts(groups))


def list_example_parts(groups: JudgedGroups) -> list[tuple[str, str]]:
    """Return the first group as headings and texts: the case, its answer, the change."""
    first = groups.take(slice(0, 1))
    if first.sources:
        return _list_group_parts(first)
    source, follow_up = _to_dicts(first)
    changed_values = _find_changes(source, follow_up)
    format_changed = _format_marked if isinstance(first.source, Points) else _format_plain
    if first.alone:
        return [("case", _format_case(source)), ("answer", _format_answer(first.before))]
    before, after = (_format_value(outputs.values[0]) for outputs in (first.before, first.after))
    if before == after:
        before, after = before + _format_model_scores(first.before), after + _format_model_scores(first.after)
    lines = [("case", _format_case(source)), ("answer", before)]
    if changed_values:
        changes = _format_block_changes(first.source, first.follow_up) or format_changed(source, changed_values)
        lines += [("changed", changes), ("becomes", after)]
    else:
        lines.append(("and then", after))
    for batch, outputs in first.further:
        lines.append(("changed", format_changed(source, _find_changes(source, _to_dict(batch))) or "nothing"))
        lines.append(("becomes", _format_value(outputs.values[0])))
    if groups.batch is not None:
        lines.append(("among", pluralise(len(groups.batch), "row")))
    return lines


def _format_answer(outputs: Outputs) -> str:
    """Return the first answer, or the error in its place."""
    return f"none: {outputs.messages[0]}" if 0 in outputs.messages else _format_value(outputs.values[0])


def _list_group_parts(group: JudgedGroups) -> list[tuple[str, str]]:
    """Return a group of several sources: all its inputs with their answers."""
    follow_ups = [(group.follow_up, group.after), *group.further]
    headings = [*["case"] * len(group.sources), *["follows"] * len(follow_ups)]
    lines = []
    for heading, (batch, outputs) in zip(headings, [*group.sources, *follow_ups], strict=True):
        lines += [(heading, _format_case(_to_dict(batch))), ("answer", _format_value(outputs.values[0]))]
    return lines


def _find_changes(source: dict[Any, Any], follow_up: dict[Any, Any]) -> dict[Any, Any]:
    """Return the values of a follow-up case that differ from its source."""
    return {name: value for name, value in follow_up.items() if not _is_same(source.get(name), value)}


def _format_block_changes(source: Batch, follow_up: Batch) -> str:
    """Return how the images and sequences of the first case change; empty if it has none."""
    if not isinstance(source, Points) or not isinstance(follow_up, Points):
        return ""
    texts = [
        describe_block_change(
            placed_block.block, placed_block.select(source.codes)[0], placed_block.select(follow_up.codes)[0]
        )
        for placed_block in source.space.blocks
    ]
    return "; ".join(texts)


def _format_case(case: dict[Any, Any]) -> str:
    value_names = [split_value_name(str(name)) for name in case]
    counts = Counter(parts[0] for parts in value_names if parts is not None)
    if counts:  # values of images and sequences
        others = {name: case[name] for name, parts in zip(case, value_names, strict=True) if parts is None}
        texts = [f"{name} ({pluralise(count, 'value')})" for name, count in counts.items()]
        return ", ".join([*texts, *([_format_case(others)] if others else [])])
    parts = [f"{name}={_format_value(value)}" for name, value in list(case.items())[:MAX_FEATURES_SHOWN]]
    hidden_count = len(case) - MAX_FEATURES_SHOWN
    return ", ".join(parts) + (f" and {pluralise(hidden_count, 'more feature')}" if hidden_count > 0 else "")


def _format_plain(source: dict[Any, Any], changed_values: dict[Any, Any]) -> str:
    """Return the changed values of a case as they are, such as a new query."""
    return _format_case(changed_values)


def _mark_changes(source: dict[Any, Any], changed_values: dict[Any, Any]) -> dict[Any, MarkedText]:
    """Return the changed texts with their changed words marked; those of which no word stays are replaced, not changed."""
    texts = {
        name: MarkedText.compare(source[name], value)
        for name, value in changed_values.items()
        if has_several_words(value) and has_several_words(source.get(name))
    }
    return {
        name: text
        for name, text in texts.items()
        if any(kind == "same" and any(map(str.isalnum, piece)) for kind, piece in text.pieces)
    }


def _format_marked(source: dict[Any, Any], changed_values: dict[Any, Any]) -> str:
    """Return the changed values of a case; texts with their changed words marked."""
    marked_texts = _mark_changes(source, changed_values)
    short_texts = {name: text.shorten(MAX_TEXT_CHARACTERS) for name, text in marked_texts.items()}
    others = _format_case({name: value for name, value in changed_values.items() if name not in short_texts})
    return ", ".join([*([others] if others else []), *(f"{name}={text}" for name, text in short_texts.items())])


def _format_value(value: object) -> str:
    text = format_answer(value)
    return cut(text, MAX_TEXT_CHARACTERS) if isinstance(value, str) else format_short(text)


def _is_same(first: object, second: object) -> bool:
    equal = first == second or (first != first and second != second)
    return bool(equal) and isinstance(first, str) == isinstance(second, str)


def _format_model_scores(outputs: Outputs) -> str:
    if outputs.scores is None:
        return ""
    return f" (scores {', '.join(f'{score:.6g}' for score in outputs.scores[0])})"


# -- training data as JSON ----------------------------------------------------------------------------------------


def training_to_json(data: Training) -> dict[str, Any]:
    """Return training data as a JSON-serialisable dict; raise DataError if JSON cannot hold their values."""
    tables = {}
    for part in ("x", "t"):
        dense = _to_dense(getattr(data, part))
        rows = dense.astype(object).itertuples(index=False) if data.framed else dense.tolist()
        tables[part] = [[value_to_json(value) for value in row] for row in rows]
    return {
        "columns": [str(name) for name in data.x.columns] if data.framed else None,
        **tables,
        "y": [value_to_json(label) for label in data.y.tolist()],
        "labels": None if data.labels is None else [value_to_json(label) for label in data.labels],
        "weights": None if data.weights is None else data.weights.tolist(),
        **({"parameters": {name: value_to_json(value) for name, value in data.parameters}} if data.parameters else {}),
    }


def training_from_json(case: Mapping[str, Any]) -> Training:
    """Return training data from JSON; raise DataError for another format."""
    try:
        x, t = ([[value_from_json(value) for value in row] for row in case[part]] for part in ("x", "t"))
        columns, labels, weights = case.get("columns"), case.get("labels"), case.get("weights")
        label_values = [value_from_json(label) for label in case["y"]]
        uniform = len({type(label) for label in label_values}) == 1
        y = np.array(label_values) if uniform else to_object_array(label_values)
        if columns is None:
            tables: Any = (np.array(x, dtype=np.float64), np.array(t, dtype=np.float64))
        else:
            tables = (pd.DataFrame(x, columns=columns), pd.DataFrame(t, columns=columns))
        declared_labels = None if labels is None else tuple(value_from_json(label) for label in labels)
        parameters = tuple((name, value_from_json(value)) for name, value in case.get("parameters", {}).items())
        row_weights = None if weights is None else np.array(weights, float)
        return Training(tables[0], y, tables[1], declared_labels, row_weights, parameters=parameters)
    except DataError:
        raise
    except Exception as error:  # values of another format may raise anything
        raise DataError(
            f"The stored training data cannot be read ({type(error).__name__}): they have another format."
        ) from None
