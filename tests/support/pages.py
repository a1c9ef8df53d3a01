"""The pages of the documentation: their fenced blocks, and the commands that these show."""

from __future__ import annotations

import re
import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("**/*.md"))]
FENCE = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", flags=re.MULTILINE | re.DOTALL)


@dataclass
class Block:
    """A fenced block of a page."""

    kind: str
    title: str | None
    text: str


def find_blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page that name a language."""
    blocks = []
    for _, kind, options, text in FENCE.findall(page.read_text(encoding="utf-8")):
        title = re.search(r'title="([^"]+)"', options)
        blocks.append(Block(kind, title and title[1], textwrap.dedent(text)))
    return blocks


def find_commands(block: Block) -> list[tuple[list[str], str]]:
    """Return the commands of a block, each with the output that the page shows."""
    commands: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands and commands[-1][0].endswith("\\"):
            commands[-1] = (commands[-1][0][:-1] + line.strip(), [])
        elif commands:
            commands[-1][1].append(line)
    return [(shlex.split(command, comments=True), "\n".join(lines)) for command, lines in commands]


def write_block(block: Block, folder: Path) -> None:
    """Write a block with a title as the file that it names."""
    assert block.title is not None
    file = folder / block.title
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, encoding="utf-8")
