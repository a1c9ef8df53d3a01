"""What a person tests: found in the folders, and one word per argument."""

import json

import pytest

from datamorphic.errors import UsageError
from datamorphic.web.folder import ServedFolder
from datamorphic.web.subject import ChosenSubject


@pytest.fixture
def folders(tmp_path):
    """Uploads and the served folder, each with files."""
    for name in ("uploads/m.skops", "served/m.skops", "served/d.csv", "served/my_tests.py", "served/sub/tests.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return [ServedFolder(tmp_path / "uploads"), ServedFolder(tmp_path / "served")]


def test_nothing_is_chosen_at_first():
    assert ChosenSubject().kind == "none"


def test_a_built_in_classifier():
    subject = ChosenSubject.of_demo("Box 2")
    assert subject.arguments == ["--subject=Box 2"]
    with pytest.raises(UsageError, match="There is no"):
        ChosenSubject.of_demo("--trust")


def test_uploads_come_first(folders):
    subject = ChosenSubject.of_files(folders, "m.skops", "d.csv", "label")
    assert subject.arguments == [str(folders[0].root / "m.skops"), str(folders[1].root / "d.csv"), "--target=label"]


@pytest.mark.parametrize(
    ("model", "data"),
    [
        ("../served/d.csv", "d.csv"),
        ("m.skops", "/etc/passwd"),
        ("d.csv", "d.csv"),
        ("m.skops", "my_tests.py"),
        ("python:python3 os:system", "d.csv"),
    ],
)
def test_other_files_are_refused(folders, model, data):
    with pytest.raises(UsageError):
        ChosenSubject.of_files(folders, model, data)


def test_names_of_columns_never_become_options(folders):
    hostile = "--trust <script>'\"$(id)"
    subject = ChosenSubject.of_files(folders, "m.skops", "d.csv", hostile)
    assert f"--target={hostile}" in subject.arguments
    assert all(word.startswith(("/", "--target=")) for word in subject.arguments)


def test_hints_are_options(folders):
    subject = ChosenSubject(
        kind="files", model="/m", data="/d", hints={"kind": {"a": "integer"}, "bounds": {"b": "0,1"}}
    )
    assert subject.arguments == ["/m", "/d", "--kind=a=integer", "--bounds=b=0,1"]
    assert ChosenSubject(**json.loads(json.dumps(subject.to_document()))) == subject


def test_a_class_of_a_module(folders):
    assert ChosenSubject.of_module(folders[1], "my_tests.py", "Loans").arguments == ["my_tests:Loans"]
    assert ChosenSubject.of_module(folders[1], "sub/tests.py", "Loans").model == "sub.tests:Loans"


@pytest.mark.parametrize(
    ("file", "name"),
    [
        *(("d.csv", "Loans"), ("../x.py", "Loans"), ("my_tests.py", "os:system"), ("my_tests.py", "Loans()")),
        *(("my_tests.py", ""), ("my_tests.py", "a b"), ("-m/tests.py", "Loans")),
    ],
)
def test_whatever_is_not_a_class_is_refused(folders, file, name):
    (folders[1].root / "-m").mkdir()
    (folders[1].root / "-m" / "tests.py").touch()
    with pytest.raises(UsageError):
        ChosenSubject.of_module(folders[1], file, name)
