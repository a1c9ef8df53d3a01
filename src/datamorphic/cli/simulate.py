"""The command ``datamorphic simulate``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .._text import pluralize
from ..errors import UsageError
from .console import Json, Seed, console, print_json, print_text, ready_to_write, tell_written, to_printable
from .hunt import Candidates, Page


def simulate(
    generator: Annotated[
        list[str] | None,
        typer.Option(help="Who proposes: MT-RT, SFIDMT-ART, IPART, Sobol ...; repeat it to compare several."),
    ] = None,
    region: Annotated[str, typer.Option(help="Where violations lie: block, strip or point.")] = "block",
    rate: Annotated[float, typer.Option(help="The share of the source domain that violates.")] = 0.005,
    dimension: Annotated[int, typer.Option(help="How many inputs there are.", min=1)] = 2,
    trials: Annotated[int, typer.Option(help="How many regions are drawn.", min=1)] = 10_000,
    scenario: Annotated[
        str | None,
        typer.Option(help="A1 to C5: where the region lies, against the domains of source and follow-up."),
    ] = None,
    selector: Annotated[
        list[str] | None,
        typer.Option(help="Who chooses among relations, e.g. MRGS-ART; repeat it to compare several."),
    ] = None,
    relations: Annotated[
        int, typer.Option(help="With --selector: how many relations, in turn with 1, 2 and 3 follow-ups.", min=1)
    ] = 3,
    violating: Annotated[int, typer.Option(help="With --selector: which of them is violated, from 0.", min=0)] = 0,
    budget: Annotated[int | None, typer.Option(help="Groups after which a trial is ended.", min=1)] = None,
    boxes: Annotated[int, typer.Option(help="How many boxes a point region has.", min=1)] = 50,
    k: Candidates = None,
    workers: Annotated[int | None, typer.Option(help="Trials made side by side.", min=1)] = None,
    html: Page = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """How soon would a generator find a violation? Draw regions that stand for wrong programs, and see.

    Nothing is executed. The F-measure is the mean number of groups until one lies in the region, the F-ratio compares it
    with random testing, Cohen's d says by how many standard deviations it is better.

    Examples: datamorphic simulate --generator IPART --rate 0.01 --trials 200; datamorphic simulate --generator MT-RT
    --generator SFIDMT-ART --scenario A1 --rate 0.02 --trials 50 --html simulation.html; datamorphic simulate --selector
    MRGS-ART --relations 3 --rate 0.02 --trials 50
    """
    from ..hunting.api import simulate as run
    from ..hunting.example_relations import make_mixed_relations
    from ..hunting.page import build_simulation_rows, build_simulations_page
    from ..hunting.text import format_setting
    from ..reporting.html import write_page

    if generator and selector:
        raise UsageError("Compare generators or selectors, not both: leave out --generator or --selector.")
    if html is not None:
        ready_to_write(html)
    options: dict[str, Any] = {} if k is None else {"k": k}
    if selector:
        options["relation"] = make_mixed_relations(relations, dimension)
    made = [
        run(
            each, region, rate, dimension, scenario=scenario, trials=trials, seed=seed, budget=budget, boxes=boxes,
            selector=each if selector else None, violating=violating if selector else 0, workers=workers, **options,
        )
        for each in selector or generator or ["SFIDMT-ART"]
    ]  # fmt: skip
    if html is not None:
        write_page(build_simulations_page(made), html)
    if as_json:
        told = [each.document() for each in made]
        print_json((told[0] if len(told) == 1 else {}) | {"simulations": told})
        return
    if len(made) == 1:
        print_text(made[0].describe())
    else:
        _print_rows(build_simulation_rows(made), format_setting(made[0], with_relations=True), trials)
    tell_written(html)


def _print_rows(rows: list[list[Any]], where: str, trials: int) -> None:
    """Print a row for each simulation."""
    columns = ["", "F-measure", "F-ratio", "from", "to", "Cohen's d", "ended", "seconds"]
    cells = [columns, *([to_printable("–" if cell is None else str(cell)) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    print_text(
        f"{where[:1].upper()}{where[1:]}, {pluralize(trials, 'trial')} each; the F-ratio is that to random testing."
    )
    out = console()
    for name, *figures in cells:
        told = [
            f"{name:<{widths[0]}}",
            *(f"{each:>{width}}" for each, width in zip(figures, widths[1:], strict=True)),
        ]
        out.print("  ".join(told), markup=False)
