"""Examine the fairness of a model: query it about changed people, measure, and judge."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._clock import read_clock
from ..._text import suggest_name
from ..._typing import DataLike, ModelLike
from ..._validation import to_generator
from ...core.result import Measure
from ...errors import AmbiguousData, DataError
from ...morphisms.subject import SubjectUnderTest, build_subject
from ...relations.promises import Promises
from ...space.labels import to_label_key, to_label_keys
from ...space.points import Points
from .answers import AnswerReader
from .counterfactuals import CounterfactualMaker
from .effects import AttributeEffect, CombinationEffect, EffectMeter
from .findings import Judge
from .groups import PeopleGroups, combine_groups, group_people
from .options import FairnessOptions
from .people import People, Rows
from .proxies import Proxy, ProxyMeter
from .result import FairnessReport
from .shares import GroupTable, tabulate_groups
from .wording import Wording

MAX_CELLS = 16  # combinations of values of protected columns that are tried
MAX_LISTED_PROXIES = 5  # per attribute


def run_fairness(
    model: ModelLike, data: DataLike, options: FairnessOptions, request: Mapping[str, Any] | None = None
) -> FairnessReport:
    """Examine a model, and return the report."""
    start_time = read_clock()
    frame = _validate_data(data, options)
    rng = np.random.default_rng(options.seed)
    subject, notes = _build_subject(model, frame, options)
    inputs: Points = subject.seeds
    if isinstance(options.promises, Promises):
        options.promises.validate(inputs.space, subject.sut.labels, [str(name) for name in frame.columns])
    rows: Rows = np.arange(len(inputs))
    if len(rows) > options.rows:
        rows = np.sort(rng.permutation(len(rows))[: options.rows])
        notes.append(f"{options.rows:,} of {len(inputs):,} people were drawn at random.")
    extra = [name for name in options.attributes if name not in inputs.space.names]
    people = People.build(inputs.take(rows), frame.iloc[rows][extra].reset_index(drop=True), options.attributes)
    reader = AnswerReader(subject.sut, people, options.outcome, options.cutoff)
    notes += reader.notes
    groups = _group_attributes(people, options.attributes, notes)
    combined_groups = _combine_attributes(groups, options.combinations, notes)
    maker = CounterfactualMaker(people, rng)
    meter = EffectMeter(people, reader, maker, rows)
    effects = [_measure_attribute(meter, people, part, len(rows)) for part in groups]
    combination_effects = _measure_combinations(meter, people, groups, combined_groups, notes)
    wording = Wording.of(reader)
    min_effect = wording.scale(options.min_effect)
    proxies, stand_ins = _find_proxies(
        ProxyMeter(people, reader, maker, options.seed), [*groups, *combined_groups], min_effect
    )
    negatives = _find_negatives(frame, rows, options.target, reader)
    tables: list[GroupTable] = [
        tabulate_groups(part, reader.own_answers.levels, negatives) for part in [*groups, *combined_groups]
    ]
    # a model that does not repeat itself changes some decisions without any change of the person
    threshold = max(options.threshold, reader.noise.high if reader.noise.value > 0 else 0.0)
    judge = Judge(threshold=threshold, min_effect=min_effect, wording=wording)
    return FairnessReport(
        subject=subject.name,
        people=len(people),
        attributes=tuple(part.attributes[0] for part in groups),
        wording=wording,
        tables=tuple(tables),
        effects=tuple(effects),
        combinations=tuple(combination_effects),
        proxies=tuple(proxies),
        findings=tuple(judge.judge(effects, combination_effects, stand_ins, tables)),
        relations=tuple(constraint.describe() for constraint in people.constraints),
        threshold=options.threshold,
        min_effect=options.min_effect,
        seed=options.seed,
        request=dict(request or {}),
        notes=(*notes, *subject.notes),
        calls=reader.calls,
        seconds=read_clock() - start_time,
    )


def _validate_data(data: DataLike, options: FairnessOptions) -> Any:
    import pandas as pd

    if not isinstance(data, pd.DataFrame):
        raise DataError("The data must be a DataFrame with one person per row, so that protected columns have names.")
    names = [str(name) for name in data.columns]
    for name in options.attributes:
        if name not in names:
            raise DataError(f"The protected column {name!r} is not in the data. {suggest_name(name, names)}")
    if not len(data):
        raise DataError("The data have no rows. Give the people that the model decides about.")
    return data.reset_index(drop=True)


def _build_subject(model: ModelLike, frame: Any, options: FairnessOptions) -> tuple[SubjectUnderTest, list[str]]:
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always", AmbiguousData)
        subject = build_subject(
            model,
            frame,
            target=options.target,
            space=options.space,
            space_options=options.hints,
            rng=to_generator("seed", "fairness", options.seed),
            owner="fairness",
            trust=options.trust,
            scalar=options.scalar,
            classes=options.classes,
            name=options.name,
        )
    for warning in caught_warnings:
        if issubclass(warning.category, AmbiguousData):
            notes.append(str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return subject, notes


def _group_attributes(people: People, attributes: Sequence[str], notes: list[str]) -> list[PeopleGroups]:
    groups = []
    for name in attributes:
        part = group_people(people, name, notes)
        if len(part) < 2:
            notes.append(f"{name} has fewer than two groups of enough people, so nothing can be said about it.")
        else:
            groups.append(part)
    if not groups:
        raise DataError(f"There is nothing to compare. {' '.join(notes)}")
    return groups


def _combine_attributes(groups: Sequence[PeopleGroups], size: int, notes: list[str]) -> list[PeopleGroups]:
    combined_groups = []
    for count in range(2, size + 1):
        for parts in combinations(groups, count):
            whole = combine_groups(parts, notes)
            if len(whole) > 1:
                combined_groups.append(whole)
    return combined_groups


def _measure_attribute(meter: EffectMeter, people: People, groups: PeopleGroups, count: int) -> AttributeEffect:
    """Return the effect of an attribute; nothing is queried about one that the model does not see."""
    name = groups.attributes[0]
    if people.is_input(name):
        return meter.measure_attribute(groups)
    return AttributeEffect(
        attribute=name,
        is_input=False,
        share=Measure.from_counts(0, count),
        strong_share=Measure.from_counts(0, count),
        repaired_share=0.0,
        left_out=0,
        judges_repaired=False,
        swaps=(),
        tied_columns=(),
        example=None,
    )


def _measure_combinations(
    meter: EffectMeter,
    people: People,
    groups: Sequence[PeopleGroups],
    combined_groups: Sequence[PeopleGroups],
    notes: list[str],
) -> list[CombinationEffect]:
    effects = []
    by_name = {part.attributes[0]: part for part in groups}
    for whole in combined_groups:
        if not all(map(people.is_input, whole.attributes)):
            continue
        if len(whole) > MAX_CELLS:
            notes.append(
                f"{whole.title} have {len(whole)} combinations of values, more than {MAX_CELLS}, so they were not tried together."
            )
            continue
        effects.append(meter.measure_combination([by_name[name] for name in whole.attributes], whole))
    return effects


def _find_proxies(
    meter: ProxyMeter, groupings: Sequence[PeopleGroups], min_effect: float
) -> tuple[list[Proxy], list[Proxy]]:
    """Return the columns that tell groups best, and the stand-ins among them.

    A column that stands in for one attribute is not reported again for that attribute together with others.
    """
    comparisons = max(1, len(meter.columns) * len(groupings))
    listed_proxies: list[Proxy] = []
    stand_ins: list[Proxy] = []
    for groups in groupings:
        proxies = meter.measure(groups, comparisons)
        explained_columns = {proxy.columns[0] for proxy in stand_ins if set(proxy.attributes) < set(groups.attributes)}
        proxies = [proxy for proxy in proxies if proxy.columns[0] not in explained_columns]
        new_stand_ins = [proxy for proxy in proxies if proxy.is_stand_in(min_effect)]
        listed_proxies += [
            proxy for proxy in proxies[:MAX_LISTED_PROXIES] if proxy.separation.low > 0.5 or proxy in new_stand_ins
        ]
        if not new_stand_ins and len(groups.attributes) == 1:
            together = meter.measure_together(groups, proxies, comparisons)
            if together is not None and together.is_stand_in(min_effect):
                new_stand_ins = [together]
                listed_proxies.append(together)
        stand_ins += new_stand_ins
    return listed_proxies, stand_ins


def _find_negatives(frame: Any, rows: Rows, target: str | None, reader: AnswerReader) -> npt.NDArray[np.bool_] | None:
    """Return whose label is known and is not the decision that is counted; None without labels."""
    if target is None or reader.measure != "decision" or reader.outcome is None:
        return None
    keys = to_label_keys(np.asarray(frame[target].to_numpy())[rows])
    own_key = to_label_key(reader.outcome)
    if own_key not in set(keys):
        return None
    return np.array([key is not None and key != own_key for key in keys])
