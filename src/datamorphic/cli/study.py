"""The command ``datamorphic study``: published tables beside our own figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from .._files import to_local_path
from ..core.capability import get_capability
from ..errors import UsageError
from ..studies.result import ALL
from ..studies.run import study as compute_study
from . import options as opt
from .command import CapabilityCommand, make_command, shorten_path
from .console import print_json, print_line
from .load import load_data, to_absolute_path


@dataclass(frozen=True, kw_only=True)
class StudyCommand(CapabilityCommand):
    """Computing one study, or all of them as a site."""

    def list_inputs(self) -> list[tuple[str, Any, Any]]:
        """Return what names the studies."""
        return [
            (
                "study",
                Annotated[
                    str | None, opt.argument("NAME", "A table such as 000-12, or a group such as random_target.")
                ],
                None,
            ),
            (
                "data",
                Annotated[
                    list[str] | None,
                    opt.argument(
                        "DATA",
                        "With the study trees: data of your own, CSV or Parquet files. --target names the label.",
                    ),
                ],
                None,
            ),
            (
                "every",
                Annotated[bool, opt.flag("--all", "Compute all studies, each table once; --html then names a folder.")],
                False,
            ),
            ("list_studies", Annotated[bool, opt.flag("--list", "List the studies.")], False),
        ]

    def list_face_options(self) -> list[tuple[str, Any, Any]]:
        """Return how to resume a run, too."""
        text = "Resume this run of the store, with the same options: as datamorphic runs resume RUN does."
        return [("resume", Annotated[int | None, opt.option("RUN", text, min=1)], None), *super().list_face_options()]

    def run(self, values: dict[str, Any]) -> None:
        """List the studies, or compute some."""
        if values.pop("list_studies"):
            if values["study"] is not None or values["every"]:
                name = "--all" if values["every"] else repr(values["study"])
                raise UsageError(f"--list lists all studies, and {name} computes. Leave one of the two out.")
            _print_list(values["as_json"])
        else:
            super().run(values)

    def collect_inputs(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take the name, the scale and the seed out of the values of the command: all three are stored."""
        name, every = values.pop("study"), values.pop("every")
        if every and name is not None:
            raise UsageError(f"--all computes all studies, and {name!r} names one. Leave one of the two out.")
        if name is None and not every:
            raise UsageError("Say which study: datamorphic study NAME. See them with: datamorphic study --list")
        words = {"study": name, "scale": values.pop("scale"), "seed": values.pop("seed")}
        files = values.pop("data")
        return words | {"data": [to_absolute_path(file) for file in files]} if files else words

    def load_inputs(self, words: Mapping[str, Any], trust: bool) -> dict[str, Any]:
        """Return the name of the study, or of all, and data of the user by the names of their files."""
        name = {"name": ALL if words.get("study") is None else words["study"]}
        files = words.get("data") or ()
        names = _name_files(files)
        return name | (
            {"data": {key: load_data(file) for key, file in zip(names, files, strict=True)}} if files else {}
        )

    def build_arguments(self, words: Mapping[str, Any], seed: object) -> list[str]:
        """Return the arguments of the command line that does the same."""
        first = (
            ["--all"] if words.get("study") is None else [words["study"], *map(shorten_path, words.get("data") or ())]
        )
        others = {name: word for name, word in words.items() if name not in ("study", "data")}
        return [*first, *super().build_arguments(others, seed)]

    def run_request(self, words: Mapping[str, Any], *arguments: Any, html: Path | None = None, **settings: Any) -> None:
        """Compute what the command was called with; the report of all studies is a site in a folder."""
        if words.get("study") is not None or html is None:
            super().run_request(words, *arguments, html=html, **settings)
        else:
            super().run_request(words, *arguments, site=to_local_path(html, "folder of the site"), **settings)

    def write_files(
        self, result: Any, files: Mapping[str, Path | None], *, site: Path | None = None, **face: Any
    ) -> None:
        """Write reports, or the site."""
        super().write_files(result, files)
        if site is not None:
            result.to_site(site)

    def build_document(
        self, result: Any, *, html: Path | None = None, site: Path | None = None, **face: Any
    ) -> dict[str, Any]:
        """Return the figures, and the page that shows them."""
        page = html if site is None else site / result.INDEX_FILE
        return result.document() | ({} if page is None else {"html": str(page)})

    def format_text(self, result: Any, *, site: Path | None = None, **face: Any) -> str:
        """Return the figures, and the page of the site."""
        text = super().format_text(result)
        return text if site is None else f"{text}\n\nThe site: {site / result.INDEX_FILE}"


def _name_files(files: Sequence[str]) -> list[str]:
    """Return short names of data: those of files without folder and ending, unless two of them are equal."""
    names = [Path(file.removeprefix("data:")).stem for file in files]
    if len(set(files)) < len(files):
        raise UsageError("A file is named twice. Name each once.")
    return names if len(set(names)) == len(names) else list(map(shorten_path, files))


def _print_list(as_json: bool) -> None:
    from ..studies.catalogue import list_studies
    from ..studies.causes import SWITCHES
    from ..studies.overview import list_tables_without_figures

    listing, without_figures = list_studies(), list_tables_without_figures()
    if as_json:
        causes = [{"cause": name, "title": switch.title} for name, switch in SWITCHES.items()]
        print_json({"studies": listing.to_dict("records"), "without_figures": without_figures, "causes": causes})
        return
    width, verdict_width = (max(map(len, listing[column])) for column in ("name", "verdict"))
    for row in listing.itertuples():
        figures = f"; --html draws Figures {row.figures}" if row.figures else ""
        print_line(f"{row.name:<{width}}  {row.verdict:<{verdict_width}}  {row.title}  ({row.compares}{figures})")
    print_line("")
    print_line("Published tables that are not computed:")
    for entry in without_figures:
        print_line(f"{entry['table']:<{width}}  {entry['title']}  ({entry['reason']})")
    print_line("")
    print_line("Known causes of differences, which --cause switches on:")
    for name, switch in SWITCHES.items():
        print_line(f"{name:<{width}}  {switch.title}")


COMMAND = StudyCommand(capability=get_capability(compute_study), argument_names=("study",))

study = make_command(
    """Reproduce a published table: our figures beside the printed ones, with notes on known errors.

    Each measurement is kept in the run store when it is done, so that a killed study can be resumed.

    Examples: datamorphic study --list; datamorphic study random_target; datamorphic study 000-4 --scale full;
    datamorphic study input_domains --html study.html; datamorphic study --all --workers 2 --html site; datamorphic study
    trees mine.csv --target label --html trees.html
    """,
    COMMAND,
)
