"""Test-set files of Morphy, the test runner of Zhu et al.: read and written, ids included.

A file is a header and one block per test case, one field per line::

    {ToolName:Morphy Test Runner, Version:..., Date:..., TestSpecClass:..., TestSet:[
    {
     id:7b7fbff8-26f4-40fa-9859-04c0bbd20700,
     input:<7.4|0.7>,
     output:5,
     feature:mutant,
     type:upward,
     origins:[  5a7e68e0-cd53-4c92-b629-f24b046b7365],
     correctness:never_falls:pass;
    }
    ]}

Morphy's ids are random UUIDs. They are kept as `external_ids`, and written again. Cases of ours get a UUID that encodes
their id, from which it is read back.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from .. import _version
from .._files import write_file
from .._lazy import pd
from .._text import pluralise
from ..errors import DataError
from ..space.outputs import Outputs, Status
from ..space.points import Points
from ..space.space import Space
from .case_columns import NO_ORIGIN, CaseColumns, CaseKind, Correctness
from .open_space import infer_open_points
from .text_values import decode_texts, encode_texts, guess_column, parse_labels, to_text

FIELDS = ("id", "input", "output", "feature", "type", "origins", "correctness")
REQUIRED_FIELDS = ("id", "input")
DEFAULT_TYPE = "seed"  # of cases whose type is empty
#: the verdicts of metamorphisms in a file: ``name:pass;name:fail;``
VERDICT_WORDS = {"pass": True, "true": True, "fail": False, "false": False}
SUMMARY_NAME = "metamorphisms"  # under which the correctness is written if the single verdicts are not known

# A UUID of version 8 holds anything: here a mark, 12 bits of a hash of the case, and its id.
_OWN_MARK = "646d6361-7365-8"  # "dmcase"
_ID_BITS = 62
_VARIANT = 0b10 << _ID_BITS


@dataclass(frozen=True)
class _Blocks:
    """The fields of all blocks as text, one list per field, and where they are in the file."""

    path: Path
    fields: dict[str, list[str]]
    find_line: Callable[[int, str], int]  # the number of the line that holds a field of a block

    def __len__(self) -> int:
        return len(self.fields["id"])

    def locate(self, row: int, field: str) -> str:
        return f"{self.path.name}, line {self.find_line(row, field)}, field {field!r}"


# -- reading -----------------------------------------------------------------------------------------------------------


def is_morphy_file(path: Path) -> bool:
    """Return whether a file begins as Morphy's test-set files do."""
    try:
        with path.open("rb") as stream:
            return stream.read(200).lstrip().startswith(b"{ToolName:")
    except OSError:
        return False


def read_morphy(path: str | Path, space: Space | None = None) -> CaseColumns:
    """Return the test cases of a file of Morphy; nothing in it is evaluated.

    Without a space, features are called x0, x1, ..., and their kinds are inferred from the values. Origins that are not in
    the file are left out, unless they are cases of ours.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{file.name} is not UTF-8 text ({error}). Save it as UTF-8.") from None
    blocks = _split_blocks(text, file)
    ids, external_ids, numbers = _read_ids(blocks)
    types = [name or DEFAULT_TYPE for name in blocks.fields["type"]]
    morphisms = tuple(dict.fromkeys(types)) or (DEFAULT_TYPE,)
    place = {name: number for number, name in enumerate(morphisms)}
    return CaseColumns(
        inputs=_read_inputs(blocks, space),
        ids=ids,
        kinds=_read_kinds(blocks),
        made_by=np.array([place[name] for name in types], dtype=np.int32),
        morphisms=morphisms,
        origins=_read_origins(blocks, numbers),
        outputs=_read_outputs(blocks.fields["output"]),
        correctness=_read_correctness(blocks),
        external_ids=external_ids,
    )


def _split_blocks(text: str, path: Path) -> _Blocks:
    lines = text.split("\n")
    header_length = next((number for number, line in enumerate(lines, 1) if line.rstrip().endswith("TestSet:[")), None)
    if header_length is None:
        raise DataError(
            f"{path.name} is not a test-set file of Morphy: it has no line that ends with 'TestSet:['. "
            "Known files: .tcs (Morphy), .csv, .parquet."
        )
    if " \n" not in text and "\t\n" not in text:
        blocks = _split_regular_blocks(lines, header_length, path)
        if blocks is not None:
            return blocks
    return _split_any_blocks(lines, header_length, path)


def _split_regular_blocks(lines: list[str], header_length: int, path: Path) -> _Blocks | None:
    """Return the blocks of a file as Morphy writes it, or None if it was edited: a fast path for large files."""
    height = len(FIELDS) + 2
    body = lines[header_length:]
    while body and body[-1] in ("", "]}"):
        body.pop()
    starts, ends = body[0::height], body[height - 1 :: height]
    if len(starts) != len(ends) or set(starts) - {"{"} or set(ends) - {"}"}:
        return None
    fields: dict[str, list[str]] = {}
    for place, name in enumerate(FIELDS, start=1):
        column, prefix = body[place::height], f" {name}:"
        if not all(line.startswith(prefix) for line in column):
            return None
        start = len(prefix)
        fields[name] = [line[start:].removesuffix(",") for line in column]
    return _Blocks(path, fields, lambda row, field: header_length + row * height + FIELDS.index(field) + 2)


def _split_any_blocks(lines: list[str], header_length: int, path: Path) -> _Blocks:
    """Return the blocks of a file whose fields may be in any order, with blank lines or without some fields."""
    fields: dict[str, list[str]] = {name: [] for name in FIELDS}
    places: list[dict[str, int]] = []
    block: dict[str, int] | None = None  # the lines of the fields of the block that is being read
    ended = False

    def fail(number: int, problem: str) -> NoReturn:
        raise DataError(f"{path.name}, line {number}: {problem}")

    for number, raw_line in enumerate(lines[header_length:], start=header_length + 1):
        line = raw_line.strip()
        if block is None:
            if line == "{" and not ended:
                block = {"{": number}
            elif line in ("]}", "]"):
                ended = True
            elif line not in ("", ",", "}"):
                fail(number, f"expected a test case, which begins with a line '{{'. Got {line[:60]!r}.")
        elif line in ("}", "},", "}]}"):
            places.append(block)
            for name, values in fields.items():
                if len(values) < len(places):
                    if name in REQUIRED_FIELDS:
                        fail(number, f"the test case that begins in line {block['{']} has no field {name!r}.")
                    values.append("")
            block, ended = None, line == "}]}"
        elif line:
            name, _, value = line.partition(":")
            if name not in fields:
                known = ", ".join(FIELDS)
                fail(number, f"expected a field of a test case ({known}), as in 'output:red,'. Got {line[:60]!r}.")
            if name in block:
                fail(number, f"the field {name!r} is there twice in this test case.")
            block[name] = number
            fields[name].append(value.removesuffix(","))
    if block is not None:
        fail(len(lines), f"the file ends within the test case that begins in line {block['{']}.")
    return _Blocks(path, fields, lambda row, field: places[row].get(field, places[row]["{"]))


def _read_ids(blocks: _Blocks) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.object_] | None, dict[str, int]]:
    """Return our ids, those of another tool, and our ids by the ids in the file."""
    texts = [text.strip() for text in blocks.fields["id"]]
    numbers: dict[str, int] = {}
    used_ids: set[int] = set()
    for text in texts:
        own_id = _to_own_id(text)
        if own_id is not None and own_id not in used_ids:
            numbers[text] = own_id
            used_ids.add(own_id)
    origins = {text for listing in blocks.fields["origins"] for text in _split_origins(listing)}
    next_id = max(used_ids | {own_id for text in origins if (own_id := _to_own_id(text)) is not None}, default=-1) + 1
    own_count = len(numbers)
    earlier_texts: set[str] = set()
    for row, text in enumerate(texts):
        if not text:
            raise DataError(f"{blocks.locate(row, 'id')}: the id is empty. Give every test case its own id.")
        if text in earlier_texts:
            raise DataError(
                f"{blocks.locate(row, 'id')}: an earlier test case has the same id {text!r}. Give every test case its own id."
            )
        earlier_texts.add(text)
        if text not in numbers:
            numbers[text] = next_id
            next_id += 1
    ids = np.array([numbers[text] for text in texts], dtype=np.int64)
    if own_count == len(texts):
        return ids, None, numbers
    external_ids = np.array(["" if numbers[text] in used_ids else text for text in texts], dtype=object)
    return ids, external_ids, numbers


def _to_own_id(text: str) -> int | None:
    """Return the id that a UUID of ours encodes."""
    if not text.startswith(_OWN_MARK) or len(text) != 36:
        return None
    try:
        return int(text[19:].replace("-", ""), 16) & ((1 << _ID_BITS) - 1)
    except ValueError:
        return None


def _split_origins(text: str) -> list[str]:
    if text == "[]":
        return []
    return [part for part in text.strip().strip("[]").replace(";", " ").replace(",", " ").split() if part != "null"]


def _read_inputs(blocks: _Blocks, space: Space | None) -> Points:
    texts = blocks.fields["input"]
    rows = [text.strip().removeprefix("<").removesuffix(">").split("|") for text in texts]
    width = len(rows[0]) if rows else 0
    if space is not None:
        width = len(space)
    for row, values in enumerate(rows):
        if len(values) != width:
            expected = "the first test case has" if space is None else "the space has"
            names = "" if space is None else f": {', '.join(map(str, space.names[:12]))}"
            raise DataError(
                f"{blocks.locate(row, 'input')}: {pluralise(len(values), 'value')}, but {expected} {width}{names}. "
                "Write values between '<' and '>', separated by '|'."
            )
    columns = [[*column] for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
    if space is not None:
        codes = encode_texts(space, columns, lambda row: blocks.locate(row, "input"), category_codes=True)
        return Points(space, codes)
    if not rows:
        raise make_no_cases_error(blocks.path)
    return infer_open_points(pd.DataFrame({f"x{j}": guess_column(column) for j, column in enumerate(columns)}))


def make_no_cases_error(file: Path) -> DataError:
    """Return the error for a file without test cases, from which no space can be inferred."""
    return DataError(
        f"{file.name} has no test cases, so its features are not known. Give a space; on the command line, add --system, "
        "--subject or --data."
    )


def _read_kinds(blocks: _Blocks) -> npt.NDArray[np.int8]:
    kinds = {"original": CaseKind.ORIGINAL, "": CaseKind.ORIGINAL, "mutant": CaseKind.MUTANT}
    texts = blocks.fields["feature"]
    for row, text in enumerate(texts):
        if text not in kinds:
            raise DataError(f"{blocks.locate(row, 'feature')}: expected 'original' or 'mutant'. Got {text[:60]!r}.")
    return np.array([kinds[text] for text in texts], dtype=np.int8)


def _read_origins(blocks: _Blocks, numbers: Mapping[str, int]) -> npt.NDArray[np.int64]:
    texts = blocks.fields["origins"]
    parents: list[list[int]] = []
    for row, text in enumerate(texts):
        if text == "[]":
            parents.append([])
            continue
        stripped = text.strip()
        if stripped not in ("", "null") and not (stripped.startswith("[") and stripped.endswith("]")):
            raise DataError(
                f"{blocks.locate(row, 'origins')}: expected ids in brackets, as in '[id;id]'. Got {stripped[:60]!r}."
            )
        ids = [numbers.get(part, _to_own_id(part)) for part in _split_origins(text)]
        parents.append([case_id for case_id in ids if case_id is not None])
    origins = np.full((len(texts), max(2, *map(len, parents), 0)), NO_ORIGIN, dtype=np.int64)
    for row, parent_ids in enumerate(parents):
        if parent_ids:
            origins[row, : len(parent_ids)] = parent_ids
    return origins


def _read_outputs(texts: Sequence[str]) -> Outputs | None:
    if not any(texts):
        return None
    values, present = parse_labels(texts)
    return Outputs(values, np.where(present, Status.OK, Status.MISSING).astype(np.int8))


def _read_correctness(blocks: _Blocks) -> npt.NDArray[np.int8]:
    correctness = np.full(len(blocks), Correctness.NOT_JUDGED, dtype=np.int8)
    for row, text in enumerate(blocks.fields["correctness"]):
        if not text.strip():
            continue
        outcomes = []
        for part in filter(None, (part.strip() for part in text.replace(",", ";").split(";"))):
            word = part.rpartition(":")[2].strip().lower()
            if word not in VERDICT_WORDS:
                raise DataError(
                    f"{blocks.locate(row, 'correctness')}: expected 'name:pass;' or 'name:fail;'. Got {part[:60]!r}."
                )
            outcomes.append(VERDICT_WORDS[word])
        correctness[row] = Correctness.CORRECT if all(outcomes) else Correctness.INCORRECT
    return correctness


# -- writing -----------------------------------------------------------------------------------------------------------


def write_morphy(
    cases: CaseColumns,
    path: str | Path,
    *,
    specification: str = "",
    date: str = "",
    verdicts: Mapping[str, npt.NDArray[Any]] | None = None,
) -> None:
    """Write test cases as a file of Morphy.

    The date is empty by default, so that equal test sets give equal files. `verdicts` are those of `TestSystem.check`;
    without them, the correctness is written under the name "metamorphisms".
    """
    columns = decode_texts(cases.space, cases.inputs.codes)
    for feature, texts in zip(cases.space.features, columns, strict=True):
        _reject_texts(set(texts), "|\n\r", f"A value of {feature.name!r}")
    outputs = [""] * len(cases)
    if cases.outputs is not None:
        outputs = list(map(to_text, cases.outputs.to_objects().tolist()))
        _reject_texts(set(outputs), "\n\r", "A label")
    _reject_texts(cases.morphisms, "\n\r", "The name of a morphism")
    rows = list(map("|".join, zip(*columns, strict=True)))
    file_ids = _make_file_ids(cases, rows)
    by_id = dict(zip(cases.ids.tolist(), file_ids, strict=True))
    kinds = [CaseKind(kind).name.lower() for kind in cases.kinds.tolist()]
    judgements = _format_correctness(cases.correctness, verdicts)
    lines = [
        f"{{ToolName:Morphy Test Runner, Version:datamorphic {_version.__version__},",
        f"Date:{date},",
        f"TestSpecClass:{specification},",
        "TestSet:[",
    ]
    lines += [
        f"{{\n id:{file_id},\n input:<{values}>,\n output:{output},\n feature:{kind},\n type:{morphism},\n"
        f" origins:[{_format_origins(parents, by_id)}],\n correctness:{judgement}\n}}"
        for file_id, values, output, kind, morphism, parents, judgement in zip(
            file_ids,
            rows,
            outputs,
            kinds,
            cases.made_by_names.tolist(),
            cases.origins.tolist(),
            judgements,
            strict=True,
        )
    ]
    write_file(path, "\n".join([*lines, "]}", ""]), "test set")


def _reject_texts(texts: Iterable[str], forbidden: str, subject: str) -> None:
    for text in texts:
        if any(character in text for character in forbidden):
            raise DataError(
                f"{subject} is {text[:60]!r}, which a file of Morphy cannot hold because of '|' or a line break. "
                "Save the test set as .csv or .parquet."
            )


def _make_file_ids(cases: CaseColumns, rows: Sequence[str]) -> list[str]:
    """Return the id of each case in the file: the one it was read with, or a UUID that encodes ours."""
    names = [""] * len(cases) if cases.external_ids is None else cases.external_ids.tolist()
    numbered_rows = zip(names, cases.ids.tolist(), rows, strict=True)
    return [
        name or _make_uuid(case_id, zlib.crc32(row.encode(errors="replace"))) for name, case_id, row in numbered_rows
    ]


def _make_uuid(case_id: int, checksum: int = 0) -> str:
    tail = f"{_VARIANT | case_id:016x}"
    return f"{_OWN_MARK}{checksum & 0xFFF:03x}-{tail[:4]}-{tail[4:]}"


def _format_origins(parents: Sequence[int], by_id: Mapping[int, str]) -> str:
    return ";".join(f"  {by_id.get(parent) or _make_uuid(parent)}" for parent in parents if parent != NO_ORIGIN)


def _format_correctness(
    correctness: npt.NDArray[np.int8], verdicts: Mapping[str, npt.NDArray[Any]] | None
) -> list[str]:
    if verdicts is None:
        words = {
            Correctness.CORRECT: f"{SUMMARY_NAME}:pass;",
            Correctness.INCORRECT: f"{SUMMARY_NAME}:fail;",
            Correctness.NOT_JUDGED: "",
        }
        return [words[Correctness(value)] for value in correctness.tolist()]
    judgements = [""] * len(correctness)
    for name, column in verdicts.items():
        for row, verdict in enumerate(column.tolist()):
            if verdict in ("holds", "violated"):
                judgements[row] += f"{name}:{'pass' if verdict == 'holds' else 'fail'};"
    return judgements
