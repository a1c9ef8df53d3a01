"""`GuideSession`: the walk of Ying (2024, section 6.4) as a state machine that knows no terminal.

The walk is a generator that yields questions and gets the values of their answers. It is a pure function of the answers (and of
the system), so a session that was stopped continues from its answers, and going back is starting again with one answer fewer.
"""

from __future__ import annotations

import keyword
import os
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..._text import format_percent, format_short, pluralise
from ...errors import DatamorphicError, OutOfBudget, WrongAnswer
from ...reporting.python_code import to_slug
from ...reporting.text import to_one_line
from ...space.answers import is_collection
from ..algebra.base import HOLDS, INAPPLICABLE, VIOLATED, JudgedGroups
from ..patterns.catalogue import PatternCatalogue, patterns
from ..patterns.hierarchy import find_ancestors
from ..patterns.pattern import KINDS, ParentEdge, Pattern, PatternKind, Side
from ..patterns.published import published_relations
from ..patterns.relation import InputPattern, OutputPattern, PatternRelation, Promise
from .answers import Answer
from .code import CASES_NAME, DerivedPattern, format_pattern_module, format_relation_module, round_up, suggest_file
from .parameters import build_parameter_question, check_parameters, is_relevant, is_usable, list_asked_parameters
from .proposals import Proposal, count_effects, count_kept, format_count, propose_inputs, propose_outputs
from .steps import NONE, YES_NO, Choice, Question, pick_names, read_list, read_yes_no
from .systems import (
    TRIAL_CASES,
    GuidedSystem,
    TriedChange,
    describe_answers,
    describe_inputs,
    find_answer_kind,
    list_parameters,
    open_system,
    read_space,
    read_target,
    restrict_ranges,
    suggest_ranges,
)
from .tables import build_question

Walk = Generator[Question, Any, Any]
ModelLoader = Callable[[str], Any]
DataLoader = Callable[[str], Any]

TAKE, AGAIN, OWN = "take", "again", "own"
AS_THEY_ARE = "as they are"
MAX_NAME_CHARACTERS = 60
MAX_PUBLISHED_SHOWN = 3  # relations of a pattern
MAX_SENTENCE_CHARACTERS = 300
MAX_ANSWER_SHOWN = 120  # characters of an answer in an example


@dataclass(frozen=True, kw_only=True)
class GuideResult:
    """What a walk ends with: the relation, how it did, and the files to write."""

    system: GuidedSystem
    relation: PatternRelation
    groups: JudgedGroups
    tolerated: float
    files: tuple[tuple[Path, str], ...]
    derived: DerivedPattern | None = None

    @property
    def violated(self) -> int:
        """The number of cases that violate the relation."""
        return self.groups.count(VIOLATED)

    def document(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict."""
        return {
            "system": self.system.model_name,
            "data": self.system.data_name,
            "relation": self.relation.name,
            "promise": self.relation.promise,
            "domain": self.relation.domain,
            "input": {"pattern": self.relation.input.pattern, "says": self.relation.input.describe()},
            "output": {"pattern": self.relation.output.pattern, "says": self.relation.output.describe()},
            "text": str(self.relation),
            "cases": len(self.groups),
            "holds": self.groups.count(HOLDS),
            "violated": self.violated,
            "inapplicable": self.groups.count(INAPPLICABLE),
            "tolerated": self.tolerated,
            "files": [str(path) for path, _ in self.files],
            "derived": None if self.derived is None else self.derived.document(),
        }


class GuideSession:
    """A walk from a pattern to a saved relation, one question after the other.

    Parameters
    ----------
    load_model, load_data : callable
        Return the model and the data that a text names, or raise an error of this package.
    trust : bool
        Whether files of models may be loaded that run code.
    seed : int
        The seed of the cases that are tried.
    catalogue : PatternCatalogue
        The patterns to choose from.

    Examples
    --------
    >>> import datamorphic as dm
    >>> session = GuideSession(load_model=lambda name: abs, load_data=dm.data.load)
    >>> for text in ("abs", "none", "x = -10 to 10", "input", "Symmetric", "take", "own", "x"):
    ...     session.answer(text)
    >>> session.question.id, session.question.choices[0].value
    ('output.pattern', 'Symmetric')
    >>> session.back()
    >>> session.question.id
    'input.columns'
    """

    def __init__(
        self,
        *,
        load_model: ModelLoader,
        load_data: DataLoader,
        trust: bool = False,
        seed: int = 0,
        catalogue: PatternCatalogue = patterns,
    ) -> None:
        self.load_model, self.load_data, self.trust, self.seed = load_model, load_data, trust, seed
        self.catalogue = catalogue
        self._start()

    def _start(self) -> None:
        self.answers: list[Answer] = []
        self.messages: list[str] = []
        self.result: GuideResult | None = None
        self._walk = _GuideWalk(self).run()
        self.question: Question | None = next(self._walk)

    def answer(self, text: str) -> None:
        """Answer the question; `WrongAnswer` is raised, and the question stays open, if the answer is wrong."""
        if self.question is None:
            raise WrongAnswer("All questions are answered.")
        question = self.question
        answer_text = question.normalise(text)
        value = question.read_value(answer_text)
        self.answers.append(Answer(question.id, answer_text))
        try:
            self.question = self._walk.send(value)
        except StopIteration as end:
            self.question, self.result = None, end.value
        except OutOfBudget:  # the user stopped a trial
            self.back()
            raise
        except DatamorphicError as error:  # the answer is right by itself, but leads nowhere
            self.back()
            raise WrongAnswer(str(error)) from error

    def back(self) -> None:
        """Take the last answer back."""
        texts = [answer.text for answer in self.answers[:-1]]
        self._start()
        for text in texts:
            self.answer(text)

    def take_messages(self) -> list[str]:
        """Return what there is to say before the question, and forget it."""
        messages, self.messages = self.messages, []
        return messages


class _GuideWalk:
    """The questions in their order."""

    def __init__(self, session: GuideSession) -> None:
        self.session, self.catalogue = session, session.catalogue
        self.system: GuidedSystem

    def say(self, text: str) -> None:
        self.session.messages.append(text)

    def run(self) -> Generator[Question, Any, GuideResult]:
        self.system = yield from self._ask_system()
        self.say(f"The system has {pluralise(len(self.system.inputs), 'input')}:\n{describe_inputs(self.system)}")
        if self.system.data_name != NONE and any(item.is_number for item in self.system.inputs):
            self.system = yield from self._ask_ranges()
        self.system = yield from self._ask_outcome()
        self.say(describe_answers(self.system.answers))
        side: Side = yield build_question("side")
        change, expectation, pattern = yield from (
            self._walk_from_input() if side == "input" else self._walk_from_output()
        )
        relation = yield from self._ask_relation(change, expectation)
        groups = self.system.try_relation(relation)
        self.say(f"The relation:\n\n{relation}")
        self.say(describe_verdicts(groups))
        tolerated = yield from self._ask_tolerance(groups)
        file: Path = yield from self._ask_file("save", suggest_file(relation.name))
        files = [(file, format_relation_module(self.system, relation, file, tolerated))]
        derived = yield from self._ask_derivation(pattern, relation)
        if derived is not None:
            pattern_file: Path = yield from self._ask_file(
                "derive.file", suggest_file(derived.name, "_pattern"), taken=file
            )
            files.append((pattern_file, format_pattern_module(derived, pattern_file)))
        return GuideResult(
            system=self.system,
            relation=relation,
            groups=groups,
            tolerated=tolerated,
            files=tuple(files),
            derived=derived,
        )

    # -- the system (step 2) -------------------------------------------------------------------------------------------

    def _ask_system(self) -> Walk:
        session = self.session
        model_name, model = yield build_question(
            "system.model", read=lambda text: (text.strip(), session.load_model(text.strip()))
        )
        has_cases = hasattr(model, CASES_NAME)
        is_function = callable(model) and not hasattr(model, "predict") and not has_cases
        more = " 'none' to name the inputs of a function and their ranges instead." if is_function else ""
        more += " 'cases' for the inputs that come with it." if has_cases else ""
        data_name, data = yield build_question(
            "system.data",
            {"more": more},
            default=CASES_NAME if has_cases else NONE if is_function else None,
            read=lambda text: self._read_data(text.strip(), model, is_function),
        )

        def open_(data: Any, target: str | None) -> GuidedSystem:
            return open_system(
                model_name=model_name,
                model=model,
                data_name=data_name,
                data=data,
                target=target,
                trust=session.trust,
                seed=session.seed,
            )

        if data_name == NONE:
            names = list_parameters(model)
            return (
                yield build_question(
                    "inputs of a function",
                    default=suggest_ranges(names) or None,
                    read=lambda text: open_(read_space(text), None),
                )
            )
        if data_name == CASES_NAME:
            return open_(data, None)
        columns = [str(column) for column in data.columns]
        return (
            yield build_question(
                "system.target",
                choices=map(Choice, columns),
                default=_guess_target(model, columns),
                read=lambda text: open_(data, read_target(text, columns)),
            )
        )

    def _read_data(self, text: str, model: Any, is_function: bool) -> tuple[str, Any]:
        if text == NONE and is_function:
            return NONE, None
        if text == CASES_NAME and hasattr(model, CASES_NAME):
            return CASES_NAME, model.cases
        data = self.session.load_data(text)
        if not len(data):
            raise WrongAnswer(f"{format_short(text)} has no rows. Expected at least one.")
        return text, data

    def _ask_ranges(self) -> Walk:
        system = self.system
        return (
            yield build_question(
                "inputs.ranges", read=lambda text: system if text == AS_THEY_ARE else restrict_ranges(system, text)
            )
        )

    def _ask_outcome(self) -> Walk:
        outcomes = self.system.outcomes
        if not outcomes:
            return self.system
        names = [f"probability of {label}" for label in outcomes[:50]]
        choice = yield build_question("output.answer", choices=map(Choice, names))
        return self.system if choice == "label" else self.system.with_outcome(names.index(choice))

    # -- patterns (steps 1, 3 to 7) ------------------------------------------------------------------------------------

    def _walk_from_input(self) -> Walk:
        while True:
            pattern: Pattern = yield from self._choose_pattern("input")
            tried: TriedChange = yield from self._instantiate(pattern, "input", self._try_input)
            self._say_change(tried)
            proposals = propose_outputs(self.catalogue, tried)
            fitting = find_answer_kind(tried.before)
            chosen = yield self._build_output_question(proposals, tried)
            if chosen == AGAIN:
                continue
            if isinstance(chosen, Proposal):
                return tried.input, chosen.side, pattern
            if isinstance(chosen, OutputPattern):
                expectation = chosen
            else:
                expectation = yield from self._instantiate(
                    chosen, "output", partial(_check_output, tried=tried), fitting
                )
            self._say_expectation(expectation, tried)
            return tried.input, expectation, pattern

    def _walk_from_output(self) -> Walk:
        source = self.system.try_input(_repeat())
        while True:
            pattern: Pattern = yield from self._choose_pattern("output")
            if self._list_relevant(pattern, "output", {}):
                expectation = yield from self._instantiate(
                    pattern, "output", partial(_check_output, tried=source, on_itself=True)
                )
            else:
                expectation = pattern.output()
            proposals = propose_inputs(self.system, expectation)
            chosen = yield self._build_input_question(proposals, expectation)
            if chosen == AGAIN:
                continue
            if isinstance(chosen, Proposal):
                return chosen.side, expectation, pattern
            tried: TriedChange = yield from self._instantiate(
                chosen, "input", partial(self._try_input, expectation=expectation)
            )
            self._say_change(tried)
            self._say_expectation(expectation, tried)
            return tried.input, expectation, pattern

    def _say_expectation(self, expectation: OutputPattern, tried: TriedChange) -> None:
        met_count = count_kept(expectation, tried) or 0
        self.say(f"The expectation: {expectation.describe()}. It is met {format_count(met_count, len(tried.before))}.")

    def _choose_pattern(self, side: Side) -> Walk:
        choices = tuple(
            Choice(name, self.catalogue[name].definition, depth)
            for name, depth in list_tree(self.catalogue, side, self.system)
        )
        names = [choice.value for choice in choices]
        name = yield build_question("pattern", {"side": side}, choices)
        while True:
            pattern = self.catalogue[name]
            more_abstract = [parent for parent in pattern.parents if parent in names]
            more_specific = [child for child in self.catalogue.find_children(name) if child in names]
            self.say(self._describe_pattern(pattern))
            if not more_abstract and not more_specific:
                return pattern
            name = yield build_question(
                "pattern.take",
                {"pattern": pattern.name},
                [
                    Choice(other, f"more {direction}: {self.catalogue[other].definition}")
                    for direction, others in (("abstract", more_abstract), ("specific", more_specific))
                    for other in others
                ],
            )
            if name == TAKE:
                return pattern

    def _describe_pattern(self, pattern: Pattern) -> str:
        lines = [f"{pattern.name} ({KINDS[pattern.kind]}). {pattern.definition}"]
        if pattern.note:
            lines.append(f"  {pattern.note}")
        lines += [f"  Example: {example.relation.statement}" for example in pattern.examples[:2]]
        published = [item for item in published_relations.values() if pattern.name in item.patterns]
        lines += [
            f"  Published ({item.reference}, {item.domain}): {item.statement}"
            for item in published[:MAX_PUBLISHED_SHOWN]
        ]
        return "\n".join(lines)

    def _list_relevant(self, pattern: Pattern, side: Side, known: dict[str, Any], kind: str = "") -> list[Any]:
        answer_kind = kind or find_answer_kind(self.system.answers)
        return [item for item in list_asked_parameters(pattern, side) if is_relevant(item, known, answer_kind)]

    def _instantiate(self, pattern: Pattern, side: Side, check: Callable[[Any], Any], kind: str = "") -> Walk:
        """Ask for the parameters of a pattern, and return what `check` makes of the pattern with them."""
        maker = pattern.inputs if side == "input" else pattern.outputs
        relations = _list_known_relations(pattern)
        examples: list[Any] = [relation.input if side == "input" else relation.output for relation in relations]
        pairs = [pair for pair in zip(relations, examples, strict=True) if type(pair[1]) is maker]
        example = None
        if pairs and side == "input":
            number = yield build_question(
                "input.start", choices=[Choice(relation.name, relation.statement) for relation, _ in pairs]
            )
            example = next((instance for relation, instance in pairs if relation.name == number), None)
        known: dict[str, Any] = {}
        outcome = None
        parameters = list_asked_parameters(pattern, side)
        answer_kind = kind or find_answer_kind(self.system.answers)
        for place, parameter in enumerate(parameters):
            if not is_relevant(parameter, known, answer_kind):
                continue
            complete = not any(is_relevant(item, known, answer_kind) for item in parameters[place + 1 :])
            question = build_parameter_question(pattern, parameter, side, self.system, known, example)
            read = _read_checked(question, pattern, side, dict(known), parameter.name, complete, check)
            known[parameter.name], outcome = yield replace(question, read=read)
        return outcome

    def _try_input(self, change: InputPattern, expectation: OutputPattern | None = None) -> TriedChange:
        tried = self.system.try_input(change, TRIAL_CASES)
        if expectation is not None:
            _check_output(expectation, tried)
        return tried

    def _say_change(self, tried: TriedChange) -> None:
        judged, total = len(tried.before), len(tried.groups)
        effects = count_effects(tried)
        several = len(tried.afters) > 1
        lines = [
            f"The change: {tried.input.describe()}. It was tried on {pluralise(judged, 'case')}"
            + (f" and does not apply to {pluralise(total - judged, 'other')}" if total > judged else "")
            + ". This is what the answers did"
            + (", to the first follow-up of each:" if several else ":")
        ]
        lines += [f"  {count:>6,}  {effect}" for effect, count in effects.items()]
        lines.append(_describe_group(tried.groups, int(tried.judged.argmax()), "One of the cases"))
        self.say("\n".join(lines))

    def _build_output_question(self, proposals: list[Proposal], tried: TriedChange) -> Question:
        def check(pattern: Pattern) -> Any:
            if not self._list_relevant(pattern, "output", {}, find_answer_kind(tried.before)):
                return _check_output(pattern.output(), tried)
            return pattern

        lead_in = "These patterns fit what was seen:" if proposals else ""
        if proposals and proposals[0].pattern == tried.input.pattern:
            lead_in = f"The first is what {tried.input.pattern} expects, the others fit what was seen:"
        names = [name for name, _ in list_tree(self.catalogue, "output")]
        back = "none of them: go back to the change of the inputs"
        return self._build_proposal_question("output", {"lead_in": lead_in}, proposals, names, back, check)

    def _build_input_question(self, proposals: list[Proposal], expectation: OutputPattern) -> Question:
        lead_in = "After these changes it held in most of the cases that were tried:" if proposals else ""
        words = {"expectation": expectation.describe(), "lead_in": lead_in}
        names = [name for name, _ in list_tree(self.catalogue, "input", self.system)]
        back = "none of them: go back to the output pattern"
        return self._build_proposal_question("input", words, proposals, names, back, lambda pattern: pattern)

    def _build_proposal_question(
        self,
        side: Side,
        words: dict[str, str],
        proposals: list[Proposal],
        names: list[str],
        back: str,
        check: Callable[[Pattern], Any],
    ) -> Question:
        """Return the question which of the proposals to take, or else which of the patterns by name."""
        labels = _name_uniquely([proposal.pattern for proposal in proposals])
        by_label = dict(zip(labels, proposals, strict=True))

        def read(text: str) -> Any:
            if text in by_label or text == AGAIN:
                return by_label.get(text, AGAIN)
            return check(self.catalogue[pick_names([text.strip()], names, f"pattern with an {side} side")[0]])

        return build_question(
            f"{side}.pattern",
            {**words, "names": ", ".join(names)},
            [*(Choice(label, item.describe()) for label, item in by_label.items()), Choice(AGAIN, back)],
            open=True,
            default=labels[0] if labels else None,
            read=read,
        )

    # -- the relation (step 8) -----------------------------------------------------------------------------------------

    def _ask_relation(self, change: InputPattern, expectation: OutputPattern) -> Walk:
        promise: Promise = yield build_question("promise")
        name: str = yield build_question(
            "name", default=f"{to_slug(self.system.name)[:20]}.{promise}1", read=lambda text: _read_name(text, "name")
        )
        domain: str = yield build_question(
            "domain",
            default=f"systems like {to_one_line(self.system.name)}",
            read=lambda text: _read_sentence(text, "domain"),
        )
        columns = [name for name in dict.fromkeys(change.columns_read) if self.system.find_input(name) is not None]
        needs = [f"the input has {', '.join(columns)}"] if columns else []
        needs += [f"{column} is from {low:g} to {high:g}" for column, (low, high) in self.system.ranges.items()]
        return (change >> expectation).named(name, promise=promise, domain=domain, needs=tuple(needs))

    def _ask_tolerance(self, groups: JudgedGroups) -> Walk:
        violated, judged = groups.count(VIOLATED), groups.judged_count
        if not violated:
            return 0.0
        share = violated / judged
        if share >= 1:
            return 0.0
        words = {
            "violated": pluralise(violated, "case"),
            "judged": f"{judged:,}",
            "share": format_percent(round_up(share)),
        }
        choice = yield build_question("test", words)
        return round_up(share) if choice == "tolerate" and round_up(share) < 1 else 0.0

    def _ask_file(self, name: str, default: str, taken: Path | None = None) -> Walk:
        while True:
            file: Path = yield build_question(name, default=default, read=lambda answer: read_file_name(answer, taken))
            if not file.exists():
                return file
            overwrite: bool = yield build_question("overwrite", {"file": file}, YES_NO, read=read_yes_no)
            if overwrite:
                return file

    # -- a new pattern (steps 9 to 15) ---------------------------------------------------------------------------------

    def _ask_derivation(self, pattern: Pattern, relation: PatternRelation) -> Walk:
        way: str = yield build_question("derive", {"pattern": pattern.name})
        if way == "no":
            return None
        if way == "raise":
            return (yield from self._ask_common_pattern(pattern))
        default_side = {"MRIP": "input", "MROP": "output"}.get(pattern.kind, "both")
        side: str = yield build_question("derive.side", default=default_side)
        if side != "both":
            instance = relation.input if side == "input" else relation.output
            pattern = self.catalogue[instance.pattern]
        change: InputPattern | None = relation.input if side != "output" else None
        expectation: OutputPattern | None = relation.output if side != "input" else None
        if way == "same" and change is not None:
            self.say("Answer for the new change:")
            own_pattern = self.catalogue[relation.input.pattern]
            tried: TriedChange = yield from self._instantiate(own_pattern, "input", self._try_input)
            self._say_change(tried)
            change = tried.input
        kind: PatternKind = "MRP" if side == "both" else "MRIP" if side == "input" else "MROP"
        name, definition = yield from self._ask_pattern_name(
            ": ".join(part.describe() for part in (change, expectation) if part is not None)
        )
        parents = (pattern.name,) if way == "lower" else pattern.parents
        return DerivedPattern(
            name=name,
            kind=kind,
            scope=pattern.scope,
            definition=definition,
            way=way,
            edges=tuple(ParentEdge(parent, True, f"derived from {pattern.name}") for parent in parents),
            input=change,
            output=expectation,
        )

    def _ask_common_pattern(self, pattern: Pattern) -> Walk:
        others = [name for name in self.catalogue if name != pattern.name]
        related = [
            name
            for name in others
            if name not in find_ancestors(self.catalogue, pattern.name)
            and pattern.name not in find_ancestors(self.catalogue, name)
        ]
        siblings = [name for name in related if set(self.catalogue[name].parents) & set(pattern.parents)]
        children: list[str] = yield build_question(
            "derive.patterns",
            {"pattern": pattern.name},
            [Choice(name, self.catalogue[name].definition) for name in siblings or related],
            open=True,
            read=lambda text: [pattern.name, *pick_names(read_list(text), related, "such pattern")],
        )
        shared = set.intersection(*(find_ancestors(self.catalogue, name) for name in children))
        closest = [
            name for name in shared if not any(name in find_ancestors(self.catalogue, other) for other in shared)
        ]
        if closest:
            self.say(f"They have {', '.join(sorted(closest))} in common already. The new pattern goes between.")
        name, definition = yield from self._ask_pattern_name("")
        kinds = {self.catalogue[child].kind for child in children}
        return DerivedPattern(
            name=name,
            kind=kinds.pop() if len(kinds) == 1 else "MRP",
            scope=pattern.scope,
            definition=definition,
            way="raise",
            edges=tuple(ParentEdge(parent, True, "common to its sub-patterns") for parent in sorted(closest)),
            children=tuple(children),
        )

    def _ask_pattern_name(self, default: str) -> Walk:
        name: str = yield build_question("derive.name", read=self._read_new_name)
        definition: str = yield build_question(
            "derive.definition", default=default or None, read=lambda text: _read_sentence(text, "definition")
        )
        return name, definition

    def _read_new_name(self, text: str) -> str:
        name = _read_name(text, "name")
        if name in self.catalogue:
            raise WrongAnswer(f"There is a pattern {name!r} already. Expected another name.")
        return name


# -- reading -----------------------------------------------------------------------------------------------------------


def _list_known_relations(pattern: Pattern) -> list[PatternRelation]:
    """Return the relations of a pattern that can be run: its examples, and published ones."""
    relations = [item.relation for item in pattern.examples]
    relations += [
        item.relation
        for item in published_relations.values()
        if item.relation is not None and pattern.name in item.patterns
    ]
    return list({relation.name: relation for relation in relations}.values())


def _read_checked(
    question: Question,
    pattern: Pattern,
    side: Side,
    known: dict[str, Any],
    name: str,
    complete: bool,
    check: Callable[[Any], Any],
) -> Callable[[str], tuple[Any, Any]]:
    """Return a function that reads a parameter, checks it with those before it, and tries the pattern if it is complete."""

    def read(text: str) -> tuple[Any, Any]:
        value = question.read(text)
        instance = check_parameters(pattern, side, {**known, name: value}, name, complete)
        return value, check(instance) if complete else None

    return read


def _check_output(instance: OutputPattern, tried: TriedChange, on_itself: bool = False) -> OutputPattern:
    """Return an output pattern if it fits the answers of a trial."""
    afters = [tried.before] if on_itself else tried.afters
    try:
        instance.judge(tried.frame, tried.before, afters)
    except DatamorphicError as error:
        raise WrongAnswer(f"{instance.pattern} does not fit these answers. {error}") from error
    except (TypeError, ArithmeticError, LookupError) as error:
        raise WrongAnswer(f"{instance.pattern} does not fit these answers: {format_short(error)}.") from error
    return instance


def read_file_name(text: str, taken: Path | None = None) -> Path:
    """Return the path of a module to write."""
    file = Path(text.strip())
    if file.suffix != ".py" or not file.stem.isidentifier() or keyword.iskeyword(file.stem):
        raise WrongAnswer(
            f"{format_short(file.name)!r} is not a valid name of a module. Expected letters, digits, underscores and the ending "
            ".py, such as test_relation.py."
        )
    folder = file.absolute().parent
    if len(file.name) > 200 or not folder.is_dir():
        raise WrongAnswer(f"There is no folder {format_short(folder)}. Expected a file in a folder that exists.")
    if file.is_dir() or not os.access(folder, os.W_OK):
        raise WrongAnswer(f"{format_short(text)} cannot be written. Expected another file.")
    if taken is not None and file.absolute() == taken.absolute():
        raise WrongAnswer(f"{file} holds the relation. Expected another file.")
    return file


def _read_name(text: str, noun: str) -> str:
    name = to_one_line(text)
    if not name or len(name) > MAX_NAME_CHARACTERS or not any(letter.isalnum() for letter in name):
        raise WrongAnswer(f"Expected a {noun} of 1 to {MAX_NAME_CHARACTERS} characters, with letters.")
    return name


def _read_sentence(text: str, noun: str) -> str:
    sentence = to_one_line(text)
    if not sentence or len(sentence) > MAX_SENTENCE_CHARACTERS:
        raise WrongAnswer(f"Expected a {noun} of 1 to {MAX_SENTENCE_CHARACTERS} characters.")
    return sentence


def _guess_target(model: Any, columns: list[str]) -> str:
    """Return the column that is probably the target: the only one that the model does not take, or one called so."""
    names = getattr(model, "columns", None)
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    if names is not None:
        extra = [column for column in columns if column not in list(names)]
        if len(extra) == 1:
            return extra[0]
        if not extra:
            return NONE
    return "target" if "target" in columns else NONE


def _repeat() -> InputPattern:
    from ..patterns.inputs import Condition

    return Condition()


# -- texts -------------------------------------------------------------------------------------------------------------


def list_tree(catalogue: PatternCatalogue, side: Side, system: GuidedSystem | None = None) -> list[tuple[str, int]]:
    """Return the usable patterns with a side, super-patterns before their sub-patterns, with their depths in the tree.

    Examples
    --------
    >>> import datamorphic as dm
    >>> list_tree(dm.patterns, "input")[:2]
    [('Symmetry', 0), ('Noise', 1)]
    """
    listing: list[tuple[str, int]] = []
    names_seen: set[str] = set()

    def visit(name: str, depth: int) -> None:
        if name in names_seen:
            return
        names_seen.add(name)
        usable = is_usable(catalogue[name], side, system)
        if usable:
            listing.append((name, depth))
        for child in catalogue.find_children(name):
            visit(child, depth + usable)

    for root in catalogue.roots:
        visit(root, 0)
    return listing


def describe_verdicts(groups: JudgedGroups) -> str:
    """Return how a relation did on the cases, with the first violation."""
    violated, judged = groups.count(VIOLATED), groups.judged_count
    inapplicable = groups.count(INAPPLICABLE)
    rest = f" It does not apply to {pluralise(inapplicable, 'other case')}." if inapplicable else ""
    if not judged:
        return f"It could not be judged on any case.{rest}"
    if not violated:
        return f"It holds in all {pluralise(judged, 'case')} that were tried.{rest}"
    first = int((groups.verdicts == VIOLATED).argmax())
    headline = f"{pluralise(violated, 'case')} of {judged:,} violate it ({format_percent(violated / judged)}).{rest}"
    return f"{headline}\n{_describe_group(groups, first, 'The first violation')}"


def _describe_group(groups: JudgedGroups, row: int, title: str) -> str:
    """Return a group in words: what changed, and the answers."""
    source = groups.source.frame.iloc[row].to_dict()
    lines = [f"{title}:"]
    follow_ups = [(groups.follow_up, groups.after), *groups.further]
    for number, (batch, outputs) in enumerate(follow_ups[:3]):
        changed = batch.frame.iloc[row].to_dict()
        names = [name for name in source if not _is_equal(source[name], changed.get(name))]
        if number == 0:
            before = {name: source[name] for name in names or list(source)[:8]}
            lines.append(f"  {_format_case(before)}  ->  {_format_answer(groups.before.values[row])}")
        after = {name: changed[name] for name in names or list(source)[:8]}
        lines.append(f"  {_format_case(after)}  ->  {_format_answer(outputs.values[row])}")
    if len(follow_ups) > 3:
        lines.append(f"  ... and {len(follow_ups) - 3} more follow-ups")
    return "\n".join(lines)


def _is_equal(first: Any, second: Any) -> bool:
    return bool(first == second) or (first != first and second != second)


def _format_case(case: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {format_short(value)}" for name, value in case.items())


def _format_answer(answer: Any) -> str:
    text = to_one_line(repr(answer) if is_collection(answer) or isinstance(answer, str) else format_short(answer))
    return text if len(text) <= MAX_ANSWER_SHOWN else f"{text[:MAX_ANSWER_SHOWN]}..."


def _name_uniquely(names: list[str]) -> list[str]:
    """Return names with numbers where they occur several times.

    Examples
    --------
    >>> _name_uniquely(["Monotone", "Noise", "Monotone"])
    ['Monotone', 'Noise', 'Monotone (2)']
    """
    counts: dict[str, int] = {}
    labels = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        labels.append(name if counts[name] == 1 else f"{name} ({counts[name]})")
    return labels
