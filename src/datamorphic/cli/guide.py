"""The command ``datamorphic guide``: from a pattern to a saved relation, one question after the other."""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from .._files import to_local_path, write_file
from .._text import format_percent, pluralise
from ..errors import SystemFailed, UsageError, WrongAnswer
from ..reporting.text import to_printable
from . import options as opt
from .console import make_console, print_json, redirect_user_output
from .exit_codes import ExitCode
from .load import load_data, load_example, load_system, to_absolute_path

if TYPE_CHECKING:
    from ..relations.guide.answers import AnswerFile
    from ..relations.guide.session import GuideResult, GuideSession
    from ..relations.guide.steps import Question

STOPPED_FILE = "guide.answers"
MAX_STOPPED_FILES = 1_000
MIN_TEXT_CHARACTERS = 30  # per line beside a choice
BACK, QUIT, HELP = "back", "quit", "?"


def guide(
    model: Annotated[
        str | None, opt.argument("MODEL", "A model file, module:object, or example:NAME (example:product search).")
    ] = None,
    inputs: opt.DataArgument = None,
    answers: Annotated[
        str | None, opt.option("FILE", "Take answers from this file (id = answer per line), or from - for stdin.")
    ] = None,
    save: Annotated[str | None, opt.option("FILE", "The Python file for the relation and its test.")] = None,
    keep: Annotated[
        Path | None, opt.option("FILE", "Write the answers to this file, for --answers.", "--keep-answers")
    ] = None,
    trust: Annotated[
        bool, opt.flag("--trust", "Load pickles, and run the code that an answers file names (module:object).")
    ] = False,
    force: Annotated[bool, opt.flag("--force", "Overwrite the files that exist.")] = False,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Find a relation of a system with the help of patterns, and save it as code with a test.

    Choose a pattern, answer questions about your system, and see what its answers do. Type ? for help on a question, back
    for the question before, quit to stop. The answers so far are kept then, and --answers goes on with them. Without a
    terminal all answers come from the file, or are the defaults.

    Examples: datamorphic guide "example:product search"; datamorphic guide model.skops customers.csv;
    datamorphic guide shop:search queries.csv --answers search.answers --save test_search.py
    """
    from ..relations.guide.answers import Answer, AnswerFile
    from ..relations.guide.session import GuideSession

    answer_file = _read_answers(answers)
    prepared = [("system.model", model), ("system.data", inputs), ("save", save)]
    option_answers = AnswerFile([Answer(name, text) for name, text in prepared if text is not None], "the command line")
    for answer in option_answers.unused:
        answer_file.take(answer.id)  # the command line comes first
    if force:
        option_answers.unused += [Answer("overwrite", "yes")] * 2
    model_is_given = model is not None

    def load_model(text: str) -> Any:
        with redirect_user_output():
            return _load_model(text, trust, needs_trust=not model_is_given and answers is not None)

    session = GuideSession(load_model=load_model, load_data=_load_data, trust=trust, seed=seed)
    face = _Face(session, option_answers, answer_file, sys.stderr if as_json else sys.stdout)
    try:
        face.run()
    except (KeyboardInterrupt, EOFError):
        _stop(session, model, inputs, keep, face)
    result = session.result
    assert result is not None
    for file, text in result.files:
        write_file(file, text, "module")
    if keep is not None:
        _write_answers(session, keep, "The answers of a walk with datamorphic guide.")
    if as_json:
        print_json(result.document() | {"answers": None if keep is None else str(keep)})
    else:
        _print_end(result, keep)
    if answer_file.unused:
        unused = answer_file.unused[0]
        face.say(f"{answer_file.name}:{unused.line}: {unused.id} was not asked for. The answer was not used.")
    if result.relation.promise == "MR" and result.violated:
        raise typer.Exit(ExitCode.FINDINGS)


# -- loading -----------------------------------------------------------------------------------------------------------


def _load_model(text: str, trust: bool, needs_trust: bool) -> Any:
    """Return the system that a text names; an example, a model file, or an object of a module."""
    from ..systems.files import is_model_file, is_python_name, is_weka_name
    from ..systems.wrap import wrap

    if (example := load_example(text)) is not None:
        return example
    is_code = is_python_name(text) or not (is_weka_name(text) or is_model_file(text))
    if is_code and needs_trust and not trust:
        raise UsageError(
            f"The answers file names the code {text!r}, which would be run. Give it as MODEL on the command line, or add --trust."
        )
    loaded_model, options = load_system(text, None, trust)
    return wrap(loaded_model, **options) if options else loaded_model


def _load_data(text: str) -> Any:
    with redirect_user_output():
        return load_data(text)


def _read_answers(name: str | None) -> AnswerFile:
    from ..relations.guide.answers import MAX_FILE_CHARACTERS, AnswerFile

    if name is None:
        return AnswerFile([])
    try:
        if name == "-":
            text = sys.stdin.read(MAX_FILE_CHARACTERS + 1)
        else:
            with to_local_path(name, "file of answers").open(encoding="utf-8") as file:
                text = file.read(MAX_FILE_CHARACTERS + 1)
    except OSError as error:
        raise UsageError(f"The answers cannot be read from {name!r}: {error.strerror}.") from None
    except UnicodeError:
        raise UsageError(f"{name!r} is not a text file in UTF-8. Expected lines: id = answer.") from None
    return AnswerFile.parse(text, "stdin" if name == "-" else name)


def is_interactive() -> bool:
    """Return whether questions can be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


# -- the conversation --------------------------------------------------------------------------------------------------


class _Face:
    """The questions of a session on a terminal, or answered by a file."""

    def __init__(self, session: GuideSession, option_answers: AnswerFile, answers: AnswerFile, stream: TextIO) -> None:
        self.session, self.option_answers, self.answers, self.stream = session, option_answers, answers, stream
        self.interactive = is_interactive()

    def say(self, text: str = "") -> None:
        """Print text for the user."""
        if self.stream is sys.stdout:
            make_console().print(to_printable(text), markup=False)
        else:
            print(to_printable(text), file=self.stream)

    def run(self) -> None:
        """Ask until all questions are answered."""
        while self.session.question is not None:
            question = self.session.question
            self._say_messages()
            if not self._answer_from_files(question):
                self._ask(question)
        self._say_messages()

    def _say_messages(self) -> None:
        for message in self.session.take_messages():
            self.say()
            self.say(message)

    def _answer_from_files(self, question: Question) -> bool:
        """Answer a question from the command line or the file of answers; return whether it is answered or asked again."""
        from ..relations.guide.answers import build_error

        source = self.option_answers
        answer = source.take(question.id)
        if answer is None:
            source = self.answers
            answer = source.take(question.id)
        if answer is None:
            return False
        try:
            self._submit(answer.text)
        except WrongAnswer as error:
            if not self.interactive:
                if isinstance(error.__cause__, SystemFailed):
                    raise error.__cause__ from None
                raise (
                    UsageError(str(error)) if source is self.option_answers else build_error(source, answer, error)
                ) from None
            self.say(str(build_error(source, answer, error)))
        else:
            self.say()
            self.say(f"{question.text} {answer.text.strip() or question.default}")
        return True

    def _submit(self, text: str) -> None:
        with redirect_user_output():
            self.session.answer(text)

    def _ask(self, question: Question) -> None:
        """Ask a question on the terminal until it is answered."""
        if not self.interactive:
            self._answer_with_default(question)
            return
        self.say()
        self._print_question(question)
        while True:
            text = self._read_line(question)
            command = text.strip().casefold()
            if command == QUIT:
                raise EOFError
            if command == BACK and self.session.answers:
                self.session.back()
                self.session.take_messages()
                return
            if command.startswith(HELP):
                self.say(question.help or "Answer as you like, or type back or quit.")
                continue
            try:
                self._submit(text)
                return
            except WrongAnswer as error:
                self.say(str(error))

    def _answer_with_default(self, question: Question) -> None:
        if question.default is None:
            raise UsageError(
                f"There is no answer to {question.id}: {question.text} Expected {question.describe_expectation()}. Add a line to "
                f"the file of --answers: {question.id} = ..."
            )
        try:
            self._submit("")
            self.say(f"\n{question.text} {question.default}")
        except WrongAnswer as error:
            if isinstance(error.__cause__, SystemFailed):
                raise error.__cause__ from None
            raise UsageError(f"The default answer to {question.id} is wrong here. {error}") from None

    def _print_question(self, question: Question) -> None:
        self.say(question.text)
        width = max((len(choice.value) + 2 * choice.depth for choice in question.choices), default=0)
        number_width = len(str(len(question.choices)))
        for number, choice in enumerate(question.choices, 1):
            name = f"{'  ' * choice.depth}{choice.value}"
            self._say_wrapped(f"  {number:>{number_width}}  {name.ljust(width)}  ", choice.text)
        if not question.choices and question.help:
            self._say_wrapped("  ", question.help)

    def _say_wrapped(self, start: str, text: str) -> None:
        """Print a text after a start, its further lines below its first one."""
        width = max(make_console().width, len(start) + MIN_TEXT_CHARACTERS)
        lines = textwrap.wrap(to_printable(text), width - len(start) - 1) or [""]
        self.say(f"{start}{lines[0]}".rstrip())
        for line in lines[1:]:
            self.say(" " * len(start) + line)

    def _read_line(self, question: Question) -> str:
        prompt = f"[{question.default}] > " if question.default is not None else "> "
        prompt = to_printable(prompt)
        if self.stream is sys.stdout:
            return input(prompt)
        self.stream.write(prompt)
        self.stream.flush()
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")


# -- the end -----------------------------------------------------------------------------------------------------------


def _stop(session: GuideSession, model: str | None, inputs: str | None, keep: Path | None, face: _Face) -> None:
    """Keep the answers so far, and say how to go on."""
    if not session.answers:
        face.say("\nStopped. Nothing was answered yet.")
        raise typer.Exit(ExitCode.INTERRUPTED)
    file = keep or _choose_stopped_file()
    _write_answers(session, file, "Stopped before the end.")
    words = [word for word in (to_absolute_path(model), to_absolute_path(inputs)) if word is not None]
    if model is None and session.answers[0].id == "system.model":
        words = [session.answers[0].text]
    options = ["--trust"] if session.trust else []
    options += ["--seed", str(session.seed)] if session.seed else []
    command = shlex.join(["datamorphic", "guide", *words, "--answers", str(file), *options])
    face.say(f"\nStopped. {pluralise(len(session.answers), 'answer')} are in {file}. Go on with:\n  {command}")
    raise typer.Exit(ExitCode.INTERRUPTED)


def _choose_stopped_file() -> Path:
    names = [STOPPED_FILE, *(f"guide-{number}.answers" for number in range(2, MAX_STOPPED_FILES))]
    return next((Path(name) for name in names if not Path(name).exists()), Path(STOPPED_FILE))


def _write_answers(session: GuideSession, file: Path, remark: str) -> None:
    from ..relations.guide.answers import format_answers

    write_file(file, format_answers(session.answers, remark), "file of answers")


def _print_end(result: GuideResult, keep: Path | None) -> None:
    print_line: Callable[[str], None] = lambda text: make_console().print(to_printable(text), markup=False)  # noqa: E731
    print_line("")
    for file, _ in result.files:
        print_line(f"Written: {file}")
    if keep is not None:
        print_line(f"Written: {keep}")
    judged = result.groups.judged_count
    if result.violated and not result.tolerated:
        share = format_percent(result.violated / judged)
        print_line(f"The test fails today: {share} of {pluralise(judged, 'case')} violate the relation.")
    print_line("\nNext:")
    for file, _ in result.files:
        print_line(f"  pytest {shlex.quote(str(file))}")
