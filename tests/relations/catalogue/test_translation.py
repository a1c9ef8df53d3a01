"""Relations of machine translation on translators with planted faults; the real one is in tests/integration/test_apertium.py."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.relations.catalogue.translation import (
    DifferentWords,
    ReturnedWords,
    SameWords,
    find_violation_type,
    list_words,
    mark_difference,
)
from datamorphic.relations.check.result import RelationResult
from support.cases import in_one_test

TEXTS = [
    "Mary likes apples. John sees dogs.",
    "The cat drinks milk. Please come as soon as possible.",
    "Mister Smith reads books. He has two houses.",
]
FRAME = pd.DataFrame({"text": TEXTS, "direction": "eng-spa"})
NAMES = [f"translation.{name}" for name in ("MR3", "HMR5", *(f"MRR{number}" for number in range(1, 9)), "round trip")]
PATTERNS = {
    "translation.MR3": ("Irrelevance", "Fully-Equal"),
    "translation.HMR5": ("Substitution", "Similar"),
    "translation.MRR1": ("Addition", "Similar"),
    "translation.MRR2": ("Subtraction", "Similar"),
    "translation.MRR3": ("Substitution", "Similar"),
    "translation.MRR4": ("Subtraction", "Similar"),
    "translation.MRR5": ("Addition", "Similar"),
    "translation.MRR6": ("Substitution", "Similar"),
    "translation.MRR7": ("Substitution", "Similar"),
    "translation.MRR8": ("Subtraction", "Difference"),
    "translation.round trip": ("Round Trip", "Round Trip"),
}


def translate(text: str) -> str:
    """A translator without faults: every English word has one word of the other language."""
    words = text.replace("ASAP", "as soon as possible").replace("Mr.", "Mister")
    return re.sub(r"[A-Za-z]+", lambda match: "x" + match[0].lower(), words)


def build_translator(
    fault: Callable[[str, str], str] = lambda text, answer: answer,
) -> Callable[[pd.DataFrame], list[str]]:
    def answer(frame: pd.DataFrame) -> list[str]:
        back = frame["direction"] == "spa-eng"
        rows = zip(frame["text"], back, strict=True)
        return [fault(text, re.sub(r"\bx", "", text) if way_back else translate(text)) for text, way_back in rows]

    return answer


def check(model: Callable[[pd.DataFrame], list[str]], *names: str) -> dict[str, RelationResult]:
    relations = dm.relations.translation_relations()
    chosen = [relations[name] for name in names] if names else list(relations.values())
    report = dm.check(model, FRAME, chosen, seed=0)
    return {entry.relation: entry for entry in report.entries}


def test_relations_are_those_of_the_thesis_with_their_patterns() -> None:
    relations = dm.relations.translation_relations()
    assert list(relations) == NAMES
    assert {name: (relation.input.pattern, relation.output.pattern) for name, relation in relations.items()} == PATTERNS
    promises = {name: relation.promise for name, relation in relations.items()}
    assert promises["translation.MR3"] == "MR"
    assert promises["translation.HMR5"] == "HMR"
    assert {promises[f"translation.MRR{number}"] for number in range(1, 9)} == {"MRR"}


def test_follow_ups_are_those_of_the_thesis() -> None:
    relations = dm.relations.translation_relations()
    expected = {
        "translation.HMR5": "The cat drinks milk. Please come ASAP.",
        "translation.MRR1": "The cat drinks milk. Please come as soon as possible .",
        "translation.MRR2": "The cat drinks milk.Please come as soon as possible.",
        "translation.MRR4": "The cat drinks milk Please come as soon as possible.",
        "translation.MRR5": "The cat drinks milk.. Please come as soon as possible.",
        "translation.MRR6": "The cat drinks milk, Please come as soon as possible.",
        "translation.MRR7": "the cat drinks milk. Please come as soon as possible.",
        "translation.MRR8": "The cat milk. Please come as soon as possible.",
    }
    for name, text in expected.items():
        assert relations[name].input.follow_ups(FRAME)[0]["text"][1] == text, name
    assert relations["translation.MRR3"].input.follow_ups(FRAME)[0]["text"][0] == "Mary likes apple. John sees dogs."
    assert relations["translation.HMR5"].input.follow_ups(FRAME)[0]["text"][2].startswith("Mr. Smith")


def test_a_translator_without_faults_violates_nothing() -> None:
    for name, entry in check(build_translator()).items():
        assert entry.judged > 0, name
        assert entry.violated == 0, name


@in_one_test(
    ("name", "fault", "kind"),
    [
        (
            "translation.HMR5",
            lambda text, answer: answer.replace("xmister", "*Mister") if "Mister" in text else answer,
            "A",
        ),
        ("translation.MRR1", lambda text, answer: text if " ." in text else answer, "A"),
        ("translation.MRR2", lambda text, answer: answer.split(".")[0] if ".P" in text else answer, "A"),
        (
            "translation.MRR3",
            lambda text, answer: answer.replace("xmary", "xjane") if "apple." in text else answer,
            "B",
        ),
        ("translation.MRR4", lambda text, answer: answer if ". " in text else " ".join(reversed(answer.split())), "B"),
        ("translation.MRR5", lambda text, answer: f"{answer} {answer}" if ".." in text else answer, "C"),
        ("translation.MRR6", lambda text, answer: answer + " xmore xwords" if "," in text else answer, "C"),
        ("translation.MRR7", lambda text, answer: "*mary" + answer[5:] if text.startswith("mary") else answer, "A"),
        ("translation.MRR8", lambda text, answer: "xsame xanswer", "C"),
        (
            "translation.round trip",
            lambda text, answer: re.sub("(x?)(milk|mary|smith|please|john|house)", r"\1z", answer),
            "B",
        ),
    ],
)
def test_planted_faults_have_their_type(name: str, fault: Callable[[str, str], str], kind: str) -> None:
    entry = check(build_translator(fault), name)[name]
    assert entry.violated > 0
    assert set(entry.types) == {kind}
    assert sum(entry.types.values()) == entry.violated


def test_an_unstable_translator_violates_mr3() -> None:
    answers = iter(range(10_000))
    entry = check(build_translator(lambda text, answer: f"{answer} {next(answers)}"), "translation.MR3")[
        "translation.MR3"
    ]
    assert entry.fault
    assert entry.violated == len(FRAME)


def test_the_report_shows_types_and_marks_the_difference() -> None:
    model = build_translator(lambda text, answer: "*mary" + answer[5:] if text.startswith("mary") else answer)
    relation = dm.relations.translation_relations()["translation.MRR7"]
    report = dm.check(model, FRAME, [relation], seed=0)
    text, page, document = report.describe(), report.to_html(), report.document()
    assert "1 (A 1)" in text
    assert "Types of violations." in text
    assert "differs  [-xmary-] {+*mary+} xlikes xapples. xjohn xsees xdogs." in text
    assert "1 (A 1)" in page
    assert "part of one of the two texts is not translated" in page
    assert "<del>xmary</del> <ins>*mary</ins>" in page
    assert document["relations"][0]["types"] == {"A": 1}
    assert document["examples"]["translation.MRR7"]["type"].startswith("A: ")
    assert report.shrunk(0).remarks[1] == ("differs", "[-xmary-] {+*mary+} xlikes xapples. xjohn xsees xdogs.")


def test_words() -> None:
    assert list_words("  ¿Qué? *Mary's #muro, 3") == ["qué", "*mary's", "#muro", "3"]
    for plural, singular in [
        ("los papeles", "el papel"),
        ("sus canciones", "su canción"),
        ("tienen lápices", "tiene lápiz"),
        ("están cansados", "está cansado"),
    ]:
        assert list_words(plural, ignore_number=True) == list_words(singular, ignore_number=True)
    assert list_words("el gato", ignore_number=True) != list_words("el perro", ignore_number=True)
    assert mark_difference("a b.", "a b.") == "a b."
    assert mark_difference("", "x") == "{+x+}"


def test_types_are_decided_by_words() -> None:
    assert find_violation_type("a home. He", "a home.He", "una casa", "una home.he") == "A"  # copied
    assert find_violation_type("x y", "x y", "uno dos", "uno") == "A"  # left out
    assert find_violation_type("x y", "x y", "uno", "uno dos") == "C"
    assert find_violation_type("x y", "x y", "uno dos", "uno tres") == "B"
    assert find_violation_type("x y", "x y", "uno dos", "dos uno") == "B"  # another order
    assert find_violation_type("x 5", "x 5", "uno cinco", "uno 5") == "B"  # numbers need no translation


def test_similarity_has_a_threshold() -> None:
    before = " ".join(f"w{number}" for number in range(20))
    one_other = before.replace("w7", "other")
    assert SameWords().holds(before, (one_other, before.upper() + "!!"))
    assert not SameWords(at_least=0.96).holds(before, (one_other,))
    assert not SameWords().holds("a b c", ("a b d",))
    assert not DifferentWords().holds("a b", ("A, b.",))


@in_one_test(
    ("arguments", "message"),
    [
        ({"at_least": 0}, "at_least"),
        ({"at_least": "high"}, "at_least"),
        ({"abbreviations": {}}, "abbreviations"),
        ({"plurals": "books"}, "plurals"),
        ({"plurals": ["mice"]}, "words that end with an s"),
        ({"verbs": []}, "verbs"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        dm.relations.translation_relations(**arguments)  # type: ignore[arg-type]


def test_bad_thresholds_of_the_round_trip_are_rejected() -> None:
    with pytest.raises(ArgumentError, match="at_least"):
        ReturnedWords(at_least=2)
