"""How the trees of a PMML file make one answer: votes, means, sums, and chains that end in a regression."""

from __future__ import annotations

import math
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import ModelError
from ..forest import Joining
from ..model import Floats
from .document import as_number, kind, within
from .writing import NORMALIZATIONS, NOTE

LINKS = {name: link for link, name in NORMALIZATIONS.items()}
VOTES = ("majorityVote", "weightedMajorityVote")


class Rescaling(NamedTuple):
    """What is done to a number that a model answers."""

    low: float = -math.inf
    high: float = math.inf
    factor: float = 1.0
    constant: float = 0.0
    whole: str | None = None

    def of(self, values: Floats) -> Floats:
        """Return numbers as they are answered."""
        changed = np.clip(values, self.low, self.high) * self.factor + self.constant
        if self.whole == "round":
            return np.floor(changed + 0.5)
        return (
            changed if self.whole is None else np.ceil(changed) if self.whole == "ceiling" else np.floor(changed)
        )


AS_IT_IS = Rescaling()


class Member(NamedTuple):
    """A tree of a document: its element, how much it counts, the score it adds to, and what its answers go through."""

    element: Element
    weight: float = 1.0
    score: int = 0
    rescaling: Rescaling = AS_IT_IS


def joined(model: Element, *, part: bool = False) -> tuple[list[Member], Joining, bool]:
    """Return the trees of a model, how they are joined, and whether they tell how likely labels are."""
    classifies = model.get("functionName") == "classification"
    decides = "most" if classifies else "number"
    if kind(model) == "TreeModel":
        return [Member(model, rescaling=_rescaling(model))], Joining(decides=decides), False
    method, segments = _segments(model)
    if method == "modelChain" and not part:
        return *_chain(model, segments), False
    trees = [_only_tree(each) for each in segments]
    for each in trees:
        if each.get("functionName") != model.get("functionName"):
            raise ModelError(
                f"A MiningModel for {model.get('functionName')} in the PMML file holds a TreeModel for "
                f"{each.get('functionName')}, which is not read."
            )
    members = [
        Member(tree, as_number(each.get("weight", "1")), rescaling=_rescaling(tree))
        for tree, each in zip(trees, segments, strict=True)
    ]
    weights = [each.weight if method.startswith("weighted") else 1.0 for each in members]
    members = [each._replace(weight=weight) for each, weight in zip(members, weights, strict=True)]
    rescaling = _rescaling(model)
    added = rescaling.constant
    if rescaling._replace(constant=0.0) != AS_IT_IS or (added and method != "sum"):
        raise ModelError(
            "A Target of a MiningModel in the PMML file limits, rescales or rounds the answer, which is not read: only a "
            "rescaleConstant for a sum is."
        )
    if classifies and method in VOTES:
        return members, Joining("sum"), False
    if method == "average":
        return members, Joining("mean", decides=decides), classifies
    if method == "weightedAverage":
        members = [each._replace(weight=each.weight / sum(weights)) for each in members]
        return members, Joining("sum", decides=decides), classifies
    if not classifies and method == "sum":
        single = bool(_note(model).get("single"))
        return members, Joining("sum", (added,), (0,) * len(members), decides, single=single), False
    if not classifies and method == "weightedSum":
        return members, Joining("sum", decides=decides), False
    if not classifies and (method == "weightedMedian" or (method == "median" and len(members) % 2)):
        return members, Joining("median", decides=decides, weights=tuple(weights)), False
    raise ModelError(
        f"A MiningModel for {model.get('functionName')} that joins {len(members)} trees by {method!r} is not read. Votes, "
        "means and sums are, and the median of an odd number of trees."
    )


def _segments(model: Element) -> tuple[str, list[Element]]:
    """Return how a MiningModel joins its segments, and these."""
    parts = within(model, "Segmentation")
    segments = within(parts[0], "Segment") if parts else []
    if not segments:
        raise ModelError("A MiningModel of the PMML file has no segments: there is no tree in it.")
    for each in segments:
        if not within(each, "True"):
            raise ModelError(
                "A segment of a MiningModel in the PMML file is used for some rows only, which is not read."
            )
    return parts[0].get("multipleModelMethod", ""), segments


def _only_tree(segment: Element) -> Element:
    models = [each for each in segment if kind(each).endswith("Model")]
    if len(models) != 1 or kind(models[0]) != "TreeModel":
        found = kind(models[0]) if models else "no model"
        raise ModelError(
            f"A segment of a MiningModel in the PMML file holds {found}, where a TreeModel was expected."
        )
    return models[0]


def _rescaling(model: Element) -> Rescaling:
    """Return what is done to the answer of a model: nothing where it is a label."""
    targets = [each for part in within(model, "Targets") for each in within(part, "Target")]
    if len(targets) > 1:
        raise ModelError("A model of the PMML file has several Targets, which is not read.")
    if not targets:
        return AS_IT_IS
    told = targets[0].attrib
    least, most = told.get("min"), told.get("max")
    whole = told.get("castInteger")
    if whole not in (None, "round", "ceiling", "floor"):
        raise ModelError(f"A Target of the PMML file has castInteger={whole!r}, which is not known.")
    found = Rescaling(
        -math.inf if least is None else as_number(least),
        math.inf if most is None else as_number(most),
        as_number(told.get("rescaleFactor", "1")),
        as_number(told.get("rescaleConstant", "0")),
        whole,
    )
    if found != AS_IT_IS and model.get("functionName") == "classification":
        raise ModelError("A Target of the PMML file limits, rescales or rounds an answer that is a label.")
    return found


def _note(model: Element) -> dict[str, Any]:
    """Return what was noted on writing that PMML has no words for."""
    if model.get("x-mathContext") == "float":  # as JPMML says it
        return {"single": True}
    for each in within(model, "Extension"):
        if each.get("name") == NOTE:
            words = (each.get("value") or "").split(",")
            decides = next((word for word in words if word in ("at least", "above")), "half")
            return {"single": "single" in words, "decides": decides}
    return {}


def _chain(model: Element, segments: list[Element]) -> tuple[list[Member], Joining]:
    """Return the trees of sums that a regression makes an answer of, and how."""
    *sums, last = segments
    regression = within(last, "RegressionModel")
    if not sums or not regression:
        raise ModelError(
            "A chain of models in the PMML file is read if it ends in a RegressionModel. This one does not."
        )
    if _rescaling(regression[0]) != AS_IT_IS or _rescaling(model) != AS_IT_IS:
        raise ModelError(
            "A Target at the end of a chain in the PMML file limits, rescales or rounds the answer, which is not read."
        )
    if regression[0].get("functionName") != model.get("functionName"):
        raise ModelError(
            f"A chain for {model.get('functionName')} in the PMML file ends in a RegressionModel for "
            f"{regression[0].get('functionName')}, which is not read."
        )
    method = regression[0].get("normalizationMethod", "none")
    if method not in LINKS:
        raise ModelError(f"A RegressionModel in the PMML file normalizes by {method!r}, which is not read.")
    members: list[Member] = []
    starts: list[float] = []
    names: list[str] = []
    for each in sums:
        inner = [part for part in each if kind(part).endswith("Model")]
        if len(inner) != 1 or kind(inner[0]) not in ("MiningModel", "TreeModel"):
            raise ModelError(
                "A chain of models in the PMML file has a part that is no sum of trees, which is not read."
            )
        own, joining, _ = joined(inner[0], part=True)
        if joining.decides != "number" or (joining.how != "sum" and kind(inner[0]) != "TreeModel"):
            raise ModelError(
                "A chain of models in the PMML file has a part that is no sum of trees, which is not read."
            )
        members += [part._replace(score=len(starts)) for part in own]
        starts.append(joining.start[0] if joining.start else 0.0)
        names.append(_output(inner[0]))
    tables = within(regression[0], "RegressionTable")
    used = [(each, within(each, "NumericPredictor")) for each in tables]
    link = LINKS[method]
    if len(names) == 1 and link == "softmax":  # of the score and 0
        link = "sigmoid"
    if len(names) == 1:  # the second of two labels needs no score
        used = used[:1] if len(used) < 2 or not used[1][1] else []
    scales = {as_number(parts[0].get("coefficient")) for _, parts in used if parts}
    plain = all(len(parts) == 1 for _, parts in used) and not any(
        as_number(each.get("intercept", "0")) for each in tables
    )
    fits = len(tables) == max(len(names), 2) if model.get("functionName") == "classification" else len(tables) == 1
    if [parts[0].get("name") for _, parts in used if parts] != names or len(scales) != 1 or not (plain and fits):
        raise ModelError(
            "A RegressionModel in the PMML file does not take each sum of trees once, which is not read."
        )
    note = _note(model)
    if model.get("functionName") != "classification":
        decides = "number"
    else:
        decides = note.get("decides", "half") if len(starts) == 1 else "most"
    column = tuple(each.score for each in members)
    single = bool(note.get("single"))
    return members, Joining("sum", tuple(starts), column, decides, link, scales.pop(), single)


def _output(model: Element) -> str:
    """Return the name under which a model hands on its answer as it is."""
    for part in (each for output in within(model, "Output") for each in within(output, "OutputField")):
        plain = all(kind(each) == "Extension" for each in part)
        if part.get("feature", "predictedValue") == "predictedValue" and plain:
            return part.get("name", "")
    raise ModelError(
        "A part of a chain of models in the PMML file has no OutputField for its predictedValue, which is not read."
    )
