"""The lists of files: by kind, with links out of the folder left out."""

from datamorphic.web.folder import ServedFolder


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
