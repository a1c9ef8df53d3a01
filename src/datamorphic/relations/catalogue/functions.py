"""Relations of known functions of NumPy and SciPy: recurrences, reflections, symmetries.

functions.csv says which function satisfies which relation, in which domain and how precisely, with a reason. The formulas are here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import lgamma
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..._tables import read_rows
from ..._validation import reject
from ...systems.distribution import is_distribution
from ...systems.files import load_model
from ...systems.other_python import OtherPythonFunction
from ..algebra.base import SystemRelation
from ..algebra.function import FunctionRelation
from .distributions import build_distribution_relations, parse_constraint, parse_range

Floats = npt.NDArray[np.float64]
Case = Mapping[str, Floats]
Terms = Sequence[Any]
LIBRARIES = ("numpy", "scipy")
MIN_SIZE = 1e-290  # of terms: smaller numbers lose digits before they vanish
RISE = 0.01  # the step of an argument, as a share of its size


@dataclass(frozen=True, kw_only=True)
class FunctionRow:
    """A relation of a function: what it says, the domain, and by how much the sum of its terms may differ from 0."""

    function: str
    relation: str
    statement: str
    domain: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    absolute: float = 0.0
    why: str

    @property
    def name(self) -> str:
        """The name of the relation, with that of the function once."""
        return f"{self.function}.{self.relation.removeprefix(self.function + ' ')}"


class Formula(NamedTuple):
    """Changes of the arguments, and the terms that add up to 0, as shares of the sum of their sizes."""

    changes: tuple[Callable[[Case], Mapping[str, Any]], ...]
    terms: Callable[[Case, list[Floats]], Terms]
    at_most: bool = False  # whether the sum may also be negative


def _move(**steps: float) -> Callable[[Case], Mapping[str, Any]]:
    """Return the change that adds numbers to arguments."""
    return lambda case: {name: case[name] + step for name, step in steps.items()}


def _first(case: Case) -> str:
    return next(iter(case))


def _negate(case: Case) -> dict[str, Floats]:
    return {"x": -case["x"]}


def _complement(case: Case) -> dict[str, Floats]:
    return {_first(case): 1 - case[_first(case)]}


def _raise_argument(name: str = "x") -> Callable[[Case], Mapping[str, Any]]:
    return lambda case: {name: case[name] + RISE * np.maximum(np.abs(case[name]), RISE)}


def _quadruple(case: Case) -> dict[str, Floats]:
    return {name: 4 * values for name, values in case.items()}


def _build_homogeneous_formula(degree: float) -> Formula:
    return Formula((_quadruple,), lambda c, y: (y[0], -y[1] * 4.0**-degree))


def _to_complex(c: Case) -> Any:
    """Return the complex argument of a case that has its modulus and its angle, of half a turn each."""
    z = c["r"] * np.exp(1j * np.pi * c["angle"])
    return np.where(np.isin(c["angle"], (-1, 0, 1)), z.real, z)


def _to_polar(z: Any) -> dict[str, Floats]:
    return {"r": np.abs(z), "angle": np.angle(z) / np.pi}


#: how a function is called if the domain has other arguments: parts of complex numbers, or c - a - b of a hypergeometric function
CALLS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "kv": lambda v, x, y: (v, x + 1j * y),
    "kve": lambda v, x, y: (v, x + 1j * y),
    "hyp2f1": lambda a, b, d, r, angle: (a, b, a + b + d, _to_complex({"r": r, "angle": angle})),
}


def _gamma_term(c: Case) -> Floats:
    logarithms = np.array([lgamma(a + 1) for a in c["a"].tolist()])
    return np.exp(c["a"] * np.log(c["x"]) - c["x"] - logarithms)


def _build_rising_formula(name: str) -> Formula:
    return Formula((_raise_argument(name),), lambda c, y: (y[0], -y[1]), at_most=True)


#: terms that add up to 0, by the name of the relation; `c` are the arguments, `y` the answers, that of the case
#: first; pairs such as 1.0, -1.0 cancel and only enlarge the size that the sum is compared with
FORMULAS: dict[str, Formula] = {
    "odd": Formula((_negate,), lambda c, y: (y[0], y[1])),
    "even": Formula((_negate,), lambda c, y: (y[0], -y[1])),
    "even in v": Formula((lambda c: {"v": -c["v"]},), lambda c, y: (y[0], -y[1])),
    "complement": Formula((_negate,), lambda c, y: (y[0], y[1], -1.0)),
    "complement to 2": Formula((_negate,), lambda c, y: (y[0], y[1], -2.0)),
    "negated complement": Formula((_complement,), lambda c, y: (y[0], y[1])),
    "rises": _build_rising_formula("x"),
    "ncfdtr rises": _build_rising_formula("f"),
    "nctdtr rises": _build_rising_formula("t"),
    "falls": Formula((_raise_argument(),), lambda c, y: (y[1], -y[0]), at_most=True),
    "swapped": Formula((lambda c: {"a": c["b"], "b": c["a"]},), lambda c, y: (y[0], -y[1])),
    "homogeneous -1/2": _build_homogeneous_formula(-0.5),
    "homogeneous -3/2": _build_homogeneous_formula(-1.5),
    "homogeneous 1/2": _build_homogeneous_formula(0.5),
    "homogeneous 1": _build_homogeneous_formula(1),
    "gamma recurrence": Formula((_move(x=1),), lambda c, y: (y[1], -c["x"] * y[0])),
    "gamma reflection": Formula((_complement,), lambda c, y: (y[0] * y[1] * np.sin(np.pi * c["x"]), -np.pi)),
    "rgamma recurrence": Formula((_move(x=1),), lambda c, y: (y[0], -c["x"] * y[1])),
    "gammaln recurrence": Formula((_move(x=1),), lambda c, y: (y[1], -y[0], -np.log(c["x"]), 1.0, -1.0)),
    "psi recurrence": Formula((_move(x=1),), lambda c, y: (y[1], -y[0], -1 / c["x"], 1.0, -1.0)),
    "beta recurrence": Formula((_move(a=1), _move(b=1)), lambda c, y: (y[0], -y[1], -y[2])),
    "gammainc recurrence": Formula((_move(a=1),), lambda c, y: (y[1], -y[0], _gamma_term(c))),
    "gammaincc recurrence": Formula((_move(a=1),), lambda c, y: (y[1], -y[0], -_gamma_term(c))),
    "mirrored": Formula((lambda c: {"a": c["b"], "b": c["a"], "x": 1 - c["x"]},), lambda c, y: (y[0], y[1], -1.0)),
    "fdtr mirrored": Formula((lambda c: {"a": c["b"], "b": c["a"], "x": 1 / c["x"]},), lambda c, y: (y[0], y[1], -1.0)),
    "rises with a": Formula((_move(a=1),), lambda c, y: (y[0], -y[1]), at_most=True),
    "falls with b": Formula((_move(b=1),), lambda c, y: (y[1], -y[0]), at_most=True),
    "betainc recurrence": Formula(
        (_move(a=1, b=1), _move(b=1), _move(a=1)), lambda c, y: (y[1], -c["x"] * y[2], -(1 - c["x"]) * y[3])
    ),
    "bessel recurrence": Formula(
        (_move(v=-1), _move(v=1)), lambda c, y: (y[1], y[2], -2 * c["v"] / c["x"] * y[0], y[0], -y[0])
    ),
    "modified recurrence": Formula((_move(v=-1), _move(v=1)), lambda c, y: (y[1], -y[2], -2 * c["v"] / c["x"] * y[0])),
    "kv recurrence": Formula(
        (_move(v=1), _move(v=-1)), lambda c, y: (y[1], -y[2], -2 * c["v"] / (c["x"] + 1j * c["y"]) * y[0])
    ),
    "conjugate": Formula((lambda c: {"y": -c["y"]},), lambda c, y: (y[0], -np.conj(y[1]))),
    "hyp2f1 symmetry": Formula((lambda c: {"a": c["b"], "b": c["a"]},), lambda c, y: (y[0], -y[1])),
    "euler": Formula(
        (lambda c: {"a": c["b"] + c["d"], "b": c["a"] + c["d"], "d": -c["d"]},),
        lambda c, y: (y[0], -((1 - _to_complex(c)) ** c["d"]) * y[1]),
    ),
    "pfaff": Formula(
        (lambda c: {"b": c["a"] + c["d"], "d": c["b"] - c["a"], **_to_polar(_to_complex(c) / (_to_complex(c) - 1))},),
        lambda c, y: (y[0], -((1 - _to_complex(c)) ** -c["a"]) * y[1]),
    ),
    "hyp2f1 contiguous": Formula(
        (_move(a=-1, d=1), _move(a=1, d=-1)),
        lambda c, y: (
            (c["b"] + c["d"]) * y[1],
            (c["a"] - c["b"] - c["d"] + (c["b"] - c["a"]) * _to_complex(c)) * y[0],
            c["a"] * (_to_complex(c) - 1) * y[2],
        ),
    ),
    "kummer": Formula((lambda c: {"a": c["b"] - c["a"], "z": -c["z"]},), lambda c, y: (y[0], -np.exp(c["z"]) * y[1])),
    "hyp1f1 contiguous": Formula(
        (_move(a=-1), _move(a=1)),
        lambda c, y: ((c["b"] - c["a"]) * y[1], (2 * c["a"] - c["b"] + c["z"]) * y[0], -c["a"] * y[2]),
    ),
    "hyp0f1 contiguous": Formula(
        (_move(b=1), _move(b=2)), lambda c, y: (y[0], -y[1], -c["z"] / c["b"] / (c["b"] + 1) * y[2])
    ),
    "zeta recurrence": Formula((_move(a=1),), lambda c, y: (y[0], -(c["a"] ** -c["s"]), -y[1])),
    "expn recurrence": Formula((_move(n=1),), lambda c, y: (c["n"] * y[1], c["x"] * y[0], -np.exp(-c["x"]))),
    "poch recurrence": Formula((_move(m=1),), lambda c, y: (y[1], -(c["z"] + c["m"]) * y[0])),
    "pascal": Formula((_move(n=1, k=1), _move(k=1)), lambda c, y: (y[1], -y[0], -y[2])),
    "legendre recurrence": Formula(
        (_move(n=1), _move(n=-1)),
        lambda c, y: ((c["n"] + 1) * y[1], -(2 * c["n"] + 1) * c["x"] * y[0], c["n"] * y[2], 1.0, -1.0),
    ),
    "chebyshev recurrence": Formula(
        (_move(n=1), _move(n=-1)), lambda c, y: (y[1], -2 * c["x"] * y[0], y[2], 1.0, -1.0)
    ),
    "laguerre recurrence": Formula(
        (_move(n=1), _move(n=-1)),
        lambda c, y: ((c["n"] + 1) * y[1], -(2 * c["n"] + 1 - c["x"]) * y[0], c["n"] * y[2], 1.0, -1.0),
    ),
    "lambertw inverse": Formula((_move(x=0),), lambda c, y: (np.real(y[0] * np.exp(y[0])), -c["x"])),
    "spence reflection": Formula(
        (_complement,), lambda c, y: (y[0], y[1], -(np.pi**2) / 6, np.log(c["x"]) * np.log(1 - c["x"]))
    ),
    "triple angle": Formula((lambda c: {"x": 3 * c["x"]},), lambda c, y: (y[1], -3 * y[0], 4 * y[0] ** 3, 1.0, -1.0)),
    "product": Formula((lambda c: {"x": 2 * c["x"]},), lambda c, y: (y[1], -(y[0] ** 2))),
    "logarithm of square": Formula((lambda c: {"x": c["x"] ** 2},), lambda c, y: (y[1], -2 * y[0], 1.0, -1.0)),
}


class KnownFunction:
    """A function of the table with the arguments of its domain; real arguments are passed as real numbers."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function, self.convert = function, CALLS.get(name)
        self.name = str(getattr(function, "name", None) or getattr(function, "__name__", name))

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        if self.convert is None:
            return self.function(*arguments)
        converted = [np.asarray(part) for part in self.convert(*map(np.atleast_1d, arguments))]
        is_real = np.logical_and.reduce([np.imag(part) == 0 for part in converted])
        answers = np.empty(is_real.shape, dtype=complex)
        for rows, part in ((is_real, np.real), (~is_real, np.asarray)):
            if rows.any():
                answers[rows] = self.function(
                    *(
                        np.ascontiguousarray(part(column[rows])) if np.iscomplexobj(column) else column[rows]
                        for column in converted
                    )
                )
        return answers


@cache
def read_functions() -> dict[str, tuple[FunctionRow, ...]]:
    """Return the relations of functions by the name of the function."""
    functions: dict[str, tuple[FunctionRow, ...]] = {}
    for row in read_rows(__package__, "functions.csv", FunctionRow):
        functions[row.function] = (*functions.get(row.function, ()), row)
    return functions


def find_function_name(model: Any) -> str:
    """Return the name of a function that has relations in the table; empty if it has none."""
    if isinstance(model, OtherPythonFunction):
        library, name = model.origin
    else:
        name = str(getattr(model, "__name__", ""))
        module = "numpy" if isinstance(model, np.ufunc) else str(getattr(model, "__module__", ""))
        library = module.partition(".")[0]
    return name if library.lower() in LIBRARIES and name in read_functions() else ""


def build_function_relations(name: str) -> dict[str, FunctionRelation]:
    """Return the relations of a function by name."""
    rows = read_functions()[name]
    return {row.name: _build_relation(row) for row in rows}


def _build_relation(row: FunctionRow) -> FunctionRelation:
    formula = FORMULAS[row.relation]

    def compare(x: list[Any], y: list[Any]) -> tuple[Any, Any]:
        terms = [np.broadcast_to(term, y[0].shape) for term in formula.terms(x[0], y)]
        size = np.sum(np.abs(terms), axis=0)
        share = np.sum(terms, axis=0) / np.where(size > MIN_SIZE, size, np.inf)
        return np.abs(share) if np.iscomplexobj(share) else share, np.zeros(len(size))

    sides: dict[str, Any] = {"at_most" if formula.at_most else "equal": compare}
    return FunctionRelation(
        name=row.name,
        statement=row.statement,
        domain=dict(map(parse_range, row.domain)),
        constraints=[parse_constraint(text).function for text in row.constraints],
        follow_up=[_take_case(change) for change in formula.changes],
        absolute=row.absolute,
        reason=row.why,
        **sides,
    )


def _take_case(change: Callable[[Case], Mapping[str, Any]]) -> Callable[[Case], Mapping[str, Any]]:
    """Return a change whose parameter has the name of no argument, so that it gets all of them."""
    return lambda all_arguments: change(all_arguments)


def relations_for(model: Any) -> dict[str, SystemRelation]:
    """Return the relations that a known function or distribution must satisfy, by name.

    Parameters
    ----------
    model : object or str
        A distribution of `scipy.stats`, or an object with the same methods; a function of NumPy or `scipy.special` that has
        relations; or the name of one in another Python, ``"python:/path/to/python scipy.stats:nct"``.

    Returns
    -------
    dict of str to relation
        `dm.check` takes it as `relations`, and uses it by itself.

    Examples
    --------
    >>> import scipy.special
    >>> list(relations_for(scipy.special.kv))
    ['kv.recurrence', 'kv.even in v', 'kv.conjugate']
    """
    if isinstance(model, str):
        model = load_model(model)
    if is_distribution(model):
        return dict(build_distribution_relations(model))
    name = find_function_name(model)
    if not name:
        expected = "a distribution of scipy.stats, or one of the known functions: " + ", ".join(read_functions())
        reject("model", "relations_for", expected, model)
    return dict(build_function_relations(name))
