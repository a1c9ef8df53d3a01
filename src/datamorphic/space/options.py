"""`SpaceOptions`: hints for inferring a space from a frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from .._lazy import pd
from ..errors import ArgumentError
from .inference import validate_hints
from .space import Space


@dataclass(frozen=True, kw_only=True)
class SpaceOptions:
    """Hints for reading a frame as a space, each a dict by column; None for no hint.

    Attributes
    ----------
    kinds, steps, bounds, orders : mapping
        ``{"age": "integer"}`` (or "continuous", "categorical", "text"); ``{"age": 3}``, the length of one move; ``{"age": (20, 80)}``,
        None for an open end; ``{"card": ["Blue", "Gold"]}``, the categories in their order.

    Examples
    --------
    >>> import pandas as pd
    >>> SpaceOptions(kinds={"n": "continuous"}).infer_space(pd.DataFrame({"n": range(21)}))["n"].describe()
    'real number in [0, 20], step 1'
    """

    kinds: Mapping[str, str] | None = None
    steps: Mapping[str, float] | None = None
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None
    orders: Mapping[str, Sequence[Any]] | None = None

    def __post_init__(self) -> None:
        validate_hints(self.to_dict())

    def __bool__(self) -> bool:
        return bool(self.to_dict())

    def to_dict(self) -> dict[str, Mapping[str, Any]]:
        """Return the hints that were given, by name."""
        hints = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: hint for name, hint in hints.items() if hint is not None and hint != {}}

    def infer_space(self, frame: pd.DataFrame, *, target: str | None = None) -> Space:
        """Infer a space from a frame; `target` is the column of the label."""
        return Space.from_frame(
            frame, kinds=self.kinds, steps=self.steps, bounds=self.bounds, orders=self.orders, target=target
        )

    def validate_alone(self, owner: str, space: Space | None) -> None:
        """Raise `ArgumentError` if there are hints although the space is given."""
        if self and space is not None:
            raise ArgumentError(
                f"{owner} was given a space and hints for its columns ({', '.join(self.to_dict())}). "
                "A space already contains this information. Give only one of the two."
            )


def format_hint_options(request: Mapping[str, Any]) -> list[str]:
    """Return the space hints of a request as options of the command line."""
    formats: dict[str, tuple[str, Callable[[Any], str]]] = {
        "kinds": ("--kind", str),
        "steps": ("--column-step", str),
        "bounds": ("--bounds", lambda limits: ":".join("" if limit is None else str(limit) for limit in limits)),
        "orders": ("--order", lambda categories: ",".join(map(str, categories))),
    }
    options: list[str] = []
    for key, (option, format_hint) in formats.items():
        for column, hint in (request.get(key) or {}).items():
            options += [option, f"{column}={format_hint(hint)}"]
    return options
