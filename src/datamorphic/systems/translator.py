"""`ApertiumTranslator`: the machine translation system Apertium, as a pipe of processes that stays open.

Apertium is a pipe of about ten programs. With the option ``-z`` each of them passes on what it has at a NUL character and forgets
the text before it, so that one pipe answers many texts and none of them influences another one.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._lazy import pd
from .._text import suggest_name
from .._validation import check_types, reject, validate_integer, validate_timeout
from ..errors import ArgumentError, ModelError
from ..space.outputs import Outputs, Status
from ..space.points import Batch
from .base import ResourceSystem, ScoreRequest
from .missing_packages import MissingPackage
from .watchdog import release_process, watch_process

DATA_FOLDER = "/usr/share/apertium"
DATA_VARIABLE = "APERTIUM_DATADIR"  # the program `apertium` reads it, too
INSTALL_TEXT = "Install it (Debian, Ubuntu): apt install apertium apertium-eng-spa"
MAX_CHARACTERS = 100_000  # Apertium translates some 20,000 characters per second
MAX_WORD_CHARACTERS = 1_000
MIN_START_TIMEOUT_SECONDS = 20.0  # the first text waits until all dictionaries are loaded
MAX_ERROR_BYTES = 2_000  # of the output to stderr
MAX_ATTEMPTS = 2  # a text is sent a second time to a new pipe before it gets an error
CHUNK_BYTES = 65_536
#: the end of a block: a period in case that the text has none, which the last program keeps in front of an empty format block
BLOCK_END = ".[]"
#: programs of a pipe that pass on their output at a NUL character if they get -z
FLUSHING_PROGRAMS = (
    *("lt-proc", "lrx-proc", "lsx-proc", "cg-proc", "hfst-proc", "rtx-proc", "apertium-tagger", "apertium-pretransfer"),
    *("apertium-posttransfer", "apertium-transfer", "apertium-interchunk", "apertium-postchunk", "apertium-anaphora"),
)
_RESERVED_CHARACTER = re.compile(r"[\^$/<>{}\[\]\\@]")
_BLANK = re.compile(
    r"[\s~]*[^\S ][\s~]*|[\s~]*~[\s~]*|\s{2,}"
)  # all blanks but one space; a tilde has a meaning in the pipe
_FORMAT_MARKUP = re.compile(r"\.\[\]|\\(.)|\[((?:\\.|[^\]\\])*)\]", re.DOTALL)

__all__ = ["ApertiumTranslator", "explain_missing_apertium", "list_pairs"]


def list_pairs(folder: str | None = None) -> list[str]:
    """Return the installed translation directions, such as "eng-spa"."""
    modes = Path(folder or os.environ.get(DATA_VARIABLE) or DATA_FOLDER) / "modes"
    return sorted(path.stem for path in modes.glob("*.mode"))


def explain_missing_apertium(pair: str = "eng-spa") -> str:
    """Return why Apertium cannot translate here and what to do.

    The text is empty if it can. Nothing is started.
    """
    try:
        read_pipe_commands(pair, mark_unknown=True)
    except ModelError as error:
        return str(error)
    return ""


def read_pipe_commands(pair: str, *, mark_unknown: bool) -> list[list[str]]:
    """Return the programs of a translation direction with their arguments, from its mode file.

    The mode file is a line of shell commands. It is not run by a shell: only programs that are known to work in an open pipe are
    accepted.
    """
    pairs = list_pairs()
    if shutil.which("lt-proc") is None or not pairs:
        raise MissingPackage(f"Apertium is not installed. {INSTALL_TEXT}")
    if pair not in pairs:
        raise ModelError(
            f"Apertium has no translation direction {pair!r} here. Installed: {', '.join(pairs)}. Others are Debian packages "
            f"such as apertium-{pair}."
        )
    mode = Path(os.environ.get(DATA_VARIABLE) or DATA_FOLDER) / "modes" / f"{pair}.mode"
    commands = []
    for part in mode.read_text(encoding="utf-8").strip().split("|"):
        program, *arguments = shlex.split(part) or [""]
        if Path(program).name not in FLUSHING_PROGRAMS:
            raise ModelError(
                f"The translation direction {pair!r} uses the program {program!r}, which is not known to work in an open pipe. Use "
                "another direction."
            )
        path = shutil.which(program)
        if path is None:
            raise MissingPackage(f"The program {program!r} of Apertium is not installed. {INSTALL_TEXT}")
        # $1 is the option of the generator, $2 that of the tagger
        filled_arguments = [
            ("-g" if mark_unknown else "-n") if argument == "$1" else argument for argument in arguments
        ]
        commands.append([path, "-z", *(argument for argument in filled_arguments if argument != "$2")])
    return commands


def to_block(text: str) -> str:
    """Return a text in the stream format of Apertium, as ``apertium-destxt`` does.

    Examples
    --------
    >>> to_block("5 $ @ home\\n")
    '5 \\\\$ \\\\@ home[\\n].[]'
    """
    parts, end = [], 0
    for blank in _BLANK.finditer(text):
        parts.append(_RESERVED_CHARACTER.sub(r"\\\g<0>", text[end : blank.start()]))
        paragraph = BLOCK_END if blank[0].count("\n") > 1 else ""  # the end of a paragraph ends a sentence
        parts.append(f"{paragraph}[{blank[0]}]")
        end = blank.end()
    parts.append(_RESERVED_CHARACTER.sub(r"\\\g<0>", text[end:]))
    return "".join(parts) + BLOCK_END


def from_block(block: str) -> str:
    """Return the text of a block of Apertium's stream format, as ``apertium-retxt`` does.

    Examples
    --------
    >>> from_block(r"5 \\$ \\@ casa.[]")
    '5 $ @ casa'
    """
    return _FORMAT_MARKUP.sub(lambda match: match[1] or re.sub(r"\\(.)", r"\1", match[2] or ""), block)


class _Pipe:
    """The open processes of one translation direction."""

    def __init__(self, commands: Sequence[Sequence[str]]) -> None:
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the pipe
        self.processes: list[subprocess.Popen[bytes]] = []
        previous: Any = subprocess.PIPE
        try:
            for command in commands:
                process = subprocess.Popen(
                    command,
                    stdin=previous,
                    stdout=subprocess.PIPE,
                    stderr=self.errors,
                    env=environment,
                    process_group=0,  # Ctrl-C is for Python, which closes the pipe when it ends
                )
                watch_process(process.pid)
                if self.processes:
                    previous.close()  # so that the end of one process ends all others
                self.processes.append(process)
                previous = process.stdout
        except BaseException:
            stop_processes(self.processes, self.errors)
            raise
        first, last = self.processes[0].stdin, self.processes[-1].stdout
        assert first is not None
        assert last is not None
        self.input, self.output = first.fileno(), last.fileno()
        os.set_blocking(self.input, False)

    def translate(self, blocks: Sequence[bytes], timeout: float) -> Iterator[str]:
        """Send all blocks and yield their translations as they arrive.

        It raises `TimeoutError` if nothing arrives for some seconds, and `EOFError` if the pipe ends.
        """
        unsent_bytes = memoryview(b"".join(block + b"\0" for block in blocks))
        received_bytes, count = bytearray(), 0
        deadline = time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self.output, selectors.EVENT_READ)
            selector.register(self.input, selectors.EVENT_WRITE)
            while count < len(blocks):
                events = selector.select(max(0.0, deadline - time.monotonic()))
                if not events and time.monotonic() >= deadline:
                    raise TimeoutError
                for key, _ in events:
                    if key.fd == self.input:
                        try:
                            unsent_bytes = unsent_bytes[os.write(self.input, unsent_bytes[:CHUNK_BYTES]) :]
                        except BlockingIOError:
                            continue
                        except OSError:
                            raise EOFError from None
                        if not unsent_bytes:
                            selector.unregister(self.input)
                        continue
                    chunk = os.read(self.output, CHUNK_BYTES)
                    if not chunk:
                        raise EOFError
                    deadline = time.monotonic() + timeout
                    received_bytes += chunk
                    if b"\0" in chunk:
                        *finished_blocks, rest = received_bytes.split(b"\0")
                        received_bytes = bytearray(rest)
                        for block in finished_blocks:
                            count += 1
                            yield from_block(block.decode("utf-8", errors="replace"))

    def read_last_error(self) -> str:
        """Return the last line that one of the programs wrote to stderr."""
        with contextlib.suppress(OSError, ValueError):
            self.errors.seek(0)
            lines = self.errors.read()[-MAX_ERROR_BYTES:].decode("utf-8", errors="replace").strip().splitlines()
            return lines[-1] if lines else ""
        return ""

    def stop(self) -> None:
        """Kill the processes and wait for their end."""
        stop_processes(self.processes, self.errors)


def stop_processes(processes: Sequence[subprocess.Popen[bytes]], errors: IO[bytes]) -> None:
    """Kill the processes of a pipe and close its files."""
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()
        release_process(process.pid)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
    errors.close()


def stop_pipes(pipes: dict[str, _Pipe], owner: int) -> None:
    """Stop all pipes; those of a parent process are left alone in its forks."""
    while pipes:
        _, pipe = pipes.popitem()
        if os.getpid() == owner:
            pipe.stop()


class _PipeSet:
    """The open pipes by direction; they are stopped when the last translator that uses them is gone."""

    def __init__(self) -> None:
        self.by_direction: dict[str, _Pipe] = {}
        self.lock = threading.Lock()
        self.owner = os.getpid()
        weakref.finalize(self, stop_pipes, self.by_direction, self.owner)

    def close(self) -> None:
        """Stop all processes."""
        with self.lock:
            stop_pipes(self.by_direction, self.owner)


@check_types
class ApertiumTranslator(ResourceSystem):
    """Apertium, a rule-based machine translation system, as a system under test.

    A case is a row with a text; its translation is the answer. A column `direction`, if the data have it, chooses the
    translation direction per row, so that a text can be translated there and back. Processes start with the first query and
    end with `close`, with the object, or with Python. Copies in other processes start their own.

    Parameters
    ----------
    pair : str
        The translation direction, such as "eng-spa" for English to Spanish. `list_pairs` lists those installed.
    column : str
        The column with the text.
    mark_unknown : bool
        Whether words that Apertium does not know are marked with an asterisk.
    timeout : float
        Seconds without output after which the processes count as hanging. They are then started again. A text that hangs
        twice gets an error.
    max_characters : int
        Longer texts get an error.

    Raises
    ------
    ModelError
        At the first query, if Apertium or the direction is not installed. The message names the Debian packages.

    Examples
    --------
    >>> import datamorphic as dm
    >>> translator = dm.systems.ApertiumTranslator("eng-spa")
    >>> translator
    ApertiumTranslator('eng-spa')

    With Apertium installed::

        with dm.systems.ApertiumTranslator("eng-spa") as translator:
            translator.translate(["Mary likes water."])     # ['A Mary le gusta el agua.']
    """

    batch_rows = 500
    resource_names = ("_pipes",)

    def __init__(
        self,
        pair: str = "eng-spa",
        *,
        column: str = "text",
        mark_unknown: bool = True,
        timeout: float = 20.0,
        max_characters: int = MAX_CHARACTERS,
    ) -> None:
        owner = type(self).__name__
        if not isinstance(pair, str) or not re.fullmatch(r"[\w-]+", pair):
            reject("pair", owner, "a translation direction, as in 'eng-spa'", pair)
        if not isinstance(column, str) or not column:
            reject("column", owner, "the name of the column with the text", column)
        self.timeout = validate_timeout("timeout", owner, timeout)
        self.pair, self.column, self.mark_unknown = pair, column, bool(mark_unknown)
        self.max_characters = validate_integer("max_characters", owner, max_characters, 1)
        self.name = f"Apertium {pair}"
        self._create_resources()

    def _create_resources(self) -> None:
        self._pipes = _PipeSet()

    def translate(self, texts: Sequence[str], direction: str | None = None) -> list[str]:
        """Return the translations of some texts; raise `ModelError` if one of them cannot be translated."""
        if isinstance(texts, str):
            reject("texts", "translate", "a list of texts", texts)
        frame = pd.DataFrame({self.column: pd.Series(list(texts), dtype=object), "direction": direction or self.pair})
        outputs = self.execute(frame)
        if outputs.messages:
            row, message = next(iter(outputs.messages.items()))
            raise ModelError(f"Text {row + 1} of {len(texts)} was not translated: {message}")
        return [str(text) for text in outputs.values]

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Return one translation per row; a text that cannot be translated has a status and a message."""
        frame = batch.frame
        if self.column not in frame.columns:
            raise ArgumentError(
                f"{self.name} needs a column {self.column!r} with the texts. {suggest_name(self.column, frame.columns)}"
            )
        texts = frame[self.column].tolist()
        directions = frame["direction"].tolist() if "direction" in frame.columns else [self.pair] * len(texts)
        values = np.full(len(texts), None, dtype=object)
        status = np.zeros(len(texts), dtype=np.int8)
        messages: dict[int, str] = {}
        rows_by_direction: dict[str, list[int]] = {}
        for row, (text, direction) in enumerate(zip(texts, directions, strict=True)):
            problem = self._find_problem(text, direction)
            if problem:
                status[row], messages[row] = Status.ERROR, problem
            else:
                rows_by_direction.setdefault(direction, []).append(row)
        if self._pipes.owner != os.getpid():  # a fork must not read what its parent waits for
            self._create_resources()
        with self._pipes.lock:
            for direction, rows in rows_by_direction.items():
                blocks = [to_block(texts[row]).encode("utf-8") for row in rows]
                for row, answer in zip(rows, self._translate_blocks(direction, blocks), strict=True):
                    if isinstance(answer, str):
                        values[row] = answer
                    else:
                        status[row], messages[row] = answer
        return Outputs(values, status, messages=messages)

    def _find_problem(self, text: object, direction: object) -> str:
        if not isinstance(direction, str):
            return f"the direction must be a text like {self.pair!r}, not {direction!r}"
        if not isinstance(text, str):
            return f"a text is needed, not {type(text).__name__}"
        if len(text) > self.max_characters:
            return f"the text has {len(text):,} characters, and at most {self.max_characters:,} are translated (max_characters=)"
        if re.search(rf"\w{{{MAX_WORD_CHARACTERS + 1}}}", text):
            return f"the text has a word of more than {MAX_WORD_CHARACTERS:,} characters, for which Apertium would need minutes"
        if "\0" in text:
            return "the text has a NUL character, which Apertium takes for the end of the text"
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            return "the text has half of a surrogate pair, which is not a character"
        return ""

    def _translate_blocks(self, direction: str, blocks: Sequence[bytes]) -> list[str | tuple[Status, str]]:
        """Return a translation per block, or the status and message of one that stopped the pipe twice."""
        answers: list[str | tuple[Status, str]] = []
        attempts = 0
        while len(answers) < len(blocks):
            pipe = self._get_pipe(direction)
            before = len(answers)
            try:
                for text in pipe.translate(blocks[before:], self.timeout):
                    answers.append(text)
            except (TimeoutError, EOFError) as error:
                reason = pipe.read_last_error()
                self._drop_pipe(direction)
                attempts = attempts + 1 if len(answers) == before else 1  # another text is at fault than before
                if attempts >= MAX_ATTEMPTS:
                    attempts = 0
                    if isinstance(error, TimeoutError):
                        answers.append(
                            (Status.TIMEOUT, f"Apertium gave no translation within {self.timeout:g} s, in two attempts")
                        )
                    else:
                        answers.append(
                            (Status.DIED, f"Apertium exited at this text, in two attempts{reason and ': '}{reason}")
                        )
            except BaseException:  # such as Ctrl-C: the rest of the answers would be taken for those of the next query
                self._drop_pipe(direction)
                raise
        return answers

    def _get_pipe(self, direction: str) -> _Pipe:
        pipes = self._pipes.by_direction
        if direction not in pipes:
            pipes[direction] = self._start_pipe(direction)
        return pipes[direction]

    def _start_pipe(self, direction: str) -> _Pipe:
        """Start the processes and check that they answer."""
        pipe = _Pipe(read_pipe_commands(direction, mark_unknown=self.mark_unknown))
        try:
            if list(pipe.translate([BLOCK_END.encode()], max(self.timeout, MIN_START_TIMEOUT_SECONDS))) == [""]:
                return pipe
            reason = "it translates an empty text to something else"
        except TimeoutError:
            reason = "it does not answer"
        except EOFError:
            reason = pipe.read_last_error() or "one of its programs ended"
        except BaseException:
            pipe.stop()
            raise
        pipe.stop()
        raise ModelError(
            f"Apertium {direction} does not work ({reason}). Install its packages again, or try: echo Hello | apertium {direction}"
        )

    def _drop_pipe(self, direction: str) -> None:
        pipe = self._pipes.by_direction.pop(direction, None)
        if pipe is not None:
            pipe.stop()

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of the running processes; none before the first query and after `close`."""
        return tuple(process.pid for pipe in self._pipes.by_direction.values() for process in pipe.processes)

    def close(self) -> None:
        """Stop the processes; the next query starts them again."""
        self._pipes.close()

    def __repr__(self) -> str:
        return f"ApertiumTranslator({self.pair!r})"
