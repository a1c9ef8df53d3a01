"""The figures of the published tables as they are printed, and what is known to be wrong with them.

A table is named by document and number: ``"000-12"`` is Table 12 of Zhu & Bayley (2022). The CSV files hold what is
printed, mistakes included; where a figure is cut off or illegible, the row is missing. Costs printed as a
division by zero are infinite. Tables 20 to 22 of Ying (2024) have no body in our text of it.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from ..errors import DataError

if TYPE_CHECKING:
    import pandas as pd

MISPRINTS = "misprints"


class Erratum(NamedTuple):
    """What is wrong with some figures. A field names the values it is about, separated by commas; empty: all."""

    says: str
    tables: str
    strategy: str = ""
    data: str = ""
    subject: str = ""
    measure: str = ""


_RED_WINE = "000-14,000-15,000-16,000-17,000-4,000-6"
_MUSHROOM = "000-18,000-19,000-20,000-21,000-4,000-6,000-7"
_BANK = "000-22,000-23,000-24,000-25,000-4,000-6,000-7"
_NUMBERS = (
    "By the distances, 1 is the tripling (TriSquare6) or the third (TriPlus12) and 2 a swap (TriSquare3, TriPlus2):"
    " not the order of Tables 4 and 10."
)
_SWAP = "A swap of two inputs keeps distances, yet the figures of STCs and FTCs differ."
_NEVER = "Printed as below 1e-6 and above 1000000: here 0 and infinity."
_LOST = "Printed once for this and the following relations, it seems: the cells after it are empty in our text."
_DISPERSION = ",".join(f"dispersion {cases} {which}" for cases in ("STC", "FTC") for which in ("min", "max", "max-min"))
_DISCREPANCY = ",".join(f"discrepancy {cases} {which}" for cases in ("STC", "FTC") for which in ("max", "max-min"))

_OF_002 = (
    Erratum("The appendix has one more.", "002-3", subject="Sin,TriSquarePlus", measure="MRs"),
    Erratum("The text says ten, and the appendix has one.", "002-3", subject="tanh", measure="MRs"),
    Erratum(
        "Two programs of one name: one of Apache Commons Math, one of Numerical Recipes.",
        "002-3",
        subject="BesselJ (140),BesselJ (1211)",
    ),
    Erratum(
        "A strip joins two edges: in one dimension that is the whole domain.",
        "002-3",
        subject="Sin,tanh,Erf",
        measure="strip",
    ),
    Erratum(
        "Our text has lost program and relation of this row: Table 4 has six mutants of TriSquarePlus.",
        "002-5",
        subject="TriSquarePlus mutant 20",
    ),
    Erratum(
        "Table 11 gives about 0.03 (MT-RT) and 0.06 (MT-ART-Min): its mutant 8 seems to be this one.",
        "002-5",
        "SFIDMT-ART vs MT-RT,SFIDMT-ART vs MT-ART-Min",
        subject="TriSquare mutant 14",
        measure="effect size",
    ),
    Erratum(
        "These effects in 10,000 trials mean p-values of 0.16 (MT-RT) and 0.003 (MT-ART-Min).",
        "002-5",
        "SFIDMT-ART vs MT-RT,SFIDMT-ART vs MT-ART-Min",
        subject="TriSquare mutant 13",
    ),
    Erratum(
        "The text says that MT-ART-Min never did significantly better than SFIDMT-ART; here it does.",
        "002-5",
        "SFIDMT-ART vs MT-ART-Min",
        measure="effect size",
        subject="tanh mutant 3,Erf mutant 5,Erf mutant 6,sncndn mutant 10,TriSquarePlus mutant 17,rj mutant 22",
    ),
    Erratum(_NUMBERS, "002-5,002-11", data="TriSquare1,TriSquare2,TriPlus1,TriPlus2"),
    Erratum(_NUMBERS, "002-7,002-12,002-13", subject="TriSquare1,TriSquare2,TriPlus1,TriPlus2"),
    Erratum(
        "Table 7 has 0.0045, which uniform points give, and Table 13 has 0.0081.",
        "002-7,002-13",
        "MT-RT",
        subject="Sin",
        measure=_DISCREPANCY,
    ),
    Erratum(
        "Tables 7 and 13 differ by more than chance.",
        "002-7,002-13",
        "MT-ART-Min",
        subject="Sin,TriSquare,TriSquare1,TriPlus1,TriPlus2",
        measure=_DISPERSION,
    ),
    Erratum(_SWAP, "002-7", "MT-RT,SFIDMT-ART", subject="TriPlus2", measure=_DISPERSION),
    Erratum(_SWAP, "002-13", subject="TriPlus2", measure=_DISPERSION),
    Erratum(
        "More than twice what uniform points give in six dimensions: about 12 (STCs) and 36 (FTCs).",
        "002-7",
        "MT-RT",
        subject="Pnt",
        measure="dispersion STC max-min,dispersion FTC max-min",
    ),
    Erratum(
        "MT-RT has 0.0045 or 0.0046 with every other relation, and 0.4993 or more in Table 31.",
        "002-7",
        "MT-RT",
        subject="Pnt",
        measure=_DISCREPANCY,
    ),
    Erratum(
        "Worse than MT-RT, though the text says that all four are more even.",
        "002-13",
        "MT-ART-Min",
        subject="Sin,TriSquare1,TriPlus1",
        measure="dispersion STC max-min,dispersion FTC max-min",
    ),
    Erratum("The rate is 0.005, as the text says.", "002-9", subject="0.00"),
    Erratum(
        "This is of the next relation: Table 10 has three mutants each, and so the effects agree with Table 5.",
        "002-11",
        subject="BesselJ mutant 6,TriSquare mutant 9,TriSquare mutant 12,TriSquarePlus mutant 15",
    ),
    Erratum(
        "The text lists it both where MT-ART-Min is better and where the two are alike.",
        "002-11",
        "MT-BART vs MT-ART-Min",
        subject="TriSquarePlus mutant 15",
    ),
    Erratum(
        _NEVER,
        "002-23,002-24,002-25,002-26",
        measure="rate,F-measure",
        strategy="BesselJ2,BesselJ3,TriPlus2,rj2,rj3,rj4,rj5,rj6,Pnt4,Pnt5,Pnt6,Pnt7,Pnt8",
    ),
    Erratum(
        _NEVER,
        "002-24",
        "TriPlus1,TriPlus3,TriPlus4",
        measure="rate,F-measure",
        subject="TriSquarePlus mutant 1,TriSquarePlus mutant 2",
    ),
    Erratum(
        _LOST,
        "002-24,002-25,002-26",
        "TriPlus7,rj2,Pnt4",
        measure="rate",
        subject="TriSquarePlus mutant 2,rj mutant 1,rj mutant 2,PntLinePos mutant 1",
    ),
    Erratum(
        _LOST,
        "002-24",
        "TriPlus5",
        measure="block,point,strip",
        subject="TriSquarePlus mutant 1,TriSquarePlus mutant 2",
    ),
    Erratum(_LOST, "002-24", "TriPlus3", subject="TriSquarePlus mutant 3", measure="block,point,strip"),
    Erratum(
        "Cut off, not rounded: 1 / F-measure has the rest.",
        "002-24,002-25",
        measure="rate",
        strategy="TriPlus5,TriPlus6,TriPlus7,TriPlus8,TriPlus9,TriPlus10,rj1",
    ),
    Erratum(
        "By Table 24 this mutant violates none of these relations.",
        "002-27,002-28",
        "TriPlus1-TriPlus3",
        subject="TriSquarePlus mutant 1,TriSquarePlus mutant 2",
    ),
    Erratum("Table 28 calls this set Erf1-Erf7.", "002-27,002-29,002-30,002-31", "Erf1-Erf8"),
    Erratum(
        "The other tables call this set Erf1-Erf8; the effects on mutant 1 are too large for the ratios there.",
        "002-28",
        "Erf1-Erf7",
    ),
    Erratum("Printed once for all sets of relations.", "002-29", measure="MT-RT"),
    Erratum(
        "The text calls this marginally longer than MT-RT at most: it is 4 to 34 times as long.",
        "002-29",
        measure="k=1,k=2,k=3,k=4,k=5",
    ),
    Erratum(
        "The text says 1,000 pairs; uniform points give these figures of MT-RT with 10,000.",
        "002-30,002-31",
        "Sin1-Sin3,Erf1-Erf3,Erf1-Erf5",
        measure="MT-RT",
    ),
    Erratum(
        "Swaps keep distances: 10,000 uniform pairs give about 9.7.", "002-30", "TriPlus1-TriPlus3", measure="MT-RT"
    ),
    Erratum(
        "Uniform points give about 61, 53 and 49, as printed for k=1.", "002-30", subject="PntLinePos", measure="MT-RT"
    ),
    Erratum(
        "Hundreds of times the figures beside it, and Table 7 has 0.0013.",
        "002-31",
        subject="PntLinePos",
        measure="MT-RT",
    ),
    Erratum(
        "Erf, with as many relations, has 0.0029; with three, all programs but one have the same.",
        "002-31",
        "sncndn1-sncndn5",
        measure="MT-RT",
    ),
)

ERRATA = (
    Erratum("These are data of the random target strategy: Table 4 of Zhu & Bayley (2020).", "000-9"),
    Erratum(
        "The heading says as many seeds as walks; the runs are those of 200 seeds.", "000-9,001-4", measure="runs,cost"
    ),
    Erratum(
        "These are random-target figures, and Box 1 has that of Box 2.",
        "000-1",
        strategy="directed_walk",
        measure="capability",
    ),
    Erratum("The rows of Sin 1 and Sin 2 are swapped.", "000-10,000-11,000-12", subject="Sin 1,Sin 2"),
    Erratum(
        "The figures of Sin 1 and Sin 2 are swapped.",
        "000-1",
        strategy="random_walk",
        subject="Sin 1,Sin 2",
        measure="cost",
    ),
    Erratum(
        "Wrong: by its own column of mutants it is 15 to 17 %.", "000-11", subject="Triangle 1", measure="capability"
    ),
    Erratum(
        "This is the result of walks that can succeed at their first step only; the algorithm has twenty.",
        "001-1,001-5,000-1",
        strategy="directed_walk",
        measure="runs,mutants,cost",
    ),
    Erratum(
        "The pool grew: later walks start from the mutants of earlier ones.",
        "001-2,001-3,001-5",
        strategy="random_walk",
    ),
    Erratum(
        "The test system's midpoint took total sulfur dioxide of one wine and free sulfur dioxide of the other.",
        _RED_WINE,
        data="red_wine",
    ),
    Erratum(
        "The seeds had lost features: nearly all from stalk root to ring type carry code 0, whatever the mushroom.",
        _MUSHROOM,
        data="mushroom",
    ),
    Erratum(
        "NB and NB2, at about 140, are left out.",
        "000-4",
        strategy="directed_walk",
        data="mushroom",
        measure="cost max,cost mean,cost stdev",
    ),
    Erratum(
        "The test system's moves reset every feature of the other two kinds and never reached the last category.",
        _BANK,
        strategy="directed_walk,random_walk",
        data="bank_churners",
    ),
    Erratum(
        "Measured on the nine tenths of the rows that the model learnt from.",
        "000-13",
        subject="LR2,KNN2,DT2,NB2,SVM2,SV2,HV2,Stack1,Stack3",
        measure="accuracy",
    ),
    Erratum("The 2,480 mushrooms without a known stalk root are left out.", "000-13", data="mushroom"),
    Erratum("Measured on the model as the last round of cross-validation left it.", "000-13", measure="test accuracy"),
    Erratum(
        "The mean of the first class is printed as 1, which gives errors of about 49 and 16 %: with 4 it is as published.",
        "003-8",
        subject="original",
        measure="Rule-1.5,Rule-2",
    ),
    Erratum(
        "The mean of the first class is printed as 1, which gives errors of about 42 and 13 %: with 4 it is as published.",
        "003-9",
        subject="original",
        measure="Rule-1.5,Rule-2",
    ),
    Erratum(
        "One more than the data set has: perhaps the header of the file was counted.",
        "004-2",
        subject="penguins",
        measure="samples,class 2",
    ),
    Erratum(
        "One more than the data set has: perhaps the header of the file was counted.",
        "004-2",
        subject="hawks",
        measure="samples,class 1",
    ),
    Erratum(
        "Tables 3 and 4 are of different trees: one with 99 nodes decides at 49 of them, not at 100.",
        "004-3,004-4",
        subject="cleveland",
        measure="nodes,DTC,BVA,decision nodes,ORRN,Cccr,mutants",
    ),
    Erratum(
        "Tables 3 and 4 are of different trees: one with n nodes decides at (n - 1) / 2 of them.",
        "004-3,004-4",
        subject="phoneme,pima,haberman",
        measure="nodes,decision nodes,ORRN",
    ),
    Erratum(
        "Fewer than the leaves: some were not reached, though the rows that the tree was grown on reach them all.",
        "004-3",
        subject="penguins,hawks",
        measure="DTC",
    ),
    Erratum(
        "Worse than guessing between two classes: it looks as if these were of the five grades of the disease.",
        "004-5",
        subject="cleveland",
        measure=",".join(
            f"{criterion} {score}"
            for criterion in ("DTMT", "CV")
            for score in ("precision", "recall", "accuracy", "F1")
        ),
    ),
    Erratum(
        "This cannot be: F1 is at most the mean of precision and recall, which is 0.25.",
        "004-5",
        subject="hawks",
        measure="BVA F1",
    ),
    Erratum("Said to be of a paired test; they are of the unpaired one.", "004-7"),
    *_OF_002,
)


def tables() -> list[str]:
    """Return the names of the published tables.

    Examples
    --------
    >>> tables()[:4], len(tables())
    (['000-1', '000-4', '000-5', '000-6'], 54)
    """
    names = (file.name.removesuffix(".csv") for file in files(__package__).joinpath("published").iterdir())
    return sorted(
        (name for name in names if name != MISPRINTS), key=lambda name: [int(part) for part in name.split("-")]
    )


def published(table: str) -> pd.DataFrame:
    """Return the figures of a table, one per row.

    Parameters
    ----------
    table : str
        Document and number, such as ``"000-12"``; see `tables`.

    Returns
    -------
    DataFrame
        Columns ``strategy``, ``data`` (empty for the coded subjects), ``subject`` ("all": over all of them),
        ``walks`` and ``seeds`` (missing where they do not apply or are not stated), ``measure``, ``published``.
        In 002 (Ying 2024) subjects are programs, mutants, relations or rates, strategies are algorithms, pairs of them or
        sets of relations, ``data`` is the relation of a mutant, and marks are 1 or 0. An effect size that was not
        computed is nan. A name has one spelling: ``TriPlus`` is also printed as TriSquarePlus, Tri and Tr.
        In 003 (Xie et al. 2011) subjects are classifiers or mutants and measures are relations or rules, in percent; verdicts
        ("MR-0 necessary", "killed") are 1 or 0. In 004 (Silveira et al. 2025) subjects are data sets, statistics over all of them
        ("mean") or scores ("precision").

    Examples
    --------
    >>> rows = published("000-12")
    >>> rows[(rows["subject"] == "Box 1") & (rows["walks"] == 1200)][["measure", "published"]]
           measure  published
    20        runs    3586.00
    21     mutants     338.60
    22        cost      10.59
    23  capability      14.11
    """
    return _read_table(_validate_table(table))


def erratum(
    table: str, strategy: str = "", subject: str = "", measure: str = "", *, data: str = "", walks: int | None = None
) -> str:
    """Return what is known to be wrong with a figure, or an empty text.

    What is left out is not asked about: without `walks`, misprints are named by the walks at which they occur.

    Examples
    --------
    >>> erratum("000-10", "random_walk", "Sin 1", "cost")
    'The rows of Sin 1 and Sin 2 are swapped.'
    >>> erratum("001-2", "random_walk", "Triangle 1", "mutants", walks=200)
    'The pool grew: later walks start from the mutants of earlier ones. A misprint: the other figures give 121.8.'
    >>> erratum("000-12", "random_target", "Box 1", "cost")
    ''
    """
    place = {
        "tables": _validate_table(table),
        "strategy": strategy,
        "data": data,
        "subject": subject,
        "measure": measure,
    }
    notes = [
        erratum.says
        for erratum in ERRATA
        if all(
            not value or not getattr(erratum, field) or value in getattr(erratum, field).split(",")
            for field, value in place.items()
        )
    ]
    return " ".join([*notes, *_find_misprints(place, walks)])


def misprints() -> pd.DataFrame:
    """Return the figures that contradict the others of their row or column.

    Most are single digits in the small print of the case studies, and some may be slips of the text the figures
    were read from rather than of the page. The column ``fits`` has the value that would agree, where one value
    does. Otherwise some figure of the row is wrong, and it is unknown which. The row is then listed at its cost
    or capability.
    """
    return _misprints().copy()


def _find_misprints(place: dict[str, str], walks: int | None) -> list[str]:
    rows = _misprints_of(place["tables"])
    if not len(rows):
        return []
    for field, value in place.items():
        if value and field != "tables":
            rows = rows[rows[field] == value]
    if walks is not None:
        rows = rows[rows["walks"] == walks]
    elif rows["walks"].notna().any():
        return ["Misprints at " + ", ".join(f"{walks:,}" for walks in sorted({*rows["walks"].dropna()})) + " walks."]
    if not len(rows):
        return []
    fits = rows["fits"].iloc[0]
    if len(rows) > 1 or not fits:
        return ["The figures of this row contradict each other."]
    return [f"A misprint: the other figures give {fits}."]


@lru_cache
def _misprints_of(table: str) -> pd.DataFrame:
    rows = _misprints()
    return rows[rows["table"] == table]


@lru_cache(maxsize=1)
def _misprints() -> pd.DataFrame:
    return _read_table(MISPRINTS)


def _read_table(name: str) -> pd.DataFrame:
    import pandas as pd

    with files(__package__).joinpath("published", f"{name}.csv").open(encoding="utf-8") as file:
        frame = pd.read_csv(file, dtype=str, keep_default_na=False)
    whole = [column for column in ("walks", "seeds") if column in frame]
    frame[whole] = frame[whole].apply(pd.to_numeric).astype("Int64")
    if "published" in frame:
        frame["published"] = frame["published"].astype(float)
    return frame


def _validate_table(table: str) -> str:
    if table not in tables():
        raise DataError(f"There is no published table {table!r}. There are: {', '.join(tables())}.")
    return table
