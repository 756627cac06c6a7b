"""What a search of the hub is narrowed by: order, size, architecture, license and language."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from app.core.hub_search import HubQuery
from app.gui import theme
from app.gui.discover.catalogue_words import language
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.words import set_hint

_BILLION = 1_000_000_000
_ARCHITECTURES = (
    "llama", "qwen2", "qwen3", "qwen3moe", "gemma2", "gemma3", "phi3", "mistral3", "granite", "falcon-h1", "lfm2",
    "olmo2", "deepseek2", "gpt-oss", "smollm3",
)  # fmt: skip
_LICENSES = ("apache-2.0", "mit", "llama3.1", "llama3.2", "llama3.3", "gemma", "cc-by-4.0", "cc-by-nc-4.0", "other")
_LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "sv", "ru", "uk", "tr", "ar", "he", "fa", "hi", "id", "vi",
    "th", "zh", "ja", "ko",
)  # fmt: skip


class Filters(QWidget):
    """A few boxes; each begins with what leaves everything in."""

    changed = Signal()
    """Somebody chose something else."""

    def __init__(self) -> None:
        super().__init__()
        self._boxes: dict[str, ChoiceBox] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(theme.SPACE_S)
        self._add("sort", self.tr("Order"), self._orders())
        self._add("size", self.tr("Size of the model in parameters"), self._sizes())
        self._add("license", self.tr("License"), _choices(self.tr("Any license"), _LICENSES))
        languages = [(self.tr("Any language"), ""), *((language(each), each) for each in _LANGUAGES)]
        self._add("language", self.tr("Language"), languages)
        self._add("architecture", self.tr("Architecture"), _choices(self.tr("Any architecture"), _ARCHITECTURES))

    def narrowed(self, text: str) -> HubQuery:
        """Return the question for a text."""
        values = {name: box.currentData() for name, box in self._boxes.items()}
        least, most = values.pop("size")
        query = HubQuery(text, least_parameters=least, most_parameters=most)
        return msgspec.structs.replace(query, **values)

    def leave_all_in(self) -> None:
        """Narrow nothing any more, without telling anybody."""
        for name, box in self._boxes.items():
            if name != "sort":
                box.setCurrentIndex(0)

    @property
    def is_narrow(self) -> bool:
        """Whether something is left out."""
        return any(box.currentIndex() for name, box in self._boxes.items() if name != "sort")

    def _add(self, name: str, title: str, choices: Sequence[tuple[str, object]]) -> None:
        box = ChoiceBox()
        box.setObjectName(f"discover_{name}_box")
        box.setAccessibleName(title)
        set_hint(box, title)
        box.setMinimumWidth(theme.scaled(80))
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for words, value in choices:
            box.addItem(words, value)
        box.activated.connect(self.changed)
        row, column = divmod(len(self._boxes), 2)
        self._grid.addWidget(box, row, column, 1, 2 if name == "architecture" else 1)
        self._boxes[name] = box

    def _orders(self) -> list[tuple[str, object]]:
        return [
            (self.tr("Most downloads"), "downloads"),
            (self.tr("Most likes"), "likes"),
            (self.tr("Newest first"), "date"),
        ]

    def _sizes(self) -> list[tuple[str, object]]:
        return [
            (self.tr("Any size"), (None, None)),
            (self.tr("Up to 1B"), (None, _BILLION)),
            (self.tr("1B to 4B"), (_BILLION, 4 * _BILLION)),
            (self.tr("4B to 10B"), (4 * _BILLION, 10 * _BILLION)),
            (self.tr("10B to 35B"), (10 * _BILLION, 35 * _BILLION)),
            (self.tr("35B and more"), (35 * _BILLION, None)),
        ]


def _choices(anything: str, names: Sequence[str]) -> list[tuple[str, str]]:
    return [(anything, ""), *((each, each) for each in names)]
