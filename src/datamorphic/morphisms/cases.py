"""`TestSet`: test cases in columns, with their inputs, outputs and origins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import pluralise, suggest_name
from .._validation import MAX_INTEGER, check_types, reject, validate_integer
from ..errors import DataError
from ..space.features import Mask
from ..space.hashing import RowTable
from ..space.outputs import Outputs, Status
from ..space.points import Points, RowSelection
from .case_ancestry import CaseAncestry
from .case_columns import NO_ORIGIN as NO_ORIGIN
from .case_columns import CaseColumns, Ids, make_missing_outputs, make_not_judged
from .case_columns import CaseKind as CaseKind
from .case_columns import Correctness as Correctness

if TYPE_CHECKING:
    from ..space.space import Space

COUNT_KEYS = ("label", "origin", "morphism", "kind", "correctness")
CASE_KEYS = ("id", *COUNT_KEYS)
EDITOR = "edit"  # the maker of cases that were edited by hand


class Verdict(StrEnum):
    """The verdict of a relation on one group of cases."""

    HOLDS = "holds"
    VIOLATED = "violated"
    INAPPLICABLE = "inapplicable"
    UNDEFINED = "undefined"


@dataclass(frozen=True, eq=False, kw_only=True)
class TestSet(CaseColumns):
    """Test cases in columns: id, input, output, kind, morphism, origins and correctness.

    A test set is immutable; methods return new ones.

    Attributes
    ----------
    ids : ndarray of int
        The id of each case.
    inputs : Points
        The inputs; `input` is the same as a frame.
    outputs : Outputs or None
        The answers of the system under test, None if no case was executed; `output` has the labels.
    kinds : ndarray of int
        0 for an original case, 1 for a mutant, which a datamorphism made.
    made_by : ndarray of int
        The morphism that made each case, as a position in `morphisms`; `made_by_names` has the names.
    morphisms : tuple of str
        The names of seed makers and datamorphisms.
    origins : ndarray of int
        The ids of the cases that each case was made from, one column per argument, -1 where there is none.
    correctness : ndarray of int
        One `Correctness` per case.
    external_ids : ndarray of str or None
        The ids that cases have in a file of Morphy, "" for others.

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

    # -- making test sets ---------------------------------------------------------------------------

    @property
    def next_id(self) -> int:
        """The id of the next new case."""
        return int(self.ids.max()) + 1 if len(self) else 0

    def mutants(self, inputs: Points, morphism: str, origins: Sequence[Ids]) -> TestSet:
        """Return the new cases that a morphism made from cases of this set."""
        for ids in origins:
            if len(ids) != len(inputs):
                raise DataError(
                    f"{morphism} made {pluralise(len(inputs), 'case')}, but got {pluralise(len(ids), 'origin')}. "
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
                f"Got {pluralise(len(outputs), 'output')} for {pluralise(len(self), 'case')}. Give one per case."
            )
        return replace(self, outputs=outputs, correctness=make_not_judged(len(self)))

    def with_correctness(self, correctness: npt.ArrayLike) -> TestSet:
        """Return the set with a `Correctness` per case, such as `TestSystem.judge` finds."""
        values = np.asarray(correctness)
        if values.shape != (len(self),) or not np.isin(values, list(Correctness)).all():
            raise DataError(
                f"Expected a Correctness for each of {pluralise(len(self), 'case')}: 0 (not judged), 1 (correct) or 2 "
                f"(incorrect). Got an array of {values.dtype} with shape {values.shape}."
            )
        return replace(self, correctness=values.astype(np.int8))

    @staticmethod
    @check_types
    def concat(sets: Sequence[TestSet]) -> TestSet:
        """Return the cases of several sets of one space as one set.

        A set with an id that an earlier set has too is renumbered, with its origins among its own cases. Other origins
        are taken to be ids of earlier sets. So put seed cases before the cases made from them.
        """
        if not all(isinstance(tests, TestSet) for tests in sets):
            reject("sets", "TestSet.concat", "a list of test sets", sets)
        if not len(sets):
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
            external_ids=_join_external_ids(parts),
        )

    @check_types
    def renumbered(self, first_id: int) -> TestSet:
        """Return the set with ids from `first_id` on; other origins do not change."""
        validate_integer("first_id", "TestSet.renumbered", first_id, high=MAX_INTEGER - len(self))
        rows = self.rows_of(self.origins)
        origins = np.where(rows >= 0, rows + first_id, self.origins)
        return replace(self, ids=np.arange(first_id, first_id + len(self), dtype=np.int64), origins=origins)

    # -- reading test sets --------------------------------------------------------------------------

    def __repr__(self) -> str:
        mutant_count = int((self.kinds == CaseKind.MUTANT).sum())
        return f"TestSet({len(self) - mutant_count:,} original, {mutant_count:,} mutants, {'' if self.outputs else 'not '}executed)"

    @property
    def output(self) -> npt.NDArray[Any]:
        """The labels, one per case."""
        if self.outputs is None:
            raise DataError("These test cases have no outputs. Execute them first.")
        return self.outputs.values

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
            external_ids=None if self.external_ids is None else self.external_ids[rows],
        )

    def filter(self, keep: Mask | Iterable[bool]) -> TestSet:
        """Return the cases for which `keep` is True."""
        mask = _to_column("keep", "TestSet.filter", keep)
        if not mask.size:
            mask = mask.astype(bool)
        if mask.dtype != bool or mask.shape != (len(self),):
            raise DataError(
                f"A filter needs True or False for each of {pluralise(len(self), 'case')}. "
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

    @check_types
    def lineage(self, case_id: int) -> list[int]:
        """Return the ids of all ancestors of a case, from the nearest to the seed cases."""
        self._find_row(case_id)
        return CaseAncestry(self).find_ancestors(case_id)

    # -- working with test sets -----------------------------------------------------------------------

    def drop_duplicates(self) -> TestSet:
        """Return the first case of each input. It also replaces the dropped cases as an origin of others.

        Equal inputs get equal outputs, so nothing is lost but the way in which the later cases were made.
        """
        numbers, first_rows = RowTable(self.inputs.codes.shape[1]).add(self.inputs.codes)
        if len(first_rows) == len(self):
            return self
        return self._keep_rows(np.sort(first_rows), self.ids[first_rows][numbers])

    def _keep_rows(self, rows: Ids, replacements: Ids) -> TestSet:
        """Return some cases; `replacements` are, for all rows, the ids of the cases that stand for them as origins."""
        parent_rows = self.rows_of(self.origins)
        parents = np.where(parent_rows >= 0, replacements[parent_rows], self.origins)
        parents = np.where(parents == self.ids[:, None], self.origins, parents)  # no case is its own origin
        return replace(self, origins=parents).take(rows)

    @check_types
    def merge(self, other: TestSet, *, keep_duplicates: bool = False) -> TestSet:
        """Return the cases of this set and of another one of the same space.

        Cases of the other set whose input this set has already are left out, unless `keep_duplicates`. Their output and
        correctness are taken over where this set has none. Cases of the other set are renumbered if an id is used twice.
        """
        all_cases = TestSet.concat([self, other])
        if keep_duplicates or not len(self) or not len(other):
            return all_cases
        table = RowTable(self.inputs.codes.shape[1])
        numbers, first_rows = table.add(self.inputs.codes)
        twins = table.find(other.inputs.codes)
        is_new = twins < 0
        replacements = all_cases.ids.copy()
        replacements[len(self) :][~is_new] = self.ids[first_rows[twins[~is_new]]]
        rows = np.concatenate([np.arange(len(self)), len(self) + np.flatnonzero(is_new)])
        different_cases = all_cases._keep_rows(rows, replacements)
        if other.outputs is None or all_cases.outputs is None:
            return different_cases
        # an output of the other set for each row of this set, if there is one
        twin_rows = np.full(len(first_rows), -1, dtype=np.int64)
        usable = np.flatnonzero(~is_new & other.outputs.ok)[::-1]  # of several, the first counts
        twin_rows[twins[usable]] = len(self) + usable
        sources = np.where(all_cases.outputs.ok[: len(self)], -1, twin_rows[numbers])
        sources = np.concatenate([np.where(sources < 0, np.arange(len(self)), sources), rows[len(self) :]])
        return replace(
            different_cases, outputs=all_cases.outputs.take(sources), correctness=all_cases.correctness[sources]
        )

    @check_types
    def sort_by(self, key: str | npt.ArrayLike, *, descending: bool = False) -> TestSet:
        """Return the cases in another order.

        `key` is the name of a feature, "id", "label", "morphism", "kind", "correctness" or "origin", or one value per case,
        such as those of a case metric. Cases with equal values stay in their order. Missing values come last.
        """
        values = self._get_values(key) if isinstance(key, str) else _to_column("key", "TestSet.sort_by", key)
        if values.shape != (len(self),):
            raise DataError(
                f"Sorting needs one value for each of {pluralise(len(self), 'case')}. Got an array of shape {values.shape}."
            )
        if values.dtype == object:
            known = sorted({value for value in values if value is not None}, key=_to_sort_key)
            places = {value: float(place) for place, value in enumerate(known)}
            values = np.array([places.get(value, np.nan) for value in values], dtype=np.float64)
        if values.dtype.kind != "f":
            values = np.unique(values, return_inverse=True)[1]  # ranks, because not all values can be negated
        missing = np.isnan(values)
        keys = np.where(missing, 0, -values if descending else values)
        return self.take(np.lexsort((keys, missing)))

    @check_types
    def count_by(self, key: str) -> pd.Series[int]:
        """Return the number of cases by label, morphism, kind, correctness or origin, the largest first.

        By "origin", these are the cases that were made from each case directly, by its id. Cases without a valid output
        have the label None.
        """
        if key not in COUNT_KEYS:
            raise DataError(f"Cases cannot be counted by {key!r}. {suggest_name(key, COUNT_KEYS)}")
        values = self.origins[self.origins != NO_ORIGIN] if key == "origin" else self._get_values(key)
        counts = Counter(values.tolist())
        ordered = sorted(counts.items(), key=lambda item: (-item[1], _to_sort_key(item[0])))
        index = pd.Index([value for value, _ in ordered], dtype=object, name=key)
        return pd.Series([count for _, count in ordered], index=index, name="cases", dtype=np.int64)

    def _get_values(self, key: str) -> npt.NDArray[Any]:
        """Return one value per case by the name of a column or feature."""
        if key == "id":
            return self.ids
        if key == "label":
            return np.full(len(self), None, dtype=object) if self.outputs is None else self.outputs.to_objects()
        if key == "morphism":
            return self.made_by_names
        if key == "kind":
            return np.array([CaseKind(kind).name.lower() for kind in self.kinds.tolist()], dtype=object)
        if key == "correctness":
            return np.array([Correctness(value).text for value in self.correctness.tolist()], dtype=object)
        if key == "origin":
            return self.origins[:, 0]
        if key not in self.space.names:
            raise DataError(f"Test cases have no {key!r}. {suggest_name(key, [*self.space.names, *CASE_KEYS])}")
        return self.inputs.column(key)

    @check_types
    def edit(self, case_id: int, values: Mapping[str, object] | None = None, /, **more_values: object) -> TestSet:
        """Return the set with other values of some features in one case.

        The case keeps its id. It becomes a seed case made by "edit", without an output: neither what made it nor what was
        made from it says anything about the new input. Pass a mapping if names of features are not Python names.
        """
        row = self._find_row(case_id)
        changes = {**(values or {}), **more_values}
        case = self.input.iloc[row : row + 1].astype(object)
        for name, value in changes.items():
            if name not in self.space.names:
                raise DataError(f"There is no feature {name!r}. {suggest_name(name, self.space.names)}")
            case[name] = [value]
        codes = np.array(self.inputs.codes, order="F")
        codes[row] = self.space.points(case.infer_objects()).codes[0]
        is_edited = np.arange(len(self)) == row
        children = (self.origins == case_id).any(axis=1)
        outputs = self.outputs
        if outputs is not None:
            status = np.where(is_edited, Status.MISSING, outputs.status).astype(np.int8)
            messages = {number: text for number, text in outputs.messages.items() if number != row}
            outputs = replace(outputs, status=status, messages=messages)
        morphisms = self.morphisms if EDITOR in self.morphisms else (*self.morphisms, EDITOR)
        return replace(
            self,
            inputs=Points(self.space, codes),
            kinds=np.where(is_edited, CaseKind.ORIGINAL, self.kinds).astype(np.int8),
            made_by=np.where(is_edited, morphisms.index(EDITOR), self.made_by).astype(np.int32),
            morphisms=morphisms,
            origins=np.where(is_edited[:, None] | (self.origins == case_id), NO_ORIGIN, self.origins),
            outputs=outputs,
            correctness=np.where(is_edited | children, Correctness.NOT_JUDGED, self.correctness).astype(np.int8),
        )

    def _find_row(self, case_id: int) -> int:
        rows = np.flatnonzero(self.ids == case_id)
        if not len(rows):
            raise DataError(f"There is no test case with id {case_id} in this set of {pluralise(len(self), 'case')}.")
        return int(rows[0])

    # -- files --------------------------------------------------------------------------------------

    @classmethod
    @check_types
    def load(cls, path: str | Path, space: Space | None = None) -> TestSet:
        """Read the test cases of a file: Parquet, CSV or Morphy's, by its extension.

        Nothing in the file is evaluated, and errors name the line. A file without an extension is one of Morphy. A table
        that holds inputs only is read as seed cases. Without a `space`, that of a Parquet file is taken, and that of other
        files is inferred from the values.
        """
        from .case_files import read_cases

        return cls._from_columns(read_cases(path, space))

    @check_types
    def save(self, path: str | Path, *, verdicts: Mapping[str, npt.NDArray[Any]] | None = None) -> None:
        """Write the set to a file: ``.parquet``, ``.csv``, or ``.tcs`` for Morphy.

        Parquet keeps everything. CSV keeps labels as text, and Morphy's files keep neither scores nor messages. Files of
        Morphy have the verdict of each metamorphism if `verdicts`, from `TestSystem.check`, are given.
        """
        from .case_files import write_cases

        write_cases(self, path, verdicts=verdicts)

    @check_types
    def to_parquet(self, path: str | Path) -> None:
        """Write the set to a Parquet file that `from_parquet` reads."""
        from .case_files import write_parquet

        write_parquet(self, path)

    @classmethod
    @check_types
    def from_parquet(cls, path: str | Path) -> TestSet:
        """Read a set that `to_parquet` wrote; nothing in the file is evaluated."""
        from .case_files import read_parquet

        return cls._from_columns(read_parquet(path))

    @classmethod
    def _from_columns(cls, columns: CaseColumns) -> TestSet:
        return cls(**{item.name: getattr(columns, item.name) for item in fields(columns)})


def _to_column(name: str, owner: str, values: npt.ArrayLike | Iterable[Any]) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError:  # lists of different lengths
        reject(name, owner, "one value per case", values)


def _join_external_ids(parts: Sequence[TestSet]) -> npt.NDArray[np.object_] | None:
    """Return the external ids of all parts; of equal ones, only the first is kept."""
    if all(part.external_ids is None for part in parts):
        return None
    names: list[str] = []
    for part in parts:
        names += [""] * len(part) if part.external_ids is None else part.external_ids.tolist()
    first_rows = {name: row for row, name in reversed(list(enumerate(names)))}
    return np.array([name if first_rows[name] == row else "" for row, name in enumerate(names)], dtype=object)


def _to_sort_key(value: object) -> tuple[str, Any]:
    """Return a key that orders values of different types; numbers of all types are compared as numbers."""
    if isinstance(value, bool | int | float):
        return ("", value)
    return (type(value).__name__, value if isinstance(value, str) else repr(value))
