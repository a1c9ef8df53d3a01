"""Values of options that the shell offers when Tab is pressed, known without loading heavy modules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

COMPLETION_VARIABLE = "_DATAMORPHIC_COMPLETE"  # set by the completion script of the shell
PROGRAMS = (
    "Sin",
    "tanh",
    "Erf",
    "BesselJ",
    "BesselJ-Steed",
    "sncndn",
    "TriSquare",
    "TriSquarePlus",
    "rj",
    "PntLinePos",
)
_typed_prefix = ""  # the part of the word that bash keeps and does not want again


@dataclass(frozen=True)
class Completion:
    """One value in the form that Typer expects."""

    value: str
    help: str | None = None
    type: str = "plain"


def _list_subjects(start: str) -> Iterable[str]:
    from ..data.subjects import RULES

    return [name.lower().replace(" ", "_") for name in RULES]  # names that need no quotes


def _list_data_sets(start: str) -> Iterable[str]:
    from ..data.sets import available

    return _add_prefix("data:", available(), start)


def _add_prefix(prefix: str, names: Iterable[str], start: str) -> Iterable[str]:
    """Return the names with a prefix if the word begins like that; the shell itself completes files."""
    return [f"{prefix}{name}" for name in names] if start and start.startswith(prefix[: len(start)]) else []


def _offer(values: str) -> Callable[[str], Iterable[str]]:
    return lambda start: values.split()


VALUES: dict[str, Callable[[str], Iterable[str]]] = {
    "data": _list_data_sets,
    "data_argument": _list_data_sets,
    "inputs": _list_data_sets,
    "engine": _offer("serial processes threads dask://"),
    "fail_on": _offer("fault concern advice never"),
    "generator": _offer(
        "MT-RT MT-ART-Min MT-ART-Avg MT-ART-Max SFIDMT-ART MT-BART MT-IPART MT-RPART SFIDMT-BART TP-ART SB-ART FSCS-ART "
        "FSCS-EC MD-ART RRT RPART BART IPART Sobol Halton"
    ),
    "program_or_model": lambda start: _add_prefix("program:", PROGRAMS, start),
    # without names that need quotes, which a shell does not complete
    "only": _offer(
        "adequacy answers baseline batches borders calibration classes curves dependence drift duplicates edges identifiers "
        "interface invariant leaks learning memorisation metamorphisms monotone numbers pixels protected recall repairs repeats "
        "response scores slices sounds suggestions table texts"
    ),
    "region": _offer("block strip point"),
    "scenario": _offer("A1 A2 A3 A4 A5 B1 B2 B3 C1 C2 C3 C4 C5"),
    "selector": _offer(
        "random MRGS-ART MRGS-ART-fair MRGS-ART+ MRGS-IPART MRGS-IPART-fair MRGS-RPART MRGS-distance feedback near-miss"
    ),
    "store": _offer("none"),
    "subject": _list_subjects,
}


def add_completion(param: Any, values: Sequence[str] | None = None) -> None:
    """Let the shell complete the values of a parameter: those that are known, or that its name says."""
    list_values = (lambda start: values) if values else VALUES.get(param.name or "")
    if list_values is not None:
        param.shell_complete = lambda ctx, incomplete: [
            Completion(value.removeprefix(_typed_prefix))
            for value in list_values(incomplete)
            if value.startswith(incomplete)
        ]


def join_completion_words() -> None:
    """Join the words that bash has split at colons, so that data:iris is one word."""
    global _typed_prefix
    if os.environ.get(COMPLETION_VARIABLE) != "complete_bash":
        return
    words, cursor, _typed_prefix = join_at_colons(
        os.environ.get("COMP_WORDS", "").split("\n"), int(os.environ.get("COMP_CWORD", "0"))
    )
    os.environ["COMP_WORDS"], os.environ["COMP_CWORD"] = "\n".join(words), str(cursor)


def join_at_colons(words: list[str], cursor: int) -> tuple[list[str], int, str]:
    """Return the words joined at colons, the index of the word at the cursor, and the part of it that bash keeps.

    Examples
    --------
    >>> join_at_colons(["datamorphic", "laws", "--data", "data", ":", "ir"], 5)
    (['datamorphic', 'laws', '--data', 'data:ir'], 3, 'data:')
    """
    joined_words: list[str] = []
    new_cursor, prefix = cursor, ""
    for index, word in enumerate(words):
        continues = index > 0 and ":" in (word[:1], words[index - 1][-1:])
        start = joined_words.pop() if continues and joined_words else ""
        joined_words.append(start + word)
        if index == cursor:
            new_cursor, prefix = len(joined_words) - 1, start + (word if word == ":" else "")
    return joined_words, new_cursor, prefix
