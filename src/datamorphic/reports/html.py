"""A report as one HTML file: offline, light and dark, every user string escaped."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from .. import __version__
from ..errors import UsageError
from .plots import picture_html
from .summary import Report


def render(report: Report) -> str:
    """Return the page."""
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["picture"] = picture_html
    template = environment.from_string(files(__package__).joinpath("report.html.j2").read_text(encoding="utf-8"))
    has_picture = any(section.picture for section in report.sections)
    return template.render(report=report, version=__version__, plotly=_plotly() if has_picture else "")


def write(report: Report, path: str | Path) -> Path:
    """Write the page and return where it is."""
    file = Path(path)
    page = render(report)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"The report cannot be written to {str(file)!r}: {error.strerror}. Choose another place."
        ) from None
    return file


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())
