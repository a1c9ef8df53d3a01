"""Errors as one line on stderr and an exit code."""

from __future__ import annotations

import errno
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from typing import Any

import typer

from .._text import format_short, redact
from ..errors import DatamorphicError, DatamorphicWarning, Interrupted, SystemFailed, UsageError
from ..reporting.text import to_printable
from .console import to_option_words
from .exit_codes import ExitCode
from .streams import discard_stdout

#: the operating system's numbers for a full disk or a broken device
OUTPUT_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def handle_errors() -> Iterator[None]:
    """Turn errors into one line on stderr and the right exit code."""
    try:
        with _print_own_warnings():
            yield
    except DatamorphicError as error:
        print_error(str(error))
        raise typer.Exit(_choose_exit_code(error)) from None
    except BrokenPipeError:
        discard_stdout()
        raise typer.Exit(ExitCode.BROKEN_PIPE) from None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        print_error(f"A file name is too long: {format_short(error.filename)!r}. Choose a shorter one.")
        raise typer.Exit(ExitCode.USAGE_ERROR) from None
    except Exception as error:
        # the parser's own errors; their classes depend on the version of Typer
        if not hasattr(error, "format_message") or type(error).__name__ == "NoArgsIsHelpError":
            raise
        print_error(_format_parser_error(error))
        raise typer.Exit(ExitCode.USAGE_ERROR) from None


def _choose_exit_code(error: DatamorphicError) -> ExitCode:
    if isinstance(error, Interrupted):
        return ExitCode.INTERRUPTED
    if isinstance(error, UsageError) and not isinstance(error, SystemFailed):
        return ExitCode.USAGE_ERROR
    return ExitCode.SYSTEM_FAILED


def print_error(text: str) -> None:
    """Print one line on stderr, in the words of the command line and without secrets."""
    typer.echo(f"datamorphic: {' '.join(to_printable(to_option_words(redact(text))).split())}", err=True)


@contextmanager
def _print_own_warnings() -> Iterator[None]:
    """Print every warning of datamorphic once, as one line, without the place in the code."""
    show_other_warning = warnings.showwarning
    printed_messages = set()

    def show_warning(message: Warning | str, category: type[Warning], *place: Any, **options: Any) -> None:
        if not issubclass(category, DatamorphicWarning):
            show_other_warning(message, category, *place, **options)
        elif str(message) not in printed_messages:
            printed_messages.add(str(message))
            print_error(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", DatamorphicWarning)
        warnings.showwarning = show_warning
        yield


def _format_parser_error(error: Exception) -> str:
    """Return an error of the parser, with the option that was probably meant."""
    message: str = error.format_message()  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    unknown_option = getattr(error, "option_name", None)
    if unknown_option and context is not None:
        names = [name[2:] for param in context.command.params for name in param.opts if name.startswith("--")]
        similar = get_close_matches(
            unknown_option.lstrip("-"), names, n=1
        )  # shared dashes would make all options similar
        message = f"No such option: {unknown_option}." + (f" Did you mean --{similar[0]}?" if similar else "")
    if not message.endswith((".", "?")):
        message += "."
    return message if context is None else f"{message} See: {context.command_path} --help"


def report_fatal_error(error: Exception) -> ExitCode:
    """Print what ended the program, full output or a bug of datamorphic, and return the exit code."""
    trace = ""
    if isinstance(error, OSError) and error.errno in OUTPUT_ERRNOS:
        discard_stdout()
        code = ExitCode.USAGE_ERROR
        message = f"The output cannot be written: {error.strerror}. Send it elsewhere."
    else:
        trace = redact("".join(traceback.format_exception(error)))
        code = ExitCode.INTERNAL_ERROR
        message = "This is a bug in datamorphic. Please report it with the lines above."
    with suppress(OSError):  # stderr may be full too
        sys.stderr.write(trace)
        print_error(message)
    return code
