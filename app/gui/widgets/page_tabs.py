"""Which page of the window is shown: a row of words, of which one is underlined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QToolButton, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.words import set_hint

_ICON_TAB_PX = 36
_NONE: Mapping[str, str] = {}
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class PageTabs(QWidget):
    """One button a page; the arrow keys go from one to the next."""

    wanted = Signal(str)
    """Somebody wants to see a page: its name."""

    def __init__(
        self, pages: Sequence[tuple[str, str, str, str]], icons: Icons | None = None, drawn: Mapping[str, str] = _NONE
    ) -> None:
        """Each page has a name, the object name of its button, what it is called, and what is said on hover.

        `drawn` are icons by the names of pages, for where there is no room for words.
        """
        super().__init__()
        self._icons, self._drawn = icons, drawn
        self._buttons: dict[str, QToolButton] = {}
        self._hints: dict[str, str] = {}
        self._words_px: int | None = None
        self._has_words = True
        self._group = QButtonGroup(self)
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_XS)
        for page in pages:
            self.add_page(*page)

    def add_page(self, name: str, object_name: str, words: str, hint: str, *, at: int = -1) -> None:
        """Add the button of another page, at the end unless `at` says before which."""
        if self._icons is not None and name in self._drawn:
            button: QToolButton = IconButton(
                self._icons, self._drawn[name], words, object_name=object_name, look="tab"
            )
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        else:
            button = QToolButton()
            button.setObjectName(object_name)
            button.setProperty("look", "tab")
        button.setText(words)
        button.setAccessibleName(words)
        set_hint(button, hint)
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.clicked.connect(lambda _checked=False, name=name: self.wanted.emit(name))
        self._group.addButton(button)
        self._hints[name] = hint
        self._words_px = None
        others = list(self._buttons.items())
        others.insert(len(others) if at < 0 else at, (name, button))
        self._buttons = dict(others)
        self._row.insertWidget(at, button)
        self._put_into_tab_order(button)

    def _put_into_tab_order(self, button: QToolButton) -> None:
        """Let Tab come to a button where it stands in the row."""
        buttons = list(self._buttons.values())
        place = buttons.index(button)
        if place:
            QWidget.setTabOrder(buttons[place - 1], button)
        elif len(buttons) > 1:
            QWidget.setTabOrder(buttons[1], button)
            QWidget.setTabOrder(button, buttons[1])

    @property
    def words_px(self) -> int:
        """The width with the words of the pages."""
        if self._words_px is None:
            self.show_words(True)
            self._words_px = self.sizeHint().width()
        return self._words_px

    @property
    def icons_px(self) -> int:
        """The width with icons alone: as many squares, where each page has one."""
        if self._icons is None:
            return self.words_px
        gaps = self._row.spacing() * (len(self._buttons) - 1)
        return gaps + sum(theme.scaled(_ICON_TAB_PX) for _ in self._buttons)

    def show_words(self, shown: bool) -> bool:
        """Say what the pages are called, or show icons alone, whose names are said on hover; return whether it is new."""
        if shown is self._has_words:
            return False
        self._has_words = shown
        style = Qt.ToolButtonStyle.ToolButtonTextOnly if shown else Qt.ToolButtonStyle.ToolButtonIconOnly
        for name, button in self._buttons.items():
            if name in self._drawn:
                button.setToolButtonStyle(style)
                button.setMinimumWidth(0 if shown else theme.scaled(_ICON_TAB_PX))
                set_hint(button, self._hints[name] if shown else f"{button.text()}: {self._hints[name]}")
        self.updateGeometry()
        return True

    def changeEvent(self, event: QEvent) -> None:
        """Measure words anew in another font or style."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._words_px = None

    def tell_actions(self, actions: Mapping[str, str]) -> None:
        """Tell on hover the keys of the actions of the window that lead to the pages of these names."""
        for name, action in actions.items():
            set_hint(self._buttons[name], self._hints[name], action)

    def show_page(self, name: str) -> None:
        """Mark the page that is shown."""
        self._buttons[name].setChecked(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the page beside."""
        step = _STEPS.get(Qt.Key(event.key()))
        buttons = list(self._buttons.values())
        focus = next((place for place, button in enumerate(buttons) if button.hasFocus()), None)
        if step is None or focus is None:
            super().keyPressEvent(event)
            return
        is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        place = focus + (-step if is_turned else step)
        if 0 <= place < len(buttons):
            buttons[place].setFocus()
            buttons[place].click()
