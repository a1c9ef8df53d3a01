"""The command ``datamorphic web``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..reporting.export import load_renderer
from . import options as opt


def web(
    folder: Annotated[
        Path | None, opt.argument("FOLDER", "The folder with models and data. The default is the current one.")
    ] = None,
    host: Annotated[str, opt.option("ADDRESS", "The address to listen at. Others than this computer need --token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, opt.option("N", "The port; 0 for a free one.", min=0, max=65_535)] = 8080,
    token: Annotated[
        str | None,
        opt.option(
            "TEXT", "What people must enter first. Better: set $DATAMORPHIC_TOKEN, which no list of processes shows."
        ),
    ] = None,
    public_url: Annotated[
        str | None,
        opt.option("URL", "The address that people open, if a proxy is in front of the studio. Needs --token."),
    ] = None,
    demo: Annotated[bool, opt.flag("--demo", "Begin with a model and data of ours.")] = False,
    upload_limit: Annotated[int, opt.option("MB", "The largest file that can be uploaded.", min=1)] = 50,
    browser: Annotated[bool, opt.flag("--browser/--no-browser", "Open the page in a browser.")] = True,
    store: opt.StoreUrl = None,
    trust: opt.Trust = False,
) -> None:
    """Open the studio, a web page to test with clicks.

    Models and data are files of FOLDER, or are uploaded. Nothing outside of FOLDER is read, and nothing is sent anywhere.

    Examples: datamorphic web; datamorphic web --demo; datamorphic web models --port 9000
    """
    import os

    options_class, run_server = load_renderer("web.options:WebOptions"), load_renderer("web.server:run_server")
    options = options_class(
        host=host,
        port=port,
        token=token or os.environ.get("DATAMORPHIC_TOKEN") or None,
        public_url=public_url,
        folder=folder or Path.cwd(),
        store=store,
        trust=trust,
        upload_megabytes=upload_limit,
    )
    run_server(options, open_browser=browser, path="/?demo=1" if demo else "/")
