"""The command ``datamorphic combine``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from .._text import suggest_name
from ..core.capability import get_capability
from ..errors import UsageError
from ..morphisms.case_files import is_case_file
from ..morphisms.cases import TestSet
from ..morphisms.stock import to_test_system
from ..synthesis.combination.run import combine as make_combination
from . import options as opt
from .command import make_command
from .console import print_json, print_line, redirect_user_output
from .load import load_data, load_space
from .system_command import SetCommand, load_test_system


@dataclass(frozen=True, kw_only=True)
class CombineCommand(SetCommand):
    """Combining, whose number of cases can also be estimated."""

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return the test system or space, and the data of seed cases."""
        data_help = "Seed cases: a CSV, Parquet or .tcs file, or data:NAME."
        space_help = "Instead of SYSTEM: a TOML, YAML or JSON file that describes a space, whose moves make the cases."
        return [
            *super().list_inputs(),
            ("data", Annotated[str | None, opt.option("DATA", data_help)], None),
            ("target", opt.Target, None),
            ("space", Annotated[Path | None, opt.option("FILE", space_help)], None),
        ]

    def list_face_options(self) -> list[tuple[str, Any, Any]]:
        """Return the flag of an estimate."""
        estimate = Annotated[bool, opt.flag("--estimate", "Only print how many cases there would be.")]
        return [("estimate", estimate, False), *super().list_face_options()]

    def run(self, values: dict[str, Any]) -> None:
        """Combine, or only count the cases."""
        if not values["estimate"]:
            super().run(values)
            return
        as_json = values["as_json"]
        words = self.collect_words({name: values[name] for name in self.request_keys if name in values})
        with redirect_user_output():
            options = self.capability.options(**self.load_values(words, trust=False))
            size = options.make_subject().size
        if as_json:
            print_json({"strategy": values["strategy"], "estimate": size})
        else:
            print_line(f"up to {size:,} new cases")

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return the test system and its seed cases, or their number."""
        data, target, count = words.get("data"), words.get("target"), words.get("seeds")
        system = load_test_system(words, "test", {"--space": words.get("space")})
        if target is not None and data is None:
            raise UsageError("--target names a column of --data, but no data are given. Add --data FILE.")
        if system is None:
            system = load_space(words["space"], None)
        if data is None:
            return {"model": system}
        if not data.startswith("data:") and is_case_file(data):
            tests = TestSet.load(data, to_test_system(system).known_space())
            return {"model": system, "seeds": tests if count is None else tests.take(slice(0, count))}
        frame = load_data(data)
        if target is not None:
            if target not in frame.columns:
                raise UsageError(
                    f"The target column {target!r} is not in the data. {suggest_name(target, frame.columns)}"
                )
            frame = frame.drop(columns=[target])
        return {"model": system, "seeds": frame if count is None else frame.head(count)}


COMMAND = CombineCommand(capability=get_capability(make_combination))

combine = make_command(
    """Make new test cases by applying datamorphisms one after the other, and check the metamorphisms.

    Prints every metamorphism, and for a violated one the shortest chains of datamorphisms that lead to a violation. The
    exit code is 1 if a metamorphism is violated.

    Examples: datamorphic combine my_tests:Triangle --strategy permutations;
    datamorphic combine --subject "Box 1" --seeds 10 --strategy sequences --order 2;
    datamorphic combine my_tests:Loans --strategy permutations --budget 1000 --html combined.html
    """,
    COMMAND,
)
