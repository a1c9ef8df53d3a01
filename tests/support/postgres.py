"""A throw-away PostgreSQL server for tests: `pytest_plugins = ["support.postgres"]`, then ask for `postgres_url`."""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

USER, PASSWORD = "ada", "hunter2"


def programs():
    """The folder of initdb and pg_ctl, None where PostgreSQL is not installed."""
    folders = [os.path.dirname(shutil.which("initdb") or "")]
    if config := shutil.which("pg_config"):
        folders.append(subprocess.run([config, "--bindir"], capture_output=True, text=True).stdout.strip())
    newest_first = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: -float(path.split("/")[4]))
    return next((Path(item) for item in folders + newest_first if item and Path(item, "initdb").exists()), None)


def unprivileged():
    """Options that make a child process somebody else if we are root, whom PostgreSQL refuses."""
    if os.geteuid() != 0:
        return {}
    import pwd  # POSIX only

    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    somebody = names.get("postgres") or names["nobody"]
    return {"user": somebody.pw_uid, "group": somebody.pw_gid, "extra_groups": []}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Server:
    """A server of our own: its URL without a database, and how to call pg_ctl for it."""

    url: str
    control: Callable[..., bool]


@pytest.fixture(scope="session")
def postgres_server():
    """A server of our own."""
    pytest.importorskip("psycopg", reason="pip install 'datamorphic[postgres]'")
    where = programs()
    if where is None:
        pytest.skip("PostgreSQL is not installed: apt install postgresql")
    home = Path(tempfile.mkdtemp(prefix="pg"))  # not pytest's: paths of sockets must be short
    somebody = unprivileged()
    if somebody:
        os.chown(home, somebody["user"], somebody["group"])

    def call(program, *words):
        done = subprocess.run(
            [where / program, *words], cwd=home, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **somebody
        )
        return done.returncode == 0

    (home / "password").write_text(PASSWORD)
    (home / "password").chmod(0o644)
    data = home / "data"
    with (home / "log").open("w") as log:
        try:
            assert call(
                "initdb",
                "-D",
                data,
                "-U",
                USER,
                "--pwfile",
                home / "password",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
            ), (home / "log").read_text()
            for _ in range(5):  # somebody else may take the port before the server does
                port = free_port()
                options = f"-c listen_addresses=127.0.0.1 -p {port} -k {home} -c fsync=off -c max_connections=40"
                if call("pg_ctl", "-D", data, "-w", "-o", options, "start"):
                    break
            else:
                raise AssertionError((home / "log").read_text())
            url = f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{port}"
            yield Server(url, lambda *words: call("pg_ctl", "-D", data, "-w", "-o", options, *words))
        finally:
            call("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
            shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server):
    """The URL of a fresh database."""
    import psycopg

    name = f"test_{uuid4().hex}"
    with psycopg.connect(f"{postgres_server.url}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield f"{postgres_server.url}/{name}"
    with psycopg.connect(
        f"{postgres_server.url}/postgres", autocommit=True
    ) as connection:  # it may have been restarted
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def _reused(postgres_server):
    import psycopg

    with psycopg.connect(f"{postgres_server.url}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE reused")
    return f"{postgres_server.url}/reused"


@pytest.fixture
def emptied_postgres_url(_reused):
    """The URL of a database that is empty again, which takes a tenth of the time of a fresh one."""
    import psycopg

    with psycopg.connect(_reused, autocommit=True) as connection:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'reused' AND pid <> pg_backend_pid()"
        connection.execute(
            f"{others}; DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC"
        )
    return _reused
