"""`capability`: the public function has the parameters of its options, for people, editors and type checkers."""

import inspect
import subprocess
import sys
import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any

import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.core.capability import Capability, build_documentation, format_type, get_capability, read_values
from datamorphic.core.execute import KeptOptions
from datamorphic.core.options import Option, list_fields
from datamorphic.runs.flow import Budget

PEOPLE = pd.DataFrame({"income": [10.0, 60.0] * 60, "gender": ["f", "m", "m", "f"] * 30})


def decide(frame):
    return (frame.income - 20 * (frame.gender == "f") > 30).map({True: "yes", False: "no"})


def test_the_signature_is_that_of_the_options():
    fields = list_fields(get_capability(dm.fairness).options)
    parameters = inspect.signature(dm.fairness).parameters
    assert list(parameters) == [field.name for field in fields]
    assert parameters["rows"].default == 2_000
    assert parameters["rows"].kind is inspect.Parameter.KEYWORD_ONLY
    assert str(parameters["space"]) == "space: Space | None = None"


def test_every_parameter_is_documented_before_the_returns():
    text = inspect.getdoc(dm.fairness)
    names = [field.name for field in list_fields(get_capability(dm.fairness).options)]
    positions = [text.index(f"\n{name} : ") for name in names]
    assert positions == sorted(positions)
    assert positions[-1] < text.index("Returns\n-------")


def test_a_docstring_without_sections_ends_with_the_parameters():
    text = build_documentation("Do it.", get_capability(dm.fairness).options)
    assert text.startswith("Do it.\nParameters\n----------\nmodel : ModelLike\n")


def test_types_are_shown_as_source_code():
    hints = {field.name: field.hint for field in list_fields(get_capability(dm.fairness).options)}
    assert format_type(hints["protected"]) == "Sequence[str] | str"
    assert format_type(hints["bounds"]) == "Mapping[str, tuple[float | None, float | None]] | None"


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((), {"rowz": 3}, r"fairness\(\) got an unexpected keyword argument 'rowz'. Did you mean 'rows'"),
        ((), {"data": PEOPLE}, r"fairness\(\) needs 'model'"),
        ((decide, PEOPLE), {"data": PEOPLE}, "multiple values for argument 'data'"),
        ((decide, PEOPLE, (), None, 3), {}, "takes at most 4 positional arguments, but 5 were given"),
    ],
)
def test_wrong_calls_are_explained(arguments, keywords, message):
    with pytest.raises(TypeError, match=message):
        dm.fairness(*arguments, **keywords)


def test_a_former_name_works_and_warns():
    with pytest.warns(DeprecationWarning, match="'steps' of fairness is now called 'column_steps'"):
        old = dm.fairness(decide, PEOPLE, "gender", outcome="yes", steps={"income": 5})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = dm.fairness(decide, PEOPLE, "gender", outcome="yes", column_steps={"income": 5})
    assert old.findings == new.findings


#: a call of every verb that type checkers accept
CALLS = [
    'dm.test(answer, [[1]], budget="1s", seed=1)',
    "dm.explore(answer, [[1]], walks=5)",
    "dm.plan(answer, [[1]], 5, trial=10)",
    'dm.check(answer, [[1]], ["repeats"], seed=1)',
    'dm.hunt(dm.programs["tanh"], "tripling", "RT", seed=1)',
    'dm.generate([(0, 1)], "RT", n=5)',
    'dm.simulate("RT", trials=2)',
    'dm.mutate("module.py", seed=1)',
    "dm.cover(answer, [[1]], seed=1)",
    'dm.select(answer, [[1]], "label", seed=1)',
    'dm.combine(dm.subjects["Box 1"], seed=1)',
    'dm.optimise(dm.subjects["Box 1"], seed=1)',
    'dm.laws(dm.subjects["Box 1"], seed=1)',
    'dm.fairness(answer, [[1]], ["gender"], rows=100, seed=1, engine="serial", kinds={"age": "integer"})',
    "dm.credit(seed=1)",
    'dm.play("a.scr", seed=1)',
]


@pytest.mark.slow
def test_type_checkers_see_every_keyword(tmp_path):
    lines = ["import datamorphic as dm", "", "def answer(frame: object) -> list[str]:", "    return []", "", *CALLS]
    wrong_calls = [call[:-1] + ", seedz=1)" for call in CALLS]
    wrong_calls += ['dm.fairness(answer, [[1]], rows="many")', "dm.fairness()"]
    expected_lines = list(range(len(lines) + 1, len(lines) + len(wrong_calls) + 1))
    (tmp_path / "user.py").write_text("\n".join(lines + wrong_calls) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary", "user.py"]
    output = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    errors = [line for line in output.splitlines() if "error" in line]
    assert [int(line.split(":")[1]) for line in errors] == expected_lines, output


@dataclass(frozen=True, eq=False)
class OpenOptions(KeptOptions):
    """Options that take what others declare, and of a capability that queries nothing."""

    count: Annotated[int, Option("How many.")] = 1
    _: KW_ONLY
    settings: Annotated[Mapping[str, Any] | None, Option("Settings.", collects_keywords=True)] = None

    def make_subject(self, execution):
        return None

    def describe_run(self, execution):
        return {"system": "nothing", "parameters": self.to_request()}


def test_other_keywords_are_collected_where_a_field_takes_them():
    described = Capability("open", OpenOptions, lambda options, execution: None, "open")
    options = OpenOptions(**read_values(described, (2,), {"seed": 3, "power": 4, "settings": {"base": 10}}))
    assert (options.count, options.seed, options.settings) == (2, 3, {"base": 10, "power": 4})


def test_a_capability_that_queries_nothing_has_no_engine_and_no_budget():
    names = {field.name for field in list_fields(OpenOptions)}
    assert names == {"count", "settings", "seed", "store", "resume", "progress"}
    options = OpenOptions()
    assert (options.engine, options.timeout, options.batch, options.limits) == (None, None, None, Budget())


def test_options_that_say_nothing_about_their_subject_cannot_be_made():
    with pytest.raises(TypeError, match=r"abstract methods? '?describe_run'?, '?make_subject'?"):
        KeptOptions()
