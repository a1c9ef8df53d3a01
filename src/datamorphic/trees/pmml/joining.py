"""Read how a PMML file combines trees: votes, means, sums and chains."""

from __future__ import annotations

import math
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import ModelError
from ..forest import Joining
from ..tree import Floats
from .document import find_children, get_tag, parse_number
from .writing import EXTENSION_NAME, NORMALIZATIONS

LINKS = {name: link for link, name in NORMALIZATIONS.items()}
VOTE_METHODS = ("majorityVote", "weightedMajorityVote")


class Rescaling(NamedTuple):
    """How a Target changes the number that a model answers."""

    low: float = -math.inf
    high: float = math.inf
    factor: float = 1.0
    constant: float = 0.0
    rounding: str | None = None

    def rescale(self, values: Floats) -> Floats:
        """Return the rescaled numbers."""
        changed = np.clip(values, self.low, self.high) * self.factor + self.constant
        if self.rounding == "round":
            return np.floor(changed + 0.5)
        return (
            changed if self.rounding is None else np.ceil(changed) if self.rounding == "ceiling" else np.floor(changed)
        )


NO_RESCALING = Rescaling()


class Member(NamedTuple):
    """A tree of a document, and how it contributes to the answer."""

    element: Element
    weight: float = 1.0
    score: int = 0
    rescaling: Rescaling = NO_RESCALING


def read_joining(model: Element, *, is_part: bool = False) -> tuple[list[Member], Joining, bool]:
    """Return trees, how they are combined, and whether leaves hold probabilities."""
    is_classification = model.get("functionName") == "classification"
    decision = "most" if is_classification else "number"
    if get_tag(model) == "TreeModel":
        return [Member(model, rescaling=_read_rescaling(model))], Joining(decision=decision), False
    method, segments = _read_segments(model)
    if method == "modelChain" and not is_part:
        return *_read_chain(model, segments), False
    trees = [_get_only_tree(segment) for segment in segments]
    for tree in trees:
        if tree.get("functionName") != model.get("functionName"):
            raise ModelError(
                f"A MiningModel for {model.get('functionName')} in the PMML file holds a TreeModel for "
                f"{tree.get('functionName')}, which is not supported."
            )
    members = [
        Member(tree, parse_number(segment.get("weight", "1")), rescaling=_read_rescaling(tree))
        for tree, segment in zip(trees, segments, strict=True)
    ]
    weights = [member.weight if method.startswith("weighted") else 1.0 for member in members]
    members = [member._replace(weight=weight) for member, weight in zip(members, weights, strict=True)]
    rescaling = _read_rescaling(model)
    constant = rescaling.constant
    if rescaling._replace(constant=0.0) != NO_RESCALING or (constant and method != "sum"):
        raise ModelError(
            "A Target of a MiningModel in the PMML file limits, rescales or rounds the answer, which is not supported: only "
            "a rescaleConstant for a sum is."
        )
    if is_classification and method in VOTE_METHODS:
        return members, Joining(method="sum"), False
    if method == "average":
        return members, Joining(method="mean", decision=decision), is_classification
    if method == "weightedAverage":
        members = [member._replace(weight=member.weight / sum(weights)) for member in members]
        return members, Joining(method="sum", decision=decision), is_classification
    if not is_classification and method == "sum":
        single = bool(_read_note(model).get("single"))
        return (
            members,
            Joining(method="sum", start=(constant,), column=(0,) * len(members), decision=decision, single=single),
            False,
        )
    if not is_classification and method == "weightedSum":
        return members, Joining(method="sum", decision=decision), False
    if not is_classification and (method == "weightedMedian" or (method == "median" and len(members) % 2)):
        return members, Joining(method="median", decision=decision, weights=tuple(weights)), False
    raise ModelError(
        f"A MiningModel for {model.get('functionName')} that combines {len(members)} trees by {method!r} is not supported. "
        "Votes, means and sums are, and the median of an odd number of trees."
    )


def _read_segments(model: Element) -> tuple[str, list[Element]]:
    """Return how a MiningModel combines its segments, and the segments."""
    parts = find_children(model, "Segmentation")
    segments = find_children(parts[0], "Segment") if parts else []
    if not segments:
        raise ModelError("A MiningModel of the PMML file has no segments, so it has no trees.")
    for segment in segments:
        if not find_children(segment, "True"):
            raise ModelError(
                "A segment of a MiningModel in the PMML file applies only to some rows, which is not supported."
            )
    return parts[0].get("multipleModelMethod", ""), segments


def _get_only_tree(segment: Element) -> Element:
    models = [element for element in segment if get_tag(element).endswith("Model")]
    if len(models) != 1 or get_tag(models[0]) != "TreeModel":
        content = get_tag(models[0]) if models else "no model"
        raise ModelError(
            f"A segment of a MiningModel in the PMML file holds {content}, where a TreeModel was expected."
        )
    return models[0]


def _read_rescaling(model: Element) -> Rescaling:
    """Return the rescaling of the answer of a model."""
    targets = [target for part in find_children(model, "Targets") for target in find_children(part, "Target")]
    if len(targets) > 1:
        raise ModelError("A model of the PMML file has several Targets, which is not supported.")
    if not targets:
        return NO_RESCALING
    attributes = targets[0].attrib
    low, high = attributes.get("min"), attributes.get("max")
    rounding = attributes.get("castInteger")
    if rounding not in (None, "round", "ceiling", "floor"):
        raise ModelError(f"A Target of the PMML file has castInteger={rounding!r}. Expected round, ceiling or floor.")
    rescaling = Rescaling(
        low=-math.inf if low is None else parse_number(low),
        high=math.inf if high is None else parse_number(high),
        factor=parse_number(attributes.get("rescaleFactor", "1")),
        constant=parse_number(attributes.get("rescaleConstant", "0")),
        rounding=rounding,
    )
    if rescaling != NO_RESCALING and model.get("functionName") == "classification":
        raise ModelError("A Target of the PMML file limits, rescales or rounds a label, which is invalid.")
    return rescaling


def _read_note(model: Element) -> dict[str, Any]:
    """Return what `write_pmml` noted because PMML cannot express it."""
    if model.get("x-mathContext") == "float":  # the notation of JPMML
        return {"single": True}
    for extension in find_children(model, "Extension"):
        if extension.get("name") == EXTENSION_NAME:
            flags = (extension.get("value") or "").split(",")
            decision = next((word for word in flags if word in ("at least", "above")), "half")
            return {"single": "single" in flags, "decides": decision}
    return {}


def _read_chain(model: Element, segments: list[Element]) -> tuple[list[Member], Joining]:
    """Return the trees of a chain of sums, and how they are combined."""
    *sums, last = segments
    regression = find_children(last, "RegressionModel")
    if not sums or not regression:
        raise ModelError("A chain of models in the PMML file must end in a RegressionModel. This one does not.")
    if _read_rescaling(regression[0]) != NO_RESCALING or _read_rescaling(model) != NO_RESCALING:
        raise ModelError(
            "A Target at the end of a chain in the PMML file limits, rescales or rounds the answer, which is not supported."
        )
    if regression[0].get("functionName") != model.get("functionName"):
        raise ModelError(
            f"A chain for {model.get('functionName')} in the PMML file ends in a RegressionModel for "
            f"{regression[0].get('functionName')}, which is not supported."
        )
    method = regression[0].get("normalizationMethod", "none")
    if method not in LINKS:
        raise ModelError(f"A RegressionModel in the PMML file normalizes by {method!r}, which is not supported.")
    members: list[Member] = []
    starts: list[float] = []
    names: list[str] = []
    for segment in sums:
        models = [part for part in segment if get_tag(part).endswith("Model")]
        if len(models) != 1 or get_tag(models[0]) not in ("MiningModel", "TreeModel"):
            raise ModelError(
                "A chain of models in the PMML file has a part that is not a sum of trees, which is not supported."
            )
        segment_members, joining, _ = read_joining(models[0], is_part=True)
        if joining.decision != "number" or (joining.method != "sum" and get_tag(models[0]) != "TreeModel"):
            raise ModelError(
                "A chain of models in the PMML file has a part that is not a sum of trees, which is not supported."
            )
        members += [part._replace(score=len(starts)) for part in segment_members]
        starts.append(joining.start[0] if joining.start else 0.0)
        names.append(_read_output_name(models[0]))
    tables = find_children(regression[0], "RegressionTable")
    predictors_by_table = [(table, find_children(table, "NumericPredictor")) for table in tables]
    link = LINKS[method]
    if len(names) == 1 and link == "softmax":  # of the score and 0 it is the sigmoid
        link = "sigmoid"
    if len(names) == 1:  # the other of two labels has no score
        predictors_by_table = (
            predictors_by_table[:1] if len(predictors_by_table) < 2 or not predictors_by_table[1][1] else []
        )
    scales = {parse_number(parts[0].get("coefficient")) for _, parts in predictors_by_table if parts}
    is_plain = all(len(parts) == 1 for _, parts in predictors_by_table) and not any(
        parse_number(table.get("intercept", "0")) for table in tables
    )
    has_all_tables = (
        len(tables) == max(len(names), 2) if model.get("functionName") == "classification" else len(tables) == 1
    )
    if (
        [parts[0].get("name") for _, parts in predictors_by_table if parts] != names
        or len(scales) != 1
        or not (is_plain and has_all_tables)
    ):
        raise ModelError(
            "A RegressionModel in the PMML file does not use each sum of trees exactly once, which is not supported."
        )
    note = _read_note(model)
    if model.get("functionName") != "classification":
        decision = "number"
    else:
        decision = note.get("decides", "half") if len(starts) == 1 else "most"
    column = tuple(member.score for member in members)
    single = bool(note.get("single"))
    return members, Joining(
        method="sum",
        start=tuple(starts),
        column=column,
        decision=decision,
        link=link,
        scale=scales.pop(),
        single=single,
    )


def _read_output_name(model: Element) -> str:
    """Return the name of the output field that holds the answer of a model unchanged."""
    for part in (
        output_field
        for output in find_children(model, "Output")
        for output_field in find_children(output, "OutputField")
    ):
        is_plain = all(get_tag(child) == "Extension" for child in part)
        if part.get("feature", "predictedValue") == "predictedValue" and is_plain:
            return part.get("name", "")
    raise ModelError(
        "A part of a chain of models in the PMML file has no OutputField for its predictedValue, which is not supported."
    )
