"""The command ``datamorphic patterns``: the catalogue of patterns of relations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..errors import UsageError
from . import options as opt
from .console import prepare_output_files, print_json, print_text, print_written_files


def patterns(
    name: Annotated[
        str | None, opt.argument("NAME", "A pattern to explain. Leave it out to list all patterns.")
    ] = None,
    tree: Annotated[bool, opt.flag("--tree", "Show the trees of patterns, or the tree below NAME.")] = False,
    html: Annotated[Path | None, opt.option("FILE", "Write a page with the trees drawn to this file.")] = None,
    as_json: opt.Json = False,
) -> None:
    """List and explain the patterns of metamorphic relations.

    A pattern says what many relations have in common: how follow-up inputs come from source inputs, and how the outputs relate.
    Every pattern has parameters, an example that runs, and its place in a tree of more and less abstract patterns.

    Examples: datamorphic patterns; datamorphic patterns "Conjunctive Conditions"; datamorphic patterns --tree;
    datamorphic patterns Similar --tree; datamorphic patterns --html patterns.html
    """
    from ..relations.patterns.catalogue import patterns as catalogue
    from ..relations.patterns.drawing import format_tree, format_trees
    from ..relations.patterns.page import build_pattern_page
    from ..reporting.terminal import format_page

    if name is not None and name not in catalogue:
        from .._text import suggest_name

        raise UsageError(f"There is no pattern {name!r}. {suggest_name(name, catalogue)}")
    prepare_output_files(html)
    if html is not None:
        catalogue.to_html(html)
    if as_json:
        if name is None:
            print_json(catalogue.document())
        else:
            layers = {"layers": catalogue.find_layers(name)} if tree else {}
            print_json(catalogue.describe_pattern(name) | layers)
        return
    if name is None:
        print_text(format_trees(catalogue) if tree else catalogue.describe())
    else:
        print_text(
            format_tree(catalogue, name) if tree else format_page(build_pattern_page(catalogue, catalogue[name]))
        )
    print_written_files(html)
