"""Relations of text classifiers."""

from __future__ import annotations

import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import UsageError
from datamorphic.relations.catalogue.first_names import FIRST_NAMES, find_group
from datamorphic.relations.catalogue.text import SwapFirstName
from support.reviews import fit_classifier, make_reviews


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(400)


@pytest.fixture(scope="module")
def model(reviews):
    return fit_classifier(*reviews)


def test_follow_ups():
    frame = pd.DataFrame({"text": ["Anna likes a film.", "no name here", "", "WEI!"]})
    relations = dm.relations.text_relations(synonyms={"film": ["movie"]})
    texts = {name: relation.follow_up(frame, None)["text"].tolist() for name, relation in relations.items()}
    assert texts["text.letter case"] == ["ANNA LIKES A FILM.", "NO NAME HERE", "", "WEI!"]
    assert texts["text.punctuation"] == ["Anna likes a film", "no name here.", "", "WEI"]
    assert texts["text.spaces"] == ["Anna  likes  a  film. ", "no  name  here ", " ", "WEI! "]
    assert texts["text.neutral words"][1] == "By the way, no name here"
    assert texts["text.synonym"][:2] == ["Anna likes a movie.", "no name here"]
    assert sorted(texts["text.typo"][0]) == sorted(frame["text"][0])
    other = texts["text.first name"][0].split()[0]
    assert find_group(other)
    assert find_group(other) != find_group("Anna")
    assert relations["text.first name"].applies(frame).tolist() == [True, False, False, False]


def test_names_of_own_groups():
    swap = SwapFirstName(column="text", groups={"a": ["Ann"], "b": ["Bob"]})
    assert swap.rewrite("Ann met Ann and Annabel.") == "Bob met Bob and Annabel."
    assert len({name for names in FIRST_NAMES.values() for name in names}) == sum(map(len, FIRST_NAMES.values()))


@pytest.mark.slow
def test_check_of_a_pipeline(model, reviews):
    report = dm.check(model, reviews[0], relations=list(dm.relations.text_relations().values()), inputs=200)
    violated = report.table.set_index("relation")["violated"]
    assert violated[["text.letter case", "text.punctuation", "text.spaces", "text.neutral words"]].sum() == 0
    assert report.table.set_index("relation")["inapplicable"].to_dict()["text.first name"] == 0


def test_violations_are_shown_as_marked_sentences(reviews):
    def shouts(texts):
        return ["loud" if any(word.isupper() and len(word) > 1 for word in text.split()) else "quiet" for text in texts]

    report = dm.check(shouts, reviews[0][:40], relations=[dm.relations.text_relations()["text.letter case"]])
    assert report.table["violated"].tolist() == [40]
    assert "{+" in report.describe()
    assert "<ins>" in report.to_html()
    with pytest.raises(AssertionError, match="letter case"):
        dm.assert_holds(
            shouts, pd.DataFrame({"text": reviews[0][:40]}), dm.relations.text_relations()["text.letter case"]
        )


def test_hunt_says_that_texts_have_no_limits(model, reviews):
    space = dm.Space.from_frame(pd.DataFrame({"text": reviews[0]}))
    with pytest.raises(UsageError, match=r"text|change"):
        dm.hunt(dm.wrap(model, space=space), [dm.relations.text_relations()["text.typo"]], budget=10)


def test_texts_have_no_direction(model, reviews):
    report = dm.check(model, reviews[0][:40], relations=[dm.monotone("text", "up", "good"), dm.invariant("text")])
    monotone, invariant = report.entries
    assert monotone.messages == {"text is text, which has no order": 40}
    assert invariant.judged > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column": 3}, "must be a str"),
        ({"synonyms": {}}, "a dict of words"),
        ({"names": {"a": ["Ann"]}}, "at least two groups"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(UsageError, match=message):
        dm.relations.text_relations(**options)
