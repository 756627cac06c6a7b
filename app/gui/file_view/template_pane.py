"""The chat templates of a file as coloured text: never run here, and nothing in them is taken for markup."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.gguf_view import GgufView, TemplateView
from app.gui import theme
from app.gui.chat.text_alone import Background, TextAlone
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.labels import label
from app.services.turns import Turn
from app.services.units import count
from app.services.viewing_words import one_line


class TemplatePane(QWidget):
    """Shows one at a time."""

    def __init__(self, themes: theme.Themes, background: Background) -> None:
        super().__init__()
        self._templates: tuple[TemplateView, ...] | None = None
        self._sources: tuple[str, ...] = ()
        self._number = 0
        self.setObjectName("file_view_template_pane")
        sentence = self.tr(
            "How a chat is written out for the model: a small program that puts each message between special tokens. "
            "Here it is only shown."
        )
        self.sentence = label(sentence, look="muted", name="file_view_sentence")
        self.sentence.setWordWrap(True)
        self.sentence.setMinimumWidth(1)
        self.names = ChoiceBox()
        self.names.setObjectName("file_view_template_box")
        self.names.setAccessibleName(self.tr("Template"))
        self.state = label(look="muted", pixels=theme.SMALL_PX, name="file_view_template_state")
        self.view = TextAlone(themes, background, theme.SPACE_S)
        self.view.places.takes_all = True
        self.view.setObjectName("file_view_template")
        self.view.setAccessibleName(self.tr("Chat template"))
        self.names.activated.connect(lambda _row: self._show())
        self.setFocusProxy(self.view)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.sentence)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_M)
        row.addWidget(self.names)
        row.addWidget(self.state, 1)
        column.addLayout(row)
        column.addWidget(self.view, 1)
        column.addStretch(0)

    def show_view(self, view: GgufView, sources: tuple[str, ...]) -> None:
        """Show another file's; `sources` are its templates in Markdown."""
        if view.templates is self._templates:
            return
        self._templates, self._sources = view.templates, sources
        self.names.clear()
        for each in view.templates:
            self.names.addItem(one_line(each.name) or self.tr("The usual template"))
        self.names.setVisible(len(view.templates) > 1)
        self.view.setVisible(bool(view.templates))
        self._show()

    def _show(self) -> None:
        if not self._templates:
            self.state.setText(self.tr("This file holds no template: a usual one is taken for it."))
            return
        place = max(self.names.currentIndex(), 0)
        shown = self._templates[place]
        said = self.tr("{count} characters").format(count=count(len(shown.text) + shown.left_out))
        if shown.left_out:
            left_out = self.tr("the last {count} are not shown").format(count=count(shown.left_out))
            said = f"{said}, {left_out}"
        self.state.setText(said)
        self._number += 1
        self.view.show_text(Turn(self._number, "assistant", self._sources[place]))
