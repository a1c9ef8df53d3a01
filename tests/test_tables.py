"""The reader of data files, and every data file of the package."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

import datamorphic
from datamorphic._tables import parse_document, parse_rows
from datamorphic.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Moon:
    name: str
    radius: float = 1.0
    inner: bool = False
    orbit: int = 1
    kind: Literal["ice", "rock"] = "ice"
    names: tuple[str, ...] = ()
    note: str | None = None
    range: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class Planets:
    moons: tuple[Moon, ...]
    sizes: Mapping[str, float]
    other: Any = None


def test_cells_become_the_types_of_the_fields():
    text = 'name,radius,inner,orbit,kind,names,range,note\n"Io, first",2.5,yes,3,rock,Io; Jupiter I,1; 2.5,\nEuropa,,,,,,,x\n'
    first, second = parse_rows(text, "moons.csv", Moon)
    assert first == Moon(
        name="Io, first", radius=2.5, inner=True, orbit=3, kind="rock", names=("Io", "Jupiter I"), range=(1.0, 2.5)
    )
    assert second == Moon(name="Europa", note="x")


def test_a_document_becomes_a_record_with_tuples():
    text = 'other = [{a = [1, 2]}]\n[sizes]\nMars = 3\n[[moons]]\nname = "Io"\nnames = ["a"]\ninner = true\n'
    planets = parse_document(text, "planets.toml", Planets)
    assert planets.moons == (Moon(name="Io", names=("a",), inner=True),)
    assert planets.other == ({"a": (1, 2)},)
    assert type(planets.sizes["Mars"]) is float


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,radius\nIo\n", "moons.csv, row 1 has 1 cells. Expected 2: name, radius."),
        ("name,radius\nIo,1\nEuropa,big\n", "moons.csv, row 2, radius: 'big' is not a number."),
        ("name,orbit\nIo,1.5\n", "moons.csv, row 1, orbit: '1.5' is not a whole number."),
        ("name,inner\nIo,true\n", "moons.csv, row 1, inner: 'true' is not yes or no."),
        ("name,kind\nIo,gas\n", "moons.csv, row 1, kind: 'gas' is not one of 'ice', 'rock'."),
        ("name,range\nIo,1\n", "moons.csv, row 1, range has 1 items. Expected 2."),
        ("name,mass\nIo,1\n", "moons.csv, row 1: there is no key 'mass'. Expected name, "),
        ("radius\n1\n", "moons.csv, row 1: the key 'name' is missing."),
    ],
)
def test_a_wrong_row_is_named(text, message):
    with pytest.raises(DataError) as error:
        parse_rows(text, "moons.csv", Moon)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("moons = ", "planets.toml is not valid TOML: "),
        ("moons = 1\nsizes = {}", "planets.toml, moons: 1 is not a list."),
        ("moons = [1]\nsizes = {}", "planets.toml, moons, row 1: 1 is not a table."),
        ("moons = [{name = 1}]\nsizes = {}", "planets.toml, moons, row 1, name: 1 is not a text."),
        ("moons = []\nsizes = {Mars = true}", "planets.toml, sizes, Mars: True is not a number."),
        ("moons = []\nsizes = []", "planets.toml, sizes: [] is not a table."),
    ],
)
def test_a_wrong_document_is_named(text, message):
    with pytest.raises(DataError) as error:
        parse_document(text, "planets.toml", Planets)
    assert str(error.value).startswith(message)


def _read_all_tables() -> dict[str, Any]:
    """Return what each data file of the package is read as."""
    from datamorphic.audit import check, columns
    from datamorphic.audit.checks.repairs.changes import read_units
    from datamorphic.audit.checks.table.limits import read_limit_words
    from datamorphic.data import learners, pattern_examples, products, sentences
    from datamorphic.data.loans import attributes, freddie_mac, german_credit
    from datamorphic.relations.catalogue import distributions, functions
    from datamorphic.relations.catalogue.first_names import FIRST_NAMES
    from datamorphic.relations.check import causes
    from datamorphic.relations.guide import tables as guide
    from datamorphic.relations.learners import table
    from datamorphic.relations.patterns.published import published_relations
    from datamorphic.relations.patterns.tables import read_patterns
    from datamorphic.scripting.commands import COMMANDS
    from datamorphic.studies import catalogue, figures
    from datamorphic.systems import missing_packages, untrusted
    from datamorphic.web.studio import PAGES

    return {
        "audit/checks/checks.toml": check.read_facts().checks,
        "audit/checks/repairs/units.toml": read_units(),
        "audit/checks/table/words.toml": read_limit_words().age_words,
        "audit/columns.toml": columns.read_words().protected_words,
        "data/example_systems.toml": pattern_examples.example_systems,
        "data/loans/freddie_mac.csv": freddie_mac.list_origination_fields(),
        "data/loans/german_credit.csv": german_credit.read_expectations(),
        "data/loans/loan_book.toml": attributes.LOAN_BOOK_FACTS.state_shares,
        "data/products.csv": products.read_product_kinds(),
        "data/products.toml": products.read_words().modifiers,
        "data/reference_sets.toml": learners.WINE_STEPS,
        "data/sentences.toml": sentences.read_texts().pairs,
        "relations/catalogue/distributions.csv": distributions.read_distributions(),
        "relations/catalogue/distributions.toml": distributions.read_relation_rows(),
        "relations/catalogue/functions.csv": functions.read_functions(),
        "relations/catalogue/first_names.toml": FIRST_NAMES,
        "relations/check/causes.toml": causes.read_causes(),
        "relations/guide/guide.toml": guide.list_question_ids(),
        "relations/learners/learners.csv": table.read_learners(),
        "relations/learners/necessity.csv": table.read_sections(),
        "relations/learners/ties.csv": table.read_ties(),
        "relations/patterns/patterns.toml": read_patterns(),
        "relations/patterns/published.toml": published_relations,
        "scripting/commands.toml": COMMANDS,
        "studies/figures.toml": figures.read_figures(),
        "studies/studies.toml": catalogue.STUDIES,
        "studies/tables.csv": catalogue.TABLES,
        "studies/verdicts.csv": catalogue.read_verdicts(),
        "systems/packages.toml": missing_packages.read_known_packages().same_name,
        "systems/safe_types.toml": untrusted.read_safe_types().loaders,
        "web/pages/pages.toml": PAGES,
    }


def test_every_data_file_of_the_package_is_valid():
    root = Path(datamorphic.__file__).parent
    files = {path.relative_to(root).as_posix() for path in (*root.rglob("*.csv"), *root.rglob("*.toml"))}
    others = {name for name in files if name.startswith(("studies/published/", "data/programs/"))}  # read by pandas
    tables = _read_all_tables()
    assert set(tables) == files - others
    assert all(len(table) > 2 for table in tables.values())


def test_import_reads_no_table():
    code = "import sys, datamorphic; assert 'datamorphic._tables' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
