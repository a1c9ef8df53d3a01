"""Slow systems: the number of cases is adapted, the budget is used, and the notes say what more time would buy."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic._clock import use_clock
from datamorphic.audit.longer_budget import describe_untried, format_seconds
from datamorphic.audit.outcome import Outcome
from support.clock import ManualClock

SECONDS_PER_ROW = 0.4
WORDS = {"p": ("good", "great", "fine"), "n": ("bad", "awful", "poor")}


@pytest.fixture
def clock():
    with use_clock(ManualClock()) as manual_clock:
        yield manual_clock


def make_images(count=300):
    rng = np.random.default_rng(0)
    images = rng.random((count, 8, 8)) * 0.4
    labels = np.arange(count) % 2
    images[labels == 1, :, 4:] += 0.5
    return images, labels


def make_texts(count=120):
    rng = np.random.default_rng(0)
    labels = ["p" if i % 2 else "n" for i in range(count)]
    return [" ".join([f"part{i}", *rng.choice(WORDS[label], 8)]) for i, label in enumerate(labels)], labels


class SlowReader:
    """A classifier of images that takes 0.4 s per image."""

    def __init__(self, clock):
        self.clock, self.rows = clock, 0

    def __call__(self, images):
        self.rows += len(images)
        self.clock.move(SECONDS_PER_ROW * len(images))
        return (np.asarray(images)[:, :, 4:].mean(axis=(1, 2)) > 0.45).astype(int)


def get(result, name):
    return next(outcome for outcome in result.outcomes if outcome.check == name)


def test_most_of_the_budget_of_a_slow_system_is_used_and_the_notes_say_what_more_would_buy(clock):
    images, labels = make_images()
    reader = SlowReader(clock)
    result = dm.test(reader, images, labels, budget="30s", progress=False)
    assert reader.rows * SECONDS_PER_ROW >= 0.7 * 30
    assert result.seconds <= 30
    assert (
        len({"repeats", "answers", "row order", "batches"} & {o.check for o in result.outcomes if o.state == "passed"})
        == 4
    )
    assert int(get(result, "answers").why.split(" given")[0]) >= 20
    assert get(result, "pixels").why == "it takes about 4.3 min, which its share of the budget did not allow"
    note = next(note for note in result.notes if note.startswith("With budget="))
    assert "pixels (about 4.3 min)" in note
    assert note.endswith("at 400 ms per row.")


def test_a_class_that_few_answers_need_not_contain_is_not_missing(clock):
    images, labels = make_images()
    labels = labels.astype(object)
    labels[::60] = "rare"
    result = dm.test(SlowReader(clock), images, labels, budget="30s", progress=False, only=["answers", "classes"])
    assert get(result, "classes").state == "passed"


def test_no_row_of_a_slow_system_is_asked_twice_but_for_the_checks_of_that(clock):
    images, labels = make_images()
    seen = []

    class Reader(SlowReader):
        def __call__(self, images):
            seen.extend(np.asarray(image).tobytes() for image in images)
            return super().__call__(images)

    result = dm.test(Reader(clock), images, labels, budget="30s", progress=False, only=["answers"])
    assert get(result, "answers").calls > 30
    first_tries = 10  # to see how the function is called, and how fast it is
    assert len(seen) - len(set(seen)) <= first_tries


def test_ways_of_writing_are_tried_on_few_texts_of_a_slow_system(clock):
    texts, labels = make_texts()

    def read(texts):
        clock.move(SECONDS_PER_ROW * len(texts))
        return ["p" if sum(text.count(word) for word in WORDS["p"]) > 2 else "n" for text in texts]

    result = dm.test(read, texts, labels, budget="30s", progress=False)
    assert get(result, "texts").why.startswith("4 ways of writing")
    assert [finding.about for finding in result.findings] == ["letter case of text"]
    assert result.seconds <= 30


def test_a_fast_system_gets_the_fixed_numbers_of_cases(clock):
    images, labels = make_images()

    def read(images):
        clock.move(1e-4 * len(images))
        return (np.asarray(images)[:, :, 4:].mean(axis=(1, 2)) > 0.45).astype(int)

    result = dm.test(read, images, labels, budget="30s", progress=False, only=["answers", "row order"])
    assert get(result, "answers").why.startswith("300 given inputs and 1,998 generated ones")
    assert get(result, "row order").why == "200 cases, 1,000 comparisons"
    assert not any("budget=" in note for note in result.notes)


def make_context(is_slow=True, seconds=12.0, budget=30.0):
    class Namespace:
        def __init__(self, **values):
            self.__dict__.update(values)

    return Namespace(
        is_slow=is_slow,
        clock=Namespace(seconds=seconds, budget=Namespace(seconds=budget)),
        pace=Namespace(seconds_per_row=0.4),
    )


def make_outcome(check, min_seconds):
    return Outcome(check=check, asks="?", state="not run", skip_reason="share too small", min_seconds=min_seconds)


def test_the_note_names_the_smallest_budget_for_each_check():
    outcomes = [make_outcome("long", 200.0), make_outcome("short", 12.0), make_outcome("endless", 90_000.0)]
    assert describe_untried(make_context(), outcomes) == [
        "With budget='1m', this check could be tried: short (about 12 s); with budget='10m' also long (about 3.3 min), "
        "at 400 ms per row.",
        "Too slow for a budget of an hour, at 400 ms per row: endless (about 25 h).",
    ]
    assert describe_untried(make_context(is_slow=False), outcomes) == []
    assert describe_untried(make_context(), [make_outcome("unknown", 0.0)]) == []


def test_durations_have_two_digits():
    assert [format_seconds(seconds) for seconds in (0.1, 89, 120, 5_399, 7_200)] == [
        "1 s",
        "89 s",
        "2 min",
        "90 min",
        "2 h",
    ]
