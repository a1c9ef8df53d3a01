"""Blocks of features: images, numeric sequences and sounds, whose values are columns of numbers inside a space.

A space holds one continuous feature per pixel or value, so that distances, midpoints, hashes and stores work as for tables.
The block is remembered by its features. Data enter as arrays or as columns of arrays, and the system gets them back as such.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import format_short, pluralise
from .._validation import is_number
from ..errors import DataError, SpaceError
from .features import Codes, Continuous, Feature

BlockKind = Literal["image", "sequence", "audio"]
MAX_BLOCK_VALUES = 65_536  # of one image, sequence or sound: 256 x 256 pixels, or four seconds at 16 kHz
MAX_CHANNELS = 4
DEFAULT_IMAGE_NAME = "image"
STEPS_PER_RANGE = 20
#: The largest values of pixels that are common in data: shares and 8 bits.
SHARE_HIGH, BYTE_HIGH = 1.0, 255.0


class Block:
    """Base class of blocks; use `Image`, `Sequence` or `Audio`."""

    kind: ClassVar[BlockKind]
    noun: ClassVar[str]
    name: str
    low: float
    high: float
    step: float
    dtype: str

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one image or sequence."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """The number of values."""
        return int(np.prod(self.shape))

    def build_features(self) -> list[Feature]:
        """Return one feature per value, in the order of the flattened array."""
        return list(_build_features(self))

    def describe_position(self, number: int) -> str:
        """Return where a value of the flattened array is, in words."""
        raise NotImplementedError

    def describe(self) -> str:
        """Return a description of the domain."""
        bounds = f"[{format_short(self.low)}, {format_short(self.high)}]"
        return f"{self.noun} of {format_shape(self.shape)} in {bounds}, step {format_short(self.step)}"

    def restore(self, codes: Codes) -> npt.NDArray[Any]:
        """Return a matrix of codes as an array of images or sequences.

        The matrix has one row per case. The array has the dtype of the data.
        """
        dtype = np.dtype(self.dtype)
        values = np.ascontiguousarray(codes)
        if dtype.kind in "iub":
            values = np.rint(values)
        return values.astype(dtype).reshape(len(codes), *self.shape)

    def to_codes(self, arrays: npt.NDArray[Any], *, lenient: bool = False, open_ends: bool = False) -> Codes:
        """Return an array of images or sequences as a matrix of codes.

        `DataError` names the first invalid value.
        """
        if arrays.shape[1:] != self.shape:
            raise DataError(
                f"{self.name!r} takes {self.noun}s of {format_shape(self.shape)}. Got {format_shape(arrays.shape[1:])}."
            )
        try:
            codes = np.asarray(arrays, dtype=np.float64).reshape(len(arrays), self.size)
        except (TypeError, ValueError):
            raise DataError(f"The {self.noun}s of {self.name!r} hold values that are not numbers.") from None
        if lenient or not codes.size:
            return codes
        with np.errstate(invalid="ignore"):
            outside = ~((codes >= self.low) & (codes <= self.high))
        faults = ~np.isfinite(codes) if open_ends else outside
        if faults.any():
            self._reject(codes, faults)
        return codes

    def _reject(self, codes: Codes, faults: npt.NDArray[np.bool_]) -> None:
        row = int(faults.any(axis=1).argmax())
        place = int(faults[row].argmax())
        value, where = (
            codes[row, place],
            f"{self.noun.capitalize()} {row} of {self.name!r}, {self.describe_position(place)}",
        )
        other_count = int(faults.any(axis=1).sum()) - 1
        others = f" ({pluralise(other_count, f'more {self.noun}')} like it)" if other_count else ""
        if np.isnan(value):
            raise DataError(f"{where}: the value is missing (NaN){others}. Fill it, or leave the {self.noun} out.")
        if np.isinf(value):
            raise DataError(f"{where}: the value is infinite{others}. Replace it by a number.")
        bounds = f"[{format_short(self.low)}, {format_short(self.high)}]"
        raise DataError(
            f"{where}: {format_short(float(value))} lies outside the range {bounds}{others}. "
            f"Rescale the {self.noun}s, or declare another range: {type(self).__name__}(..., low=..., high=...)."
        )

    def _validate(self) -> None:
        owner = f"{type(self).__name__} {self.name!r}"
        if not isinstance(self.name, str) or not self.name:
            raise SpaceError(f"The name of {self.noun}s must be a non-empty string. Got {self.name!r}.")
        for side in ("low", "high"):
            value = getattr(self, side)
            if not is_number(value) or not np.isfinite(float(value)):
                raise SpaceError(f"{owner}: {side} must be a finite number. Got {value!r}.")
            object.__setattr__(self, side, float(value))
        if not self.low < self.high:
            raise SpaceError(f"{owner}: low {format_short(self.low)} must be below high {format_short(self.high)}.")
        step: Any = (self.high - self.low) / STEPS_PER_RANGE if self.step is None else self.step
        if not is_number(step) or not 0 < step <= self.high - self.low:
            raise SpaceError(f"{owner}: the step must be a number above 0 and within the range. Got {step!r}.")
        object.__setattr__(self, "step", float(step))
        try:
            dtype = np.dtype(self.dtype)
        except (TypeError, ValueError):
            raise SpaceError(f"{owner}: {self.dtype!r} is not a NumPy dtype.") from None
        if dtype.kind not in "iufb":
            raise SpaceError(f"{owner}: the dtype must be one of numbers. Got {dtype}.")
        object.__setattr__(self, "dtype", dtype.name)
        if self.size > MAX_BLOCK_VALUES:
            raise SpaceError(
                f"{owner} has {self.size:,} values, more than {MAX_BLOCK_VALUES:,}. Shrink the {self.noun}s first."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the block as JSON-serialisable data."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind} | {
            name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
        }


@dataclass(frozen=True)
class Image(Block):
    """Small images of one size: grey (height x width), or with channels (height x width x channels).

    In a space they become one continuous feature per pixel. The distance of two images is Euclidean, and the point half-way
    between them is their blend.

    Parameters
    ----------
    name : str
        The name of the images: that of their column in a frame.
    shape : tuple of int
        The height and width, and the number of channels if there is such an axis.
    low, high : float
        The range of the values.
    step : float, optional
        The length of one move of one pixel; by default a twentieth of the range.
    dtype : str
        The dtype in which the system gets the images. Values are rounded for whole numbers.
    channels_first : bool
        Whether the shape is channels x height x width.

    Examples
    --------
    >>> import datamorphic as dm
    >>> space = dm.Space([dm.Image("digit", shape=(8, 8), low=0, high=16), dm.Integer("age", 0, 99)])
    >>> len(space), space.names[:2], space.blocks[0].block.shape
    (65, ('digit[0,0]', 'digit[0,1]'), (8, 8))
    """

    kind: ClassVar[BlockKind] = "image"
    noun: ClassVar[str] = "image"
    name: str
    shape: tuple[int, ...] = (8, 8)
    low: float = 0.0
    high: float = 16.0
    step: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    dtype: str = field(default="float64", kw_only=True)
    channels_first: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        shape = self.shape
        try:
            sides = tuple(int(side) for side in shape)
            valid = all(side == number and side >= 1 for side, number in zip(sides, shape, strict=True))
        except (TypeError, ValueError):
            sides, valid = (), False
        if not valid or len(sides) not in (2, 3):
            raise SpaceError(
                f"Image {self.name!r}: the shape must be (height, width) or (height, width, channels). Got {shape!r}."
            )
        object.__setattr__(self, "shape", sides)
        if not isinstance(self.channels_first, bool):
            raise SpaceError(f"Image {self.name!r}: channels_first must be True or False. Got {self.channels_first!r}.")
        if self.channels_first and len(sides) != 3:
            raise SpaceError(f"Image {self.name!r}: channels_first needs a shape with channels. Got {shape!r}.")
        self._validate()

    @property
    def channels(self) -> int:
        """The number of channels."""
        return 1 if len(self.shape) == 2 else self.shape[0 if self.channels_first else 2]

    @property
    def sides(self) -> tuple[int, int]:
        """The height and the width."""
        height, width = self.shape[1:3] if self.channels_first else self.shape[:2]
        return height, width

    def to_pictures(self, codes: Codes) -> Codes:
        """Return a matrix of codes as an array of shape (cases, height, width, channels)."""
        height, width = self.sides
        if self.channels_first:
            return np.moveaxis(codes.reshape(len(codes), *self.shape), 1, -1)
        return codes.reshape(len(codes), height, width, self.channels)

    def from_pictures(self, pictures: Codes) -> Codes:
        """Return what `to_pictures` returned as a matrix of codes."""
        if self.channels_first:
            pictures = np.moveaxis(pictures, -1, 1)
        return np.ascontiguousarray(pictures).reshape(len(pictures), -1)

    def describe_position(self, number: int) -> str:
        """Return the row and column of a pixel."""
        index = np.unravel_index(number, self.shape)
        row, column = index[1:3] if self.channels_first else index[:2]
        text = f"row {row}, column {column}"
        if self.channels > 1:
            text += f", channel {index[0 if self.channels_first else 2]}"
        return text


@dataclass(frozen=True)
class Sequence(Block):
    """Numeric sequences of one length, such as measurements over time.

    Parameters
    ----------
    name : str
        The name of the sequences: that of their column in a frame.
    length : int
        The number of values.
    low, high : float
        The range of the values.
    step : float, optional
        The length of one move of one value; by default a twentieth of the range.
    dtype : str
        The dtype in which the system gets the sequences. Values are rounded for whole numbers.

    Examples
    --------
    >>> import datamorphic as dm
    >>> space = dm.Space([dm.Sequence("pulse", 50, low=-1, high=1)])
    >>> len(space), space.names[-1]
    (50, 'pulse[49]')
    """

    kind: ClassVar[BlockKind] = "sequence"
    noun: ClassVar[str] = "sequence"
    name: str
    length: int
    low: float
    high: float
    step: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    dtype: str = field(default="float64", kw_only=True)

    def __post_init__(self) -> None:
        if not is_number(self.length) or not 1 <= self.length < np.inf or self.length % 1:
            raise SpaceError(f"Sequence {self.name!r}: the length must be a whole number above 0. Got {self.length!r}.")
        object.__setattr__(self, "length", int(self.length))
        self._validate()

    @property
    def shape(self) -> tuple[int, ...]:
        """The length."""
        return (self.length,)

    def describe_position(self, number: int) -> str:
        """Return the position of a value."""
        return f"position {number}"


@dataclass(frozen=True)
class Audio(Block):
    """Sounds of one length, as samples of one channel.

    Pad shorter sounds with silence, which is the value 0, or the middle of a range without 0. The distance of two sounds is
    Euclidean, and the point half-way between them is their mix.

    Parameters
    ----------
    name : str
        The name of the sounds: that of their column in a frame.
    length : int
        The number of samples, at most 65,536.
    rate : float
        The number of samples per second.
    low, high : float
        The range of the samples.
    step : float, optional
        The length of one move of one sample; by default a twentieth of the range.
    dtype : str
        The dtype in which the system gets the sounds. Samples are rounded for whole numbers.

    Examples
    --------
    >>> import datamorphic as dm
    >>> space = dm.Space([dm.Audio("call", length=8_000, rate=16_000)])
    >>> len(space), space.blocks[0].block.seconds
    (8000, 0.5)
    """

    kind: ClassVar[BlockKind] = "audio"
    noun: ClassVar[str] = "sound"
    name: str
    length: int
    rate: float
    low: float = -1.0
    high: float = 1.0
    step: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    dtype: str = field(default="float32", kw_only=True)

    def __post_init__(self) -> None:
        if not is_number(self.length) or not 1 <= self.length < np.inf or self.length % 1:
            raise SpaceError(f"Audio {self.name!r}: the length must be a whole number above 0. Got {self.length!r}.")
        object.__setattr__(self, "length", int(self.length))
        if not is_number(self.rate) or not 0 < self.rate < np.inf:
            raise SpaceError(
                f"Audio {self.name!r}: the rate must be a number of samples per second. Got {self.rate!r}."
            )
        object.__setattr__(self, "rate", float(self.rate))
        self._validate()

    @property
    def shape(self) -> tuple[int, ...]:
        """The length."""
        return (self.length,)

    @property
    def seconds(self) -> float:
        """The duration."""
        return self.length / self.rate

    @property
    def silence(self) -> float:
        """The value of silence."""
        return 0.0 if self.low < 0 < self.high else (self.low + self.high) / 2

    def describe_position(self, number: int) -> str:
        """Return the time of a sample."""
        return f"{number / self.rate:.4g} s"


@dataclass(frozen=True)
class BlockValue(Continuous):
    """One value of a block: a pixel of an image, or one position of a sequence or sound."""

    block: Block = field(default=None, kw_only=True, repr=False)  # type: ignore[assignment]
    index: tuple[int, ...] = field(default=(), kw_only=True)


@lru_cache(maxsize=64)
def _build_features(block: Block) -> tuple[Feature, ...]:
    """Return the features of a block; there are many, and they are needed often."""
    return tuple(
        BlockValue(
            f"{block.name}[{','.join(map(str, index))}]",
            block.low,
            block.high,
            step=block.step,
            block=block,
            index=index,
        )
        for index in np.ndindex(block.shape)
    )


@lru_cache(maxsize=64)
def _list_names(block: Block) -> tuple[str, ...]:
    return tuple(feature.name for feature in _build_features(block))


BLOCK_CLASSES: dict[str, type[Image] | type[Sequence] | type[Audio]] = {
    "image": Image,
    "sequence": Sequence,
    "audio": Audio,
}


def block_from_dict(document: Mapping[str, Any]) -> Block:
    """Return the block that `Block.to_dict` converted."""
    options: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in document.items()
    }
    return BLOCK_CLASSES[options.pop("kind")](**options)


@dataclass(frozen=True)
class PlacedBlock:
    """A block and the positions of its values among the features of a space."""

    block: Block
    positions: tuple[int, ...]

    @property
    def names(self) -> list[str]:
        """The names of the features."""
        return list(_list_names(self.block))

    def select(self, codes: Codes) -> Codes:
        """Return the columns of the block."""
        first, last = self.positions[0], self.positions[-1]
        if last - first + 1 == len(self.positions):  # positions are in order
            return codes[:, first : last + 1]
        return codes[:, list(self.positions)]


def expand_blocks(features: Iterable[Feature | Block]) -> list[Feature]:
    """Return features, with one feature per value instead of each block."""
    single_features: list[Feature] = []
    for item in features:
        if isinstance(item, Block):
            single_features += item.build_features()
        else:
            single_features.append(item)
    return single_features


def find_blocks(features: Iterable[Feature]) -> tuple[PlacedBlock, ...]:
    """Return the blocks whose values are all among the features, in order."""
    positions: dict[Block, list[int]] = {}
    for position, feature in enumerate(features):
        if isinstance(feature, BlockValue) and feature.block is not None:
            positions.setdefault(feature.block, []).append(position)
    return tuple(PlacedBlock(block, tuple(places)) for block, places in positions.items() if len(places) == block.size)


def format_shape(shape: tuple[int, ...]) -> str:
    """Return the shape of an image or sequence in words.

    Examples
    --------
    >>> format_shape((8, 8)), format_shape((50,))
    ('8 x 8', '50 values')
    """
    if len(shape) == 1:
        return pluralise(shape[0], "value")
    return " x ".join(map(str, shape)) if shape else "a single number"


VALUE_NAME = re.compile(r"(.+)\[(\d+(?:,\d+)*)\]")


def split_value_name(name: str) -> tuple[str, tuple[int, ...]] | None:
    """Return the block and the index that the name of a value holds; None for names of other features.

    Examples
    --------
    >>> split_value_name("digit[3,4]"), split_value_name("age")
    (('digit', (3, 4)), None)
    """
    match = VALUE_NAME.fullmatch(name)
    return None if match is None else (match[1], tuple(map(int, match[2].split(","))))


# -- data --------------------------------------------------------------------------------------------------------


def is_array_data(data: object) -> bool:
    """Return whether data are images.

    They are an array with at least three axes, or a list of arrays with at least two.
    """
    if isinstance(data, np.ndarray):
        return data.ndim > 2
    return isinstance(data, list | tuple) and len(data) > 0 and isinstance(data[0], np.ndarray) and data[0].ndim > 1


def to_array_frame(data: Any, name: str = DEFAULT_IMAGE_NAME) -> pd.DataFrame:
    """Return images as a frame with one column of arrays."""
    if isinstance(data, np.ndarray) and data.ndim > 4:
        raise DataError(
            f"The data have the shape {data.shape}. Expected images of shape (n, height, width) or "
            "(n, height, width, channels)."
        )
    if not len(data):
        raise DataError("The data have no images. Give at least one.")
    return pd.DataFrame({name: to_object_column(data)})


def to_object_column(arrays: Any) -> npt.NDArray[np.object_]:
    """Return arrays as the cells of one column."""
    column = np.empty(len(arrays), dtype=object)
    for row, array in enumerate(arrays):
        column[row] = array
    return column


def is_array_column(column: pd.Series[Any]) -> bool:
    """Return whether a column of a frame holds arrays or lists of numbers."""
    if column.dtype != object or not len(column):
        return False
    first = column.iloc[0]
    try:
        return isinstance(first, list | np.ndarray) and np.ndim(first) > 0 and np.asarray(first).dtype.kind in "iufb"
    except ValueError:  # a list of lists of different lengths
        return False


def stack_arrays(name: str, cells: Any, noun: str = "image") -> npt.NDArray[Any]:
    """Return the cells of a column as one array.

    `DataError` names the first cell that does not fit.
    """
    arrays: list[npt.NDArray[Any]] = []
    for row, cell in enumerate(cells):
        try:
            array = np.asarray(cell)
        except ValueError:
            array = np.asarray(None)
        if array.ndim == 0 or array.dtype.kind not in "iufb":
            raise DataError(f"Column {name!r}, row {row}: {format_short(cell)} is not an array of numbers.")
        if arrays and array.shape != arrays[0].shape:
            raise DataError(
                f"The {noun}s of {name!r} have different sizes: {noun} 0 has {format_shape(arrays[0].shape)}, {noun} {row} has "
                f"{format_shape(array.shape)}. Bring them to one size first."
            )
        arrays.append(array)
    return np.stack(arrays)


def infer_block(
    name: str,
    column: pd.Series[Any],
    step: float | None = None,
    bounds: tuple[float | None, float | None] | None = None,
) -> Block:
    """Return the block of a column of arrays: sequences if they have one axis, else images."""
    cells = column.tolist()
    noun = "sequence" if np.ndim(cells[0]) == 1 else "image"
    arrays = stack_arrays(name, cells, noun)
    if arrays.ndim > 4 or arrays.size == 0:
        raise DataError(
            f"The arrays of {name!r} have the shape {arrays.shape[1:]}. Expected (height, width), (height, width, channels), or "
            "(length,) for sequences."
        )
    low, high = _infer_range(name, arrays, noun, bounds)
    options: dict[str, Any] = {"step": step, "dtype": arrays.dtype.name}
    if noun == "sequence":
        return Sequence(name, arrays.shape[1], low, high, **options)
    shape = arrays.shape[1:]
    channels_first = len(shape) == 3 and shape[0] <= MAX_CHANNELS < shape[2]
    return Image(name, shape, low, high, channels_first=channels_first, **options)


def _infer_range(
    name: str, arrays: npt.NDArray[Any], noun: str, bounds: tuple[float | None, float | None] | None
) -> tuple[float, float]:
    """Return the declared range, a common range of pixels, or the range of the values."""
    flat = arrays.reshape(len(arrays), -1).astype(np.float64)
    if not np.isfinite(flat).all():
        probe = Sequence(name, flat.shape[1], 0, 1) if noun == "sequence" else Image(name, arrays.shape[1:], 0, 1)
        probe._reject(flat, ~np.isfinite(flat))
    low, high = float(flat.min()), float(flat.max())
    if noun == "image" and low >= 0:
        low = 0.0
        if high <= SHARE_HIGH:
            high = SHARE_HIGH
        elif arrays.dtype == np.uint8:
            high = BYTE_HIGH
    if low == high:
        high = low + 1
    if bounds is not None:
        low, high = (value if bound is None else bound for bound, value in zip(bounds, (low, high), strict=True))
    return low, high


def has_arrays(data: object) -> bool:
    """Return whether data are images, or a frame with a column of arrays."""
    if isinstance(data, pd.DataFrame):
        return any(is_array_column(data[name]) for name in data.columns)
    return is_array_data(data)


def expand_arrays(data: Any) -> Any:
    """Return a frame with one column per value instead of its columns of arrays; other data unchanged."""
    if not isinstance(data, pd.DataFrame) or not has_arrays(data):
        return data
    blocks = [infer_block(str(name), data[name]) for name in data.columns if is_array_column(data[name])]
    return expand_frame(data, [PlacedBlock(block, tuple(range(block.size))) for block in blocks])


def expand_frame(
    frame: pd.DataFrame, blocks: Iterable[PlacedBlock], *, lenient: bool = False, open_ends: bool = False
) -> pd.DataFrame:
    """Return a frame with one column per value instead of its columns of arrays."""
    for placed_block in blocks:
        block = placed_block.block
        if block.name not in frame.columns:
            continue
        arrays = stack_arrays(block.name, frame[block.name].tolist(), block.noun)
        codes = (
            block.to_codes(arrays, lenient=lenient, open_ends=open_ends) if len(arrays) else np.empty((0, block.size))
        )
        values = pd.DataFrame(codes, columns=placed_block.names, index=frame.index)
        place = list(frame.columns).index(block.name)
        frame = pd.concat([frame.iloc[:, :place], values, frame.iloc[:, place + 1 :]], axis=1)
    return frame


def restore_frame(frame: pd.DataFrame, blocks: Iterable[PlacedBlock]) -> pd.DataFrame:
    """Return a frame with a column of arrays instead of the columns of each block."""
    for placed_block in blocks:
        names = placed_block.names
        if names[0] not in frame.columns:
            continue
        own_names = set(names)
        is_own = np.array([name in own_names for name in frame.columns])
        place = int(is_own.argmax())
        cells = to_object_column(placed_block.block.restore(frame[names].to_numpy(dtype=np.float64)))
        frame = frame.loc[:, ~is_own].copy()
        frame.insert(place, placed_block.block.name, pd.Series(cells, index=frame.index, dtype=object))
    return frame


def expand_data(blocks: tuple[PlacedBlock, ...], width: int, data: Any, *, lenient: bool, open_ends: bool) -> Any:
    """Return user data with images and sequences as columns of numbers.

    Other data are returned unchanged.

    `width` is the number of features of the space. If a space is one block, its data may be an array of images or
    sequences, or one of them.
    """
    options = {"lenient": lenient, "open_ends": open_ends}
    if isinstance(data, pd.DataFrame):
        return expand_frame(data, blocks, **options)
    if isinstance(data, pd.Series) and any(placed_block.block.name in data.index for placed_block in blocks):
        data = data.to_dict()
    if isinstance(data, Mapping):
        if not any(placed_block.block.name in data for placed_block in blocks):
            return data
        cells = {name: to_object_column([value]) if np.ndim(value) else [value] for name, value in data.items()}
        return expand_frame(pd.DataFrame(cells), blocks, **options)
    if not is_single_block(blocks, width):
        return data
    block = blocks[0].block
    if isinstance(data, list | tuple) and is_array_data(data):
        data = stack_arrays(block.name, data, block.noun)
    if not isinstance(data, np.ndarray):
        return data
    if data.shape == block.shape:  # one image or sequence
        data = data[None]
    if data.ndim == 2 and data.shape[1] == block.size:
        return pd.DataFrame(block.to_codes(data.reshape(-1, *block.shape), **options), columns=blocks[0].names)
    if data.ndim < 2 or data.ndim > 4:
        raise DataError(
            f"{block.name!r} takes {block.noun}s of {format_shape(block.shape)}: an array of shape "
            f"(n, {', '.join(map(str, block.shape))}). Got an array of shape {data.shape}."
        )
    return pd.DataFrame(block.to_codes(data, **options), columns=blocks[0].names)


def restore_data(blocks: tuple[PlacedBlock, ...], template: Any, codes: Codes) -> Any:
    """Return a matrix of codes in the form of `template`.

    The template is an array, or a list of arrays, of the only block of a space.
    """
    arrays = blocks[0].block.restore(codes)
    if isinstance(template, np.ndarray):
        if template.shape == blocks[0].block.shape:
            return arrays[0]
        return (
            arrays.reshape(len(arrays), -1) if template.ndim == 2 and template.shape[1:] != arrays.shape[1:] else arrays
        )
    return list(arrays)


# -- what systems are called with ------------------------------------------------------------------------------------


BlockStyle = Literal["images", "channels", "image"]
BLOCK_STYLES: tuple[BlockStyle, ...] = ("images", "channels", "image")


def to_arrays(frame: pd.DataFrame, blocks: tuple[PlacedBlock, ...], style: BlockStyle = "images") -> npt.NDArray[Any]:
    """Return the columns of the only block of a frame as an array.

    For the style "channels" it is an array of float32 with the channels before height and width, as torch has them.
    """
    block, names = blocks[0].block, blocks[0].names
    own_columns = frame if list(frame.columns) == names else frame[names]
    codes = own_columns.to_numpy(dtype=np.float64)
    arrays = block.restore(codes)
    if style != "channels":
        return arrays
    if isinstance(block, Image):
        pictures = block.to_pictures(codes)
        return np.ascontiguousarray(np.moveaxis(pictures, -1, 1), dtype=np.float32)
    return np.ascontiguousarray(arrays[:, None], dtype=np.float32)


def is_single_block(blocks: tuple[PlacedBlock, ...], width: int) -> bool:
    """Return whether a space of `width` features is one block and nothing else."""
    return len(blocks) == 1 and blocks[0].block.size == width
