"""Program mutants: what the operators change, the texts they make, modules from memory, and who kills whom."""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import math
import pickle
import sys
import traceback
from collections import Counter

import numpy as np
import pytest

from datamorphic.data import knn, naive_bayes
from datamorphic.errors import ArgumentError, DataError
from datamorphic.mutation.forge import load_module, make_mutants, read_program
from datamorphic.mutation.kill_matrix import KillMatrix
from datamorphic.mutation.operators import OPERATORS, find_changes
from datamorphic.relations.check.traces import count_lines
from support.cases import in_one_test


def afters(text, operator):
    return [mutant.after for mutant in make_mutants(text, [operator])]


@in_one_test(
    ("operator", "text", "expected"),
    [
        ("AOR", "x = a + b", ["a - b", "a * b", "a / b", "a % b"]),
        ("AOR", "x = a ** b", ["a + b", "a - b", "a * b", "a / b", "a % b"]),
        ("AOR", "x = a // b", ["a + b", "a - b", "a * b", "a / b", "a % b"]),
        ("AOR", "x = a @ b", ["a * b"]),
        ("AOR", "x = -a", ["a"]),
        ("AOR", "x = [0] * n; y = 'a' + b; z = '%s' % a", []),
        ("ROR", "x = a < b", ["a <= b", "a > b", "a >= b", "a == b", "a != b"]),
        (
            "ROR",
            "x = 0 < a is b",
            ["0 <= a is b", "0 > a is b", "0 >= a is b", "0 == a is b", "0 != a is b", "0 < a is not b"],
        ),
        ("ROR", "x = a not in b", ["a in b"]),
        ("COR", "x = a and b", ["a or b", "not a", "not b"]),
        ("COR", "x = not a", ["a"]),
        ("COR", "if a or b == 1: pass", ["not (a or b == 1)", "a and b == 1", "not a"]),
        ("COR", "while True: break", []),
        ("COR", "x = [a for a in b if c]", ["not c"]),
        ("COR", "x = a if b < c else d", []),
        ("SOR", "x = a << b >> c", ["a << b << c", "a >> b"]),
        ("LOR", "x = a & b", ["a | b", "a ^ b"]),
        ("LOR", "x = ~a", ["a"]),
        ("ASR", "x += 1", ["x -= 1", "x *= 1", "x /= 1", "x %= 1", "x = 1"]),
        ("ASR", "x.y[0] |= z", ["x.y[0] &= z", "x.y[0] ^= z", "x.y[0] = z"]),
        ("CRP", "x = 3", ["4", "2", "0", "1", "-3"]),
        ("CRP", "x = -1", ["0", "-2", "1"]),
        ("CRP", "x = 0.5", ["1.5", "-0.5", "0.0", "1.0"]),
        ("CRP", "x = 1e300", ["0.0", "1.0", "-1e+300"]),
        ("CRP", "x = True", ["False"]),
        ("CRP", "x = 'text', None, b'bytes', ...", []),
        ("RSR", "def f(a, b):\n    c = a\n    return c", ["None", "0", "-c", "a", "b"]),
        ("RSR", "def f(a):\n    return a < 1", ["None"]),
        ("RSR", "def f(self):\n    return self", ["None"]),
        ("RSR", "def f(a):\n    return [a]", ["None"]),
        ("RSR", "def f(a):\n    return 2", ["None"]),
        ("RSR", "def f(a):\n    return True", []),
        ("RSR", "def f(a):\n    return", []),
    ],
)
def test_replacements_of_each_operator(operator, text, expected):
    assert afters(text, operator) == expected


LEFT_ALONE = '''
"""Docstring, 1 + 1."""
from typing import TYPE_CHECKING
__all__ = ["a" + "b", 1 + 2]
if TYPE_CHECKING:
    WIDTH = 3
@wraps(1 + 1)
def f(a: "1 + 1", b: Literal[3] = None) -> Literal[1 + 1]:
    """2 + 2"""
    c: Literal[3]
    print(f"{a + 1} of {2}")
class A(base(1 + 1), flag=True):
    @property
    def like(self):
        return other(3 + 4)
def learners():
    return {"k = 1": f(1), "k = 3": f(2 + 1)}
if __name__ == "__main__":
    main(1 + 1)
'''


def test_code_that_computes_nothing_is_not_mutated():
    assert make_mutants(LEFT_ALONE) == []
    # the names alone do not do it
    text = (
        LEFT_ALONE.replace("TYPE_CHECKING:", "CHECKING:").replace("learners()", "teachers()").replace("like", "unlike")
    )
    functions = {mutant.function for mutant in make_mutants(text.replace('__name__ == "__main__"', "name"))}
    assert functions == {"", "A.unlike", "teachers"}


AWKWARD = '''# ä comment with ünicode, so that bytes and characters differ
import os
GRÖSSE = {"ä": -1, "b": 2 ** -1, "c": (1).real}; OTHER = 3; EVEN = \\
    4
TEXT = """two
lines""" + str(1); TABLE = [1,
    2,  # a comment
    3]
TABLE[0] += 1


def f(x, *, y=-2.5, **rest):
    x += (
        # the operator stands before this +=
        y
    )
    z = (x +   # why
         y) * 2 ** x - -y / (3 - x * (x + 1)); w = "ß" * 3 if x and y or not z else x.imag
    while not (x or y) and z < (x + 1
            ) <= 3:
        x = x - 1; y -= 1
    assert x and (y or not z), "ä"
    for i in range(1, 3): z = z if i else -(x + y).real
    try:
        return x << 1 if x < y else [a & 1 for a in [x, y] if a if a > 1][-1]
    except (ValueError, TypeError) as error:
        if error.args[0]: return -x ** 2
    finally:
        del rest
    match x:
        case -1 | 2 if y > 1:
            return x
    return lambda a=1: (a := a + 1) and ~a | 1


class A:
    size = 3
    async def g(self, b):
        self.size //= 2
        await (self.h(b) + 1)
        return await (b + b)

    @staticmethod
    def h(b):
        return (
            b
            * 2
        )
'''


class Put(ast.NodeTransformer):
    """Puts a node in the place of another."""

    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else super().visit(node)


@pytest.mark.slow
def test_source_texts_agree_with_syntax_trees():
    """Operators change trees; what is run and shown is text. Both must be the same, on the same lines."""
    tree, mutants = ast.parse(AWKWARD), make_mutants(AWKWARD)
    place = {id(node): number for number, node in enumerate(ast.walk(tree))}
    assert {mutant.operator for mutant in mutants} == set(OPERATORS)
    for mutant, change in zip(mutants, find_changes(tree), strict=True):
        wanted = ast.parse(AWKWARD)
        old = next(itertools.islice(ast.walk(wanted), place[id(change.before)], None))
        assert ast.dump(ast.parse(mutant.source)) == ast.dump(Put(old, change.after).visit(wanted)), mutant
        lines = zip(AWKWARD.split("\n"), mutant.source.split("\n"), strict=True)
        changed = [number for number, (old, new) in enumerate(lines, 1) if old != new]
        assert changed[0] == mutant.line or mutant.operator == "ASR"
        assert (
            mutant.lines[0] <= changed[0] <= changed[-1] <= mutant.lines[1]
            or "case" in AWKWARD.split("\n")[mutant.line - 1]
        )


@pytest.mark.slow
def test_ids_do_not_depend_on_operators_or_limit():
    text = read_program(naive_bayes).text
    every = make_mutants(text)
    assert [mutant.id for mutant in every] == [f"v{number}" for number in range(1, len(every) + 1)]
    places = [(mutant.line, mutant.column) for mutant in every]
    assert places == sorted(places)
    assert make_mutants(text.replace("\n", "\r\n"), "RSR") == [mutant for mutant in every if mutant.operator == "RSR"]
    few = make_mutants(text, limit=10, seed=3)
    assert [mutant.id for mutant in every if mutant in few] == [mutant.id for mutant in few]
    assert (len(few), few) == (10, make_mutants(text, limit=10, seed=3))
    assert few != make_mutants(text, limit=10, seed=4)
    assert [mutant.after for mutant in make_mutants("while 1: f()", "CRP", limit=9)] == ["0"]  # the others are marked


def test_the_same_bytecode_is_found():
    def marked(text):
        return [(mutant.after, mutant.same_as) for mutant in make_mutants(text, ["ROR", "COR", "CRP"])]

    assert dict(marked("while 1: f()")) == {"2": "original", "0": "", "-1": "original"}
    assert dict(marked("def f(a, b): return not a in b")) == {"a in b": "", "a not in b": "v1"}
    # the same code in another place is another mutant, and 1 is neither 1.0 nor True
    twice = "class A:\n    def f(self): return 1 < 2\n    def f(self): return 1 < 2\n"
    assert not any(mutant.same_as for mutant in make_mutants(twice, ["ROR"]))
    assert dict(marked("x = 0, 0.0, False")) == {"1": "", "-1": "", "1.0": "", "-1.0": "", "True": ""}


def test_a_statement_at_the_top_is_changed_too():
    mutants = make_mutants("x = 1\nx += 2\nclass A:\n    y = 1\n    y += 2\n", ["ASR"])
    assert {mutant.same_as for mutant in mutants} == {""}
    with load_module(mutants[-1].source, "small") as module:
        assert (module.x, module.A.y) == (3, 2)


@pytest.mark.parametrize("program", [knn, naive_bayes], ids=["knn", "naive_bayes"])
def test_the_reference_learners_have_enough_mutants(program):
    mutants = make_mutants(read_program(program).text)
    assert len([mutant for mutant in mutants if not mutant.same_as]) >= 60
    assert {"AOR", "ROR", "COR", "ASR", "CRP", "RSR"} == set(Counter(mutant.operator for mutant in mutants))
    assert not {mutant.function.rpartition(".")[2] for mutant in mutants} & {"like", "learners"}


def test_the_fault_of_the_study_is_among_the_mutants():
    texts = [str(mutant) for mutant in make_mutants(read_program(knn).text, ["ASR"])]
    wanted = "squared_distance: total += difference * difference -> total = difference * difference"
    assert sum(item.endswith(wanted) for item in texts) == 1


# -- modules from memory --------------------------------------------------------------------------------------

SMALL = """from __future__ import annotations
from dataclasses import dataclass, field

@dataclass
class Point:
    x: float = 1.0
    tags: list[str] = field(default_factory=list)

def broken(x):
    return x / 0  # told
"""


def test_a_module_from_memory_is_a_module():
    linecache.getlines(__file__)  # formatting the traceback below reads this file, if nobody did before
    before = set(sys.modules), set(linecache.cache)
    with load_module(SMALL, "package.small") as module:
        assert pickle.loads(pickle.dumps(module.Point(2.0))) == module.Point(2.0)
        assert "return x / 0  # told" in inspect.getsource(module.broken)
        with pytest.raises(ZeroDivisionError) as caught:
            module.broken(1)
        assert "return x / 0  # told" in "".join(traceback.format_exception(caught.value))
        assert sys.modules[module.__name__] is module
    assert (set(sys.modules), set(linecache.cache)) == before
    with pytest.raises(RuntimeError, match="at import"), load_module("raise RuntimeError('at import')", "small"):
        pass
    assert (set(sys.modules), set(linecache.cache)) == before


def test_relative_imports_work_within_a_package():
    with load_module("from .learners import REFERENCE_SETS", "small", "datamorphic.data") as module:
        assert len(module.REFERENCE_SETS) == 3


def test_lines_that_are_reached():
    text = """WIDTH = [
    1,
    2,
]
def f(x, least=3):
    if x < least:
        return [
            x,
            2,
        ]
    return x + 5
"""
    with load_module(text, "small") as module, count_lines(module.__file__) as lines:
        module.f(1)
    assert sys.gettrace() is None or 6 in lines
    reached = {mutant.line: mutant.is_reached(lines) for mutant in make_mutants(text)}
    # constants of a list have no line of their own in the bytecode; defaults are made when the function is
    assert reached == {2: True, 3: True, 5: True, 6: True, 7: True, 9: True, 11: False}
    assert {mutant.line for mutant in make_mutants(text) if mutant.is_reached(())} == {2, 3, 5}


# -- bad input -------------------------------------------------------------------------------------------------


def test_programs_are_read_as_python_reads_them(tmp_path):
    path = tmp_path / "learner.py"
    path.write_bytes("# coding: latin-1\r\nNAME = 'größe'\r\n".encode("latin-1"))
    program = read_program(path)
    assert (program.name, program.package) == ("learner", "")
    assert program.text == "# coding: latin-1\nNAME = 'größe'\n"
    path.write_bytes(b"\xef\xbb\xbfx = 1\n")
    assert len(make_mutants(read_program(str(path)).text)) == 3
    assert read_program(knn).package == "datamorphic.data"


BAD = {
    "no Python": (
        lambda path: make_mutants("x = 1\ny = = 2", name="learner.py"),
        DataError,
        "learner.py is not valid Python, line 2: invalid syntax",
    ),
    "null bytes": (lambda path: make_mutants("x = 1\0"), DataError, "the text is not valid Python"),
    "return outside": (lambda path: make_mutants("return 1"), DataError, "line 1: 'return' outside function"),
    "too deep": (lambda path: make_mutants("x = " + "-" * 5000 + "y"), DataError, "nested too deeply"),
    "no text": (
        lambda path: make_mutants(None),
        ArgumentError,
        "'text' parameter of make_mutants must be the text of a module",
    ),
    "unknown operator": (
        lambda path: make_mutants("x = 1", ["AOX"]),
        ArgumentError,
        "no mutation operator 'AOX'. Did you mean 'AOR'?",
    ),
    "no limit": (
        lambda path: make_mutants("x = 1", limit=0),
        ArgumentError,
        "'limit' parameter of make_mutants must be an int in the range [1",
    ),
    "another file": (lambda path: read_program(path / "model.pkl"), DataError, "Expected a name that ends in .py"),
    "an empty name": (lambda path: read_program(""), ArgumentError, "the path of a file *.py. Got '' instead"),
    "no file": (lambda path: read_program(path / "none.py"), DataError, "none.py cannot be read: No such file"),
    "a folder": (lambda path: read_program(path / "folder.py"), DataError, "folder.py cannot be read"),
    "binary": (lambda path: read_program(path / "binary.py"), DataError, "binary.py cannot be decoded as text"),
    "built in": (lambda path: read_program(math), DataError, "The module math has no Python source"),
    "a function": (lambda path: read_program(print), ArgumentError, "must be a module or the path of a file *.py"),
    "a small table": (
        lambda path: KillMatrix.from_rates(["a"], ["v1", "v2"], [[1.0]]),
        ArgumentError,
        "1 relation and 2 mutants has the shape (1, 1)",
    ),
    "an unknown fate": (
        lambda path: KillMatrix.from_rates(["a"], ["v1"], [[1.0]], {"v1": "killed"}),
        ArgumentError,
        "The state of 'v1' is 'killed'. Expected",
    ),
}


@in_one_test(("call", "kind", "message"), BAD.values())
def test_bad_input(call, kind, message, tmp_path):
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "binary.py").write_bytes(b"x = '\xff\xfe'")
    with pytest.raises(kind) as caught:
        call(tmp_path)
    assert message in str(caught.value)


# -- kills -----------------------------------------------------------------------------------------------------


def test_the_figures_of_a_kill_matrix():
    rates = [[0.0, 0.0, 0.2, 0.0, 0.9], [0.5, 0.0, 0.1, math.nan, 0.9], [0.3, 0.0, 0.0, 0.0, 0.9]]
    kills = KillMatrix.from_rates(
        ["MR-0", "MR-1.1", "MR-2.1"], ["v1", "v2", "v3", "v4", "v5"], rates, {"v5": "timed out"}
    )
    assert kills.states == ("killed", "survived", "killed", "survived", "timed out")
    assert kills.score == 0.5
    assert kills.kills == {"MR-0": 1, "MR-1.1": 2, "MR-2.1": 1}
    assert kills.unique_kills == {"MR-0": [], "MR-1.1": [], "MR-2.1": []}
    assert kills.smallest_set() == ["MR-1.1"]
    assert kills.average_rate == pytest.approx(1.1 / 11)
    assert kills.frame.loc["v1"].tolist() == [0.0, 0.5, 0.3, "killed"]
    assert kills.format_other_states() == "1 timed out"


def test_nothing_to_kill():
    kills = KillMatrix.from_rates(["a"], ["v1"], [[True]], {"v1": "died"})
    assert (kills.smallest_set(), kills.kills) == ([], {"a": 0})
    assert math.isnan(kills.score)
    assert KillMatrix.from_rates([], [], np.zeros((0, 0))).smallest_set() == []


@pytest.mark.slow
def test_the_smallest_set_is_the_first_of_the_smallest():
    rng = np.random.default_rng(0)
    for _ in range(15):
        table = rng.random((6, 9)) < rng.uniform(0.1, 0.5)
        kills = KillMatrix.from_rates("abcdef", [f"v{i}" for i in range(9)], table)
        wanted = table.any(axis=0)
        sets = (combination for size in range(7) for combination in itertools.combinations(range(6), size))
        first = next(item for item in sets if (table[list(item)].any(axis=0) == wanted).all())
        assert kills.smallest_set() == ["abcdef"[place] for place in first]
        alone = [name for name, mutants in kills.unique_kills.items() if mutants]
        assert set(alone) <= set(kills.smallest_set())
