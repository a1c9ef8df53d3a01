"""The scripts of a person: names without folders, and files of two folders only."""

import pytest

from datamorphic.errors import UsageError
from datamorphic.web.folder import ServedFolder
from datamorphic.web.script_files import ScriptFiles, clean_name
from support.cases import in_one_test


@pytest.fixture
def files(tmp_path):
    for name in ("saved", "served"):
        (tmp_path / name).mkdir()
    (tmp_path / "served" / "walk.scr").write_text("clean()\r\n", newline="")
    (tmp_path / "secret.scr").write_text("secret")
    (tmp_path / "served" / "link.scr").symlink_to(tmp_path / "secret.scr")
    return ScriptFiles(ServedFolder(tmp_path / "saved"), ServedFolder(tmp_path / "served"))


def test_scripts_are_saved_listed_and_read(files):
    key = files.save("my borders", "clean()\n")
    assert key == "saved:my borders.scr"
    files.save("recorded 2", "")
    (files.saved.root / "recorded.scr").write_text("clean()")
    assert list(files.list_choices()) == ["recorded:", key, "saved:recorded 2.scr", "served:walk.scr"]
    assert files.read(key) == "clean()\n"
    assert files.read("served:walk.scr") == "clean()\n"
    files.remove(key)
    assert key not in files.list_choices()


@in_one_test("name", ["", "../up", "a/b", ".hidden", "a\0b", "<b>x</b>", "recorded.scr", "x" * 100])
def test_names_that_are_refused(files, name):
    with pytest.raises(UsageError):
        files.save(name, "clean()")
    assert files.saved.list_scripts() == []


@in_one_test(
    "key", ["served:../secret.scr", "served:link.scr", "saved:", "other:walk.scr", "served:walk.py", "recorded:"]
)
def test_files_that_are_not_read(files, key):
    with pytest.raises(UsageError):
        files.read(key)


def test_only_saved_scripts_are_deleted(files):
    with pytest.raises(UsageError):
        files.remove("served:walk.scr")
    with pytest.raises(UsageError):
        files.remove("saved:../served/walk.scr")
    assert (files.served.root / "walk.scr").exists()


def test_the_extension_is_added_once():
    assert clean_name("a.SCR") == clean_name(" a ") == "a.scr"


def test_a_script_that_is_too_long_is_refused(files):
    with pytest.raises(UsageError, match="at most"):
        files.save("long", "x" * 1_000_001)
