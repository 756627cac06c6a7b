"""A section of the side panel: a header that folds and moves it, and a body as high as it needs to be.

Knows neither what the body shows nor where the section stands; a body that has details is told to show or to leave them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.words import set_hint

ARROW_PX = 16
LETTERS_APART_PX = 1
HEADER_APART_PX = 2
EDGE_PX = theme.SPACE_XS - 1
"""The style sheet gives the rest, or thicker borders in its place."""
_STEPS: dict[int, int] = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
"""With Alt."""
DetailsChoice = Literal["fit", "shown", "hidden"]
"""Details are shown where there is room for them, always, or never."""


class SectionHeader(QPushButton):
    """The title: a click folds the section, dragging or Alt+Up and Alt+Down move it."""

    step_wanted = Signal(int)
    """Somebody wants the section one place up (-1) or down (+1)."""
    dragged = Signal(QPoint)
    """The header is dragged: where the pointer is on the screen."""
    dropped = Signal(QPoint)
    """The header was let go: where the pointer is on the screen."""

    def __init__(self, icons: Icons, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title.upper(), parent)
        self._icons = icons
        self._pressed_at: QPoint | None = None
        self._is_dragged = False
        self.setObjectName(f"{name}_header")
        self.setProperty("look", "section")
        self.setAccessibleName(title)
        self.setCheckable(True)
        self.setChecked(True)
        self.setFont(_title_font())
        self.setIconSize(QSize(ARROW_PX, ARROW_PX))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._grip = QLabel()
        self._grip.setFixedSize(ARROW_PX, ARROW_PX)
        self._grip.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, theme.SPACE_XS, 0)
        row.addStretch(1)
        row.addWidget(self._grip)
        self.toggled.connect(self._draw)
        self._draw()

    def describe(self, place: int, places: int) -> None:
        """Say to people who cannot see it where the section stands and how it is moved."""
        state = self.tr("Unfolded") if self.isChecked() else self.tr("Folded")
        text = self.tr("{state}, section {place} of {places}. Alt+Up and Alt+Down move it.").format(
            state=state, place=place, places=places
        )
        self.setAccessibleDescription(text)
        set_hint(self, self.tr("Click to fold or unfold, drag or press Alt+Up or Alt+Down to move"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Fold with Enter as with Space, move with Alt and an arrow."""
        step = _STEPS.get(event.key())
        if event.modifiers() & Qt.KeyboardModifier.AltModifier and step is not None:
            self.step_wanted.emit(step)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where a drag would begin."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._pressed_at = event.globalPosition().toPoint()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Begin to drag once the pointer has moved far enough, and say where it is."""
        place = event.globalPosition().toPoint()
        begin = self._pressed_at
        far = QGuiApplication.styleHints().startDragDistance()
        if begin is not None and not self._is_dragged and (place - begin).manhattanLength() >= far:
            self._is_dragged = True
            self.setDown(False)
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        if self._is_dragged:
            self.dragged.emit(place)
        else:
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go without a click where it was a drag."""
        self._pressed_at = None
        if self._is_dragged:
            self._is_dragged = False
            self.unsetCursor()
            self.dropped.emit(event.globalPosition().toPoint())
        super().mouseReleaseEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icons again in the colours of another theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._draw()

    def _draw(self) -> None:
        colour = self.palette().placeholderText().color()
        self.setIcon(self._icons.icon("down" if self.isChecked() else "right", colour))
        self._grip.setPixmap(self._icons.icon("grip", colour).pixmap(ARROW_PX, ARROW_PX))


class Section(QFrame):
    """A card of a header and a body that can be folded away; some bodies have details, others take what height is left."""

    folded_changed = Signal()
    """The section was folded or unfolded."""
    details_wanted = Signal(bool)
    """Somebody wants to see the details, or to see them no longer."""

    def __init__(
        self,
        icons: Icons,
        name: str,
        title: str,
        body: QWidget,
        *,
        grows: bool = False,
        show_details: Callable[[bool], None] | None = None,
    ) -> None:
        """`name` is what is remembered of it; `show_details` lets the body show all it has, or its figures alone."""
        super().__init__()
        self.name = name
        self.grows = grows
        self.choice: DetailsChoice = "fit"
        self._body = body
        self._tell_body = show_details
        self._details_shown = True
        self._full_px: int | None = None
        self.setObjectName(f"{name}_section")
        self.setProperty("look", "card")
        self.setAccessibleName(title)
        self.header = SectionHeader(icons, name, title)
        self.details_button = _details_button(self.tr("Details"), name, title)
        self.details_button.clicked.connect(self.details_wanted)
        self._around = QVBoxLayout()
        self._around.addWidget(body)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(EDGE_PX, EDGE_PX, EDGE_PX, EDGE_PX)
        layout.setSpacing(HEADER_APART_PX)
        layout.addLayout(self._head())
        layout.addLayout(self._around, 1)
        self.header.toggled.connect(self._show_folded)
        self._show_parts()

    @property
    def folded(self) -> bool:
        """Whether only the header is there."""
        return not self.header.isChecked()

    @property
    def has_details(self) -> bool:
        """Whether there is more to show than the figures."""
        return self._tell_body is not None

    @property
    def details_name(self) -> str:
        """What the details are called among what is folded."""
        return f"{self.name}_details"

    @property
    def always_name(self) -> str:
        """What is remembered where people want the details although there is no room for them."""
        return f"{self.name}_fitting"

    @property
    def remembered(self) -> tuple[str, ...]:
        """What is remembered of its details as folded: they themselves, or the fitting, or nothing."""
        names = {"fit": (), "shown": (self.always_name,), "hidden": (self.details_name,)}
        return names[self.choice] if self.has_details else ()

    def fold(self, folded: bool) -> None:
        """Fold or unfold."""
        self.header.setChecked(not folded)

    def recall(self, folded: Sequence[str]) -> None:
        """Take over from what was folded earlier."""
        self.fold(self.name in folded)
        if self.has_details:
            self.choice = "hidden" if self.details_name in folded else "fit"
            self.choice = "shown" if self.always_name in folded else self.choice

    def height_px(self, *, whole: bool = False) -> int:
        """Return the height that it needs, or as far as is known needs with its details, in the width that it has."""
        needed = self.heightForWidth(self.width()) if self.hasHeightForWidth() else self.sizeHint().height()
        if self.folded or not self.has_details:
            return needed
        if self._details_shown:
            self._full_px = needed
        return self._full_px if whole and self._full_px is not None else needed

    @property
    def is_measured(self) -> bool:
        """Whether it is known how high it is with its details."""
        return self._full_px is not None

    def forget_height(self) -> None:
        """Measure the details again: the width is another one."""
        self._full_px = None

    def fit(self, fits: bool) -> None:
        """Show the details as people chose, or where they left it open, as it fits."""
        shown = fits if self.choice == "fit" else self.choice == "shown"
        self.details_button.setChecked(shown)
        if self._tell_body is not None and shown != self._details_shown:
            self._details_shown = shown
            self._tell_body(shown)

    def _show_folded(self) -> None:
        self._show_parts()
        self.folded_changed.emit()

    def _show_parts(self) -> None:
        self._body.setVisible(not self.folded)
        self.details_button.setVisible(self.has_details and not self.folded)
        side = theme.SPACE_M - theme.SPACE_XS
        self._around.setContentsMargins(side, 0, side, 0 if self.folded else theme.SPACE_XS)

    def _head(self) -> QGridLayout:
        """Return the header with the button that lies on it, left of the grip."""
        above = QHBoxLayout()
        above.addStretch(1)
        above.addWidget(self.details_button)
        above.addSpacing(ARROW_PX + 2 * theme.SPACE_XS)
        head = QGridLayout()
        head.addWidget(self.header, 0, 0)
        head.addLayout(above, 0, 0)
        return head


def section_keys() -> list[tuple[str, tuple[QKeySequence, ...]]]:
    """Return what keys do with the header of a section: in words, and the keys."""
    translate = QCoreApplication.translate
    moves = tuple(QKeySequence(Qt.KeyboardModifier.AltModifier.value | key) for key in _STEPS)
    return [
        (translate("SectionHeader", "Move the section up or down"), moves),
        (translate("SectionHeader", "Fold or unfold the section"), (QKeySequence("Return"), QKeySequence("Space"))),
    ]


def _details_button(text: str, name: str, title: str) -> QToolButton:
    button = QToolButton()
    button.setObjectName(f"{name}_details_button")
    button.setProperty("look", "quiet")
    button.setText(text)
    button.setAccessibleName(f"{title}: {text}")
    button.setCheckable(True)
    button.setChecked(True)
    button.setFont(theme.font(theme.SMALL_PX - 1))
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button


def _title_font() -> QFont:
    font = QFont(theme.font(theme.SMALL_PX - 1, bold=True))
    font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, LETTERS_APART_PX)
    return font
