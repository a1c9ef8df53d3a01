"""The command ``datamorphic optimise``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from .._lazy import pd
from ..core.capability import get_capability
from ..core.parsing import parse_names
from ..morphisms.case_files import is_case_file
from ..morphisms.cases import TestSet
from ..morphisms.system import TestSystem, has_morphisms
from ..synthesis.optimisation.run import optimise as improve_tests
from . import options as opt
from .command import make_command
from .load import load_data, load_space, load_system, to_absolute_path
from .system_command import SetCommand
from .tree_command import load_named_tree_model


@dataclass(frozen=True, kw_only=True)
class OptimiseCommand(SetCommand):
    """Optimising, which starts from the test set of a file, and may need a tree beside the model."""

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return the test system or model, the first test set, and the tree of a metric."""
        tests_help = "The test set to start from: .tcs, .csv, .parquet or data:NAME. By default SYSTEM makes one."
        tree_help = "The tree or forest of leaf_coverage and mutation_score, if not SYSTEM."
        return [
            *super().list_inputs(),
            ("tests", Annotated[str | None, opt.option("FILE", tests_help)], None),
            ("tree", Annotated[str | None, opt.option("MODEL", tree_help)], None),
            ("code", opt.Code, None),
        ]

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take what is optimised out of the values of a command; files mean the same in another folder."""
        words = super().collect_inputs(values)
        return words | {name: to_absolute_path(words[name]) for name in ("model", "tests", "tree") if name in words}

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return the test system or model, the first test set and the tree."""
        system, wrap_options = load_system(words.get("model"), words.get("subject"), trust)
        tests = None if words.get("tests") is None else _load_tests(words["tests"], system)
        tree = None if words.get("tree") is None else load_named_tree_model(words["tree"], trust)
        frame = None if isinstance(tests, TestSet) else tests
        space = load_space(words.get("space"), frame, words.get("target"), system, wrap_options)
        code = parse_names(words["code"], "--code") if "code" in words else None
        return {"model": system, "tests": tests, "tree": tree, "code": code, "space": space, **wrap_options}


def _load_tests(text: str, system: object) -> TestSet | pd.DataFrame:
    """Return the cases of a file: a test set with its origins, or plain rows."""
    if text.startswith("data:") or not is_case_file(text):
        return load_data(text)
    is_test_system = not hasattr(system, "fit") and has_morphisms(system)
    return TestSet.load(text, TestSystem.collect(system).known_space() if is_test_system else None)


COMMAND = OptimiseCommand(
    capability=get_capability(improve_tests),
    model_help="A test system (module:Class), or a model with --tests. Leave it out with --subject.",
    subject_help='A built-in classifier instead of SYSTEM, e.g. "Box 2".',
    files={"save": "Write the best set to this file: .tcs, .csv or .parquet."},
    has_model_files=True,
)

optimise = make_command(
    """Improve a test set by a genetic algorithm: more diverse, nearer to the borders, reaching more of a tree.

    Each cycle makes new cases with the datamorphisms of SYSTEM and keeps those that serve the metric. The size of the set
    stays the same. Prints how much was gained and what it cost.

    Examples: datamorphic optimise --subject "Box 2" --metric border_coverage --strategy weakest_removal;
    datamorphic optimise my_tests:RedWine --tests cases.csv --save better.csv --html better.html;
    datamorphic optimise model.skops --tests customers.csv --target churned --metric leaf_coverage
    """,
    COMMAND,
)
