"""A short list of texts: a line that adds one, and below it a line for each that can be changed or removed."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.sampling.escapes import with_escapes, without_escapes
from app.gui.widgets.labels import label
from app.gui.widgets.words import set_hint

LONGEST_TEXT = 200


class TextList(QWidget):
    """Emits `edited` with the whole list; blank texts and those that are there already are refused in words."""

    edited = Signal(tuple)
    """Somebody added, changed or removed a text: all of them in order."""

    def __init__(self, name: str, title: str, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"{name}_box")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setAccessibleName(title)
        self._name, self._title = name, title
        self._texts: tuple[str, ...] = ()
        self._rows: list[QWidget] = []
        self._new = _line(self.tr("New text for “{title}”").format(title=title))
        self._new.setObjectName(f"{name}_new")
        self._new.setPlaceholderText(self.tr("Add a text, \\n is a line break"))
        self._add = _button("+", self.tr("Add it to “{title}”").format(title=title))
        self._add.setObjectName(f"{name}_add")
        self._problem = label(look="problem", pixels=theme.SMALL_PX, name=f"{name}_problem")
        self._problem.setWordWrap(True)
        self._problem.hide()
        caption = label(title)
        caption.setBuddy(self._new)
        for widget in (caption, self._new):
            set_hint(widget, hint)
        self._lines = QVBoxLayout()
        self._lines.setSpacing(theme.SPACE_XS)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(caption)
        column.addWidget(_row(self._new, self._add))
        column.addWidget(self._problem)
        column.addLayout(self._lines)
        self._new.returnPressed.connect(self._take_new)
        self._new.textEdited.connect(lambda: self._refuse(""))
        self._add.clicked.connect(self._take_new)

    def set_texts(self, texts: tuple[str, ...]) -> None:
        """Show a list without saying that somebody changed it."""
        if texts == self._texts:
            return
        self._texts = texts
        while len(self._rows) > len(texts):
            gone = self._rows.pop()
            self._lines.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        while len(self._rows) < len(texts):
            self._rows.append(self._make_row(len(self._rows)))
            self._lines.addWidget(self._rows[-1])
            self._follow_the_eye()
        for index, text in enumerate(texts):
            self._show(index, text)

    def _make_row(self, index: int) -> QWidget:
        line = _line("")
        line.setObjectName(f"{self._name}_{index}")
        remove = _button("×", "")
        remove.setObjectName(f"{self._name}_{index}_remove")
        line.editingFinished.connect(lambda: self._take(index, line.text()))
        remove.clicked.connect(lambda: self._remove(index))
        return _row(line, remove)

    def _follow_the_eye(self) -> None:
        stops: list[QWidget] = [self._new, self._add]
        for row in self._rows:
            stops += [*row.findChildren(QLineEdit), *row.findChildren(QToolButton)]
        for one, next_one in pairwise(stops):
            QWidget.setTabOrder(one, next_one)

    def _show(self, index: int, text: str) -> None:
        shown = with_escapes(text)
        line, remove = self._rows[index].findChild(QLineEdit), self._rows[index].findChild(QToolButton)
        if isinstance(line, QLineEdit) and isinstance(remove, QToolButton):
            line.setText(shown)
            line.setAccessibleName(self.tr("{title}, text {number}").format(title=self._title, number=index + 1))
            set_hint(remove, self.tr("Remove “{text}”").format(text=shown))
            remove.setAccessibleName(remove.toolTip())

    def _take_new(self) -> None:
        text = without_escapes(self._new.text())
        if self._accepts(text, self._texts):
            self._new.clear()
            self._use((*self._texts, text))

    def _take(self, index: int, shown: str) -> None:
        if index >= len(self._texts):
            return
        text, others = without_escapes(shown), (*self._texts[:index], *self._texts[index + 1 :])
        if text != self._texts[index] and self._accepts(text, others):
            self._use((*self._texts[:index], text, *self._texts[index + 1 :]))
        else:
            self._show(index, self._texts[index])

    def _remove(self, index: int) -> None:
        self._new.setFocus()
        self._use((*self._texts[:index], *self._texts[index + 1 :]))

    def _use(self, texts: tuple[str, ...]) -> None:
        self._refuse("")
        self.set_texts(texts)
        self.edited.emit(texts)

    def _accepts(self, text: str, others: tuple[str, ...]) -> bool:
        if not text.strip(" \t"):
            self._refuse(self.tr("A blank text cannot be used: type some, or remove the line with ×."))
            return False
        if text in others:
            self._refuse(self.tr("“{text}” is in the list already.").format(text=with_escapes(text)))
            return False
        return True

    def _refuse(self, reason: str) -> None:
        self._problem.setText(reason)
        self._problem.setVisible(bool(reason))


def _line(name: str) -> QLineEdit:
    line = QLineEdit()
    line.setProperty("look", "field")
    line.setAccessibleName(name)
    line.setMaxLength(LONGEST_TEXT)
    return line


def _button(sign: str, name: str) -> QToolButton:
    button = QToolButton()
    button.setText(sign)
    button.setProperty("look", "icon")
    button.setAccessibleName(name)
    set_hint(button, name)
    return button


def _row(line: QLineEdit, button: QToolButton) -> QWidget:
    made = QWidget()
    made.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(theme.SPACE_XS)
    row.addWidget(line, 1)
    row.addWidget(button)
    return made
