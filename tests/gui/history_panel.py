"""The list of conversations as somebody sits before it, and the service behind it as the test leads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import msgspec
from PySide6.QtCore import QDate, QLocale, QModelIndex, QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListView, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.core.conversation import Conversation
from app.core.signal import Signal
from app.gui.history.model import HistoryModel, Role
from app.gui.history.panel import HistoryPanel
from app.gui.icons import Icons
from app.gui.widgets.chat_words import start_ms
from app.services.chat_folders import ChatFolders
from app.services.conversations import Conversations
from app.services.notices import Notices
from app.system.resources import find_resources
from app.system.settings_file import SettingsFile

TODAY = QDate(2026, 11, 30)
HOUR_MS = 3_600_000


def head(number: int, title: str, days_ago: int = 0, hour: int = 9) -> Conversation:
    when = start_ms(TODAY.addDays(-days_ago)) + hour * HOUR_MS
    return Conversation(number, title, when, when)


SKY = head(1, "Blue sky", 0, 12)
SAMPLING = head(2, "Sampling", 0, 11)
GPU = head(3, "GPU plan", 1)
OLD = head(4, "Old words", 40)


class StandIn:
    """The service as the panel sees it: does what is wished at once and remembers it."""

    def __init__(self, *heads: Conversation) -> None:
        self.changed: Signal[()] = Signal()
        self.heads = heads
        self.open_id: int | None = None
        self.busy: frozenset[int] = frozenset()
        self.is_opening = False
        self.wishes: list[tuple[object, ...]] = []

    def become(self, *heads: Conversation) -> None:
        self.heads = heads
        self.changed.emit()

    def new(self) -> None:
        self.wishes.append(("new",))
        self.open_id = None
        self.changed.emit()

    def open(self, number: int) -> None:
        self.wishes.append(("open", number))
        self.open_id = number
        self.changed.emit()

    def rename(self, number: int, title: str) -> None:
        self.wishes.append(("rename", number, title))
        self.become(
            *(msgspec.structs.replace(each, title=title) if each.id == number else each for each in self.heads)
        )

    def change(self, *numbers: int, **changes: object) -> None:
        self.wishes.append(("change", *numbers, changes))
        self.become(
            *(msgspec.structs.replace(each, **changes) if each.id in numbers else each for each in self.heads)
        )

    def undo_delete(self) -> None:
        self.wishes.append(("undo_delete",))

    def delete(self, number: int) -> None:
        self.wishes.append(("delete", number))
        self.become(*(each for each in self.heads if each.id != number))


class Seen:
    """The panel as somebody sits before it."""

    def __init__(self, bot: QtBot, *heads: Conversation) -> None:
        self.bot = bot
        self.service = StandIn(*heads)
        self.today = TODAY
        self.host = QWidget()
        self.folders = folders_of(self.service)
        self.panel = HistoryPanel(
            cast(Conversations, self.service),
            self.folders,
            Icons(find_resources()),
            self.host,
            today=lambda: self.today,
        )
        self.panel.new_wanted.connect(self.service.new)
        self.host.resize(232, 640)
        self.panel.resize(232, 640)
        bot.addWidget(self.host)
        with bot.waitExposed(self.host):
            self.host.show()
        self.list = self.find(QListView, "conversation_list")
        self.menu = self.find(QMenu, "conversation_menu")

    def find(self, kind: type[Any], name: str) -> Any:
        found = self.panel.findChild(kind, name)
        assert found is not None, name
        return found

    def texts(self) -> list[str]:
        model = self.list.model()
        return [str(model.index(row, 0).data()) for row in range(model.rowCount())]

    def index(self, number: int) -> QModelIndex:
        model = self.list.model()
        assert isinstance(model, HistoryModel)
        return model.index_of(number)

    def middle(self, number: int) -> QPoint:
        return cast(QPoint, self.list.visualRect(self.index(number)).center())

    def clicks(self, number: int) -> None:
        QTest.mouseClick(self.list.viewport(), Qt.MouseButton.LeftButton, pos=self.middle(number))

    def presses(
        self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier, at: QWidget | None = None
    ) -> None:
        QTest.keyClick(at or self.list, key, modifier)

    @property
    def field(self) -> QLineEdit | None:
        fields = self.panel.findChildren(QLineEdit, "conversation_title_field")
        return next((field for field in fields if field.isVisible()), None)

    def enters(self, title: str) -> None:
        """Type a title and Enter; the field goes a moment later."""
        self.types(title)
        assert self.field is not None
        self.presses(Qt.Key.Key_Return, at=self.field)
        self.bot.waitUntil(lambda: self.field is None, timeout=60_000)

    def title_typed(self) -> str:
        assert self.field is not None
        return self.field.text()

    def types(self, title: str) -> None:
        assert self.field is not None
        QTest.keyClicks(self.field, title)

    def current(self) -> object:
        return self.list.currentIndex().data(Role.ID)

    def chooses(self, name: str) -> None:
        """Choose an entry of the menu that is open."""
        assert self.menu.isVisible()
        action = next(each for each in self.menu.actions() if each.objectName() == name)
        QTest.mouseClick(self.menu, Qt.MouseButton.LeftButton, pos=self.menu.actionGeometry(action).center())

    def picture(self) -> QImage:
        return cast(QImage, self.list.grab().toImage())


def model_of(service: StandIn, today: QDate = TODAY) -> HistoryModel:
    return HistoryModel(cast(Conversations, service), folders_of(service), lambda: today)


def folders_of(service: StandIn) -> ChatFolders:
    """Return the folders of what stands in for the service; their settings are in no file."""
    settings = SettingsFile(Path("none"), lambda _name, _work: None)
    return ChatFolders(cast(Conversations, service), settings, Notices())


def rows(model: HistoryModel) -> list[str]:
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def month(date: QDate) -> str:
    return f"{QLocale().standaloneMonthName(date.month())} {date.year()}"
