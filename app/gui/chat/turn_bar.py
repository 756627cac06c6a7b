"""The buttons at one turn: which version it is, and what can be done with it.

Knows no service; says what is wanted of which turn.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.gui import theme
from app.gui.chat.transcript_keys import named
from app.gui.chat.turn_wish import Wish
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton, TickButton
from app.gui.widgets.words import set_hint
from app.services.branches import Version
from app.services.turns import Turn

_WIDEST_VERSION = "99 / 99"


class TurnBar(QWidget):
    """One row of buttons."""

    wanted = Signal(object, str)
    """Something is wanted (`Wish`) of a turn."""
    left = Signal()
    """The keyboard went from one of its buttons."""

    def __init__(self, icons: Icons, parent: QWidget, prefix: str = "") -> None:
        """`prefix` tells the names of its buttons from those of another bar."""
        super().__init__(parent)
        self.turn: Turn | None = None
        self._known: tuple[object, ...] = ()
        """What is shown now."""
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._earlier = IconButton(icons, "left", self.tr("Earlier version"), object_name=f"{prefix}earlier_button")
        self._later = IconButton(icons, "right", self.tr("Later version"), object_name=f"{prefix}later_button")
        self._number = QLabel()
        self._number.setObjectName(f"{prefix}version_label")
        self._number.setAccessibleName(self.tr("Version"))
        self._number.setFont(theme.font(theme.SMALL_PX))
        self._number.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._number.setMinimumWidth(self._number.fontMetrics().horizontalAdvance(_WIDEST_VERSION))
        self._go_on = IconButton(icons, "go_on", self.tr("Continue the answer"), object_name=f"{prefix}go_on_button")
        self._again = IconButton(icons, "again", self.tr("Answer again"), object_name=f"{prefix}answer_again_button")
        self._edit = IconButton(icons, "edit", self.tr("Edit"), object_name=f"{prefix}edit_button")
        self._copy = TickButton(icons, "copy", self.tr("Copy the answer"), object_name=f"{prefix}copy_answer_button")
        self._more = IconButton(
            icons, "more", self.tr("More for this message"), object_name=f"{prefix}turn_more_button"
        )
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        for widget in (self._earlier, self._number, self._later, self._go_on, self._again):
            self._row.addWidget(widget)
        for widget in (self._edit, self._copy, self._more):
            self._row.addWidget(widget)
        self._wishes: dict[IconButton, Wish] = {
            self._earlier: "earlier",
            self._later: "later",
            self._go_on: "go_on",
            self._again: "again",
            self._edit: "edit",
            self._more: "more",
        }
        for button, wish in self._wishes.items():
            button.clicked.connect(lambda _checked=False, wish=wish: self._want(wish))
        self._copy.clicked.connect(self._want_copy)
        for button in (*self._wishes, self._copy):
            button.installEventFilter(self)

    @property
    def more_button(self) -> IconButton:
        """The button that a menu opens at."""
        return self._more

    @property
    def arrows(self) -> tuple[IconButton, IconButton]:
        """The buttons that step through versions."""
        return self._earlier, self._later

    @property
    def held(self) -> IconButton | None:
        """The button that the keyboard would be at with the window in use."""
        focus = self.window().focusWidget()
        return next((button for button in (*self._wishes, self._copy) if button is focus), None)

    @property
    def has_keyboard(self) -> bool:
        """Whether one of its buttons has the keyboard."""
        return any(button.hasFocus() for button in (*self._wishes, self._copy))

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Notice that the keyboard goes."""
        if event.type() == QEvent.Type.FocusOut:
            self.left.emit()
        return False

    def show_turn(self, turn: Turn, version: Version, *, acts: bool, is_last: bool, is_busy: bool) -> None:
        """Show what can be done with a turn; without `acts` only which version it is."""
        self.turn = turn
        known = (turn.number, turn.state, bool(turn.text), turn.can_go_on, version, acts, is_last, is_busy)
        if known == self._known:  # it is asked for with every growth of an answer
            return
        self._known = known
        is_user, is_open = turn.role == "user", turn.state in ("waiting", "writing")
        for widget in (self._earlier, self._number, self._later):
            widget.setVisible(version.of > 1)
        self._show_arrows(version)
        self._number.setText(f"{version.number} / {version.of}")
        self._number.setAccessibleName(
            self.tr("Version {number} of {of}").format(number=version.number, of=version.of)
        )
        self._go_on.setVisible(acts and is_last and not is_busy and turn.can_go_on)
        self._again.setVisible(acts and not is_user and not is_busy)
        self._edit.setVisible(acts and not is_open)
        self._edit.setEnabled(not (is_user and is_busy))
        self._edit.set_name(self.tr("Edit and ask again") if is_user else self.tr("Edit the answer"))
        self._copy.setVisible(acts and bool(turn.text) and not is_open)
        self._copy.set_name(self.tr("Copy the question") if is_user else self.tr("Copy the answer"))
        self._more.setVisible(acts)
        self._name_keys()
        self._row.activate()

    def _show_arrows(self, version: Version) -> None:
        """Let the arrows step where there is a version; the keyboard stays on them and never goes on to a button."""
        can_use = {self._earlier: version.number > 1, self._later: version.number < version.of}
        for arrow, other in ((self._earlier, self._later), (self._later, self._earlier)):
            if arrow is self.window().focusWidget() and not can_use[arrow] and can_use[other]:
                other.setEnabled(True)
                other.setFocus()
        for arrow, usable in can_use.items():
            arrow.setEnabled(usable)

    def _name_keys(self) -> None:
        """Say on hover which keys do the same, with the message at hand."""
        keys: dict[IconButton, Wish] = {button: wish for button, wish in self._wishes.items() if wish != "go_on"}
        for button, wish in {**keys, self._copy: "copy"}.items():
            set_hint(button, named(button.accessibleName(), wish))

    def tick(self) -> None:
        """Show that the text is on the clipboard."""
        self._copy.tick()

    def _want(self, wish: Wish) -> None:
        if self.turn is not None:
            self.wanted.emit(self.turn, wish)

    def _want_copy(self) -> None:
        is_plain = bool(QGuiApplication.keyboardModifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._want("copy_plain" if is_plain else "copy")
