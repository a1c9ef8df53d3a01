"""`TestSet`: test cases in columns, with their inputs, outputs and origins."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._text import pluralize
from ..errors import DataError
from ..space.encoding import find_fault
from ..space.features import Mask
from ..space.hashing import RowTable
from ..space.outputs import Outputs, Status
from ..space.points import Points, RowSelection
from ..space.serialize import space_from_dict, space_to_dict

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from ..space.space import Space

Ids = npt.NDArray[np.int64]
NO_ORIGIN = -1
FORMAT_VERSION = 1  # of the Parquet files; newer ones are rejected


class Verdict(StrEnum):
    """The verdict of a relation on one group of cases."""

    HOLDS = "holds"
    VIOLATED = "violated"
    INAPPLICABLE = "inapplicable"
    UNDEFINED = "undefined"


class CaseKind(IntEnum):
    """Whether a case is a seed case or was made by a datamorphism."""

    ORIGINAL = 0
    MUTANT = 1


class Correctness(IntEnum):
    """Whether the output of a case was judged to be correct."""

    NOT_JUDGED = 0
    CORRECT = 1
    INCORRECT = 2


@dataclass(frozen=True, eq=False, kw_only=True)
class TestSet:
    """Test cases in columns: id, input, output, kind, morphism, origins and correctness.

    A test set is immutable; methods return new ones.

    Examples
    --------
    >>> import datamorphic as dm
    >>> space = dm.Space([dm.Continuous("x", 0, 1)])
    >>> seeds = TestSet.of_seeds(space.sample(3, points=True))
    >>> tests = seeds.grow(space.up(seeds.inputs, "x"), "up", [seeds.ids])
    >>> len(tests), tests.lineage(4)
    (6, [1])
    """

    __test__ = False  # pytest would take the class for a test because of its name

    inputs: Points
    ids: Ids
    kinds: npt.NDArray[np.int8]
    made_by: npt.NDArray[np.int32]
    morphisms: tuple[str, ...]
    origins: Ids
    outputs: Outputs | None = None
    correctness: npt.NDArray[np.int8] = field(default_factory=lambda: _make_not_judged(0))  # NOT_JUDGED if left out

    def __post_init__(self) -> None:
        if not len(self.correctness):
            object.__setattr__(self, "correctness", _make_not_judged(len(self.ids)))

    # -- making test sets ---------------------------------------------------------------------------

    @classmethod
    def of_seeds(cls, inputs: Points, maker: str = "seed", first_id: int = 0) -> TestSet:
        """Return a set of seed cases."""
        n = len(inputs)
        return cls(
            inputs=inputs,
            ids=np.arange(first_id, first_id + n, dtype=np.int64),
            kinds=np.full(n, CaseKind.ORIGINAL, dtype=np.int8),
            made_by=np.zeros(n, dtype=np.int32),
            morphisms=(maker,),
            origins=np.full((n, 2), NO_ORIGIN, dtype=np.int64),
        )

    @property
    def next_id(self) -> int:
        """The id of the next new case."""
        return int(self.ids.max()) + 1 if len(self) else 0

    def mutants(self, inputs: Points, morphism: str, origins: Sequence[Ids]) -> TestSet:
        """Return the new cases that a morphism made from cases of this set."""
        for ids in origins:
            if len(ids) != len(inputs):
                raise DataError(
                    f"{morphism} made {pluralize(len(inputs), 'case')}, but got {pluralize(len(ids), 'origin')}. "
                    "Each new case needs its own origin."
                )
        new_cases = TestSet.of_seeds(inputs, morphism, self.next_id)
        parents = np.full((len(inputs), max(2, len(origins))), NO_ORIGIN, dtype=np.int64)
        for column, ids in enumerate(origins):
            parents[:, column] = ids
        return replace(new_cases, origins=parents, kinds=np.full(len(inputs), CaseKind.MUTANT, dtype=np.int8))

    def grow(self, inputs: Points, morphism: str, origins: Sequence[Ids]) -> TestSet:
        """Return this set together with the new cases that a morphism made from it."""
        return TestSet.concat([self, self.mutants(inputs, morphism, origins)])

    def with_outputs(self, outputs: Outputs) -> TestSet:
        """Return the set with the outputs of a system; they are not judged yet."""
        if not isinstance(outputs, Outputs):
            raise DataError(f"Expected the Outputs that an executor returns. Got {type(outputs).__name__}.")
        if len(outputs) != len(self):
            raise DataError(
                f"Got {pluralize(len(outputs), 'output')} for {pluralize(len(self), 'case')}. Give one per case."
            )
        return replace(self, outputs=outputs, correctness=_make_not_judged(len(self)))

    def with_correctness(self, correctness: npt.ArrayLike) -> TestSet:
        """Return the set with a `Correctness` per case, such as `TestSystem.judge` finds."""
        values = np.asarray(correctness)
        if values.shape != (len(self),) or not np.isin(values, list(Correctness)).all():
            raise DataError(
                f"Expected a Correctness for each of {pluralize(len(self), 'case')}: 0 (not judged), 1 (correct) or 2 "
                f"(incorrect). Got an array of {values.dtype} with shape {values.shape}."
            )
        return replace(self, correctness=values.astype(np.int8))

    @staticmethod
    def concat(sets: Sequence[TestSet]) -> TestSet:
        """Return the cases of several sets of one space as one set.

        A set with an id that an earlier set has too is renumbered, with its origins among its own cases. Other origins
        are taken to be ids of earlier sets. So put seed cases before the cases made from them.
        """
        if not sets:
            raise DataError("There is nothing to concatenate: give at least one test set.")
        parts: list[TestSet] = []
        for tests in sets:
            used_ids = np.concatenate([part.ids for part in parts]) if parts else np.empty(0, dtype=np.int64)
            parts.append(tests.renumbered(int(used_ids.max()) + 1) if np.isin(tests.ids, used_ids).any() else tests)
        names = tuple(dict.fromkeys(name for part in parts for name in part.morphisms))
        width = max(part.origins.shape[1] for part in parts)
        outputs = None
        if any(part.outputs is not None for part in parts):
            outputs = Outputs.concat([part.outputs or make_missing_outputs(len(part)) for part in parts])
        made_by = [np.array([names.index(n) for n in part.morphisms], dtype=np.int32)[part.made_by] for part in parts]
        origins = [
            np.pad(part.origins, ((0, 0), (0, width - part.origins.shape[1])), constant_values=NO_ORIGIN)
            for part in parts
        ]
        return TestSet(
            inputs=Points.concat([part.inputs for part in parts]),
            ids=np.concatenate([part.ids for part in parts]),
            kinds=np.concatenate([part.kinds for part in parts]),
            made_by=np.concatenate(made_by),
            morphisms=names,
            origins=np.concatenate(origins),
            outputs=outputs,
            correctness=np.concatenate([part.correctness for part in parts]),
        )

    def renumbered(self, first_id: int) -> TestSet:
        """Return the set with ids from `first_id` on; other origins do not change."""
        rows = self.rows_of(self.origins)
        origins = np.where(rows >= 0, rows + first_id, self.origins)
        return replace(self, ids=np.arange(first_id, first_id + len(self), dtype=np.int64), origins=origins)

    # -- reading test sets --------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        mutant_count = int((self.kinds == CaseKind.MUTANT).sum())
        return f"TestSet({len(self) - mutant_count:,} original, {mutant_count:,} mutants, {'' if self.outputs else 'not '}executed)"

    @property
    def space(self) -> Space:
        """The space of the inputs."""
        return self.inputs.space

    @property
    def input(self) -> pd.DataFrame:
        """The inputs as a frame of the user's values."""
        return self.inputs.frame

    @property
    def output(self) -> npt.NDArray[Any]:
        """The labels, one per case."""
        if self.outputs is None:
            raise DataError("These test cases have no outputs. Execute them first.")
        return self.outputs.values

    @property
    def made_by_names(self) -> npt.NDArray[np.object_]:
        """The name of the morphism that made each case."""
        return np.array(self.morphisms, dtype=object)[self.made_by]

    def take(self, rows: RowSelection) -> TestSet:
        """Return some of the cases, selected by a mask, a slice or row numbers."""
        return replace(
            self,
            inputs=self.inputs.take(rows),
            ids=self.ids[rows],
            kinds=self.kinds[rows],
            made_by=self.made_by[rows],
            origins=self.origins[rows],
            outputs=None if self.outputs is None else self.outputs.take(rows),
            correctness=self.correctness[rows],
        )

    def drop_duplicates(self) -> TestSet:
        """Return the first case of each input value; origins that are dropped become the case with their value.

        Equal inputs get equal outputs, so nothing is lost but the way in which the later cases were made.
        """
        numbers, first_rows = RowTable(self.inputs.codes.shape[1]).add(self.inputs.codes)
        if len(first_rows) == len(self):
            return self
        first_ids = self.ids[first_rows][numbers]  # for each row, the id of the first case with its value
        parent_rows = self.rows_of(self.origins)
        parents = np.where(parent_rows >= 0, first_ids[parent_rows], self.origins)
        parents = np.where(parents == self.ids[:, None], self.origins, parents)  # no case is its own origin
        return replace(self, origins=parents).take(np.sort(first_rows))

    def filter(self, keep: Mask | Iterable[bool]) -> TestSet:
        """Return the cases for which `keep` is True."""
        mask = np.asarray(keep)
        if not mask.size:
            mask = mask.astype(bool)
        if mask.dtype != bool or mask.shape != (len(self),):
            raise DataError(
                f"A filter needs True or False for each of {pluralize(len(self), 'case')}. "
                f"Got an array of {mask.dtype} with shape {mask.shape}."
            )
        return self.take(mask)

    def rows_of(self, ids: Ids, order: Ids | None = None) -> Ids:
        """Return the row numbers of some ids, or -1 for ids that are not in the set."""
        if not len(self):
            return np.full(np.shape(ids), -1, dtype=np.int64)
        order = np.argsort(self.ids) if order is None else order
        place = np.minimum(np.searchsorted(self.ids[order], ids), len(self) - 1)
        return np.where(self.ids[order][place] == ids, order[place], -1)

    def lineage(self, case_id: int) -> list[int]:
        """Return the ids of all ancestors of a case, from the nearest to the seed cases."""
        if not (self.ids == case_id).any():
            raise DataError(f"There is no test case with id {case_id} in this set of {pluralize(len(self), 'case')}.")
        ancestors: dict[int, None] = {}
        generation = np.array([case_id], dtype=np.int64)
        order = np.argsort(self.ids)
        while generation.size:
            rows = self.rows_of(generation, order)
            parents = self.origins[rows[rows >= 0]]
            generation = np.array(
                [p for p in dict.fromkeys(parents.ravel().tolist()) if p != NO_ORIGIN and p not in ancestors],
                dtype=np.int64,
            )
            ancestors |= dict.fromkeys(generation.tolist())
        return list(ancestors)

    def frame(self) -> pd.DataFrame:
        """Return the set as a frame; inputs are the columns ``in.<feature>``."""
        import pandas as pd

        table: dict[str, Any] = {"id": self.ids, **self.input.add_prefix("in.")}
        if self.outputs is not None:
            table["output"] = self.outputs.values
            table["status"] = self.outputs.status
            messages = self.outputs.messages
            table["message"] = pd.Series([messages.get(i) for i in range(len(self))], dtype="str") if messages else ""
        table["kind"] = self.kinds
        table["morphism"] = self.made_by_names
        table["correctness"] = self.correctness
        for column in range(self.origins.shape[1]):
            table[f"origin.{column}"] = self.origins[:, column]
        return pd.DataFrame(table)

    # -- files --------------------------------------------------------------------------------------

    def to_parquet(self, path: str | Path) -> None:
        """Write the set to a Parquet file that `from_parquet` reads."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns: dict[str, Any] = {"id": self.ids}
        columns |= {f"in.{name}": self.inputs.codes[:, j] for j, name in enumerate(self.space.names)}
        columns |= {"kind": self.kinds, "made_by": self.made_by, "correctness": self.correctness}
        columns |= {f"origin.{c}": self.origins[:, c] for c in range(self.origins.shape[1])}
        metadata: dict[str, Any] = {
            "format": FORMAT_VERSION,
            "space": space_to_dict(self.space),
            "morphisms": self.morphisms,
            "output": None,
        }
        if self.outputs is not None:
            columns |= self.outputs.columns()
            metadata["output"] = self.outputs.kind_of_values
        table = pa.table(columns).replace_schema_metadata({"datamorphic": json.dumps(metadata)})
        pq.write_table(table, str(path))

    @classmethod
    def from_parquet(cls, path: str | Path) -> TestSet:
        """Read a set that `to_parquet` wrote; nothing in the file is evaluated."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            table = pq.read_table(str(path))
            metadata = json.loads((table.schema.metadata or {})[b"datamorphic"])
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{path} cannot be read as Parquet: {error}.") from None
        except (KeyError, ValueError, RecursionError):
            raise DataError(f"{path} is a Parquet file, but not one that TestSet.to_parquet wrote.") from None
        try:
            if metadata["format"] > FORMAT_VERSION:
                raise DataError(f"{path} was written by a newer version of datamorphic. Upgrade to read it.")
            return cls._from_table(table, metadata)
        except DataError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, pa.ArrowException) as error:
            raise DataError(f"{path} is damaged: {type(error).__name__} {error}.") from None

    @classmethod
    def _from_table(cls, table: pa.Table, metadata: dict[str, Any]) -> TestSet:
        """Return the set of a table, validated, since a file may be damaged or hostile."""

        def read_numbers(name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
            column = np.asarray(table[name].to_numpy())
            if column.dtype.kind not in "iuf":
                raise DataError(f"The column {name!r} of the file does not hold numbers.")
            return column.astype(dtype, casting="safe")

        space = space_from_dict(metadata["space"])
        codes = np.column_stack([read_numbers(f"in.{name}", np.float64) for name in space.names])
        for j, feature in enumerate(space.features):
            if fault := find_fault(feature, codes[:, j], open_ends=True):
                raise DataError(f"The file has a value of {feature.name!r} that {fault.problem}.")
        width = sum(name.startswith("origin.") for name in table.column_names)
        morphisms = tuple(map(str, metadata["morphisms"]))
        tests = cls(
            inputs=Points(space, codes),
            ids=read_numbers("id", np.int64),
            kinds=read_numbers("kind", np.int8),
            made_by=read_numbers("made_by", np.int32),
            morphisms=morphisms,
            origins=np.column_stack([read_numbers(f"origin.{c}", np.int64) for c in range(width)]),
            outputs=None if metadata["output"] is None else Outputs.from_table(table, str(metadata["output"])),
        )
        if "correctness" in table.column_names:  # files of earlier versions have none
            tests = tests.with_correctness(read_numbers("correctness", np.int8))
        if len(tests) and not (tests.made_by.min() >= 0 and tests.made_by.max() < len(morphisms)):
            raise DataError("The file refers to morphisms that it does not list.")
        return tests


def make_missing_outputs(n: int) -> Outputs:
    """Return the outputs of cases that were not executed."""
    return Outputs(np.full(n, None, dtype=object), np.full(n, Status.MISSING, dtype=np.int8))


def _make_not_judged(n: int) -> npt.NDArray[np.int8]:
    return np.full(n, Correctness.NOT_JUDGED, dtype=np.int8)
