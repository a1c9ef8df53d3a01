"""Read how a PMML file combines trees: votes, means, sums and chains."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import ModelError
from ..forest import Joining
from ..tree import Floats
from .document import parse_number
from .writing import EXTENSION_NAME, NORMALISATIONS

LINKS = {name: link for link, name in NORMALISATIONS.items()}
VOTE_METHODS = ("majorityVote", "weightedMajorityVote")
ROUNDINGS: dict[str, Callable[[Floats], Floats]] = {
    "round": lambda numbers: np.floor(numbers + 0.5),
    "ceiling": np.ceil,
    "floor": np.floor,
}


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
        return changed if self.rounding is None else ROUNDINGS[self.rounding](changed)


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
    if model.tag == "TreeModel":
        return [Member(model, rescaling=_read_rescaling(model))], Joining(decision=decision), False
    method, segments = _read_segments(model)
    if method == "modelChain" and not is_part:
        return *_read_chain(model, segments), False
    members = []
    for segment in segments:
        tree, weight = _get_only_tree(segment), parse_number(segment.get("weight", "1"))
        if tree.get("functionName") != model.get("functionName"):
            raise ModelError(
                f"A MiningModel for {model.get('functionName')} in the PMML file holds a TreeModel for "
                f"{tree.get('functionName')}, which is not supported."
            )
        members.append(Member(tree, weight if method.startswith("weighted") else 1.0, rescaling=_read_rescaling(tree)))
    weights = tuple(member.weight for member in members)
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
        joining = Joining(
            method="sum", start=(constant,), column=(0,) * len(members), decision=decision, single=_read_note(model)[0]
        )
        return members, joining, False
    if not is_classification and method == "weightedSum":
        return members, Joining(method="sum", decision=decision), False
    if not is_classification and (method == "weightedMedian" or (method == "median" and len(members) % 2)):
        return members, Joining(method="median", decision=decision, weights=weights), False
    raise ModelError(
        f"A MiningModel for {model.get('functionName')} that combines {len(members)} trees by {method!r} is not supported. "
        "Votes, means and sums are, and the median of an odd number of trees."
    )


def _read_segments(model: Element) -> tuple[str, list[Element]]:
    """Return how a MiningModel combines its segments, and the segments."""
    segmentation = model.find("Segmentation")
    segments = [] if segmentation is None else segmentation.findall("Segment")
    if segmentation is None or not segments:
        raise ModelError("A MiningModel of the PMML file has no segments, so it has no trees.")
    if any(segment.find("True") is None for segment in segments):
        raise ModelError(
            "A segment of a MiningModel in the PMML file applies only to some rows, which is not supported."
        )
    return segmentation.get("multipleModelMethod", ""), segments


def _get_only_tree(segment: Element) -> Element:
    models = [element for element in segment if element.tag.endswith("Model")]
    if len(models) != 1 or models[0].tag != "TreeModel":
        content = models[0].tag if models else "no model"
        raise ModelError(
            f"A segment of a MiningModel in the PMML file holds {content}, where a TreeModel was expected."
        )
    return models[0]


def _read_rescaling(model: Element) -> Rescaling:
    """Return the rescaling of the answer of a model."""
    targets = model.findall("Targets/Target")
    if len(targets) > 1:
        raise ModelError("A model of the PMML file has several Targets, which is not supported.")
    if not targets:
        return NO_RESCALING
    attributes = targets[0].attrib
    rounding = attributes.get("castInteger")
    if rounding is not None and rounding not in ROUNDINGS:
        raise ModelError(f"A Target of the PMML file has castInteger={rounding!r}. Expected round, ceiling or floor.")
    rescaling = Rescaling(
        low=parse_number(attributes["min"]) if "min" in attributes else -math.inf,
        high=parse_number(attributes["max"]) if "max" in attributes else math.inf,
        factor=parse_number(attributes.get("rescaleFactor", "1")),
        constant=parse_number(attributes.get("rescaleConstant", "0")),
        rounding=rounding,
    )
    if rescaling != NO_RESCALING and model.get("functionName") == "classification":
        raise ModelError("A Target of the PMML file limits, rescales or rounds a label, which is invalid.")
    return rescaling


def _read_note(model: Element) -> tuple[bool, str]:
    """Return whether sums are in single precision, and the decision: what `write_pmml` noted as an extension."""
    if model.get("x-mathContext") == "float":  # the notation of JPMML
        return True, "half"
    for extension in model.findall("Extension"):
        if extension.get("name") == EXTENSION_NAME:
            flags = (extension.get("value") or "").split(",")
            return "single" in flags, next((word for word in flags if word in ("at least", "above")), "half")
    return False, "half"


def _read_chain(model: Element, segments: list[Element]) -> tuple[list[Member], Joining]:
    """Return the trees of a chain of sums, and how they are combined."""
    *sums, last = segments
    regression = last.find("RegressionModel")
    if not sums or regression is None:
        raise ModelError("A chain of models in the PMML file must end in a RegressionModel. This one does not.")
    if _read_rescaling(regression) != NO_RESCALING or _read_rescaling(model) != NO_RESCALING:
        raise ModelError(
            "A Target at the end of a chain in the PMML file limits, rescales or rounds the answer, which is not supported."
        )
    if regression.get("functionName") != model.get("functionName"):
        raise ModelError(
            f"A chain for {model.get('functionName')} in the PMML file ends in a RegressionModel for "
            f"{regression.get('functionName')}, which is not supported."
        )
    method = regression.get("normalizationMethod", "none")
    if method not in LINKS:
        raise ModelError(f"A RegressionModel in the PMML file normalises by {method!r}, which is not supported.")
    members: list[Member] = []
    starts: list[float] = []
    names: list[str] = []
    for segment in sums:
        models = [part for part in segment if part.tag.endswith("Model")]
        is_sum = len(models) == 1 and models[0].tag in ("MiningModel", "TreeModel")
        if is_sum:
            segment_members, joining, _ = read_joining(models[0], is_part=True)
            is_sum = joining.decision == "number" and (joining.method == "sum" or models[0].tag == "TreeModel")
        if not is_sum:
            raise ModelError(
                "A chain of models in the PMML file has a part that is not a sum of trees, which is not supported."
            )
        members += [part._replace(score=len(starts)) for part in segment_members]
        starts.append(joining.start[0] if joining.start else 0.0)
        names.append(_read_output_name(models[0]))
    tables = regression.findall("RegressionTable")
    predictors_by_table = [table.findall("NumericPredictor") for table in tables]
    link, is_classification = LINKS[method], model.get("functionName") == "classification"
    if len(names) == 1 and link == "softmax":  # of the score and 0 it is the sigmoid
        link = "sigmoid"
    if len(names) == 1 and not any(predictors_by_table[1:2]):  # the other of two labels has no score
        predictors_by_table = predictors_by_table[:1]
    scales = {parse_number(predictors[0].get("coefficient")) for predictors in predictors_by_table if predictors}
    if (
        [predictor.get("name") for predictors in predictors_by_table for predictor in predictors] != names
        or not all(len(predictors) == 1 for predictors in predictors_by_table)
        or any(parse_number(table.get("intercept", "0")) for table in tables)
        or len(tables) != (max(len(names), 2) if is_classification else 1)
        or len(scales) != 1
    ):
        raise ModelError(
            "A RegressionModel in the PMML file does not use each sum of trees exactly once, which is not supported."
        )
    single, decision = _read_note(model)
    if not is_classification or len(starts) > 1:
        decision = "most" if is_classification else "number"
    return members, Joining(
        method="sum",
        start=tuple(starts),
        column=tuple(member.score for member in members),
        decision=decision,
        link=link,
        scale=scales.pop(),
        single=single,
    )


def _read_output_name(model: Element) -> str:
    """Return the name of the output field that holds the answer of a model unchanged."""
    for part in model.findall("Output/OutputField"):
        is_plain = all(child.tag == "Extension" for child in part)
        if part.get("feature", "predictedValue") == "predictedValue" and is_plain:
            return part.get("name", "")
    raise ModelError(
        "A part of a chain of models in the PMML file has no OutputField for its predictedValue, which is not supported."
    )
