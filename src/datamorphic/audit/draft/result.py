"""`Draft`: a drafted test system."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...space.space import Space
from .relations import DraftRelation


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A test system drafted from a model and data.

    Attributes
    ----------
    text : str
        The text of the file.
    module, name : str
        The names of the module and of its class, as in ``datamorphic laws module:name``.
    space : Space
        The space written in the file.
    rows : int
        The number of rows of the data.
    relations : list of DraftRelation
        The relations that were tried. Those that hold are active in the file, the others are comments.
    notes : list of str
        Assumptions that were made.
    """

    text: str = field(repr=False)
    module: str
    name: str
    space: Space
    rows: int
    relations: list[DraftRelation]
    notes: list[str]
