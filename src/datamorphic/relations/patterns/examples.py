"""At least one relation per pattern that runs on an example system, which keeps it, and on one of its faults, which breaks it."""

from __future__ import annotations

import math

from . import inputs, outputs
from .pattern import PatternExample
from .relation import InputPattern, OutputPattern, Promise

SEARCH, TRANSLATOR, ROUTES, CONVERTER = "product search", "translator", "route finder", "temperature converter"
BRANDS = ("Acme", "Bolt", "Crest")
PRICE_ORDERS = {"price up": "price down"}

#: the domain of a system in the words of a relation
DOMAINS = {
    SEARCH: "product searches",
    TRANSLATOR: "machine translation",
    ROUTES: "maps and routes",
    CONVERTER: "conversions of units",
}


def _build(
    name: str, change: InputPattern, expectation: OutputPattern, system: str, fault: str, promise: Promise = "MR"
) -> PatternExample:
    relation = (change >> expectation).named(name, promise=promise, domain=DOMAINS.get(system, "numeric programs"))
    return PatternExample(relation=relation, system=system, fault=fault)


_BRAND_PARTS = inputs.Partition(column="brand", values=BRANDS)
_COORDINATES = {"Aldby": "0;0", "Brook": "4;1", "Caster": "7;5", "Dunham": "2;6", "Ely": "9;1", "Ford": "5;8"}
_LANGUAGES = {"en-es": "es-en"}

#: the examples of each pattern
EXAMPLES: dict[str, tuple[PatternExample, ...]] = {
    "Symmetry": (
        _build(
            "routes.symmetry",
            inputs.Swap(columns=("start", "goal")),
            outputs.PartlyEqual(parts=("km",)),
            ROUTES,
            "one-way roads",
        ),
    ),
    "Noise": (
        _build(
            "search.noise",
            inputs.Perturb(columns=("query",)),
            outputs.NearlySame(),
            SEARCH,
            "letter case matters",
            "MRR",
        ),
    ),
    "Sets": (
        _build(
            "search.more colours",
            inputs.ChangeSet(column="colours", elements=("black",)),
            outputs.SetRelation(relation="superset"),
            SEARCH,
            "last colour only",
        ),
    ),
    "Change Direction": (
        _build(
            "search.reversed order",
            inputs.Redirect(column="sort", directions=PRICE_ORDERS),
            outputs.Reversed(),
            SEARCH,
            "sorts upwards only",
        ),
    ),
    "Input Equivalence": (
        _build(
            "search.price in cent",
            inputs.Rewrite(column="max_price", forms={"60 EUR": "6000 cent"}),
            outputs.Equal(),
            SEARCH,
            "cents are euros",
        ),
    ),
    "Shuffling": (
        _build(
            "search.number of hits",
            inputs.Resort(column="sort", directions=PRICE_ORDERS),
            outputs.SameSize(),
            SEARCH,
            "long lists are cut",
        ),
    ),
    "Conjunctive Conditions": (
        _build(
            "search.with a brand",
            inputs.Restrict(column="brand", values=("Acme",)),
            outputs.Within(),
            SEARCH,
            "filters ignore the query",
        ),
    ),
    "Disjunctive Conditions": (
        _build(
            "search.or hats",
            inputs.Widen(column="query", alternatives=("hats",)),
            outputs.Covers(),
            SEARCH,
            "or means and",
        ),
    ),
    "Disjoint Partitions": (
        _build(
            "search.other brands",
            inputs.OtherParts(column="brand", values=BRANDS),
            outputs.NoneShared(),
            SEARCH,
            "advertises",
        ),
    ),
    "Complete Partitions": (
        _build("search.each brand", _BRAND_PARTS, outputs.Within(), SEARCH, "filters ignore the query"),
    ),
    "Partition Difference": (_build("search.all brands", _BRAND_PARTS, outputs.Split(), SEARCH, "filters lose items"),),
    "Query-Meaning": (
        _build(
            "search.QM1", inputs.SameMeaning(column="query"), outputs.SameItems(), SEARCH, "word order matters", "HMR"
        ),
        _build(
            "search.QM2",
            inputs.SameMeaning(column="query", way="number"),
            outputs.SameItems(),
            SEARCH,
            "knows no plurals",
            "HMR",
        ),
        _build(
            "search.QM3",
            inputs.SameMeaning(column="query", way="linking words"),
            outputs.SameItems(),
            SEARCH,
            "linking words count",
            "HMR",
        ),
    ),
    "Input-Merge": (
        _build(
            "search.department as a filter",
            inputs.MergeInputs(text="query", filter="department", words={"men": "men", "women": "women"}),
            outputs.Alike(),
            SEARCH,
            "departments are no words",
            "HMR",
        ),
    ),
    "Equivalence": (
        _build(
            "search.same hits",
            inputs.Resort(column="sort", directions=PRICE_ORDERS),
            outputs.SameItems(),
            SEARCH,
            "long lists are cut",
        ),
    ),
    "Equality": (
        _build(
            "search.in capitals",
            inputs.Rewrite(column="query", forms={"men": "MEN", "women": "WOMEN"}),
            outputs.Equal(),
            SEARCH,
            "letter case matters",
        ),
    ),
    "Subset": (
        _build(
            "search.with a department",
            inputs.Restrict(column="department", values=("men", "women")),
            outputs.Within(),
            SEARCH,
            "filters ignore the query",
        ),
    ),
    "Disjoint": (
        _build(
            "search.men or women",
            inputs.Partition(column="department", values=("men", "women")),
            outputs.NoneShared(among="follow-ups"),
            SEARCH,
            "shows all departments",
        ),
    ),
    "Complete": (
        _build(
            "search.men and women",
            inputs.Partition(column="department", values=("men", "women")),
            outputs.Union(),
            SEARCH,
            "filters lose items",
        ),
    ),
    "Difference": (
        _build(
            "translation.MRR8",
            inputs.RemoveElement(column="text", elements=("drinks", "likes", "sees", "eats", "helps")),
            outputs.Different(),
            TRANSLATOR,
            "skips verbs",
            "MRR",
        ),
    ),
    "Similar": (
        _build(
            "routes.HMR4",
            inputs.Rewrite(column="start", forms=_COORDINATES),
            outputs.Alike(at_least=0.9),
            ROUTES,
            "swaps coordinates",
            "HMR",
        ),
    ),
    "Irrelevance": (
        _build("translation.MR3", inputs.Condition(times=2), outputs.Equal(), TRANSLATOR, "unstable"),
        _build(
            "routes.at night",
            inputs.Condition(column="time", values=("morning", "night")),
            outputs.Equal(),
            ROUTES,
            "closes at night",
            "HMR",
        ),
    ),
    "Fully-Equal": (
        _build(
            "search.on a phone",
            inputs.Condition(column="device", values=("phone",)),
            outputs.FullyEqual(),
            SEARCH,
            "phones see less",
        ),
    ),
    "Partially-Equal": (
        _build(
            "search.MR1",
            inputs.Condition(column="sort", values=("name", "price down")),
            outputs.PartlyEqual(parts=("size", "items")),
            SEARCH,
            "long lists are cut",
        ),
        _build(
            "routes.in the app",
            inputs.Condition(column="client", values=("app",)),
            outputs.PartlyEqual(parts=("km", "path")),
            ROUTES,
            "the app rounds",
        ),
    ),
    "Addition": (
        _build(
            "translation.MRR1",
            inputs.AddElement(column="text", element=" ", place="final mark"),
            outputs.Alike(at_least=0.9),
            TRANSLATOR,
            "a space confuses it",
            "MRR",
        ),
        _build(
            "translation.MRR5",
            inputs.AddElement(column="text", element=".", place="inner mark"),
            outputs.Alike(at_least=0.9),
            TRANSLATOR,
            "double marks confuse it",
            "MRR",
        ),
    ),
    "Subtraction": (
        _build(
            "translation.MRR2",
            inputs.RemoveElement(column="text", elements=(" ",), after="."),
            outputs.Alike(at_least=0.9),
            TRANSLATOR,
            "needs spaces",
            "MRR",
        ),
    ),
    "Substitution": (
        _build(
            "translation.HMR5",
            inputs.ReplaceElement(column="text", forms={"United Nations": "UN"}),
            outputs.Alike(at_least=0.9),
            TRANSLATOR,
            "knows no abbreviations",
            "HMR",
        ),
        _build(
            "translation.MRR7",
            inputs.ReplaceElement(column="text", forms={"The": "the", "Mary": "mary", "John": "john", "A": "a"}),
            outputs.Alike(at_least=0.9),
            TRANSLATOR,
            "small letters confuse it",
            "MRR",
        ),
    ),
    "Combination": (
        _build(
            "translation.sentence by sentence",
            inputs.SplitText(column="text"),
            outputs.Joined(),
            TRANSLATOR,
            "forgets sentences",
        ),
    ),
    "Round Trip": (
        _build(
            "translation.there and back",
            inputs.FeedBack(column="text", direction="languages", directions=_LANGUAGES),
            outputs.Returned(column="text", at_least=0.9),
            TRANSLATOR,
            "no way back",
            "HMR",
        ),
    ),
    "Permutation": (
        _build("triangle.MR1", inputs.Permute(columns=("a", "b", "c")), outputs.Equal(), "TriSquare", "m5"),
    ),
    "Affine": (
        _build(
            "sine.MR2",
            inputs.AffineChange(columns=("x",), factor=-1, amount=math.pi),
            outputs.AffineAnswer(tolerance=1e-9),
            "Sin",
            "m1",
        ),
        _build(
            "conversion.MR1",
            inputs.AffineChange(columns=("degrees",), factor=2, amount=10).where(way="C to F"),
            outputs.AffineAnswer(factor=2, amount=-14),
            CONVERTER,
            "wrong factor",
        ),
    ),
    "Additive": (
        _build(
            "sine.MR3", inputs.Add(columns=("x",), amount=2 * math.pi), outputs.AddedAnswer(tolerance=1e-9), "Sin", "m1"
        ),
    ),
    "Multiplicative": (
        _build(
            "triangle.MR5",
            inputs.Multiply(columns=("a", "b", "c"), factor=2),
            outputs.MultipliedAnswer(factor=4),
            "TriSquare",
            "m9",
        ),
    ),
    "Monotone": (
        _build("erf.MR2", inputs.Increase(columns=("x",), amount=1.0), outputs.Ordered(), "Erf", "m6"),
        _build(
            "conversion.MR2",
            inputs.Increase(columns=("degrees",), amount=0.5),
            outputs.Ordered(strict=True),
            CONVERTER,
            "freezes",
        ),
    ),
    "Symmetric": (_build("tanh.MR1", inputs.Negate(columns=("x",)), outputs.EvenOrOdd(odd=True), "tanh", "emu10"),),
    "Inverse": (
        _build(
            "conversion.there and back",
            inputs.Invert(column="degrees", direction="way", directions={"C to F": "F to C"}),
            outputs.InverseReturned(column="degrees"),
            CONVERTER,
            "wrong way back",
        ),
    ),
}
