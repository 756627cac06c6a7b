"""The list by which people choose a file to look at: any file, or one of the models that are here, which are searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QWidget

from app.core.model import FoundModel
from app.gui.widgets.search_box import SearchPopup
from app.gui.widgets.words import hint_of
from app.services.plan_values import OfferedModel
from app.services.told_apart import told_apart
from app.services.viewing_words import one_line
from app.system.model_files import readable

ANY_FILE = ""
"""What stands for a file that is none of the models; it comes first, where it is found without scrolling."""

translate = QCoreApplication.translate


def files_popup(
    button: QWidget, models: Sequence[FoundModel], chosen: Callable[[Path], None], browse: Callable[[], None]
) -> SearchPopup:
    """Return a list of the models that opens below a button, with a way to any file; it goes when it closes."""
    rows = QStandardItemModel()
    _add(rows, translate("FileView", "Another file…"), ANY_FILE, translate("FileView", "Look for a file on the disk"))
    offered = (OfferedModel(each.path, one_line(each.name), each.quantisation, each.size, ()) for each in models)
    for model in told_apart(tuple(offered)):
        words = " · ".join(part for part in (model.name, model.quantisation) if part)
        _add(rows, words, model.path, readable(Path(model.path)))
    popup = SearchPopup(
        button,
        rows,
        translate("FileView", "Search your models"),
        translate("FileView", "No model here is called so: clear the line for “Another file…”."),
    )
    rows.setParent(popup)
    popup.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def take(row: int) -> None:
        path = str(rows.item(row).data(Qt.ItemDataRole.UserRole))
        popup.close()
        if path == ANY_FILE:
            browse()
        else:
            chosen(Path(path))

    popup.taken.connect(take)
    return popup


def _add(rows: QStandardItemModel, words: str, path: str, hint: str) -> None:
    item = QStandardItem(words)
    item.setData(path, Qt.ItemDataRole.UserRole)
    item.setData(hint, Qt.ItemDataRole.StatusTipRole)  # a folder is searched as well
    item.setToolTip(hint_of(hint))
    rows.appendRow(item)


def others(models: Sequence[FoundModel], shown: Sequence[Path]) -> list[FoundModel]:
    """Return the models that are not shown: those of the first one's architecture and name come first."""
    paths = {str(path) for path in shown}
    first = next((model for model in models if shown and model.path == str(shown[0])), None)

    def key(model: FoundModel) -> tuple[bool, bool, str, str]:
        is_like = first is not None and model.architecture == first.architecture
        is_same = first is not None and model.name == first.name
        return not is_same, not is_like, model.name.casefold(), model.path

    return sorted((model for model in models if model.path not in paths), key=key)
