"""The window: lays out the parts that it is given, and says when somebody drops a model on it or closes it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QByteArray, QEvent, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QIcon, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QStyle,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.gui import theme
from app.gui.actions import Actions
from app.gui.chat.given_files import files_in
from app.gui.chat.page import ChatPage
from app.gui.chat.step_bar import StepBar
from app.gui.chat.system_prompt_line import SystemPromptLine
from app.gui.history.panel import HistoryPanel
from app.gui.icons import Icons
from app.gui.live.panel import LivePanel
from app.gui.models.bar import ModelBar
from app.gui.next_token.panel import NextTokenPanel
from app.gui.notices import NoticeBar
from app.gui.sampling.panel import SamplingPanel
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.drop_cover import DropCover
from app.gui.widgets.header import Header
from app.gui.widgets.page_tabs import PageTabs
from app.gui.widgets.panes import Panes
from app.gui.widgets.pressing import press_focused
from app.gui.widgets.section import Section
from app.gui.widgets.section_column import SectionColumn

FIRST_SIZE = QSize(1280, 800)
SMALLEST_SIZE = QSize(900, 600)
SUFFIX = ".gguf"


class Parts(NamedTuple):
    """What the window lays out, each already joined to its service."""

    system_prompt: SystemPromptLine
    chat_page: ChatPage
    model_bar: ModelBar
    notice_bar: NoticeBar
    history: HistoryPanel
    live: LivePanel
    sampling: SamplingPanel
    next_token: NextTokenPanel
    step_bar: StepBar


class MainWindow(QMainWindow):
    """Conversations on the left, the open one in the middle, figures and settings on the right."""

    model_dropped = Signal(Path)
    """A model file was dropped on the window."""
    files_dropped = Signal(list)
    """Other files were dropped on it: their paths."""
    page_wanted = Signal(str)
    """Somebody wants to see a page: its name."""
    closing = Signal()
    """The window is about to go."""

    def __init__(self, parts: Parts, icons: Icons) -> None:
        super().__init__()
        self.setWindowTitle("Tokenlight")
        self.setWindowIcon(QIcon(icons.application_icon()))
        self.setMinimumSize(SMALLEST_SIZE)
        self.resize(FIRST_SIZE)
        self.setAcceptDrops(True)
        self.actions_by_name = Actions(self, parts.chat_page)
        self.parts = parts
        parts.chat_page.show_above_composer(parts.step_bar)
        self._pages: dict[str, QWidget] = {"chat": parts.chat_page}
        self._stack = QStackedWidget()
        self._make_buttons(icons)
        self.sections = SectionColumn(
            [
                Section(icons, "live", self.tr("Live"), parts.live, show_details=parts.live.show_details),
                Section(icons, "sampling", self.tr("Sampling"), parts.sampling),
                Section(icons, "next_token", self.tr("Next token"), parts.next_token, grows=True),
            ]
        )
        self.panes = Panes(self._left(), self._middle(), self._right())
        self.panes.shown_changed.connect(self._show_buttons)
        self.setCentralWidget(self.panes)
        self._cover = DropCover(self)
        self.actions_by_name.tell_keys(self)
        self._show_buttons()
        self.show_page("chat")

    @property
    def page(self) -> str:
        """The page that is shown."""
        shown = self._stack.currentWidget()
        return next(name for name, page in self._pages.items() if page is shown)

    def add_page(self, name: str, page: QWidget) -> None:
        """Add a page that was just made."""
        self.actions_by_name.tell_keys(page)
        self._pages[name] = page
        self._stack.addWidget(page)

    def show_page(self, name: str) -> None:
        """Show another page; beside any but the chat nothing stands on the right, unless somebody opens it."""
        is_chat = name == "chat"
        self._stack.setCurrentWidget(self._pages[name])
        self._above_chat.setVisible(is_chat)
        self.panes.lay_aside("right", away=not is_chat)
        self.actions_by_name.leave_escape(name == "inside")  # where it lets go of a token
        self._tabs.show_page(name)
        self.parts.notice_bar.show_page(name)

    def come_forward(self) -> None:
        """Stand in front of other windows, and be no icon."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def saved_geometry(self) -> str:
        """Return size and place as text."""
        return bytes(self.saveGeometry().toBase64().data()).decode("ascii")

    def use_geometry(self, saved: str) -> None:
        """Take a size and place from earlier, if it is one."""
        if saved:
            self.restoreGeometry(QByteArray.fromBase64(saved.encode("ascii", "replace")))
        free = self.screen().availableGeometry()  # smaller than the usual size where everything is drawn larger
        frame = self.frameGeometry().size() - self.size()
        if not self.isVisible():  # it has no frame yet, and will have one that is at least as high
            frame.setHeight(self.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight))
        room = free.size() - frame
        self.setMinimumSize(SMALLEST_SIZE.boundedTo(room))
        self.resize(self.size().boundedTo(room))
        if not free.contains(self.geometry()):
            self.move(free.topLeft())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files, and say what letting go of them does: a model is loaded, others are attached."""
        model, others = _dropped(event)
        if model is not None and others:
            self._cover.say(self.tr("Let go to load this model and attach the other files to your message"))
        elif model is not None:
            self._cover.say(self.tr("Let go to load this model"))
        elif others:
            self._cover.say(self.tr("Let go to attach the files to your message"))
        if model is not None or others:
            _accept_copy(event)

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        """Say nothing any more."""
        self._cover.say("")

    def dropEvent(self, event: QDropEvent) -> None:
        """Say that a model or other files were dropped."""
        self._cover.say("")
        model, others = _dropped(event)
        if model is not None or others:
            _accept_copy(event)
        if model is not None:
            self.model_dropped.emit(model)
        if others:
            self.files_dropped.emit(others)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Say that the window goes; the program ends everything in order after it."""
        self.closing.emit()
        super().closeEvent(event)

    def event(self, event: QEvent) -> bool:
        """Take Esc for an open drawer, and for the page Inside, before it stops an answer."""
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if is_escape and event.type() == QEvent.Type.ShortcutOverride and self._takes_escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close an open drawer with Esc; Enter presses what has the keyboard."""
        if event.key() == Qt.Key.Key_Escape and self.panes.drawer is not None:
            self.panes.close_drawer()
        elif not press_focused(self, event):
            super().keyPressEvent(event)

    @property
    def _takes_escape(self) -> bool:
        return self.panes.drawer is not None or self.page == "inside"  # which lets go of a token with it

    def _make_buttons(self, icons: Icons) -> None:
        def button(name: str, icon: str, words: str, action: str) -> IconButton:
            return IconButton(icons, icon, words, object_name=name, action=action)

        self.history_button = button("history_button", "history", self.tr("Chats"), "history_action")
        self.new_chat_button = button("header_new_chat_button", "new_chat", self.tr("New chat"), "new_chat_action")
        self.theme_button = button("theme_button", "moon", self.tr("Light or dark theme"), "theme_action")
        self.panel_button = button("panel_button", "panel", self.tr("Side panel"), "panel_action")
        self.preferences_button = button(
            "preferences_button", "settings", self.tr("Preferences"), "preferences_action"
        )
        self.preferences_button.setText(self.tr("Preferences"))
        self.preferences_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._tabs = PageTabs(
            (
                ("chat", "chat_button", self.tr("Chat"), self.tr("The conversation")),
                (
                    "compare",
                    "compare_button",
                    self.tr("Compare"),
                    self.tr("One prompt, many settings, side by side"),
                ),
                (
                    "inside",
                    "inside_button",
                    self.tr("Inside"),
                    self.tr("An answer token by token"),
                ),
                (
                    "planner",
                    "planner_button",
                    self.tr("Planner"),
                    self.tr("Whether a model fits, and how fast it would be"),
                ),
                (
                    "models",
                    "models_button",
                    self.tr("Models"),
                    self.tr("Find models on the hub, and download them"),
                ),
            ),
            icons,
            {**{name: name for name in ("chat", "compare", "inside", "planner")}, "models": "model"},
        )
        self._tabs.wanted.connect(self.page_wanted)
        self._tabs.tell_actions(
            {
                "chat": "chat_page_action",
                **{name: f"{name}_action" for name in ("compare", "inside", "planner", "models")},
            }
        )
        self._more = IconButton(icons, "more", self.tr("Menu"), object_name="menu_button")
        menu = QMenu(self._more)
        menu.setAccessibleName(self._more.accessibleName())
        self.actions_by_name.fill(menu)
        self._more.setMenu(menu)
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def _show_buttons(self) -> None:
        """A new chat can be begun in the header while the list of chats, which has a button for it, is away."""
        self.new_chat_button.setVisible(not self.panes.shows("left"))

    def _left(self) -> QFrame:
        pane = QFrame()
        pane.setObjectName("history_pane")
        pane.setProperty("look", "sidebar_left")
        column = QVBoxLayout(pane)
        column.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.parts.history, 1)
        column.addWidget(self.preferences_button, 0, Qt.AlignmentFlag.AlignLeft)
        return pane

    def _middle(self) -> QFrame:
        pane = QFrame()
        pane.setObjectName("chat_surface")
        column = QVBoxLayout(pane)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        before, behind = (
            (self.history_button, self.new_chat_button),
            (self.theme_button, self.panel_button, self._more),
        )
        column.addWidget(Header(before, self._tabs, self.parts.model_bar, behind))
        column.addWidget(self._above())
        column.addWidget(self.parts.notice_bar)
        self._stack.addWidget(self.parts.chat_page)
        column.addWidget(self._stack, 1)
        return pane

    def _above(self) -> QWidget:
        """Return what belongs to the chat alone and stands over what is told."""
        self._above_chat = QWidget()
        column = QVBoxLayout(self._above_chat)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.parts.system_prompt)
        return self._above_chat

    def _right(self) -> QFrame:
        pane = QFrame()
        pane.setObjectName("side_panel")
        pane.setProperty("look", "sidebar")
        column = QVBoxLayout(pane)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.sections)
        return pane


def _accept_copy(event: QDropEvent) -> None:
    """Take files as copies, whatever is proposed: who is told that they were moved deletes them."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()


def _dropped(event: QDropEvent) -> tuple[Path | None, list[Path]]:
    """Return the model that is to be loaded, the first where there are several, and the files that are no models."""
    files = files_in(event.mimeData())
    models = [path for path in files if path.name.lower().endswith(SUFFIX)]
    return next(iter(models), None), [path for path in files if path not in models]
