"""Decision values by matrix products: those of libsvm, and only guides for the search."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC, OneClassSVM

import datamorphic as dm
from datamorphic.systems.estimator import Estimator
from datamorphic.systems.support_vectors import make_support_vector_scores

INPUTS, LABELS = load_wine(return_X_y=True)
INPUTS = INPUTS[:, :5]
ROWS = np.random.default_rng(0).normal(INPUTS.mean(axis=0), 3 * INPUTS.std(axis=0), (300, 5))


def fit(machine, classes=3, inputs=INPUTS):
    return machine.fit(inputs, np.minimum(LABELS, classes - 1))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
def test_values_equal_those_of_libsvm(kernel, classes):
    scaled = StandardScaler().fit(INPUTS)
    machine = fit(SVC(kernel=kernel, decision_function_shape="ovo", coef0=0.5), classes, scaled.transform(INPUTS))
    scores, rows = make_support_vector_scores(machine), scaled.transform(ROWS)
    np.testing.assert_allclose(scores(rows), machine.decision_function(rows), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("machine", [NuSVC(decision_function_shape="ovo", nu=0.3), OneClassSVM(nu=0.2)], ids=repr)
def test_other_machines(machine):
    fit(machine)
    np.testing.assert_allclose(
        make_support_vector_scores(machine)(ROWS), machine.decision_function(ROWS), rtol=1e-9, atol=1e-9
    )


def test_values_far_from_the_origin_keep_their_digits():
    machine = fit(SVC(decision_function_shape="ovo"), inputs=INPUTS + 1e6)
    np.testing.assert_allclose(
        make_support_vector_scores(machine)(ROWS + 1e6), machine.decision_function(ROWS + 1e6), atol=1e-6
    )


def test_other_kernels_and_classes_are_left_to_the_model():
    class OwnMachine(SVC):
        """It may compute something else."""

    assert make_support_vector_scores(fit(SVC(kernel=lambda a, b: a @ b.T))) is None
    assert make_support_vector_scores(fit(SVC(kernel="precomputed"), inputs=INPUTS @ INPUTS.T)) is None
    assert make_support_vector_scores(fit(OwnMachine())) is None
    assert make_support_vector_scores(fit(SVC(), inputs=csr_matrix(INPUTS))) is None


def test_a_machine_that_gives_other_values_is_not_replaced():
    machine = fit(SVC(decision_function_shape="ovo"))
    machine.decision_function = lambda rows: np.zeros((len(rows), 3))
    assert make_support_vector_scores(machine) is None


@pytest.mark.parametrize(
    "model", [SVC(), make_pipeline(StandardScaler(), SVC()), OneClassSVM(nu=0.2)], ids=["SVC", "pipeline", "one class"]
)
def test_every_pair_is_certified_by_the_model(model, monkeypatch):
    fit(model)
    batches = []
    machine = model[-1] if hasattr(model, "steps") else model
    predict = machine.predict
    monkeypatch.setattr(machine, "predict", lambda rows: batches.append(np.array(rows)) or predict(rows))
    front = dm.explore(model, INPUTS, "random_target", 200, refine="score")
    assert len(front) > 30
    for points, answers in ((front.a, front.a_output), (front.b, front.b_output)):
        rows = points.codes
        np.testing.assert_array_equal(model.predict(rows), answers)
        own_rows = model[:-1].transform(rows) if hasattr(model, "steps") else rows
        known = {row.tobytes() for batch in batches[:-1] for row in np.ascontiguousarray(batch)}
        assert {row.tobytes() for row in np.ascontiguousarray(own_rows)} <= known
    # the rest was guided: without matrix products, every case is asked
    assert sum(map(len, batches)) < front.runs


def test_rows_without_a_value_are_the_models_business():
    system = Estimator(fit(SVC()))
    with pytest.raises(ValueError, match="NaN"):
        system.execute(dm.Points(dm.Space.from_arrays(INPUTS), np.full((1, 5), np.nan)), scores="only")
