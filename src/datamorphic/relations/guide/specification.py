"""A relation as one line of text: ``Additive: columns = income; amount = 100 >> Monotone``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..._text import format_short
from ..._validation import check_types
from ...errors import ArgumentError, DatamorphicWarning, WrongAnswer
from ...morphisms.subject import build_subject
from ..patterns.catalogue import patterns
from ..patterns.pattern import Side
from ..patterns.relation import PatternRelation
from .parameters import build_parameter_question
from .steps import NONE, split_settings
from .systems import TRIAL_CASES, GuidedSystem, describe_feature

ARROW = ">>"
EXPECTED = "INPUT PATTERN: parameter = value; ... >> OUTPUT PATTERN: parameter = value; ..."


@check_types
def parse_pattern_relation(text: str, model: Any, data: Any, *, target: str | None = None) -> PatternRelation:
    """Return the relation that a line of text makes of two patterns, for a system and its inputs.

    The line has an input pattern and an output pattern with their parameters, as `datamorphic patterns NAME` lists them.
    Without ``>>``, the output pattern of the same name is meant.

    Parameters
    ----------
    text : str
        The line.
    model : model or function
        The system; it is only queried for parameters that name parts of its answers.
    data : DataFrame or Space
        Its inputs, which say what the columns and the values in the line are.
    target : str, optional
        The column of the label, which is not an input.

    Examples
    --------
    >>> import datamorphic as dm
    >>> search = dm.data.example_systems["product search"]
    >>> text = "Conjunctive Conditions: column = brand; values = Acme >> Subset"
    >>> dm.relations.parse_pattern_relation(text, search, search.cases).statement
    "brand is restricted to 'Acme': all items of the follow-up's answer are in the source's answer"
    """
    input_text, _, output_text = (part.strip() for part in text.partition(ARROW))
    input_name, input_settings = _split(input_text, text)
    output_name, output_settings = _split(output_text, text) if output_text else (input_name, "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DatamorphicWarning)
        subject = build_subject(
            model, data, target=target, seeds=TRIAL_CASES, rng=np.random.default_rng(0), owner="parse_pattern_relation"
        )
    system = GuidedSystem(
        model_name=subject.name,
        data_name=NONE,
        model=model,
        subject=subject,
        inputs=tuple(map(describe_feature, subject.seeds.space.features)),
        frame=None,
        ranges={},
    )
    try:
        change = patterns[input_name].input(**_read_parameters(input_name, input_settings, "input", system))
        expectation = patterns[output_name].output(**_read_parameters(output_name, output_settings, "output", system))
    except WrongAnswer as error:
        raise ArgumentError(f"The line {format_short(text)!r} is not understood. {error}") from None
    return change >> expectation


def _split(part: str, text: str) -> tuple[str, str]:
    """Return the name of a pattern, and its parameters as text."""
    name, _, settings = part.partition(":")
    if not name.strip():
        raise ArgumentError(f"The line {format_short(text)!r} names no input pattern. Expected {EXPECTED}")
    return name.strip(), settings


def _read_parameters(name: str, settings: str, side: Side, system: GuidedSystem) -> dict[str, Any]:
    """Return the parameters of a pattern as values; unknown ones stay texts, which the pattern refuses."""
    pattern, values = patterns[name], dict(split_settings(settings))
    known: dict[str, Any] = {}
    for parameter in pattern.parameters(side):
        if parameter.name in values:
            question = build_parameter_question(pattern, parameter, side, system, known, None)
            known[parameter.name] = question.accept(values[parameter.name])
    return values | known
