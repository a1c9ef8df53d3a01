"""Pages for addresses that do not exist and for faults of the studio: plain words, no traceback, no paths."""

from __future__ import annotations

import html
import logging
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

ERROR_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{title} · datamorphic studio</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem}}</style></head>
<body><main><h1>{title}</h1><p>{message}</p><p><a href="/">Go to the start page</a></p></main></body></html>"""
MISSING_TITLE, MISSING_MESSAGE = "Not found", "There is no such page or file in this studio."
FAULT_TITLE = "This page failed"
FAULT_MESSAGE = "The studio has a fault, or a file has changed meanwhile. Its terminal shows the details."

logger = logging.getLogger("datamorphic.web")


def build_error_page(title: str, message: str, status: int) -> HTMLResponse:
    """Return a page with a message."""
    return HTMLResponse(ERROR_PAGE.format(title=html.escape(title), message=html.escape(message)), status_code=status)


def register(app: Any) -> None:
    """Replace the pages of NiceGUI, which show exceptions, by ours."""

    def send_missing(request: Request, error: Exception) -> Response:
        return build_error_page(MISSING_TITLE, MISSING_MESSAGE, 404)

    def send_refusal(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 400
        return build_error_page("Not possible", "The studio refused this request.", status)

    def send_fault(request: Request, error: Exception) -> Response:
        logger.error("The page %s failed", request.url.path, exc_info=error)
        return build_error_page(FAULT_TITLE, FAULT_MESSAGE, 500)

    app.add_exception_handler(404, send_missing)
    app.add_exception_handler(HTTPException, send_refusal)
    app.add_exception_handler(RequestValidationError, send_missing)  # such as an invalid job number
    app.add_exception_handler(Exception, send_fault)
