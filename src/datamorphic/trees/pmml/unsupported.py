"""Refuse what is not supported in a PMML document and may change the answer."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ...errors import ModelError
from .document import find_children, get_tag, iterate_descendants

MODELS = ("TreeModel", "MiningModel", "RegressionModel")
PREDICATES = ("True", "False", "SimplePredicate", "SimpleSetPredicate", "CompoundPredicate")
IGNORED_CHILDREN = (
    "Extension",
    "MiningSchema",
    "Output",
    "ModelStats",
    "ModelExplanation",
    "Targets",
    "LocalTransformations",
)
KNOWN_CHILDREN = {
    "TreeModel": (*IGNORED_CHILDREN, "ModelVerification", "Node"),
    "MiningModel": (*IGNORED_CHILDREN, "ModelVerification", "Segmentation"),
    "RegressionModel": (*IGNORED_CHILDREN, "ModelVerification", "RegressionTable"),
    "RegressionTable": ("Extension", "NumericPredictor"),
    "Segmentation": ("Extension", "Segment"),
    "Node": ("Extension", "Partition", "ScoreDistribution", "Node", *PREDICATES),
}
SEGMENT_CHILDREN = ("Extension", *PREDICATES)
KNOWN_ATTRIBUTE_VALUES = {
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


def validate_elements(root: Element) -> None:
    """Raise `ModelError` if unknown content may change the answer."""
    for element in iterate_descendants(
        root, *KNOWN_CHILDREN, "Segment", "NumericPredictor", "MiningField", "DataField"
    ):
        name = get_tag(element)
        known_children = SEGMENT_CHILDREN if name == "Segment" else KNOWN_CHILDREN.get(name, ())
        for part in element if known_children else ():
            if part.tag not in known_children and not (name == "Segment" and part.tag.endswith("Model")):
                raise ModelError(
                    f"A {name} of the PMML file holds {part.tag!r}, which is not supported and may change the answer."
                )
        if name in MODELS and element.get("functionName") is None:
            raise ModelError(f"A {name} of the PMML file has no functionName. Expected classification or regression.")
        for key, value in element.attrib.items():
            if value not in KNOWN_ATTRIBUTE_VALUES.get(key, (value,) if not key.startswith("x-") else ()):
                listed = " or ".join(map(repr, KNOWN_ATTRIBUTE_VALUES.get(key, ())))
                hint = f" Supported: {listed}." if listed else ""
                raise ModelError(
                    f"A {name} of the PMML file has {key}={value!r}, which is not supported and may change the answer.{hint}"
                )


def validate_inner_fields(model: Element) -> None:
    """Raise `ModelError` if an inner model treats its fields differently."""
    outer_replacements = {
        field.get("name"): field.get("missingValueReplacement")
        for schema in find_children(model, "MiningSchema")
        for field in find_children(schema, "MiningField")
    }
    for field in iterate_descendants(model, "MiningField"):
        name, replacement = field.get("name"), field.get("missingValueReplacement")
        if replacement is not None and replacement != outer_replacements.get(name):
            raise ModelError(
                f"An inner model of the PMML file replaces missing values of {name!r} by {replacement!r}, which is not "
                "supported. Only the outermost model may do so."
            )
        if field.get("outliers", "asIs") != "asIs":
            raise ModelError(
                f"The field {name!r} treats outliers as {field.get('outliers')!r}, which is not supported."
            )
        if field.get("missingValueTreatment") == "returnInvalid":
            raise ModelError(
                f"The field {name!r} has no answer for missing values (returnInvalid), which is not supported."
            )
