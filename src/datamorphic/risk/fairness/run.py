"""Examine the fairness of a model: query it about changed people, measure, and judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.capability import capability
from ...core.execute import Execution
from ...core.result import Measure
from ...errors import DataError
from ...morphisms.subject import SubjectUnderTest
from ...relations.catalogue.promises import Promises
from ...space.labels import to_label_key, to_label_keys
from .answers import AnswerReader
from .counterfactuals import CounterfactualMaker
from .effects import AttributeEffect, EffectMeter
from .findings import Judge
from .groups import PeopleGroups, combine_groups, group_people, tabulate_groups
from .options import FairnessOptions
from .people import People, Rows
from .proxies import Proxy, ProxyMeter
from .result import FairnessReport
from .wording import Wording

MAX_CELLS = 16  # combinations of values of protected columns that are tried
MAX_LISTED_PROXIES = 5  # per attribute


@capability(FairnessOptions)
def fairness(options: FairnessOptions, execution: Execution[SubjectUnderTest]) -> FairnessReport:
    """Examine whether decisions depend on who people are.

    Three questions are answered. Would people get another decision with another gender, age, ... and everything else the same,
    as far as columns that belong together allow? Does it take several attributes together? Does another column stand in
    for a protected one: it tells the groups apart, and the decision depends on it? The shares of decisions by group are given beside
    them, with intervals.

    Returns
    -------
    FairnessReport
        ``.findings``, ``.passed``, ``.table``; ``.describe()``, ``.to_html("fairness.html")``, ``.to_json()``, ``.to_junit()``.

    Examples
    --------
    >>> import numpy as np, pandas as pd, datamorphic as dm
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"income": rng.uniform(10, 90, 200), "gender": rng.choice(["f", "m"], 200)})
    >>> def decide(frame):
    ...     return np.where(frame.income - 20 * (frame.gender == "f") > 40, "yes", "no")
    >>> report = dm.fairness(decide, people, protected=["gender"], outcome="yes")
    >>> report.findings[0].title, report.passed
    ('The decision depends on gender', False)
    """
    subject, rng, notes = execution.subject, execution.rng, list(execution.subject.notes)
    inputs, frame = subject.seeds, options.people
    if isinstance(options.promises, Promises):
        options.promises.validate(inputs.space, subject.sut.labels, [str(name) for name in frame.columns])
    rows: Rows = np.arange(len(inputs))
    if len(rows) > options.rows:
        rows = np.sort(rng.permutation(len(rows))[: options.rows])
        notes.append(f"{options.rows:,} of {len(inputs):,} people were drawn at random.")
    extra = [name for name in options.protected if name not in inputs.space.names]
    people = People.build(inputs.take(rows), frame.iloc[rows][extra].reset_index(drop=True), options.protected)
    reader = AnswerReader(execution, people, options.outcome, options.cutoff)
    notes += reader.notes
    groups = _group_attributes(people, options.protected, notes)
    combined_groups = _combine_attributes(groups, options.combinations, notes)
    wording = Wording.of(reader)
    min_effect = wording.scale(options.min_effect)
    maker = CounterfactualMaker(people, rng)
    meter = EffectMeter(people, reader, maker, rows)
    effects = execution.attempt_all(
        (f"the effect of {part.title}", partial(_measure_attribute, meter, people, part, len(rows))) for part in groups
    )
    combination_effects = execution.attempt_all(
        (f"the effect of {whole.title} together", partial(meter.measure_combination, parts, whole))
        for parts, whole in _select_combinations(people, groups, combined_groups, notes)
    )
    no_proxies: tuple[list[Proxy], list[Proxy]] = ([], [])
    proxies, stand_ins = execution.attempt(
        "columns that stand in for protected ones",
        partial(
            _find_proxies, ProxyMeter(people, reader, maker, options.seed), [*groups, *combined_groups], min_effect
        ),
        otherwise=no_proxies,
    )
    notes += [f"Not examined: {question}. The budget was spent." for question in execution.unfinished]
    negatives = _find_negatives(frame, rows, options.target, reader)
    tables = [tabulate_groups(part, reader.own_answers.levels, negatives) for part in [*groups, *combined_groups]]
    # a model that does not repeat itself changes some decisions without any change of the person
    threshold = max(options.threshold, reader.noise.high if reader.noise.value > 0 else 0.0)
    judge = Judge(threshold=threshold, min_effect=min_effect, wording=wording)
    return FairnessReport(
        subject=subject.name,
        people=len(people),
        attributes=tuple(effect.attribute for effect in effects),
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
        request=options.command,
        notes=notes,
        unfinished=tuple(execution.unfinished),
        interrupted=execution.counter.interrupted,
        calls=execution.counter.calls,
        seconds=execution.seconds,
    )


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


def _select_combinations(
    people: People, groups: Sequence[PeopleGroups], combined_groups: Sequence[PeopleGroups], notes: list[str]
) -> Iterator[tuple[list[PeopleGroups], PeopleGroups]]:
    """Yield the combinations of attributes that the model sees, each with the groups of its attributes."""
    by_name = {part.attributes[0]: part for part in groups}
    for whole in combined_groups:
        if not all(map(people.is_input, whole.attributes)):
            continue
        if len(whole) > MAX_CELLS:
            notes.append(
                f"{whole.title} have {len(whole)} combinations of values, more than {MAX_CELLS}, so they were not tried together."
            )
            continue
        yield [by_name[name] for name in whole.attributes], whole


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
