"""`dm.generate`: groups of a relation, without executing anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .._clock import read_clock
from .._estimates import refuse_many_rows, refuse_too_large
from .._lazy import pd
from .._text import pluralise
from ..core.capability import capability
from ..core.execute import Execution
from ..core.result import FileWriter, Result, make_writer
from ..errors import ArgumentError
from ..relations.algebra.box import Box
from ..relations.algebra.domain import distribute, parse_domain
from ..relations.algebra.function import FunctionRelation
from ..reporting.junit import JUnitCase
from ..space.space import Space
from .generator_base import Generator, GroupBatch
from .generators import make_generator
from .measures import measure_spread
from .options import GenerateOptions

MIN_TIMED_GROUPS = 1_000_000  # to generate: fewer take hours at most
TIMED_GROUPS = 1000  # of the first sample; the second has four times as many


@dataclass(frozen=True, eq=False)
class GeneratedGroups(GroupBatch, Result):
    """The result of generating groups, or single inputs of a domain.

    Attributes
    ----------
    sources, follow_ups : ndarray
        What was drawn for the sources, and the follow-ups, one row per group.
    relation : FunctionRelation or Box
        The relation of the groups, or the domain of single inputs.
    generator : str
        The name of the generator.
    seed : int
        The seed of the random numbers.
    seconds : float
        The duration.
    measured : bool
        Whether reports say how evenly the groups lie.
    """

    _SUMMARY = ("generator", "n")
    _PAGE: ClassVar[str] = "hunting.page:build_groups_page"

    relation: FunctionRelation | Box
    generator: str
    seed: Any
    seconds: float
    measured: bool = False

    @property
    def spread(self) -> pd.DataFrame:
        """How evenly the groups lie: one row for the sources and one for the follow-ups.

        The dispersion is the distance to the nearest other input, the discrepancy the difference between the share of
        inputs in a part of the domain and the share of its volume. Both have a minimum, a maximum and their difference.
        """
        rows = [
            {"inputs": part.inputs}
            | {
                f"{measure} {end}": figure
                for measure in ("dispersion", "discrepancy")
                for end, figure in zip(("min", "max", "max-min"), getattr(part, measure), strict=True)
            }
            for part in measure_spread(self.relation, self.sources)
        ]
        return pd.DataFrame(rows)

    @property
    def headline(self) -> str:
        """The outcome in one line."""
        return f"{pluralise(len(self), 'group')} by {self.generator}"

    @property
    def table(self) -> pd.DataFrame:
        """The groups as a table with one column per number of every input."""
        from .violation_regions import name_columns

        relation = self.relation
        if not isinstance(relation, FunctionRelation):
            return pd.DataFrame(self.sources, columns=[f"source_{name}" for name in name_columns(relation)])
        columns: dict[str, Any] = {}
        if relation.make_inputs is not None:  # inputs are computed from the drawn numbers
            columns |= {f"drawn_{i}": column for i, column in enumerate(self.sources.T, 1)}
        for kind, inputs in (
            ("source", relation.source_inputs(self.sources)),
            ("follow_up", relation.follow_inputs(self.follow_ups)),
        ):
            for i, matrix in enumerate(inputs, 1):
                prefix = kind if len(inputs) == 1 else f"{kind}{i}"
                names = name_columns(Box.of([(0, 1)] * matrix.shape[1]))
                columns |= {f"{prefix}_{name}": matrix[:, j] for j, name in enumerate(names)}
        return pd.DataFrame(columns)

    def document(self) -> dict[str, Any]:
        """Return the groups as a JSON-serialisable dict."""
        table = self.table
        return self._collect(
            *("generator", "seed", "seconds"),
            relation=self.relation.name if isinstance(self.relation, FunctionRelation) else None,
            n=len(self),
            columns=list(table.columns),
            groups=table.to_numpy().tolist(),
            **({"spread": self.spread} if self.measured else {}),
        )

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return the groups as one test case, which always passes."""
        return [JUnitCase(name=self.generator, output=self.headline, seconds=self.seconds)]

    def stored_files(self) -> dict[str, FileWriter]:
        """Return the writer of a Parquet file with the groups."""
        return {"groups.parquet": make_writer(self.table.to_parquet, len(self))}

    def _export_name(self) -> str:
        return self.generator


@capability(GenerateOptions)
def generate(options: GenerateOptions, execution: Execution[None]) -> GeneratedGroups:
    """Generate groups of a relation, without executing anything.

    Returns
    -------
    GeneratedGroups
        The arrays `sources` and `follow_ups`, one row per group, `table`, and `spread`, which says how evenly they lie.

    Examples
    --------
    >>> import datamorphic as dm
    >>> groups = dm.generate(dm.programs["tanh"].relations["tripling"], "MT-BART", n=100)
    >>> groups.sources.shape, groups.follow_ups.shape
    ((100, 1), (100, 1))
    """
    start_time = read_clock()
    source: Any = options.relation
    if options.source_distribution:
        if isinstance(source, FunctionRelation):
            source = source.drawn_from(options.source_distribution)
        else:
            from .violation_regions import name_columns

            box = parse_domain(source, (), "generate")
            names = source.names if isinstance(source, Space) else name_columns(box)
            source = distribute(box, options.source_distribution, names, "generate")
    generator = make_generator(options.generator, source, seed=execution.seed, **options.proposer_options)
    relation = generator.relation
    if isinstance(relation, FunctionRelation) and relation.uses_outputs:
        raise ArgumentError(
            f"Follow-ups of the relation {relation.name!r} depend on outputs, but generate() executes no "
            "system. Use dm.hunt."
        )
    _refuse_many_groups(generator, options.n)
    groups = generator.propose(options.n)
    return GeneratedGroups(
        groups.sources,
        groups.follow_ups,
        relation,
        generator.name,
        execution.seed,
        read_clock() - start_time,
        options.measure,
    )


def _refuse_many_groups(generator: Generator, n: int) -> None:
    """Raise `ArgumentError` if so many groups take too long, or more memory than there is."""
    width = int(generator.layout.start[-1])
    refuse_many_rows("generate", "n", n, 2 * width)  # the groups, and what the generator remembers of them
    if n < MIN_TIMED_GROUPS:
        return
    generator.clone(0).propose(TIMED_GROUPS)  # not timed, since the first call compiles
    sample, seconds = generator.clone(0), []
    for count in (TIMED_GROUPS, 3 * TIMED_GROUPS):
        start_time = read_clock()
        sample.propose(count)
        seconds.append(read_clock() - start_time)
    # some generators compare every group with all others: their time grows with the square of the number
    growth = min(max(math.log(sum(seconds) / seconds[0]) / math.log(4), 1.0), 2.0)
    refuse_too_large("generate", {"n": n}, seconds=sum(seconds) * (n / (4 * TIMED_GROUPS)) ** growth)
