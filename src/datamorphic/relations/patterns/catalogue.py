"""The catalogue of patterns by name: ``dm.patterns``.

Definitions are in our words. Edges to parents come from the words of Ying (2024, chapter 6), whose figures 17 and 18 draw the two
trees; edges that the words do not state are marked as inferred, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from ..._text import suggest_name
from ...errors import ArgumentError, DataError
from ...reporting.export import Exportable
from ...reporting.junit import JUnitCase
from . import inputs, outputs
from .examples import EXAMPLES
from .hierarchy import find_children, find_layers, find_roots, measure_abstraction, validate_hierarchy
from .pattern import SIDES, ParentEdge, Pattern
from .published import published_relations

ANY_SYSTEM = "no restriction"
QUERY_BASED = "query-based systems"
WEB_API = "web APIs"
BIG_DATA = "big-data systems"
TRANSLATION = "machine translation"
NUMBERS = "numbers and tables"

#: the scopes of Table 14 of Ying (2024) and one of ours, in the order of the catalogue
SCOPES = (ANY_SYSTEM, QUERY_BASED, WEB_API, BIG_DATA, TRANSLATION, NUMBERS)

ZHOU_2020 = "Zhou et al. 2020"
WU_2019 = "Wu et al. 2019"
SEGURA_2018 = "Segura et al. 2018"
SEGURA_2019 = "Segura et al. 2019"
YING_2024 = "Ying 2024"
MURPHY_2008 = "Murphy et al. 2008"


def _state(parent: str, section: str) -> ParentEdge:
    return ParentEdge(parent, False, f"stated in section {section} of Ying 2024")


def _infer(parent: str, reason: str) -> ParentEdge:
    return ParentEdge(parent, True, reason)


class PatternCatalogue(Mapping[str, Pattern], Exportable):
    """Patterns by name; upper and lower case make no difference.

    ``describe()`` lists them, ``to_html("patterns.html")`` writes a page with the trees drawn.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.patterns["similar"].parents, dm.patterns.find_children("Irrelevance")
    (('Symmetry',), ['Fully-Equal', 'Partially-Equal'])
    """

    _PAGE = "relations.patterns.page:build_page"
    _TEXT = "relations.patterns.text:format_catalogue"

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._patterns: dict[str, Pattern] = {}
        for pattern in patterns:
            if pattern.name.casefold() in {name.casefold() for name in self._patterns}:
                raise ArgumentError(f"Two patterns are called {pattern.name!r}. Give each a name of its own.")
            self._patterns[pattern.name] = pattern
        self._names = {name.casefold(): name for name in self._patterns}
        validate_hierarchy(self._patterns)

    def __getitem__(self, name: str) -> Pattern:
        full_name = self._names.get(str(name).casefold())
        if full_name is None:
            raise DataError(f"There is no pattern {name!r}. {suggest_name(name, self._patterns)}")
        return self._patterns[full_name]

    def __contains__(self, name: object) -> bool:
        return str(name).casefold() in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._patterns)

    def __len__(self) -> int:
        return len(self._patterns)

    def add(self, *patterns: Pattern) -> PatternCatalogue:
        """Return a catalogue with further patterns, such as those that the guide derives."""
        return PatternCatalogue([*self._patterns.values(), *patterns])

    @cached_property
    def roots(self) -> list[str]:
        """The patterns without a super-pattern."""
        return find_roots(self._patterns)

    def find_children(self, name: str) -> list[str]:
        """Return the direct sub-patterns of a pattern."""
        return find_children(self._patterns, self[name].name)

    def find_layers(self, root: str) -> list[list[str]]:
        """Return the patterns of a tree by layers, the root first."""
        return find_layers(self._patterns, self[root].name)

    @cached_property
    def abstraction(self) -> dict[str, float]:
        """How abstract each pattern is, from 0 to 1; see `measure_abstraction`."""
        memberships = {
            example.relation.name: {pattern.name} for pattern in self._patterns.values() for example in pattern.examples
        }
        for relation in published_relations.values():  # some of them are examples, and count once
            memberships.setdefault(relation.name, set()).update(relation.patterns)
        return measure_abstraction(self._patterns, memberships.values())

    def document(self) -> dict[str, Any]:
        """Return the catalogue as a JSON-serialisable dict."""
        return {
            "patterns": [self.describe_pattern(name) for name in self],
            "trees": {root: self.find_layers(root) for root in self.roots},
            "published": [
                {
                    "name": item.name,
                    "patterns": list(item.patterns),
                    "statement": item.statement,
                    "domain": item.domain,
                    "promise": item.promise,
                    "reference": item.reference,
                    "section": item.section,
                    "system": item.system or None,
                    "note": item.note,
                }
                for item in published_relations.values()
            ],
        }

    def describe_pattern(self, name: str) -> dict[str, Any]:
        """Return one pattern as a JSON-serialisable dict."""
        pattern = self[name]
        return {
            "name": pattern.name,
            "kind": pattern.kind,
            "scope": pattern.scope,
            "definition": pattern.definition,
            "reference": pattern.reference,
            "note": pattern.note,
            "abstraction": self.abstraction[pattern.name],
            "parents": [
                {"name": edge.parent, "inferred": edge.inferred, "source": edge.source} for edge in pattern.edges
            ],
            "children": self.find_children(pattern.name),
            "partners": list(pattern.partners),
            "parameters": {
                side: [
                    {"name": item.name, "help": item.help, "required": item.required}
                    for item in pattern.parameters(side)
                ]
                for side in SIDES
            },
            "examples": [
                {
                    "relation": example.relation.name,
                    "promise": example.relation.promise,
                    "says": example.relation.statement,
                    "system": example.system,
                    "fault": example.fault,
                }
                for example in pattern.examples
            ],
        }

    def test_cases(self) -> list[JUnitCase]:
        """Return nothing: a catalogue neither passes nor fails."""
        return []

    def __repr__(self) -> str:
        return f"PatternCatalogue({len(self)} patterns)"


PATTERNS = (
    # -- no restriction ------------------------------------------------------------------------------------------------
    Pattern(
        name="Symmetry",
        kind="MRP",
        scope=ANY_SYSTEM,
        definition="A system looks the same from several points of view: change the point of view, and the output stays the same.",
        reference=ZHOU_2020,
        inputs=inputs.Swap,
        outputs=outputs.Equal,
        partners=("Partially-Equal", "Equivalence"),
    ),
    Pattern(
        name="Noise",
        kind="MRP",
        scope=ANY_SYSTEM,
        definition="A small disturbance of the input does not change the output much.",
        reference=WU_2019,
        edges=(_infer("Symmetry", "it inspired this pattern, section 2.2.2.1 of Ying 2024"),),
        inputs=inputs.Perturb,
        outputs=outputs.NearlySame,
        partners=("Equality", "Similar"),
    ),
    Pattern(
        name="Sets",
        kind="MRP",
        scope=ANY_SYSTEM,
        definition="Inputs and outputs are sets, and set relations or set operations link them.",
        reference=YING_2024,
        inputs=inputs.ChangeSet,
        outputs=outputs.SetRelation,
        partners=("Subset", "Disjoint", "Complete"),
    ),
    Pattern(
        name="Change Direction",
        kind="MRIP",
        scope=ANY_SYSTEM,
        definition="The follow-up input reverses a direction of the source input, such as the sorting order.",
        reference=ZHOU_2020,
        edges=(_infer("Symmetry", "both come from the concept of symmetry, section 2.2.2.1 of Ying 2024"),),
        inputs=inputs.Redirect,
        outputs=outputs.Reversed,
        partners=("Equivalence", "Shuffling"),
        note="The output side, a reversed order, is the example in section 6.4.3 of Ying (2024).",
    ),
    # -- query-based systems -------------------------------------------------------------------------------------------
    Pattern(
        name="Input Equivalence",
        kind="MRP",
        scope=QUERY_BASED,
        definition="The same value written in another way gives the same output.",
        reference=SEGURA_2019,
        edges=(_infer("Symmetry", "another way of writing is another point of view"),),
        inputs=inputs.Rewrite,
        outputs=outputs.Equal,
        partners=("Equivalence",),
    ),
    Pattern(
        name="Shuffling",
        kind="MRP",
        scope=QUERY_BASED,
        definition="Another sorting rule does not change the number of items.",
        reference=SEGURA_2019,
        edges=(_infer("Change Direction", "reversing the sorting rule reverses a direction"),),
        inputs=inputs.Resort,
        outputs=outputs.SameSize,
        partners=("Equivalence", "Partially-Equal"),
        note="Section 2.2.2.1 of Ying (2024) gives it as an example of Symmetry.",
    ),
    Pattern(
        name="Conjunctive Conditions",
        kind="MRP",
        scope=QUERY_BASED,
        definition="A further condition (and) only removes items: the follow-up's items are among the source's.",
        reference=SEGURA_2019,
        edges=(_infer("Subset", "its output side is Subset"),),
        inputs=inputs.Restrict,
        outputs=outputs.Within,
        partners=("Subset", "Monotone"),
    ),
    Pattern(
        name="Disjunctive Conditions",
        kind="MRP",
        scope=QUERY_BASED,
        definition="Alternatives (or) only add items: the source's items are among the follow-up's.",
        reference=SEGURA_2019,
        edges=(_infer("Sets", "its outputs are linked by a set relation, definition 6.2 of Ying 2024"),),
        inputs=inputs.Widen,
        outputs=outputs.Covers,
        partners=("Sets", "Monotone"),
    ),
    Pattern(
        name="Disjoint Partitions",
        kind="MRP",
        scope=QUERY_BASED,
        definition="Inputs from different parts of the input domain give outputs that have no items in common.",
        reference=SEGURA_2019,
        edges=(_infer("Disjoint", "its output side is Disjoint"),),
        inputs=inputs.OtherParts,
        outputs=outputs.NoneShared,
        partners=("Disjoint",),
    ),
    Pattern(
        name="Complete Partitions",
        kind="MRP",
        scope=QUERY_BASED,
        definition="The output for every part of the input domain is contained in the output for the whole.",
        reference=SEGURA_2019,
        edges=(_infer("Conjunctive Conditions", "a part is the whole with a further condition"),),
        inputs=inputs.Partition,
        outputs=outputs.Within,
        partners=("Subset", "Complete"),
        note="Ying (2024) asks for containment only. Partition Difference asks that the parts together give the whole.",
    ),
    Pattern(
        name="Partition Difference",
        kind="MRP",
        scope=QUERY_BASED,
        definition="The outputs for the parts of the input domain share no items, and together they are the output for the whole.",
        reference=SEGURA_2019,
        edges=(
            _infer("Complete Partitions", "it asks for more: no item occurs twice, and none is lost"),
            _infer("Complete", "its output side implies Complete"),
        ),
        inputs=inputs.Partition,
        outputs=outputs.Split,
        partners=("Complete", "Disjoint"),
        note="Table 14 of Ying (2024) omits it, and lists Disjunctive Conditions twice.",
    ),
    Pattern(
        name="Query-Meaning",
        kind="MRIP",
        scope=QUERY_BASED,
        definition="The follow-up query says the same as the source query in other words.",
        reference=YING_2024,
        edges=(_state("Similar", "6.3.3"),),
        inputs=inputs.SameMeaning,
        partners=("Similar", "Equivalence"),
        note="Its three examples are the ways 'order' (QM1), 'number' (QM2) and 'linking words' (QM3).",
    ),
    Pattern(
        name="Input-Merge",
        kind="MRIP",
        scope=QUERY_BASED,
        definition="All input parameters of the follow-up together have the same meaning as those of the source.",
        reference=YING_2024,
        edges=(_state("Similar", "6.3.3"),),
        inputs=inputs.MergeInputs,
        partners=("Similar", "Equivalence"),
    ),
    # -- web APIs ------------------------------------------------------------------------------------------------------
    Pattern(
        name="Equivalence",
        kind="MROP",
        scope=WEB_API,
        definition="Both outputs have the same items, in any order.",
        reference=SEGURA_2018,
        edges=(_infer("Sets", "equality of sets is a set relation, section 6.3.1 of Ying 2024"),),
        outputs=outputs.SameItems,
        partners=("Shuffling", "Change Direction", "Input Equivalence"),
    ),
    Pattern(
        name="Equality",
        kind="MROP",
        scope=WEB_API,
        definition="Both outputs have the same items in the same order.",
        reference=SEGURA_2018,
        edges=(_infer("Equivalence", "the same order implies the same items"),),
        outputs=outputs.Equal,
        partners=("Input Equivalence", "Symmetry", "Irrelevance"),
    ),
    Pattern(
        name="Subset",
        kind="MROP",
        scope=WEB_API,
        definition="All items of the follow-up outputs are in the source output.",
        reference=SEGURA_2018,
        edges=(_infer("Sets", "containment is a set relation, section 6.3.1 of Ying 2024"),),
        outputs=outputs.Within,
        partners=("Conjunctive Conditions", "Complete Partitions"),
    ),
    Pattern(
        name="Disjoint",
        kind="MROP",
        scope=WEB_API,
        definition="No two outputs have an item in common.",
        reference=SEGURA_2018,
        edges=(_infer("Sets", "disjointness is a set relation, section 6.3.1 of Ying 2024"),),
        outputs=outputs.NoneShared,
        partners=("Disjoint Partitions",),
    ),
    Pattern(
        name="Complete",
        kind="MROP",
        scope=WEB_API,
        definition="The follow-up outputs together have the items of the source output, in any order.",
        reference=SEGURA_2018,
        edges=(_infer("Sets", "union is a set operation, section 6.3.1 of Ying 2024"),),
        outputs=outputs.Union,
        partners=("Complete Partitions", "Combination"),
    ),
    Pattern(
        name="Difference",
        kind="MROP",
        scope=WEB_API,
        definition="The outputs differ: their intersection is not their union.",
        reference=SEGURA_2018,
        edges=(_infer("Sets", "the symmetric difference is a set operation, section 6.3.1 of Ying 2024"),),
        outputs=outputs.Different,
        partners=("Subtraction", "Substitution"),
    ),
    # -- big-data systems ----------------------------------------------------------------------------------------------
    Pattern(
        name="Similar",
        kind="MRP",
        scope=BIG_DATA,
        definition="Similar inputs give similar outputs.",
        reference=YING_2024,
        edges=(_state("Symmetry", "6.3.2"),),
        inputs=inputs.Vary,
        outputs=outputs.Alike,
        partners=("Query-Meaning", "Input-Merge", "Substitution"),
    ),
    Pattern(
        name="Irrelevance",
        kind="MRP",
        scope=BIG_DATA,
        definition="Inputs that differ only in irrelevant conditions give (nearly) identical outputs.",
        reference=YING_2024,
        edges=(_state("Symmetry", "6.3.5"),),
        inputs=inputs.Condition,
        outputs=outputs.Equal,
        partners=("Fully-Equal", "Partially-Equal"),
    ),
    Pattern(
        name="Fully-Equal",
        kind="MROP",
        scope=BIG_DATA,
        definition="Every part of the follow-up output is identical to the same part of the source output.",
        reference=YING_2024,
        edges=(_state("Irrelevance", "6.3.6"),),
        outputs=outputs.FullyEqual,
        partners=("Irrelevance",),
    ),
    Pattern(
        name="Partially-Equal",
        kind="MROP",
        scope=BIG_DATA,
        definition="Some parts of the follow-up output are identical to the same parts of the source output.",
        reference=YING_2024,
        edges=(_state("Irrelevance", "6.3.6"),),
        outputs=outputs.PartlyEqual,
        partners=("Irrelevance", "Shuffling", "Change Direction"),
    ),
    # -- translation ---------------------------------------------------------------------------------------------------
    Pattern(
        name="Addition",
        kind="MRIP",
        scope=TRANSLATION,
        definition="The follow-up input has one more element: a word, a phrase or a punctuation mark.",
        reference=YING_2024,
        edges=(_state("Sets", "6.3.4"), _state("Similar", "6.3.4")),
        inputs=inputs.AddElement,
        partners=("Similar", "Equality"),
    ),
    Pattern(
        name="Subtraction",
        kind="MRIP",
        scope=TRANSLATION,
        definition="The follow-up input has one element fewer.",
        reference=YING_2024,
        edges=(_state("Sets", "6.3.4"), _state("Similar", "6.3.4")),
        inputs=inputs.RemoveElement,
        partners=("Similar", "Difference"),
    ),
    Pattern(
        name="Substitution",
        kind="MRIP",
        scope=TRANSLATION,
        definition="The inputs have the same length and differ in one element.",
        reference=YING_2024,
        edges=(_state("Sets", "6.3.4"), _state("Similar", "6.3.4")),
        inputs=inputs.ReplaceElement,
        partners=("Similar", "Difference"),
    ),
    Pattern(
        name="Combination",
        kind="MRIP",
        scope=TRANSLATION,
        definition="Several follow-up inputs, one after the other, have the elements of the source input in the same order.",
        reference=YING_2024,
        edges=(_state("Sets", "6.3.4"), _state("Similar", "6.3.4")),
        inputs=inputs.SplitText,
        outputs=outputs.Joined,
        partners=("Complete", "Similar"),
        note="The output side joins the answers to the parts. Section 6.3.4 of Ying (2024) leaves the output open.",
    ),
    Pattern(
        name="Round Trip",
        kind="MRP",
        scope=TRANSLATION,
        definition="A translation that is translated back is the original text, or similar to it.",
        reference="unknown; common practice in machine translation",
        edges=(_infer("Inverse", "the way back undoes the way there, up to similarity"),),
        inputs=inputs.FeedBack,
        outputs=outputs.Returned,
    ),
    # -- numbers and tables --------------------------------------------------------------------------------------------
    Pattern(
        name="Permutation",
        kind="MRP",
        scope=NUMBERS,
        definition="Inputs in another order give the same output.",
        reference=MURPHY_2008,
        edges=(_infer("Symmetry", "another order is another point of view"),),
        inputs=inputs.Permute,
        outputs=outputs.Equal,
        partners=("Equality",),
    ),
    Pattern(
        name="Affine",
        kind="MRP",
        scope=NUMBERS,
        definition="If each number x of the input becomes a x + b, the output changes by a known affine function.",
        reference=MURPHY_2008,
        inputs=inputs.AffineChange,
        outputs=outputs.AffineAnswer,
        partners=("Equality", "Monotone"),
    ),
    Pattern(
        name="Additive",
        kind="MRP",
        scope=NUMBERS,
        definition="Adding a number to the input adds a known number to the output, possibly 0.",
        reference=MURPHY_2008,
        edges=(_infer("Affine", "an affine function with factor 1"),),
        inputs=inputs.Add,
        outputs=outputs.AddedAnswer,
        partners=("Equality",),
    ),
    Pattern(
        name="Multiplicative",
        kind="MRP",
        scope=NUMBERS,
        definition="Multiplying the input multiplies the output by a known number, possibly 1.",
        reference=MURPHY_2008,
        edges=(_infer("Affine", "an affine function with amount 0"),),
        inputs=inputs.Multiply,
        outputs=outputs.MultipliedAnswer,
        partners=("Equality",),
    ),
    Pattern(
        name="Monotone",
        kind="MRP",
        scope=NUMBERS,
        definition="A larger input never gives a smaller output or, for a decreasing function, never a larger one.",
        reference=YING_2024,
        inputs=inputs.Increase,
        outputs=outputs.Ordered,
        partners=("Conjunctive Conditions",),
        note="The example in section 2.2.2 of Ying (2024), which leaves open how the input grows. credit.HMR1 to HMR5 are its relations.",
    ),
    Pattern(
        name="Symmetric",
        kind="MRP",
        scope=NUMBERS,
        definition="The negated input gives the same output (an even function) or the negated output (an odd function).",
        reference=MURPHY_2008,
        edges=(
            _infer("Symmetry", "a mirrored input is another point of view"),
            _infer("Multiplicative", "a factor of -1"),
        ),
        inputs=inputs.Negate,
        outputs=outputs.EvenOrOdd,
        partners=("Equality",),
    ),
    Pattern(
        name="Inverse",
        kind="MRP",
        scope=NUMBERS,
        definition="The inverse, applied to the output, returns the input.",
        reference=MURPHY_2008,
        edges=(_infer("Symmetry", "there and back, the system looks the same"),),
        inputs=inputs.Invert,
        outputs=outputs.InverseReturned,
    ),
)

#: the patterns by name
patterns = PatternCatalogue(replace(pattern, examples=EXAMPLES[pattern.name]) for pattern in PATTERNS)
