"""What a defect and a good model of the suite are, and how they are registered."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .data import HELD_BACK, find_target, load
from .models import ScoringService, Service, make_model

ANY_DEFECT = ("fault", "concern")
ANY_LEVEL = ("fault", "concern", "advice")


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model with the data that it is tested on, ready for `dm.test`."""

    model: Any
    data: pd.DataFrame
    options: dict[str, Any] = field(default_factory=dict)
    train: pd.DataFrame | None = None  # what the model was fitted to, for tools that need it


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The two parts of a data set, and the kind of model to fit to the first of them."""

    name: str
    model: str
    train: pd.DataFrame
    test: pd.DataFrame
    target: str
    seed: int
    with_reference: bool

    @property
    def numbers(self) -> bool:
        """Whether the labels are numbers to be estimated, not classes."""
        labels = self.train[self.target]
        return bool(pd.api.types.is_numeric_dtype(labels) and labels.nunique() > 5)

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, zlib.crc32(self.name.encode())])

    def inputs(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame.drop(columns=self.target)

    def fit(self, train: pd.DataFrame | None = None, weights: np.ndarray | None = None, **options: Any) -> Any:
        """Return the model, fitted to the training part or to what was made of it."""
        train = self.train if train is None else train
        model = make_model(self.model, self.numbers, self.seed, **options)
        fit_options = {} if weights is None else {f"{model.steps[-1][0]}__sample_weight": weights}
        return model.fit(self.inputs(train), train[self.target], **fit_options)

    def case(
        self,
        model: Any,
        test: pd.DataFrame | None = None,
        train: pd.DataFrame | None = None,
        reference: bool | None = None,
    ) -> Case:
        """Return a case; half of the cases have the training part as reference, unless `reference` says it."""
        train = self.train if train is None else train
        options: dict[str, Any] = {"target": self.target}
        if self.with_reference if reference is None else reference:
            options["reference"] = train
        test = self.test if test is None else test
        return Case(model=model, data=test.reset_index(drop=True), options=options, train=train)

    def serve(
        self,
        before: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
        after: Callable[[pd.DataFrame, np.ndarray], np.ndarray] | None = None,
        model: Any = None,
        test: pd.DataFrame | None = None,
    ) -> Case:
        """Return a case of a model whose inputs or answers a service changes."""
        model = self.fit() if model is None else model
        if after is None and hasattr(model, "predict_proba"):
            return self.case(ScoringService(model, before), test)
        return self.case(Service(model, before, after), test)


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A case by name: what it is, and how to build it from its data."""

    kind: str
    name: str
    data: str
    model: str
    make: Callable[[Setting], Case]

    @property
    def held_back(self) -> bool:
        return self.data in HELD_BACK

    @property
    def title(self) -> str:
        return f"{self.kind}: {self.name} ({self.data}, {self.model})"

    def build(self, frame: pd.DataFrame, seed: int) -> Case:
        """Return the case: fitted to one half of the rows, tested on the other."""
        half = len(frame) // 2
        setting = Setting(
            name=self.data,
            model=self.model,
            train=frame[:half].reset_index(drop=True),
            test=frame[half:].reset_index(drop=True),
            target=find_target(self.data),
            seed=seed,
            with_reference=zlib.crc32(self.title.encode()) % 2 == 0,
        )
        return self.make(setting)

    def build_with_data(self, seed: int) -> Case:
        return self.build(load(self.data, seed), seed)


@dataclass(frozen=True, kw_only=True)
class Defect(Planted):
    """A defect, and how a finding should name it."""

    words: Sequence[str]  # one of them begins a word of the finding
    columns: Sequence[str] = ()  # one of them is named by the finding; empty if no column is at fault
    levels: Sequence[str] = ANY_DEFECT


@dataclass(frozen=True, kw_only=True)
class Good(Planted):
    """A good model: a test finds neither a fault nor a concern."""


DEFECTS: list[Defect] = []
GOOD: list[Good] = []
Register = Callable[[Callable[..., Case]], Callable[..., Case]]


def plant(
    kind: str,
    name: str,
    sets: Iterable[Sequence[Any]],
    words: Sequence[str],
    columns: Callable[..., Sequence[str]] | Sequence[str] | None = None,
    levels: Sequence[str] = ANY_DEFECT,
) -> Register:
    """Register a defect on several data sets: (data, kind of model, arguments of the builder ...).

    Unless `columns` says otherwise, the column at fault is the first argument. Words in braces are arguments: "{1}".
    """

    def register(build: Callable[..., Case]) -> Callable[..., Case]:
        for data, model, *arguments in sets:
            if callable(columns):
                names = columns(*arguments)
            else:
                names = arguments[:1] if columns is None else columns
            DEFECTS.append(
                Defect(
                    kind=kind,
                    name=name,
                    data=data,
                    model=model,
                    make=lambda setting, arguments=tuple(arguments): build(setting, *arguments),
                    words=[word.format(*arguments) for word in words],
                    columns=list(names),
                    levels=levels,
                )
            )
        return build

    return register


def approve(kind: str, name: str, sets: Iterable[Sequence[Any]]) -> Register:
    """Register good models on several data sets: (data, kind of model, arguments of the builder ...)."""

    def register(build: Callable[..., Case]) -> Callable[..., Case]:
        for data, model, *arguments in sets:
            GOOD.append(
                Good(
                    kind=kind,
                    name=name,
                    data=data,
                    model=model,
                    make=lambda setting, arguments=tuple(arguments): build(setting, *arguments),
                )
            )
        return build

    return register
