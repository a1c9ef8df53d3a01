"""Write docs/method/published.md: how our figures agree with the published ones, from the results of studies.

The classes of the tables go to src/datamorphic/studies/verdicts.csv, too.

Usage: python docs/write_published.py SITE/studies.json [FULL.json ...]

SITE is made by ``datamorphic study --all --html SITE``, FULL.json by ``datamorphic study NAME --scale full --json > FULL.json``.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from datamorphic.studies.catalogue import ATTEMPTS, STUDIES, format_explorations
from datamorphic.studies.causes import SWITCHES
from datamorphic.studies.overview_page import SHOWN_PACKAGES
from datamorphic.studies.rows import Row, format_number
from datamorphic.studies.verdicts import RULE, VerdictKind, judge_figure
from datamorphic.studies.workload import SCALES, Scale

PAGE = Path(__file__).parent / "method" / "published.md"
VERDICTS = Path(__file__).parents[1] / "src" / "datamorphic" / "studies" / "verdicts.csv"
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
            "summary. `datamorphic study --list` shows the class of every table.",
            "",
            f"**Rule.** {RULE}",
            "",
            f"**Run.** Scale {site['scale']} ({describe_scale(SCALES[site['scale']])}), seed {site['seed']}, {site['date'][:10]}, "
            f"{site['seconds'] / 3600:.1f} hours; {versions}. `datamorphic study --all --scale {site['scale']} --store FILE` can be "
            "stopped and resumed.",
            "",
            f"**In all**: {counts}.",
            "",
            *_format_causes(site["studies"]),
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


def describe_scale(scale: Scale) -> str:
    """Describe how often what is measured at a scale."""
    return (
        f"{format_explorations(scale)}; {scale.trials:,} trials of generators; {scale.inputs} inputs per relation; "
        f"{scale.loans:,} loans, {scale.credit_repetitions} repetitions"
    )


def _format_causes(studies: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a table of the proven causes: figures that agree with each switched off and on."""
    rows_by_cause: dict[str, list[Row]] = {}
    for entry in studies:
        for row in map(read_row, entry["rows"]):
            if row.cause and not math.isnan(row.published) and not math.isnan(row.ours_with_cause):
                rows_by_cause.setdefault(row.cause, []).append(row)
    yield from ("## Causes, switched off and on", "")
    yield "`datamorphic study NAME --cause CAUSE` shows both readings of a table. Figures that agree:"
    yield from ("", "| cause | what it changes | figures | agree, off | agree, on |", "|---|---|---|---|---|")
    for cause, rows in rows_by_cause.items():
        off, on = (
            sum(judge_figure(row) is VerdictKind.AGREES for row in (candidate._replace(kinds="") for candidate in side))
            for side in (
                [row._replace(ours_with_cause=math.nan) for row in rows],
                [row._replace(ours=row.ours_with_cause, margin=row.margin_with_cause) for row in rows],
            )
        )
        yield f"| `{cause}` | {SWITCHES[cause].title} | {len(rows)} | {off} | {on} |"
    yield ""


def _format_verdicts(studies: list[dict[str, Any]]) -> Iterator[str]:
    for document, title in DOCUMENTS.items():
        entries = [
            entry for entry in studies if (entry["study"][:3] if entry["study"][0].isdigit() else "") == document
        ]
        yield from (
            f"## {title}",
            "",
            "| study | what | class | figures | order | notes |",
            "|---|---|---|---|---|---|",
        )
        for entry in entries:
            shares = {"pairs": entry["same_order"], "signs": entry["same_sign"]}
            order = ", ".join(f"{share:.0%} of {what}" for what, share in shares.items() if share is not None)
            reason = f"Tried: {ATTEMPTS[entry['study']]}" if entry["study"] in ATTEMPTS else _shorten(entry["reason"])
            cells = (entry["study"], entry["title"], entry["verdict"], format_figures(entry), order, reason)
            yield f"| {' | '.join(cells)} |"
        yield ""


def format_figures(entry: dict[str, Any]) -> str:
    """Return the numbers of figures per class."""
    numbers = {**entry["figures"], "not measured": entry["unmeasured"]}
    return ", ".join(f"{number} {word.removeprefix('differs, ')}" for word, number in numbers.items() if number) or "-"


def write_verdicts(site: dict[str, Any], path: Path) -> None:
    """Write the class of every study as a table of the package, which `datamorphic study --list` shows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("name", "verdict", "figures", "scale", "date"))
        for entry in site["studies"]:
            writer.writerow((entry["study"], entry["verdict"], format_figures(entry), site["scale"], site["date"][:10]))


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
        rows = list(map(read_row, result["rows"]))
        measured = [row for row in rows if not math.isnan(row.published) and not math.isnan(row.ours)]
        counts = Counter(judge_figure(row).value for row in measured)
        figures = ", ".join(f"{number} {kind.removeprefix('differs, ')}" for kind, number in counts.items())
        yield from (
            f"### {result['study']}: {STUDIES[result['study']].title}",
            "",
            f"Scale {result['scale']}, seed {result['seed']}, {date}, {result['seconds'] / 60:.0f} minutes. Of {len(measured)} "
            f"figures: {figures}.",
            "",
        )
        columns = list(dict.fromkeys(row.column for row in rows))
        cells = {(row.row, row.column): row for row in rows}
        yield f"| | {' | '.join(columns)} |"
        yield "|---" * (1 + len(columns)) + "|"
        for label in dict.fromkeys(row.row for row in rows):
            texts = [_format_cell(cells.get((label, column))) for column in columns]
            yield f"| {label} | {' | '.join(texts)} |"
        yield ""
        notes = dict.fromkeys(row.note for row in rows if row.note)
        yield from (f"- {note}" for note in notes)
        yield ""


def read_row(document: dict[str, Any]) -> Row:
    """Return a row of a JSON document, where figures that are not known are null."""
    values = {name: document[name] for name in Row._fields}
    return Row(**{name: math.nan if value is None else value for name, value in values.items()})


def _format_cell(row: Row | None) -> str:
    if row is None:
        return ""
    interval = "" if math.isnan(row.margin) else f" ±{format_number(row.margin)}"
    return f"{format_number(row.published)} / {format_number(row.ours)}{interval}"


def main() -> None:
    """Write the page from the files that the command line names."""
    site_file, *full_files = map(Path, sys.argv[1:])
    full_results = []
    for file in full_files:
        date = datetime.fromtimestamp(file.stat().st_mtime, UTC).strftime("%Y-%m-%d")
        full_results.append((json.loads(file.read_text(encoding="utf-8")), date))
    site = json.loads(site_file.read_text(encoding="utf-8"))
    PAGE.write_text(write_page(site, full_results).rstrip() + "\n", encoding="utf-8")
    write_verdicts(site, VERDICTS)


if __name__ == "__main__":
    main()
