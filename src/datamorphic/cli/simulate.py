"""The command ``datamorphic simulate``."""

from __future__ import annotations

from typing import Annotated

from ..errors import UsageError
from . import options as opt
from .console import prepare_output_files, print_json, print_text, print_written_files, redirect_user_output
from .generate import load_function_relation
from .load import load_candidates, load_named


def simulate(
    generator: Annotated[
        list[str] | None,
        opt.option("NAME", "A generator: MT-RT, SFIDMT-ART, IPART, Sobol ... Repeat it to compare several."),
    ] = None,
    region: Annotated[str, opt.option("SHAPE", "The shape of the violating region: block, strip or point.")] = "block",
    rate: Annotated[float, opt.option("SHARE", "The share of the source domain that violates.")] = 0.005,
    dimension: Annotated[int, opt.option("N", "Number of inputs.", min=1)] = 2,
    trials: Annotated[int, opt.option("N", "Number of regions to draw.", min=1)] = 10_000,
    scenario: Annotated[
        str | None,
        opt.option("NAME", "A1 to C5: where the region lies relative to the domains of source and follow-up."),
    ] = None,
    selector: Annotated[
        list[str] | None, opt.option("NAME", "A selector among relations, e.g. MRGS-ART. Repeat it to compare several.")
    ] = None,
    relation: Annotated[
        list[str] | None,
        opt.option(
            "RELATION",
            "A relation of yours that makes the follow-ups: program:NAME/RELATION, or module:object. Repeatable with --selector.",
        ),
    ] = None,
    relations: Annotated[
        int, opt.option("N", "With --selector: number of relations, with 1, 2 and 3 follow-ups in turn.", min=1)
    ] = 3,
    violating: Annotated[
        int, opt.option("INDEX", "With --selector: index of the violated relation, from 0.", min=0)
    ] = 0,
    budget: Annotated[int | None, opt.option("N", "Largest number of groups per trial.", min=1)] = None,
    boxes: Annotated[int, opt.option("N", "Number of boxes of a point region.", min=1)] = 50,
    k: opt.CandidateCount = None,
    ratio: opt.Ratio = None,
    tries: opt.Tries = None,
    scaled: opt.Scaled = False,
    joint: opt.JointDistance = False,
    pool_criterion: opt.PoolCriterion = None,
    pool_strategy: opt.PoolStrategy = None,
    candidates: opt.CandidateSource = None,
    published: opt.Published = None,
    domains: opt.Domains = None,
    selector_metric: opt.SelectorMetric = None,
    workers: Annotated[
        int | None, opt.option("N", "Number of trials computed in parallel.", min=1, panel=opt.COMPUTING_PANEL)
    ] = None,
    html: opt.HtmlFile = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Estimate how soon a generator finds a violation, on random regions that stand for faulty programs.

    Nothing is executed. The F-measure is the mean number of groups until one lies in the region. The F-ratio compares it
    with random testing. Cohen's d says by how many standard deviations it is better.

    Examples: datamorphic simulate --generator IPART --rate 0.01 --trials 200; datamorphic simulate --generator MT-RT
    --generator SFIDMT-ART --scenario A1 --rate 0.02 --trials 50 --html simulation.html; datamorphic simulate --selector
    MRGS-ART --relations 3 --rate 0.02 --trials 50
    """
    from ..hunting.api import simulate as run_simulation
    from ..hunting.page import build_simulation_page
    from ..hunting.simulation import make_mixed_relations
    from ..reporting.html import write_page
    from ..reporting.terminal import format_page

    if generator and selector:
        raise UsageError("Compare generators or selectors, not both. Leave out --generator or --selector.")
    prepare_output_files(html)
    options = opt.collect_options(
        k=k,
        ratio=ratio,
        tries=tries,
        scaled=scaled or None,
        joint=joint or None,
        criterion=pool_criterion,
        strategy=pool_strategy,
        domains=domains,
        metric=selector_metric,
        published=published,
    )
    with redirect_user_output():
        options |= opt.collect_options(candidates=load_candidates(candidates))
        own_relations = [load_function_relation(name) for name in relation or ()]
        shape = load_named(region)
        names = [load_named(name) for name in selector or generator or ["SFIDMT-ART"]]
    if selector:
        options["relation"] = own_relations or make_mixed_relations(relations, dimension)
    elif len(own_relations) > 1:
        raise UsageError("Several relations need --selector. Add it, or give --relation once.")
    elif own_relations:
        options["relation"] = own_relations[0]
    simulations = [
        run_simulation(
            name,
            shape,
            rate,
            dimension,
            scenario=scenario,
            trials=trials,
            seed=seed,
            budget=budget,
            boxes=boxes,
            selector=name if selector else None,
            violating=violating if selector else 0,
            workers=workers,
            **options,
        )
        for name in names
    ]
    if html is not None:
        write_page(build_simulation_page(*simulations), html)
    if as_json:
        documents = [simulation.document() for simulation in simulations]
        print_json((documents[0] if len(documents) == 1 else {}) | {"simulations": documents})
        return
    print_text(format_page(build_simulation_page(*simulations, brief=True)))
    print_written_files(html)
