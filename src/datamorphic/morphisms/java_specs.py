"""Java test specifications of Morphy, drafted again as test systems in Python.

A specification is a Java class whose annotated methods are test morphisms. Its source is read as text and never compiled
or run. The draft has the same morphisms with the same names and arities; their Java code stays beside them as comments,
for a person to translate. No text of the Java file can become code: names are turned into Python names, texts into
literals, and everything else into comments.
"""

from __future__ import annotations

import keyword
import re
import textwrap
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

from .._files import to_local_path
from .._typing import FilePath
from ..errors import UsageError
from ..reporting.python_code import format_comment, format_literal, render_module
from .morphism import ARGUMENT_LIMITS, INJECTED_PARAMETERS, normalise_name

MAX_SPEC_CHARACTERS = 500_000
MAX_CLASSES = 20  # of a chain of superclasses
JAVA_SUFFIX = ".java"

#: Morphy's annotations, the marks of the same kind, and the parameters of those that take what Java reads from the class
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "MakeSeed": ("seed_maker", ()),
    "Datamorphism": ("datamorphism", ()),
    "Metamorphism": ("metamorphism", ()),
    "TestCaseMetric": ("case_metric", ()),
    "TestCaseFilter": ("case_filter", ()),
    "TestSetMetric": ("set_metric", ("tests",)),
    "TestSetFilter": ("set_filter", ("tests",)),
    "TestExecuter": ("executor", ()),
    "TestExecutor": ("executor", ()),
    "Analyser": ("analyser", ("tests",)),
}
SCALAR_KINDS = ("datamorphism", "metamorphism", "case_metric", "case_filter", "executor")
#: kinds of cases in `applicableTestCase`; others, such as all, restrict nothing
APPLICABLE_CASES = {"mutant": "mutant", "seed": "original", "original": "original"}
#: what `TestSystem.collect` reads from a class besides its morphisms, and names that the draft itself uses
RESERVED_NAMES = (
    "name",
    "space",
    "models",
    "self",
    "dm",
    "NotImplementedError",
    *{n for names in INJECTED_PARAMETERS.values() for n in names},
)

_TOKEN = re.compile(
    r'''(?P<skipped>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<literal>"""(?:\\.|[^\\])*?""")
    |(?P<open>"""|/\*)
    |(?P<text>"(?:\\.|[^"\\\n])*+"|'(?:\\.|[^'\\\n])*+')
    |(?P<unended>["'])
    |(?P<word>[\w$]+)
    |(?P<sign>.)''',
    re.DOTALL | re.VERBOSE,
)
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


@dataclass(frozen=True, kw_only=True)
class JavaMethod:
    """A method of a Java class: its names, its annotations and its code, as text."""

    name: str
    parameters: tuple[str, ...]
    annotations: Mapping[str, Mapping[str, str]]
    source: str = field(repr=False)  # of the whole method
    body: str = field(repr=False)
    line: int

    @property
    def kind(self) -> str | None:
        """The kind of test morphism, if it is one."""
        return next((KINDS[name][0] for name in self.annotations if name in KINDS), None)


@dataclass(frozen=True, kw_only=True)
class JavaClass:
    """A class of a Java file."""

    name: str
    base: str | None
    methods: tuple[JavaMethod, ...]
    fields: tuple[str, ...]  # of the inputs, as far as the code reads them


@dataclass(frozen=True, kw_only=True)
class SpecDraft:
    """A test system in Python, drafted from a Java test specification."""

    text: str = field(repr=False)  # of the file
    name: str  # of the class
    morphisms: Mapping[str, tuple[str, ...]]  # their names in Python, by kind


def draft_java_spec(path: FilePath) -> SpecDraft:
    """Return a Python draft of a Java test specification, and of its superclasses in the same folder."""
    file = to_local_path(path, "test specification")
    classes = [read_java_class(file)]
    while (base := classes[-1].base) is not None and len(classes) < MAX_CLASSES:
        source = file.parent / f"{base}{JAVA_SUFFIX}"
        if not source.is_file() or base in [java_class.name for java_class in classes]:
            break
        classes.append(read_java_class(source))
    if not any(method.kind for java_class in classes for method in java_class.methods):
        raise UsageError(
            f"The class {classes[0].name} of {file.name} has no test morphisms. A test specification has methods with "
            "annotations of Morphy, such as @Datamorphism. Give such a file, with those of its superclasses in the same folder."
        )
    return _SpecWriter(classes[::-1]).build()


# -- reading Java --------------------------------------------------------------------------------------------------------


def read_java_class(file: Path) -> JavaClass:
    """Return the class of a Java file: that of the name of the file, or the first."""
    try:
        with file.open("rb") as stream:
            content = stream.read(4 * MAX_SPEC_CHARACTERS + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"The test specification {file} cannot be read: {reason}. Name a Java file.") from None
    source = content.decode("utf-8-sig", errors="replace")
    if "\0" in source:
        raise UsageError(f"{file.name} is not Java source. Give the {JAVA_SUFFIX} file, not the compiled class.")
    if len(source) > MAX_SPEC_CHARACTERS:
        raise UsageError(
            f"{file.name} has more than {MAX_SPEC_CHARACTERS:,} characters, which no test specification needs. Give the file "
            "of one class."
        )
    classes = _JavaReader(source.replace("\r\n", "\n"), file.name).read()
    return next((java_class for java_class in classes if java_class.name == file.stem), classes[0])


class _JavaReader:
    """Reads the classes of a Java source: their methods and annotations, and nothing inside of methods."""

    def __init__(self, source: str, file: str) -> None:
        self.source, self.file = source, file
        self.line_ends = [match.start() for match in re.finditer("\n", source)]
        self.tokens: list[_Token] = []
        for match in _TOKEN.finditer(source):
            if match.lastgroup in ("open", "unended"):
                self.fail("has an unterminated string or comment", match.start())
            if match.lastgroup != "skipped":
                self.tokens.append(_Token(match.lastgroup or "", match.group(), match.start()))
        self.place = 0

    def fail(self, problem: str, start: int) -> NoReturn:
        line = self.find_line(start)
        raise UsageError(f"{self.file}, line {line}, {problem}. Give a complete Java file that a compiler accepts.")

    def find_line(self, start: int) -> int:
        return bisect_left(self.line_ends, start) + 1

    def peek(self, ahead: int = 0) -> str:
        place = self.place + ahead
        return self.tokens[place].text if place < len(self.tokens) else ""

    def skip_block(self) -> list[_Token]:
        """Skip a bracket and what is in it, and return what is in it."""
        start, opening = self.place, self.peek()
        closing, depth = _CLOSING[opening], 0
        for place in range(start, len(self.tokens)):
            depth += {opening: 1, closing: -1}.get(self.tokens[place].text, 0)
            if depth == 0:
                self.place = place + 1
                return self.tokens[start + 1 : place]
        self.fail(
            f"has a {opening!r} that is never closed: the file is not Java, or was cut off", self.tokens[start].start
        )

    def read(self) -> list[JavaClass]:
        """Return the classes that are not inside of others."""
        classes = []
        while self.place < len(self.tokens):
            if self.peek() == "class" and _is_word(self.peek(1)):
                classes.append(self.read_class())
            elif self.peek() in _CLOSING:
                self.skip_block()
            else:
                self.place += 1
        if not classes:
            raise UsageError(f"{self.file} has no Java class. Give the source of a test specification of Morphy.")
        return classes

    def read_class(self) -> JavaClass:
        name, base = self.peek(1), None
        start = self.place
        while self.place < len(self.tokens) and self.peek() != "{":
            if self.peek() == "extends" and self.tokens[self.place - 1].text not in ("<", ","):
                self.place += 1
                base = self.read_dotted_name()
            else:
                self.place += 1
        if self.place == len(self.tokens):
            self.fail(f"has the class {name} without a body", self.tokens[start].start)
        opening = self.place
        inner = self.skip_block()
        end, self.place = self.place, opening + 1
        methods = []
        while self.place < end - 1:
            method = self.read_member()
            if method is not None:
                methods.append(method)
        self.place = end
        executors = [method.parameters for method in methods if method.kind == "executor"]
        inputs = {"input", *(name for parameters in executors for name in parameters)}
        return JavaClass(name=name, base=base, methods=tuple(methods), fields=tuple(_find_fields(inner, inputs)))

    def read_member(self) -> JavaMethod | None:
        """Skip a member of a class, and return it if it is a method."""
        first = self.place
        annotations: dict[str, dict[str, str]] = {}
        while self.peek():
            text = self.peek()
            if text == "@" and self.peek(1) != "interface":
                self.place += 1
                name = self.read_dotted_name()
                annotations[name] = _read_texts(self.skip_block()) if self.peek() == "(" else {}
            elif text == "(":
                return self.read_method(first, annotations)
            elif text == "=":
                self.skip_to_semicolon()
                return None
            elif text == "{":
                self.skip_block()
                return None
            else:
                self.place += 1
                if text in (";", "}"):
                    return None
        return None

    def read_method(self, first: int, annotations: dict[str, dict[str, str]]) -> JavaMethod:
        name_token = self.tokens[self.place - 1]
        parameters = _read_parameters(self.skip_block())
        while self.peek() not in ("{", ";", "}", ""):
            self.place += 1
        body = ""
        if self.peek() == "{":
            opening = self.tokens[self.place].start
            self.skip_block()
            body = self.source[opening + 1 : self.tokens[self.place - 1].start]
        else:
            self.place += 1
        last = self.tokens[min(self.place, len(self.tokens)) - 1]
        return JavaMethod(
            name=name_token.text,
            parameters=parameters,
            annotations=annotations,
            source=self.source[self.tokens[first].start : last.start + len(last.text)],
            body=body,
            line=self.find_line(name_token.start),
        )

    def read_dotted_name(self) -> str:
        """Skip a name such as `morphy.annotations.MakeSeed`, and return its last part."""
        while self.peek(1) == ".":
            self.place += 2
        self.place += 1
        return self.tokens[min(self.place, len(self.tokens)) - 1].text

    def skip_to_semicolon(self) -> None:
        while self.peek() not in (";", "}", ""):
            if self.peek() in _CLOSING:
                self.skip_block()
            else:
                self.place += 1
        self.place += 1


def _is_word(text: str) -> bool:
    return re.fullmatch(r"[\w$]+", text) is not None


def _read_texts(tokens: list[_Token]) -> dict[str, str]:
    """Return the texts among the arguments of an annotation, by name."""
    texts: dict[str, str] = {}
    name = ""
    for place, token in enumerate(tokens):
        if token.kind == "word" and tokens[place + 1 : place + 2] and tokens[place + 1].text == "=":
            name = token.text
        elif token.kind == "text" and name:  # texts may be joined by +
            decoded = re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), token.text[1:-1])
            texts[name] = texts.get(name, "") + decoded
    return texts


def _read_parameters(tokens: list[_Token]) -> tuple[str, ...]:
    """Return the names of the parameters of a method: the last word of each."""
    names, last, depth = [], "", 0
    for token in tokens:
        depth += (token.text in "<([{") - (token.text in ">)]}")
        if token.text == "," and depth == 0:
            names.append(last)
        elif token.kind == "word" and depth == 0:
            last = token.text
    return (*names, last) if tokens else ()


def _find_fields(tokens: list[_Token], inputs: Iterable[str]) -> Iterator[str]:
    """Yield the names that follow an input and a dot, and are not called."""
    listed = set()
    for owner, dot, name, following in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
        is_field = owner.text in inputs and dot.text == "." and name.kind == "word" and following.text != "("
        if is_field and name.text not in listed:
            listed.add(name.text)
            yield name.text


# -- writing Python ------------------------------------------------------------------------------------------------------


class _SpecWriter:
    """Writes the draft of classes, superclasses first."""

    def __init__(self, classes: list[JavaClass]) -> None:
        self.classes = classes
        self.arities = {
            normalise_name(method.name): (to_python_name(method.name), len(method.parameters))
            for java_class in classes
            for method in java_class.methods
            if method.kind == "datamorphism"
        }
        all_methods = [method for java_class in classes for method in java_class.methods]
        self.filters = {normalise_name(method.name) for method in all_methods if method.kind == "case_filter"}
        self.executors = [method for method in all_methods if method.kind == "executor"]
        self.morphisms: dict[str, list[str]] = {}

    def build(self) -> SpecDraft:
        lines: list[str] = []
        base = ""
        for java_class in self.classes:
            lines += [*([] if not lines else ["", ""]), *self.write_class(java_class, base)]
            base = to_python_name(java_class.name)
        notes = [
            "The methods below have the names and arities of the Java methods. Translate the Java code",
            "in their comments, remove the lines that raise, and declare the space of the inputs. A case",
            "is a dict of its input, or has .input and .output where answers are judged. Parameters that",
            "datamorphic passes by name elsewhere end with an underscore here, such as seed_.",
        ]
        text = render_module(
            "java_spec", f"The test system {base}, drafted from a Java test specification.", notes, lines=lines
        )
        return SpecDraft(
            text=text, name=base, morphisms={kind: tuple(names) for kind, names in sorted(self.morphisms.items())}
        )

    def write_class(self, java_class: JavaClass, base: str) -> Iterator[str]:
        name = to_python_name(java_class.name)
        yield f"class {name}{f'({base})' if base else ''}:"
        yield f'    """The morphisms of the Java class {name}."""'
        if java_class.base is not None and not base:
            yield ""
            yield format_comment(f"The Java class extends {java_class.base}, whose source is not in its folder.")
        if java_class.fields:
            yield ""
            yield format_comment(
                f"Fields of an input in the Java code: {', '.join(java_class.fields)}. Declare them, with the true bounds and steps:"
            )
            yield f"    # space = dm.Space([dm.Continuous({format_literal(java_class.fields[0])}, 0, 1, step=0.1)])"
        methods = sorted(java_class.methods, key=lambda method: method.kind is None)
        taken: set[str] = set()
        for method in methods:
            if method.kind is not None:
                yield ""
                yield from self.write_morphism(method, name, _make_unique(to_python_name(method.name), taken))
        helpers = [method for method in methods if method.kind is None]
        if helpers:
            yield ""
            yield format_comment("Methods of the Java class that are not morphisms, which the morphisms may call:")
        for method in helpers:
            yield "    #"
            yield from _format_java(method.source, 4)

    def write_morphism(self, method: JavaMethod, owner: str, name: str) -> Iterator[str]:
        annotation = next(annotation for annotation in method.annotations if annotation in KINDS)
        kind, replaced_parameters = KINDS[annotation]
        taken = {"self"}
        parameters = list(replaced_parameters or (_make_unique(to_python_name(p), taken) for p in method.parameters))
        if kind == "seed_maker":
            parameters = ["rng"] if "random" in method.body.lower() else []
        options, remarks = self.choose_options(kind, method.annotations[annotation])
        if kind == "metamorphism" and "getOrigins" in method.body:
            _, count = self.arities.get(
                normalise_name(method.annotations[annotation].get("applicableDatamorphism", "")), ("", 1)
            )
            parameters += [_make_unique("origin", taken) for _ in range(count)]
        for remark in remarks:
            yield format_comment(remark)
        min_count, max_count, meaning = ARGUMENT_LIMITS[kind]
        if kind == "executor":
            max_count = None  # a function of one case may take its features one by one
        count = 0 if kind == "seed_maker" else len(parameters)
        if kind == "executor" and method is not self.executors[-1]:
            yield format_comment(
                "A test system has one executor. Mark this one instead of the other, or make two test systems."
            )
        elif count < min_count or (max_count is not None and count > max_count):
            yield format_comment(f"This is no {kind}, which takes {meaning}.")
        else:
            self.morphisms.setdefault(kind, []).append(name)
            arguments = ", ".join(f"{key}={format_literal(value)}" for key, value in options.items())
            yield f"    @dm.{kind}{f'({arguments})' if arguments else ''}"
        yield f"    def {name}({', '.join(['self', *parameters])}):"
        yield f'        """Translate the Java method of {owner}, line {method.line}."""'
        yield from _format_java(method.body, 8)
        yield f'        raise NotImplementedError("{name} is not translated from Java yet")'

    def choose_options(self, kind: str, texts: Mapping[str, str]) -> tuple[dict[str, object], list[str]]:
        """Return the options of a mark, and remarks about arguments that no morphism of the classes has."""
        options: dict[str, object] = {"scalar": True} if kind in SCALAR_KINDS else {}
        remarks = []
        if kind == "metamorphism":
            of, cases = texts.get("applicableDatamorphism", ""), texts.get("applicableTestCase", "").lower()
            if normalise_name(of) in self.arities:
                options["of"] = self.arities[normalise_name(of)][0]
            elif of:
                remarks.append(f"It applies to {of}, which is not a datamorphism of these classes.")
            if cases in APPLICABLE_CASES:
                options["applies_to"] = APPLICABLE_CASES[cases]
            if texts.get("message"):
                options["message"] = texts["message"]
        if kind == "datamorphism" and texts.get("filter"):
            if normalise_name(texts["filter"]) in self.filters:
                options["filter"] = to_python_name(texts["filter"])
            else:
                remarks.append(f"Its filter is {texts['filter']}, which is not a filter of these classes.")
        return options, remarks


def to_python_name(name: str) -> str:
    """Return a name of Java as one of Python that `TestSystem.collect` does not take for something else.

    Examples
    --------
    >>> to_python_name("upward"), to_python_name("in"), to_python_name("a$b"), to_python_name("__x"), to_python_name("seed")
    ('upward', 'in_', 'a_b', 'java__x', 'seed_')
    """
    python_name = unicodedata.normalize("NFKC", name)
    if not python_name.isidentifier():
        python_name = re.sub(r"[^A-Za-z0-9_]", "_", python_name)
    if python_name.startswith("__") or not python_name.isidentifier():
        python_name = f"java{python_name}"
    return f"{python_name}_" if keyword.iskeyword(python_name) or python_name in RESERVED_NAMES else python_name


def _make_unique(name: str, taken: set[str]) -> str:
    number, unique_name = 1, name
    while unique_name in taken:
        number += 1
        unique_name = f"{name}_{number}"
    taken.add(unique_name)
    return unique_name


def _format_java(code: str, indent: int) -> Iterator[str]:
    """Yield the lines of Java code as comments."""
    lines = textwrap.dedent(code.expandtabs(4).strip("\n")).rstrip().split("\n")
    for line in lines:
        printable = "".join(character if character.isprintable() else " " for character in line)
        yield f"{' ' * indent}# {printable}".rstrip()
