"""The result of a script as text."""

from __future__ import annotations

from .._text import format_short, pluralize
from ..morphisms.cases import CaseKind
from ..reporting.text import cut
from .result import ScriptResult

MAX_LISTED_LINES = 20
MAX_MESSAGE_CHARACTERS = 200


def format_result(result: ScriptResult) -> str:
    """Return what the script did, one fact per line."""
    return "\n".join([result.headline, *format_facts(result)])


def format_facts(result: ScriptResult) -> list[str]:
    """Return the facts about the pool, its explorations, statistics, messages and files."""
    pool, lines = result.pool, list(result.notes)
    tests = result.tests
    if tests is not None:
        mutants = int((tests.kinds == CaseKind.MUTANT).sum())
        kinds = f"{len(tests) - mutants:,} original, {pluralize(mutants, 'mutant')}"
        lines.append(f"pool of {pool.spec}: {pluralize(len(tests), 'case')} ({kinds}), {pluralize(pool.runs, 'run')}")
    if pool.explorations:
        pairs = sum(entry["pairs"] for entry in pool.explorations)
        lines.append(f"{pluralize(len(pool.explorations), 'exploration')}: {pluralize(pairs, 'border pair')}")
    if pool.statistics:
        lines.append(f"statistics saved {pluralize(len(pool.statistics), 'time')}, last:")
        figures = pool.statistics[-1]
        lines.append("  " + ", ".join(f"{name} {format_short(v)}" for name, v in figures.items() if v is not None))
    if pool.messages:
        messages = pool.messages[-MAX_LISTED_LINES:]
        is_cut = len(messages) < len(pool.messages)
        lines.append(f"the last {len(messages)} of {len(pool.messages):,} messages:" if is_cut else "messages:")
        lines += [f"  {cut(message, MAX_MESSAGE_CHARACTERS)}" for message in messages]
    if files := result.files:
        more = f" and {len(files) - MAX_LISTED_LINES:,} more" if len(files) > MAX_LISTED_LINES else ""
        lines.append(f"written in {pool.folder.root}: {', '.join(files[:MAX_LISTED_LINES])}{more}")
    return lines
