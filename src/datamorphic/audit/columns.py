"""What the columns of a data set seem to be: identifiers of rows, and attributes that laws or rules protect."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..space.blocks import BlockValue
from ..space.features import Categorical, Feature
from ..space.points import Points


def _split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MAX_GROUP_NAMES = 1_000  # a column of more categories does not name groups of people
MIN_ROWS_FOR_IDENTIFIER = 30  # values of fewer rows may all differ by chance
#: A column of whole numbers is unique by design if as many numbers, drawn at random between its bounds, would have this
#: many equal pairs: the chance that there is none is then e^-20.
MIN_EXPECTED_REPEATS = 20.0
MIN_UNIQUE_SHARE_OF_CODES = 0.5  # of the rows; a column named like an identifier may repeat, since customers come back
#: Last words of the names of identifiers. Such a column is one if its values are all different.
IDENTIFIER_WORDS = _split_words(
    "id ids identifier identification uuid guid pk key code no nr num number nummer numero numer index idx row rowid "
    "reference ref serial hash token kennung kennzeichen schluessel identifiant identificador identificativo "
    "matricule clientnum account iban ssn passport"
)
#: Words that name nothing but identifiers, so that some of the values may repeat.
STRICT_IDENTIFIER_WORDS = _split_words(
    "id identifier uuid guid rowid pk identifiant identificador identificativo ssn iban"
)

#: Words by attribute, in lower case without accents; English, German, French, Spanish, Italian, Portuguese, Dutch, Polish,
#: Swedish, Turkish, Russian, Chinese, Japanese.
PROTECTED_WORDS: dict[str, tuple[str, ...]] = {
    "sex or gender": (
        *("gender", "sex", "geschlecht", "sexe", "sexo", "genero", "sesso", "genere", "geslacht", "plec", "cinsiyet"),
        *("is male", "is female", "male", "female", "пол", "性别", "性別"),
    ),
    "age": (
        *("age", "alter", "lebensalter", "edad", "idade", "leeftijd", "wiek", "возраст", "年龄", "年齢"),
        *("birth", "birthday", "birthdate", "dob", "geburtsdatum", "geburtsjahr", "naissance", "nacimiento", "nascita"),
        *("nascimento", "geboortedatum", "born"),
    ),
    "nationality or origin": (
        *("nationality", "citizenship", "national origin", "country of birth", "birth country", "native country"),
        *(
            "immigrant",
            "migrant",
            "foreign worker",
            "foreigner",
            "nationalitaet",
            "nationalitat",
            "staatsangehorigkeit",
        ),
        *(
            "staatsburgerschaft",
            "herkunft",
            "herkunftsland",
            "nationalite",
            "citoyennete",
            "nacionalidad",
            "ciudadania",
        ),
        *("nazionalita", "cittadinanza", "nacionalidade", "nationaliteit", "narodowosc", "obywatelstwo", "uyruk"),
        *("национальность", "гражданство", "国籍", "native language", "mother tongue", "muttersprache"),
    ),
    "ethnicity": (
        *("ethnicity", "ethnic", "race", "racial", "skin color", "skin colour", "ethnie", "ethnizitat", "hautfarbe"),
        *("etnia", "raza", "razza", "raca", "etniciteit", "etnicidad", "etnicidade", "caste", "tribe", "民族", "раса"),
    ),
    "religion": (
        *(
            "religion",
            "religious",
            "faith",
            "konfession",
            "konfessionszugehorigkeit",
            "religione",
            "religiao",
            "geloof",
        ),
        *("religia", "kirchensteuer", "религия", "宗教"),
    ),
    "place of residence": (
        *("postcode", "post code", "postal code", "zip", "zip code", "plz", "postleitzahl", "code postal"),
        *("codigo postal", "cod postal", "cep", "kod pocztowy", "postnummer", "posta kodu", "neighborhood"),
        *("neighbourhood", "邮编", "郵便番号"),
    ),
    "marital status": (
        *("marital", "marital status", "married", "familienstand", "situation familiale", "etat civil", "estado civil"),
        *("stato civile", "burgerlijke staat", "stan cywilny", "civilstand", "medeni durum", "personal status"),
        *("семейное положение", "婚姻"),
    ),
    "disability or health": (
        *("disability", "disabled", "handicap", "handicapped", "behinderung", "schwerbehindert", "discapacidad"),
        *("disabilita", "deficiencia", "niepelnosprawnosc", "pregnant", "pregnancy", "schwanger", "enceinte"),
    ),
    "sexual orientation": ("sexual orientation", "sexuelle orientierung", "orientation sexuelle", "lgbt"),
    "political opinion or union": (
        *("political", "party membership", "partei", "trade union", "union member", "gewerkschaft", "syndicat"),
        *("sindicato", "sindacato", "veteran"),
    ),
}
#: Words beside "age" and "alter" in the names of columns about things rather than people.
AGES_OF_THINGS = _split_words(
    "account card car vehicle auto house home building property loan credit policy company business file device "
    "engine equipment machine roof tree contract listing site product history konto fahrzeug gebaude vertrag"
)
#: Words that only a column about men and women has as values.
MALE_VALUES = _split_words("male man mann mannlich maennlich homme masculin hombre masculino maschio uomo masculine")
FEMALE_VALUES = _split_words("female woman frau weiblich femme feminin mujer femenino feminino femmina donna feminine")


@dataclass(frozen=True, kw_only=True)
class ColumnRole:
    """What a column seems to be, and why."""

    name: str
    role: str  # such as "a running number" or "sex or gender"


def split_name(name: str) -> list[str]:
    """Return the words of a column name in lower case, without accents.

    Examples
    --------
    >>> split_name("Customer_Age"), split_name("dateOfBirth"), split_name("Âge2")
    (['customer', 'age'], ['date', 'of', 'birth'], ['age'])
    """
    spaced = re.sub(r"(?<=[a-zß-ÿ])(?=[A-Z])", " ", name)
    decomposed = unicodedata.normalize("NFKD", spaced)
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter)).lower()
    return re.findall(r"[^\W\d_]+", plain)


def find_identifiers(points: Points) -> dict[str, ColumnRole]:
    """Return the columns that seem to identify rows.

    A column of numbers or text does if its values are all different, and either its name says so or chance would not
    have made them different.
    """
    if len(points) < MIN_ROWS_FOR_IDENTIFIER:
        return {}
    roles = {}
    for column, feature in enumerate(points.space.features):
        role = "" if isinstance(feature, BlockValue) else _find_identifier_role(feature, points.codes[:, column])
        if role:
            roles[feature.name] = ColumnRole(name=feature.name, role=role)
    return roles


def _find_identifier_role(feature: Feature, codes: npt.NDArray[np.float64]) -> str:
    """Return what kind of identifier a column is; empty if it is none."""
    known = codes[~np.isnan(codes)]
    if len(known) < MIN_ROWS_FOR_IDENTIFIER or feature.kind == "text":
        return ""
    is_text = isinstance(feature, Categorical)
    if not is_text and (known % 1 != 0).any():
        return ""  # a measurement
    distinct_count = len(np.unique(known))
    words = split_name(feature.name)
    last_word = words[-1] if words else ""
    if distinct_count < len(known):
        repeats_as_named = last_word in STRICT_IDENTIFIER_WORDS and distinct_count > MIN_UNIQUE_SHARE_OF_CODES * len(
            known
        )
        return "named like an identifier, with few repeated values" if repeats_as_named else ""
    if is_text:
        return "a text that is different in every row"
    width = float(known.max() - known.min()) + 1
    if len(known) * (len(known) - 1) / (2 * width) >= MIN_EXPECTED_REPEATS:
        return "a running number: whole, and different in every row"
    return "a number named like an identifier, different in every row" if last_word in IDENTIFIER_WORDS else ""


def find_protected_columns(points: Points) -> dict[str, ColumnRole]:
    """Return the columns whose names or values look like attributes of people that are often protected."""
    roles = {}
    for feature in points.space.features:
        attribute = find_protected_attribute(feature.name, _list_categories(feature))
        if attribute:
            roles[feature.name] = ColumnRole(name=feature.name, role=attribute)
    return roles


def _list_categories(feature: Feature) -> Sequence[Any]:
    return feature.values if isinstance(feature, Categorical) else ()


def find_protected_attribute(name: str, categories: Sequence[object] = ()) -> str:
    """Return the protected attribute that a column seems to hold; empty if none.

    Examples
    --------
    >>> find_protected_attribute("Customer_Age"), find_protected_attribute("Familienstand"), find_protected_attribute("X3")
    ('age', 'marital status', '')
    >>> find_protected_attribute("car_age"), find_protected_attribute("mileage")
    ('', '')
    >>> find_protected_attribute("X2", ["female", "male"])
    'sex or gender'
    """
    words = split_name(name)
    few_categories = categories if len(categories) <= MAX_GROUP_NAMES else ()
    values = {word for category in few_categories if isinstance(category, str) for word in split_name(category)}
    if values & MALE_VALUES and values & FEMALE_VALUES:
        return "sex or gender"
    padded, joined = f" {' '.join(words)} ", "".join(words)
    for attribute, names in PROTECTED_WORDS.items():
        if attribute == "age" and AGES_OF_THINGS & set(words):
            continue
        for text in names:
            normalized = " ".join(split_name(text))
            if f" {normalized} " in padded or normalized.replace(" ", "") == joined:
                return attribute
    return ""
