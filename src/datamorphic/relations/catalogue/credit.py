"""Business expectations of credit risk models: the relations HMR1 to HMR5 of Ying 2024 (section 8.3.3).

A better credit score, less debt for the same income and more equity never raise the probability of default. HMR4 and HMR5
are compositions. The published relations multiply; the additive forms, with a "+" in their names, are ours, with steps about
as large for a usual loan.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..._text import suggest_name
from ...errors import ArgumentError
from ..algebra.change import Change, ChangeRelation, compose

#: possible values of the columns; Ying 2024, section 8.3.2
CREDIT_RANGES: dict[str, tuple[float, float]] = {"credit_score": (300, 850), "dti": (0, 65), "ltv": (1, 98)}
#: the values that mean "unavailable"
CREDIT_SENTINELS: dict[str, int] = {"credit_score": 9999, "dti": 999, "ltv": 999}
#: published factors
CREDIT_FACTORS = {"credit_score": 1.10, "dti": 0.90, "ltv": 0.90}
#: steps of the additive forms, in the unit of the column: a tenth of a usual value
CREDIT_AMOUNTS = {"credit_score": 70.0, "dti": -4.0, "ltv": -7.0}
#: classes that mean default, in the order in which they are looked for
DEFAULT_OUTCOMES: tuple[object, ...] = ("default", "defaulted", "bad", 1, True)

#: relations by the columns that they change, in this order
CREDIT_COLUMNS: dict[str, tuple[str, ...]] = {
    "HMR1": ("credit_score",),
    "HMR2": ("dti",),
    "HMR3": ("ltv",),
    "HMR4": ("credit_score", "ltv"),
    "HMR5": ("credit_score", "ltv", "dti"),
}


def credit_relations(
    columns: Mapping[str, str] | None = None, *, outcome: object = None, additive: bool = False
) -> dict[str, ChangeRelation]:
    """Return the five relations of credit risk models by name.

    Parameters
    ----------
    columns : mapping, optional
        The names of the columns of your data for "credit_score", "dti" and "ltv", if they differ.
    outcome : object, optional
        The class that means default. By default the first that the model has of "default", "defaulted", "bad", 1 and
        True.
    additive : bool
        Whether to add fixed steps (70 points, 4 and 7 percentage points) instead of multiplying by the published
        factors (1.1, 0.9, 0.9).

    Returns
    -------
    dict
        The relations "credit.HMR1" to "credit.HMR5"; additive ones are called "credit.HMR1+" to "credit.HMR5+".

    Examples
    --------
    >>> from datamorphic.relations.catalogue.credit import credit_relations
    >>> for name, relation in credit_relations(outcome="default").items():
    ...     print(name, relation.statement.partition(":")[0])
    credit.HMR1 credit_score x 1.1
    credit.HMR2 dti x 0.9
    credit.HMR3 ltv x 0.9
    credit.HMR4 credit_score x 1.1, ltv x 0.9
    credit.HMR5 credit_score x 1.1, ltv x 0.9, dti x 0.9
    """
    column_names = dict(columns or {})
    for key in column_names:
        if key not in CREDIT_RANGES:
            raise ArgumentError(
                f"columns= names {key!r}, which no relation changes. {suggest_name(key, CREDIT_RANGES)}"
            )
    suffix = "+" if additive else ""
    single_changes: dict[str, ChangeRelation] = {}
    relations: dict[str, ChangeRelation] = {}
    for key, changed_columns in CREDIT_COLUMNS.items():
        name = f"credit.{key}{suffix}"
        if len(changed_columns) == 1:
            column = changed_columns[0]
            relation = ChangeRelation(
                name,
                _build_change(column, column_names.get(column, column), additive),
                outcome=outcome,
                outcome_guesses=DEFAULT_OUTCOMES,
            )
            single_changes[column] = relation
        else:
            relation = compose(*(single_changes[column] for column in changed_columns), name=name)
        relations[name] = relation
    return relations


def _build_change(column: str, column_name: str, additive: bool) -> Change:
    """Return the change of one column with its published parameters."""
    low, high = CREDIT_RANGES[column]
    return Change(
        column=column_name,
        factor=None if additive else CREDIT_FACTORS[column],
        amount=CREDIT_AMOUNTS[column] if additive else None,
        low=low,
        high=high,
        sentinels=(CREDIT_SENTINELS[column],),
    )


CREDIT_RELATIONS: dict[str, ChangeRelation] = {**credit_relations(), **credit_relations(additive=True)}
