"""The gallery of bugs of released libraries: its list, its page, and a row or two where old releases are installed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from examples.gallery import bug as gallery  # noqa: E402
from examples.gallery.environments import FOLDER, MissingPython, find_python  # noqa: E402
from examples.gallery.page import build_page  # noqa: E402

BUGS = gallery.read_bugs()
PAGE = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")


def make_row(bug):
    """Return a row as it would be if the bug is found, or not if it is listed as a miss."""
    relation = gallery.ViolatedRelation(name="answers", violated=3, judged=40, case="trained on 1 row\n" * 30)
    other = gallery.ViolatedRelation(name="frames", violated=1, judged=2)
    faulty = gallery.Verdict(
        release=bug.faulty, headline="1 violated", relations=() if bug.miss else (relation,), judged=400
    )
    fixed = gallery.Verdict(release=bug.fixed, headline="", relations=(other,) if bug.other else (), judged=400)
    return gallery.BugVerdicts(faulty=faulty, fixed=fixed if bug.fixed else None, own_checks="40 pass")


def test_every_bug_has_its_releases_and_its_source():
    releases = gallery.read_releases()
    for bug in BUGS:
        assert (bug.library, bug.faulty) in releases, bug.name
        assert not bug.fixed or (bug.library, bug.fixed) in releases, bug.name
        assert re.fullmatch(r"https://github\.com/[\w-]+/[\w-]+/(issues|pull)/\d+", bug.issue), bug.name
        assert re.fullmatch(r"[\w.]+:\w+( \w+=\S+)*", bug.subject), bug.name
        assert bug.what.endswith(".")
        assert not bug.correction or bug.correction.endswith(".")
    assert len({bug.name for bug in BUGS}) == len(BUGS) > 40
    used = {(bug.library, release) for bug in BUGS for release in (bug.faulty, bug.fixed) if release}
    assert set(releases) == used, "an environment that no bug needs"


def test_the_page_tells_hits_misses_and_corrections():
    page = build_page({bug.name: make_row(bug) for bug in BUGS})
    hits = [bug for bug in BUGS if not bug.miss]
    assert f"**{len(hits)} of {len(BUGS)}** bugs" in page
    for bug in BUGS:
        assert bug.what in page
        assert (f"\n## {bug.name}\n" in page) is not bool(bug.miss)
        for text in (bug.miss, bug.correction, bug.other):
            assert text in page
    assert "3 of 40" in page
    assert "\n...\n" in page  # long cases are cut
    assert "withdrawn" in page


def test_the_page_of_the_documentation_is_about_the_list():
    """`make gallery` writes it; a change of the list without a new run is noticed here."""
    hits = [bug for bug in BUGS if not bug.miss]
    assert f"**{len(hits)} of {len(BUGS)}** bugs" in PAGE
    assert len(hits) >= 0.8 * len(BUGS)
    for bug in BUGS:
        assert bug.issue in PAGE, bug.name
        for text in (bug.miss, bug.correction, bug.other):
            assert text in PAGE, bug.name


def test_relations_that_both_releases_violate_tell_nothing():
    first, second = (gallery.ViolatedRelation(name=name) for name in ("answers", "weights"))
    faulty = gallery.Verdict(release="1", headline="", relations=(first, second))
    row = gallery.BugVerdicts(faulty=faulty, fixed=gallery.Verdict(release="2", headline="", relations=(first,)))
    assert [relation.name for relation in row.telling_relations] == ["weights"]
    assert gallery.BugVerdicts(faulty=faulty).telling_relations == [first, second]


def test_verdicts_are_kept_from_run_to_run(tmp_path, monkeypatch):
    monkeypatch.setattr(gallery, "VERDICTS", tmp_path / "verdicts.json")
    assert gallery.read_verdicts() == {}
    rows = {bug.name: make_row(bug) for bug in BUGS[:3]}
    for bug in BUGS[:3]:
        gallery.save_verdicts(bug, rows[bug.name])
    assert gallery.read_verdicts() == rows


def test_a_missing_python_is_named():
    assert find_python(f"{sys.version_info[0]}.{sys.version_info[1]}") == sys.executable
    with pytest.raises(MissingPython, match=r"Python 2\.1 is not installed"):
        find_python("2.1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "bug", [bug for bug in BUGS if bug.name in ("trees with gaps 1.4", "binom 1.6")], ids=lambda b: b.name
)
def test_a_bug_is_found_in_the_faulty_release_only(bug):
    folders = [FOLDER / f"{bug.library}-{release}" / "complete" for release in (bug.faulty, bug.fixed)]
    if not all(folder.exists() for folder in folders):
        pytest.skip("the releases are not installed; `make gallery` does that")
    faulty, fixed = (gallery.check_release(bug, release, shrink=False) for release in (bug.faulty, bug.fixed))
    assert faulty.relations
    assert not fixed.relations
