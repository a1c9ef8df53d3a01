"""What may happen to measurements on their way to a model, as a test system."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ...morphisms.cases import TestSet
from ...morphisms.decorators import datamorphism, executor, metamorphism, seed_maker
from ...space.points import Points
from ...space.space import Space

SIGNIFICANT_DIGITS = 2
CALIBRATION_ERROR = 0.01
PATIENTS = 30


class MeasurementErrors:
    """Patients whose measurements are rounded, taken with a device that is off, or lost and filled in."""

    name = "errors of measurement"

    def __init__(self, model: Any, inputs: pd.DataFrame) -> None:
        self.model, self.inputs = model, inputs
        self.space = Space.from_frame(inputs, bounds=dict.fromkeys(map(str, inputs), (0, None)))

    @seed_maker
    def some_patients(self, rng: np.random.Generator, n: int = PATIENTS) -> pd.DataFrame:
        """Draw patients from the data."""
        return self.inputs.sample(n, random_state=rng)

    @datamorphism(points=True)
    def rounded(self, patients: Points) -> Points:
        """Keep two significant digits."""
        codes = patients.codes
        exponents = np.floor(np.log10(np.where(codes > 0, codes, 1.0)))
        units = 10.0 ** (exponents - SIGNIFICANT_DIGITS + 1)
        return Points(patients.space, np.round(codes / units) * units)

    @datamorphism(points=True)
    def uncalibrated(self, patients: Points) -> Points:
        """Measure everything one per cent too large."""
        return Points(patients.space, patients.codes * (1 + CALIBRATION_ERROR))

    @datamorphism
    def filled_in(self, patients: pd.DataFrame) -> pd.DataFrame:
        """Replace the texture, which was lost, by the median."""
        return patients.assign(**{"mean texture": self.inputs["mean texture"].median()})

    @metamorphism(applies_to="mutant", message="the diagnosis survives errors of measurement")
    def the_diagnosis_stays(self, case: TestSet, origin: TestSet) -> npt.NDArray[np.bool_]:
        """Compare the diagnoses before and after the error."""
        return np.asarray(case.output == origin.output)

    @executor
    def diagnose(self, patients: pd.DataFrame) -> npt.NDArray[Any]:
        """Query the model."""
        return np.asarray(self.model.predict(patients))
