"""Wrong values of every parameter of every public function: the call works, or one line of our own says what is wrong."""

from __future__ import annotations

import inspect
import math
import re
import types
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
import datamorphic.testing
from datamorphic.data import knn
from datamorphic.errors import DatamorphicError
from datamorphic.hunting.generators import make_generator
from datamorphic.hunting.selectors import SELECTORS
from datamorphic.morphisms.decorators import MarkDecorator
from datamorphic.relations.patterns import inputs, outputs
from support.cases import LONG, in_one_test, thin

ROWS = np.arange(24.0)
FRAME = pd.DataFrame({"x": ROWS % 5, "n": (ROWS % 7).astype(int), "c": np.where(ROWS % 2 == 0, "a", "b")})
INPUTS, LABELS = FRAME[["x", "n"]], (ROWS % 3).astype(int) % 2
SPACE = dm.Space([dm.Continuous("x", 0, 4), dm.Integer("n", 0, 6)])
POINTS = SPACE.sample(5, seed=0, points=True)
TRIPLING = dm.programs["tanh"].relations["tripling"]
TREE = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(INPUTS, LABELS)
LOAN_FILE = Path(__file__).parent / "data" / "loans" / "files" / "sample_orig_2018.txt"
PRODUCTS = pd.DataFrame({"title": ["red wine", "white wine", "old book"]})


class Model:
    """Answers at once, so that calls that work are cheap."""

    classes_ = np.array([0, 1])

    def predict(self, frame):
        return (np.asarray(frame["x"]) > 2).astype(int)


def above(frame):
    return np.asarray(frame["x"]) > 2


#: what no parameter, or hardly one, takes
WRONG_VALUES = {
    "None": None,
    "nan": math.nan,
    "inf": math.inf,
    "minus one": -1,
    "zero": 0,
    "huge": 10**30,
    "enormous": 10**400,
    "half": 0.5,
    "true": True,
    "empty text": "",
    "unknown word": "no such",
    "number in a text": "1",
    "NUL": "a\0b",
    "bytes": b"x",
    "empty list": [],
    "list of a number": [1],
    "list of lists": [["x"], ["y", {}]],
    "list of None": [None],
    "dict": {"no such": 1},
    "dict of numbers": {1: [2]},
    "set": {"x", 2},
    "object": object(),
    "array": np.array([1.0, 2.0]),
    "matrix": np.ones((2, 3, 4)),
    "frame": pd.DataFrame({"no such": [1, 2]}),
    "function": lambda value: value,
    "class": int,
    "complex": 1j,
    "date": pd.Timestamp("2026-01-02"),
    "not available": pd.NA,
}

#: valid values by the name of the parameter, for those that are required or whose default takes long
VALUES = {
    "boxes": 5,
    "cases": 5,
    "data": INPUTS,
    "documents": PRODUCTS,
    "domain": (0, 10),
    "examples": 3,
    "executor": dm.wrap(Model(), space=SPACE),
    "feature": "x",
    "features": SPACE.features,
    "follow_up": lambda x: 3 * x,
    "frame": FRAME,
    "function": above,
    "group": ["x", "n"],
    "high": 4,
    "inputs": 5,
    "learner": Model(),
    "learners": KNeighborsClassifier(3),
    "length": 5,
    "low": 0,
    "model": Model(),
    "n": 5,
    "name": "x",
    "order": [1, 0],
    "parts": [POINTS, POINTS],
    "points": POINTS,
    "program": knn,
    "progress": False,
    "relation": TRIPLING,
    "repeats": 1,
    "repetitions": 1,
    "seeds": 8,
    "source": dm.subjects["Box 1"],
    "sut": dm.programs["tanh"],
    "system": "Box 1",
    "table": INPUTS,
    "test_system": dm.subjects["Box 1"],
    "tree": TREE,
    "trial": 10,
    "trials": 2,
    "values": ["a", "b"],
    "walks": 10,
}


def get_values(name, folder):
    """Return valid values of some parameters of a function, as far as they are not those of all functions."""
    special = {
        "Affine": {"matrix": np.eye(2), "offset": np.zeros(2)},
        "Affine.of": {"matrix": np.eye(2)},
        "Affine.scaled": {"factor": 2.0, "dimension": 2},
        "AuditResult.from_json": lambda: {"text": write_result()},
        "Box": {"low": np.zeros(2), "high": np.ones(2), "kind": np.zeros(2, dtype=np.int8)},
        "Box.of": {"given": (0, 10)},
        "Front.load": lambda: {"path": save_front(folder), "model": None},
        "HttpService": {"url": "http://localhost:1/predict", "name": None},
        "LearnerRelation": {},
        "Outputs.concat": {"parts": [dm.Outputs.of(np.ones(2))] * 2},
        "Outputs.of": {"values": np.ones(2)},
        "Pattern": {
            "kind": "input",
            "scope": "any",
            "definition": "An input.",
            "reference": "none",
            "inputs": None,
            "examples": (),
        },
        "PatternRelation": {"input": inputs.Add(columns=("x",)), "output": outputs.Equal(), "domain": ""},
        "Space.from_arrays": {"array": np.ones((3, 2))},
        "Store.open": {"url": folder / "runs.sqlite"},
        "TestPool": {"folder": folder},
        "TestSet.concat": {"sets": [make_tests()]},
        "TestSet.from_parquet": lambda: {"path": save_tests(folder)},
        "TestSet.load": lambda: {"path": save_tests(folder)},
        "TestSet.of_seeds": {"inputs": POINTS},
        "TestSystem": {"morphisms": [], "sut": None},
        "Text": {"examples": ["a text"]},
        "ValhallaRouter": {"extract": folder / "none.osm.pbf"},
        "Weka": {"options": "trees.J48"},
        "assert_covers": {"at_least": 0.01},
        "assert_front_unchanged": lambda: {"data": SPACE, "baseline": save_front(folder)},
        "assert_holds": {"relation": "row order", "seed": 0},
        "check": {"relations": ["row order"]},
        "combine": {"order": None, "seeds": 3, "datamorphisms": ["upward"]},
        "compute_statistics": {"tests": make_tests(), "system": None},
        "cover": {"model": TREE},
        "credit": {"model": None, "data": make_loans(), "ladder": "logistic_regression"},
        "data.default_probability": {"loans": make_loans()},
        "data.ExampleSystem": {
            "domain": "any",
            "summary": "A system.",
            "make": lambda faults: above,
            "make_cases": lambda: FRAME,
            "faults": {},
        },
        "data.load": {"name": "iris"},
        "data.read_freddie_mac": {"origination": LOAN_FILE},
        "data.read_loan_book": lambda: {"path": save_loans(folder)},
        "data.replace_sentinels": {"loans": make_loans()},
        "explore": {"data": SPACE},
        "fairness": {
            "model": above,
            "data": pd.concat([FRAME[["x", "c"]]] * 5, ignore_index=True),
            "protected": ["c"],
            "outcome": True,
            "rows": 50,
        },
        "find_constraints": {"data": FRAME},
        "forest_of": {"model": TREE},
        "generate": {"generator": "RT"},
        "hunt": {"relations": "tripling", "generator": "RT", "budget": 20, "data": None},
        "laws": {"test_system": SPACE},
        "mutate": {"operators": ["ASR"], "limit": 1, "compared": 5, "inputs": 3, "data": "random", "learners": None},
        "optimise": {"test_system": dm.subjects["Box 2"], "seeds": 5, "steps": 2, "tree": None},
        "parametrize_with_relations": {"relations": ["MR-0"], "data": None},
        "plan": {"data": SPACE},
        "play": lambda: {"script": write_script(folder), "test_system": "Box 1"},
        "read_pmml": lambda: {"path": save_tree(folder)},
        "read_space": lambda: {"path": write_space(folder), "data": None},
        "record": {"path": folder / "session.scr"},
        "route_relations": {"places": {"Kiasma": (60.1716, 24.9367), "Ateneum": (60.17, 24.9443)}},
        "select": {"model": TREE, "data": INPUTS.assign(y=LABELS), "target": "y"},
        "simulate": {"relation": None, "generator": "RT", "rate": 0.1, "budget": 20, "workers": 1},
        "test": {"only": ["answers"], "budget": "0.2s"},
        "testing.check_generator": {"make": lambda seed: make_generator("RT", TRIPLING, seed=seed), "groups": 5},
        "testing.check_selector": {"make": SELECTORS["random"], "relations": [TRIPLING] * 2, "opens": False},
        "wrap": {"space": SPACE, "data": None},
        "write_pmml": {"model": TREE, "path": folder / "tree.pmml"},
    }.get(name, {})
    return special() if callable(special) else special


@cache
def make_loans():
    return dm.data.make_loan_book(400, seed=0)


@cache
def make_tests():
    system = dm.subjects["Box 1"]
    seeds = system.make_seeds(n=5)
    return dm.TestSet.concat([seeds, system.mutate("upward", seeds)])


@cache
def write_result():
    return dm.test(Model(), INPUTS, only=["answers"], budget="0.2s", progress=False).to_json()


def save(path, write):
    if not path.exists():
        write(path)
    return path


def save_front(folder):
    front = folder / "front.parquet"
    return save(front, lambda path: dm.explore(Model(), SPACE, walks=5, progress=False).save(path))


def save_tests(folder):
    return save(folder / "tests.parquet", make_tests().to_parquet)


def save_loans(folder):
    return save(folder / "loans.csv", lambda path: make_loans().to_csv(path, index=False))


def save_tree(folder):
    return save(folder / "tree.pmml", lambda path: dm.write_pmml(TREE, path))


def write_script(folder):
    return save(
        folder / "box.scr", lambda path: path.write_text("makeSeed([RandomValue20])\nrandomTargetExplore(5,mid)\n")
    )


def write_space(folder):
    return save(
        folder / "space.toml",
        lambda path: path.write_text('[features]\nx = {kind = "continuous", low = 0, high = 4}\n'),
    )


# -- the functions -----------------------------------------------------------------------------------------------------

#: values that are not tried, and why
SKIPPED = {
    ("timeout", "half"): "valid, and starts processes",
    ("limit", "None"): "valid, and tests all mutants",
    ("make", "function"): "a function of the user, whose errors are its own",
    ("make", "class"): "a function of the user, whose errors are its own",
}

#: functions and classes that are not called, and why
EXEMPT = {
    **dict.fromkeys(
        (
            "AuditResult",
            "Combination",
            "CreditReport",
            "FairnessReport",
            "Front",
            "Optimisation",
            "Result",
            "Result.from_json",
        ),
        "a record that a function returns; nobody else makes one",
    ),
    **dict.fromkeys(
        (
            "Outputs",
            "Outputs.concat",
            "Outputs.from_table",
            "Outputs.of",
            "Points",
            "Points.concat",
            "TestSet",
            "Training",
        ),
        "columns that are made for every batch, of values that were validated before",
    ),
    **dict.fromkeys(("Correctness", "Status"), "an enumeration, whose look-up is Python's own"),
    "Store": "made by Store.open",
}


def find_functions():
    """Return all public functions and classes by their names: also those of modules, and constructors of classes."""
    functions = {}
    modules = {"": dm, "testing.": datamorphic.testing}
    modules |= {f"{name}.": module for name in dm.__all__ if isinstance(module := getattr(dm, name), types.ModuleType)}
    for prefix, module in modules.items():
        for name in getattr(module, "__all__", ()):
            public = getattr(module, name)
            if isinstance(public, MarkDecorator) or inspect.isfunction(public) or inspect.isclass(public):
                functions[prefix + name] = public
            if inspect.isclass(public):
                functions |= {
                    f"{prefix}{name}.{method}": getattr(public, method)
                    for method in dir(public)
                    if not method.startswith("_")
                    and isinstance(inspect.getattr_static(public, method), classmethod | staticmethod)
                }
    return {name: function for name, function in functions.items() if name not in EXEMPT and list_parameters(function)}


def list_parameters(function):
    if isinstance(function, MarkDecorator):
        return list(function.options)
    return [
        "no_such_option" if parameter.kind is parameter.VAR_KEYWORD else parameter.name
        for parameter in inspect.signature(function).parameters.values()
    ]


FUNCTIONS = find_functions()


def call(name, folder, /, **changed):
    """Call a function with valid values, except for those that are changed."""
    function = FUNCTIONS[name]
    if isinstance(function, MarkDecorator):
        return function(**changed)(above)
    special = get_values(name, folder)
    arguments = {
        parameter: special.get(parameter, VALUES.get(parameter))
        for parameter, details in inspect.signature(function).parameters.items()
        if parameter in special
        or (parameter in VALUES and (details.default is details.empty or not isinstance(VALUES[parameter], str)))
    }
    result = function(**arguments | changed)
    if isinstance(result, AbstractContextManager) and not isinstance(result, dm.Store):
        with result:
            pass
    return result


#: functions that start processes if nothing is wrong; without much time they get only what is always wrong
COSTLY = ("mutate",)
VALUES_PER_PARAMETER = 3
PARAMETERS = [(name, parameter) for name, function in FUNCTIONS.items() for parameter in list_parameters(function)]
CASES = [
    (name, parameter, value)
    for (name, parameter), value in thin(PARAMETERS, list(WRONG_VALUES), keep=VALUES_PER_PARAMETER)
    if (parameter, value) not in SKIPPED and (LONG or name not in COSTLY)
] + [(name, parameter, "object") for name, parameter in PARAMETERS if name in COSTLY and not LONG]

#: other words for a parameter in messages
WORDS = {
    "brightness": "amount",
    "classes": "class",
    "data": "rows|columns|relation|inputs|case",
    "feature_steps": "steps",
    "given": "domain",
    "later": "data",
    "length": "values",
    "loans": "frame",
    "noise": "amount",
    "outcome": "class",
    "path": "file|read",
    "seeds": "case|data",
    "shift": "columns|positions",
    "source": "test system",
    "surrogate": "data|target",
    "sut": "system",
    "target": "labels",
    "test_system": "test system|datamorphism|inputs",
    "url": "run store",
    "values": "categories",
    "warp": "amount",
}


def explain_wrong_outcome(name, parameter, value, folder):
    """Call a function with a wrong value; return what is wrong about the outcome, or None."""
    expected_errors = DatamorphicError
    if name.startswith(("assert_", "testing.")):
        expected_errors = (DatamorphicError, AssertionError)
    try:
        call(name, folder, **{parameter: WRONG_VALUES[value]})
    except expected_errors as error:
        message = str(error)
        if isinstance(error, AssertionError):
            return None
        if "\n" in message or not message:
            return f"the message has not one line: {message!r}"
        quoted = repr(WRONG_VALUES[value])[:12], type(WRONG_VALUES[value]).__name__
        words = f"{parameter.removesuffix('s')}|{WORDS.get(parameter, parameter)}"
        if not re.search(words, message) and not any(text in message for text in quoted):
            return f"the message names neither the parameter nor the value: {message}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory):
    """An empty folder, where files that a call may write do no harm."""
    folder = tmp_path_factory.mktemp("wrong_values")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@in_one_test("name", [name for name in FUNCTIONS if name not in COSTLY])
def test_valid_values_work(name, folder):
    call(name, folder)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_value_is_a_clear_error(name, folder):
    wrong = [
        f"{name}({parameter}={value}): {outcome}"
        for called, parameter, value in CASES
        if called == name and (outcome := explain_wrong_outcome(name, parameter, value, folder))
    ]
    assert not wrong, "\n".join(wrong)


def test_exemptions_exist():
    names = {name.partition(".")[0] for name in EXEMPT}
    assert names <= set(dm.__all__)
    assert {parameter for parameter, _ in SKIPPED} | set(WORDS) <= {parameter for _, parameter in PARAMETERS}
