"""Where people search the hub: the line, what it is narrowed by, how the search goes, and what it found."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.core.hub_search import HubListing, HubRepository, unread_words
from app.gui import theme
from app.gui.discover.catalogue_list import CatalogueList
from app.gui.discover.filters import Filters
from app.gui.discover.words import ago, facts_of, shown
from app.gui.widgets.buttons import text_button
from app.gui.widgets.clear_line import ClearLine
from app.gui.widgets.labels import in_parts, label
from app.gui.widgets.words import hint_of, render, set_hint
from app.services.discovering import Discovering
from app.services.units import count


class SearchPane(QWidget):
    """Asks nothing of the hub before somebody searches."""

    model_wanted = Signal(str)
    """Somebody wants the page of a repository: its name."""
    token_wanted = Signal()
    """Somebody wants to give another access token, or none."""

    def __init__(self, discovering: Discovering, catalogue: CatalogueList) -> None:
        """`catalogue` is what stands there before somebody searches."""
        super().__init__()
        self._discovering = discovering
        self.catalogue = catalogue
        self._listed: tuple[HubRepository, ...] = ()
        self.line = ClearLine()
        self.line.searches_page = True
        self.line.setObjectName("discover_line")
        self.line.setProperty("look", "field")
        self.line.setPlaceholderText(self.tr("A name, such as qwen"))
        self.line.setAccessibleName(self.tr("Search for models on the hub"))
        self._search = text_button(self.tr("Search"), "discover_search_button")
        set_hint(self._search, self.tr("Search the hub; without a name, for what most people take"))
        self.filters = Filters()
        self.state = label(look="muted", pixels=theme.SMALL_PX, name="discover_state")
        self.problem = label(look="problem", pixels=theme.SMALL_PX, name="discover_problem")
        self.retry = text_button(self.tr("Try again"), "discover_retry_button")
        self.token = text_button(self.tr("Access token…"), "discover_search_token_button")
        self.more = text_button(self.tr("Show more"), "discover_more_button")
        self.back = text_button(self.tr("Back to the models Tokenlight knows"), "discover_back_button")
        self.list = QListWidget()
        self.list.setObjectName("discover_list")
        self.list.setAccessibleName(self.tr("Models that were found"))
        self.list.setProperty("look", "rows")
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._room = QWidget()
        """Stands where the list would, so that nothing above it moves."""
        self._lay_out()
        self.line.returnPressed.connect(self.search)
        self._search.clicked.connect(lambda _checked=False: self.search())
        self.retry.clicked.connect(lambda _checked=False: self._try_again())
        self.token.clicked.connect(lambda _checked=False: self.token_wanted.emit())
        self.more.clicked.connect(lambda _checked=False: discovering.search_further())
        self.back.clicked.connect(lambda _checked=False: self._go_back())
        self.filters.changed.connect(self.search)
        self.list.itemSelectionChanged.connect(self._open)
        self._disconnect = discovering.searched.connect(self._show)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._disconnect()

    def search(self) -> None:
        """Search for what is typed."""
        self._discovering.search(self.filters.narrowed(self.line.text().strip()))

    def _go_back(self) -> None:
        """Search for nothing, and show what is known without a hub."""
        self.line.clear()
        self.filters.leave_all_in()
        self.catalogue.setFocus()
        self._discovering.forget_search()

    def _try_again(self) -> None:
        found, query = self._discovering, self._discovering.query
        if found.search_problem is not None and found.listing is not None and found.has_more:
            found.search_further()
        elif query is not None:
            found.search(query)

    def _open(self) -> None:
        items = self.list.selectedItems()
        if items:
            self.model_wanted.emit(items[0].data(Qt.ItemDataRole.UserRole))

    def _show(self) -> None:
        found, listing = self._discovering, self._discovering.listing
        state, problem = self._state_words(listing), self._problem_words(listing)
        if state and listing is not None and listing.unread and not found.is_searching:
            state = f"{state} {render(unread_words(listing.unread))}"
        self.state.setText(state)
        self.state.setVisible(bool(state))
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        had_keyboard = self.retry.hasFocus()
        # the keyboard stays where it is while it is tried again
        self.retry.setVisible(bool(problem) or (found.is_searching and had_keyboard))
        wants_token = bool(problem) and found.search_wants_token
        if not wants_token and self.window().focusWidget() is self.token:
            (self.line if self.retry.isHidden() else self.retry).setFocus()
        self.token.setVisible(wants_token)
        self._show_listed(listing)
        has_searched = found.query is not None
        self.catalogue.setVisible(not has_searched)
        self.list.setVisible(has_searched and bool(self._listed))
        self._room.setVisible(has_searched and not self._listed)
        self.back.setVisible(has_searched)
        if self.more.hasFocus() and not found.has_more:
            self.list.setFocus()
        self.more.setVisible(found.has_more)
        if had_keyboard and self.retry.isHidden():
            (self.list if self._listed else self.line).setFocus()

    def _show_listed(self, listing: HubListing | None) -> None:
        listed = listing.repositories if listing is not None else ()
        if listed == self._listed:
            return
        kept = len(self._listed) if listed[: len(self._listed)] == self._listed else 0
        self._listed = listed
        with QSignalBlocker(self.list):  # a new listing opens nothing by itself
            if not kept:
                self.list.clear()
            for found in listed[kept:]:
                self.list.addItem(_item(found))

    def _state_words(self, listing: HubListing | None) -> str:
        found = self._discovering
        if found.query is None:
            return self.tr("These Tokenlight knows itself. Search the hub for others: a few words, or an empty line.")
        if found.is_searching:
            return self.tr("Searching …")
        if listing is None:
            return ""
        if not listing.repositories and listing.next:
            return self.tr("None of the first models is such a one: look further, or ask for less.")
        if not listing.repositories and self.filters.is_narrow:
            return self.tr("No model was found: try a shorter name, or leave out less.")
        if not listing.repositories:
            return self.tr("No model was found: try a shorter name.")
        one, several = self.tr("1 model"), self.tr("{count} models")
        number = len(listing.repositories)
        words = (one if number == 1 else several).format(count=count(number))
        if listing.problem is not None:
            return self.tr("{models}, found {ago}.").format(models=words, ago=ago(listing.age_s))
        return self.tr("{models}, and there are more").format(models=words) if listing.next else words

    def _problem_words(self, listing: HubListing | None) -> str:
        found = self._discovering
        if found.is_searching:
            return ""
        problem = found.search_problem or (listing.problem if listing is not None else None)
        return render(problem) if problem is not None else ""

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self.line, 1)
        row.addWidget(self._search)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(row)
        column.addWidget(self.filters)
        for text in (self.state, self.problem):
            text.setWordWrap(True)
            text.setMinimumWidth(1)
            column.addWidget(text)
        tries = QHBoxLayout()
        tries.setSpacing(theme.SPACE_S)
        tries.addWidget(self.retry)
        tries.addWidget(self.token)
        tries.addStretch(1)
        column.addLayout(tries)
        column.addWidget(self.catalogue, 1)
        column.addWidget(self.list, 1)
        column.addWidget(self._room, 1)
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)


def _item(found: HubRepository) -> QListWidgetItem:
    name, facts = shown(found.id), facts_of(found)
    item = QListWidgetItem(f"{name}\n{in_parts(facts)}")
    item.setData(Qt.ItemDataRole.UserRole, found.id)
    item.setData(Qt.ItemDataRole.AccessibleTextRole, ". ".join([name, *facts]))
    item.setToolTip(hint_of("\n".join([name, *facts])))
    return item
