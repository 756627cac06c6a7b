"""Where an access token is given and forgotten: it goes into this system's keyring, and is shown nowhere."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.core.hub_token import HubToken, is_token
from app.gui import theme
from app.gui.widgets.kept_label import KeptLabel
from app.gui.widgets.labels import label
from app.gui.widgets.tall_dialog import TallDialog
from app.gui.widgets.words import render
from app.services.hub_token import HubTokenKeeping

WIDTH_PX = 480


class TokenDialog(TallDialog):
    """Says where the token is; the line holds what is typed until it is given, and no longer."""

    def __init__(self, keeping: HubTokenKeeping, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._keeping = keeping
        self._is_giving = False
        self.setObjectName("token_dialog")
        self.setWindowTitle(self.tr("Access token"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        self._state = KeptLabel(look="muted", pixels=theme.SMALL_PX, name="token_state")
        self._problem = label(look="problem", pixels=theme.SMALL_PX, name="token_problem")
        self._problem.setWordWrap(True)
        self._field = QLineEdit()
        self._field.setObjectName("token_line")
        self._field.setProperty("look", "field")
        self._field.setEchoMode(QLineEdit.EchoMode.Password)
        self._field.setPlaceholderText(self.tr("Paste your access token"))
        self._field.setAccessibleName(self.tr("Access token"))
        self._keep = self._button(self.tr("Keep"), "token_keep_button", self._give)
        self._keep.setProperty("look", "primary")
        self._forget = self._button(self.tr("Forget the token"), "token_forget_button", keeping.forget)
        self._close = self._button(self.tr("Close"), "token_close_button", self.close)
        self.hold(self._contents(), self._buttons())
        self._field.textChanged.connect(lambda _text: self._show())
        self._field.returnPressed.connect(self._give)
        self._disconnect = keeping.changed.connect(self._show)
        self._show()
        keeping.look()

    def done(self, result: int) -> None:
        """Listen no longer, hold nothing, and close."""
        self._disconnect()
        self._field.clear()
        super().done(result)

    def _give(self) -> None:
        typed = self._field.text().strip()
        if is_token(typed) and not self._keeping.is_busy:
            self._is_giving = True
            self._keeping.keep(typed)

    def _show(self) -> None:
        keeping, typed = self._keeping, self._field.text().strip()
        if self._is_giving and not keeping.is_busy:
            self._is_giving = False
            if keeping.problem is None:
                self._field.clear()  # calls this once more
                self._close.setFocus()
                return
        is_wrong = bool(typed) and not is_token(typed)
        problem = keeping.problem or (keeping.state.problem if keeping.state is not None else None)
        words = self.tr("No access token looks like this: copy it again.") if is_wrong else ""
        if not words and problem is not None and not keeping.is_busy:
            words = render(problem)
        self._problem.setText(words)
        self._problem.setVisible(bool(words))
        self._state.setText(self._words(keeping.state))
        self._keep.setEnabled(bool(typed) and not is_wrong and not keeping.is_busy)
        self._forget.setEnabled(
            keeping.state is not None and keeping.state.place == "keyring" and not keeping.is_busy
        )

    def _words(self, state: HubToken | None) -> str:
        if self._keeping.is_busy or state is None:
            return self.tr("Looking into this system's keyring …")
        match state.place:
            case "environment":
                return self.tr("The token for {host} is that of HF_TOKEN.").format(host=state.host)
            case "keyring":
                return self.tr("The token for {host} is in this system's keyring.").format(host=state.host)
            case _:
                return self.tr("There is no token for {host}.").format(host=state.host)

    def _contents(self) -> QWidget:
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(label(self.tr("Access token"), pixels=theme.HEADING_PX, bold=True))
        hint = label(
            self.tr(
                "Models whose terms you have accepted are given to your account: make a token that may read on the hub's"
                " page of your settings, and paste it here. It goes into this system's keyring, to that hub alone, and"
                " into no file."
            ),
            look="muted",
            pixels=theme.SMALL_PX,
        )
        hint.setWordWrap(True)
        for each in (hint, self._field, self._problem, self._state):
            column.addWidget(each)
        return contents

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._forget)
        row.addStretch(1)
        row.addWidget(self._close)
        row.addWidget(self._keep)
        return row

    def _button(self, words: str, name: str, slot: object) -> QPushButton:
        button = QPushButton(words)
        button.setObjectName(name)
        button.setAccessibleName(words)
        button.setAutoDefault(False)
        button.clicked.connect(lambda _checked=False: slot())  # type: ignore[operator]
        return button


def open_token_dialog(keeping: HubTokenKeeping, asked_by: QWidget) -> None:
    """Have a token given or forgotten, over the window in which somebody asked for that."""
    TokenDialog(keeping, asked_by.window()).open()
