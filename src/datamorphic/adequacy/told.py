"""What rows do for trees as plain data, as files, and in a notebook."""

from __future__ import annotations

import html
import json
from os import PathLike
from pathlib import Path
from typing import Any

from .._checks import jsonable
from ..reports.html import render, written
from ..reports.texts import clean, cut
from .coverage import Coverage
from .drawing import tree_svg
from .mutation import LOOKED_THROUGH, MutationScore
from .page import headline, page_of
from .selection import Selection

LISTED = 100  # leaves and mutants that are told one by one

Found = Coverage | MutationScore | Selection
Where = str | PathLike[str] | None


def document_of(found: Found, n: int | None = LISTED) -> dict[str, Any]:
    """Return all that as JSON has it, with at most `n` leaves and mutants told one by one."""
    plain: dict[str, Any] = jsonable(_document(found, n))
    return plain


def _document(found: Found, n: int | None) -> dict[str, Any]:
    if isinstance(found, Selection):
        return {
            "criterion": found.criterion,
            "headline": headline(found),
            "rows": len(found),
            "of": found.leaves.rows,
            "score": found.score,
            "smallest": found.smallest,
            "places": found.places.tolist(),
            "chosen": found.rows.to_dict("records"),
            "answers": list(found.answers),
            "limits": [
                [
                    {"column": each.column, "value": each.value, "limit": each.limit, "holds": each.holds}
                    for each in limits
                ]
                for limits in found.limits
            ],
            "data": _document(found.mutation or found.leaves, n),
            "notes": list(found.notes),
        }
    leaves = found if isinstance(found, Coverage) else found.leaves
    told: dict[str, Any] = {
        "criterion": found.criterion,
        "headline": headline(found),
        "rows": leaves.rows,
        "trees": len(leaves.trees),
        "nodes": sum(map(len, leaves.trees)),
        "decision_nodes": sum(len(tree.inner) for tree in leaves.trees),
        "leaves": leaves.leaves,
        "covered": int(leaves.covered.sum()),
        "share": found.share,
        "shares": found.shares.tolist(),
        "uncovered": _records(leaves, n),
        "notes": list(found.notes),
    }
    if isinstance(found, MutationScore):
        told |= {
            "score": found.score,
            "joint": found.joint,
            "tolerance": found.tolerance,
            "mutants": _counts(found),
        }
        told |= {"live": _records(found, n), "leaf_share": leaves.share, "leaf_shares": leaves.shares.tolist()}
    return told


def _records(found: Coverage | MutationScore, n: int | None) -> list[dict[str, Any]]:
    table = found.uncovered(n).reset_index()
    return [dict(zip(table.columns, row, strict=True)) for row in table.itertuples(index=False, name=None)]


def _counts(found: MutationScore) -> dict[str, int | None]:
    live = found.live
    known = len(live) <= LOOKED_THROUGH
    return {
        "all": len(found.counts),
        "killed": len(found.counts) - len(live),
        "live": len(live),
        "proved_equivalent": found.proved if known else None,
        "killable": sum(found.why(int(each)).killable is True for each in live) if known else None,
    }


# -- files -------------------------------------------------------------------------------------------------------------


def to_json(found: Found, path: Where = None) -> str:
    """Return it as JSON, and write it to a file if one is named."""
    return _kept(json.dumps(document_of(found), indent=1, allow_nan=False), path, "JSON file")


def to_html(found: Found, path: Where = None) -> str:
    """Return it as one HTML page, and write it to a file if one is named."""
    return _kept(render(page_of(found)), path, "report")


def to_junit(found: Coverage | MutationScore, path: Where = None, at_least: float | None = None) -> str:
    """Return it as a JUnit file of one test, which fails if a smaller share than `at_least` is covered."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    enough = at_least is None or found.share >= at_least
    figures = {"tests": "1", "failures": str(int(not enough)), "errors": "0", "skipped": "0"}
    leaves = found if isinstance(found, Coverage) else found.leaves
    owner = cut(leaves.inputs.owner, 200)
    root = Element("testsuites", {"name": "datamorphic", **figures})
    suite = SubElement(root, "testsuite", {"name": owner, **figures})
    case = SubElement(
        suite, "testcase", {"classname": f"datamorphic.{owner}", "name": f"covers {found.criterion}"}
    )
    told = clean(found.describe(20))
    if enough:
        SubElement(case, "system-out").text = told
    else:
        message = f"{found.share:.2%} is covered, and at least {at_least:.2%} was asked for"
        SubElement(case, "failure", {"type": "coverage", "message": message}).text = told
    indent(root)
    return _kept(
        f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n', path, "JUnit file"
    )


def to_svg(found: Coverage | MutationScore, path: Where = None, tree: int = 0) -> str:
    """Return one tree as an SVG file, and write it if a path is given."""
    return _kept(tree_svg(found, tree), path, "SVG file")


def _kept(text: str, path: Where, what: str) -> str:
    if path is not None:
        written(text, Path(path), what)
    return text


def notebook(found: Found) -> str:
    """Return it as a notebook shows it: the headline, and the tree if there is but one."""
    told = f"<p>{html.escape(clean(headline(found)))}</p>"
    if isinstance(found, Selection):
        return told + str(found.rows.head(20).to_html(escape=True))
    trees = found.trees if isinstance(found, Coverage) else found.leaves.trees
    return told + (tree_svg(found) if len(trees) == 1 else "")
