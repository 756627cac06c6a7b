"""The window: lays out the parts that it is given, and says when somebody drops a model on it or closes it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QIcon
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QMenu,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.gui import theme
from app.gui.actions import Actions
from app.gui.chat.page import ChatPage
from app.gui.icons import Icons
from app.gui.live import LivePanel
from app.gui.models import ModelBar
from app.gui.notices import NoticeBar
from app.gui.sampling import SamplingPanel
from app.gui.widgets.buttons import IconButton

PANEL_WIDTH_PX = 304
FIRST_SIZE = QSize(1280, 800)
SMALLEST_SIZE = QSize(760, 440)
SUFFIX = ".gguf"


class MainWindow(QMainWindow):
    """Header above, conversation in the middle, figures and settings on the right."""

    model_dropped = Signal(Path)
    """A model file was dropped on the window."""
    closing = Signal()
    """The window is about to go."""

    def __init__(
        self,
        chat_page: ChatPage,
        model_bar: ModelBar,
        notice_bar: NoticeBar,
        live: LivePanel,
        sampling: SamplingPanel,
        icons: Icons,
    ) -> None:
        super().__init__()
        self.setWindowTitle("Tokenlight")
        self.setWindowIcon(QIcon(icons.application_icon()))
        self.setMinimumSize(SMALLEST_SIZE)
        self.resize(FIRST_SIZE)
        self.setAcceptDrops(True)
        self.actions_by_name = Actions(self)
        self.chat_page, self.model_bar, self.notice_bar = chat_page, model_bar, notice_bar
        self.live, self.sampling = live, sampling
        self.new_chat_button = IconButton(
            icons, "new_chat", self.tr("New chat (Ctrl+N)"), object_name="new_chat_button"
        )
        self.theme_button = IconButton(icons, "moon", self.tr("Light or dark theme"), object_name="theme_button")
        self.panel_button = IconButton(icons, "panel", self.tr("Side panel (F9)"), object_name="panel_button")
        self._more = IconButton(icons, "more", self.tr("Menu"), object_name="menu_button")
        self._panel = self._side_panel()
        self.setCentralWidget(self._middle())

    def show_panel(self, shown: bool) -> None:
        """Show or hide the side panel."""
        self._panel.setVisible(shown)

    @property
    def panel_shown(self) -> bool:
        """Whether the side panel is there."""
        return not self._panel.isHidden()

    def saved_geometry(self) -> str:
        """Return size and place as text."""
        return bytes(self.saveGeometry().toBase64().data()).decode("ascii")

    def use_geometry(self, saved: str) -> None:
        """Take a size and place from earlier, if it is one."""
        if saved:
            self.restoreGeometry(QByteArray.fromBase64(saved.encode("ascii", "replace")))
        free = self.screen().availableGeometry()  # smaller than the usual size where everything is drawn larger
        self.resize(self.size().boundedTo(free.size()))
        if not free.contains(self.geometry()):
            self.move(free.topLeft())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept one model file."""
        if _model_in(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Say that a model was dropped."""
        path = _model_in(event)
        if path is not None:
            event.acceptProposedAction()
            self.model_dropped.emit(path)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Say that the window goes; the program ends everything in order after it."""
        self.closing.emit()
        super().closeEvent(event)

    def _middle(self) -> QWidget:
        middle = QWidget()
        middle.setObjectName("page")
        layout = QVBoxLayout(middle)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._header())
        chat = QFrame()
        chat.setObjectName("chat_surface")
        inner = QVBoxLayout(chat)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(0)
        inner.addWidget(self.notice_bar)
        inner.addWidget(self.chat_page, 1)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(chat, 1)
        row.addWidget(self._panel)
        layout.addLayout(row, 1)
        return middle

    def _header(self) -> QFrame:
        header = QFrame()
        header.setProperty("look", "header")
        row = QHBoxLayout(header)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_S)
        row.setSpacing(theme.SPACE_S)
        menu = QMenu(self._more)
        menu.addActions(self.actions_by_name.in_order)
        self._more.setMenu(menu)
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        row.addWidget(self.new_chat_button)
        row.addWidget(self.model_bar, 1)
        for button in (self.theme_button, self.panel_button, self._more):
            row.addWidget(button)
        return header

    def _side_panel(self) -> QFrame:
        panel = QFrame()
        panel.setProperty("look", "sidebar")
        panel.setFixedWidth(PANEL_WIDTH_PX)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_M, theme.SPACE_M, theme.SPACE_M)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(self.live)
        column.addWidget(self.sampling)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(content)
        outer = QVBoxLayout(panel)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)
        return panel


def _model_in(event: QDropEvent) -> Path | None:
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return next((path for path in paths if path.name.lower().endswith(SUFFIX)), None)
