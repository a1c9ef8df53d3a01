"""Run a reader's commands in this process, because a new one would spend most of its time on imports."""

from __future__ import annotations

import io
import runpy
import sys
from contextlib import redirect_stdout

import pytest
from typer.testing import CliRunner

from datamorphic.cli.main import app


def run_program(program, *arguments):
    """Run `datamorphic`, `python` or `pytest` in the current folder; return exit code and output."""
    if program == "datamorphic":
        result = CliRunner().invoke(app, list(arguments))
        return result.exit_code, result.stdout
    path, modules = list(sys.path), set(sys.modules)
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            if program == "python":
                runpy.run_path(arguments[0], run_name="__main__")
                code = 0
            else:
                assert program == "pytest"
                code = int(pytest.main(list(arguments)))
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if name.rpartition(".")[2].startswith(("test_", "conftest")):  # tests are imported again the next time
                del sys.modules[name]
    return code, printed.getvalue()
