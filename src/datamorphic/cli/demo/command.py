"""The command ``datamorphic demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .. import options as opt
from ..console import format_result, make_console, prepare_output_files, print_json, print_line, print_text

if TYPE_CHECKING:
    from .demo import Demo

EXPECTED_SECONDS = 8  # as measured on two slow cores


def demo(
    out: Annotated[Path, opt.option("FOLDER", "The folder for the report.")] = Path("datamorphic-demo"),
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Train a classifier on data that ship with scikit-learn, test it, and write a report.

    Example: datamorphic demo
    """
    from ...reporting.html import write_page
    from ...runs.progress import TimedProgress
    from .demo import run_demo
    from .page import build_page

    report_file = out / "report.html"
    prepare_output_files(report_file)
    with TimedProgress("training a classifier and testing it", EXPECTED_SECONDS):
        result = run_demo(seed)
        write_page(build_page(result), report_file)
    if as_json:
        print_json(_build_document(result, report_file, seed))
    else:
        _print_demo(result, report_file)


def _build_document(result: Demo, report_file: Path, seed: int) -> dict[str, Any]:
    return {
        "report": str(report_file),
        "rows": result.rows,
        "accuracy": result.accuracy,
        "steps": len(result.path),
        "borders": len(result.front),
        "flip": str(result.flip.iloc[0]["change"]),
        "served": [finding.title for finding in result.served.findings],
        "changes": [result.format_change(step) for step in result.changes],
        "calls": result.audit.calls + result.cost.calls,
        "headline": result.audit.headline,
        "findings": [{"level": finding.level, "title": finding.title} for finding in result.audit.findings],
        "combined": {"cases": result.combination.case_count, "violations": len(result.combination.violations)},
        "laws": result.laws.document()["laws"],
        "tests": {
            "mutants": len(result.tests.counts),
            "killed": int(result.tests.killed.sum()),
            "proved": result.tests.proved,
        },
        "planted": {"change": str(result.mutant), "found_by": result.fault_detectors},
        "distribution": {entry.relation: entry.violated for entry in result.distribution.entries},
        "loans": {"selected": result.loans.selected, "rejected": list(result.loans.choice.rejections)},
        "digits": {"pairs": len(result.digits)},
        "search": {entry.relation: entry.violated for entry in result.search.entries},
        "hunted": {"change": result.race.change, "ratio": result.race.ratio},
        "seed": seed,
    }


def _print_demo(result: Demo, report_file: Path) -> None:
    from rich.text import Text

    from .page import TITLE, build_closer_look, format_lead

    print_text(f"{TITLE}\n{format_lead(result)}\n")
    print_text(format_result(result.audit), passed=result.audit.passed)
    console = make_console()
    for section in build_closer_look(result).parts[:-1]:  # the list of features is only on the page
        colour = {"good": "green", "bad": "red"}.get(section.state, "cyan")
        console.print()
        console.print(Text("● ", style=f"bold {colour}").append(section.heading, style="bold default"))
        print_line(section.text)
    print_line(f"\nThe report: {report_file}")
