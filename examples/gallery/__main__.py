"""Verify every row of the gallery, and write docs/gallery.md.

``python -m examples.gallery`` installs the old releases in environments of their own, checks the faulty and the fixed release of
each bug, and writes the page. With names, only these bugs are checked; with ``--page``, only the page is written.
"""

from __future__ import annotations

import os
import sys

from .bug import HERE, check_bug, read_bugs, read_verdicts, save_verdicts
from .environments import MissingPython
from .page import write_page


def main(arguments: list[str]) -> int:
    """Check bugs, write the page, and return 1 if a verdict is not as listed."""
    os.chdir(HERE)  # where other Pythons find subjects.py
    names = [argument for argument in arguments if not argument.startswith("--")]
    for bug in read_bugs():
        if "--page" in arguments or (names and bug.name not in names):
            continue
        print(f"{bug.name}: {bug.library} {bug.faulty} and {bug.fixed}", flush=True)
        try:
            row = check_bug(bug)
        except MissingPython as error:
            print(f"  left out: {error}")
            continue
        save_verdicts(bug, row)
        for verdict in filter(None, (row.faulty, row.fixed)):
            violations = ", ".join(verdict.names) or "nothing found"
            print(f"  {verdict.release:<12} {verdict.seconds:4.0f} s  {violations}", flush=True)
    rows = read_verdicts()
    write_page(rows)
    unlike = [
        bug.name
        for bug in read_bugs()
        if bug.name in rows
        and not bug.miss
        and (not rows[bug.name].telling_relations or bool(rows[bug.name].fixed_names) != bool(bug.other))
    ]
    if unlike:
        print(f"Not as listed: {', '.join(unlike)}")
    return 1 if unlike else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
