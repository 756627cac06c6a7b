"""The bar that says in words what happened, with one thing to do about it.

It takes room above the text; what somebody just did goes by itself, and lies over a drawer that is open.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QMoveEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.labels import label
from app.gui.widgets.panes import Panes
from app.gui.widgets.words import render
from app.services.notices import Notice, Notices, Remedy

BRIEF_MS, OFFER_MS = 10_000, 20_000
"""How long what passes stays, and for how long where it offers something; only while it is seen and left alone."""
ICON_PX = 20
WITHOUT_MODEL = ("planner", "models")
"""Pages that need no model in memory."""
_COVERS = (
    QEvent.Type.WindowBlocked,
    QEvent.Type.WindowUnblocked,
    QEvent.Type.WindowStateChange,
)


class NoticeBar(QWidget):
    """Shows the latest notice until it is dismissed: the place in the layout, and over it the card with the words."""

    remedy_wanted = Signal(str)
    """Somebody chose what to do: a `Remedy`."""
    details_wanted = Signal(str, list)
    """Somebody wants to read the lines of the log: the sentence and the lines."""

    keyboard_left = Signal()
    """What had the keyboard in it is gone: it belongs where people write."""

    def __init__(self, notices: Notices, themes: theme.Themes, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice_bar")
        self._notices = notices
        self._themes = themes
        self._icons = icons
        self._card = _Card(self)
        self._panes: Panes | None = None
        self._elsewhere: frozenset[Remedy] = frozenset()
        """What other places offer now: two buttons for the same are one too many."""
        self._page = ""
        self._load_failed: tuple[Notice, str] | None = None
        """The newest one that is about a load, and the page where it was told first."""
        self._picture = QLabel()
        self._text = label(name="notice_text")
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._remedy = QPushButton(self._words("open_model"))
        self._remedy.setObjectName("notice_action")
        self._details = QPushButton(self.tr("Details"))
        self._details.setObjectName("notice_details")
        close = IconButton(icons, "close", self.tr("Dismiss"), object_name="notice_close")
        self._card.hold(self._picture, self._text, self._details, self._remedy, close)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._let_pass)
        self._card.pointed.connect(self._start_or_stop)
        self._remedy.clicked.connect(self._choose)
        self._details.clicked.connect(self._tell_details)
        close.clicked.connect(notices.dismiss)
        self._disconnect = notices.changed.connect(self._show)
        themes.changed.connect(self._show)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the notices no longer."""
        self._timer.stop()
        self._disconnect()

    def float_over(self, panes: Panes) -> None:
        """Show what passes above these panes: a drawer that is open does not cover it."""
        self._panes = panes
        panes.shown_changed.connect(self._place)
        panes.window().installEventFilter(self)
        self._show()

    def leave_to_others(self, remedy: Remedy, is_elsewhere: bool) -> None:
        """Offer nothing that another place offers now, or offer it again."""
        elsewhere = self._elsewhere | {remedy} if is_elsewhere else self._elsewhere - {remedy}
        if elsewhere != self._elsewhere:
            self._elsewhere = elsewhere
            self._show()

    def show_page(self, name: str) -> None:
        """Stand above another page: what is about a load does not follow to one that needs no model."""
        self._page = name
        self._show()

    def said(self, notice: Notice) -> str:
        """Return the words of a notice."""
        sentences = [render(sentence) for sentence in (notice.sentence, *notice.more)]
        # What lasts was told of several things: each is read by itself.
        is_list = (notice.lasts or notice.apart) and len(sentences) > 1
        said = "\n".join(f"• {each}" for each in sentences) if is_list else " ".join(sentences)
        return self.tr("“{file}”: {said}").format(file=notice.file, said=said) if notice.file else said

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let no time count while a dialog stands before the window, or nobody sees it."""
        if event.type() in _COVERS:
            self._start_or_stop()
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        """Ask for the card's height."""
        return QSize(0, self.heightForWidth(max(self.width(), self.minimumWidth())))

    def minimumSizeHint(self) -> QSize:
        """Return the same height: words are not cut."""
        return self.sizeHint()

    def hasHeightForWidth(self) -> bool:
        """Return that longer words take more lines."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the words in a width."""
        return self._card.height_in(min(self._card.natural_width(), width) if self._is_brief else width)

    def event(self, event: QEvent) -> bool:
        """Lay the card over whatever the bar stands in, which does not cut it off at the bar's own edge."""
        if event.type() == QEvent.Type.ParentChange:
            self._lift()
            self._place()
        return super().event(event)

    def moveEvent(self, event: QMoveEvent) -> None:
        """Keep the card where the bar is."""
        super().moveEvent(event)
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the card as wide as the bar."""
        super().resizeEvent(event)
        self._place()

    @property
    def _is_brief(self) -> bool:
        notice = self._notices.latest
        return notice is not None and notice.brief

    def _lift(self) -> None:
        """Hang the card where it belongs: what passes above everything, what holds for a while beside the page."""
        parent: QWidget | None = self.parentWidget()
        if self._panes is not None and self._is_brief:
            parent = self._panes
        if parent is None or parent is self._card.parentWidget():
            return
        if self._panes is not None:
            self._panes.keep_on_top(self._card if parent is self._panes else None)
        self._card.setParent(parent)  # which hides it

    def _place(self) -> None:
        card = self._card
        parent = card.parentWidget()
        assert parent is not None
        room = QRect(self.mapTo(parent, QPoint()), self.size())
        if self._panes is not None and parent is self._panes:
            free = self._panes.uncovered()
            room = QRect(QPoint(free.left(), room.top()), QSize(free.width(), room.height()))
        width = min(card.natural_width(), room.width()) if self._is_brief else room.width()
        left = room.left() + (room.width() - width) // 2
        card.setGeometry(left, room.top(), width, card.height_in(width))
        card.raise_()

    def _show(self) -> None:
        """Show the latest notice; the keyboard never goes on from a button that is gone to a strange one."""
        had_keyboard = self._card.has_keyboard
        self._show_latest()
        if had_keyboard and not self._card.has_keyboard:
            self.keyboard_left.emit()

    def _show_latest(self) -> None:
        notice = self._here()
        self.setVisible(notice is not None)
        self._lift()
        self._card.setVisible(notice is not None)
        if notice is None:
            self._timer.stop()
            return
        self._text.setText(self.said(notice))
        self.setAccessibleName(self._text.text())
        self._remedy.setVisible(notice.remedy is not None and notice.remedy not in self._elsewhere)
        if notice.remedy is not None:
            self._remedy.setText(self._words(notice.remedy))
        self._details.setVisible(bool(notice.details))
        self._card.set_look(notice.level)
        colour = self._themes.current.colour("danger" if notice.level == "error" else "accent")
        self._picture.setPixmap(self._icons.icon(notice.level, colour).pixmap(ICON_PX, ICON_PX))
        self.updateGeometry()
        self._place()
        self._start_or_stop()

    def _here(self) -> Notice | None:
        """Return what is to be shown above this page."""
        notice = self._notices.latest
        if notice is None or not notice.of_load:
            return notice
        if self._load_failed is None or self._load_failed[0] is not notice:
            self._load_failed = notice, self._page
        return None if self._page in WITHOUT_MODEL and self._load_failed[1] != self._page else notice

    def _start_or_stop(self) -> None:
        """Let time count only while the card is seen and nobody is about to use what is offered."""
        notice = self._notices.latest
        is_covered = QApplication.activeModalWidget() is not None or self.window().isMinimized()
        if notice is not None and notice.brief and not is_covered and not self._card.is_pointed_at:
            self._timer.start(BRIEF_MS if notice.remedy is None else OFFER_MS)
        else:
            self._timer.stop()

    def _let_pass(self) -> None:
        notice = self._notices.latest
        if notice is not None and notice.brief:
            self._notices.withdraw(notice)

    def _words(self, remedy: Remedy) -> str:
        words: dict[Remedy, str] = {
            "undo_delete": self.tr("Undo"),
            "undo_branch": self.tr("Undo"),
            "undo_withdraw": self.tr("Undo"),
            "undo_folder": self.tr("Undo"),
            "undo_system_prompt": self.tr("Undo"),
            "undo_preset": self.tr("Undo"),
            "restore_preset": self.tr("Undo"),
            "show_sent": self.tr("Show it"),
            "restart_engine": self.tr("Restart the engine"),
            "open_model": self.tr("Open a model…"),
            "choose_template": self.tr("Choose a template…"),
            "load_options": self.tr("Load options…"),
            "larger_context": self.tr("Larger context…"),
            "load_again": self.tr("Load"),
            "load_downloaded": self.tr("Load and chat"),
        }
        return words[remedy]

    def _choose(self) -> None:
        notice = self._notices.latest
        if notice is not None and notice.remedy is not None:
            self.remedy_wanted.emit(notice.remedy)

    def _tell_details(self) -> None:
        notice = self._notices.latest
        if notice is not None:
            self.details_wanted.emit(self.said(notice), list(notice.details))


class _Card(QWidget):
    """The words and buttons with room around them, over everything else beside it."""

    pointed = Signal()
    """The pointer or the focus came or went."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._frame = QFrame()
        self._text = QLabel()
        around = QHBoxLayout(self)
        around.setContentsMargins(theme.SPACE_L, theme.SPACE_S, theme.SPACE_L, theme.SPACE_S)
        around.addWidget(self._frame)
        self._row = QHBoxLayout(self._frame)
        self._row.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        self._row.setSpacing(theme.SPACE_M)

    @property
    def has_keyboard(self) -> bool:
        """Whether one of its buttons has the keyboard, or will have it once the window is in use."""
        focus: QWidget | None = self.window().focusWidget()
        return focus is not None and self.isVisible() and self.isAncestorOf(focus)

    @property
    def is_pointed_at(self) -> bool:
        """Whether the pointer is over it or something in it has the focus."""
        focus = QApplication.focusWidget()
        return self.underMouse() or (focus is not None and self.isAncestorOf(focus))

    def hold(self, picture: QLabel, text: QLabel, *buttons: QWidget) -> None:
        """Lay out what it shows."""
        self._text = text
        self._row.addWidget(picture)
        self._row.addWidget(text, 1)
        for button in buttons:
            self._row.addWidget(button)
            button.installEventFilter(self)

    def natural_width(self) -> int:
        """Return the width in which the words take one line."""
        self._row.activate()
        one_line = self._text.fontMetrics().horizontalAdvance(self._text.text())
        return self.sizeHint().width() + max(0, one_line + theme.SPACE_XS - self._text.sizeHint().width())

    def height_in(self, width: int) -> int:
        """Return the height that everything takes in a width."""
        self._row.activate()  # words that are just set count at once
        layout = self.layout()
        return layout.totalHeightForWidth(width) if layout is not None else 0

    def set_look(self, level: str) -> None:
        """Take the colours of a hint or an error."""
        if self._frame.property("look") != level:
            self._frame.setProperty("look", level)
            self.style().unpolish(self._frame)
            self.style().polish(self._frame)

    def event(self, event: QEvent) -> bool:
        """Say when the pointer comes or goes."""
        handled = super().event(event)
        if event.type() in (QEvent.Type.Enter, QEvent.Type.Leave):
            self.pointed.emit()
        return handled

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Say when the focus comes to a button or goes."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.pointed.emit()
        return super().eventFilter(watched, event)
