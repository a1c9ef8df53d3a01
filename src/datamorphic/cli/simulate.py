"""The command ``datamorphic simulate``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from ..core.capability import get_capability
from ..errors import UsageError
from ..hunting.simulation import Simulation, make_mixed_relations
from ..hunting.simulation import simulate as run_simulation
from . import options as opt
from .command import CapabilityCommand, make_command
from .generate import list_imported, load_function_relation
from .hunt import load_program
from .load import PROGRAM_PREFIX, load_named

DEFAULT_RELATIONS, DEFAULT_DIMENSION = 3, 2


@dataclass(frozen=True, kw_only=True)
class SimulateCommand(CapabilityCommand):
    """Simulating one generator, or several to compare."""

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return the relations, by name or by number."""
        return [
            (
                "relation",
                Annotated[
                    list[str] | None,
                    opt.option(
                        "RELATION",
                        "A relation of yours that makes the follow-ups: program:NAME/RELATION, or module:object. Repeatable with "
                        "--selector.",
                    ),
                ],
                None,
            ),
            (
                "relations",
                Annotated[
                    int,
                    opt.option("N", "With --selector: number of relations, with 1, 2 and 3 follow-ups in turn.", min=1),
                ],
                DEFAULT_RELATIONS,
            ),
        ]

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take the relations out of the values of the command."""
        if values["generator"] and values["selector"]:
            raise UsageError("Compare generators or selectors, not both. Leave out --generator or --selector.")
        names, count = values.pop("relation"), values.pop("relations")
        if not values["selector"] and len(names or []) > 1:
            raise UsageError("Several relations need --selector. Add it, or give --relation once.")
        words = {"relations": count} if count != DEFAULT_RELATIONS else {}
        return words | ({"relation": names} if names else {})

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return the relations, and generators, selectors and regions of modules."""
        values: dict[str, Any] = {}
        for name in ("generator", "selector"):
            choices = [load_named(text) for text in words.get(name) or []]
            values |= {name: choices[0] if len(choices) == 1 else choices} if choices else {}
        relations: Any = [load_function_relation(text) for text in words.get("relation") or []]
        if words.get("selector") and not relations:
            dimension = words.get("dimension", DEFAULT_DIMENSION)
            relations = make_mixed_relations(words.get("relations", DEFAULT_RELATIONS), dimension)
        if relations:
            values["relation"] = relations if words.get("selector") else relations[0]
        if words.get("region"):
            text = words["region"]
            values["region"] = load_program(text) if text.startswith(PROGRAM_PREFIX) else load_named(text)
        return values

    def list_models(self, words: Mapping[str, Any]) -> list[str]:
        """Return what is imported: relations, generators, selectors and regions of modules."""
        lists = [words.get(name) or [] for name in ("relation", "generator", "selector")]
        return list_imported(words.get("region"), *(item for names in lists for item in names))

    def run(self, values: dict[str, Any]) -> None:
        """Simulate in threads, unless an engine is named: kernels do not hold the interpreter lock."""
        if values["engine"] is None and values["workers"] is not None and values["timeout"] is None:
            values["engine"] = "threads"
        super().run(values)

    def build_document(self, result: Simulation, **face: Any) -> dict[str, Any]:
        """Return the figures, which are also those of the first of a list."""
        document = result.document()
        return {"simulations": [document]} | document


COMMAND = SimulateCommand(capability=get_capability(run_simulation))

simulate = make_command(
    """Estimate how soon a generator finds a violation, on random regions that stand for faulty programs.

    Nothing is executed, unless the region is that of a real program. The F-measure is the mean number of groups until one lies
    in the region. The F-ratio compares it with random testing. Cohen's d says by how many standard deviations it is better.

    Examples: datamorphic simulate --generator IPART --rate 0.01 --trials 200; datamorphic simulate --generator MT-RT
    --generator SFIDMT-ART --scenario A1 --rate 0.02 --trials 50 --html simulation.html; datamorphic simulate --selector
    MRGS-ART --relations 3 --rate 0.02 --trials 50; datamorphic simulate --region program:tanh/emu10 --generator MT-BART
    --trials 100
    """,
    COMMAND,
)
