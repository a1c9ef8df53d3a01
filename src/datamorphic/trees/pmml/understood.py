"""What a PMML document may say: what is not understood and may change the answer is an error."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ...errors import ModelError
from .document import everywhere, kind, within

MODELS = ("TreeModel", "MiningModel", "RegressionModel")
PREDICATES = ("True", "False", "SimplePredicate", "SimpleSetPredicate", "CompoundPredicate")
ASIDE = (
    "Extension",
    "MiningSchema",
    "Output",
    "ModelStats",
    "ModelExplanation",
    "Targets",
    "LocalTransformations",
)
PARTS = {
    "TreeModel": (*ASIDE, "ModelVerification", "Node"),
    "MiningModel": (*ASIDE, "ModelVerification", "Segmentation"),
    "RegressionModel": (*ASIDE, "ModelVerification", "RegressionTable"),
    "RegressionTable": ("Extension", "NumericPredictor"),
    "Segmentation": ("Extension", "Segment"),
    "Node": ("Extension", "Partition", "ScoreDistribution", "Node", *PREDICATES),
}
SEGMENT = ("Extension", *PREDICATES)
WORDS = {
    "functionName": ("classification", "regression"),
    "isScorable": ("true", "1"),
    "missingValueStrategy": (
        "none",
        "lastPrediction",
        "nullPrediction",
        "defaultChild",
        "weightedConfidence",
        "aggregateNodes",
    ),
    "noTrueChildStrategy": ("returnNullPrediction", "returnLastPrediction"),
    "x-mathContext": ("float", "double"),
    "exponent": ("1", "1.0"),
}


def check_understood(root: Element) -> None:
    """Raise an error if a document says something that may change the answer and is not understood."""
    for element in everywhere(root, *PARTS, "Segment", "NumericPredictor", "MiningField", "DataField"):
        name = kind(element)
        known = SEGMENT if name == "Segment" else PARTS.get(name, ())
        for part in element if known else ():
            if part.tag not in known and not (name == "Segment" and part.tag.endswith("Model")):
                raise ModelError(
                    f"A {name} of the PMML file holds {part.tag!r}, which is not read and may change the answer."
                )
        if name in MODELS and element.get("functionName") is None:
            raise ModelError(f"A {name} of the PMML file has no functionName: it must say what the model is for.")
        for key, value in element.attrib.items():
            if value not in WORDS.get(key, (value,) if not key.startswith("x-") else ()):
                listed = " or ".join(map(repr, WORDS.get(key, ())))
                told = f" Read is {listed}." if listed else ""
                raise ModelError(
                    f"A {name} of the PMML file has {key}={value!r}, which is not read and may change the answer.{told}"
                )


def check_inner_fields(model: Element) -> None:
    """Raise an error if a model within another treats its fields in a way of its own."""
    own = {
        each.get("name"): each.get("missingValueReplacement")
        for schema in within(model, "MiningSchema")
        for each in within(schema, "MiningField")
    }
    for each in everywhere(model, "MiningField"):
        name, replacement = each.get("name"), each.get("missingValueReplacement")
        if replacement is not None and replacement != own.get(name):
            raise ModelError(
                f"A model within another in the PMML file replaces missing values of {name!r} by {replacement!r}, which is "
                "not read. The outermost model may do so."
            )
        if each.get("outliers", "asIs") != "asIs":
            raise ModelError(f"The field {name!r} treats outliers as {each.get('outliers')!r}, which is not read.")
        if each.get("missingValueTreatment") == "returnInvalid":
            raise ModelError(
                f"The field {name!r} has no answer for missing values (returnInvalid), which is not read."
            )
