"""`GuideWalk`: the walk from a pattern to a relation, inside a worker process.

The page sends all answers each time. The walk is a pure function of them, so that going back is sending one answer fewer, and
nothing is lost if the process ends. Systems come from a list: the chosen model, or an example. Nothing is written to a file.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import DatamorphicError, UsageError, WrongAnswer
from ..relations.guide.answers import format_answers
from ..relations.guide.code import EXAMPLE_PREFIX
from ..relations.guide.session import GuideSession
from ..relations.guide.steps import NONE, Question
from .subject import ChosenSubject

CHOSEN = "chosen"  # the system that was chosen on the page Start
FILE_QUESTIONS = ("save", "derive.file")
MAX_ANSWERS = 100


class GuideWalk:
    """Keeps the walk of the last request, because the next one usually goes one answer further."""

    def __init__(self) -> None:
        self._session: GuideSession | None = None
        self._key: tuple[str, str] = ("", "")
        self._texts: list[str] = []  # the answers of the person
        self._steps: list[dict[str, str]] = []  # with their questions
        self._messages: list[str] = []  # since the last answer of the person

    def serve(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the question after some answers, or the result of the walk.

        A wrong last answer is refused: the reply is the question before it, with `error`.
        """
        subject = ChosenSubject(**request["subject"])
        system, answers = str(request["system"]), [str(text) for text in request["answers"]]
        if len(answers) > MAX_ANSWERS:
            raise UsageError("There are too many answers. Start over.")
        os.chdir(request["folder"])  # the module finds its files relative to this folder
        key = (system, repr(subject.to_document()))
        if self._session is None or key != self._key or answers[: len(self._texts)] != self._texts:
            self._start(subject, system, request.get("trust", False))
            self._key = key
        error = ""
        for text in answers[len(self._texts) :]:
            try:
                self._answer(text)
            except WrongAnswer as wrong:
                error = str(wrong)
                break
        return self._describe(error)

    def _start(self, subject: ChosenSubject, system: str, trust: bool) -> None:
        self._session = None
        session = GuideSession(
            load_model=lambda name: _load_model(name, subject, trust), load_data=lambda name: _load_data(name, subject)
        )
        self._texts, self._steps, self._messages = [], [], []
        try:
            for text in _list_first_answers(subject, system):
                if session.question is not None and session.question.id.startswith("system."):
                    session.answer(text)
        except WrongAnswer as error:
            raise UsageError(str(error)) from None
        self._messages = session.take_messages()
        self._session = session

    def _answer(self, text: str) -> None:
        session = self._session
        assert session is not None
        question = session.question
        if question is None:
            raise WrongAnswer("All questions are answered.")
        if question.id in FILE_QUESTIONS and text and Path(text).name != text:
            raise WrongAnswer(f"{text!r} is not the name of a file. Expected a name without folders.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                session.answer(text)
            except WrongAnswer:
                session.take_messages()  # taking the answer back says everything again
                raise
        self._texts.append(text)
        self._steps.append({"question": question.text, "answer": session.answers[-1].text})
        while session.question is not None and session.question.id == "overwrite":  # nothing is written here
            session.answer("yes")
        self._messages = session.take_messages()

    def _describe(self, error: str) -> dict[str, Any]:
        session = self._session
        assert session is not None
        result = session.result
        return {
            "question": None if session.question is None else _describe_question(session.question),
            "answers": list(self._texts),
            "steps": list(self._steps),
            "messages": self._messages,
            "error": error,
            "answer_file": format_answers(session.answers, "The answers of a walk with datamorphic guide."),
            "result": None if result is None else result.document(),
            "files": [] if result is None else [{"name": path.name, "text": text} for path, text in result.files],
        }


def _describe_question(question: Question) -> dict[str, Any]:
    document = question.document()
    if question.id in FILE_QUESTIONS:
        document["text"] = "What shall the module be called?" if question.id == "save" else question.text
    return document


def list_systems(subject: ChosenSubject) -> dict[str, str]:
    """Return what the guide can be about, by key, in words."""
    from ..data.pattern_examples import example_systems

    systems = {CHOSEN: f"{subject.name}, which is chosen on the page Start"} if subject.kind == "files" else {}
    return systems | {f"{EXAMPLE_PREFIX}{name}": f"Example: {name}" for name in example_systems}


def _list_first_answers(subject: ChosenSubject, system: str) -> list[str]:
    """Return the answers to the questions about the system."""
    if system == CHOSEN and subject.kind == "files":
        return [subject.model, subject.data, subject.target or NONE]
    if system not in list_systems(subject):
        raise UsageError(f"There is no system {system!r} to choose.")
    return [system, ""]


def _load_model(name: str, subject: ChosenSubject, trust: bool) -> Any:
    """Return the chosen model, or an example; nothing else can be named."""
    from ..data.pattern_examples import example_systems
    from ..systems.wrap import wrap

    if name.startswith(EXAMPLE_PREFIX):
        return example_systems[name.removeprefix(EXAMPLE_PREFIX)]
    if subject.kind != "files" or name != subject.model:
        raise UsageError("Only the chosen model and the examples can be opened.")
    try:
        return wrap(name, trust=trust)
    except DatamorphicError:
        raise
    except Exception as error:
        raise UsageError(f"The model cannot be loaded: {error}") from error


def _load_data(name: str, subject: ChosenSubject) -> Any:
    from ..space.table_files import read_table

    if subject.kind != "files" or name != subject.data:
        raise UsageError("Only the chosen data can be opened.")
    return read_table(name)
