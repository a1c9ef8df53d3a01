"""The command ``datamorphic hunt``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import pluralize
from ..errors import SystemFailed, UsageError
from . import options as opt
from .console import prepare_output_files, print_json, print_text, print_written_files, redirect_user_output
from .exit_codes import ExitCode
from .load import load_candidates, load_data, load_named, load_object, load_space, load_system

if TYPE_CHECKING:
    from ..relations.function import FunctionRelation

PROGRAM_PREFIX = "program:"


def hunt(
    program_or_model: Annotated[
        str,
        opt.argument(
            "SYSTEM", "program:NAME, program:NAME/MUTANT or module:function; with --data a model file or module:object."
        ),
    ],
    relations: Annotated[
        list[str] | None,
        opt.argument(
            "RELATIONS",
            "What must hold: names of relations of the program (the default is all), of texts, images or credit models "
            "(text.typo of review, image.noise, credit.HMR1), or module:object.",
        ),
    ] = None,
    generator: Annotated[
        str | None,
        opt.option(
            "NAME",
            "What chooses the groups: SFIDMT-ART, MT-RT (random), MT-BART ... The default is SFIDMT-ART, for models "
            "MD-ART, for texts, images, patterns and promises about columns the rows of --data.",
        ),
    ] = None,
    selector: Annotated[
        str | None,
        opt.option("NAME", "What chooses among several relations, e.g. MRGS-ART. By default they take turns."),
    ] = None,
    budget: Annotated[
        int | None,
        opt.option("N", "Largest number of groups per trial. By default 100,000, and 10 seconds for the hunt.", min=1),
    ] = None,
    trials: Annotated[int, opt.option("N", "Number of trials, each with its own random numbers.", min=1)] = 1,
    stop_after: Annotated[
        str, opt.option("N", "End a trial after this many violations; 0 or all to collect them all.")
    ] = "1",
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
    data: Annotated[
        str | None, opt.option("DATA", "For a model, its real inputs: a CSV or Parquet file, or data:NAME (data:iris).")
    ] = None,
    target: opt.Target = None,
    space: opt.SpaceFile = None,
    promise: Annotated[
        list[str] | None,
        opt.option(
            "LINE",
            "For a model, a line of a promises file: 'income: raises approved', 'age: does not matter', 'rise: income x 1.1 "
            "raises approved'. Repeatable.",
        ),
    ] = None,
    trust: opt.Trust = False,
    timeout: opt.Timeout = None,
    batch: Annotated[
        int | None, opt.option("N", "Largest number of groups executed at once.", min=1, panel=opt.COMPUTING_PANEL)
    ] = None,
    workers: opt.Workers = None,
    engine: opt.EngineName = None,
    html: opt.HtmlFile = None,
    junit: opt.JunitFile = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Search for violations of relations with as few executions as possible.

    Groups of inputs are generated, executed and judged. The exit code is 1 if a relation is violated.

    Examples: datamorphic hunt program:tanh/emu10; datamorphic hunt program:sin Sin1 Sin2 --selector MRGS-ART --budget
    1000; datamorphic hunt program:tanh/branch3.1 tripling --generator MT-BART --trials 20 --html hunt.html; datamorphic hunt
    model.skops --data loans.csv --target approved --promise "income: raises approved"
    """
    from ..hunting.api import hunt as run_hunt
    from ..runs.engines import make_engine

    prepare_output_files(html, junit)
    try:
        violation_limit = None if stop_after == "all" else int(stop_after) or None
    except ValueError:
        raise UsageError(f"--stop-after is a number of violations, or all. Got {stop_after!r}.") from None
    proposer_options = opt.collect_options(
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
        proposer_options |= opt.collect_options(candidates=load_candidates(candidates))
        system, display_name, own_relations = _load_system_to_hunt(program_or_model, data, space, trust)
        chosen_relations = _load_relations(program_or_model, relations or [], own_relations, promise or [])
        if promise and data is None and space is None:
            raise UsageError("--promise is about the columns of a model. Add --data FILE.")
        frame = None if data is None else load_data(data)
        if selector is not None and own_relations is not None:
            shared = system.shared()  # a selector gives the same sources to all relations
            chosen_relations = [shared.get(relation.name, relation) for relation in chosen_relations]
        result = run_hunt(
            system,
            chosen_relations,
            None if generator is None else load_named(generator),
            None if selector is None else load_named(selector),
            budget,
            trials,
            seed,
            stop_after=violation_limit,
            k=k,
            data=frame,
            target=target,
            space=load_space(space, frame, target, system),
            batch=batch,
            engine=None if engine is None and workers is None else make_engine(engine, workers),
            timeout=timeout,
            **proposer_options,
        )
        if display_name is not None:
            result = replace(result, name=display_name)
        if result.failed >= result.calls > 0:
            raise SystemFailed(
                f"{result.name} answered none of {pluralize(result.failed, 'input')}. "
                f"The most frequent error: {result.failure_message}"
            )
        if html is not None:
            result.to_html(html, system=None if data is not None or space is not None else system)
        if junit is not None:
            result.to_junit(junit)
    if as_json:
        print_json(result.document() | {"interrupted": result.interrupted})
    else:
        print_text(result.describe())
        print_written_files(html, junit)
    if result.found:
        raise typer.Exit(ExitCode.FINDINGS)
    if result.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _load_system_to_hunt(
    text: str, data: str | None, space: Path | None, trust: bool
) -> tuple[Any, str | None, Mapping[str, FunctionRelation] | None]:
    """Return the system, its display name, and its own relations if it has any."""
    if text.startswith(PROGRAM_PREFIX):
        if data is not None or space is not None:
            raise UsageError("A program has its own inputs. Leave --data and --space out.")
        from ..data.programs import programs

        name, slash, mutant_id = text.removeprefix(PROGRAM_PREFIX).partition("/")
        program = programs[name]
        if not slash:
            return program, program.name, program.relations
        mutant = program.mutants[mutant_id]
        return mutant, f"{program.name}/{mutant.id}", program.relations
    from ..systems.base import Executor

    system, options = load_system(text, None, trust)
    is_model = isinstance(system, str | Executor) or hasattr(system, "predict")
    if not callable(system) and not is_model:
        raise UsageError(
            f"{text!r} is of type {type(system).__name__}, neither a function nor a model. Name one of them: "
            "module:function."
        )
    if is_model and data is None and space is None:
        raise UsageError(f"The inputs of the model {text!r} are not known. Add --data FILE, or --space FILE.")
    if isinstance(system, str):
        from ..systems.wrap import wrap

        return wrap(system, **options), None, None
    return system, None, None


def _load_relations(
    program_or_model: str, names: list[str], own_relations: Mapping[str, FunctionRelation] | None, promises: list[str]
) -> list[Any]:
    """Return relations by name, those of the program or of the module of the function, and those of promises."""
    from ..relations.base import Relation
    from ..relations.registry import find_relation

    relations = _build_promised_relations(promises) if promises else []
    if not names and not relations:
        if own_relations is None:
            raise UsageError(
                "Say which relations must hold: datamorphic hunt SYSTEM module:relation, or --promise 'income: raises "
                "approved' for a model. Make a relation with dm.FunctionRelation."
            )
        return list(own_relations.values())
    for name in names:
        if own_relations is None and isinstance(registered := find_relation(name), Relation):
            relations.append(registered)
            continue
        if own_relations is not None and ":" not in name:
            relations.append(own_relations[name])
            continue
        module, colon, _ = program_or_model.partition(":")
        if ":" not in name and not colon:
            raise UsageError(f"{name!r} is not understood. Write module:relation, as in my_tests:doubling.")
        relation = load_object(name if ":" in name else f"{module}:{name}")
        if isinstance(relation, dict):
            relation = list(relation.values())
        relations += relation if isinstance(relation, list | tuple) else [relation]
    return relations


def _build_promised_relations(lines: list[str]) -> list[Any]:
    """Return the relations of lines of a promises file: named changes, directions, and columns that must not matter."""
    from ..relations.promises import parse_promises

    promises = parse_promises("\n".join(" ".join(line.split()) for line in lines), "--promise")
    return [*promises.build_relations().values(), *promises.build_column_relations().values()]
