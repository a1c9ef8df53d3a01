"""The figures that the authors of the methods printed, on their own machines."""

from __future__ import annotations

from .figures import Figure

TITLE, DISTRIBUTION = "the authors' figures", "datamorphic"
REQUIREMENTS = ()  # our own environment
NOTES = (
    "Printed figures are of other hardware: a ratio says how they compare with ours on this machine, and not which program is "
    "faster. Table 12 of Ying (2024) has CPU seconds to generate 10,000 metamorphic groups. The thesis names neither "
    "the machine nor the language of the generators (of the programs under test, some are in C++). Table 5 of Zhu & Bayley (2022) has "
    "border pairs per second with Morphy, in Java, on a Xeon E3-1230 v5 of 3.4 GHz. All figures of these tables: "
    "`datamorphic study 002-12`, `datamorphic study 000-5`.",
)
GROUPS_STUDY, PAIRS_STUDY = "002-12", "000-5"
PROGRAMS = ("Sin", "BesselJ", "TriSquare2")  # one, two and three dimensions
GROUPS_TASK = "Ying 2024, Table 12: 10,000 groups for {}, {}"
PAIRS_TASK = "Zhu & Bayley 2022, Table 5: borders of {}, {}"
SUBJECTS = ("Box 1", "Circle 2", "Sin 1")


def measure_theirs() -> list[Figure]:
    """Return the printed figures."""
    return _read("published")


def measure_ours() -> list[Figure]:
    """Return our figures, from the studies of the same tables."""
    return _read("ours")


def _read(column: str) -> list[Figure]:
    from datamorphic.studies.run import study

    figures = []
    for name, task, subjects, measure, higher in (
        (GROUPS_STUDY, GROUPS_TASK, PROGRAMS, "seconds", False),
        (PAIRS_STUDY, PAIRS_TASK, SUBJECTS, "pairs per second", True),
    ):
        rows = study(name, progress=False).rows
        for _, row in rows[rows["row"].isin(subjects) & (rows["column"] != "average")].iterrows():
            way = row["column"].removesuffix(", s")
            figures.append(Figure(task.format(row["row"], way), measure, float(row[column]), higher))
    return figures
