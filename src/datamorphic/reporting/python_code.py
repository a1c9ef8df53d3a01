"""Python files for users: tests that pin a result, drafts of test systems, relations and patterns of the guide.

Their bodies are the templates in ``templates/``; docstring and imports are written here, for all of them. Column names, labels and paths
come from users. They are written as literals, and in comments without line breaks, so that nothing in them can become code.
"""

from __future__ import annotations

import ast
import keyword
import math
import os
import re
import sys
import sysconfig
import textwrap
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from .._text import redact
from .._typing import FilePath
from ..space.table_files import find_csv_options

MAX_LINE_CHARACTERS = 110
MAX_COMMENT_CHARACTERS = 88
MAX_SLUG_CHARACTERS = 40


def format_literal(value: object, indent: int = 0) -> str:
    """Return a value as a Python literal, on several lines if one would be too long.

    Examples
    --------
    >>> format_literal({"income": [1.5, float("inf"), None]})
    '{"income": [1.5, float("inf"), None]}'
    >>> print(format_literal('"; import os #'), format_literal("two\\nlines"), format_literal(("a", 1.5, True)))
    '"; import os #' "two\\nlines" ("a", 1.5, True)
    """
    text = _format_inline(value)
    if indent + len(text) <= MAX_LINE_CHARACTERS or not isinstance(value, dict | list) or not value:
        return text
    if isinstance(value, dict):
        parts = [f"{_format_inline(key)}: {format_literal(item, indent + 4)}" for key, item in value.items()]
    else:
        parts = [format_literal(item, indent + 4) for item in value]
    start, end = "{}" if isinstance(value, dict) else "[]"
    lines = "".join(f"{' ' * (indent + 4)}{part},\n" for part in parts)
    return f"{start}\n{lines}{' ' * indent}{end}"


def format_path(path: str, folder: FilePath) -> str:
    """Return the code of a path relative to the folder of a file, so that both can be moved together."""
    absolute = os.path.abspath(path)
    try:
        relative = os.path.relpath(absolute, folder)
    except ValueError:  # on another drive of Windows
        return f"Path({format_literal(absolute)})"
    return f"HERE / {format_literal(Path(relative).as_posix())}"


def to_slug(value: object) -> str:
    """Return a column or label as part of a Python name: lower-case letters, digits and underscores."""
    name = re.sub(r"[^a-z0-9]+", "_", str(value).lower()).strip("_")
    return name[:MAX_SLUG_CHARACTERS].rstrip("_") or "it"


def to_class_name(text: str, prefix: str, max_characters: int, reserved: Collection[str] = ()) -> str:
    """Return the name of a class from a text, with a prefix if it is not a name, or reserved.

    Examples
    --------
    >>> to_class_name("credit data.2", "My", 60), to_class_name("2", "My", 60), to_class_name("", "My", 60)
    ('CreditData2', 'My2', 'My')
    """
    words = re.split(r"[^A-Za-z0-9]+", text)
    name = "".join(word[:1].upper() + word[1:] for word in words)[:max_characters]
    is_valid = name.isidentifier() and not keyword.iskeyword(name) and name not in reserved
    return name if is_valid else f"{prefix}{name}"


def format_comment(text: str, indent: int = 4, width: int | None = MAX_COMMENT_CHARACTERS) -> str:
    """Return a text as wrapped lines of comment, or as one line, without passwords."""
    start = " " * indent + "# "
    printable = "".join(character if character.isprintable() else " " for character in redact(text))
    if width is None:
        return f"{start}{' '.join(printable.split())}"
    lines = textwrap.wrap(printable, width, initial_indent=start, subsequent_indent=start, break_on_hyphens=False)
    return "\n".join(lines)


# -- models and data -----------------------------------------------------------------------------------------------------


def format_data(name: str, folder: FilePath) -> str:
    """Return the code that reads data: a data set by name (data:NAME), or a Parquet or CSV file."""
    kind, _, data_set = name.partition(":")
    if kind == "data":
        return f"dm.data.load({format_literal(data_set)})"
    path = format_path(name, folder)
    if name.lower().endswith((".parquet", ".pq")):
        return f"pd.read_parquet({path})"
    options: Mapping[str, object] = {}
    with suppress(OSError, UnicodeError):  # the file was removed or replaced in the meantime
        options = find_csv_options(name)
    return f"pd.read_csv({path}{''.join(f', {key}={format_literal(value)}' for key, value in options.items())})"


def format_module_folder(module: str, folder: Path) -> str:
    """Return the code of the folder from which a module was imported; empty if it is installed, or was not imported."""
    origin = getattr(sys.modules.get(module), "__file__", None)
    if origin is None:
        return ""
    file = Path(origin).absolute()
    root = file.parents[module.count(".") + (file.stem == "__init__")]
    if str(root) in sysconfig.get_paths().values():
        return ""
    return "str(HERE)" if root == folder else f"str({format_path(str(root), folder)})"


# -- whole files ---------------------------------------------------------------------------------------------------------

#: the module of each name that generated code may use; empty for modules themselves
_MODULES_BY_NAME = {
    "pkgutil": "",
    "sys": "",
    "dataclass": "dataclasses",
    "replace": "dataclasses",
    "import_module": "importlib",
    "attrgetter": "operator",
    "Path": "pathlib",
    "Any": "typing",
    "datamorphic as dm": "",
    "pandas as pd": "",
    "pytest": "",
    "load_model": "datamorphic.systems.files",
    "PatternCatalogue": "datamorphic.relations.patterns.catalogue",
    "ParentEdge": "datamorphic.relations.patterns.pattern",
    "Pattern": "datamorphic.relations.patterns.pattern",
    "clone": "sklearn.base",
}


def render_module(
    template: str, title: str, notes: Sequence[str], modules: Mapping[str, str] | None = None, **values: object
) -> str:
    """Return a Python file: a docstring, the imports that its code needs, and the code of a template.

    Parameters
    ----------
    template : str
        The name of the template, without its endings.
    title : str
        The first line of the docstring.
    notes : list of str
        Further lines of the docstring.
    modules : mapping of str to str, optional
        The modules of other names that the code may use.
    **values : object
        What the template needs; texts must be code already.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("datamorphic.reporting"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters["remark"] = format_comment
    body = environment.get_template(f"{template}.py.j2").render(values).strip("\n")
    imports = format_imports(body, {**_MODULES_BY_NAME, **(modules or {})})
    starts_with_definition = body.startswith(("@", "class ", "def "))
    lines = [f'"""{title}', "", *notes, '"""', "", *imports, "", *([""] if starts_with_definition else []), body]
    return "\n".join(lines) + "\n"


def format_imports(code: str, modules: Mapping[str, str]) -> list[str]:
    """Return the imports of the names that code uses and does not define, the standard library first.

    Examples
    --------
    >>> format_imports("x = Path(pd.NA)", {"Path": "pathlib", "pandas as pd": "", "sys": ""})
    ['from pathlib import Path', '', 'import pandas as pd']
    """
    nodes = list(ast.walk(ast.parse(code)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    used -= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    used -= {node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    plain: set[str] = set()
    members: dict[str, set[str]] = {}
    for name, module in modules.items():
        if name.rpartition(" ")[2] in used:
            if module:
                members.setdefault(module, set()).add(name)
            else:
                plain.add(name)
    lines = [f"import {name}" for name in sorted(plain)]
    lines += [f"from {module} import {', '.join(sorted(members[module]))}" for module in sorted(members)]
    standard = [line for line in lines if re.split(r"[ .]", line)[1] in sys.stdlib_module_names]
    others = [line for line in lines if line not in standard]
    return [*standard, *([""] if standard and others else []), *others]


def _format_inline(value: object) -> str:
    if hasattr(value, "item") and not isinstance(value, str | bytes):  # a NumPy scalar
        value = value.item()
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{float(value)}")'
    if isinstance(value, str):
        text = str.__repr__(value)
        return f'"{text[1:-1]}"' if text[0] == "'" and "'" not in value and '"' not in value else text
    for kind in (int, float):  # of the base class: a subclass may have any __repr__
        if isinstance(value, kind):
            return kind.__repr__(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_format_inline(key)}: {_format_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_format_inline, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_format_inline, value))}]"
    return _format_inline(str(value))
