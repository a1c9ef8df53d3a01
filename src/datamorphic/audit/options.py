"""`AuditOptions`: the options of `dm.test`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._text import to_jsonable
from .._typing import DataLike, EngineLike, FilePath, StoreLike
from .._validation import validate_choice, validate_integer, validate_positive, validate_timeout
from ..runs.flow import Budget
from ..runs.keep import StoreOptions, resolve_seed
from ..space.options import SpaceOptions
from ..space.space import Space
from ..systems.wrap import to_classes
from .case_text import to_plain
from .checks import CHECKS
from .expectations import Expectations, ExpectLike, PromisesLike, parse_expectations, parse_promises_option

if TYPE_CHECKING:
    from ..exploration.front import Front

CHECK_NAMES = tuple(check.name for check in CHECKS)
DEFAULT_BUDGET = "1m"


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """The options of one audit, validated; `dm.test` documents them."""

    target: str | None = None
    protected: Sequence[str] | str = ()
    expect: ExpectLike = None
    promises: PromisesLike = None
    budget: Budget | str | float | None = DEFAULT_BUDGET
    seed: int = 0
    classes: Sequence[Any] | None = None
    baseline: Front | FilePath | None = None
    tolerance: float | None = None
    reference: DataLike | FilePath | None = None
    only: Sequence[str] | str = ()
    space: Space | None = None
    hints: SpaceOptions = field(default_factory=SpaceOptions)  # they exclude `space`
    engine: EngineLike = None
    timeout: float | None = None
    batch: int | None = None
    store: StoreLike | StoreOptions = None
    trust: bool = False
    scalar: bool = False
    name: str | None = None
    progress: bool | None = None
    request: Mapping[str, Any] = field(default_factory=dict)  # is stored, and repeats the audit
    expectations: Expectations = field(init=False)  # what `expect`, `protected` and `promises` declare
    parsed_budget: Budget = field(init=False)
    keep: StoreOptions | None = field(init=False)

    def __post_init__(self) -> None:
        def set_field(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        set_field("parsed_budget", Budget.parse(self.budget, needs_unit=True))
        set_field("only", (self.only,) if isinstance(self.only, str) else tuple(self.only))
        for check in self.only:
            validate_choice("only", "test", check, CHECK_NAMES)
        if self.tolerance is not None:
            validate_positive("tolerance", "test", self.tolerance)
        if self.timeout is not None:
            validate_timeout("timeout", "test", self.timeout)
        if self.batch is not None:
            validate_integer("batch", "test", self.batch, 1)
        set_field("classes", to_classes(self.classes, "test"))
        self.hints.validate_alone("test", self.space)
        store: Any = self.store
        set_field("keep", store if store is None or isinstance(store, StoreOptions) else StoreOptions(store))
        set_field("seed", resolve_seed(self.seed, self.keep or StoreOptions("none")))
        expectations = parse_expectations(self.expect, self.protected)
        set_field("request", dict(self.request) or self._build_request(expectations))
        promises = parse_promises_option(self.promises, "test")
        set_field("expectations", expectations if promises is None else expectations.add_promises(promises))

    def _build_request(self, expectations: Expectations) -> dict[str, Any]:
        """Return the options that can be written down, for a call in Python."""
        return {
            "target": self.target,
            "protected": list(expectations.protected),
            "expect": os.fspath(self.expect) if isinstance(self.expect, str | os.PathLike) else None,
            "promises": os.fspath(self.promises) if isinstance(self.promises, str | os.PathLike) else None,
            "monotone": [f"{name}={direction}" for name, direction in expectations.monotone.items()],
            "invariant": list(expectations.invariant),
            "towards": to_plain(expectations.outcome),
            "relations": [relation.name for relation in expectations.relations],
            "baseline": os.fspath(self.baseline) if isinstance(self.baseline, str | os.PathLike) else None,
            "tolerance": self.tolerance,
            "reference": os.fspath(self.reference) if isinstance(self.reference, str | os.PathLike) else None,
            "budget": self.budget if isinstance(self.budget, str | int) and self.budget != DEFAULT_BUDGET else None,
            "scalar": self.scalar,
            "classes": None if self.classes is None else [to_plain(label) for label in self.classes],
            **to_jsonable(self.hints.to_dict()),
        }
