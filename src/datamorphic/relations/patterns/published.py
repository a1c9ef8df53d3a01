"""Published relations and the patterns they follow from.

Ying (2024) classifies relations of other authors by pattern in section 6.3.8, gives three examples of Query-Meaning in section
6.3.3, and uses sixteen relations of his own in the case studies of chapter 6. Those that one of the example systems can run
have a relation here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from . import inputs, outputs
from .examples import DOMAINS, EXAMPLES, ROUTES, SEARCH, TRANSLATOR
from .relation import InputPattern, OutputPattern, PatternRelation, Promise


@dataclass(frozen=True, kw_only=True)
class PublishedRelation:
    """A relation from the literature, and the patterns that it follows from."""

    name: str  # with a namespace
    printed_name: str
    statement: str  # in our words
    domain: str
    patterns: tuple[str, ...]  # the most concrete ones
    reference: str
    section: str  # of Ying (2024), where it is classified
    promise: Promise = "MR"
    relation: PatternRelation | None = None  # to run on an example system
    system: str = ""  # the name of that system
    note: str = ""  # such as a misprint


def _run(change: InputPattern, expectation: OutputPattern, name: str, promise: Promise, system: str) -> PatternRelation:
    return (change >> expectation).named(name, promise=promise, domain=DOMAINS[system])


def _find_example(name: str) -> tuple[PatternRelation, str]:
    """Return an example of the catalogue by its name, with its system."""
    return next(
        (example.relation, example.system)
        for examples in EXAMPLES.values()
        for example in examples
        if example.relation.name == name
    )


_SWAPPED_WORDS = inputs.Rewrite(column="query", forms={"red sweaters": "sweaters red", "blue hats": "hats blue"})
_SHUFFLED_WORDS = inputs.Rewrite(
    column="query", forms={"shoes for men": "men shoes for", "sweaters for women": "women for sweaters"}
)
_REVERSED_WORDS = inputs.Rewrite(
    column="query", forms={"shoes for men": "men for shoes", "sweaters for women": "women for sweaters"}
)
_NEARBY = {
    "Aldby": "0.2;0.1",
    "Brook": "4.1;0.8",
    "Caster": "6.9;5.2",
    "Dunham": "2.2;6",
    "Ely": "9;1.3",
    "Ford": "5;7.9",
}
_WORDS = {"The": "the", " a ": " A ", "cat": "CAT", "bread": "Bread", "water": "Water"}


def _build_others() -> list[PublishedRelation]:
    """Return the relations of other authors that section 6.3.8 classifies."""
    search, routes, translation = DOMAINS[SEARCH], DOMAINS[ROUTES], DOMAINS[TRANSLATOR]
    return [
        PublishedRelation(
            name="search.MPReverseJD",
            printed_name="MR_MPReverseJD",
            statement="the words of a query in reverse order: the result does not change much",
            domain=search,
            patterns=("Similar",),
            reference="Zhou et al. 2016",
            section="6.3.8",
            relation=_run(_REVERSED_WORDS, outputs.Alike(), "search.MPReverseJD", "MR", SEARCH),
            system=SEARCH,
            note="Signorini & Imielinski 2009 compare semantic search engines by queries of the same meaning.",
        ),
        PublishedRelation(
            name="search.SwapJD",
            printed_name="MR_SwapJD",
            statement="the two words of a query exchanged, with the same meaning: the result does not change much",
            domain=search,
            patterns=("Query-Meaning",),
            reference="Zhou et al. 2016",
            section="6.3.8",
            relation=_run(_SWAPPED_WORDS, outputs.Alike(), "search.SwapJD", "MR", SEARCH),
            system=SEARCH,
            note="Similarity was measured by the Jaccard index, as in the output pattern Similar.",
        ),
        PublishedRelation(
            name="search.MPShuffleJD",
            printed_name="MR_MPShuffleJD",
            statement="the words of a query in another order: the ranking of an academic search does not change much",
            domain=search,
            patterns=("Similar",),
            reference="Andrade et al. 2019",
            section="6.3.8",
            relation=_run(_SHUFFLED_WORDS, outputs.Alike(), "search.MPShuffleJD", "MR", SEARCH),
            system=SEARCH,
        ),
        PublishedRelation(
            name="routes.Similar",
            printed_name="MR_Similar",
            statement="an end of the route moved a little: the route does not change much",
            domain=routes,
            patterns=("Similar",),
            reference="Brown et al. 2018, 2019",
            section="6.3.8",
            relation=_run(
                inputs.Rewrite(column="start", forms=_NEARBY),
                outputs.Alike(at_least=0.9),
                "routes.Similar",
                "MR",
                ROUTES,
            ),
            system=ROUTES,
        ),
        PublishedRelation(
            name="translation.case",
            printed_name="MR_case",
            statement="a letter in the wrong case: the translation does not change much",
            domain=translation,
            patterns=("Substitution",),
            reference="Lee et al. 2020",
            section="6.3.8",
            promise="MRR",
            relation=_run(
                inputs.ReplaceElement(column="text", forms=_WORDS),
                outputs.Alike(at_least=0.9),
                "translation.case",
                "MRR",
                TRANSLATOR,
            ),
            system=TRANSLATOR,
        ),
        PublishedRelation(
            name="citations.Similar",
            printed_name="MR_Similar",
            statement="two large sets of publications that differ a little: nearly the same average number of citations",
            domain="citation databases",
            patterns=("Similar",),
            reference="Zhou et al. 2021",
            section="6.3.8",
            promise="MRR",
            note="Printed with the same name as the relation of maps.",
        ),
        PublishedRelation(
            name="translation.structure",
            printed_name="",
            statement="one word replaced by another of the same kind: a translation of similar structure",
            domain=translation,
            patterns=("Substitution",),
            reference="He et al. 2020",
            section="6.3.8",
            promise="MRR",
            relation=_run(
                inputs.ReplaceElement(column="text", forms={"cat": "dog", "water": "milk", "bread": "milk"}),
                outputs.Alike(at_least=0.4),
                "translation.structure",
                "MRR",
                TRANSLATOR,
            ),
            system=TRANSLATOR,
            note="The structure was compared by raw target sentences, constituency trees and dependency trees. Here: by words.",
        ),
        PublishedRelation(
            name="routes.Environment",
            printed_name="MR_Environment",
            statement="the same route from another client: a similar answer",
            domain=routes,
            patterns=("Irrelevance",),
            reference="Brown et al. 2018",
            section="6.3.8",
            relation=_run(
                inputs.Condition(column="client", values=("app",)),
                outputs.Alike(at_least=0.99),
                "routes.Environment",
                "MR",
                ROUTES,
            ),
            system=ROUTES,
        ),
        PublishedRelation(
            name="routes.TrimOff",
            printed_name="MR_TrimOff",
            statement="irrelevant conditions changed: time and distance of the route stay about the same",
            domain=routes,
            patterns=("Partially-Equal",),
            reference="Brown et al. 2019",
            section="6.3.8",
            relation=_run(
                inputs.Condition(column="time", values=("night",)),
                outputs.PartlyEqual(parts=("km",)),
                "routes.TrimOff",
                "MR",
                ROUTES,
            ),
            system=ROUTES,
        ),
    ]


#: the relations of chapter 6: name, patterns, section, promise, statement, example of the catalogue that runs it, note
_CHAPTER: tuple[tuple[str, tuple[str, ...], str, Promise, str, str, str], ...] = (
    (
        "search.QM1",
        ("Query-Meaning",),
        "6.3.3",
        "HMR",
        "words of a query in another order, with the same meaning: the same or similar items",
        "search.QM1",
        "",
    ),
    (
        "search.QM2",
        ("Query-Meaning",),
        "6.3.3",
        "HMR",
        "singular instead of plural: the same or similar items",
        "search.QM2",
        "",
    ),
    (
        "search.QM3",
        ("Query-Meaning",),
        "6.3.3",
        "HMR",
        "a query without its linking word: the same or similar items",
        "search.QM3",
        "Called a conjunction in print; the example is a preposition.",
    ),
    (
        "search.MR1",
        ("Partially-Equal",),
        "6.5.2",
        "MR",
        "another sorting rule: the same number of items",
        "search.MR1",
        "On real engines: dm.search_relations().",
    ),
    (
        "search.HMR1",
        ("Complete Partitions",),
        "6.5.2",
        "HMR",
        "a filter is set: no more items",
        "search.HMR1",
        "Printed reversed: the filtered search is said to have at least as many items. The example has it the right way. "
        "On real engines: dm.search_relations().",
    ),
    (
        "search.HMR2",
        ("Query-Meaning",),
        "6.5.2",
        "HMR",
        "a query with the same meaning in other words: the same number of items",
        "search.HMR2",
        "On real engines: dm.search_relations().",
    ),
    (
        "search.HMR3",
        ("Input-Merge",),
        "6.5.2",
        "HMR",
        "a word of the query as a filter: the same or a similar number of items",
        "search.HMR3",
        "On real engines: dm.search_relations().",
    ),
    ("routes.MR2", ("Irrelevance",), "6.6.2", "MR", "the same route again at once: the same answer", "routes.MR2", ""),
    (
        "routes.HMR4",
        ("Similar",),
        "6.6.2",
        "HMR",
        "places by coordinates instead of names: the same or a similar route",
        "routes.HMR4",
        "",
    ),
    (
        "translation.MR3",
        ("Fully-Equal",),
        "6.7.2",
        "MR",
        "the same text again: the same translation",
        "translation.MR3",
        "",
    ),
    (
        "translation.HMR5",
        ("Substitution",),
        "6.7.2",
        "HMR",
        "a phrase by its known abbreviation: the same or a similar translation",
        "translation.HMR5",
        "",
    ),
    (
        "translation.MRR1",
        ("Addition",),
        "6.7.2",
        "MRR",
        "a space before the final mark: the same or a similar translation",
        "translation.MRR1",
        "",
    ),
    (
        "translation.MRR2",
        ("Subtraction",),
        "6.7.2",
        "MRR",
        "no space between two sentences: the same or a similar translation",
        "translation.MRR2",
        "",
    ),
    (
        "translation.MRR3",
        ("Substitution",),
        "6.7.2",
        "MRR",
        "a plural without its s: the same or a similar translation",
        "",
        "",
    ),
    (
        "translation.MRR4",
        ("Subtraction",),
        "6.7.2",
        "MRR",
        "no mark between two sentences: the same or a similar translation",
        "translation.MRR4",
        "Printed as Substitution; an element is removed, so it is Subtraction.",
    ),
    (
        "translation.MRR5",
        ("Addition",),
        "6.7.2",
        "MRR",
        "the mark between two sentences doubled: the same or a similar translation",
        "translation.MRR5",
        "",
    ),
    (
        "translation.MRR6",
        ("Substitution",),
        "6.7.2",
        "MRR",
        "a comma instead of the mark between two sentences: the same or a similar translation",
        "translation.MRR6",
        "",
    ),
    (
        "translation.MRR7",
        ("Substitution",),
        "6.7.2",
        "MRR",
        "a small letter at the start of a sentence: the same or a similar translation",
        "translation.MRR7",
        "",
    ),
    (
        "translation.MRR8",
        ("Subtraction", "Difference"),
        "6.7.2",
        "MRR",
        "a sentence without its verb: another translation",
        "translation.MRR8",
        "",
    ),
)


def _build_own_runs() -> dict[str, tuple[PatternRelation, str]]:
    """Return relations of chapter 6 that are no examples of the catalogue, with their systems."""
    brands = inputs.Partition(column="brand", values=("Acme", "Bolt", "Crest"))
    merge = inputs.MergeInputs(text="query", filter="department", words={"men": "men", "women": "women"})
    similar = outputs.Alike(at_least=0.4)  # the words next to a mark that is missing differ, too
    own: list[tuple[str, InputPattern, OutputPattern, Promise, str]] = [
        ("search.HMR1", brands, outputs.Ordered(direction="down"), "HMR", SEARCH),
        ("search.HMR2", inputs.SameMeaning(column="query"), outputs.SameSize(), "HMR", SEARCH),
        ("search.HMR3", merge, outputs.PartlyEqual(parts=("size",)), "HMR", SEARCH),
        ("routes.MR2", inputs.Condition(), outputs.Equal(), "MR", ROUTES),
        (
            "translation.MRR4",
            inputs.RemoveElement(column="text", elements=(".",), before=" "),
            similar,
            "MRR",
            TRANSLATOR,
        ),
        ("translation.MRR6", inputs.ReplaceElement(column="text", forms={". ": ", "}), similar, "MRR", TRANSLATOR),
    ]
    return {
        name: (_run(change, output, name, promise, system), system) for name, change, output, promise, system in own
    }


def _build_chapter() -> list[PublishedRelation]:
    """Return the relations of chapter 6 itself."""
    own_runs = _build_own_runs()
    relations = []
    for name, patterns, section, promise, statement, run, note in _CHAPTER:
        relation, system = own_runs[run] if run in own_runs else _find_example(run) if run else (None, "")
        namespace = name.partition(".")[0]
        domain = {"search": DOMAINS[SEARCH], "routes": DOMAINS[ROUTES], "translation": DOMAINS[TRANSLATOR]}[namespace]
        relations.append(
            PublishedRelation(
                name=name,
                printed_name=name.partition(".")[2],
                statement=statement,
                domain=domain,
                patterns=patterns,
                reference="Ying 2024",
                section=section,
                promise=promise,
                relation=relation,
                system=system,
                note=note,
            )
        )
    return relations


#: the published relations by name
published_relations: Mapping[str, PublishedRelation] = {
    relation.name: relation for relation in [*_build_others(), *_build_chapter()]
}
