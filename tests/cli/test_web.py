"""The command ``datamorphic web``: when it refuses to start, it says why in one line."""

import socket
import sys

import pytest
from typer.testing import CliRunner

from datamorphic.cli.main import app


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Start the studio with some words, where it must not start."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return lambda *words: CliRunner().invoke(app, ["web", "--no-browser", *words])


@pytest.fixture
def busy_port():
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        yield busy.getsockname()[1]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("--host=0.0.0.0", "Add a token"),
        ("--token=short", "can be guessed"),
        ("--public-url=https://studio.example.org", "Add a token"),
        ("missing-folder", "does not exist"),
        ("--port={busy_port}", "cannot be used"),
        ("--host=no.such.host.invalid", "Add a token"),
    ],
)
def test_the_studio_refuses_to_start_with_one_line(start, busy_port, word, message):
    result = start(word.format(busy_port=busy_port))
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output
    assert len(result.stderr.strip().splitlines()) <= 2


def test_without_nicegui_the_extra_is_named(start, monkeypatch):
    monkeypatch.setitem(sys.modules, "nicegui", None)
    monkeypatch.setenv("NICEGUI_STORAGE_PATH", "")  # is set before the import, and must not stay
    result = start("--port=0")
    assert result.exit_code == 2
    assert "pip install 'datamorphic[web]'" in " ".join(result.stderr.split())
    assert len(result.stderr.strip().splitlines()) <= 2
