"""The command ``datamorphic generate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from .._clock import read_clock
from .._text import pluralize
from ..errors import UsageError
from . import options as opt
from .console import (
    prepare_output_files,
    print_json,
    print_line,
    print_text,
    print_written_files,
    redirect_user_output,
    write_rows,
)
from .hunt import PROGRAM_PREFIX
from .load import load_named, load_object

if TYPE_CHECKING:
    import pandas as pd

    from ..hunting.generator_base import GroupBatch
    from ..relations.function import FunctionRelation


def generate(
    of: Annotated[str | None, opt.argument("RELATION", "program:NAME/RELATION, or module:object.")] = None,
    domain: Annotated[
        list[str] | None,
        opt.option("LOW,HIGH", "Instead of RELATION: the limits of one input. Repeat it for each input."),
    ] = None,
    generator: Annotated[
        str, opt.option("NAME", "What chooses the groups: MT-RT (random), SFIDMT-ART, MT-BART, MT-IPART ...")
    ] = "SFIDMT-ART",
    n: Annotated[int, opt.option("N", "Number of groups.", min=1)] = 1000,
    k: opt.CandidateCount = None,
    ratio: opt.Ratio = None,
    tries: opt.Tries = None,
    scaled: opt.Scaled = False,
    joint: opt.JointDistance = False,
    pool_criterion: opt.PoolCriterion = None,
    pool_strategy: opt.PoolStrategy = None,
    out: Annotated[Path | None, opt.option("FILE", "Write the groups to this CSV or Parquet file.")] = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Generate well-spread groups of a relation, or single inputs. Nothing is executed.

    The file has one row per group, with columns source_... and follow_up_....

    Examples: datamorphic generate program:tanh/tripling --generator MT-BART --n 100 --out groups.csv; datamorphic generate
    --domain 0,1 --domain 0,1 --generator IPART --n 20
    """
    from ..hunting.api import generate as generate_groups

    if (of is None) == (not domain):
        raise UsageError(
            "Say what to generate, one of: a relation (program:NAME/RELATION or module:object) or --domain LOW,HIGH. "
            f"Got {'neither' if of is None else 'both'}."
        )
    prepare_output_files(out)
    options = opt.collect_options(
        ratio=ratio,
        tries=tries,
        scaled=scaled or None,
        joint=joint or None,
        criterion=pool_criterion,
        strategy=pool_strategy,
    )
    with redirect_user_output():
        relation = [_parse_limits(text) for text in domain or []] if of is None else load_function_relation(of)
        start = read_clock()
        groups = generate_groups(relation, load_named(generator), n, seed, k=k, **options)
        seconds = read_clock() - start
        rows = _build_table(relation, groups)
        if out is not None:
            write_rows(rows, out)
    if as_json:
        document = {
            "relation": of,
            "domain": domain,
            "generator": generator,
            "n": n,
            "seed": seed,
            "seconds": seconds,
            "columns": list(rows.columns),
        }
        print_json(document | ({"groups": rows.to_numpy().tolist()} if out is None else {"file": str(out)}))
        return
    print_text(f"{pluralize(n, 'group')} by {generator} in {seconds:.2f} s, seed {seed}.")
    if out is None:
        print_line(rows.to_string(max_rows=20))
    print_written_files(out)


def load_function_relation(text: str) -> FunctionRelation:
    """Return the relation that ``program:NAME/RELATION`` or ``module:object`` names."""
    from ..relations.function import FunctionRelation

    if text.startswith(PROGRAM_PREFIX):
        from ..data.programs import programs

        name, slash, relation_name = text.removeprefix(PROGRAM_PREFIX).partition("/")
        relations = programs[name].relations
        if not slash:
            raise UsageError(
                f"Say which relation of {name!r}, for example {PROGRAM_PREFIX}{name}/{next(iter(relations))}."
            )
        return relations[relation_name]
    relation = load_object(text)
    if not isinstance(relation, FunctionRelation):
        raise UsageError(f"{text!r} is of type {type(relation).__name__}. Name a FunctionRelation: module:relation.")
    return relation


def _parse_limits(text: str) -> tuple[float, float]:
    low, _, high = text.partition(",")
    try:
        return float(low), float(high)
    except ValueError:
        raise UsageError(f"--domain takes two numbers, as in 0,1. Got {text!r}.") from None


def _build_table(relation: FunctionRelation | list[tuple[float, float]], groups: GroupBatch) -> pd.DataFrame:
    """Return the groups as a table with one column per number of every input."""
    import pandas as pd

    from ..hunting.plots import name_columns
    from ..relations.box import Box
    from ..relations.function import FunctionRelation

    if not isinstance(relation, FunctionRelation):
        names = name_columns(Box.of(relation))
        return pd.DataFrame(groups.sources, columns=[f"source_{name}" for name in names])
    columns: dict[str, Any] = {}
    if relation.make_inputs is not None:  # inputs are computed from the drawn numbers
        columns |= {f"drawn_{i}": column for i, column in enumerate(groups.sources.T, 1)}
    for kind, inputs in (
        ("source", relation.source_inputs(groups.sources)),
        ("follow_up", relation.follow_inputs(groups.follow_ups)),
    ):
        for i, matrix in enumerate(inputs, 1):
            prefix = kind if len(inputs) == 1 else f"{kind}{i}"
            names = name_columns(Box.of([(0, 1)] * matrix.shape[1]))
            columns |= {f"{prefix}_{name}": matrix[:, j] for j, name in enumerate(names)}
    return pd.DataFrame(columns)
