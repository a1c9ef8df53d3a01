"""The files that the studio sends: reports and other files of jobs, and border pairs, to the person who started them only."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi import HTTPException, Request
from fastapi.responses import FileResponse, Response
from nicegui import app

from ..errors import DatamorphicError, UsageError
from .front_view import FRONT_VIEWS, FrontView
from .jobs import REPORT_FILE, STATE_FILE
from .studio import Studio

REPORT_POLICY = (
    "sandbox allow-scripts allow-popups allow-downloads allow-modals; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")


def register(studio: Studio) -> None:
    """Add the addresses of files."""

    def find(request: Request, number: int, name: str) -> Path:
        try:
            job = studio.workspaces.get(request.session["id"]).find_job(number)
        except UsageError as error:
            raise HTTPException(404, str(error)) from None
        is_result = _FILE_NAME.fullmatch(name) is not None and name != STATE_FILE
        path = job.get_file(name) if is_result else None
        if path is None:
            raise HTTPException(404, "There is no such file.")
        return path

    @app.get("/jobs/{number}/report")
    def send_report(number: int, request: Request) -> FileResponse:
        # in a tab of its own the report is a page of nobody: it has no session, and reaches no other page of the studio
        headers = {"Content-Security-Policy": REPORT_POLICY}
        return FileResponse(find(request, number, REPORT_FILE), media_type="text/html", headers=headers)

    @app.get("/jobs/{number}/files/{name}")
    def send_file(number: int, name: str, request: Request) -> FileResponse:
        return FileResponse(find(request, number, name), filename=name, media_type="application/octet-stream")

    def find_front(request: Request, key: str) -> FrontView:
        try:
            return FRONT_VIEWS.find(studio.workspaces.get(request.session["id"]).folder, key)
        except DatamorphicError as error:
            raise HTTPException(404, str(error)) from None

    @app.get("/fronts/{key}/borders")
    def send_borders(key: str, request: Request) -> Response:
        return Response(find_front(request, key).pack_borders(), media_type="application/octet-stream")

    @app.get("/fronts/{key}/columns/{number}")
    def send_column(key: str, number: int, request: Request) -> Response:
        view = find_front(request, key)
        if not 0 <= number < len(view.axes):
            raise HTTPException(404, "There is no such axis.")
        return Response(view.pack_column(view.axes[number]), media_type="application/octet-stream")
