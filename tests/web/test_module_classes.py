"""Test systems are found by parsing files; nothing of them is run."""

from datamorphic.web.folder import ServedFolder
from datamorphic.web.module_classes import find_classes, read_sources

SOURCE = """
raise SystemExit("this must not run")

class RedWine:
    @dm.seed_maker
    def seeds(self): ...
    @datamorphism(feature="alcohol")
    def up(self, wine): ...
    @dm.datamorphism
    def down(self, wine): ...
    @dm.executor
    def classify(self, wine): ...

class Plain:
    @property
    def name(self): ...
"""


def test_classes_with_morphisms():
    [system_class] = find_classes("wine.py", SOURCE)
    assert (system_class.name, system_class.summary) == ("RedWine", "1 seed maker, 2 datamorphisms, 1 executor")


def test_inherited_morphisms_count_and_private_classes_do_not():
    source = """
class _Wine:
    @dm.executor
    def classify(self, wine): ...
    @dm.datamorphism
    def up(self, wine): ...

class White(_Wine, unknown.Base):
    def up(self, wine): ...
    @dm.datamorphism
    def down(self, wine): ...

class Red(_Wine): ...
"""
    assert [(item.name, item.summary) for item in find_classes("wine.py", source)] == [
        ("White", "1 executor, 1 datamorphism"),
        ("Red", "1 executor, 1 datamorphism"),
    ]


def test_files_that_are_not_python_are_left_out(tmp_path):
    (tmp_path / "wine.py").write_text(SOURCE)
    (tmp_path / "broken.py").write_text("class (")
    (tmp_path / "bytes.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large.py").write_text("x = 1\n" * 200_000)
    (tmp_path / "plain.py").write_text("class Wine: ...")
    assert read_sources(ServedFolder(tmp_path)) == [("wine.py", SOURCE)]
