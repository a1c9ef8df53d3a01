"""The page of the documentation: all comparisons in one table; our own figures, before and now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .figures import format_number

EMPTY = "–"
HEAD = """# Benchmarks

<!-- written by `make bench-peers`; change benchmarks/peers instead -->

How datamorphic compares with other tools on the same tasks, and with the loops that one would write first. Fairness matters
more here than a large factor. Both sides get the same data and the same model, fitted with the same seed in each environment, and
one thread for linear algebra. Peers run with their defaults unless the table names a setting, and the notes say where a peer does
more. Times are CPU seconds of one process, without imports and compiling, unless a note says wall time. A wrapper around the model
counts the rows that it is asked for.

```console
$ make bench-peers   # installs each peer in .venv-peers-NAME, measures, and writes this page
$ make bench         # our own figures
```

A peer is skipped, with the reason in the table, if installing it or measuring either side fails. The environments take about 3 GB.
`python -m benchmarks.peers --only art dice` measures some of the peers again.

Real data sets of the suite of defects are read from the folder that `DATAMORPHIC_DATA` names. Its measurement takes about 20 minutes
for a tool. If it is interrupted, the next one goes on where it was, as outcomes are kept in .venv-peers-outcomes.
"""

SPEED_NOTE = (
    "Figures that `make bench` prints, and those before they were worked on. Before is from the measurement that started the "
    "work, on another computer, so factors are rough. A dash: not measured yet."
)


def write_page(
    results: Mapping[str, Any], notes: Mapping[str, Sequence[str]], speed: Sequence[Mapping[str, str]]
) -> str:
    """Return the page in Markdown.

    `results` are what `benchmarks.peers` keeps: the processor, and per peer its title, version, date and rows, or why it
    was skipped. `speed` are figures before, their goals, and what `make bench` printed.
    """
    parts = [HEAD, "## Against peers", "", f"Processor: {results['processor']}.", ""]
    parts += ["The ratio is above 1 where datamorphic is better.", ""]
    parts += _format_table(("peer", "task", "measure", "theirs", "ours", "ratio"), _list_rows(results["peers"]))
    parts += ["", "## What was compared", ""]
    for name, peer in results["peers"].items():
        parts += [f"**{peer['title']}**{_describe_versions(peer)}", "", *_separate(notes.get(name, ())), ""]
    parts += ["## Our own figures, before and now", "", SPEED_NOTE, ""]
    parts += _format_table(
        ("figure", "before", "goal", "now"),
        [(row["figure"], row["before"], row["goal"], row.get("now") or EMPTY) for row in speed],
    )
    return "\n".join(parts).rstrip() + "\n"


def read_bench(output: str, lines: Sequence[str]) -> dict[str, str]:
    """Return the values that `make bench` printed, by the beginnings of their lines."""
    values = {}
    for line in lines:
        for text in output.splitlines():
            if line and text.strip().startswith(line):
                values[line] = text.strip()[len(line) :].strip().split("  ")[0].strip()
                break
    return values


def _list_rows(peers: Mapping[str, Any]) -> list[tuple[str, ...]]:
    rows = []
    for peer in peers.values():
        title = f"{peer['title']} {peer['version']}".strip()
        if peer.get("skipped"):
            rows.append((title, f"skipped: {peer['skipped']}", EMPTY, EMPTY, EMPTY, EMPTY))
        for row in peer["rows"]:
            ratio = EMPTY if row["ratio"] is None else format_number(row["ratio"])
            cells = (row["task"], row["measure"], format_number(row["theirs"]), format_number(row["ours"]), ratio)
            rows.append((title, *cells))
    return rows


def _describe_versions(peer: Mapping[str, Any]) -> str:
    if peer.get("skipped"):
        return f" {peer['version']}: skipped."
    theirs, ours = (", ".join(f"{n} {v}" for n, v in peer[side].items()) for side in ("their_versions", "our_versions"))
    if peer["their_versions"].get("datamorphic"):
        theirs = "as printed, or a plain loop"  # nothing of theirs was run
    return f" Measured on {peer['date']}. Theirs: {theirs}. Ours: {ours}."


def _separate(notes: Sequence[str]) -> list[str]:
    return [line for note in notes for line in (note, "")][:-1]


def _format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines]
