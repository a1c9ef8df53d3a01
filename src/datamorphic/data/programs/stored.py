"""What was chosen and measured once, and is stored beside the programs."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a table of this package."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def regions(program: str) -> pd.DataFrame:
    """Return the stored regions of a program's mutants."""
    import pandas as pd

    found = [row for row in rows("regions.csv") if row["program"] == program]
    frame = pd.DataFrame(found).drop(columns="program")
    numbers = ["rate", "low", "high", "undefined"]
    frame[numbers] = frame[numbers].astype(float)
    return frame
