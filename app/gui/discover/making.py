"""Makes the page Models with its parts."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.gui import theme
from app.gui.chat.text_alone import Background
from app.gui.discover.downloads_part import DownloadsPart
from app.gui.discover.find_part import FindPart
from app.gui.discover.first_model_card import FirstModelCard
from app.gui.discover.library_part import LibraryPart
from app.gui.discover.page import ModelsPage
from app.gui.file_view.part import FilePart, Looks
from app.gui.icons import Icons
from app.gui.widgets.fit_badge import FitLook
from app.services.library import Library
from app.services.program import Program

translate = QCoreApplication.translate


def make_first_model_card(program: Program, themes: theme.Themes) -> FirstModelCard:
    """Return what is offered to whoever has no model."""
    return FirstModelCard(program.planner.recommending, program.downloads, Icons(program.resources), themes)


def make_models_page(program: Program, themes: theme.Themes, background: Background) -> ModelsPage:
    """Return the page, of which no part is made yet."""
    page = ModelsPage()

    def library() -> LibraryPart:
        look = FitLook(program.planner.fits, Icons(program.resources), themes)
        shelf = Library(program.models, program.session, program.settings, program.model_notes)
        part = LibraryPart(shelf, look, program.model_sampling, program.library_files)
        part.load_wanted.connect(page.load_wanted)
        part.options_wanted.connect(page.options_wanted)
        part.plan_wanted.connect(page.plan_wanted)
        part.inspect_wanted.connect(page.inspect_wanted)
        part.find_wanted.connect(lambda: page.show_part("find"))
        return part

    def find() -> FindPart:
        part = FindPart(program, themes, background)
        part.downloads_wanted.connect(lambda: page.show_part("downloads"))
        part.load_wanted.connect(page.load_wanted)
        return part

    def downloads() -> DownloadsPart:
        part = DownloadsPart(program.downloads, program.hub_token)
        part.page_wanted.connect(lambda _name: page.show_part("find"))
        part.page_wanted.connect(program.discovering.open)
        part.load_wanted.connect(page.load_wanted)
        return part

    def file_view() -> FilePart:
        looks = Looks(themes, Icons(program.resources), background)
        return FilePart(program.planner.viewing, program.file_export, program.models, looks)

    page.add_part(
        "library",
        translate("Discover", "On this machine"),
        translate("Discover", "The models that are here, and what each is"),
        library,
    )
    page.add_part(
        "find",
        translate("Discover", "Find"),
        translate("Discover", "Models on the hub: search, judge, download"),
        find,
    )
    page.add_part(
        "downloads",
        translate("Discover", "Downloads"),
        translate("Discover", "What is on its way, and what has come"),
        downloads,
    )
    page.add_part(
        "inspect",
        translate("Discover", "Inspect"),
        translate("Discover", "What a model file is made of, and what differs between two"),
        file_view,
    )
    return page
