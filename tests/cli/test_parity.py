"""Every parameter of a public function is an option or argument of its command, and the other way round."""

from __future__ import annotations

import inspect

import typer

import datamorphic as dm
from datamorphic.cli.main import COMMAND_GROUPS, app
from datamorphic.hunting.generators import GENERATORS
from datamorphic.hunting.selectors import SELECTORS
from support.cases import in_one_test

ROOT = typer.main.get_command(app)

#: the function of each command that has one; `plan` is an option of explore
COMMANDS = {
    "check": ["check"],
    "combine": ["combine"],
    "compare": ["compare"],
    "cover": ["cover"],
    "credit": ["credit"],
    "explore": ["explore", "plan"],
    "fairness": ["fairness"],
    "generate": ["generate"],
    "hunt": ["hunt"],
    "laws": ["laws"],
    "mutate": ["mutate"],
    "optimise": ["optimise"],
    "script": ["play"],
    "select": ["select"],
    "simulate": ["simulate"],
    "study": ["study"],
    "test": ["test"],
}
#: commands without a public function
OTHER_COMMANDS = {"cases", "demo", "guide", "init", "patterns", "rank", "runs", "web", "worker-check"}

#: parameters of Python that no command has, with the reason; at most five
PYTHON_ONLY = {
    "progress": "progress is shown if stderr is a terminal: 2>/dev/null hides it",
    "resume": "datamorphic runs resume ID resumes a run with the options it was started with",
}

#: parameters whose option has another name, in all commands
RENAMED = {
    "kinds": "kind",
    "column_steps": "column-step",
    "orders": "order",
    "relations": "relation",
    "expected_failures": "expect-failure",
    "ties": "count-ties",
    "shrink": "no-shrink",
    "operators": "operator",
    "learners": "learner",
    "constraints": "no-constraints",
    "columns": "column",
    "script": "FILE",
    "maps": "map",
}
#: parameters whose name in one command is that of the function, although other commands rename it, or the reverse
RENAMED_IN = {
    ("mutate", "model"): "PROGRAM",
    ("combine", "model"): "SYSTEM",
    ("optimise", "model"): "SYSTEM",
    ("hunt", "model"): "SYSTEM",
    ("laws", "model"): "SYSTEM",
    ("hunt", "relations"): "RELATIONS",
    ("script", "model"): "system",
}

#: options that only the command line has: where inputs come from that Python has as objects,
INPUTS = {"MODEL", "DATA", "SYSTEM", "subject", "system", "data", "target", "trust", "workers", "param", "train"}
#: what is printed, written or returned as an exit code,
OUTPUTS = {
    "json",
    "html",
    "junit",
    "sarif",
    "markdown",
    "pytest",
    "svg",
    "out",
    "save",
    "save-front",
    "record",
    "verdict",
    "fix",
    "show",
    "at-least",
    "allow-incomplete",
    "fail-on",
}
#: and what is another call in Python
CALLS = {
    ("explore", "compare"): "front.diff",
    ("explore", "plan"): "dm.plan",
    ("explore", "view"): "front.plot(view=...)",
    ("combine", "estimate"): "estimate_size",
    ("combine", "space"): "model may be a Space",
    ("script", "check"): "plan_script",
    ("script", "format"): "format_script",
    ("test", "monotone"): "expect={'monotone': ...}",
    ("test", "invariant"): "expect={'invariant': ...}",
    ("test", "outcome"): "expect={'outcome': ...}",
    ("cover", "mutant"): "to_svg(mutant=...)",
    ("study", "all"): 'study("all")',
    ("study", "list"): "list_studies",
    ("study", "resume"): "resume, which is left to datamorphic runs resume elsewhere",
    ("hunt", "pattern"): "dm.relations.parse_pattern_relation",
    ("hunt", "promise"): "relations may be those of promises",
    ("generate", "domain"): "relation may be limits",
    ("generate", "constraint"): "relation may be a Space",
    ("simulate", "relations"): "relation may be several",
    ("credit", "also"): "model may be several",
    ("credit", "performance"): "dm.data.read_freddie_mac",
    ("credit", "invalid"): "dm.data.read_loan_book",
}


def list_options(command):
    """Return the names of the options and the placeholders of the arguments of a command, one set per parameter."""
    return [
        {param.metavar.strip("[].")}
        if param.param_type_name == "argument"
        else {name.lstrip("-") for name in param.opts}
        for param in ROOT.commands[command].params
        if "help" not in param.opts[0]
    ]


def list_proposer_options(command):
    """Return the parameters of the generators, and of the selectors where the command has some."""
    classes = [*GENERATORS.values(), *(SELECTORS.values() if command != "generate" else ())]
    return {
        name
        for kind in classes
        for base in kind.__mro__
        for name, parameter in inspect.signature(base.__init__).parameters.items()
        if parameter.kind == parameter.KEYWORD_ONLY
    }


def list_parameters(command):
    """Return the parameters of the functions of a command, with those that **options stand for."""
    parameters = {}
    for function in COMMANDS[command]:
        parameters |= inspect.signature(getattr(dm, function)).parameters
    names = {name for name, parameter in parameters.items() if parameter.kind != parameter.VAR_KEYWORD}
    return names if len(names) == len(parameters) else names | list_proposer_options(command)


def find_differences(parameters, options, command):
    """Return the parameters without an option, and the options without a parameter."""
    expected = {
        RENAMED_IN.get((command, name), RENAMED.get(name, name)).replace("_", "-")
        for name in parameters
        if name not in PYTHON_ONLY
    }
    known = set().union(*options)
    arguments = {name.lower() for name in known if name.isupper()}
    missing = {name for name in expected if name not in known and name not in arguments}
    extra = {
        min(names)
        for names in options
        if not {name.lower() for name in names} & {name.lower() for name in expected}
        and not names & (INPUTS | OUTPUTS)
        and not any((command, name) in CALLS for name in names)
    }
    return missing, extra


@in_one_test("command", COMMANDS)
def test_python_and_the_command_line_have_the_same_options(command):
    assert find_differences(list_parameters(command), list_options(command), command) == (set(), set())


def test_every_command_and_every_function_is_compared():
    assert set(ROOT.commands) - set(COMMAND_GROUPS) == set(COMMANDS) | OTHER_COMMANDS
    functions = {name: getattr(dm, name) for name in dm.__all__ if inspect.isfunction(getattr(dm, name))}
    random_functions = {
        name for name, function in functions.items() if "seed" in inspect.signature(function).parameters
    }
    assert random_functions - set().union(*COMMANDS.values()) == {"assert_holds"}  # for tests in Python


def test_exceptions_are_few_and_needed():
    assert len(PYTHON_ONLY) <= 5
    parameters = set().union(*(list_parameters(command) for command in COMMANDS))
    assert set(PYTHON_ONLY) | set(RENAMED) <= parameters
    for command, name in RENAMED_IN:
        assert name in list_parameters(command)
    options = {(command, name) for command in COMMANDS for names in list_options(command) for name in names}
    assert set(CALLS) <= options
    assert {name for _, name in options} >= INPUTS | OUTPUTS


def test_one_side_alone_is_noticed():
    parameters, options = list_parameters("explore"), list_options("explore")
    assert find_differences(parameters | {"depth"}, options, "explore") == ({"depth"}, set())
    assert find_differences(parameters, [*options, {"depth"}], "explore") == (set(), {"depth"})
    assert find_differences(parameters - {"pool"}, options, "explore") == (set(), {"pool"})
    assert find_differences(parameters, [names for names in options if "pool" not in names], "explore") == (
        {"pool"},
        set(),
    )


def test_options_of_generators_are_those_of_their_classes():
    assert {"ratio", "tries", "criterion"} <= list_parameters("generate")
    assert {"published", "metric", "candidates", "domains", "ratio"} <= list_parameters("simulate")
    assert "published" not in list_parameters("generate")
