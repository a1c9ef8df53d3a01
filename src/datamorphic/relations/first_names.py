"""First names by group, to see whether answers depend on them.

The lists are short and ours: names that most readers take for names of one group. They are not based on statistics.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

_TABLE = """
English women: Emily Sarah Jessica Claire Laura Anna Emma Alice Grace Olivia Mary Linda Susan Karen Lisa
  Jennifer Charlotte Sophie
English men: James John Robert Michael Thomas Peter Paul Henry George William David Richard Daniel Mark Kevin
  Brian Jack Greg Brad Steve
African American women: Latoya Keisha Ebony Lakisha Tanisha Shanice Aaliyah Imani Shaniqua Lakeisha
African American men: Jamal DeShawn Tyrone Darnell Jermaine Malik Leroy Tremayne Rasheed Trevon
Arabic women: Fatima Aisha Layla Yasmin Zahra Amina Khadija Noor
Arabic men: Mohammed Muhammad Mohamed Ahmed Ali Ibrahim Abdullah Omar Hassan Khalid Yusuf
Indian women: Priya Ananya Lakshmi Deepika Kavita Sunita
Indian men: Rajesh Arjun Sanjay Vikram Amit Rahul
Chinese women: Xiuying Meiling Yan Lihua Xiaoli Jing
Chinese men: Wei Jianguo Haoran Zhiwei Guang Junjie
Spanish women: Maria Carmen Lucia Guadalupe Ximena Rosa
Spanish men: Jose Carlos Juan Miguel Diego Javier
Turkish women: Ayşe Elif Zeynep Emine Hatice Merve
Turkish men: Mehmet Mustafa Emre Murat Burak Hakan
"""

#: names by group
FIRST_NAMES: dict[str, tuple[str, ...]] = {
    group: tuple(names.split()) for group, names in re.findall(r"^(\w[^:]*): ((?:.|\n )*)$", _TABLE, flags=re.MULTILINE)
}


@lru_cache(maxsize=256)
def build_name_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return an expression that finds any of the names as a whole word, with its capital letter."""
    alternatives = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)")


def find_group(name: str, groups: Mapping[str, Sequence[str]] = FIRST_NAMES) -> str:
    """Return the group of a name; empty if it is in none.

    Examples
    --------
    >>> find_group("Jamal"), find_group("Xyz")
    ('African American men', '')
    """
    return next((group for group, names in groups.items() if name in names), "")
