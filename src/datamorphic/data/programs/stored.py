"""Read the stored tables of mutants and violation regions."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@cache
def read_rows(name: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a CSV file in this folder."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def read_regions(program: str) -> pd.DataFrame:
    """Return the stored violation regions of the mutants of a program."""
    import pandas as pd

    region_rows = [row for row in read_rows("regions.csv") if row["program"] == program]
    frame = pd.DataFrame(region_rows).drop(columns="program")
    numbers = ["rate", "low", "high", "undefined"]
    frame[numbers] = frame[numbers].astype(float)
    return frame
