"""What a diagnosis rests on, row by row, and the button of the change that would help most."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.core.diagnosis import Diagnosis, Remedy
from app.gui import theme
from app.gui.widgets.labels import label
from app.gui.widgets.words import render, set_hint


class DiagnosisDetails(QWidget):
    """Shows the evidence of one diagnosis; nothing while there is none."""

    remedy_wanted = Signal(object)
    """Somebody wants the change, a `Remedy`."""

    def __init__(self, name: str) -> None:
        """`name` begins the names of what is in it."""
        super().__init__()
        self.setObjectName(name)
        self._name = name
        self._shown: Diagnosis | None = None
        self._cells: list[QLabel] = []
        self._rows = QGridLayout()
        self._rows.setHorizontalSpacing(theme.SPACE_M)
        self._rows.setVerticalSpacing(theme.SPACE_XS)
        self._rows.setColumnStretch(0, 2)
        self._rows.setColumnStretch(1, 3)
        self.button = QPushButton()
        self.button.setObjectName(f"{name}_remedy")
        self.button.clicked.connect(lambda _checked=False: self._want())
        self.buttons = QHBoxLayout()
        self.buttons.setSpacing(theme.SPACE_S)
        self.buttons.addWidget(self.button)
        self.buttons.addStretch(1)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.SPACE_M)
        self._column.addLayout(self._rows)
        self._column.addLayout(self.buttons)
        self.show_diagnosis(None)

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """What each row says, and its figure."""
        texts = [cell.text() for cell in self._cells]
        return tuple(zip(texts[::2], texts[1::2], strict=True))

    def add(self, widget: QWidget) -> None:
        """Show something more under the evidence, as long as there is some."""
        self._column.addWidget(widget)

    def show_diagnosis(self, diagnosis: Diagnosis | None) -> None:
        """Show the evidence and the remedy of another diagnosis."""
        if diagnosis == self._shown and self._cells:
            return
        self._shown = diagnosis
        for cell in self._cells:
            self._rows.removeWidget(cell)
            cell.deleteLater()
        self._cells = []
        for number, row in enumerate(diagnosis.evidence if diagnosis is not None else ()):
            what, figure = render(row.what), render(row.figure)
            self._put(label(what, look="muted", name=f"{self._name}_what"), number, 0)
            cell = label(figure, name=f"{self._name}_figure")
            cell.setAccessibleName(self.tr("{what}: {figure}").format(what=what, figure=figure))
            self._put(cell, number, 1)
        remedy = diagnosis.remedy if diagnosis is not None else None
        self.button.setVisible(remedy is not None)
        if remedy is not None:
            words = render(remedy.words)
            self.button.setText(words)
            self.button.setAccessibleName(words)
            set_hint(self.button, self._hint(remedy))

    def _put(self, cell: QLabel, row: int, column: int) -> None:
        cell.setWordWrap(True)
        cell.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        self._rows.addWidget(cell, row, column)
        self._cells.append(cell)

    def _hint(self, remedy: Remedy) -> str:
        match remedy.kind:
            case "load_options":
                return self.tr("Opens the options that the model is loaded with, with this one changed.")
            case "new_chat":
                return self.tr("Begins a chat with nothing to read again; this one stays as it is.")
            case "choose_model":
                return self.tr("Choose another file: fewer parameters, or fewer bits for each.")
            case "top_k":
                return self.tr("Changes the settings of this chat: rarer tokens are not looked at.")

    def _want(self) -> None:
        if self._shown is not None and self._shown.remedy is not None:
            self.remedy_wanted.emit(self._shown.remedy)
