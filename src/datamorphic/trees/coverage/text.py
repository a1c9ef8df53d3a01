"""What rows do for trees as plain data, as files, and in a notebook."""

from __future__ import annotations

import html
import json
from os import PathLike
from pathlib import Path
from typing import Any

from ..._text import to_jsonable
from ...reporting.html import render_page, write_text
from ...reporting.text import clean, cut
from .coverage import Coverage
from .draw import format_tree_svg
from .mutation import MAX_EXPLAINED_MUTANTS, MutationScore
from .page import build_page, format_headline
from .selection import Selection

MAX_LISTED_ITEMS = 100  # leaves and mutants that are told one by one

AdequacyResult = Coverage | MutationScore | Selection
OutputPath = str | PathLike[str] | None


def build_document(result: AdequacyResult, n: int | None = MAX_LISTED_ITEMS) -> dict[str, Any]:
    """Return all that as JSON has it, with at most `n` leaves and mutants told one by one."""
    document: dict[str, Any] = to_jsonable(_build_raw_document(result, n))
    return document


def _build_raw_document(result: AdequacyResult, n: int | None) -> dict[str, Any]:
    if isinstance(result, Selection):
        return {
            "criterion": result.criterion,
            "headline": format_headline(result),
            "rows": len(result),
            "of": result.leaves.rows,
            "score": result.score,
            "smallest": result.smallest,
            "places": result.places.tolist(),
            "chosen": result.rows.to_dict("records"),
            "answers": list(result.answers),
            "limits": [
                [
                    {"column": limit.column, "value": limit.value, "limit": limit.limit, "holds": limit.holds}
                    for limit in limits
                ]
                for limits in result.limits
            ],
            "data": _build_raw_document(result.mutation or result.leaves, n),
            "notes": list(result.notes),
        }
    leaves = result if isinstance(result, Coverage) else result.leaves
    document: dict[str, Any] = {
        "criterion": result.criterion,
        "headline": format_headline(result),
        "rows": leaves.rows,
        "trees": len(leaves.trees),
        "nodes": sum(map(len, leaves.trees)),
        "decision_nodes": sum(len(tree.inner) for tree in leaves.trees),
        "leaves": leaves.leaves,
        "covered": int(leaves.covered.sum()),
        "share": result.share,
        "shares": result.shares.tolist(),
        "uncovered": _list_records(leaves, n),
        "notes": list(result.notes),
    }
    if isinstance(result, MutationScore):
        document |= {
            "score": result.score,
            "joint": result.joint,
            "tolerance": result.tolerance,
            "mutants": _count_mutants(result),
        }
        document |= {
            "live": _list_records(result, n),
            "leaf_share": leaves.share,
            "leaf_shares": leaves.shares.tolist(),
        }
    return document


def _list_records(result: Coverage | MutationScore, n: int | None) -> list[dict[str, Any]]:
    table = result.uncovered(n).reset_index()
    return [dict(zip(table.columns, row, strict=True)) for row in table.itertuples(index=False, name=None)]


def _count_mutants(score: MutationScore) -> dict[str, int | None]:
    live = score.live
    is_explained = len(live) <= MAX_EXPLAINED_MUTANTS
    return {
        "all": len(score.counts),
        "killed": len(score.counts) - len(live),
        "live": len(live),
        "proved_equivalent": score.proved if is_explained else None,
        "killable": sum(score.why(int(mutant)).killable is True for mutant in live) if is_explained else None,
    }


# -- files -------------------------------------------------------------------------------------------------------------


def to_json(result: AdequacyResult, path: OutputPath = None) -> str:
    """Return it as JSON, and write it to a file if one is named."""
    return _write_if_path(json.dumps(build_document(result), indent=1, allow_nan=False), path, "JSON file")


def to_html(result: AdequacyResult, path: OutputPath = None) -> str:
    """Return it as one HTML page, and write it to a file if one is named."""
    return _write_if_path(render_page(build_page(result)), path, "report")


def to_junit(result: Coverage | MutationScore, path: OutputPath = None, at_least: float | None = None) -> str:
    """Return it as a JUnit file of one test, which fails if a smaller share than `at_least` is covered."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    is_enough = at_least is None or result.share >= at_least
    figures = {"tests": "1", "failures": str(int(not is_enough)), "errors": "0", "skipped": "0"}
    leaves = result if isinstance(result, Coverage) else result.leaves
    owner = cut(leaves.inputs.owner, 200)
    root = Element("testsuites", {"name": "datamorphic", **figures})
    suite = SubElement(root, "testsuite", {"name": owner, **figures})
    case = SubElement(
        suite, "testcase", {"classname": f"datamorphic.{owner}", "name": f"covers {result.criterion}"}
    )
    description = clean(result.describe(20))
    if is_enough:
        SubElement(case, "system-out").text = description
    else:
        message = f"{result.share:.2%} is covered, and at least {at_least:.2%} was asked for"
        SubElement(case, "failure", {"type": "coverage", "message": message}).text = description
    indent(root)
    return _write_if_path(
        f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n', path, "JUnit file"
    )


def to_svg(result: Coverage | MutationScore, path: OutputPath = None, tree: int = 0) -> str:
    """Return one tree as an SVG file, and write it if a path is given."""
    return _write_if_path(format_tree_svg(result, tree), path, "SVG file")


def _write_if_path(text: str, path: OutputPath, file_kind: str) -> str:
    if path is not None:
        write_text(text, Path(path), file_kind)
    return text


def format_notebook_html(result: AdequacyResult) -> str:
    """Return it as a notebook shows it: the headline, and the tree if there is but one."""
    paragraph = f"<p>{html.escape(clean(format_headline(result)))}</p>"
    if isinstance(result, Selection):
        return paragraph + str(result.rows.head(20).to_html(escape=True))
    trees = result.trees if isinstance(result, Coverage) else result.leaves.trees
    return paragraph + (format_tree_svg(result) if len(trees) == 1 else "")
