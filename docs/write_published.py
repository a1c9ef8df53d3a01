"""Write docs/method/published.md: how our figures agree with the published ones, from the results of studies.

Usage: python docs/write_published.py SITE/studies.json [FULL.json ...]

SITE is made by ``datamorphic study --all --html SITE``, FULL.json by ``datamorphic study NAME --scale full --json > FULL.json``.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from datamorphic.studies.catalogue import STUDIES
from datamorphic.studies.overview_page import SHOWN_PACKAGES
from datamorphic.studies.rows import format_number
from datamorphic.studies.verdicts import RULE, judge_figure

PAGE = Path(__file__).parent / "method" / "published.md"
DOCUMENTS = {
    "000": "Zhu & Bayley 2022",
    "001": "Zhu & Bayley 2020",
    "002": "Ying 2024",
    "003": "Xie et al. 2011",
    "004": "Silveira et al. 2025",
    "": "Beyond the tables",
}
MAX_REASON_CHARACTERS = 260


def write_page(site: dict[str, Any], full_results: list[tuple[dict[str, Any], str]]) -> str:
    """Return the page as Markdown."""
    versions = ", ".join(f"{name} {site['versions'][name]}" for name in SHOWN_PACKAGES)
    counts = ", ".join(f"{count} {kind}" for kind, count in site["verdicts"].items())
    return "\n".join(
        [
            "# The published tables, computed again",
            "",
            "<!-- written by docs/write_published.py; do not edit by hand -->",
            "",
            "`datamorphic study --all --html FOLDER` computes every table of the five documents "
            "([references](../references.md)) that holds figures, and writes a site with ours beside theirs. This page is its "
            "summary.",
            "",
            f"**Rule.** {RULE}",
            "",
            f"**Run.** Scale {site['scale']}, seed {site['seed']}, {site['date'][:10]}, "
            f"{site['seconds'] / 60:.0f} minutes; {versions}. The scale is smaller than that of the documents, so intervals are "
            "wide, and some subjects and models are left out; the notes say which.",
            "",
            f"**In all**: {counts}.",
            "",
            *_format_verdicts(site["studies"]),
            "## Tables that are not computed",
            "",
            "| table | title | why there is nothing to compare |",
            "|---|---|---|",
            *(f"| {entry['table']} | {entry['title']} | {entry['reason']} |" for entry in site["without_figures"]),
            "",
            *_format_full_results(full_results),
        ]
    )


def _format_verdicts(studies: list[dict[str, Any]]) -> Iterator[str]:
    for document, title in DOCUMENTS.items():
        entries = [
            entry for entry in studies if (entry["study"][:3] if entry["study"][0].isdigit() else "") == document
        ]
        yield from (f"## {title}", "", "| study | what | verdict | figures | why |", "|---|---|---|---|---|")
        for entry in entries:
            numbers = {"agree": entry["agreeing"], "explained": entry["explained"], "differ": entry["differing"]}
            numbers["not measured"] = entry["unmeasured"]
            figures = ", ".join(f"{number} {word}" for word, number in numbers.items() if number) or "-"
            yield f"| {entry['study']} | {entry['title']} | {entry['verdict']} | {figures} | {_shorten(entry['reason'])} |"
        yield ""


def _shorten(reason: str) -> str:
    """Return whole sentences of a reason, as many as fit; the pages of the site have them all."""
    text = reason.replace("|", "/").replace("<", "&lt;").replace("*", "\\*")
    if len(text) <= MAX_REASON_CHARACTERS:
        return text
    end = text.rfind(". ", 0, MAX_REASON_CHARACTERS)
    return f"{text[: end + 1]} ..." if end > 0 else f"{text[:MAX_REASON_CHARACTERS]}..."


def _format_full_results(results: list[tuple[dict[str, Any], str]]) -> Iterator[str]:
    if not results:
        return
    yield from ("## At full scale", "", "As large as published. Cells: published / ours.", "")
    for result, date in results:
        rows = result["rows"]
        measured = [row for row in rows if row["published"] is not None and row["ours"] is not None]
        kinds = [
            judge_figure(row["published"], row["ours"], _to_float(row.get("margin")), row["note"]).value
            for row in measured
        ]
        yield from (
            f"### {result['study']}: {STUDIES[result['study']].title}",
            "",
            f"Scale {result['scale']}, seed {result['seed']}, {date}, {result['seconds'] / 60:.0f} minutes. Of {len(measured)} "
            f"figures {kinds.count('agrees')} agree, {kinds.count('explained')} are explained and "
            f"{kinds.count('not reproducible')} differ.",
            "",
        )
        columns = list(dict.fromkeys(row["column"] for row in rows))
        cells = {(row["row"], row["column"]): row for row in rows}
        yield f"| | {' | '.join(columns)} |"
        yield "|---" * (1 + len(columns)) + "|"
        for label in dict.fromkeys(row["row"] for row in rows):
            texts = [_format_cell(cells.get((label, column))) for column in columns]
            yield f"| {label} | {' | '.join(texts)} |"
        yield ""
        notes = dict.fromkeys(row["note"] for row in rows if row["note"])
        yield from (f"- {note}" for note in notes)
        yield ""


def _format_cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    margin = _to_float(row.get("margin"))
    interval = "" if math.isnan(margin) else f" ±{format_number(margin)}"
    return f"{format_number(_to_float(row['published']))} / {format_number(_to_float(row['ours']))}{interval}"


def _to_float(value: float | None) -> float:
    return math.nan if value is None else value


def main() -> None:
    """Write the page from the files that the command line names."""
    site_file, *full_files = map(Path, sys.argv[1:])
    full_results = []
    for file in full_files:
        date = datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%d")
        full_results.append((json.loads(file.read_text(encoding="utf-8")), date))
    site = json.loads(site_file.read_text(encoding="utf-8"))
    PAGE.write_text(write_page(site, full_results).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
