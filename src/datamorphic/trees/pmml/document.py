"""Parse PMML documents safely, refuse what is not supported, and read their fields."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from ..._files import to_local_path
from ..._text import format_short, suggest_name
from ...errors import DataError, ModelError
from .domains import Domain

ORDER_OPERATORS = ("lessThan", "lessOrEqual", "greaterThan", "greaterOrEqual")
NUMBER_TYPES = ("integer", "float", "double")
POLICY_BY_TREATMENT = {"returnInvalid": "refused", "asIs": "kept", "asMissing": "missing"}

PREDICATES = ("True", "False", "SimplePredicate", "SimpleSetPredicate", "CompoundPredicate")
MODEL_CHILDREN = (
    *("Extension", "MiningSchema", "Output", "ModelStats", "ModelExplanation", "Targets", "LocalTransformations"),
    "ModelVerification",
)
KNOWN_CHILDREN = {
    "TreeModel": (*MODEL_CHILDREN, "Node"),
    "MiningModel": (*MODEL_CHILDREN, "Segmentation"),
    "RegressionModel": (*MODEL_CHILDREN, "RegressionTable"),
    "RegressionTable": ("Extension", "NumericPredictor"),
    "Segmentation": ("Extension", "Segment"),
    "Segment": ("Extension", *PREDICATES),  # and one model
    "Node": ("Extension", "Partition", "ScoreDistribution", "Node", *PREDICATES),
}
CHECKED_LEAVES = ("NumericPredictor", "MiningField", "DataField")  # only their attributes are checked
KNOWN_ATTRIBUTE_VALUES = {
    "functionName": ("classification", "regression"),
    "isScorable": ("true", "1"),
    "missingValueStrategy": (
        *("none", "lastPrediction", "nullPrediction", "defaultChild", "weightedConfidence", "aggregateNodes"),
    ),
    "noTrueChildStrategy": ("returnNullPrediction", "returnLastPrediction"),
    "x-mathContext": ("float", "double"),
    "exponent": ("1", "1.0"),
}


class _DoctypeRefuser(TreeBuilder):
    """A builder that refuses a DOCTYPE, whose entities may fill the memory."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise DataError(
            "The file has a DOCTYPE, which PMML does not need and which may define entities that expand without end. "
            "Remove it if you trust the file."
        )


def parse_pmml(path: str | os.PathLike[str]) -> Element:
    """Return the root element of a PMML file, or raise `DataError`."""
    parser = XMLParser(target=_DoctypeRefuser())
    source = to_local_path(path, "PMML file")
    try:
        with source.open("rb") as file:
            block = file.read(80)
            if not block.strip():
                raise DataError(f"The file {format_short(path)!r} is empty. A PMML document is expected.")
            size = 1 << 20
            while block:
                parser.feed(block)
                block = file.read(size)
                size *= 2  # the parser begins a long comment or text again with every block
        root = parser.close()
    except OSError as error:
        raise DataError(f"The file {format_short(path)!r} cannot be read: {error.strerror or error}.") from None
    except DataError:
        raise
    except (ParseError, ValueError, LookupError) as error:
        raise DataError(f"The file {format_short(path)!r} is not PMML: it is not well-formed XML ({error}).") from None
    for element in root.iter():  # drop namespaces: the version is an attribute
        element.tag = element.tag.rpartition("}")[2]
    if root.tag != "PMML":
        raise DataError(f"The file {format_short(path)!r} is XML but not PMML: its root is {root.tag!r}.")
    version = root.get("version", "none")
    if not version.startswith("4."):
        raise ModelError(f"PMML version {version} is not supported. Convert the file to a version from 4.0 to 4.4.")
    return root


def validate_elements(root: Element) -> None:
    """Raise `ModelError` if unknown content may change the answer."""
    for element in root.iter():
        name = element.tag
        if name not in KNOWN_CHILDREN and name not in CHECKED_LEAVES:
            continue
        for part in element if name in KNOWN_CHILDREN else ():
            if part.tag not in KNOWN_CHILDREN[name] and not (name == "Segment" and part.tag.endswith("Model")):
                raise ModelError(
                    f"A {name} of the PMML file holds {part.tag!r}, which is not supported and may change the answer."
                )
        if name in ("TreeModel", "MiningModel", "RegressionModel") and element.get("functionName") is None:
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
        element.get("name"): element.get("missingValueReplacement")
        for element in model.findall("MiningSchema/MiningField")
    }
    for element in model.iter("MiningField"):
        name, replacement = element.get("name"), element.get("missingValueReplacement")
        if replacement is not None and replacement != outer_replacements.get(name):
            raise ModelError(
                f"An inner model of the PMML file replaces missing values of {name!r} by {replacement!r}, which is not "
                "supported. Only the outermost model may do so."
            )
        if element.get("outliers", "asIs") != "asIs":
            raise ModelError(
                f"The field {name!r} treats outliers as {element.get('outliers')!r}, which is not supported."
            )
        if element.get("missingValueTreatment") == "returnInvalid":
            raise ModelError(
                f"The field {name!r} has no answer for missing values (returnInvalid), which is not supported."
            )


@dataclass(kw_only=True)
class PmmlField:
    """A field of the DataDictionary: a column, or the answer."""

    name: str
    data_type: str
    optype: str = "continuous"
    values: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    intervals: list[tuple[float, bool, float, bool]] = field(default_factory=list)
    replacement: str | None = None
    treatment: str = "returnInvalid"

    def parse_value(self, text: str) -> Any:
        """Return the value of a text, by the type of the field."""
        try:
            return parse_text(text, self.data_type)
        except ModelError as error:
            raise ModelError(f"The field {self.name!r} of the PMML file: {error}") from None

    @property
    def invalid_policy(self) -> str:
        """What happens to invalid values: "kept", "missing" or "refused"; see `Domain`."""
        if (self.values or self.intervals or self.invalid) and self.treatment not in POLICY_BY_TREATMENT:
            raise ModelError(
                f"The field {self.name!r} treats invalid values as {self.treatment!r}, which is not supported. Use one of: "
                f"{', '.join(POLICY_BY_TREATMENT)}."
            )
        policy = POLICY_BY_TREATMENT.get(self.treatment, "kept")
        if self.data_type == "boolean":  # there is no other value to keep
            return "missing" if policy == "missing" else "refused"
        if self.invalid and policy != "kept":
            raise ModelError(
                f"The field {self.name!r} lists invalid values such as {self.invalid[0]!r}, which is not supported. "
                "List the valid values instead."
            )
        return policy if self.values or self.intervals else "kept"

    def list_missing_values(self) -> list[Any]:
        """Return the values that stand for a missing one, as numbers where possible."""
        values: list[Any] = []
        for text in self.missing:
            try:
                values.append(parse_text(text, self.data_type))
            except ModelError:
                values.append(text)
        return values

    def build_domain(self, is_categorical: bool) -> Domain:
        """Build the domain of the column."""
        missing_values, policy = self.list_missing_values(), self.invalid_policy
        if is_categorical:
            return Domain(tuple(dict.fromkeys([*missing_values, *self.missing])), (), policy)
        first = next((value for value in missing_values if not isinstance(value, str)), None)
        rest = tuple(value for value in missing_values if value is not first)
        points = [(value, True, value, True) for value in map(self.parse_value, self.values)]
        return Domain(rest, (*self.intervals, *points) if policy != "kept" else (), policy)


def parse_text(text: str, data_type: str) -> Any:
    """Return the value of a text, by the type of its field."""
    if data_type == "integer":
        try:
            return int(text)  # keeps all digits of large integers
        except ValueError:
            number = parse_number(text)
            return int(number) if number == int(number) else number
    if data_type in NUMBER_TYPES:
        return parse_number(text)
    if data_type != "boolean":
        return text
    if text.strip().lower() not in ("true", "1", "false", "0"):
        raise ModelError(f"'true' or 'false' was expected in the PMML file. Got {text!r}.")
    return text.strip().lower() in ("true", "1")


def parse_number(text: str | None) -> float:
    """Return the number of a text."""
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ModelError(f"A finite number was expected in the PMML file. Got {text!r}.")
    return number


def read_fields(root: Element) -> dict[str, PmmlField]:
    """Return the fields of the DataDictionary by name."""
    fields: dict[str, PmmlField] = {}
    for element in root.findall("DataDictionary/DataField"):
        values = [(value.get("value", ""), value.get("property", "valid")) for value in element.findall("Value")]
        name = element.get("name", "")
        fields[name] = pmml_field = PmmlField(
            name=name,
            data_type=element.get("dataType", "double"),
            optype=element.get("optype", "continuous"),
            values=[value for value, status in values if status == "valid"],
            missing=[value for value, status in values if status == "missing"],
            invalid=[value for value, status in values if status == "invalid"],
            intervals=[_parse_interval(part) for part in element.findall("Interval")],
        )
        if pmml_field.optype == "ordinal" and pmml_field.data_type in NUMBER_TYPES:
            ranks = [parse_number(value) for value in pmml_field.values]
            if ranks != sorted(ranks):
                raise ModelError(
                    f"The field {name!r} is ordinal and lists its numbers in an order of its own, which is not supported."
                )
    return fields


def _parse_interval(element: Element) -> tuple[float, bool, float, bool]:
    """Return the ends of an interval, and whether each is included."""
    left, right = (element.get(f"{side}Margin") for side in ("left", "right"))
    closure = element.get("closure", "closedClosed")
    return (
        -math.inf if left is None else parse_number(left),
        closure.startswith("closed"),
        math.inf if right is None else parse_number(right),
        closure.endswith("Closed"),
    )


def read_schema(model: Element, fields: dict[str, PmmlField]) -> tuple[list[PmmlField], PmmlField | None]:
    """Return the active fields of a model, in order, and its target."""
    columns: list[PmmlField] = []
    target = None
    for element in model.findall("MiningSchema/MiningField"):
        name, usage = element.get("name", ""), element.get("usageType", "active")
        if usage in ("target", "predicted"):
            if target is not None and target.name != name:
                raise ModelError(
                    f"The model has several targets, {target.name!r} and {name!r}, which is not supported."
                )
            target = fields.get(name)
        elif usage == "active":
            if name not in fields:
                raise ModelError(
                    f"The model uses the field {name!r}, which is not in the DataDictionary. "
                    f"{suggest_name(name, fields)}"
                )
            fields[name].replacement = element.get("missingValueReplacement")
            fields[name].treatment = element.get("invalidValueTreatment", "returnInvalid")
            columns.append(fields[name])
    return columns, target


def read_casts(root: Element) -> dict[str, tuple[str, str]]:
    """Return source and type of derived fields that only change a type."""
    casts_by_name: dict[str, set[tuple[str, str]]] = {}
    for element in root.iter("DerivedField"):
        refs = [part for part in element if part.tag not in ("Extension", "Value", "Interval")]
        is_plain = len(refs) == 1 and refs[0].tag == "FieldRef" and refs[0].get("mapMissingTo") is None
        # another part of the document may derive a field of this name differently
        cast = (refs[0].get("field", ""), element.get("dataType", "double")) if is_plain else ("", "")
        casts_by_name.setdefault(element.get("name", ""), set()).add(cast)
    return {name: casts.pop() for name, casts in casts_by_name.items() if len(casts) == 1}
