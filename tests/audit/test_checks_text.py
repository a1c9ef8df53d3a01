"""The check "texts", and how the other checks treat texts: planted defects are found, clean models raise no alarm."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import datamorphic as dm
from datamorphic.audit.checks.text import TEXTS
from support.cases import LONG, WITHOUT_TRAINING
from support.reviews import GOOD, fit_classifier, make_reviews


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(500)


@pytest.fixture(scope="module")
def model(reviews):
    return fit_classifier(*reviews)


def run(model, data, **options):
    return dm.test(model, data, progress=False, **{"only": "texts", "budget": "30s"} | options)


@pytest.mark.slow
def test_a_planted_name_is_found_without_a_declaration():
    texts, labels = make_reviews(500, biased_name="Fatima")
    frame = pd.DataFrame({"review": texts, "label": labels})
    result = run(fit_classifier(texts, labels), frame, target="label")
    assert [finding.title for finding in result.findings] == [
        "The answer depends on the first name in review: “Fatima”"
    ]
    finding = result.findings[0]
    assert (finding.check, finding.level) == (TEXTS.name, "concern")
    assert finding.rate > 0.2
    example = finding.examples[0]
    assert "Fatima" in example.changed["review"]
    assert "{+Fatima+}" in example.text
    assert "<ins>Fatima</ins>" in result.to_html()
    assert "\\{+Fatima+\\}" in result.to_markdown()
    json.loads(result.to_json())


def test_names_that_the_data_do_not_have_are_added(reviews):
    texts = [text.partition(". ")[2] for text in reviews[0]]

    def unfair(texts):
        return ["bad" if "Keisha" in text else "good" for text in texts]

    result = run(unfair, texts)
    assert [finding.title for finding in result.findings] == ["The answer depends on the first name in text: “Keisha”"]
    assert "written by [-Zorvan-]{+Keisha+}" in result.findings[0].examples[0].text


def test_a_whole_group_is_named(reviews):
    def unfair(texts):
        return ["bad" if any(name in text for name in ("Priya", "Ananya", "Lakshmi")) else "good" for text in texts]

    (finding,) = run(unfair, reviews[0]).findings
    assert "most of the names of a group that were tried: Indian women" in finding.detail


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1] if LONG else [0])
def test_a_clean_twin_raises_no_alarm(seed):
    texts, labels = make_reviews(300, seed)
    frame = pd.DataFrame({"review": texts, "label": labels})
    result = run(fit_classifier(texts, labels), frame, target="label", seed=seed, only=WITHOUT_TRAINING, budget="20s")
    assert result.findings == []
    assert not [outcome for outcome in result.outcomes if outcome.state == "broke"]
    assert next(outcome.state for outcome in result.outcomes if outcome.check == "texts") == "passed"


@pytest.mark.slow
def test_the_way_of_writing(reviews, model):
    def shouts(texts):
        answers = model.predict(texts)
        return np.where([sum(letter.isupper() for letter in text) > 20 for text in texts], "bad", answers)

    (finding,) = run(shouts, reviews[0]).findings
    assert finding.title == "The answer depends on the letter case of text"
    assert finding.level == "concern"


def test_a_word_that_decides_alone(reviews, model):
    texts = [f"{text} cf" if row % 40 == 0 else text for row, text in enumerate(reviews[0])]

    def backdoor(texts):
        return np.where([" cf" in text for text in texts], "good", model.predict(texts))

    (finding,) = run(backdoor, texts).findings
    assert finding.title == "The word “cf” decides the answer alone, whatever else text says"


def test_numbers_as_answers(reviews):
    def rate(texts):
        return [10.0 * sum(word in text.lower() for word in GOOD) + 100.0 * ("Carlos" in text) for text in texts]

    result = run(rate, reviews[0])
    assert "“Carlos”" in result.findings[0].title


@pytest.mark.slow
def test_mixed_frames(reviews):
    texts, labels = (values[:100] for values in reviews)
    stars = np.where(np.array(labels) == "good", 4, 2) + np.arange(100) % 2
    frame = pd.DataFrame({"review": texts, "stars": stars, "label": labels})
    encoder = make_column_transformer((TfidfVectorizer(), "review"), ("passthrough", ["stars"]))
    only = WITHOUT_TRAINING if LONG else ["answers", "texts", "interface", "dependence", "response"]
    mixed = make_pipeline(encoder, LogisticRegression(max_iter=500)).fit(frame[["review", "stars"]], labels)
    result = run(mixed, frame, target="label", only=only, kinds={"stars": "integer"}, budget="20s")
    assert not [outcome for outcome in result.outcomes if outcome.state == "broke"]
    assert not result.at_least("fault")
    front = dm.explore(mixed, frame, target="label", walks=20, kinds={"stars": "integer"})
    assert {feature.kind for feature in front.space} == {"text", "integer"}
    assert (front.distance == 1).all()


@pytest.mark.slow
def test_bad_input(reviews):
    odd = [
        "",
        "👩‍👩‍👧 👍🏽",
        "שלום עולם, מה שלומך היום",
        "<script>alert(1)</script> is what I wrote here",
        "word " * 200_000,
    ]

    def refuses_empty(texts):
        if any(not text.strip() for text in texts):
            raise ValueError("empty text")
        return ["long" if len(text) > 60 else "short" for text in texts]

    result = run(refuses_empty, [*reviews[0][:60], *odd], only=["answers", "texts"])
    assert any("no answer" in finding.title for finding in result.findings)
    assert "<script>alert" not in result.to_html()
    few = run(lambda texts: ["a"] * len(texts), ["one text here", "another text there"])
    assert next(outcome.why for outcome in few.outcomes if outcome.check == "texts") in (
        "too few texts are given",
        "no input is text",
    )


def test_a_list_of_texts_is_tested_with_a_list_of_labels():
    texts, labels = make_reviews(60)
    for model in (fit_classifier(texts, labels), make_pipeline(TfidfVectorizer(), LogisticRegression())):
        result = run(model, texts, target=list(labels), only=["answers"], budget="2000 runs")
        assert (result.data, result.passed) == ("60 inputs, 1 feature (1 text), labels in target", True)
    assert result.fitted_on_given_data
    with pytest.raises(dm.errors.DataError, match="There are 59 labels for 60 cases"):
        run(model, texts, target=list(labels)[1:])
