"""Where are its borders, and have they moved?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._checks import plural
from ..fronts.exploring import border_of, run
from ..fronts.front import Front
from ..fronts.picture import scatter
from ..fronts.report import deciding_features, plausible_pairs
from ..fronts.told import example, remarks
from ..fronts.verdict import lines
from ..outputs import Outputs
from ..reports.summary import Section
from .checks import Check, Found, Turn
from .finding import Example, Finding
from .given import Given
from .words import plain

WALKS = 500
RUNS_A_WALK = 50  # rows that a walk asks for, at most of the time
SEEDS = 5_000  # inputs that walks start from


def borders(given: Given, turn: Turn) -> Found:
    """Walk the space from the given inputs and find where the answer changes."""
    walks = given.afford(turn.left(0.5), WALKS, each=RUNS_A_WALK)
    border = None
    if given.baseline is not None:
        settings = given.baseline.settings
        kind, value = settings.get("border_kind"), settings.get("border_value")
        if kind in ("threshold", "jump"):
            border = border_of(value if kind == "threshold" else None, value if kind == "jump" else None, "auto")
    subject = given.subject
    if len(subject.seeds) > SEEDS:
        subject = replace(subject, seeds=given.some(SEEDS))
    front = run(
        subject, np.random.default_rng(given.seed), strategy=_strategy(given), walks=walks, border=border, seed=given.seed,
        budget=turn.left(0.6), progress=False, **given.driving,
    )  # fmt: skip
    turn.add(front.tally)
    given.front = front
    for values in (front.a_output, front.b_output):
        given.saw(Outputs.of(values))
    if front.tally.health.unstable:
        given.unstable = True
    sections = [
        Section(
            f"Where its answer changes: {plural(len(front), 'border pair')}",
            _told(front),
            picture=scatter(front),
        )
    ]
    if len(front):
        sections += [plausible_pairs(front), deciding_features(front)]
    if not front.walks:
        return Found("no walk came to its end within its share of the budget", made=False)
    rests = f"{plural(front.walks, 'walk')}, {plural(len(front), 'pair')} of nearly equal inputs with different answers"
    return Found(rests, [], sections)


def _strategy(given: Given) -> str:
    """Look between inputs that get different answers, which asks least; where all get the same, walk."""
    known = given.answers
    if known is not None and known.ok.any():
        values = known.values[known.ok]
        if all(value == values[0] for value in values.tolist()):
            return "random_walk"
    return "random_target"


def _told(front: Front) -> str:
    if not len(front):
        return "No walk met a change of the answer: the same answer wherever it went, or no answer."
    low, high = front.capability_interval()
    told = [
        "Each coloured point is a pair of nearly equal inputs that get different answers; grey points are given inputs. "
        "Whether a border lies where it should is for you to judge.",
        f"{front.capability:.0%} of the walks met a border ({low:.0%} to {high:.0%}). The pair nearest to a given input: "
        f"{example(front)}.",
        *remarks(front),
    ]
    return "\n".join(told)


def baseline(given: Given, turn: Turn) -> Found:
    """Compare the border with that of an earlier version."""
    assert given.baseline is not None
    assert given.front is not None
    change = given.baseline.diff(given.front)
    turn.tally.calls += change.calls
    rests = f"{plural(len(change.judged), 'pair')}, {plural(change.rows_asked, 'given input')}"
    words = lines(change)
    if change.unchanged:
        return Found(rests, [], [Section("The border is where it was", "\n".join(words), "good")])
    asked = bool(change.judged["asked"].any()) if len(change.judged) else False
    cases = change.first(3)
    width = len(change.old.space)
    examples = [
        Example(
            line.strip(),
            {str(name): plain(value) for name, value in list(row.items())[:width]},
            plain(row.iloc[width]),
            {},
            plain(row.iloc[width + 1]),
        )
        for line, (_, row) in zip(_first(words), cases.iterrows(), strict=False)
    ]
    changed = int((change.judged["status"] != "kept").sum()) if len(change.judged) else 0
    finding = Finding(
        "baseline", "", "The border has moved since the baseline", "concern", 1.0 if asked or change.rows_asked else 0.9,
        " ".join(line.rstrip(".") + "." for line in words if not line.startswith(("  ", "Look first"))),
        "If the change is meant, save this border as the new baseline (--save-front). If not, look at the cases below "
        "first: they changed most and are most like real inputs.",
        changed, len(change.judged), tuple(examples),
    )  # fmt: skip
    return Found(rests, [finding])


def _first(words: list[str]) -> list[str]:
    """Return the cases to look at first, as the difference tells them."""
    return words[words.index("Look first at:") + 1 :] if "Look first at:" in words else []


def _no_baseline(given: Given) -> str:
    if given.baseline is None:
        return "no baseline is given: save one with --save-front, and give it with --baseline"
    return "" if given.front is not None else "the border was not explored"


BORDERS = Check("borders", "Where does its answer change?", 6, lambda given: "", borders)
BASELINE = Check("baseline", "Is the border where it was?", 4, _no_baseline, baseline, needs=("borders",))
