"""The page Start: choose what to test."""

from __future__ import annotations

from nicegui import ui

from ...data.subjects import subjects
from ..components.errors import show_errors
from ..layout import build_frame
from ..studio import Studio
from ..subject import ChosenSubject


def register(studio: Studio) -> None:
    """Add the page."""

    @ui.page("/")
    def build_page() -> None:
        workspace = studio.get_workspace()
        with (
            build_frame(workspace, "Start", "Choose what to test. Nothing leaves this computer."),
            ui.element("div").classes("cards"),
        ):
            with ui.element("section").classes("card"):
                ui.html("<h2>A model of yours</h2>", sanitize=False)
                model = ui.select(workspace.served_folder.list_models(), label="Model")
                data = ui.select(workspace.served_folder.list_data(), label="Data")
                target = ui.input("Column with the label")

                def choose_files() -> None:
                    with show_errors():
                        workspace.choose(
                            ChosenSubject.of_files(workspace.folders, str(model.value), str(data.value), target.value)
                        )
                        ui.navigate.to("/check-up")

                ui.button("Test this model", on_click=choose_files)
            with ui.element("section").classes("card"):
                ui.html("<h2>A classifier with a known border</h2>", sanitize=False)
                name = ui.select(list(subjects), value="Box 2", label="Classifier")

                def choose_demo() -> None:
                    with show_errors():
                        workspace.choose(ChosenSubject.of_demo(str(name.value)))
                        ui.navigate.to("/activities")

                ui.button("Explore it", on_click=choose_demo)
