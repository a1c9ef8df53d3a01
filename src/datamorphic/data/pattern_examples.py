"""Small systems that are not classifiers, each with faults that can be switched on by name.

A product search, a translator, a route finder, a temperature converter and five numeric programs. The patterns, the guide, the
documentation and the tests use them: a relation that holds on the correct system, and is broken by one of its faults.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from .._lazy import pd
from .._registry import CaseInsensitiveMapping
from .._tables import read_document
from .._text import suggest_name
from .._validation import check_types
from ..errors import ArgumentError
from ..systems.base import Executor, Function
from .programs.registry import programs

Faults = frozenset[str]


@check_types
@dataclass(frozen=True, kw_only=True)
class ExampleSystem:
    """A system to try relations on, with faults that can be switched on.

    Pass it to any function that takes a model; `cases` are inputs to start from.

    Examples
    --------
    >>> import datamorphic as dm
    >>> search = dm.data.example_systems["product search"]
    >>> case = search.cases.iloc[0].to_dict()
    >>> case["query"], search(**case)[:2]
    ('shoes for men', ['Acme red shoe 15', 'Acme black shoe 36'])
    >>> search.with_fault("filters lose items")
    ExampleSystem('product search', fault: filters lose items)
    """

    name: str
    domain: str  # the kind of system, as relations name it
    summary: str
    make: Callable[[Faults], Callable[..., Any]] = field(repr=False)  # the function with some faults
    make_cases: Callable[[], pd.DataFrame] = field(repr=False)
    faults: Mapping[str, str]  # what each fault does
    active: Faults = frozenset()  # the faults that are switched on
    batched: bool = False  # whether the function takes whole frames instead of single cases

    @property
    def cases(self) -> pd.DataFrame:
        """Inputs to start from, one per row."""
        return self.make_cases()

    @property
    def sut(self) -> Executor:
        """The system as functions such as ``dm.check`` query it."""
        return Function(self.make(self.active), scalar=not self.batched, name=self.name)

    def with_fault(self, *names: str) -> ExampleSystem:
        """Return the system with one or more faults switched on."""
        for name in names:
            if name not in self.faults:
                raise ArgumentError(f"The {self.name} has no fault {name!r}. {suggest_name(name, self.faults)}")
        return replace(self, active=self.active | frozenset(names))

    def __call__(self, **case: Any) -> Any:
        """Return the answer to one case."""
        if self.batched:
            return np.asarray(self.make(self.active)(pd.DataFrame([case])))[0].item()
        return self.make(self.active)(**case)

    def __repr__(self) -> str:
        fault = f", fault: {', '.join(sorted(self.active))}" if self.active else ""
        return f"ExampleSystem({self.name!r}{fault})"


# -- a product search --------------------------------------------------------------------------------------------------


class Product(NamedTuple):
    """An article in the catalogue of the product search."""

    brand: str
    colour: str
    noun: str
    price: int
    department: str

    @property
    def title(self) -> str:
        """What the search answers."""
        return f"{self.brand} {self.colour} {self.noun} {self.price}"

    @property
    def words(self) -> set[str]:
        """The words that a query may use for it."""
        return {self.brand.lower(), self.colour, self.noun, self.department}


BRANDS, COLOURS, NOUNS, DEPARTMENTS = (
    ("Acme", "Bolt", "Crest"),
    ("red", "blue", "black", "white"),
    ("shoe", "hat", "sweater"),
    ("men", "women"),
)
PRODUCTS = tuple(
    Product(BRANDS[i // 3 % 3], COLOURS[i * 5 // 2 % 4], NOUNS[i % 3], 15 + 7 * (i * 11 % 24), DEPARTMENTS[i // 2 % 2])
    for i in range(24)
)


@dataclass(frozen=True)
class ProductSearch:
    """A search over 24 products that understands plurals, possessives, alternatives and filters."""

    faults: Faults = frozenset()

    def __call__(
        self,
        query: str,
        brand: str = "any",
        department: str = "any",
        colours: str = "any",
        max_price: str = "any",
        sort: str = "price up",
        device: str = "computer",
    ) -> list[str]:
        """Return the titles that match, sorted."""
        alternatives = [self._read_words(text) for text in query.split(" OR ")]
        combine = all if "or means and" in self.faults else any
        limit = self._read_price(max_price)
        colour_names = colours.split(",")
        if "last colour only" in self.faults:
            colour_names = colour_names[-1:]
        hits = []
        for product in PRODUCTS:
            matches = (
                combine(self._matches(words, product) for words in alternatives) or "ignores the query" in self.faults
            )
            if "filters ignore the query" in self.faults and (brand, department) != ("any", "any"):
                matches = True
            if brand not in ("any", product.brand):
                matches = False
            if department not in ("any", product.department) and "shows all departments" not in self.faults:
                matches = False
            if "any" not in colour_names and product.colour not in colour_names:
                matches = False
            if matches and product.price <= limit:
                hits.append(product)
        if "filters lose items" in self.faults and (brand, department) != ("any", "any"):
            hits = hits[1:]
        if "advertises" in self.faults and brand != "any" and PRODUCTS[0] not in hits:
            hits.append(PRODUCTS[0])
        return [product.title for product in self._arrange(hits, sort, device)]

    def _arrange(self, hits: list[Product], sort: str, device: str) -> list[Product]:
        falling = sort == "price down" and "sorts upwards only" not in self.faults
        if sort == "name":
            hits = sorted(hits, key=lambda product: product.title)
        else:
            hits = sorted(hits, key=lambda product: product.price, reverse=falling)
        if "long lists are cut" in self.faults and sort == "price down":
            hits = hits[:3]
        return hits[:-1] if "phones see less" in self.faults and device == "phone" else hits

    def _read_words(self, text: str) -> list[str]:
        words = text.split() if "letter case matters" in self.faults else text.lower().split()
        meanings = [self._understand(word) for word in words if self._counts(word)]
        return meanings[:1] if "first word decides" in self.faults else meanings

    def _matches(self, words: list[str], product: Product) -> bool:
        product_words = product.words
        if "departments are no words" in self.faults:
            product_words.discard(product.department)
        return product_words.issuperset(words)

    def _counts(self, word: str) -> bool:
        return "linking words count" in self.faults or word not in ("for", "with", "and", "of", "the", "a", "an", "in")

    def _understand(self, word: str) -> str:
        if word.endswith("'s"):
            return word if "word order matters" in self.faults else word.removesuffix("'s")
        if word in BRANDS or word in DEPARTMENTS or "knows no plurals" in self.faults:
            return word
        return word.removesuffix("s")

    def _read_price(self, text: str) -> float:
        if text == "any":
            return float("inf")
        number, unit = text.split()
        return float(number) / (100 if unit == "cent" and "cents are euros" not in self.faults else 1)


def make_searches() -> pd.DataFrame:
    """Return queries of several forms with and without filters."""
    queries = (
        "shoes for men",
        "men's hats",
        "red sweaters",
        "shoe",
        "sweaters for women",
        "women's shoes",
        "blue hats",
    )
    filters = (
        ("any", "any", "any", "any"),
        ("any", "any", "red", "60 EUR"),
        ("Acme", "any", "any", "any"),
        ("any", "any", "red,blue", "any"),
    )
    pairs = itertools.product(queries, filters)
    orders = itertools.cycle(("price up", "price down", "price up"))
    rows = [(query, *choice, order, "computer") for (query, choice), order in zip(pairs, orders, strict=False)]
    return pd.DataFrame(rows, columns=["query", "brand", "department", "colours", "max_price", "sort", "device"])


# -- a translator ------------------------------------------------------------------------------------------------------

WORDS = {
    **{"cat": "gato", "dog": "perro", "milk": "leche", "water": "agua", "bread": "pan", "house": "casa"},
    **{"drinks": "bebe", "likes": "quiere", "eats": "come", "sees": "ve", "helps": "ayuda"},
    **{"the": "el", "a": "un", "big": "grande", "mary": "maría", "john": "juan", "and": "y"},
}
PHRASES = {"united nations": "naciones unidas", "un": "naciones unidas"}
VERBS = ("drinks", "likes", "eats", "sees", "helps")
_answers_of_unstable_translator = itertools.count()


@dataclass(frozen=True)
class WordTranslator:
    """A translator between English and Spanish, word by word."""

    faults: Faults = frozenset()

    def __call__(self, text: str, languages: str = "en-es") -> str:
        """Return the translation."""
        spanish = languages == "en-es"
        sentences = [sentence for sentence in re.findall(r"[^.!?,]*[.!?,]*", text) if sentence.strip()]
        if "double marks confuse it" in self.faults:
            doubles = [place for place, sentence in enumerate(sentences) if re.search(r"[.!?,]{2}", sentence)]
            sentences = sentences[: doubles[0] + 1] if doubles else sentences
        if "forgets sentences" in self.faults:
            sentences = sentences[:1]
        glued = [
            place > 0 and "needs spaces" in self.faults and text[:1] != " " for place, text in enumerate(sentences)
        ]
        parts = zip(sentences, glued, strict=True)
        answer = " ".join(sentence if whole else self._translate(sentence, spanish) for sentence, whole in parts)
        if "unstable" in self.faults and next(_answers_of_unstable_translator) % 5 == 0:
            answer = answer[:-1]
        return answer

    def _translate(self, sentence: str, spanish: bool) -> str:
        mark = re.search(r"\s*([.!?,]*)\s*$", sentence)
        marks = mark[1][:1] if mark else ""
        body = sentence[: mark.start()] if mark else sentence
        if "small letters confuse it" in self.faults and body.strip()[:1].islower():
            return body.strip() + marks
        words = body.lower().split()
        lonely = mark is not None and mark[0].startswith(" ") and "a space confuses it" in self.faults
        last_word = words.pop() if lonely and words else ""
        text = " ".join(words)
        for english, other in PHRASES.items():
            if english != "un" or "knows no abbreviations" not in self.faults:
                phrase, replacement = (english, other) if spanish else (other, english)
                if spanish or english != "un":
                    text = re.sub(rf"\b{phrase}\b", replacement.title().replace(" ", "_"), text)
        dictionary = WORDS if spanish else _reverse_words("no way back" in self.faults)
        skipped = VERBS if spanish and "skips verbs" in self.faults else ()
        translated = [dictionary.get(word, word.replace("_", " ")) for word in text.split() if word not in skipped]
        joined = " ".join([*translated, last_word] if last_word else translated)
        return joined[:1].upper() + joined[1:] + marks


@cache
def _reverse_words(incomplete: bool) -> dict[str, str]:
    reverse = {spanish: english for english, spanish in WORDS.items()}
    return {word: english for word, english in reverse.items() if not (incomplete and word in ("leche", "agua", "ve"))}


def make_sentences() -> pd.DataFrame:
    """Return English texts of one or two sentences."""
    texts = (
        "The cat drinks milk.",
        "Mary likes water. John eats bread.",
        "The dog sees the cat. The cat sees the dog.",
        "The United Nations helps. Mary sees a house.",
        "John drinks water!",
        "A big dog eats bread.",
    )
    return pd.DataFrame({"text": texts, "languages": "en-es"})


# -- routes ------------------------------------------------------------------------------------------------------------

PLACES = {"Aldby": (0, 0), "Brook": (4, 1), "Caster": (7, 5), "Dunham": (2, 6), "Ely": (9, 1), "Ford": (5, 8)}
ROADS = {
    ("Aldby", "Brook"): 4.2,
    ("Brook", "Caster"): 5.1,
    ("Aldby", "Dunham"): 6.4,
    ("Dunham", "Caster"): 5.3,
    ("Brook", "Ely"): 5.2,
    ("Caster", "Ely"): 4.6,
    ("Dunham", "Ford"): 3.7,
    ("Caster", "Ford"): 3.9,
}


@dataclass(frozen=True)
class RouteFinder:
    """The shortest way between two places, which are named or given as "x;y"."""

    faults: Faults = frozenset()

    def __call__(self, start: str, goal: str, time: str = "noon", client: str = "web") -> dict[str, Any]:
        """Return the length in kilometres and the places on the way."""
        first, last = self._find_place(start), self._find_place(goal)
        heap, lengths = [(0.0, [first])], dict[str, float]()
        while heap:
            length, path = heapq.heappop(heap)
            place = path[-1]
            if place == last:
                return {"km": self._show(length, client), "path": path}
            if lengths.get(place, np.inf) <= length:
                continue
            lengths[place] = length
            for neighbour, road in self._list_roads(place, time):
                heapq.heappush(heap, (length + road, [*path, neighbour]))
        raise ValueError(f"no way from {start} to {goal}")

    def _list_roads(self, place: str, time: str) -> Iterator[tuple[str, float]]:
        night = 1.5 if "closes at night" in self.faults and time == "night" else 1.0
        for (a, b), length in ROADS.items():
            if place == a:
                yield b, length * night
            elif place == b:
                yield a, length * night * (1.3 if "one-way roads" in self.faults else 1.0)

    def _find_place(self, text: str) -> str:
        if ";" not in text:
            return text
        x, y = map(float, text.split(";"))
        if "swaps coordinates" in self.faults:
            x, y = y, x
        return min(PLACES, key=lambda name: (PLACES[name][0] - x) ** 2 + (PLACES[name][1] - y) ** 2)

    def _show(self, length: float, client: str) -> float:
        return float(round(length, 0 if client == "app" and "the app rounds" in self.faults else 1))


def make_journeys() -> pd.DataFrame:
    """Return all pairs of different places."""
    return pd.DataFrame([(*pair, "noon", "web") for pair in itertools.permutations(PLACES, 2)], columns=_ROUTE_COLUMNS)


_ROUTE_COLUMNS = ["start", "goal", "time", "client"]

# -- temperatures ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TemperatureConverter:
    """Celsius to Fahrenheit and back."""

    faults: Faults = frozenset()

    def __call__(self, degrees: float, way: str = "C to F") -> float:
        """Return the temperature in the other unit."""
        if way == "F to C":
            return (degrees - (30 if "wrong way back" in self.faults else 32)) / 1.8
        if "freezes" in self.faults:
            degrees = max(degrees, 0.0)
        answer = degrees * (2 if "wrong factor" in self.faults else 1.8) + 32
        return round(answer / 100) * 100.0 if "jumps" in self.faults and answer > 100 else answer


def make_temperatures() -> pd.DataFrame:
    """Return temperatures in both units."""
    degrees = np.linspace(-30.5, 60.2, 16)
    return pd.DataFrame({"degrees": np.tile(degrees, 2), "way": np.repeat(["C to F", "F to C"], 16)})


# -- numeric programs --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProgramFunction:
    """A program of Ying (2024), or one of its mutants, as a function of a frame."""

    program: str
    faults: Faults = frozenset()

    def __call__(self, frame: pd.DataFrame) -> Any:
        """Return the answers to all rows."""
        program = programs[self.program]
        function: Callable[..., Any] = program
        for mutant in self.faults:
            function = program.mutants[mutant].function
        with np.errstate(all="ignore"):
            return function(*(frame[name].to_numpy(float) for name in _read_facts()[self.program].columns))


def make_inputs(program: str) -> pd.DataFrame:
    """Return 40 inputs of a program: small numbers, where the programs have their branches, and large ones."""
    columns = list(_read_facts()[program].columns)
    rng = np.random.default_rng(0)
    high = np.where(np.arange(40) < 20, 4.0, 60.0)[:, None]
    return pd.DataFrame(rng.uniform(0.05, high, size=(40, len(columns))), columns=columns)


class _ProgramFaults(Mapping[str, str]):
    """The mutants of a program by id, read when first needed."""

    def __init__(self, program: str) -> None:
        self.program = program

    def __getitem__(self, name: str) -> str:
        if name not in programs[self.program].mutants:
            raise KeyError(name)
        mutant = programs[self.program].mutants[name]
        return f"{mutant.operator}, line {mutant.line}: {mutant.before.strip()} -> {mutant.after.strip()}"

    def __iter__(self) -> Iterator[str]:
        return iter(programs[self.program].mutants)

    def __len__(self) -> int:
        return len(programs[self.program].mutants)

    def __repr__(self) -> str:
        return f"the mutants of {self.program}"


# -- the systems ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _SystemFacts:
    """What example_systems.toml says about a system."""

    domain: str
    summary: str
    faults: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class _SystemFile:
    systems: Mapping[str, _SystemFacts]


@cache
def _read_facts() -> Mapping[str, _SystemFacts]:
    return read_document(__package__, "example_systems.toml", _SystemFile).systems


#: the function and the cases of each system that is not a program
_MAKERS: dict[str, tuple[Callable[[Faults], Callable[..., Any]], Callable[[], pd.DataFrame]]] = {
    "product search": (ProductSearch, make_searches),
    "translator": (WordTranslator, make_sentences),
    "route finder": (RouteFinder, make_journeys),
    "temperature converter": (TemperatureConverter, make_temperatures),
}


def _build_system(name: str, facts: _SystemFacts) -> ExampleSystem:
    is_program = name not in _MAKERS
    make, make_cases = _MAKERS.get(name, (partial(ProgramFunction, name), partial(make_inputs, name)))
    return ExampleSystem(
        name=name,
        domain=facts.domain,
        summary=facts.summary,
        make=make,
        make_cases=make_cases,
        faults=_ProgramFaults(name) if is_program else facts.faults,
        batched=is_program,
    )


#: the example systems by name
example_systems: Mapping[str, ExampleSystem] = CaseInsensitiveMapping(
    "example system", {name: _build_system(name, facts) for name, facts in _read_facts().items()}
)
