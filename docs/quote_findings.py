"""Writes the findings in the guide to the checks again: python docs/quote_findings.py

They are those of examples/mistakes.py. Run this when the wording of a finding changes.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "guides" / "checks.md"
WIDTH = 124
#: What the quoted finding is about, of checks that find several things.
ABOUT = {"suggestions": "gender", "learning": "sample order"}

sys.path.insert(0, str(ROOT / "examples"))

import mistakes  # noqa: E402


def main() -> None:
    """Replace the quotation in the section of each check."""
    head, *sections = re.split(r"(?m)^(?=## )", GUIDE.read_text(encoding="utf-8"))
    for number, section in enumerate(sections):
        check = section.partition("\n")[0].removeprefix("## ")
        if check in mistakes.MISTAKES:
            findings = mistakes.find(check)
            finding = next(finding for finding in findings if ABOUT.get(check, finding.about) == finding.about)
            text = f"**{finding.level.capitalize()}: {finding.title}.** {finding.detail}"
            lines = textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
            quotation = "".join(f"> {line}\n" for line in lines)
            sections[number] = re.sub(r"(?m)(^>.*\n)+", lambda _, new=quotation: new, section, count=1)
    GUIDE.write_text(head + "".join(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
