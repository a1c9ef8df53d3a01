"""Relations of distributions: silent on right ones, and each is violated by a planted fault."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from scipy.stats import beta, binom, expon, norm, poisson, skewnorm

import datamorphic as dm
from datamorphic.errors import DataError, ModelError
from datamorphic.relations.catalogue.distributions import (
    DistributionRow,
    build_distribution_relations,
    parse_assignment,
    parse_constraint,
    parse_range,
    prepare_distribution,
    read_distributions,
    read_relation_rows,
)


class Planted:
    """A distribution with some functions replaced."""

    def __init__(self, model, **faults):
        self._model, self._faults = model, faults

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._faults:
            return lambda *arguments: self._faults[name](getattr(self._model, name), *arguments)
        return getattr(self._model, name)


def times(factor):
    return lambda f, *arguments: factor * f(*arguments)


def plus(amount):
    return lambda f, *arguments: f(*arguments) + amount


def above(limit, value):
    return lambda f, x, *parameters: np.where(np.asarray(x) > limit, value, f(x, *parameters))


def ignore(place):
    """Return a fault that ignores the loc or the scale, counted from the end."""

    def call(f, *arguments):
        arguments = list(arguments)
        arguments[place] = 0.0 * np.asarray(arguments[place]) + (1.0 if place == -1 else 0.0)
        return f(*arguments)

    return call


def spoil_single(f, x, *parameters):
    return f(x, *parameters) + 0.01 * (np.ndim(x) == 0)


def spoil_others(f, x, *parameters):
    return f(x, *parameters) + 0.01 * (np.ndim(x) == 1 and np.ndim(parameters[0]) == 0)


def spoil_shapes(f, x, *parameters):  # uses the first shape parameters only
    return f(x, *(np.ravel(values)[:1] + 0 * values for values in parameters)) if np.ndim(x) == 0 else f(x, *parameters)


def refuse_others(f, x, *parameters):
    if np.ndim(x) == 1 and np.ndim(parameters[0]) == 0:
        raise IndexError("boolean index did not match")
    return f(x, *parameters)


def refuse(f, *arguments):
    raise ValueError("cannot be computed")


FAULTS = {
    "answers": Planted(norm, pdf=above(1, np.nan)),
    "range": Planted(norm, sf=plus(-0.01)),
    "complement": Planted(norm, sf=times(0.999)),
    "rising cdf": Planted(norm, cdf=above(3, 0.0)),
    "falling sf": Planted(norm, sf=above(3, 1.0)),
    "ends": Planted(expon, cdf=lambda f, *arguments: 0.1 + 0.9 * f(*arguments)),
    "integral": Planted(norm, pdf=times(1.01)),
    "steps": Planted(binom, pmf=times(1.01)),
    "logarithm of density": Planted(norm, logpdf=plus(0.01)),
    "logarithm of cdf": Planted(norm, logcdf=times(1.01)),
    "logarithm of sf": Planted(norm, logsf=times(1.01)),
    "scale": Planted(norm, cdf=ignore(-1)),
    "shift": Planted(norm, cdf=ignore(-2)),
    "reflection": Planted(norm, cdf=plus(0.01)),
    "broadcast": Planted(norm, cdf=spoil_others),
    "several shapes": Planted(beta, cdf=spoil_shapes),
    "broadcast answers": Planted(binom, logcdf=refuse_others),
    "alone": Planted(beta, pdf=spoil_single),
    "ppf alone": Planted(norm, ppf=spoil_single),
    "quantile answers": Planted(norm, isf=refuse),
    "rising ppf": Planted(norm, ppf=above(0.9, 0.0)),
    "return of ppf": Planted(norm, ppf=times(1.01)),
    "return of isf": Planted(poisson, isf=plus(1)),
    "return of cdf": Planted(norm, ppf=times(1.01)),
    "isf": Planted(beta, isf=times(0.99)),
}


def test_every_relation_has_a_fault():
    assert {f"distribution.{name}" for name in FAULTS} == set(read_relation_rows())


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_violates_the_relation(name):
    model = FAULTS[name]
    relation = dm.relations_for(model)[f"distribution.{name}"]
    report = dm.check(model, relations=relation, inputs=120, shrink=False, progress=False)
    assert report.faults, name


@pytest.mark.parametrize("model", [norm, expon, beta, skewnorm, binom, poisson], ids=lambda model: model.name)
def test_right_distributions_satisfy_all(model):
    report = dm.check(model, relations="necessary", inputs=120, progress=False)
    assert report.passed, report.describe()
    assert report.complete
    assert sum(entry.judged for entry in report.entries) > 800
    assert {entry.relation for entry in report.entries} == set(dm.relations_for(model))


def test_a_violation_is_shrunk_to_plain_numbers():
    report = dm.check(FAULTS["rising cdf"], relations="necessary", inputs=60, progress=False)
    text = report.describe()
    assert "distribution.rising cdf" in text
    assert "the cdf does not fall" in text


def test_a_batch_that_fails_as_a_whole_is_no_answer():
    def refuse_arrays(f, x, *parameters):
        if np.size(parameters[0]) > 1:
            raise ValueError("operands could not be broadcast together")
        return f(x, *parameters)

    report = dm.check(Planted(beta, cdf=refuse_arrays), relations="necessary", inputs=40, progress=False)
    assert report.faults[0].relation == "distribution.answers"
    assert "cases at once" in str(report.describe())


def test_the_same_check_in_another_python():
    report = dm.check(f"python:{sys.executable} scipy.stats:gumbel_r", relations="necessary", inputs=40, progress=False)
    assert report.passed
    assert str(report.subject).startswith("gumbel_r of SciPy")


def test_domains_fit_the_distributions():
    rng = np.random.default_rng(0)
    for name, row in read_distributions().items():
        model = getattr(scipy.stats, name, None)
        if model is None or not row.cases:
            continue
        assert tuple(row.ranges) == tuple(filter(None, (model.shapes or "").replace(" ", "").split(","))), name
        assert (row.kind == "continuous") == hasattr(model, "pdf"), name
        if row.shapes:
            system, frame = prepare_distribution(model, 20, int(rng.integers(100)))
            valid = model._argcheck(*(frame[shape].to_numpy() for shape in system.shapes))
            assert np.all(valid), name


def test_distributions_of_users_say_their_domains_themselves():
    class Triangle(scipy.stats.rv_continuous):
        def _cdf(self, x, top):
            return np.where(x < top, x**2 / top, 1 - (1 - x) ** 2 / (1 - top))

        def _shape_info(self):
            return [scipy.stats._distn_infrastructure._ShapeInfo("top", False, (0.1, 0.9), (True, True))]

    model = Triangle(a=0, b=1, name="users")
    _, frame = prepare_distribution(model, 50, 0)
    assert frame["top"].between(0.1, 0.9).all()
    names = ["complement", "rising cdf", "ends", "shift", "return of ppf"]
    relations = build_distribution_relations(model)
    report = dm.check(model, relations=[relations[f"distribution.{name}"] for name in names], inputs=40, progress=False)
    assert report.passed, report.describe()


def test_warnings_of_a_library_do_not_fill_the_terminal(recwarn):
    def call(f, *arguments):
        warnings.warn("the integral did not converge", stacklevel=1)
        return f(*arguments)

    assert dm.check(Planted(expon, cdf=call), relations="necessary", inputs=20, progress=False).passed
    assert not [warning for warning in recwarn if "converge" in str(warning.message)]


def test_what_has_no_table_of_numbers_is_refused():
    model = getattr(scipy.stats, "poisson_binom", None)
    if model is None:
        pytest.skip("SciPy before 1.15")
    with pytest.raises(ModelError, match="list of probabilities"):
        dm.check(model, relations="necessary")


def test_facts_are_parsed():
    assert parse_range("df 1 10 whole")[1].whole
    assert parse_range("a positive")[1].scale == "log"
    assert parse_assignment("b = M-N") == ("b", "M", "-", "N")
    assert parse_assignment("a = -a") == ("a", "0", "-", "a")
    assert parse_assignment("a = b") == ("a", "0", "+", "b")
    frame = pd.DataFrame({"a": [1.0, 3.0], "b": [2.0, 2.0], "c": [0.0, -6.0]})
    assert parse_constraint("a - b > 0").function(frame).tolist() == [False, True]
    assert parse_constraint("a + b + c > 0").function(frame).tolist() == [True, False]
    assert parse_constraint("a <= b").function(frame).tolist() == [True, False]
    for wrong in (lambda: parse_range("a tall"), lambda: parse_constraint("a ~ b")):
        with pytest.raises(DataError, match="Write"):
            wrong()
    assert DistributionRow(name="x", kind="discrete").ranges == {}
