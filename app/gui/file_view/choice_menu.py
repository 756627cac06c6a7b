"""The menu by which people choose a file to look at: a model that is here, or any other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMenu, QWidget

from app.core.model import FoundModel
from app.gui.widgets.words import hint_of
from app.services.viewing_words import one_line
from app.system.model_files import readable

MOST_MODELS = 30
"""A menu that is longer is looked through worse than a list of files."""

translate = QCoreApplication.translate


def files_menu(
    parent: QWidget, models: Sequence[FoundModel], chosen: Callable[[Path], None], browse: Callable[[], None]
) -> QMenu:
    """Return a menu of the models, and below them a way to any file."""
    menu = QMenu(parent)
    menu.setObjectName("file_view_menu")
    menu.setToolTipsVisible(True)
    for model in models[:MOST_MODELS]:
        words = " · ".join(part for part in (one_line(model.name), model.quantisation) if part)
        action = menu.addAction(words.replace("&", "&&"))
        action.setToolTip(hint_of(readable(Path(model.path))))
        action.triggered.connect(lambda _checked=False, path=model.path: chosen(Path(path)))
    if models:
        menu.addSeparator()
    menu.addAction(translate("FileView", "Another file…")).triggered.connect(lambda _checked=False: browse())
    return menu


def others(models: Sequence[FoundModel], shown: Sequence[Path]) -> list[FoundModel]:
    """Return the models that are not shown: those of the first one's architecture and name come first."""
    paths = {str(path) for path in shown}
    first = next((model for model in models if shown and model.path == str(shown[0])), None)

    def key(model: FoundModel) -> tuple[bool, bool, str, str]:
        is_like = first is not None and model.architecture == first.architecture
        is_same = first is not None and model.name == first.name
        return not is_same, not is_like, model.name.casefold(), model.path

    return sorted((model for model in models if model.path not in paths), key=key)
