"""The served folder: what lies in it, and nothing else."""

import pytest

from datamorphic.errors import UsageError
from datamorphic.web.folder import MAX_FILES_LISTED, ServedFolder
from support.cases import in_one_test


@pytest.fixture
def served(tmp_path):
    """A folder with a file beside it."""
    (tmp_path / "outside.csv").write_text("secret")
    root = tmp_path / "served"
    (root / "sub").mkdir(parents=True)
    for name in (
        "a.csv",
        "b.PARQUET",
        "m.skops",
        "n.pkl",
        "pyproject.toml",
        "t.py",
        "s.scr",
        ".hidden.csv",
        "sub/c.csv",
    ):
        (root / name).write_text("x")
    return ServedFolder(root)


def test_files_are_listed_by_kind(served):
    assert served.list_data() == ["a.csv", "b.PARQUET", "sub/c.csv"]
    assert served.list_models() == ["m.skops", "n.pkl"]  # a project has settings, too
    assert served.list_modules() == ["t.py"]
    assert served.list_scripts() == ["s.scr"]


def test_a_file_is_found(served):
    assert served.find_file("sub/c.csv") == served.root / "sub/c.csv"
    assert served.find_file("sub/../a.csv") == served.root / "a.csv"


@in_one_test(
    "name",
    [
        *("../outside.csv", "sub/../../outside.csv", "/etc/passwd", "..", ".", "", "sub", "missing.csv", "a.csv/x"),
        *("a.csv\0.png", "x" * 5_000, "~/x", "file:///etc/passwd", "..\\outside.csv", "....//outside.csv"),
    ],
)
def test_whatever_is_not_a_file_of_the_folder_is_refused(served, name):
    with pytest.raises(UsageError) as error:
        served.find_file(name)
    assert "\n" not in str(error.value)


def test_links_out_of_the_folder_are_refused(served, tmp_path):
    (served.root / "link.csv").symlink_to(tmp_path / "outside.csv")
    (served.root / "folder").symlink_to(tmp_path)
    (served.root / "loop.csv").symlink_to(served.root / "loop.csv")
    (served.root / "inside.csv").symlink_to(served.root / "a.csv")
    for name in ("link.csv", "folder/outside.csv", "loop.csv"):
        with pytest.raises(UsageError):
            served.find_file(name)
        assert name not in served.list_data()
    assert served.find_file("inside.csv") == served.root / "a.csv"


def test_a_folder_that_is_a_link_itself_is_served(served, tmp_path):
    (tmp_path / "alias").symlink_to(served.root)
    assert ServedFolder(tmp_path / "alias").list_data() == served.list_data()


def test_hostile_names_are_listed_as_they_are(tmp_path):
    names = ["<img src=x onerror=alert(1)>.csv", "a'b\"c.csv", "--trust.csv", "$(id).csv", "ü\u202egpj.csv"]
    for name in names:
        (tmp_path / name).write_text("x")
    assert sorted(ServedFolder(tmp_path).list_data()) == sorted(names)


def test_huge_folders_are_cut_off(tmp_path):
    for number in range(MAX_FILES_LISTED + 10):
        (tmp_path / f"{number}.csv").touch()
    assert len(ServedFolder(tmp_path).list_data()) == MAX_FILES_LISTED


def test_a_folder_that_cannot_be_read_is_empty(tmp_path):
    assert ServedFolder(tmp_path / "missing").list_data() == []


def test_text_files_are_not_taken_for_models(tmp_path):
    (tmp_path / "sub").mkdir()
    for name, text in {
        "requirements.txt": "numpy",
        "package.json": "{}",
        "pyproject.toml": "url = 1",
        "booster.txt": "tree\nversion=v4\n",
        "sub/booster.json": '{"learner":{}}',
        "service.toml": 'url = "http://localhost"',
        "tree.skops": "",
    }.items():
        (tmp_path / name).write_text(text)
    assert ServedFolder(tmp_path).list_models() == ["booster.txt", "service.toml", "tree.skops", "sub/booster.json"]


def test_files_behind_links_and_in_hidden_folders_are_not_listed(tmp_path):
    served = tmp_path / "served"
    (served / ".git").mkdir(parents=True)
    (served / ".git" / "a.csv").write_text("a")
    (tmp_path / "secret.csv").write_text("a")
    (served / "link.csv").symlink_to(tmp_path / "secret.csv")
    (served / "b.CSV").write_text("a")
    assert ServedFolder(served).list_data() == ["b.CSV"]
