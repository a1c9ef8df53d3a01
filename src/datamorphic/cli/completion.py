"""What the shell offers when Tab is pressed: values of options, known without loading anything heavy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

REQUEST = "_DATAMORPHIC_COMPLETE"  # the shell's script sets it
PROGRAMS = ("Sin", "tanh", "Erf", "BesselJ", "sncndn", "TriSquare", "TriSquarePlus", "rj", "PntLinePos")
_seen = ""  # what the shell has of the word already and does not want again


@dataclass(frozen=True)
class Completion:
    """One value, as Typer wants it."""

    value: str
    help: str | None = None
    type: str = "plain"


def _subjects(start: str) -> Iterable[str]:
    from ..data.subjects import RULES

    return [name.lower().replace(" ", "_") for name in RULES]  # names that need no quotes


def _data(start: str) -> Iterable[str]:
    """Return the data sets, once it is clear that a data set is meant: for a file the shell knows better."""
    if not start or not start.startswith("data:"[: len(start)]):
        return []
    from ..data.sets import available

    return [f"data:{name}" for name in available()]


def _programs(start: str) -> Iterable[str]:
    """Return the programs, once it is clear that one is meant: for a file the shell knows better."""
    if not start or not start.startswith("program:"[: len(start)]):
        return []
    return [f"program:{name}" for name in PROGRAMS]


def _one_of(*values: str) -> Callable[[str], Iterable[str]]:
    return lambda start: values


VALUES: dict[str, Callable[[str], Iterable[str]]] = {
    "data": _data,
    "inputs": _data,
    "engine": _one_of("serial", "processes", "threads", "dask://"),
    "fail_on": _one_of("fault", "concern", "advice", "never"),
    "generator": _one_of(
        *("MT-RT", "MT-ART-Min", "MT-ART-Avg", "MT-ART-Max", "SFIDMT-ART", "MT-BART", "MT-IPART", "MT-RPART"),
        *("SFIDMT-BART", "FSCS-ART", "FSCS-EC", "MD-ART", "RRT", "RPART", "BART", "IPART", "Sobol", "Halton"),
    ),
    "hunted": _programs,
    "labels": _one_of("auto", "plain", "hierarchy", "multi"),
    "only": _one_of(  # those of one word: others need quotes, which a shell does not complete
        "adequacy",
        "answers",
        "baseline",
        "batches",
        "borders",
        "classes",
        "invariant",
        "learning",
        "metamorphisms",
        "monotone",
        "protected",
        "repeats",
    ),
    "pool": _one_of("fixed", "growing"),
    "refine": _one_of("auto", "bisect", "score", "multisection"),
    "region": _one_of("block", "strip", "point"),
    "scenario": _one_of("A1", "A2", "A3", "A4", "A5", "B1", "B2", "B3", "C1", "C2", "C3", "C4", "C5"),
    "selector": _one_of(
        "random", "MRGS-ART", "MRGS-ART+", "MRGS-IPART", "MRGS-RPART", "MRGS-distance", "feedback", "near-miss"
    ),
    "store": _one_of("none"),
    "strategy": _one_of("random_walk", "random_target", "directed_walk", "auto"),
    "subject": _subjects,
}


def complete(param: Any) -> None:
    """Let the shell complete the values of a parameter, if its name says what they are."""
    values = VALUES.get(param.name or "")
    if values is not None:
        param.shell_complete = lambda ctx, incomplete: [
            Completion(value.removeprefix(_seen)) for value in values(incomplete) if value.startswith(incomplete)
        ]


def mend_words() -> None:
    """Put together again the words that bash has cut at colons, so that data:iris is one."""
    global _seen
    if os.environ.get(REQUEST) != "complete_bash":
        return
    words, at = os.environ.get("COMP_WORDS", "").split("\n"), int(os.environ.get("COMP_CWORD", "0"))
    words, at, _seen = joined(words, at)
    os.environ["COMP_WORDS"], os.environ["COMP_CWORD"] = "\n".join(words), str(at)


def joined(words: list[str], at: int) -> tuple[list[str], int, str]:
    """Return words joined at colons, which of them is the one at the cursor, and what of it the shell leaves alone.

    Examples
    --------
    >>> joined(["datamorphic", "laws", "--data", "data", ":", "ir"], 5)
    (['datamorphic', 'laws', '--data', 'data:ir'], 3, 'data:')
    """
    found: list[str] = []
    here, left = at, ""
    for number, word in enumerate(words):
        glued = number and ":" in (word[:1], words[number - 1][-1:])
        before = found.pop() if glued and found else ""
        found.append(before + word)
        if number == at:
            here, left = len(found) - 1, before + (word if word == ":" else "")
    return found, here, left
