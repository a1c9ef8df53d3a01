"""Files of test cases: Parquet (everything), CSV (for spreadsheets), and those of Morphy, chosen by the extension."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._files import to_local_path, write_file
from .._lazy import pd
from .._text import pluralise, quote_formula, unquote_formula
from ..errors import DataError
from ..space.encoding import find_fault
from ..space.outputs import Outputs, Status
from ..space.points import Points
from ..space.serialisation import space_from_dict, space_to_dict
from ..space.space import Space
from ..space.table_files import read_table
from .case_columns import NO_ORIGIN, CaseColumns, CaseKind, Correctness
from .morphy_files import is_morphy_file, make_no_cases_error, read_morphy, write_morphy
from .open_space import infer_open_points
from .text_values import decode_texts, encode_texts, guess_column, parse_labels, to_text

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT_VERSION = 1  # of the Parquet files; newer ones are rejected
PARQUET_SUFFIXES = (".parquet", ".pq")
CSV_SUFFIXES = (".csv", ".tsv")
MORPHY_SUFFIXES = (".tcs", "")
KNOWN_SUFFIXES = ".parquet, .csv, .tcs (Morphy)"  # for messages
INPUT_PREFIX = "in."
MAX_ID_DIGITS = 18  # so that ids fit into 64 bits
MAX_LISTED_COLUMNS = 12  # in a message
FILE_MAKER = "file"  # the maker of seed cases that are read from a table of inputs


def read_cases(path: str | Path, space: Space | None = None) -> CaseColumns:
    """Return the test cases of a file; the extension says how it is read.

    A table that holds inputs only is read as seed cases.
    """
    file = to_local_path(path, "test set")
    if not file.is_file():
        raise DataError(f"There is no file {str(path)!r}. Check the path.")
    suffix = file.suffix.lower()
    if suffix in PARQUET_SUFFIXES:
        if has_case_metadata(file):
            return _move_to_space(read_parquet(file), space)
        return _read_seeds(file, space)
    if suffix in CSV_SUFFIXES:
        return read_csv(file, space)
    if suffix in MORPHY_SUFFIXES or is_morphy_file(file):
        return read_morphy(file, space)
    raise DataError(f"{file.name} is not a test set. Known extensions: {KNOWN_SUFFIXES}.")


def is_case_file(path: str | Path) -> bool:
    """Return whether a file holds test cases, and not a table of inputs only. Files that do not exist hold none."""
    file = Path(path)
    if not file.is_file():
        return False
    suffix = file.suffix.lower()
    if suffix in PARQUET_SUFFIXES:
        return has_case_metadata(file)
    if suffix in CSV_SUFFIXES:
        return _has_case_columns(file)
    return suffix in MORPHY_SUFFIXES or is_morphy_file(file)


def write_cases(
    cases: CaseColumns, path: str | Path, *, verdicts: Mapping[str, npt.NDArray[Any]] | None = None
) -> None:
    """Write test cases to a file; the extension says how."""
    suffix = validate_suffix(path)
    if suffix in PARQUET_SUFFIXES:
        write_parquet(cases, path)
    elif suffix in CSV_SUFFIXES:
        write_csv(cases, path)
    else:
        write_morphy(cases, path, verdicts=verdicts)


def validate_suffix(path: str | Path) -> str:
    """Return the extension of a file that can hold test cases, or raise `DataError`."""
    suffix = Path(path).suffix.lower()
    if suffix not in (*PARQUET_SUFFIXES, *CSV_SUFFIXES, *MORPHY_SUFFIXES):
        raise DataError(f"A test set cannot be written to {Path(path).name!r}. Known extensions: {KNOWN_SUFFIXES}.")
    return suffix


def _move_to_space(cases: CaseColumns, space: Space | None) -> CaseColumns:
    """Return the cases as points of the given space, which may have other bounds."""
    if space is None or space.features == cases.space.features:
        return cases if space is None else replace(cases, inputs=Points(space, cases.inputs.codes))
    return replace(cases, inputs=space.points(cases.input))


def _read_seeds(file: Path, space: Space | None) -> CaseColumns:
    frame = read_table(file)
    return CaseColumns.of_seeds(infer_open_points(frame) if space is None else space.points(frame), FILE_MAKER)


# -- Parquet -----------------------------------------------------------------------------------------------------------


def write_parquet(cases: CaseColumns, path: str | Path) -> None:
    """Write cases to a Parquet file that `read_parquet` reads."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, Any] = {"id": cases.ids}
    columns |= {f"in.{name}": cases.inputs.codes[:, j] for j, name in enumerate(cases.space.names)}
    columns |= {"kind": cases.kinds, "made_by": cases.made_by, "correctness": cases.correctness}
    columns |= {f"origin.{c}": cases.origins[:, c] for c in range(cases.origins.shape[1])}
    metadata: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "space": space_to_dict(cases.space),
        "morphisms": cases.morphisms,
        "output": None,
    }
    if cases.outputs is not None:
        columns |= cases.outputs.columns()
        metadata["output"] = cases.outputs.kind_of_values
    if cases.external_ids is not None:
        columns["external_id"] = cases.external_ids.tolist()
    table = pa.table(columns).replace_schema_metadata({"datamorphic": json.dumps(metadata)})
    write_file(path, lambda draft: pq.write_table(table, draft), "test set")


def has_case_metadata(path: Path) -> bool:
    """Return whether a Parquet file was written by `write_parquet`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return b"datamorphic" in (pq.read_schema(str(path)).metadata or {})
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path} cannot be read as Parquet: {error}.") from None


def read_parquet(path: str | Path) -> CaseColumns:
    """Read cases that `write_parquet` wrote; nothing in the file is evaluated."""
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
        return _from_table(table, metadata)
    except DataError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, pa.ArrowException) as error:
        raise DataError(f"{path} is damaged: {type(error).__name__} {error}.") from None


def _from_table(table: pa.Table, metadata: dict[str, Any]) -> CaseColumns:
    """Return the cases of a table, validated, since a file may be damaged or hostile."""

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
    made_by = read_numbers("made_by", np.int32)
    if len(made_by) and not (made_by.min() >= 0 and made_by.max() < len(morphisms)):
        raise DataError("The file refers to morphisms that it does not list.")
    optional: dict[str, Any] = {}
    if "correctness" in table.column_names:  # files of earlier versions have none
        optional["correctness"] = read_numbers("correctness", np.int8)
        if not np.isin(optional["correctness"], list(Correctness)).all():
            raise DataError("The column 'correctness' of the file holds numbers other than 0, 1 and 2.")
    if "external_id" in table.column_names:
        texts = [str(text or "") for text in table["external_id"].to_pylist()]
        optional["external_ids"] = np.array(texts, dtype=object)
    return CaseColumns(
        inputs=Points(space, codes),
        ids=read_numbers("id", np.int64),
        kinds=read_numbers("kind", np.int8),
        made_by=made_by,
        morphisms=morphisms,
        origins=np.column_stack([read_numbers(f"origin.{c}", np.int64) for c in range(width)]),
        outputs=None if metadata["output"] is None else Outputs.from_table(table, str(metadata["output"])),
        **optional,
    )


# -- CSV ---------------------------------------------------------------------------------------------------------------


def write_csv(cases: CaseColumns, path: str | Path) -> None:
    """Write cases as a table with words instead of numbers for kind, status and correctness."""
    texts = decode_texts(cases.space, cases.inputs.codes)
    table: dict[str, Sequence[object]] = {"id": cases.ids.tolist()}
    table |= {f"{INPUT_PREFIX}{name}": column for name, column in zip(cases.space.names, texts, strict=True)}
    if cases.outputs is not None:
        table["output"] = list(map(to_text, cases.outputs.to_objects().tolist()))
        table["status"] = [Status(status).name for status in cases.outputs.status.tolist()]
    table["kind"] = [CaseKind(kind).name.lower() for kind in cases.kinds.tolist()]
    table["morphism"] = cases.made_by_names.tolist()
    table["correctness"] = [Correctness(value).text for value in cases.correctness.tolist()]
    for column in range(cases.origins.shape[1]):
        table[f"origin.{column}"] = ["" if i == NO_ORIGIN else str(i) for i in cases.origins[:, column].tolist()]
    if cases.external_ids is not None:
        table["external_id"] = cases.external_ids.tolist()
    if any("\r" in str(value) for column in table.values() for value in {*column}):
        raise DataError("A text has a carriage return, which a CSV file cannot hold. Save the test set as .parquet.")
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=_find_separator(Path(path)), lineterminator="\n")
    writer.writerow(table)
    cells = ([quote_formula(cell) if isinstance(cell, str) else cell for cell in column] for column in table.values())
    writer.writerows(zip(*cells, strict=True))
    write_file(path, stream.getvalue(), "test set")


def read_csv(path: str | Path, space: Space | None = None) -> CaseColumns:
    """Read cases that `write_csv` wrote, or a table of inputs as seed cases."""
    file = Path(path)
    if not _has_case_columns(file):
        return _read_seeds(file, space)
    try:
        table = pd.read_csv(file, dtype=str, keep_default_na=False, sep=_find_separator(file))
    except (OSError, ValueError) as error:
        raise _make_table_error(file, error) from None
    return _from_texts(
        _TextTable(file, {str(name): list(map(unquote_formula, table[name])) for name in table.columns}), space
    )


def _has_case_columns(file: Path) -> bool:
    """Return whether a CSV file has the columns of test cases."""
    try:
        header = pd.read_csv(file, nrows=0, sep=_find_separator(file)).columns
    except (OSError, ValueError) as error:
        raise _make_table_error(file, error) from None
    return {"id", "kind"} <= set(header) and any(str(name).startswith(INPUT_PREFIX) for name in header)


def _make_table_error(file: Path, error: Exception) -> DataError:
    return DataError(f"{file.name} cannot be read as a table of test cases: {error}.")


def _find_separator(file: Path) -> str:
    return "\t" if file.suffix.lower() == ".tsv" else ","


@dataclass(frozen=True)
class _TextTable:
    """The columns of a CSV file as text."""

    file: Path
    columns: dict[str, list[str]]

    def __len__(self) -> int:
        return len(self.columns["id"])

    def locate(self, row: int) -> str:
        return f"{self.file.name}, line {row + 2}"

    def read_words(self, name: str, words: Mapping[str, int]) -> npt.NDArray[np.int8]:
        """Return a column that holds one of a few words as their numbers."""
        for row, text in enumerate(self.columns[name]):
            if text not in words:
                expected = ", ".join(map(repr, words))
                raise DataError(
                    f"{self.locate(row)}: {text[:60]!r}, the value of {name!r}, is unknown. Expected {expected}."
                )
        return np.array([words[text] for text in self.columns[name]], dtype=np.int8)

    def read_ids(self, name: str) -> npt.NDArray[np.int64]:
        """Return a column of ids; only the column "id" must have one in every row."""
        for row, text in enumerate(self.columns[name]):
            is_id = text.isascii() and text.isdigit() and len(text) <= MAX_ID_DIGITS
            if not is_id and not (text == "" and name != "id"):
                problem = f"{text[:60]!r}, the value of {name!r}, is not the id of a test case. Ids are whole numbers."
                raise DataError(f"{self.locate(row)}: {problem}")
        return np.array([int(text) if text else NO_ORIGIN for text in self.columns[name]], dtype=np.int64)


def _from_texts(table: _TextTable, space: Space | None) -> CaseColumns:
    """Return the cases of a table of text, validated."""
    ids = table.read_ids("id")
    values, counts = np.unique(ids, return_counts=True)
    if len(values) < len(ids):
        raise DataError(f"{table.file.name} has the id {values[counts > 1][0]} twice. Give every test case its own id.")
    makers = table.columns.get("morphism") or [FILE_MAKER] * len(table)
    morphisms = tuple(dict.fromkeys(makers)) or (FILE_MAKER,)
    numbers = {name: number for number, name in enumerate(morphisms)}
    origin_names = [name for name in table.columns if name.startswith("origin.")]
    origins = np.full((len(table), max(2, len(origin_names))), NO_ORIGIN, dtype=np.int64)
    for column, name in enumerate(origin_names):
        origins[:, column] = table.read_ids(name)
    optional: dict[str, Any] = {}
    if "correctness" in table.columns:
        optional["correctness"] = table.read_words("correctness", {value.text: value for value in Correctness})
    if any(table.columns.get("external_id", ())):
        optional["external_ids"] = np.array(table.columns["external_id"], dtype=object)
    return CaseColumns(
        inputs=_read_inputs(table, space),
        ids=ids,
        kinds=table.read_words("kind", {kind.name.lower(): kind for kind in CaseKind}),
        made_by=np.array([numbers[name] for name in makers], dtype=np.int32),
        morphisms=morphisms,
        origins=origins,
        outputs=_read_outputs(table),
        **optional,
    )


def _read_inputs(table: _TextTable, space: Space | None) -> Points:
    texts = {
        name.removeprefix(INPUT_PREFIX): column
        for name, column in table.columns.items()
        if name.startswith(INPUT_PREFIX)
    }
    if space is None:
        if not len(table):
            raise make_no_cases_error(table.file)
        return infer_open_points(pd.DataFrame({name: guess_column(column) for name, column in texts.items()}))
    missing = [f"{INPUT_PREFIX}{name}" for name in space.names if str(name) not in texts]
    if missing:
        raise DataError(
            f"{table.file.name} lacks {pluralise(len(missing), 'column')} of this space: "
            f"{', '.join(missing[:MAX_LISTED_COLUMNS])}. Give the space of the file."
        )
    return Points(space, encode_texts(space, [texts[str(name)] for name in space.names], table.locate))


def _read_outputs(table: _TextTable) -> Outputs | None:
    if "output" not in table.columns:
        return None
    values, present = parse_labels(table.columns["output"])
    if "status" in table.columns:
        status = table.read_words("status", {status.name: status.value for status in Status})
    else:
        status = np.where(present, Status.OK, Status.MISSING).astype(np.int8)
    return Outputs(values, status)
